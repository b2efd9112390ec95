package lineage

import (
	"cmp"
	"slices"
)

// Share is what one distillate has in a rule.
type Share struct {
	Digest Digest `json:"digest"`
	ID     ID     `json:"id"`
	Life   ID     `json:"life"`
	Device Key    `json:"device"`
	Nonce  Digest `json:"nonce"`
	// Weight and Guidance are what it says, Counts what it counts for.
	Weight   int64  `json:"weight"`
	Counts   int64  `json:"counts"`
	Guidance string `json:"guidance"`
	// Words says that the rule has its words; Ignored that another distillate of the
	// same life, by the same device, counts in its place.
	Words   bool `json:"words,omitempty"`
	Ignored bool `json:"ignored,omitempty"`
}

// Succeeded gives for every version that a member of without was born with, and that
// without's chain has not, the one that took its place when lives were taken out of l.
func (l *Lineage) Succeeded(without *Lineage) map[Digest]Digest {
	empty := Version(l.root, (&tree{}).root())
	there := map[Digest]bool{empty: true}
	for _, b := range without.batches {
		there[b.Version] = true
	}
	took, at := map[Digest]Digest{}, 0
	now := empty
	for _, b := range l.batches {
		if slices.ContainsFunc(b.Members, func(d Digest) bool { return without.members[d] != nil }) {
			now = without.batches[at].Version
			at++
		}
		took[b.Version] = now
	}
	out := map[Digest]Digest{}
	for _, d := range without.members {
		if next, ok := took[d.Base]; ok && !there[d.Base] {
			out[d.Base] = next
		}
	}
	return out
}

// Blame lists who made the rule of a key what it is (AD-4), those that count for most
// first, of equals the one of lowest digest. It looks at every distillate.
func (l *Lineage) Blame(key string) []Share {
	var words Digest // an id may be another's too, a digest is not
	if s, ok := l.sums[key]; ok {
		words = s.spokesman(s.weight()).digest
	}
	out := []Share{}
	for _, digest := range l.tree.digests {
		d := l.members[digest]
		for _, x := range contributions(digest, d) {
			p := x.disposition()
			if p.Key != key {
				continue
			}
			out = append(out, Share{
				Digest: digest, ID: d.ID, Life: d.Life, Device: d.Device, Nonce: d.Nonce, Weight: p.Weight, Counts: x.c,
				Guidance: p.Guidance, Words: digest == words, Ignored: l.first[livedBy(d)] != digest,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Share) int { return cmp.Compare(b.Counts, a.Counts) })
	return out
}

// Descendants tells which distillates are of lives that were born with rules of the
// given lives, or with those of such descendants: the closure that an excision leaves
// where it is. Unknown may be: they were born with a version that this chain never had, as
// that of another device, or with rules of such a one. In whatever order they came here, a
// descendant may be the first; only one that its own device lived before the given lives is
// none: by the sequence, which is that device's own word and decides nothing else. succeeded gives for a version that the chain had before an excision the one that
// took its place.
func (l *Lineage) Descendants(succeeded map[Digest]Digest, lives ...ID) (known, unknown []Digest) {
	versions := l.versions(succeeded)
	never := len(l.batches) + 1
	from, maybe := never, never // the versions from which on hold one of them, and one that may descend
	var given []*Distillate
	for i, b := range l.batches {
		for _, digest := range b.Members {
			if d := l.members[digest]; slices.Contains(lives, d.Life) {
				given, from = append(given, d), min(from, i+1)
			}
		}
	}
	earlier := func(d *Distillate) bool { // than each of them
		return !slices.ContainsFunc(given, func(g *Distillate) bool { return g.Device != d.Device || g.Sequence <= d.Sequence })
	}
	if from == never {
		return nil, nil
	}
	for i, b := range l.batches {
		for _, digest := range b.Members {
			d := l.members[digest]
			if slices.Contains(lives, d.Life) || earlier(d) {
				continue
			}
			switch base, there := versions(d.Base); {
			case there && base >= from:
				known = append(known, digest)
			case !there || base >= maybe:
				unknown, maybe = append(unknown, digest), min(maybe, i+1)
			}
		}
	}
	return known, unknown
}

// Holds tells whether one of the lives is in a version that the chain has, or had before an
// excision; succeeded is as for Descendants.
func (l *Lineage) Holds(succeeded map[Digest]Digest, version Digest, lives ...ID) bool {
	base, there := l.versions(succeeded)(version)
	for _, b := range l.batches[:min(base, len(l.batches))] {
		for _, digest := range b.Members {
			if there && slices.Contains(lives, l.members[digest].Life) {
				return true
			}
		}
	}
	return false
}

// versions gives how many batches a version holds, and whether the chain has it.
func (l *Lineage) versions(succeeded map[Digest]Digest) func(Digest) (int, bool) {
	at := map[Digest]int{Version(l.root, (&tree{}).root()): 0}
	for i, b := range l.batches {
		at[b.Version] = i + 1
	}
	return func(version Digest) (int, bool) {
		for next, ok := succeeded[version]; ok; next, ok = succeeded[version] {
			version = next
		}
		base, there := at[version]
		return base, there
	}
}
