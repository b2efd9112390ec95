// Package distil makes of a life what may be kept of it: a few rules about how to act,
// and nothing of what happened.
//
// A [Trace] is what happened; a [Journal] keeps it on disk for as long as the life lasts
// and is destroyed with it. [Judge] is how the principal judged the life. [Distiller.Distil]
// makes dispositions of both, by rules: of each choice of a tool the one example that
// worked (or failed), with its own record as confidence; and of what the person said about
// the companion. [Distiller.Write] lets a model word them, and believes nothing of what it
// says: each sentence must be about an example of the trace and hold no other word of it.
//
// Every sentence is held against the trace ([Leaks], S-1): no run of four words, no e-mail
// address, number, place or name. The weight is the principal's valence and never set here
// (S-2). The package knows no clock, no chance and no network; only the journal touches
// the disk. Source: the seed on dispositional continuity, sections "Samskara" and
// "Reference Implementation"; the three repairs of its pilot are in [Distiller.Distil].
package distil
