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
	// vectors are those of the wordings, the newest by each embedder.
	vectors []wording
}

// wording is the vector of one wording of an entry.
type wording struct {
	at       uint64 // the event that brought it
	embedder string
	vector   []float32
}

func (w wording) by(embedder string, dim int) bool {
	return w.embedder == embedder && len(w.vector) == dim
}

// vectorBy is the vector of the newest wording by an embedder, if it came after
// an event; else nil.
func (m amendment) vectorBy(embedder string, dim int, after uint64) []float32 {
	for _, w := range m.vectors {
		if w.by(embedder, dim) && w.at > after {
			return w.vector
		}
	}
	return nil
}

// Add takes in one event of the log, in log order; events that amend nothing
// are ignored. It returns the sequence that the event amends, or 0.
func (a *Amendments) Add(e Event) uint64 {
	if a.byTarget == nil {
		a.byTarget = map[uint64]amendment{}
	}
	switch b := e.Body.(type) {
	case Superseded:
		m := amendment{content: &b, vectors: []wording{{e.Sequence, b.Embedder, b.Embedding}}}
		for _, w := range a.byTarget[b.Target].vectors {
			if !w.by(b.Embedder, len(b.Embedding)) {
				m.vectors = append(m.vectors, w)
			}
		}
		a.byTarget[b.Target] = m
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
// source stay those of the original. So does the embedder: an edit that came
// after the embedder had changed brings words and judgement to the old place, and
// the vector there stays that of the last wording which the old embedder read.
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
		x.Key, x.Judgement = m.content.Key, m.content.Judgement
		if v := m.vectorBy(x.Embedder, len(x.Embedding), 0); v != nil {
			x.Embedding = v
		}
	}
	if m.judgement != nil {
		x.Judgement = *m.judgement
	}
	e.Body = x
	return e
}

// VectorSince is the vector of the newest wording of the experience at target
// that came after a change of embedder, by the embedder that it put in force; nil
// where there is none.
func (a *Amendments) VectorSince(target, changed uint64, b EmbedderChanged) []float32 {
	return a.byTarget[target].vectorBy(b.Embedder, b.Dim, changed)
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
