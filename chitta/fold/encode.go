package fold

import (
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/reactivation"
)

const stateVersion = 1

// Encode writes the state without its vectors, for a snapshot. Decode it with
// [DecodeState] and the rows that belong to it.
func (s *State) Encode() []byte {
	w := writer{b: make([]byte, 0, 512+104*len(s.Impressions)), positions: true}
	w.u8(stateVersion)
	w.position(s.Sequence)
	s.encodeHead(&w)
	w.u32(uint32(len(s.Impressions)))
	for i := range s.Impressions {
		s.Impressions[i].encode(&w)
	}
	w.u32(uint32(len(s.Links)))
	for i := range s.Links {
		s.Links[i].encode(&w)
	}
	return w.b
}

// encodeHead writes what there is once.
func (s *State) encodeHead(w *writer) {
	w.str(s.Embedder)
	w.u32(uint32(s.Dim))
	w.str(string(s.Params.encode()))
	s.Session.encode(w)
	w.raw(s.VectorDigest[:])
}

func (m *Samskara) encode(w *writer) {
	w.raw(m.ID[:])
	w.raw(m.Key[:])
	w.position(m.Sequence)
	w.f64(m.Reinforcement)
	w.f64(m.Peak)
	w.guna(m.Guna)
	w.u32(m.Born)
	w.u32(m.Last)
	w.u32(m.Activations)
	w.u32(m.BuryAt)
	w.bool(m.Buried)
	w.bool(m.Unplaced)
}

func (l *Link) encode(w *writer) {
	w.raw(l.ID[:])
	w.raw(l.Key[:])
	w.position(l.Sequence)
	w.indices(l.Acted)
}

// DecodeState reads a snapshot and joins it to its vectors, of which exactly
// one row per impression must be given. It never panics, whatever the bytes.
func DecodeState(data []byte, vectors *Matrix) (*State, error) {
	r := reader{b: data}
	if v := r.u8(); v != stateVersion {
		return nil, fmt.Errorf("%w: state format %d, this program knows %d", ErrDecode, v, stateVersion)
	}
	s := &State{Sequence: r.u64(), Embedder: r.str(), Dim: int(r.u32())}
	params, err := decodeParams([]byte(r.str()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDecode, err)
	}
	s.Params = params
	s.Session = r.session()
	r.raw(s.VectorDigest[:])
	s.Impressions = make([]Samskara, r.count(98))
	for i := range s.Impressions {
		m := &s.Impressions[i]
		r.raw(m.ID[:])
		r.raw(m.Key[:])
		m.Sequence, m.Reinforcement, m.Peak, m.Guna = r.u64(), r.f64(), r.f64(), r.guna()
		m.Born, m.Last, m.Activations, m.BuryAt = r.u32(), r.u32(), r.u32(), r.u32()
		m.Buried, m.Unplaced = r.bool(), r.bool()
	}
	s.Links = make([]Link, r.count(44))
	for i := range s.Links {
		l := &s.Links[i]
		r.raw(l.ID[:])
		r.raw(l.Key[:])
		l.Sequence, l.Acted = r.u64(), r.indices()
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if vectors == nil || vectors.Len() != len(s.Impressions) || vectors.Dim() != s.Dim {
		return nil, fmt.Errorf("%w: %d impressions of %d dimensions do not match their vectors", ErrDecode, len(s.Impressions), s.Dim)
	}
	for i := range s.Impressions {
		if s.Impressions[i].Unplaced != vectors.Unplaced(i) {
			return nil, fmt.Errorf("%w: impression %d does not match its vector", ErrDecode, i)
		}
	}
	s.Vectors = vectors
	if err := s.sound(); err != nil {
		return nil, err
	}
	return s, nil
}

// VectorCount reads how many rows belong to an encoded state, and their dimension.
func VectorCount(data []byte) (rows, dim int, err error) {
	r := reader{b: data}
	r.u8()
	r.u64()
	r.str()
	dim = int(r.u32())
	r.str()
	r.session()
	r.take(32)
	rows = r.count(98)
	return rows, dim, r.err
}

func (n *Session) encode(w *writer) {
	w.u32(n.Number)
	w.str(n.Date)
	w.bool(n.Open)
	for _, x := range []uint32{n.Events, n.Created, n.Reactivated, n.Soft, n.Suppressed, n.Gated} {
		w.u32(x)
	}
	for _, x := range []float64{n.Focus, n.Theta, n.Inertia, n.Reactivity, n.Weight, n.Valence} {
		w.f64(x)
	}
	w.u32(uint32(len(n.Sum)))
	for _, x := range n.Sum {
		w.f64(x)
	}
	w.indices(n.Context)
}

func (r *reader) session() Session {
	n := Session{Number: r.u32(), Date: r.str(), Open: r.bool()}
	for _, x := range []*uint32{&n.Events, &n.Created, &n.Reactivated, &n.Soft, &n.Suppressed, &n.Gated} {
		*x = r.u32()
	}
	for _, x := range []*float64{&n.Focus, &n.Theta, &n.Inertia, &n.Reactivity, &n.Weight, &n.Valence} {
		*x = r.f64()
	}
	n.Sum = make([]float64, r.count(8))
	for i := range n.Sum {
		n.Sum[i] = r.f64()
	}
	n.Context = r.indices()
	return n
}

func (w *writer) indices(x []uint32) {
	w.u32(uint32(len(x)))
	for _, i := range x {
		w.u32(i)
	}
}

func (r *reader) indices() []uint32 {
	x := make([]uint32, r.count(4))
	for i := range x {
		x[i] = r.u32()
	}
	return x
}

// Difference lists where two states differ: bit for bit with tolerance 0, else
// where numbers differ by more than tolerance, relative to the greater of 1 and
// their size. At most limit differences are worded; the number of all is returned.
func Difference(a, b *State, tolerance float64, limit int) (found []string, total int) {
	say := func(format string, args ...any) {
		total++
		if len(found) < limit {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	number := func(what string, x, y float64) {
		if math.Float64bits(x) == math.Float64bits(y) {
			return
		}
		if tolerance == 0 || !(math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))) {
			say("%s: %v and %v", what, x, y)
		}
	}
	equal := func(what string, same bool) {
		if !same {
			say("%s differs", what)
		}
	}
	equal("embedder", a.Embedder == b.Embedder && a.Dim == b.Dim)
	equal("parameters", string(a.Params.encode()) == string(b.Params.encode()))
	equal("number of impressions", len(a.Impressions) == len(b.Impressions))
	equal("number of links", len(a.Links) == len(b.Links))
	equal("vectors", a.VectorDigest == b.VectorDigest)
	sessionDifference(&a.Session, &b.Session, equal, number)
	for i := range min(len(a.Impressions), len(b.Impressions)) {
		x, y := &a.Impressions[i], &b.Impressions[i]
		what := fmt.Sprintf("impression %d ", i)
		equal(what+"identity", x.ID == y.ID && x.Key == y.Key)
		equal(what+"counters", x.Born == y.Born && x.Last == y.Last && x.Activations == y.Activations && x.BuryAt == y.BuryAt)
		equal(what+"flags", x.Buried == y.Buried && x.Unplaced == y.Unplaced)
		number(what+"reinforcement", x.Reinforcement, y.Reinforcement)
		number(what+"peak", x.Peak, y.Peak)
		gunaDifference(what, x.Guna, y.Guna, number)
	}
	for i := range min(len(a.Links), len(b.Links)) {
		x, y := &a.Links[i], &b.Links[i]
		equal(fmt.Sprintf("link %d", i), x.ID == y.ID && x.Key == y.Key && slices.Equal(x.Acted, y.Acted))
	}
	if rows := min(a.Vectors.Len(), b.Vectors.Len()); a.Dim == b.Dim {
		for i := range rows {
			equal(fmt.Sprintf("vector %d", i), equalBits(a.Vectors.Row(i), b.Vectors.Row(i)))
		}
	}
	return found, total
}

func sessionDifference(a, b *Session, equal func(string, bool), number func(string, float64, float64)) {
	equal("session", a.Number == b.Number && a.Date == b.Date && a.Open == b.Open)
	equal("session counts", a.Events == b.Events && a.Created == b.Created && a.Reactivated == b.Reactivated &&
		a.Soft == b.Soft && a.Suppressed == b.Suppressed && a.Gated == b.Gated)
	equal("session context", slices.Equal(a.Context, b.Context))
	number("focus", a.Focus, b.Focus)
	number("threshold", a.Theta, b.Theta)
	number("inertia", a.Inertia, b.Inertia)
	number("reactivity", a.Reactivity, b.Reactivity)
	number("weight", a.Weight, b.Weight)
	number("valence", a.Valence, b.Valence)
	equal("session sum", len(a.Sum) == len(b.Sum))
	for i := range min(len(a.Sum), len(b.Sum)) {
		number("session sum", a.Sum[i], b.Sum[i])
	}
}

func gunaDifference(what string, x, y reactivation.Guna, number func(string, float64, float64)) {
	number(what+"tamas", x.Tamas, y.Tamas)
	number(what+"rajas", x.Rajas, y.Rajas)
	number(what+"sattva", x.Sattva, y.Sattva)
}

func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}
