// Package boards knows the machines a companion lives on: how much memory and
// how many cores each kind has, and which limits suit it.
//
// A [Profile] is one kind of machine, written as a commented TOML file in
// profiles/. [Detect] chooses one for the machine whose files lie under a root
// folder, and says why.
package boards
