package projection

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// changeLife writes a life anew, changed, however wrong it is then.
func (w *world) changeLife(n int64, change func(*lives.Life)) {
	w.t.Helper()
	l, err := lives.Decode(w.store.records[lifeName(n)])
	if err != nil {
		w.t.Fatal(err)
	}
	change(&l)
	if w.store.records[lifeName(n)], err = json.Marshal(l); err != nil {
		w.t.Fatal(err)
	}
}

// memberOf is what a life was distilled to.
func memberOf(t *testing.T, p *Projections, n int64) *lineage.Distillate {
	t.Helper()
	l, err := p.Life(n)
	if err != nil {
		t.Fatal(err)
	}
	d, there := p.lineage.Member(l.Obligation.Distillate)
	if !there {
		t.Fatal("it left nothing")
	}
	return d
}

// merges writes a distillate into the lineage without asking whether it may enter.
func (w *world) merges(p *Projections, d *lineage.Distillate) {
	w.t.Helper()
	next := p.lineage.Without()
	b, err := next.Merge(d)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := encode(batchName(next.Batches()), b)
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := d.Canonical()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Put(w.t.Context(), v, Value{prefixMember + b.Members[0].String(), data}); err != nil {
		w.t.Fatal(err)
	}
}

// What somebody changed of the lineage, or of lives and what they did, is found where all of
// it still folds to a version (S-3 to S-5, J-4, AD-4).
func TestVerifyFinds(t *testing.T) {
	firstAct := func(w *world, change func(*signedAct)) {
		var s signedAct
		_ = json.Unmarshal(w.store.records[actName(1, 1)], &s)
		change(&s)
		w.store.records[actName(1, 1)], _ = json.Marshal(s)
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, w *world, p *Projections)
		is     error
		says   string
	}{
		"the end of the chain is gone": {func(t *testing.T, w *world, p *Projections) {
			l, err := p.Life(2)
			if err != nil {
				t.Fatal(err)
			}
			delete(w.store.records, batchName(2))
			delete(w.store.records, prefixMember+l.Obligation.Distillate.String())
		}, lineage.ErrChain, "life 2 was distilled to"},
		"all of the chain is gone": {func(_ *testing.T, w *world, _ *Projections) {
			for name := range w.store.records {
				if strings.HasPrefix(name, "lineage/") {
					delete(w.store.records, name)
				}
			}
		}, lineage.ErrChain, "which is not in the lineage"},
		"excised, but another life": {func(t *testing.T, w *world, p *Projections) {
			gone, _ := p.LifeOf("2")
			if _, err := p.Excise(t.Context(), []lineage.ID{gone}, false, "a test", nil); err != nil {
				t.Fatal(err)
			}
			for name, data := range w.store.records {
				if strings.HasPrefix(name, prefixExcision) {
					w.store.records[name] = []byte(strings.ReplaceAll(string(data), gone.String(), lineage.ID{6: 0x70, 8: 0x80}.String()))
				}
			}
		}, lineage.ErrChain, "was not excised"},
		"the distillate of another life": {func(t *testing.T, w *world, p *Projections) {
			stranger := *memberOf(t, p, 1)
			stranger.ID, stranger.Life, stranger.Sequence = lineage.ID{9}, lineage.ID{8}, 2
			if err := stranger.Sign(p.key); err != nil {
				t.Fatal(err)
			}
			w.merges(p, &stranger)
			digest, _ := stranger.Digest()
			w.changeLife(2, func(l *lives.Life) { l.Obligation.Distillate = digest })
		}, lineage.ErrChain, "which is of another life"},
		"a life of another number": {func(_ *testing.T, w *world, _ *Projections) {
			w.changeLife(2, func(l *lives.Life) { l.Sequence = 7 })
			w.store.records[actName(7, 1)], w.store.records[actName(7, 2)] = w.store.records[actName(2, 1)], w.store.records[actName(2, 2)]
			delete(w.store.records, actName(2, 1))
			delete(w.store.records, actName(2, 2))
		}, lineage.ErrChain, "which is of another life"},
		"two lives with one distillate": {func(_ *testing.T, w *world, p *Projections) {
			w.changeLife(2, func(l *lives.Life) { l.Obligation.Distillate = p.lineage.OfLife(memberOf(t, p, 1).Life)[0] })
		}, nil, "lives 1 and 2 were distilled to the same"},
		"a life distilled twice": {func(t *testing.T, w *world, p *Projections) {
			again := *memberOf(t, p, 1)
			again.ID[15]++
			if err := again.Sign(p.key); err != nil {
				t.Fatal(err)
			}
			w.merges(p, &again)
		}, nil, "was distilled more than once"},
		"a signature": {func(t *testing.T, w *world, p *Projections) {
			forged := *memberOf(t, p, 1)
			forged.Signature[0]++
			data, err := forged.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			w.store.records[prefixMember+p.lineage.OfLife(forged.Life)[0].String()] = data
		}, lineage.ErrSignature, ""},
		"an excised life": {func(t *testing.T, w *world, p *Projections) {
			w.store.records[tombstoneName(memberOf(t, p, 1).Life)] = []byte("{}")
		}, ErrTombstone, ""},
		"an act": {func(_ *testing.T, w *world, _ *Projections) {
			firstAct(w, func(s *signedAct) { s.Payload[0]++ })
		}, lineage.ErrSignature, "act 00000001 of life 1"},
		"the signature of an act": {func(_ *testing.T, w *world, _ *Projections) {
			firstAct(w, func(s *signedAct) { s.Signature[9]++ })
		}, lineage.ErrSignature, "act 00000001 of life 1"},
		"an act that is gone": {func(_ *testing.T, w *world, _ *Projections) {
			delete(w.store.records, actName(2, 2))
		}, nil, "life 2 acted 2 times, and 1"},
		"an act of no life": {func(_ *testing.T, w *world, _ *Projections) {
			w.store.records[actName(9, 1)] = w.store.records[actName(1, 1)]
		}, nil, "is of no life that there is"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := endedWorld(t, 2)
			if n, err := p.Verify(t.Context()); n != 2 || err != nil {
				t.Fatal(n, err)
			}
			c.change(t, w, p)
			p = w.must(w.open())
			if _, err := p.Verify(t.Context()); err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v %q", err, c.is, c.says)
			}
		})
	}
}

// What was excised, whatever was done since, and acts of a life that is lived, are as they
// should be.
func TestVerifyKnowsWhatWasExcised(t *testing.T) {
	w, p := endedWorld(t, 3)
	second, _ := p.LifeOf("2")
	if _, err := p.Excise(t.Context(), []lineage.ID{second}, true, "a test", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := w.must(w.open()).Verify(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
}
