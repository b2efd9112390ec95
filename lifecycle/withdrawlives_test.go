package lifecycle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
)

// doneFor is what a withdrawal did for a category.
func doneFor(w lifecycle.Withdrawal, k consent.Category) consent.Done {
	for _, d := range w.Done {
		if d.Category == k {
			return d
		}
	}
	return consent.Done{}
}

// distilled waits until a life waits for its judgement.
func distilled(t *testing.T, c *lifecycle.Companion, n int64) {
	t.Helper()
	until(t, func() bool {
		l, err := c.Life(t.Context(), n)
		return err == nil && l.Obligation.Status == lives.Drafted
	})
}

// Denying operational storage reaches what lives did: the trace of the one that is lived
// goes and is not gone on with, what waits for a judgement goes from every byte, backups of
// before too, it is told how much that was, and no later judgement makes a rule of it.
func TestWithdrawalReachesLives(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "I look for the way.")
	act(t, c, "zigzagwise")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	distilled(t, c, 1)
	if _, err := c.Backup(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "Another day, another way.")
	act(t, c, "zigzagwise")
	const taught = "argument way" // what a rule has of it, and no declaration
	if !plantedIn(t, w.dir, taught) {
		t.Fatal("it is nowhere")
	}
	plan, err := c.PlanConsent(t.Context(), said(t, "operational.storage=deny"))
	if err != nil || len(plan.Lives) != 1 || plan.Lives[0].Acts != 1 || plan.Lives[0].Rules == 0 || !plan.Takes() {
		t.Fatalf("%+v, %v", plan, err)
	}
	r := w.says(t, c, "operational.storage=deny")
	if d := doneFor(r, consent.Operational); d.Acts != 1 || d.Rules != plan.Lives[0].Rules || !d.Purged || len(r.Left()) > 0 {
		t.Fatalf("%+v", r)
	}
	if text := r.Text(); !strings.Contains(text, "operational: 0 texts, 1 act or word of a life, ") || !strings.Contains(text, "for your judgement destroyed.") {
		t.Errorf("%s", text)
	}
	act(t, c, "zigzagwise")
	if data, err := os.ReadFile(filepath.Join(w.dir, "life", "0000000002.trace")); err != nil || len(data) > 0 {
		t.Errorf("the trace has %s (%v)", data, err)
	}
	if plantedIn(t, w.dir, taught) {
		t.Error("it is there")
	}
	l, err := c.Life(t.Context(), 1)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined {
		t.Errorf("%+v, %v", l, err)
	}
	view, err := c.Consent(t.Context())
	if err != nil || len(view.Withdrawals) != 1 || len(view.Unfinished) > 0 || doneFor(view.Withdrawals[0], consent.Operational).Acts != 1 {
		t.Errorf("%+v, %v", view, err)
	}
	// Said again it takes what came in between: nothing.
	if r := w.says(t, c, "operational.storage=deny"); len(r.Done) > 0 {
		t.Errorf("%+v", r)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		l, err := c.Rate(t.Context(), 2, 1)
		return err == nil && l.State == lives.Dissolved
	})
	if k, err := c.Lineage(t.Context()); err != nil || k.Rules != 0 {
		t.Errorf("%+v, %v", k, err)
	}
}

// What is kept of lives and lost its leave while the power went is destroyed at the start.
func TestWithdrawalOfLivesIsFinished(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "I look for the way.")
	act(t, c, "zigzagwise")
	trace := filepath.Join(w.dir, "life", "0000000001.trace")
	// A folder that the trace cannot be taken out of.
	if err := os.Chmod(filepath.Dir(trace), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(trace), 0o700) })
	if f, err := os.Create(filepath.Join(filepath.Dir(trace), "probe")); err == nil {
		f.Close()
		t.Skip("whoever runs this may write everywhere")
	}
	r := w.says(t, c, "operational.storage=deny")
	if !slices.Equal(r.Left(), []consent.Category{consent.Operational}) || doneFor(r, consent.Operational).Failure == "" {
		t.Fatalf("%+v", r)
	}
	if err := os.Chmod(filepath.Dir(trace), 0o700); err != nil {
		t.Fatal(err)
	}
	w.says(t, c, "location.storage=deny") // what is left of one before comes first
	if view, err := c.Consent(t.Context()); err != nil || len(view.Unfinished) > 0 {
		t.Errorf("%+v, %v", view, err)
	}
	if data, _ := os.ReadFile(trace); bytes.Contains(data, []byte("zigzagwise")) {
		t.Errorf("%s", data)
	}
}

// What is said is communications, unless somebody says otherwise of it; what is written is
// behavioural. The category is shown, bounds what is kept, and a withdrawal reaches it;
// turns that are of another by name stay what they were.
func TestCategoryOfASource(t *testing.T) {
	w := newWorld(t)
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull}
	c := w.live(t)
	turn := func(text, source string) string {
		t.Helper()
		r, err := c.Remember(t.Context(), lifecycle.Turn{Said: text, Answered: "You said: " + text, By: "a model", Source: source})
		if err != nil {
			t.Fatal(err)
		}
		return r.Event
	}
	note := func(n lifecycle.Note) string {
		t.Helper()
		r, err := c.Write(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return r.Event
	}
	ids := map[string]string{
		turn("The talk of the quincunx.", ""):                                                       "communications",
		turn("At the door, of the quincunx.", "door"):                                               "communications",
		note(lifecycle.Note{Text: "Chattering of the zeugma.", Source: "chatter.md"}):               "behavioural",
		note(lifecycle.Note{Text: "Written of the zeugma."}):                                        "behavioural",
		note(lifecycle.Note{Text: "As before: a zeugma.", Source: "chat", Category: "behavioural"}): "behavioural",
	}
	for id, want := range ids {
		d, err := c.Show(t.Context(), id)
		if err != nil || d.Category != want {
			t.Errorf("%s from %s is of %s, want %s (%v)", d.Text, d.Source, d.Category, want, err)
		}
	}
	view, err := c.Consent(t.Context())
	if err != nil || len(view.Kept) != 2 || view.Kept[0].Category != consent.Communications || view.Kept[0].Texts != 2 || view.Kept[1].Texts != 3 {
		t.Fatalf("%+v, %v", view.Kept, err)
	}
	if r := w.says(t, c, "communications.storage=deny"); doneFor(r, consent.Communications).Texts != 2 {
		t.Errorf("%+v", r)
	}
	if plantedIn(t, w.dir, "quincunx") || !plantedIn(t, w.dir, "zeugma") {
		t.Error("a wrong text went, or stayed")
	}
	r, err := c.Remember(t.Context(), lifecycle.Turn{Said: "Again the quincunx.", Answered: "So it is.", By: "a model"})
	if err != nil || r.Withheld != "communications" || plantedIn(t, w.dir, "quincunx") {
		t.Errorf("%+v, %v", r, err)
	}
}

// An excision takes a life that is lived, which is ended first, and one that is in
// quarantine; asked for again it says that it is done already, writes nothing anew, and does
// what a crash left undone.
func TestExcisionOfLivesThatLeftNothing(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "I look for the way.")
	act(t, c, "zigzagwise")
	ask := lifecycle.ExcisionRequest{Lives: []string{"1"}, Who: "a test"}
	r, err := c.ExciseLives(t.Context(), ask)
	if err != nil || r.Already || r.Number != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	l, err := c.Life(t.Context(), 1)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Why != "excised" {
		t.Errorf("%+v, %v", l, err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "life")); len(left) > 0 {
		t.Errorf("%v", left)
	}
	w.write(t, c, "Another day.") // a session that is open
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err = c.ExciseLives(t.Context(), ask)
	if err != nil || !r.Already || r.Number != 1 || r.Left+r.Present > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	after, err := c.Status(t.Context())
	if err != nil || s.Life == nil || after.Life == nil || after.Life.ID != s.Life.ID {
		t.Errorf("the life that is lived was ended: %+v, %v", after.Life, err)
	}
	if all, err := c.Excisions(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
