package projection

import (
	"slices"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// Which lives descend from which is known on the device that lived them, also after earlier
// excisions took the versions away that they were born with, and of lives that were judged
// after one only. What is not known is of other devices alone.
func TestDescendantsAfterExcisions(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	var ids []lineage.ID
	lived := func(judged bool) {
		t.Helper()
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		l, _ := p.Living()
		ids = append(ids, l.ID)
		if judged {
			if err := w.end(p, lineage.Million); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Distil(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		lived(true)
	}
	lived(false) // the sixth waits for its judgement
	descend := func(of int, waiting []lineage.ID, want ...int) {
		t.Helper()
		plan, err := p.PlanExcision([]lineage.ID{ids[of-1]}, false)
		var got []int
		for _, digest := range plan.Descendants {
			d, _ := p.lineage.Member(digest)
			got = append(got, slices.Index(ids, d.Life)+1)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) || len(plan.Unknown) > 0 || !slices.Equal(plan.Waiting, waiting) {
			t.Errorf("of life %d: %v, want %v; %d unknown, waiting %v, want %v; %v", of, got, want, len(plan.Unknown), plan.Waiting, waiting, err)
		}
	}
	excise := func(life int) {
		t.Helper()
		if _, err := p.Excise(t.Context(), []lineage.ID{ids[life-1]}, false, "a test", nil); err != nil {
			t.Fatal(err)
		}
	}
	sixth := ids[5:6]
	descend(3, sixth, 4, 5)
	excise(1)
	descend(3, sixth, 4, 5)
	excise(2)
	descend(3, sixth, 4, 5)
	descend(5, sixth)
	if err := p.Close(); err != nil { // and what is known is kept
		t.Fatal(err)
	}
	p = w.must(w.open())
	if _, err := p.Rate(t.Context(), 6, lineage.Million); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	descend(3, nil, 4, 5, 6)
	excise(4)
	descend(3, nil, 5, 6)
	descend(5, nil, 6)
	descend(6, nil)
}
