// Package projection is the life of this device in a lineage: born from the manifest,
// acting through the one checkpoint, withdrawn, distilled, and merged.
//
// A [Projections] ties together what is decided elsewhere: the states of a life
// (lifecycle/lives), what it is born with (lifecycle/manifest), what it may do
// (lifecycle/tools, lifecycle/consent), what is left of it (lifecycle/distil) and how that
// is put together (soul/lineage). It keeps all of it as records of one store, each step
// in one transaction with what belongs to it, and one file per life, the journal of what
// was done, which is destroyed when the life is distilled. Source: the seed on
// dispositional continuity, "The Samsara Layer".
package projection
