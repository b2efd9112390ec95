// Package consent is what the person allows to be done with which kind of data: a grid
// of nine categories and eight uses, each allow, ask or deny.
//
// A [Grid] is never stored. It is the fold of the [Record] s in which the person said
// something, from [Default] on: a [Chain]. Each record names the one before and its
// digest, so that none can be changed, left out or put in between without the fold
// telling at which record. [Chain.Check] is the one question that is asked before
// anything is done with a text; [PlanOf] is what a change takes away, so that the caller
// can purge texts and drop what waits to be sent.
//
// What is not known is denied, and what a model says of a text never opens what was
// closed ([Grid.Settle]). The package knows no clock, no chance and no disk: times and
// identifiers are given to it. The two vocabularies are those of the agent consent
// protocol that the seed on dispositional continuity cites; section "Samskara".
package consent
