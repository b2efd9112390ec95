// Package tools holds what a life may do besides thinking: the tools that a manifest
// declares, the one checkpoint that every use of them passes, and what carries them out.
//
// A [Declaration] says a tool's name, the JSON schema of its arguments, how grave its
// use is, and exactly one way of doing it: a program ([Exec]), a request ([HTTP]), a
// message ([MQTT]) or a file that is read ([Read]). [Resolve] proves all declarations
// at birth and names every fault at once (J-1); what it returns is a [Set].
//
// [Permit] is the checkpoint (J-2). It takes what a model asked for, which is never
// trusted, and decides: an [Act], complete to the last byte, or refusals in sentences
// that hold nothing of the arguments. An Act can be had nowhere else, and runs once.
// Grants only shrink: [Grants.Shrink] and [Grants.Without] are all that can be done
// to them.
//
// A [Runner] runs acts. Values of a model fill places in a template that was fixed
// before the life began, each escaped for its place; no value becomes a second
// argument, another host, another topic or a way out of a folder, and no shell is ever
// asked. What a program does with its arguments is its own: programs of which it is known
// that they run what they are given are refused by their names, behind links too, but no
// list holds all of them, and none knows a copy under another name or a script that does
// so. What comes back is a [Result]: data, with bounds.
package tools
