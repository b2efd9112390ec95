// Package evidence decides what may be believed, and what may be acted on.
//
// It never holds what is true. A [Claim] is what was said, why, and where it can be
// checked; its [Class] tells how far it may be relied on. A class changes only along the
// edges of one table ([Edges]); that something is kept, used, repeated or agreed on raises
// nothing. What counts as evidence is decided in one place, [Claim.Sources]: distinct roots
// of a kind that counts. [Policy.Usable] tells whether a claim is safe to use,
// [Policy.Promotable] whether it may become verified, and [Policy.Gate] whether an act may
// rest on it; each gives all reasons against it, as codes with a sentence each.
//
// All functions are pure: time comes in as a [Moment] that says whether it can be trusted.
// Source: seed 003, sections 3 to 20 and the amendments to 7, 10 and 16.
package evidence
