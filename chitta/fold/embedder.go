package fold

import "fmt"

// changeEmbedder puts an embedder in force. The impressions keep what they are;
// from here on they are compared by their new vectors, and those that have none
// are near nothing.
func (s *State) changeEmbedder(b EmbedderChanged) {
	s.Embedder, s.Dim = b.Embedder, b.Dim
	s.Session.Sum, s.VectorDigest = nil, [32]byte{}
	if s.Session.Number > 0 { // it may be taken up again
		s.Session.Sum = make([]float64, b.Dim)
	}
	if len(s.Impressions) == 0 {
		s.Vectors = NewMatrix(b.Dim)
		return
	}
	s.Vectors = b.Rows.Prefix(b.Rows.Len())
	for i := range s.Impressions {
		s.Impressions[i].Unplaced = s.Vectors.Unplaced(i)
		s.VectorDigest = chain(s.VectorDigest, s.Vectors.Row(i))
	}
}

func checkEmbedderChanged(s *State, b EmbedderChanged) error {
	if b.Dim < 1 || b.Dim > 1<<14 {
		return fmt.Errorf("%w: dimension %d, must be 1 to 16384", ErrEvent, b.Dim)
	}
	if err := checkLength("embedder", b.Embedder, 1, 128); err != nil {
		return err
	}
	if s.Session.Open && len(s.Impressions) > 0 {
		return fmt.Errorf("%w: session %d is open; the embedder changes between sessions", ErrSession, s.Session.Number)
	}
	if n := len(s.Impressions); n > 0 && (b.Rows == nil || b.Rows.Len() != n || b.Rows.Dim() != b.Dim) {
		return fmt.Errorf("%w: the store holds %d impressions of %s (%d dimensions), and %s (%d dimensions) comes without a row for each of them",
			ErrEmbedder, n, s.Embedder, s.Dim, b.Embedder, b.Dim)
	}
	return nil
}

// withVectors marks the dimension in a record that goes on with the count and
// the digest of vectors beside it.
const withVectors = 1 << 31

func (w *writer) embedderChanged(b EmbedderChanged) {
	w.str(b.Embedder)
	if b.Digest == ([32]byte{}) {
		w.u32(uint32(b.Dim))
		return
	}
	w.u32(uint32(b.Dim) | withVectors)
	w.u32(b.Stored)
	w.raw(b.Digest[:])
}

func (r *reader) embedderChanged() EmbedderChanged {
	b := EmbedderChanged{Embedder: r.str()}
	dim := r.u32()
	b.Dim = int(dim &^ withVectors)
	if dim&withVectors == 0 {
		return b
	}
	b.Stored = r.u32()
	r.raw(b.Digest[:])
	if b.Digest == ([32]byte{}) {
		r.fail("vectors without a digest")
	}
	return b
}
