// Package lives is the course of a life: the states that it goes through, the only
// edges between them, what bounds it, and the one obligation that it leaves.
//
// A [Life] is a value that is written whole at every transition, in one transaction
// with what belongs to it. Every transition is guarded: what may not be is a typed
// error, [IllegalError] for an edge that there is not and [BrokenError] for an
// invariant. The package knows no clock and no disk: how long a life has run comes
// from outside, and wall time is only written down. Source: the seed on dispositional
// continuity, sections "Janma" and "The Samsara Layer".
package lives
