package claims

import (
	"slices"

	"github.com/jivad/jivad/gate/evidence"
)

// A claim that follows from others falls with them: where one of those is rejected, comes
// into quarantine, or is superseded by what says something else, it comes into quarantine;
// where one is stale, it is stale. That is part of the fold and no event of its own: whatever
// is taken out of the events, the rest falls as it must. When the other is believed again,
// what fell stays where it is until it is looked at itself. A reviewer who clears it lets it
// stand on its own evidence.

// standing is the claim that stands for one: itself, or what took its place and says the
// same; nil where there is none.
func (s *State) standing(id string) *Kept {
	k := s.claims[id]
	for range s.claims { // of which each stands for another once, or they stand for themselves
		if k == nil || k.Class != evidence.Superseded {
			return k
		}
		next := s.claims[k.Successor]
		if next == nil || next.statement != k.statement {
			return k
		}
		k = next
	}
	return k
}

// succeed puts a claim in the place of another one. What follows from that follows from it,
// where it says the same. It may have been dropped since.
func (s *State) succeed(k *Kept, id string) {
	k.Successor = id
	by := s.claims[id]
	if by == nil || by.statement != k.statement {
		return
	}
	for _, id := range s.after[k.ID] {
		if !slices.Contains(s.after[by.ID], id) {
			s.after[by.ID] = append(s.after[by.ID], id)
		}
	}
}

// shake lets what follows from a claim fall with it.
func (s *State) shake(k *Kept, e Event) {
	for _, id := range s.after[k.ID] {
		child := s.claims[id]
		child.past = slices.DeleteFunc(child.past, func(p string) bool { return p == k.ID || s.standing(p) == k })
		if len(child.past) == 0 {
			child.past = nil
		}
		s.fall(child, e)
	}
}

// fall takes a claim out of what may be relied on, where one that it follows from is.
func (s *State) fall(k *Kept, e Event) {
	by, cause := evidence.Expired, Fall{}
	for _, id := range s.fallenOf(k) {
		class := evidence.Class("")
		if p := s.standing(id); p != nil {
			class = p.Class
		}
		if class != evidence.Stale {
			by, cause = evidence.Doubted, Fall{Claim: id, Class: class}
			break
		}
		if cause.Claim == "" {
			cause = Fall{Claim: id, Class: class}
		}
	}
	if cause.Claim == "" || !s.move(k, by, e) {
		return
	}
	k.Fell = &cause
	s.settle(k)
	s.shake(k, e)
}

// fallenOf are the claims that one follows from and that are on record as not to be relied
// on, without those that a reviewer has looked past.
func (s *State) fallenOf(k *Kept) []string {
	return slices.DeleteFunc(s.notCurrent(k), func(id string) bool { return slices.Contains(k.past, id) })
}

// notCurrent are all of them, looked past or not.
func (s *State) notCurrent(k *Kept) (out []string) {
	for _, id := range k.Previous {
		if p := s.standing(id); p == nil || !p.Class.Current() {
			out = append(out, id)
		}
	}
	return out
}

// ancestors are a claim and all that it follows from.
func (s *State) ancestors(id string) (out []*Kept) {
	seen := map[string]bool{}
	var add func(id string)
	add = func(id string) {
		k := s.standing(id)
		if k == nil || seen[k.ID] {
			return
		}
		seen[k.ID] = true
		out = append(out, k)
		for _, p := range k.Previous {
			add(p)
		}
	}
	add(id)
	return out
}

// at is a claim as it is to be taken at a time: what is over is stale, though nobody has
// written so yet, and so is what follows from it.
func (s *State) at(k *Kept, now evidence.Moment) Kept {
	v := *k
	v.Roots, v.Previous, v.Conflicts = slices.Clone(k.Roots), slices.Clone(k.Previous), slices.Clone(k.Conflicts)
	v.Fallen = s.fallen(k, now, map[string][]string{})
	if v.Over(now) || v.Class.Current() && len(v.Fallen) > 0 {
		v.Was, v.Class = v.Class, evidence.Stale
	}
	return v
}

// fallen are the claims that one follows from and that cannot be relied on at a time. known
// are those of claims that were asked for already.
func (s *State) fallen(k *Kept, now evidence.Moment, known map[string][]string) (out []string) {
	if len(k.Previous) == 0 {
		return nil
	}
	if out, ok := known[k.ID]; ok {
		return out
	}
	known[k.ID] = nil
	for _, id := range k.Previous {
		if slices.Contains(k.past, id) {
			continue
		}
		p := s.standing(id)
		if p == nil || !p.Class.Current() || p.Over(now) || len(s.fallen(p, now, known)) > 0 {
			out = append(out, id)
		}
	}
	known[k.ID] = out
	return out
}

// list keeps the claims of a statement, where one comes to a class.
func (s *State) list(k *Kept, to evidence.Class) {
	gone := func(c evidence.Class) bool { return c == evidence.Superseded || c == evidence.Rejected }
	switch {
	case gone(to) && !gone(k.Class):
		s.said[k.statement] = slices.DeleteFunc(s.said[k.statement], func(o *Kept) bool { return o == k })
	case gone(k.Class) && !gone(to):
		s.said[k.statement] = append(s.said[k.statement], k)
	}
}

// withdraw takes a source back, and looks again at what the claim still has. What loses its
// primary source, its last one, or one of those that it needed to be verified, comes into
// quarantine; without its primary source it was no more than a report.
func (s *State) withdraw(k *Kept, e Event) {
	source := e.Root.Source()
	k.Roots = slices.DeleteFunc(k.Roots, func(r evidence.Root) bool { return r.Source() == source })
	k.Count()
	primary := k.Provenance.Primary != "" && evidence.Root{ID: k.Provenance.Primary}.Source() == source
	short := k.Sources() == 0
	if m := k.Promotion; m != nil {
		left := *m
		left.Sources = slices.DeleteFunc(slices.Clone(m.Sources), func(key string) bool { return key == source })
		k.Promotion, short = &left, k.Sources() < max(1, m.Needed)
	}
	was := k.Class
	if !was.Current() {
		was = k.Was
	}
	if was != evidence.Reported && (primary || short) && s.move(k, evidence.Doubted, e) {
		k.Fell = &Fall{Roots: []string{e.Root.ID}}
	}
	if primary {
		k.Provenance.Primary = ""
		if k.Was != "" {
			k.Was = evidence.Reported
		}
	}
}

// renew takes in that an instrument says the same again: its report is as fresh as that.
func (s *State) renew(k *Kept, e Event) {
	k.see(*e.Root)
	if k.Class == evidence.Reported && k.Agent == e.By {
		k.Expires = e.Expires
	}
	if k.renewals == nil {
		k.renewals = map[string]uint64{}
	}
	k.renewals[e.Root.Source()] = e.Seq
}

// pin keeps the records by which instruments renewed a claim, and all that it follows from:
// something was decided while they held.
func (s *State) pin(k *Kept) {
	for _, p := range s.ancestors(k.ID) {
		p.renewals = nil
	}
	k.renewals = nil
}

// overRoots are the sources of a verified claim whose time is over.
func (k *Kept) overRoots(at evidence.Moment) (out []string) {
	if k.Class != evidence.Verified {
		return nil
	}
	for _, r := range k.Roots {
		if r.Type.Qualifies() && r.Expires != 0 && r.Expires <= at.Unix {
			out = append(out, r.ID)
		}
	}
	return out
}
