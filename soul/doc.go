// Package soul writes who the agent is (soul; ahamkara: the I-maker) from what
// its experiences left.
//
// At the end of every session the caller gathers a [Summary] of values and goes
// through the package once, top to bottom:
//
//	GStore        the character of the whole store
//	WitnessGap    how far the session lay from the identity's own words
//	Render        SOUL.md, from the summary alone: same summary, same bytes
//	Files.Renew   archives the old SOUL.md and writes the new one
//	Ahamkara      the identity's slow character follows the store's
//	Record        one line of the trend, kept for ever
//
// [Narrative] is the plain text of the identity that is embedded for the
// witness gap. [TakeGiven] reads back the one section that belongs to the
// person. [TrendText], [TrendSVG], [TrendCSV], [TrendJSON] and [Warnings] show
// the records.
//
// Everything but [Files] is a pure function: no clock, no disk, no chance.
// Text from entries and rules is quoted data here; [Quote] takes away every
// structure that could make it look like more.
package soul
