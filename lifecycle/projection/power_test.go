package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// again is a copy of a world with all that lies in its folder.
func (w *world) again(t *testing.T) *world {
	t.Helper()
	out := *w
	out.t, out.store, out.dir = t, &memory{records: maps.Clone(w.store.records)}, t.TempDir()
	if err := os.CopyFS(out.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	return &out
}

// The power goes at every transaction of what takes something out: of an excision, of lives
// that are in the lineage, wait for a judgement or for their distillation; of a forgetting; of
// a withdrawal of consent; of what a copy that was restored owes. Done again at the next
// start each life has exactly one obligation, all verifies, and what was taken out stays out
// (S-1, S-5, J-4).
func TestPowerGoesWhileSomethingIsTakenOut(t *testing.T) {
	begun := newWorld(t)
	p := begun.must(begun.open())
	for n := 1; n <= 4; n++ { // two that are distilled, one drafted, one owed
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		begun.ends(p)
		if n == 4 {
			break
		}
		if _, err := p.Distil(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if n == 3 {
			continue
		}
		if _, err := p.Rate(t.Context(), 0, lineage.Million); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var gone []lineage.ID // of lives 2, 3 and 4
	for n := int64(2); n <= 4; n++ {
		l, err := lives.Decode(begun.store.records[lifeName(n)])
		if err != nil {
			t.Fatal(err)
		}
		gone = append(gone, l.ID)
	}
	other := begun.again(t) // in which they are excised
	q := other.must(other.open())
	if _, err := q.Excise(t.Context(), gone, false, "a test", nil); err != nil {
		t.Fatal(err)
	}
	nothing := func(*lineage.Lineage) ([]Value, error) { return nil, nil }
	for name, c := range map[string]struct {
		// does is done until the power goes, and once more; least is how many transactions
		// it has.
		does  func(ctx context.Context, w *world, p *Projections) error
		least int
		over  []int64 // lives of which nothing is there then
	}{
		"an excision": {func(ctx context.Context, _ *world, p *Projections) error {
			_, err := p.Excise(ctx, gone, false, "a test", nil)
			return err
		}, 1, []int64{2, 3, 4}},
		"a forgetting": {func(ctx context.Context, w *world, p *Projections) error {
			each, owed, err := p.Forgetting(always, same)
			if err != nil {
				return err
			}
			err = w.store.Rewrite(ctx, func(v Value) ([]byte, error) {
				v, stays, err := each(v)
				if !stays {
					v.Data = nil
				}
				return v.Data, err
			}, owed...)
			if err != nil {
				return err
			}
			return p.Forgotten(ctx, always, same)
		}, 4, []int64{3, 4}},
		"a withdrawal of consent": {func(ctx context.Context, w *world, p *Projections) error {
			_, err := p.Purge(ctx, ofRule("companion.help")...)
			return err
		}, 1, []int64{3}},
	} {
		t.Run(name, func(t *testing.T) {
			rounds := 0
			for dies := 1; ; dies++ {
				ended := false
				for _, after := range []bool{false, true} {
					w := begun.again(t)
					p := w.must(w.open())
					if name == "a withdrawal of consent" {
						says(t, p, "operational.storage=deny", "communications.storage=deny")
					}
					w.store.puts, w.store.dies, w.store.after = 0, dies, after
					err := c.does(t.Context(), w, p)
					if ended = err == nil; !ended && !errors.Is(err, errCrash) {
						t.Fatalf("at %d, after %v: %v", dies, after, err)
					}
					w.store.dies = 0
					rounds++
					w.settles(fmt.Sprintf("at %d, after %v", dies, after), gone, c.over, func(p *Projections) error {
						if name == "a forgetting" && (dies > 1 || after) {
							return nil // it is done, and the next start takes up what it owes
						}
						return c.does(t.Context(), w, p)
					})
				}
				if ended {
					break
				}
			}
			if rounds <= 2*c.least {
				t.Errorf("only %d rounds", rounds)
			}
		})
	}
	t.Run("a restore", func(t *testing.T) {
		went := begun.again(t) // its course goes on
		went.goesOn()
		taken, err := Carry(valuesIn(other.store), [][]Value{valuesIn(went.store)}, true, func(int64) bool { return true }, lives.Stamp{})
		if err != nil {
			t.Fatal(err)
		}
		does := func(p *Projections) error {
			ids, owed, err := p.ToExcise()
			if err != nil || !owed {
				return err
			}
			return p.ExciseAgain(t.Context(), ids, "a test", nothing)
		}
		for dies := 1; dies <= 3; dies++ {
			for _, after := range []bool{false, true} {
				w := went.again(t)
				w.store.records = maps.Clone(other.store.records)
				if err := w.store.Put(t.Context(), taken.Values...); err != nil {
					t.Fatal(err)
				}
				p := w.must(w.open())
				w.store.puts, w.store.dies, w.store.after = 0, dies, after
				if err := does(p); (err == nil) != (dies == 3) {
					t.Fatalf("at %d, after %v: %v", dies, after, err)
				}
				w.store.dies = 0
				w.settles(fmt.Sprintf("at %d, after %v", dies, after), gone, []int64{2, 3, 4}, does)
			}
		}
	})
}

// settles starts anew, does what was broken off once more, lives on and judges all that
// waits. Each life then has one obligation; over are those of which nothing is left, and of
// gone what has a tombstone is nowhere.
func (w *world) settles(at string, gone []lineage.ID, over []int64, does func(p *Projections) error) {
	w.t.Helper()
	ctx := context.Background()
	fatal := func(what string, err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("%s: %s: %v", at, what, err)
		}
	}
	p := w.must(w.open())
	_, err := p.Verify(ctx)
	fatal("as it broke off", err)
	fatal("once more", does(p))
	fatal("closed", p.Close())
	for range 2 {
		p = w.must(w.open())
		_, err := p.Distil(ctx, nil)
		fatal("distilled", err)
		for _, n := range over {
			if l, err := p.Life(n); err != nil || !l.State.Over() || !p.gone(n) || w.store.records[draftName(n)] != nil || w.store.records[kitName(n)] != nil {
				w.t.Fatalf("%s: something is left of life %d: %+v, %v", at, n, l, err)
			}
		}
		fatal("closed", p.Close())
	}
	p = w.must(w.open())
	says(w.t, p, "operational.storage=allow", "communications.storage=allow")
	_, err = live(ctx, p)
	fatal("the next life", err)
	fatal("its end", w.end(p, lineage.Million))
	for err == nil {
		_, err = p.Rate(ctx, 0, lineage.Million)
	}
	if !errors.Is(err, ErrNoLife) {
		fatal("rated", err)
	}
	_, err = p.Verify(ctx)
	fatal("at the end", err)
	all, err := p.Lives(100)
	fatal("listed", err)
	for _, l := range all {
		if l.State != lives.Dissolved || !l.Obligation.Settled() {
			w.t.Errorf("%s: life %d is %s, %s", at, l.Sequence, l.State, l.Obligation.Status)
		}
		if slices.Contains(over, l.Sequence) && slices.Contains(gone, l.ID) && l.Obligation.Status == lives.Met && p.buried(l.ID) == nil {
			w.t.Errorf("%s: life %d is met", at, l.Sequence)
		}
	}
	for _, id := range gone {
		if p.buried(id) != nil && len(p.lineage.OfLife(id)) > 0 {
			w.t.Errorf("%s: life %s is back", at, id)
		}
		if len(over) == 3 && p.buried(id) == nil {
			w.t.Errorf("%s: life %s has no tombstone", at, id)
		}
	}
	if left, _ := os.ReadDir(p.folder()); len(left) > 0 {
		w.t.Errorf("%s: %v is left", at, left)
	}
	for name := range w.store.records {
		if strings.HasPrefix(name, prefixDraft) || name == nameAgain || name == nameCut {
			w.t.Errorf("%s: %s is left", at, name)
		}
	}
}
