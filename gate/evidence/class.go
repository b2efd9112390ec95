package evidence

import (
	"cmp"
	"fmt"
	"slices"
)

// Class is how far a claim may be relied on.
type Class string

// The classes. Source: seed 003, section 4.
const (
	// Reported: somebody said so.
	Reported Class = "REPORTED"
	// Inferred: concluded, from a source that was located.
	Inferred Class = "INFERRED"
	// Verified: promoted, on independent and fresh evidence.
	Verified Class = "VERIFIED"
	// Stale: its time is over. It may still be so; it must not be assumed to be.
	Stale Class = "STALE"
	// Quarantined: nobody may use it until the reviewer decides.
	Quarantined Class = "QUARANTINED"
	// Superseded: another claim stands in its place.
	Superseded Class = "SUPERSEDED"
	// Rejected: the reviewer holds it for wrong.
	Rejected Class = "REJECTED"
)

// Classes are all of them.
func Classes() []Class {
	return []Class{Reported, Inferred, Verified, Stale, Quarantined, Superseded, Rejected}
}

// Current tells of a class that may be taken for how things are.
func (c Class) Current() bool { return c == Reported || c == Inferred || c == Verified }

// Trigger is what may change the class of a claim.
type Trigger string

// The triggers.
const (
	// Located: the primary source of a report was found.
	Located Trigger = "SOURCE_LOCATED"
	// Replayed: the reasoning of a conclusion was gone through again, on current evidence.
	Replayed Trigger = "REASONING_REPLAYED"
	// Promoted: enough independent fresh evidence was found by [Policy.Promotable].
	Promoted Trigger = "PROMOTED"
	// Expired: its time, or that of what it was promoted on, is over.
	Expired Trigger = "EXPIRED"
	// Doubted: something speaks against it, or it was planted.
	Doubted Trigger = "DOUBTED"
	// Cleared, Held: the reviewer lets it out of quarantine, or leaves it there. What is
	// verified is cleared to bear acts of high consequence, and stays what it is.
	Cleared Trigger = "CLEAR"
	Held    Trigger = "HOLD"
	// Replaced: another claim stands in its place from now on.
	Replaced Trigger = "SUPERSEDE"
	// Refused: the reviewer holds it for wrong.
	Refused Trigger = "REJECT"
	// Reopened: new evidence came for what was rejected. A new claim is better.
	Reopened Trigger = "NEW_EVIDENCE_REOPEN"
)

// Triggers are all of them.
func Triggers() []Trigger {
	return []Trigger{Located, Replayed, Promoted, Expired, Doubted, Cleared, Held, Replaced, Refused, Reopened}
}

// Reviews tells of a trigger that only a reviewer may give.
func (t Trigger) Reviews() bool {
	return t == Cleared || t == Held || t == Refused || t == Reopened
}

// Edge is one way that a class may change.
type Edge struct {
	From, To Class
	By       Trigger
}

// edges are the only ones. No edge leads from Reported to Verified. Out of quarantine a
// claim comes as what it was, and as Inferred at most: it is promoted anew.
var edges = []Edge{
	{Reported, Inferred, Located},
	{Inferred, Verified, Promoted},
	{Verified, Verified, Cleared},
	{Inferred, Inferred, Replayed}, // before its time is over

	{Reported, Stale, Expired},
	{Inferred, Stale, Expired},
	{Verified, Stale, Expired},
	{Stale, Inferred, Located},  // what was reported
	{Stale, Inferred, Replayed}, // what was concluded

	{Reported, Quarantined, Doubted},
	{Inferred, Quarantined, Doubted},
	{Verified, Quarantined, Doubted},
	{Stale, Quarantined, Doubted},
	{Quarantined, Reported, Cleared},
	{Quarantined, Inferred, Cleared},
	{Quarantined, Quarantined, Held},
	{Quarantined, Superseded, Replaced},
	{Quarantined, Rejected, Refused},

	{Reported, Superseded, Replaced},
	{Inferred, Superseded, Replaced},
	{Verified, Superseded, Replaced},
	{Stale, Superseded, Replaced},

	{Reported, Rejected, Refused},
	{Inferred, Rejected, Refused},
	{Verified, Rejected, Refused},
	{Stale, Rejected, Refused},
	{Rejected, Inferred, Reopened},
}

// Edges are the ways that there are.
func Edges() []Edge { return slices.Clone(edges) }

// May tells whether a class may change so. It is total: what is no class or no trigger may
// nothing.
func May(from, to Class, by Trigger) bool { return slices.Contains(edges, Edge{from, to, by}) }

// Next gives the class that a claim of that class comes to by a trigger. was is the class
// from which it became stale or came into quarantine; it decides where it goes from there.
// Error: ErrTransition.
func Next(class, was Class, by Trigger) (Class, error) {
	to := class
	for _, e := range edges {
		if e.From == class && e.By == by {
			to = e.To
		}
	}
	switch {
	case class == Quarantined && by == Cleared && was == Reported:
		to = Reported
	case class == Stale && by == Located && was != Reported, class == Stale && by == Replayed && was == Reported:
		// Two ways to look again, never to be taken for one another.
		return class, &TransitionError{class, was, by}
	}
	if !May(class, to, by) {
		return class, &TransitionError{class, was, by}
	}
	return to, nil
}

// TransitionError is a change of class that there is not. It is ErrTransition.
type TransitionError struct {
	From, Was Class
	By        Trigger
}

// done says of each trigger what it does to a claim.
var done = map[Trigger]string{
	Located: "located", Replayed: "replayed", Promoted: "promoted", Expired: "made stale", Doubted: "put into quarantine", Cleared: "cleared",
	Held: "held in quarantine", Replaced: "superseded", Refused: "rejected", Reopened: "opened again",
}

// Error says what leads on from there.
func (e *TransitionError) Error() string {
	says := fmt.Sprintf("a claim that is %s cannot be %s", e.From, cmp.Or(done[e.By], "changed by "+string(e.By)))
	switch {
	case e.From == Reported && e.By == Promoted:
		says += ": its primary source has to be located first, which makes it INFERRED"
	case e.From == Stale && e.Was == Reported:
		says += ": it was a report, so its primary source has to be located"
	case e.From == Stale:
		says += ": it was concluded, so its reasoning has to be replayed on current evidence"
	case e.By == Held, e.By == Cleared && e.From.Current():
		says += ": it is not in quarantine"
	case e.From == Quarantined:
		says += ": only the reviewer decides about it: clear, supersede, reject or hold"
	case e.From == Rejected:
		says += ": only new evidence opens it again, and a new claim is better"
	case e.From == Superseded:
		says += ": another claim stands in its place"
	}
	return says
}

// Is tells that it is ErrTransition.
func (*TransitionError) Is(target error) bool { return target == ErrTransition }
