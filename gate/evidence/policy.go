package evidence

import (
	"slices"
	"strconv"
)

// Policy is what the person decides once: how much evidence is enough, and who may say so.
type Policy struct {
	// Sources is how many independent ones a promotion needs, 1 to 16.
	Sources int
	// Reviewers may review; nobody else may.
	Reviewers []string
	// AskFor are the consequences of which a person must say yes each time.
	AskFor []Consequence
}

// Default is the policy of a new companion. Source: seed 003, section 6.
func Default() Policy {
	return Policy{Sources: 2, Reviewers: []string{Person}, AskFor: []Consequence{High}}
}

// Person is the person: the last reviewer.
const Person = "person"

// Code is why something may not be.
type Code string

// The codes.
const (
	NotCurrent         Code = "not_current"            // its class says that it may not be relied on
	StaleRoot          Code = "stale_evidence_root"    // a source that counts is no longer fresh
	StaleRecord        Code = "stale_record_freshness" // the claim itself is not
	ClockUntrusted     Code = "clock_untrusted"        // so whatever could have expired has
	Conflicted         Code = "unresolved_conflict"
	Laundered          Code = "self_referential"    // it rests on claims alone
	NotStanding        Code = "premise_not_current" // a claim that it follows from is not, or no longer fresh
	TooFewSources      Code = "too_few_sources"
	NoProvenance       Code = "incomplete_provenance"
	NotInferred        Code = "not_inferred" // only what was concluded may become verified
	NotVerified        Code = "not_verified"
	Irretrievable      Code = "not_retrievable" // nobody can look again
	NotCleared         Code = "not_cleared"     // the reviewer did not
	NotAuthorised      Code = "not_authorised"
	ContextAlone       Code = "session_context_alone"
	NeedsPerson        Code = "needs_person"
	UnknownConsequence Code = "unknown_consequence"
	NotRejected        Code = "not_rejected"
	NoNewEvidence      Code = "no_new_evidence" // nothing that it was not rejected with
	NoReviewer         Code = "no_reviewer"     // whoever asks may not review
)

// Reason is one of them, about a claim or a root or neither, with a sentence for people.
type Reason struct {
	Code  Code   `json:"code"`
	Claim string `json:"claim,omitempty"`
	Root  string `json:"root,omitempty"`
	Says  string `json:"says"`
}

// Codes are those of reasons, in order.
func Codes(reasons []Reason) []Code {
	var out []Code
	for _, r := range reasons {
		out = append(out, r.Code)
	}
	return out
}

// fallen gives the claims that it follows from and that cannot be relied on.
func (c *Claim) fallen() (out []Reason) {
	for _, id := range c.Fallen {
		out = append(out, Reason{NotStanding, c.ID, "", "it follows from claim " + id + ", which cannot be relied on"})
	}
	return out
}

// freshness gives what is over of a claim and of its sources.
func (c *Claim) freshness(now Moment) (out []Reason) {
	var ends bool
	for _, r := range c.Roots {
		if !r.Type.Qualifies() {
			continue
		}
		ends = ends || r.Expires != 0
		if now.over(r.Expires) {
			out = append(out, Reason{StaleRoot, c.ID, r.ID, "what it was seen by is no longer fresh: look again"})
		}
	}
	if now.over(c.Expires) {
		out = append(out, Reason{StaleRecord, c.ID, "", "the claim itself is no longer fresh"})
	}
	if !now.Trusted && (ends || c.Expires != 0) {
		out = append(out, Reason{ClockUntrusted, c.ID, "", "the clock cannot be trusted, so what could have expired counts as expired"})
	}
	return out
}

// Over tells whether a claim is to be taken for stale: its own time is over, or that of a
// source that it was verified on.
func (c *Claim) Over(now Moment) bool {
	if !c.Class.Current() {
		return false
	}
	return now.over(c.Expires) || c.Class == Verified && slices.ContainsFunc(c.Roots, func(r Root) bool {
		return r.Type.Qualifies() && now.over(r.Expires)
	})
}

// Replayable tells what speaks against replaying the reasoning of a claim now: that is done
// against current evidence. Source: seed 003, sections 4 and 11.
func (p Policy) Replayable(c *Claim, now Moment) (out []Reason) {
	if c.Sources() == 0 {
		out = append(out, Reason{TooFewSources, c.ID, "", "there is no evidence to replay its reasoning against"})
	}
	for _, r := range c.Roots {
		if r.Type.Qualifies() && now.over(r.Expires) {
			out = append(out, Reason{StaleRoot, c.ID, r.ID, "what it was seen by is no longer fresh: look again"})
		}
	}
	return append(out, c.fallen()...)
}

// Usable tells what speaks against using a claim as how things are; nothing means that it
// is safe to. It changes no class. Source: seed 003, sections 9 and 10.
func (p Policy) Usable(c *Claim, now Moment) (out []Reason) {
	switch {
	case c.Class == Stale:
		out = append(out, Reason{NotCurrent, c.ID, "", "it is stale: not to be assumed, which is not to say that it is false"})
	case !c.Class.Current():
		out = append(out, Reason{NotCurrent, c.ID, "", "it is " + string(c.Class)})
	}
	out = append(out, c.freshness(now)...)
	if len(c.Conflicts) > 0 {
		out = append(out, Reason{Conflicted, c.ID, "", "something speaks against it, and that is not settled"})
	}
	if c.SelfReferential() {
		out = append(out, Reason{Laundered, c.ID, "", "it rests on other claims alone, and on nothing that was seen"})
	}
	out = append(out, c.fallen()...)
	if c.Class == Verified && c.Sources() < p.Sources { // held against its evidence at every use
		out = append(out, p.tooFew(c))
	}
	return out
}

// Promotable tells what speaks against a claim becoming verified; nothing means that it
// may. All reasons are given. Source: seed 003, section 10 and its amendment.
func (p Policy) Promotable(c *Claim, now Moment) (out []Reason) {
	if c.Class != Inferred {
		says := "it is " + string(c.Class) + "; only what is INFERRED can be verified"
		if c.Class == Reported {
			says += ": locate its primary source first"
		}
		out = append(out, Reason{NotInferred, c.ID, "", says})
	}
	if !c.complete() {
		out = append(out, Reason{NoProvenance, c.ID, "", "who said it, its primary source and how it follows have to be known"})
	}
	if len(c.Conflicts) > 0 {
		out = append(out, Reason{Conflicted, c.ID, "", "something speaks against it, and that is not settled"})
	}
	if c.Sources() < p.Sources {
		out = append(out, p.tooFew(c))
	}
	if c.SelfReferential() {
		out = append(out, Reason{Laundered, c.ID, "", "it rests on other claims alone, and on nothing that was seen"})
	}
	out = append(out, c.fallen()...)
	return append(out, c.freshness(now)...)
}

// Reopenable tells what speaks against opening a rejected claim again. Source: seed 003,
// section 4.
func (p Policy) Reopenable(c *Claim) (out []Reason) {
	if c.Class != Rejected {
		out = append(out, Reason{NotRejected, c.ID, "", "it is " + string(c.Class) + ", and was not rejected"})
	}
	// The beginning of a commit that it was rejected with is that commit.
	before := slices.Compact(slices.Sorted(slices.Values(c.Refuted)))
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, c.sources()))))
	if len(withoutBeginnings(all)) <= len(withoutBeginnings(before)) {
		out = append(out, Reason{NoNewEvidence, c.ID, "", "it has no source that it was not rejected with; a new claim may be better"})
	}
	return append(out, c.fallen()...)
}

// MayReview tells what speaks against a review by somebody.
func (p Policy) MayReview(by string) []Reason {
	if slices.Contains(p.Reviewers, by) {
		return nil
	}
	return []Reason{{Code: NoReviewer, Says: "the policy names no such reviewer"}}
}

func (p Policy) tooFew(c *Claim) Reason {
	return Reason{TooFewSources, c.ID, "", plural(c.Sources(), "independent source") + ", and " + plural(p.Sources, "") + " needed"}
}

func plural(n int, what string) string {
	s := strconv.Itoa(n)
	if what == "" {
		if n == 1 {
			return s + " is"
		}
		return s + " are"
	}
	if n == 1 {
		return s + " " + what
	}
	return s + " " + what + "s"
}

// Act is something that is to be done, and what is known about whether it may be.
type Act struct {
	// Name is for the reasons.
	Name        string
	Consequence Consequence
	// Authorised says that its tool is granted and that the person consents to such acts.
	Authorised bool
	// Yes says that a person said yes to this very act.
	Yes bool
}

// Verdict is what the gate says.
type Verdict string

// The verdicts. There is none that says no for good: what is missing can be brought.
const (
	Allow Verdict = "ALLOW"
	Audit Verdict = "AUDIT_REQUIRED"
)

// Decision is a verdict with all reasons against it.
type Decision struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Ask says that nothing is missing but a person's yes.
	Ask bool `json:"ask,omitempty"`
}

// Gate decides whether an act may be done on what it rests on: claims, or none where it
// rests on what was said in the session alone. Of high consequence it is allowed only where
// all of this holds: it rests on claims; each of them is verified and fresh; can be looked
// at again; says where it comes from; has nothing unsettled against it; was cleared by a
// reviewer; the act is authorised; and a person says yes, where the policy wants that. Of
// medium consequence what it rests on must be safe to use. Source: seed 003, section 13.
func (p Policy) Gate(act Act, claims []*Claim, now Moment) Decision {
	var out []Reason
	if !act.Authorised {
		out = append(out, Reason{Code: NotAuthorised, Says: act.Name + " is not granted, or the person did not consent to it"})
	}
	switch act.Consequence {
	case Low, Medium, High:
		if act.Consequence == High && len(claims) == 0 {
			out = append(out, Reason{Code: ContextAlone, Says: act.Name + " rests on what was said in this session alone"})
		}
		for _, c := range claims {
			out = append(out, p.Against(act.Consequence, c, now)...)
		}
	default:
		out = append(out, Reason{Code: UnknownConsequence, Says: "nobody said what could come of " + act.Name})
	}
	d := Decision{Verdict: Allow, Reasons: out}
	if !act.Yes && slices.Contains(p.AskFor, act.Consequence) {
		d.Ask = len(out) == 0
		d.Reasons = append(d.Reasons, Reason{Code: NeedsPerson, Says: "a person has to say yes to " + act.Name})
	}
	if len(d.Reasons) > 0 {
		d.Verdict = Audit
	}
	return d
}

// Against tells what keeps a claim from bearing an act of a consequence that is known.
func (p Policy) Against(of Consequence, c *Claim, now Moment) []Reason {
	switch of {
	case Medium:
		return p.Usable(c, now)
	case High:
		return p.bears(c, now)
	}
	return nil
}

// bears tells what keeps a claim from bearing an act of high consequence.
func (p Policy) bears(c *Claim, now Moment) []Reason {
	out := p.Usable(c, now)
	if c.Class != Verified && c.Class.Current() {
		out = append(out, Reason{NotVerified, c.ID, "", "it is " + string(c.Class) + ", and not verified"})
	}
	if !c.retrievable() {
		out = append(out, Reason{Irretrievable, c.ID, "", "nobody can look at its evidence again"})
	}
	if !c.complete() {
		out = append(out, Reason{NoProvenance, c.ID, "", "who said it, its primary source and how it follows have to be known"})
	}
	if c.Review.Decision != Cleared || !slices.Contains(p.Reviewers, c.Review.By) {
		out = append(out, Reason{NotCleared, c.ID, "", "no reviewer cleared it"})
	}
	return out
}
