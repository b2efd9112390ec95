package fold

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/reactivation"
)

// Outcome tells what one experience did.
type Outcome struct {
	// Created is true when the event became an impression; Index is its place,
	// else -1.
	Created bool
	Index   int
	// Fired, Softened and Suppressed are impression indices in order of similarity.
	Fired, Softened, Suppressed []uint32
	Novelty, Match, Weight      float64
	Reading                     gate.Reading
	Load                        gate.Load
	// Buried are the impressions that the end of a session buried, by index.
	Buried []uint32
}

// Step folds one resolved event into s, in place. near are the candidates of an
// Experienced event: s.Vectors.Nearest over the events before it, with
// Params.Gate.Candidates asked for; other events ignore it.
//
// Step is deterministic: the same state, event and candidates give the same
// bits on one architecture. After an error s is as it was before.
func Step(s *State, e Event, near []Candidate) (Outcome, error) {
	if e.Sequence <= s.Sequence {
		return Outcome{Index: -1}, &EventError{e.Sequence, fmt.Errorf("%w: the state already stands at %d", ErrOrder, s.Sequence)}
	}
	if err := Check(s, e.Body); err != nil {
		return Outcome{Index: -1}, &EventError{e.Sequence, err}
	}
	out := Outcome{Index: -1}
	switch b := e.Body.(type) {
	case EmbedderChanged:
		s.changeEmbedder(b)
	case ParamsChanged:
		if err := s.setParams(b.Params); err != nil {
			return out, &EventError{e.Sequence, err}
		}
	case SessionOpened:
		if err := s.open(b); err != nil {
			return out, &EventError{e.Sequence, err}
		}
	case SessionClosed:
		out.Buried = s.End()
	case Experienced:
		var err error
		if out, err = s.experience(e.Sequence, b, near); err != nil {
			return Outcome{Index: -1}, &EventError{e.Sequence, err}
		}
	case Superseded, Reassessed, Excised, ModelChanged:
		// Amendments act through resolution, at the place of what they amend; what a
		// model is changes nothing that was judged.
	}
	s.Sequence = e.Sequence
	return out, nil
}

// open begins a session, or takes up again the one that was closed last.
func (s *State) open(b SessionOpened) error {
	if b.Number == s.Session.Number {
		s.Session.Open = true
		return nil
	}
	before := s.Session
	s.Session = Session{Number: b.Number, Date: b.Date, Open: true, Sum: make([]float64, s.Dim)}
	top, err := s.Top(s.Params.Reactivation.Context)
	if err != nil {
		s.Session = before
		return err
	}
	for _, r := range top {
		s.Session.Context = append(s.Session.Context, uint32(r.Index))
	}
	return nil
}

// change is what an event does to one impression, held back until all is known
// to be well.
type change struct {
	index      uint32
	next       Samskara
	fired      bool
	suppressed bool
}

func (s *State) experience(seq uint64, e Experienced, near []Candidate) (Outcome, error) {
	if err := checkCandidates(near, s.Vectors, s.Params.Gate.Candidates); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Index: -1}
	rp := s.Params.Reactivation
	var err error
	if out.Novelty, err = rp.Blend(noveltyOf(near), e.Judgement.Novelty); err != nil {
		return out, err
	}
	if out.Match, err = rp.Blend(s.Session.match(e.Embedding), e.Judgement.Match); err != nil {
		return out, err
	}
	force := reactivation.Force{Intensity: e.Judgement.Intensity, Novelty: out.Novelty, Emotion: e.Judgement.Emotion, Match: out.Match}
	if out.Weight, err = force.Weight(); err != nil {
		return out, err
	}
	if out.Load, err = s.Load(); err != nil {
		return out, err
	}
	similarities := make([]float64, len(near))
	for i, c := range near {
		similarities[i] = c.Similarity
	}
	if out.Reading, err = s.Params.Gate.Read(similarities, out.Load); err != nil {
		return out, err
	}
	changes, err := s.touch(near, out, e.Judgement.Guna)
	if err != nil {
		return out, err
	}
	// What met only impressions without words, or about to lose them, would be
	// linked to nothing that keeps its own.
	cleared := slices.ContainsFunc(changes, func(c change) bool { return (c.fired || c.suppressed) && !s.settled(&c.next) })
	out.Created = e.AlwaysCreate || out.Novelty >= rp.Novel || !cleared
	fresh := Samskara{ID: e.ID, Key: e.Key, Sequence: seq, Reinforcement: 1, Guna: e.Judgement.Guna, Born: s.Session.Number, Last: s.Session.Number}
	if fresh.Peak, err = rp.Depth(1, 0); err != nil {
		return out, err
	}
	if fresh.BuryAt, err = s.buryAt(&fresh); err != nil {
		return out, err
	}

	// From here on nothing can fail: the vector was checked with the event.
	s.apply(changes, &out)
	if out.Created {
		if err := s.Vectors.Append(e.Embedding); err != nil {
			return out, err
		}
		out.Index = len(s.Impressions)
		s.Impressions = append(s.Impressions, fresh)
		s.VectorDigest = chain(s.VectorDigest, e.Embedding)
	} else {
		acted := slices.Concat(out.Fired, out.Suppressed)
		slices.Sort(acted)
		s.Links = append(s.Links, Link{ID: e.ID, Key: e.Key, Sequence: seq, Acted: acted})
	}
	s.Session.count(e, out)
	return out, nil
}

// touch works out what the event does to each candidate, without doing it.
func (s *State) touch(near []Candidate, out Outcome, g reactivation.Guna) ([]change, error) {
	rp := s.Params.Reactivation
	stimulus := reactivation.Stimulus{Weight: out.Weight, Match: out.Match, Guna: g}
	stiffness := s.Params.Gate.Stiffness(out.Load)
	var changes []change
	for _, c := range near {
		fires := out.Reading.Fires(c.Similarity)
		if !fires && !out.Reading.Soft(c.Similarity) {
			continue
		}
		old := s.Impressions[c.Index]
		impression := reactivation.Impression{Reinforcement: old.Reinforcement, Age: s.Age(c.Index), Guna: old.Guna}
		ch := change{index: uint32(c.Index), next: old}
		depth := 0.0
		if fires {
			o, err := rp.Collide(impression, stimulus, stiffness)
			if err != nil {
				return nil, err
			}
			ch.next.Reinforcement, ch.next.Guna = o.Reinforcement, o.Guna
			ch.suppressed, ch.fired = o.Suppressed, !o.Suppressed
			if o.Reset {
				ch.next.Last = s.Session.Number
			}
			if ch.fired {
				ch.next.Activations++
			}
			depth = o.Depth
		} else {
			r, err := rp.Soften(impression, stimulus)
			if err != nil {
				return nil, err
			}
			ch.next.Reinforcement = r
			if depth, err = rp.Depth(r, impression.Age); err != nil {
				return nil, err
			}
		}
		ch.next.Peak = max(ch.next.Peak, depth)
		var err error
		if ch.next.BuryAt, err = s.buryAt(&ch.next); err != nil {
			return nil, err
		}
		changes = append(changes, ch)
	}
	return changes, nil
}

func (s *State) apply(changes []change, out *Outcome) {
	for _, c := range changes {
		s.Impressions[c.index] = c.next
		switch {
		case c.suppressed:
			out.Suppressed = append(out.Suppressed, c.index)
		case c.fired:
			out.Fired = append(out.Fired, c.index)
			if !slices.Contains(s.Session.Context, c.index) {
				s.Session.Context = append(s.Session.Context, c.index)
			}
		default:
			out.Softened = append(out.Softened, c.index)
		}
	}
}

func (n *Session) count(e Experienced, out Outcome) {
	n.Events++
	if out.Created {
		n.Created++
	}
	n.Reactivated += uint32(len(out.Fired))
	n.Soft += uint32(len(out.Softened))
	n.Suppressed += uint32(len(out.Suppressed))
	if out.Reading.N > 0 {
		n.Gated++
		n.Focus += out.Reading.Focus
		n.Theta += out.Reading.Effective
		n.Inertia += out.Load.Inertia
		n.Reactivity += out.Load.Reactivity
	}
	n.Weight += out.Weight
	n.Valence += e.Judgement.Valence
	if len(n.Sum) == 0 { // the embedder changed since the session was first open
		n.Sum = make([]float64, len(e.Embedding))
	}
	for i, x := range e.Embedding {
		n.Sum[i] += float64(x)
	}
}

// match is the likeness of an event to the session so far, in [0,1]; ½ for the
// first event, which has nothing to be like.
func (n *Session) match(v []float32) float64 {
	if n.Events == 0 || len(n.Sum) == 0 {
		return 0.5
	}
	length := norm64(n.Sum)
	if length == 0 {
		return 0
	}
	var dot, own float64
	for i, x := range v {
		dot += float64(float64(x) * n.Sum[i])
		own += float64(float64(x) * float64(x))
	}
	return min(1, max(0, dot/float64(length*math.Sqrt(own))))
}

// noveltyOf is how unlike everything so far an event is, in [0,1].
func noveltyOf(near []Candidate) float64 {
	if len(near) == 0 {
		return 1
	}
	return min(1, 1-max(0, near[0].Similarity))
}

func norm64(v []float64) float64 {
	var n float64
	for _, x := range v {
		n += float64(x * x)
	}
	return math.Sqrt(n)
}

// chain extends a digest by one vector's bits.
func chain(digest [32]byte, v []float32) [32]byte {
	b := make([]byte, 32+4*len(v))
	copy(b, digest[:])
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[32+4*i:], math.Float32bits(x))
	}
	return sha256.Sum256(b)
}
