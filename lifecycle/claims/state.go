package claims

import (
	"slices"

	"github.com/jivad/jivad/gate/evidence"
)

// Kept is a claim with what is known of its course.
type Kept struct {
	evidence.Claim
	Category string `json:"category,omitempty"`
	// From is the entry or the distillate that it was taken from.
	From string `json:"from,omitempty"`
	// Changed is when it last came to its class, Events how many events it has; that an
	// instrument says the same again is none.
	Changed evidence.Moment `json:"changed"`
	Events  int             `json:"events"`
	// Promotion is what it was verified on, while it is.
	Promotion *Promotion `json:"promotion,omitempty"`
	// Fell is why it is stale or in quarantine, where that was something else than its own
	// time or somebody's word.
	Fell *Fall `json:"fell,omitempty"`
	// statement is its text as it is compared.
	statement string
	// unsaid says that the entry that it was taken from was edited, and does not say it.
	unsaid bool
	// contests are all claims that speak against it and are not settled, whatever their class.
	contests []string
	// past are claims that it follows from and that had fallen when a reviewer cleared it.
	past []string
	// renewals are the numbers of the records by which an instrument said the same again, by
	// its source: a later one may take the place of such a record.
	renewals map[string]uint64
}

// Fall is what a claim fell by: Claim, from which it follows and which came to Class; or
// Roots, whose time was over or which were taken back.
type Fall struct {
	Claim string         `json:"claim,omitempty"`
	Class evidence.Class `json:"class,omitempty"`
	Roots []string       `json:"roots,omitempty"`
}

// Promotion is what a claim was verified on: it stays with it, and is looked at again at
// every use.
type Promotion struct {
	At      evidence.Moment `json:"at"`
	By      string          `json:"by"`
	Sources []string        `json:"sources"`
	Needed  int             `json:"needed"`
}

// State is what the events amount to.
type State struct {
	claims map[string]*Kept
	// order are the ids in the order in which they were asserted.
	order []string
	// said are those that are neither rejected nor superseded, by statement.
	said map[string][]*Kept
	// after are the ids of the claims that follow from one, by its id.
	after map[string][]string
	// Last is the sequence of the last event, Latest the latest time that a clock told which
	// could be trusted: seconds since 1970.
	Last   uint64
	Latest int64
	// Dropped is how many claims of instruments were dropped since they were superseded, as
	// the record of the number droppedIn has it.
	Dropped   int
	droppedIn uint64
}

// NewState has no claims.
func NewState() *State {
	return &State{claims: map[string]*Kept{}, said: map[string][]*Kept{}, after: map[string][]string{}}
}

// Claim gives one by its id.
func (s *State) Claim(id string) (*Kept, bool) {
	k, ok := s.claims[id]
	return k, ok
}

// Len is how many there are.
func (s *State) Len() int { return len(s.order) }

// Step folds one event in. It is pure and total: an event that may not be, after events
// were taken out, changes nothing.
func Step(s *State, e Event) {
	s.Last = max(s.Last, e.Seq)
	if e.At.Trusted {
		s.Latest = max(s.Latest, e.At.Unix)
	}
	switch e.Kind {
	case Asserted:
		s.assert(e)
		return
	case Dropped:
		s.Dropped, s.droppedIn = e.Count, e.Seq
		return
	}
	k := s.claims[e.Claim]
	if k == nil {
		return
	}
	if e.Kind != Renewed {
		k.Events++
		s.pin(k)
	}
	k.unsaid = k.unsaid || e.From != "" && e.From == k.From && (e.Kind == Doubted || e.Kind == Superseded)
	before := k.Class
	switch e.Kind {
	case Evidence:
		k.see(*e.Root)
	case Renewed:
		s.renew(k, e)
	case Withdrawn:
		s.withdraw(k, e)
	case Located:
		if e.Root != nil && e.Root.Type.Qualifies() && s.move(k, evidence.Located, e) {
			k.Provenance.Primary = e.Text
			if e.Reasoning != "" {
				k.Provenance.Reasoning = e.Reasoning
			}
			k.see(*e.Root)
		}
	case Replayed:
		if v := s.at(k, e.At); len(evidence.Policy{}.Replayable(&v.Claim, e.At)) == 0 && s.move(k, evidence.Replayed, e) {
			k.Provenance.Reasoning = e.Reasoning
		}
	case Promoted:
		if v := s.at(k, e.At); len(evidence.Policy{Sources: max(1, e.Needed)}.Promotable(&v.Claim, e.At)) == 0 && s.move(k, evidence.Promoted, e) {
			k.Promotion = &Promotion{At: e.At, By: e.By, Sources: e.Sources, Needed: e.Needed}
		}
	case Doubted:
		s.move(k, evidence.Doubted, e)
	case Contested, Settled:
		s.contest(k, s.claims[e.Other], e.Kind == Contested)
	case Reviewed:
		s.review(k, e)
	case Superseded:
		// Out of quarantine it comes by a reviewer alone.
		if k.Class != evidence.Quarantined && s.move(k, evidence.Replaced, e) {
			s.succeed(k, e.Other)
		}
	case Expired:
		over := k.overRoots(e.At)
		if s.move(k, evidence.Expired, e) && len(over) > 0 {
			k.Fell = &Fall{Roots: over}
		}
	}
	s.settle(k)
	if k.Class != before {
		s.fall(k, e)
		s.shake(k, e)
	}
}

// assert takes a new claim in. What was asserted as INFERRED without a source that counts is
// a report. What follows from claims that cannot be relied on cannot be either.
func (s *State) assert(e Event) {
	if s.claims[e.Claim] != nil {
		return
	}
	k := &Kept{Claim: *e.Asserted, Category: e.Category, From: e.From, Changed: e.At, Events: 1, statement: Statement(e.Asserted.Text)}
	k.Roots, k.Previous = slices.Clone(k.Roots), slices.Clone(k.Previous)
	k.Was, k.Review, k.Successor, k.Conflicts, k.Refuted, k.Fallen = "", evidence.Review{}, "", nil, nil, nil
	k.Count()
	if k.Class == evidence.Inferred && k.Sources() == 0 {
		k.Class = evidence.Reported
	}
	s.claims[k.ID] = k
	s.order = append(s.order, k.ID)
	s.said[k.statement] = append(s.said[k.statement], k)
	for _, id := range k.Previous {
		s.after[id] = append(s.after[id], k.ID)
		if p := s.standing(id); p != nil && p.ID != id {
			s.after[p.ID] = append(s.after[p.ID], k.ID)
		}
		for _, p := range s.ancestors(id) {
			p.renewals = nil
		}
	}
	s.fall(k, e)
}

// see adds a root, or puts a later look at the same source in the place of the one before.
func (k *Kept) see(r evidence.Root) {
	defer k.Count()
	source := r.Source()
	for i, old := range k.Roots {
		if old.Type == r.Type && old.Source() == source {
			if r.Observed >= old.Observed {
				k.Roots[i] = r
			}
			return
		}
	}
	if len(k.Roots) < evidence.MostRoots {
		k.Roots = append(k.Roots, r)
	}
}

// move changes the class of a claim, where there is such an edge. What a reviewer said of it
// before was said of what it was.
func (s *State) move(k *Kept, by evidence.Trigger, e Event) bool {
	to, err := evidence.Next(k.Class, k.Was, by)
	if err != nil {
		return false
	}
	switch {
	case to.Current():
		k.Was = ""
	case k.Class.Current(): // what is stale already stays what it was before
		k.Was = k.Class
	}
	if to != k.Class {
		k.Review, k.Changed, k.Fell = evidence.Review{}, e.At, nil
		s.list(k, to)
	}
	if to.Current() && by != evidence.Cleared {
		k.Expires = e.Expires
	}
	k.Class = to
	if to != evidence.Verified {
		k.Promotion = nil
	}
	return true
}

func (s *State) review(k *Kept, e Event) {
	switch e.Decision {
	case evidence.Reopened:
		if v := s.at(k, e.At); len(evidence.Policy{}.Reopenable(&v.Claim)) > 0 {
			return
		}
	case evidence.Cleared, evidence.Held, evidence.Refused, evidence.Replaced:
	default:
		return
	}
	if !s.move(k, e.Decision, e) {
		return
	}
	switch e.Decision {
	case evidence.Cleared:
		k.past = s.notCurrent(k)
	case evidence.Refused:
		k.Refuted = k.SourceKeys()
	case evidence.Replaced:
		s.succeed(k, e.Other)
	case evidence.Reopened:
		k.Refuted = nil
	}
	k.Review = evidence.Review{By: e.By, Decision: e.Decision, At: e.At.Unix, Note: e.Text}
}

func (s *State) contest(k, other *Kept, against bool) {
	if other == nil || other == k {
		return
	}
	s.pin(other)
	for _, pair := range [][2]*Kept{{k, other}, {other, k}} {
		i := slices.Index(pair[0].contests, pair[1].ID)
		switch {
		case against && i < 0:
			pair[0].contests = append(pair[0].contests, pair[1].ID)
		case !against && i >= 0:
			pair[0].contests = slices.Delete(pair[0].contests, i, i+1)
		}
	}
	s.settle(other)
}

// settle brings what speaks against a claim, and against those that it speaks against, up to
// date: what is rejected or superseded speaks against nothing.
func (s *State) settle(k *Kept) {
	for _, one := range append([]*Kept{k}, s.those(k.contests)...) {
		one.Conflicts = nil
		for _, other := range s.those(one.contests) {
			if other.Class != evidence.Rejected && other.Class != evidence.Superseded {
				one.Conflicts = append(one.Conflicts, other.ID)
			}
		}
	}
}

func (s *State) those(ids []string) []*Kept {
	out := make([]*Kept, 0, len(ids))
	for _, id := range ids {
		if k := s.claims[id]; k != nil {
			out = append(out, k)
		}
	}
	return out
}
