package lifecycle_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
)

// lifeOf is a life by its number.
func lifeOf(t testing.TB, c *lifecycle.Companion, n int64) lifecycle.Life {
	t.Helper()
	all, err := c.Lives(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Sequence == n {
			return l
		}
	}
	t.Fatalf("there is no life %d of %d", n, len(all))
	return lifecycle.Life{}
}

// livedThrough lives a life that acts so and is judged so; with 0 it waits. Who goes straight
// fails, and a rule comes of that where it is judged badly.
func livedThrough(t *testing.T, w *world, c *lifecycle.Companion, way string, rating float64) {
	t.Helper()
	w.write(t, c, "I go "+way[:3]+".")
	act(t, c, way)
	ended(t, c, rating)
}

// ended ends the session and the life with it, and judges that.
func ended(t *testing.T, c *lifecycle.Companion, rating float64) {
	t.Helper()
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		all, err := c.Lives(t.Context(), 1)
		return err == nil && all[0].Obligation.Status == lives.Drafted
	})
	if rating == 0 {
		return
	}
	if l, err := c.Rate(t.Context(), 0, rating); err != nil || l.Obligation.Status != lives.Met {
		t.Fatalf("%+v, %v", l, err)
	}
}

// foundIn tells whether any file of the companion has what a life taught.
func foundIn(t testing.TB, w *world, word string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == lifecycle.ManifestFile {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(word)) {
			in = append(in, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A restore puts back what is remembered, not what was lived: no number is used twice, no
// life ends twice, and a life that was excised since stays so, to the last byte.
func TestARestoreLivesNothingTwice(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	livedThrough(t, w, c, "zigzagwise", 1) // 1, which is excised later
	w.write(t, c, "In the middle of the second.")
	old := elsewhere(t, c) // 2 is lived
	act(t, c, "straight")  // and ends
	ended(t, c, -1)
	livedThrough(t, w, c, "straight", 0) // 3 waits
	r, err := c.Excise(t.Context(), []string{"1"}, false, "a test")
	if err != nil || len(r.Digests) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	before, err := c.Lineage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second := lifeOf(t, c, 2)
	if in := foundIn(t, w, "zigzagwise"); len(in) > 0 {
		t.Fatalf("it was not excised from %v", in)
	}
	w.end(t, c)
	told := restored(t, w, old, nil)
	if told.Lives != 1 || told.Excised != 1 || told.LivesCut+told.LivesLeft != 0 || !told.Owes() {
		t.Errorf("%+v", told)
	}
	w.opts.LookOnly = true
	c = w.live(t)
	if s, err := c.Status(t.Context()); err != nil || len(s.Problems) != 1 {
		t.Errorf("%v, %v", s.Problems, err)
	}
	w.end(t, c)
	w.opts.LookOnly = false
	for range 2 {
		c = w.live(t)
		if in := foundIn(t, w, "zigzagwise"); len(in) > 0 {
			t.Errorf("what the excised life taught is in %v", in)
		}
		after, err := c.Lineage(t.Context())
		if err != nil || after.Head != before.Head || after.Distillates != 1 || after.Lives != 3 || after.Waiting != 1 {
			t.Errorf("%+v, was %+v, %v", after, before, err)
		}
		if l := lifeOf(t, c, 2); l.ID != second.ID || l.Obligation.Distillate != second.Obligation.Distillate || l.Session == 0 {
			t.Errorf("%+v, was %+v", l, second)
		}
		if l := lifeOf(t, c, 3); l.Session != 0 || l.Obligation.Status != lives.Drafted {
			t.Errorf("%+v", l)
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
		w.end(t, c)
	}
	c = w.live(t)
	if _, err := c.Rate(t.Context(), 2, 1); err == nil {
		t.Error("a life that is settled is judged again")
	}
	if l, err := c.Rate(t.Context(), 3, -1); err != nil || l.Obligation.Status != lives.Met {
		t.Errorf("%+v, %v", l, err)
	}
	livedThrough(t, w, c, "straight", -1)
	if l := lifeOf(t, c, 4); l.Obligation.Status != lives.Met {
		t.Errorf("%+v", l)
	}
	w.end(t, c)

	// What was replaced can be put back: it knows less now, and nothing is lost.
	told = restored(t, w, told.Replaced, nil)
	if told.Lives != 1 || told.Excised != 0 {
		t.Errorf("%+v", told)
	}
	c = w.live(t)
	if k, err := c.Lineage(t.Context()); err != nil || k.Lives != 4 || k.Distillates != 3 {
		t.Errorf("%+v, %v", k, err)
	}
	w.end(t, c)
}

// Where nothing is, or only what cannot be read, the end of a life that was lived when the
// backup was made is not known: nothing more comes of it, and its number is not used again.
func TestALifeOfABackupElsewhereIsNotLivedOn(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	livedThrough(t, w, c, "zigzagwise", 1)
	w.write(t, c, "In the middle of the second.")
	act(t, c, "straight")
	old := elsewhere(t, c)
	w.end(t, c)
	other := newWorld(t)
	if told := restored(t, other, old, nil); told.LivesCut != 1 || told.Lives != 0 {
		t.Errorf("%+v", told)
	}
	c = other.lived(t)
	if l := lifeOf(t, c, 2); l.State != lives.Dissolved || l.Obligation.Status != lives.Declined {
		t.Errorf("%+v", l)
	}
	if k, err := c.Lineage(t.Context()); err != nil || k.Distillates != 1 || k.Waiting != 0 {
		t.Errorf("%+v, %v", k, err)
	}
	livedThrough(t, other, c, "straight", -1)
	if l := lifeOf(t, c, 3); l.Obligation.Status != lives.Met {
		t.Errorf("%+v", l)
	}
	other.end(t, c)
}
