package fold

import (
	"math"
	"slices"
	"sort"
)

// Burial. An impression is faint while its depth is below BuryBelow. The session
// ends at which it is faint are counted, each session once, from the last moment
// at which it was not: what lifts it to BuryBelow or above, be it a soft touch,
// and be it for a moment, starts the count again. When BuryAfter sessions on end
// have counted, the matter is settled: at the end of the session after them it is
// buried, whatever touches it in that one. So it comes out the same whether that
// session is lived in one part or in several, of which the first, ending, has
// taken the text.
//
// Nothing is counted, though. Left alone an impression only fades, so the session
// of its burial follows from its reinforcement and its last activation, and it is
// worked out anew only when those change.

// settled tells of an impression that is buried, or will be at the end of this
// session whatever happens.
func (s *State) settled(m *Samskara) bool {
	return m.Buried || m.BuryAt != 0 && m.BuryAt <= s.Session.Number
}

// buryAt is when m, which was changed in the session of now and has BuryAt of
// before, is to be buried.
func (s *State) buryAt(m *Samskara) (uint32, error) {
	if s.settled(m) {
		return m.BuryAt, nil
	}
	faint, ok, err := s.faintFrom(m)
	if !ok || err != nil {
		return 0, err
	}
	if now := uint64(s.Session.Number); faint <= now {
		// It is faint now, since this session or since the one that counted first.
		faint = now
		if m.BuryAt != 0 {
			faint = min(now, uint64(m.BuryAt)-uint64(s.Params.Reactivation.BuryAfter))
		}
	}
	return s.afterCount(faint), nil
}

// faintFrom is the first session at whose end m is faint if it is left alone;
// false if there is none.
func (s *State) faintFrom(m *Samskara) (uint64, bool, error) {
	p := &s.Params.Reactivation
	if p.BuryBelow == 0 || p.BuryAfter == 0 {
		return 0, false, nil
	}
	age, ok, err := p.FaintAge(m.Reinforcement, p.BuryBelow)
	return uint64(m.Last) + uint64(age), ok, err
}

// afterCount is the session at whose end what is faint from a session on is
// buried, or 0 for one that will never be.
func (s *State) afterCount(faint uint64) uint32 {
	at := faint + uint64(s.Params.Reactivation.BuryAfter)
	if at > math.MaxUint32 {
		return 0
	}
	return uint32(at)
}

// setParams puts parameters in force. Where they decide otherwise about burial,
// every impression that is not buried is looked at as if it had always had its
// present reinforcement since it was last active, under the new ones.
func (s *State) setParams(p Params) error {
	old, now := s.Params, p.Reactivation
	s.Params = p
	was := old.Reactivation
	if was.R0 == now.R0 && was.Lambda == now.Lambda && was.BuryBelow == now.BuryBelow && was.BuryAfter == now.BuryAfter {
		return nil
	}
	at := make([]uint32, len(s.Impressions))
	for i := range s.Impressions {
		faint, ok, err := s.faintFrom(&s.Impressions[i])
		if err != nil {
			s.Params = old
			return err
		}
		if ok {
			at[i] = s.afterCount(faint)
		}
	}
	for i := range s.Impressions {
		if m := &s.Impressions[i]; !m.Buried {
			m.BuryAt = at[i]
		}
	}
	return nil
}

// End ends the open session and buries what is due. It returns the impressions
// that are buried now, by their indices, ascending. Step does so with a
// SessionClosed; on a copy it shows what that will do.
func (s *State) End() []uint32 {
	s.Session.Open = false
	var buried []uint32
	for i := range s.Impressions {
		if m := &s.Impressions[i]; !m.Buried && m.BuryAt != 0 && m.BuryAt <= s.Session.Number {
			m.Buried = true
			buried = append(buried, uint32(i))
		}
	}
	return buried
}

// linkBuried: the text of an event that only acted on impressions goes with the
// last of those.
func (s *State) linkBuried(l *Link) bool {
	return len(l.Acted) > 0 && !slices.ContainsFunc(l.Acted, func(i uint32) bool { return !s.Impressions[i].Buried })
}

// EntryBuried tells whether the entry at seq of the log has lost its text for
// good: its impression is buried, or all those that it acted on without making
// one of its own.
func (s *State) EntryBuried(seq uint64) bool {
	i := sort.Search(len(s.Impressions), func(i int) bool { return s.Impressions[i].Sequence >= seq })
	if i < len(s.Impressions) && s.Impressions[i].Sequence == seq {
		return s.Impressions[i].Buried
	}
	i = sort.Search(len(s.Links), func(i int) bool { return s.Links[i].Sequence >= seq })
	return i < len(s.Links) && s.Links[i].Sequence == seq && s.linkBuried(&s.Links[i])
}

// BuriedEntries lists the entries of which EntryBuried is true, ascending.
func (s *State) BuriedEntries() []uint64 {
	var out []uint64
	for i := range s.Impressions {
		if s.Impressions[i].Buried {
			out = append(out, s.Impressions[i].Sequence)
		}
	}
	for i := range s.Links {
		if s.linkBuried(&s.Links[i]) {
			out = append(out, s.Links[i].Sequence)
		}
	}
	slices.Sort(out)
	return out
}

// BuriedBy lists, of the entries of which EntryBuried is true, those that it is
// true of because of these impressions, given by indices, ascending.
func (s *State) BuriedBy(rows []uint32) []uint64 {
	if len(rows) == 0 {
		return nil
	}
	var out []uint64
	for _, i := range rows {
		out = append(out, s.Impressions[i].Sequence)
	}
	for i := range s.Links {
		l := &s.Links[i]
		among := func(j uint32) bool { _, ok := slices.BinarySearch(rows, j); return ok }
		if slices.ContainsFunc(l.Acted, among) && s.linkBuried(l) {
			out = append(out, l.Sequence)
		}
	}
	slices.Sort(out)
	return out
}
