package fold

import (
	"crypto/sha256"
	"math"
	"slices"
)

const (
	// digestVersion begins what is hashed for the digest of a state.
	digestVersion = 2
	// hashedTogether is how many impressions, or links, have one hash: enough that
	// the hashes are few, few enough that what a session touches is a small part.
	hashedTogether = 16
)

// Digest is a SHA-256 over everything that the state holds. It does not depend
// on where in the log the events stood, so two stores that saw the same
// experiences in the same sessions have the same digest.
//
// Hashed are: the version, embedder, dimension, parameters, session and the
// digest of the vectors; the number of impressions, then a SHA-256 of each
// sixteen of them, in order of creation (the last of what is left); and of links
// the same.
func (s *State) Digest() [32]byte { return new(Digester).Of(s) }

// Digester works out the digests of a growing store, session after session, and
// hashes only what changed since the time before. Each has the bits of
// [State.Digest]. The zero value is ready.
type Digester struct {
	impressions hashes[Samskara]
	links       hashes[Link]
}

// Of returns the digest of s.
func (d *Digester) Of(s *State) [32]byte {
	w := writer{b: make([]byte, 0, 16<<10+2*len(s.Impressions))}
	w.u8(digestVersion)
	s.encodeHead(&w)
	d.impressions.write(&w, s.Impressions, sameImpression, (*Samskara).encode)
	d.links.write(&w, s.Links, sameLink, (*Link).encode)
	return sha256.Sum256(w.b)
}

// hashes are those of the items of the time before, with a copy of the items.
type hashes[T any] struct {
	items []T
	sums  [][32]byte
}

// write writes the number of items and the hash of each hashedTogether of them.
func (h *hashes[T]) write(w *writer, items []T, same func(a, b *T) bool, encode func(*T, *writer)) {
	n, before := len(items), len(h.items)
	h.items, h.sums = sized(h.items, n), sized(h.sums, (n+hashedTogether-1)/hashedTogether)
	w.u32(uint32(n))
	block := writer{b: make([]byte, 0, hashedTogether*96)}
	for at := range h.sums {
		first, stop := at*hashedTogether, min((at+1)*hashedTogether, n)
		// The same items as then, and as many: a block that was cut off, or was
		// not full, is made anew.
		kept := stop == before || stop < before && stop == first+hashedTogether
		for i := first; kept && i < stop; i++ {
			kept = same(&h.items[i], &items[i])
		}
		if !kept {
			copy(h.items[first:stop], items[first:stop])
			block.b = block.b[:0]
			for i := first; i < stop; i++ {
				encode(&items[i], &block)
			}
			h.sums[at] = sha256.Sum256(block.b)
		}
		w.raw(h.sums[at][:])
	}
}

// sized is list with a length of n, with what it held before as far as that goes.
func sized[T any](list []T, n int) []T { return slices.Grow(list, max(0, n-len(list)))[:n] }

// sameImpression says whether both are written alike: they are equal, and no 0
// differs in its sign.
func sameImpression(a, b *Samskara) bool {
	return *a == *b && sameSign(a.Reinforcement, b.Reinforcement) && sameSign(a.Peak, b.Peak) &&
		sameSign(a.Guna.Tamas, b.Guna.Tamas) && sameSign(a.Guna.Rajas, b.Guna.Rajas) && sameSign(a.Guna.Sattva, b.Guna.Sattva)
}

func sameSign(x, y float64) bool { return math.Signbit(x) == math.Signbit(y) }

func sameLink(a, b *Link) bool {
	return a.ID == b.ID && a.Key == b.Key && slices.Equal(a.Acted, b.Acted)
}
