package lineage

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

// ProofSchema is the version of the form of a proof.
const ProofSchema = "jivad/proof/1"

// Proof shows that a distillate is, or is not, in the lineage of a version, to whoever
// knows the version and the digest: nothing else of the lineage is needed to check it.
type Proof struct {
	Schema string `json:"schema"`
	// Root is the genesis root, Version the version that it is about, Size how many
	// distillates there are.
	Root    ID     `json:"genesis"`
	Version Digest `json:"version"`
	Size    uint64 `json:"size"`
	// Digest is that of the distillate, Present whether it is there.
	Digest  Digest `json:"digest"`
	Present bool   `json:"present"`
	// Leaves are, where it is present, its own; where it is not, the ones next to where
	// it would be: one at either end, none in an empty lineage, else two.
	Leaves []Leaf `json:"leaves"`
}

// Leaf is one leaf of the Merkle tree with its audit path, from its sibling up.
type Leaf struct {
	Index  uint64   `json:"index"`
	Digest Digest   `json:"digest"`
	Path   []Digest `json:"path"`
}

// Prove proves of a digest that a distillate is in the lineage as it is now, or is not.
func (l *Lineage) Prove(d Digest) Proof {
	at, present := l.tree.find(d)
	out := Proof{
		Schema: ProofSchema, Root: l.root, Version: l.Head(), Size: uint64(l.Size()), Digest: d, Present: present, Leaves: []Leaf{},
	}
	from, to := at-1, at
	if present {
		from = at
	}
	for i := max(from, 0); i <= to && i < l.Size(); i++ {
		out.Leaves = append(out.Leaves, Leaf{Index: uint64(i), Digest: l.tree.digests[i], Path: l.tree.path(i)})
	}
	return out
}

// Check tells whether a proof proves what it says. It says nothing of whether its
// version is the one that somebody relies on. Error: ErrProof.
func (p Proof) Check() error {
	if p.Schema != ProofSchema {
		return fmt.Errorf("%w: of the form %q, not %s", ErrProof, clipped(p.Schema), ProofSchema)
	}
	if err := p.place(); err != nil {
		return err
	}
	if p.Size == 0 {
		return p.against((&tree{}).root())
	}
	for _, leaf := range p.Leaves {
		path := make([][]byte, len(leaf.Path))
		for i := range leaf.Path {
			path[i] = leaf.Path[i][:]
		}
		// The directions of a path follow from index and size, and are bound by the hashes:
		// two leaves with neighbouring indices are neighbours, whatever size is claimed.
		own := leafHash(leaf.Digest)
		root, err := proof.RootFromInclusionProof(rfc6962.DefaultHasher, leaf.Index, p.Size, own[:], path)
		if err != nil {
			return fmt.Errorf("%w: a path of %d hashes for leaf %d of %d", ErrProof, len(path), leaf.Index, p.Size)
		}
		if err := p.against(Digest(root)); err != nil {
			return err
		}
	}
	return nil
}

func (p Proof) against(root Digest) error {
	if Version(p.Root, root) != p.Version {
		return fmt.Errorf("%w: its hashes lead to another version", ErrProof)
	}
	return nil
}

// place tells whether the leaves are the ones that prove something of the digest.
func (p Proof) place() error {
	n := len(p.Leaves)
	good := false
	switch {
	case p.Present:
		good = n == 1 && p.Leaves[0].Digest == p.Digest
	case p.Size == 0:
		good = n == 0
	case n == 1 && p.Leaves[0].Index == 0 && p.Digest.Compare(p.Leaves[0].Digest) < 0: // before the first
		good = true
	case n == 1: // behind the last
		good = p.Leaves[0].Index == p.Size-1 && p.Leaves[0].Digest.Compare(p.Digest) < 0
	case n == 2:
		a, b := p.Leaves[0], p.Leaves[1]
		good = b.Index == a.Index+1 && a.Digest.Compare(p.Digest) < 0 && p.Digest.Compare(b.Digest) < 0
	}
	if !good {
		return fmt.Errorf("%w: its leaves are not where the digest is, or would be", ErrProof)
	}
	return nil
}

// ParseProof reads a proof as JSON. Error: ErrProof.
func ParseProof(data []byte) (p Proof, err error) {
	const most = 64 << 10
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if len(data) > most || in.Decode(&p) != nil || in.More() {
		return p, fmt.Errorf("%w: it is no proof of this form", ErrProof)
	}
	return p, nil
}
