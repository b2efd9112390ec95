package lifecycle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
)

func restored(t testing.TB, w *world, file string, change func(*lifecycle.RestoreOptions)) lifecycle.RestoreReport {
	t.Helper()
	o := lifecycle.RestoreOptions{Dir: w.dir, File: file}
	if change != nil {
		change(&o)
	}
	r, err := lifecycle.Restore(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func elsewhere(t testing.TB, c *lifecycle.Companion) string {
	t.Helper()
	r, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "old.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Path
}

// withoutCanaries sees that no file of the companion has a word that was withdrawn.
func withoutCanaries(t testing.TB, w *world) {
	t.Helper()
	for _, canary := range []string{"quincunxed", "zeugmatic", "syzygial"} {
		if plantedIn(t, w.dir, canary) {
			t.Errorf("%s is there", canary)
		}
	}
}

// What was withdrawn stays withdrawn where a backup of before is restored: the texts go
// again before anybody is answered, what was said holds, and leave that was given again
// since does not bring back what had been destroyed between.
func TestARestoreDoesNotBringBackWhatWasWithdrawn(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	digest := digestOf(t, c)
	old := elsewhere(t, c)
	w.says(t, c, "health.storage=deny")
	w.says(t, c, "health.storage=allow", "location.access=allow")
	w.end(t, c)
	r := restored(t, w, old, nil)
	if r.ToWithdraw != len(ids) || r.ConsentRecords != 2 || !slices.Equal(r.Withdrawn, []consent.Category{consent.Health}) || !r.Owes() {
		t.Errorf("%+v", r)
	}

	// Who only looks changes nothing, reads nothing of it and says what is left to do.
	w.opts.LookOnly = true
	c = w.live(t)
	if s, err := c.Status(t.Context()); err != nil || !strings.Contains(strings.Join(s.Problems, "\n"), "destroys them again") {
		t.Errorf("%v, %v", s.Problems, err)
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "quincunxed tooth"}); err != nil || slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool { return strings.Contains(h.Impression.Text, "uincunxed") }) {
		t.Errorf("it is read: %v", err)
	}
	if _, err := c.Export(t.Context(), nil, func(lifecycle.ExportPart) error { return nil }); !errors.Is(err, lifecycle.ErrOwed) {
		t.Errorf("exported meanwhile: %v", err)
	}
	w.end(t, c)
	w.opts.LookOnly = false

	for _, first := range []bool{true, false} { // a start that does it, and one that has nothing left to do
		c = w.live(t)
		withoutCanaries(t, w)
		for _, id := range ids {
			if m, err := c.Show(t.Context(), id); err != nil || m.Text+m.Summary+m.Answer+m.Source != "" || m.Kept == lifecycle.KeepFull {
				t.Errorf("%+v, %v", m, err)
			}
		}
		if d := digestOf(t, c); first && d != digest {
			t.Errorf("the state is %s, was %s", d, digest)
		}
		view, err := c.Consent(t.Context())
		if err != nil || view.Head.Version != 3 || len(view.Unfinished) != 0 || len(view.Withdrawals) != 2 {
			t.Fatalf("%+v, %v", view, err)
		}
		if again := view.Withdrawals[1]; !again.Restored || again.Version != 3 || again.Done[0].Texts != len(ids) || !again.Done[0].Purged {
			t.Errorf("%+v", again)
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
		w.end(t, c)
	}
	c = w.live(t)
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Another cough.", Category: "health"}); err != nil {
		t.Fatal(err)
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "Another cough."}); err != nil || len(hits) == 0 || hits[0].Impression.Text == "" {
		t.Errorf("leave that was given again does not hold: %v", err)
	}
	w.end(t, c)

	// With what was forgotten they come back, and rest as the last word has it.
	c = w.live(t)
	w.says(t, c, "health.storage=deny")
	w.end(t, c)
	r = restored(t, w, old, func(o *lifecycle.RestoreOptions) { o.WithForgotten = true })
	if r.ToWithdraw != 0 {
		t.Errorf("%+v", r)
	}
	c = w.live(t)
	view, err := c.Consent(t.Context())
	if err != nil || view.Head.Version != 4 || len(view.Kept) == 0 {
		t.Fatalf("%+v, %v", view, err)
	}
	for _, k := range view.Kept {
		if k.Category == consent.Health && (k.Texts != len(ids) || k.Resting != len(ids)) {
			t.Errorf("%+v", k)
		}
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "quincunxed tooth"}); err != nil || slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool { return strings.Contains(h.Impression.Text, "uincunxed") }) {
		t.Errorf("they do not rest: %v", err)
	}
}

// As long as texts that came back cannot be destroyed again nobody is answered; the next
// start that can does it.
func TestNobodyIsAnsweredBeforeItIsWithdrawnAgain(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	old := elsewhere(t, c)
	w.says(t, c, "health.storage=deny")
	w.end(t, c)
	if r := restored(t, w, old, nil); r.ToWithdraw != len(ids) {
		t.Errorf("%+v", r)
	}
	w.opts.DropUploads = func(context.Context, consent.Category) (int, error) {
		return 0, errors.New("the queue cannot be read")
	}
	for range 2 {
		if c, err := lifecycle.Open(t.Context(), w.opts); err == nil || !strings.Contains(err.Error(), "consent was withdrawn") || !strings.Contains(err.Error(), "the queue cannot be read") {
			t.Fatalf("%v, %v", c, err)
		}
	}
	w.opts.DropUploads = nil
	c = w.live(t)
	withoutCanaries(t, w)
	w.end(t, c)
}

// Where the store is lost its copies tell what was withdrawn since, as far as they know.
func TestCopiesTellWhatWasWithdrawn(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	old := elsewhere(t, c)
	w.says(t, c, "health.storage=deny")
	if _, err := c.Backup(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
	if err := os.WriteFile(filepath.Join(w.dir, "chitta.db"), []byte("gone"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := restored(t, w, old, nil); r.ToWithdraw != len(ids) || !r.ForgottenUnknown {
		t.Errorf("%+v", r)
	}
	c = w.live(t)
	withoutCanaries(t, w)
	w.end(t, c)
}

// A text that a model found to be of a kind after the backup was made goes with that kind,
// and rests with it.
func TestARestoreKnowsWhatWasFound(t *testing.T) {
	w := newWorld(t)
	m := &wise{digest: "abc"}
	w.opts.Model, w.opts.Retention = m, lifecycle.Retention{"behavioural": lifecycle.KeepFull, "communications": lifecycle.KeepFull}
	copied := make(chan struct{})
	m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		<-copied
		a := verdict(e)
		for _, category := range []string{"location", "financial"} {
			if strings.Contains(e.Text, category) {
				a.Category = category
			}
		}
		return a, nil
	})
	c := w.live(t)
	for _, text := range []string{"A quincunxed location.", "A zeugmatic sum, financial.", "A walk."} {
		if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: text, Answered: "Yes.", By: "m", Source: "chat"}); err != nil {
			t.Fatal(err)
		}
	}
	old := elsewhere(t, c)
	close(copied)
	if err := c.Judged(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.says(t, c, "location.storage=deny", "financial.access=deny", "financial.storage=allow")
	w.end(t, c)
	if plantedIn(t, w.dir, "quincunxed") || !plantedIn(t, w.dir, "zeugmatic") {
		t.Fatal("the model was not heard")
	}
	if r := restored(t, w, old, nil); r.ToWithdraw != 1 {
		t.Errorf("%+v", r)
	}
	w.opts.Model = nil // so that it is not found again
	c = w.live(t)
	defer w.end(t, c)
	if plantedIn(t, w.dir, "quincunxed") {
		t.Error("what was found and destroyed is there again")
	}
	texts, err := c.Texts()
	if err != nil || len(texts) != 2 {
		t.Errorf("%q, %v", texts, err)
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "A zeugmatic sum, financial."}); err != nil || slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool { return strings.Contains(h.Impression.Text, "zeugmatic") }) {
		t.Errorf("what was found and rests is read: %v", err)
	}
}
