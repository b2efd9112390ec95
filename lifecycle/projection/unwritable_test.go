package projection

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
)

// A life of which nothing could be written down is not born: it is told what stands in the
// way, no life stays beside it as if it were lived, and it is born once that is gone.
func TestNoLifeIsBornThatCannotBeWrittenDown(t *testing.T) {
	for _, name := range []string{"0000000002.trace", "0000000002.secret"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.must(w.open())
			defer p.Close()
			if err := p.Birth(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(p.folder(), name)
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var unborn *UnbornError
				if err := p.Birth(t.Context()); !errors.As(err, &unborn) || len(unborn.Missing) != 1 || unborn.Missing[0].Code != "journal" {
					t.Fatal(err)
				}
			}
			all, err := p.Lives(9)
			if err != nil || len(all) != 2 || all[0].State != lives.Avyakrta || len(p.Known().Missing) != 1 {
				t.Fatalf("%+v %v", all, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := p.Birth(t.Context()); err != nil {
				t.Fatal(err)
			}
			if all, err = p.Lives(9); err != nil || len(all) != 2 || all[0].State != lives.Ready || all[0].Sequence != 2 {
				t.Errorf("%+v %v", all, err)
			}
			if _, err := p.Act(t.Context(), call("fare_search", "indexed")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A birth that the disk broke off leaves nothing that looks as if it were lived.
func TestABirthThatBreaksOffLeavesNoLife(t *testing.T) {
	for dies := 1; dies <= 2; dies++ {
		w := newWorld(t)
		p := w.must(w.open())
		w.store.dies = dies
		if err := p.Birth(t.Context()); !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(p.folder()); err != nil || len(left) > 0 {
			t.Errorf("it left %v, %v", left, err)
		}
		w.store.dies = 0
		if err := p.Birth(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all, err := p.Lives(9); err != nil || len(all) != 1 || all[0].State != lives.Ready || all[0].Sequence != 1 {
			t.Errorf("after dying at %d: %+v %v", dies, all, err)
		}
		p.Close()
	}
}
