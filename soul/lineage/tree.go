package lineage

import (
	"crypto/sha256"
	"slices"
)

// tree is the Merkle tree (RFC 6962) over a sorted set of digests: each is a leaf, of
// which the tree holds the hash. The zero tree is empty.
type tree struct {
	digests []Digest
	// levels[0] are the hashes of the leaves; each level above has half as many, and an
	// odd one at the end goes up as it is. The last has one, the root.
	levels [][]Digest
}

func leafHash(d Digest) Digest {
	var in [1 + sha256.Size]byte
	copy(in[1:], d[:])
	return sha256.Sum256(in[:])
}

func nodeHash(left, right Digest) Digest {
	var in [1 + 2*sha256.Size]byte
	in[0] = 1
	copy(in[1:], left[:])
	copy(in[1+sha256.Size:], right[:])
	return sha256.Sum256(in[:])
}

// root is the tree hash; that of the empty tree is the digest of nothing.
func (t *tree) root() Digest {
	if len(t.digests) == 0 {
		return sha256.Sum256(nil)
	}
	return t.levels[len(t.levels)-1][0]
}

// find tells where a digest is, or would be.
func (t *tree) find(d Digest) (int, bool) {
	return slices.BinarySearchFunc(t.digests, d, Digest.Compare)
}

// insert adds digests that are sorted and not in the tree. What is left of the first of
// them stays as it is.
func (t *tree) insert(added []Digest) {
	if len(added) == 0 {
		return
	}
	first, _ := t.find(added[0])
	if t.levels == nil {
		t.levels = [][]Digest{nil}
	}
	old, hashes := slices.Clone(t.digests[first:]), slices.Clone(t.levels[0][first:])
	t.digests = slices.Grow(t.digests[:first], len(old)+len(added))
	t.levels[0] = slices.Grow(t.levels[0][:first], len(old)+len(added))
	for len(old) > 0 || len(added) > 0 {
		if len(added) == 0 || len(old) > 0 && old[0].Compare(added[0]) < 0 {
			t.digests, t.levels[0] = append(t.digests, old[0]), append(t.levels[0], hashes[0])
			old, hashes = old[1:], hashes[1:]
		} else {
			t.digests, t.levels[0] = append(t.digests, added[0]), append(t.levels[0], leafHash(added[0]))
			added = added[1:]
		}
	}
	t.raise(first)
}

// raise makes the levels above the leaves anew, from the leaf at first on.
func (t *tree) raise(first int) {
	level := 0
	for ; len(t.levels[level]) > 1; level++ {
		below := t.levels[level]
		if level+1 == len(t.levels) {
			t.levels = append(t.levels, nil)
		}
		first /= 2
		above := t.levels[level+1]
		first = min(first, len(above))
		above = slices.Grow(above[:first], (len(below)+1)/2-first)
		for i := 2 * first; i < len(below); i += 2 {
			if i+1 < len(below) {
				above = append(above, nodeHash(below[i], below[i+1]))
			} else {
				above = append(above, below[i])
			}
		}
		t.levels[level+1] = above
	}
	t.levels = t.levels[:level+1]
}

// path is the audit path of a leaf, from its sibling up.
func (t *tree) path(index int) []Digest {
	out := []Digest{}
	for _, level := range t.levels {
		if sibling := index ^ 1; sibling < len(level) {
			out = append(out, level[sibling])
		}
		index /= 2
	}
	return out
}
