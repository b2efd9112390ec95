package lineage_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// cases is how many sets each law is held against.
const cases = 10_000

func eachCase(t *testing.T, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	n := cases / thin
	if testing.Short() {
		n /= 20
	}
	first := rand.Uint64() //nolint:gosec // to be repeated, not to be secret
	for i := range n {
		f(t, rand.New(rand.NewPCG(first, uint64(i)))) //nolint:gosec // as above
		if t.Failed() {
			t.Fatalf("case %d of the seed %d", i, first)
		}
	}
}

func mapped(t *testing.T, ds []*lineage.Distillate) map[lineage.Digest]*lineage.Distillate {
	out := map[lineage.Digest]*lineage.Distillate{}
	for _, d := range ds {
		out[digestOf(t, d)] = d
	}
	return out
}

// Nodes that took in the same distillates, each in batches, an order and with
// repetitions of its own, have one version and the same rules: those of the fold of the
// set (AD-3). What one node has it may also give to another, whole.
func TestMergeIsAFunctionOfTheSet(t *testing.T) {
	eachCase(t, func(t *testing.T, rng *rand.Rand) {
		ds := set(rng, 1+rng.IntN(12))
		nodes := make([]*lineage.Lineage, 2+rng.IntN(15))
		for i := range nodes {
			nodes[i] = lineage.New(root, identity)
		}
		// Each distillate comes to some node first, and then goes round.
		for _, d := range ds {
			merge(t, nodes[rng.IntN(len(nodes))], d)
		}
		for range rng.IntN(2 * len(nodes)) {
			from, to := nodes[rng.IntN(len(nodes))], nodes[rng.IntN(len(nodes))]
			merge(t, to, partOf(rng, from)...)
		}
		for _, node := range nodes {
			rest := append(slices.Clone(ds), ds[rng.IntN(len(ds))])
			rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
			for len(rest) > 0 {
				n := 1 + rng.IntN(len(rest))
				merge(t, node, rest[:n]...)
				rest = rest[n:]
			}
		}
		all := mapped(t, ds)
		want := lineage.Fold(all)
		for i, node := range nodes {
			if node.Head() != nodes[0].Head() || node.Size() != len(all) {
				t.Errorf("node %d has the version %s of %d, node 0 %s", i, node.Head(), node.Size(), nodes[0].Head())
			}
			if got := node.Rules(); !reflect.DeepEqual(got, want) {
				t.Errorf("node %d: %+v, not the fold %+v", i, got, want)
			}
			before := node.Batches()
			if merge(t, node, ds...); node.Batches() != before {
				t.Error("merging what is there makes a batch")
			}
		}
	})
}

func partOf(rng *rand.Rand, l *lineage.Lineage) (out []*lineage.Distillate) {
	for _, digest := range l.Members() {
		if d, _ := l.Member(digest); rng.IntN(3) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// Excising lives gives the chain that never had them, bit for bit: batches, versions,
// rules, momentum (S-5).
func TestExcisionIsTheFoldWithout(t *testing.T) {
	eachCase(t, func(t *testing.T, rng *rand.Rand) {
		ds := set(rng, 1+rng.IntN(12))
		gone := map[lineage.ID]bool{}
		var lives []lineage.ID
		for range 1 + rng.IntN(3) {
			life := ds[rng.IntN(len(ds))].Life
			gone[life] = true
			lives = append(lives, life)
		}
		if rng.IntN(4) == 0 {
			lives = append(lives, idOf('l', 1<<40)) // one that left nothing
		}
		with, never := lineage.New(root, identity), lineage.New(root, identity)
		for rest := ds; len(rest) > 0; {
			n := 1 + rng.IntN(min(4, len(rest)))
			merge(t, with, rest[:n]...)
			merge(t, never, slices.DeleteFunc(slices.Clone(rest[:n]), func(d *lineage.Distillate) bool { return gone[d.Life] })...)
			rest = rest[n:]
		}
		without := with.Without(lives...)
		if without.Head() != never.Head() || !reflect.DeepEqual(without.Rules(), never.Rules()) {
			t.Errorf("head %s and %+v, not %s and %+v", without.Head(), without.Rules(), never.Head(), never.Rules())
		}
		if without.Batches() != never.Batches() {
			t.Fatalf("%d batches, not %d", without.Batches(), never.Batches())
		}
		for i := range never.Batches() {
			if !reflect.DeepEqual(without.Batch(i), never.Batch(i)) {
				t.Errorf("batch %d: %+v, not %+v", i, without.Batch(i), never.Batch(i))
			}
		}
		for life := range gone {
			if left := without.OfLife(life); len(left) > 0 {
				t.Errorf("life %s left %s", life, left)
			}
		}
		for _, digest := range without.Members() {
			got, _ := without.Member(digest)
			if want, ok := never.Member(digest); !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("member %s differs", digest)
			}
		}
	})
}

// The proofs of any lineage hold, of what is in it and of what is not, and not for
// another digest, version, size or neighbour.
func TestProofs(t *testing.T) {
	eachCase(t, func(t *testing.T, rng *rand.Rand) {
		ds := set(rng, rng.IntN(12))
		l := lineage.New(root, identity)
		merge(t, l, ds...)
		known := digests(t, ds)
		for _, d := range ds {
			if p := l.Prove(known[d]); !p.Present || p.Check() != nil {
				t.Errorf("%+v: %v", p, p.Check())
			}
		}
		var other lineage.Digest
		for i := range other {
			other[i] = byte(rng.Uint32())
		}
		p := l.Prove(other)
		if p.Present || p.Check() != nil || p.Version != l.Head() {
			t.Errorf("%+v: %v", p, p.Check())
		}
		for name, forge := range map[string]func(*lineage.Proof){
			"present":   func(p *lineage.Proof) { p.Present = !p.Present },
			"version":   func(p *lineage.Proof) { p.Version[3] ^= 1 },
			"genesis":   func(p *lineage.Proof) { p.Root[3] ^= 1 },
			"leaf":      func(p *lineage.Proof) { p.Leaves[0].Digest[31] ^= 1 },
			"index":     func(p *lineage.Proof) { p.Leaves[0].Index++ },
			"path":      func(p *lineage.Proof) { p.Leaves[0].Path[0][0] ^= 1 },
			"shorter":   func(p *lineage.Proof) { p.Leaves[0].Path = p.Leaves[0].Path[1:] },
			"no leaves": func(p *lineage.Proof) { p.Leaves = p.Leaves[:0] },
			"one less":  func(p *lineage.Proof) { p.Leaves = p.Leaves[:1] },
			"member": func(p *lineage.Proof) { // that what is there is not
				p.Digest = known[ds[rng.IntN(len(ds))]]
			},
		} {
			if len(ds) == 0 && name != "present" && name != "version" && name != "genesis" {
				continue
			}
			forged := l.Prove(other)
			forged.Leaves = slices.Clone(forged.Leaves)
			if name == "one less" && len(forged.Leaves) < 2 || (name == "path" || name == "shorter") && len(forged.Leaves[0].Path) == 0 {
				continue
			}
			forge(&forged)
			if forged.Check() == nil {
				t.Errorf("%s forged: %+v holds", name, forged)
			}
		}
	})
}
