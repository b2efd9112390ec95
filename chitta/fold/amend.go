package fold

import "maps"

// Amendments collects what later events of the log say of earlier ones. The
// zero value is ready to use and amends nothing.
type Amendments struct {
	byTarget map[uint64]amendment
}

type amendment struct {
	content   *Superseded
	judgement *Judgement
}

// Add takes in one event of the log, in log order; events that amend nothing
// are ignored. It returns the sequence that the event amends, or 0.
func (a *Amendments) Add(e Event) uint64 {
	if a.byTarget == nil {
		a.byTarget = map[uint64]amendment{}
	}
	switch b := e.Body.(type) {
	case Superseded:
		a.byTarget[b.Target] = amendment{content: &b}
		return b.Target
	case Reassessed:
		m := a.byTarget[b.Target]
		m.judgement = &b.Judgement
		a.byTarget[b.Target] = m
		return b.Target
	}
	return 0
}

// Resolve returns e as its last amendment left it. Identity, place, date and
// source stay those of the original.
func (a *Amendments) Resolve(e Event) Event {
	x, ok := e.Body.(Experienced)
	if !ok {
		return e
	}
	m, ok := a.byTarget[e.Sequence]
	if !ok {
		return e
	}
	if m.content != nil {
		x.Key, x.Embedding, x.Embedder, x.Judgement = m.content.Key, m.content.Embedding, m.content.Embedder, m.content.Judgement
	}
	if m.judgement != nil {
		x.Judgement = *m.judgement
	}
	e.Body = x
	return e
}

// Without returns a copy that lacks what was said of the given experiences.
func (a *Amendments) Without(targets map[uint64]bool) Amendments {
	out := a.Clone()
	maps.DeleteFunc(out.byTarget, func(seq uint64, _ amendment) bool { return targets[seq] })
	return out
}

// Len is the number of events that are amended.
func (a *Amendments) Len() int { return len(a.byTarget) }

// Clone returns an independent copy.
func (a *Amendments) Clone() Amendments { return Amendments{maps.Clone(a.byTarget)} }
