package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/diary"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// says has somebody say something about consent.
func (w *world) says(t testing.TB, c *lifecycle.Companion, settings ...string) lifecycle.Withdrawal {
	t.Helper()
	r, err := c.SetConsent(t.Context(), said(t, settings...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func said(t testing.TB, settings ...string) lifecycle.ConsentRequest {
	t.Helper()
	changes, err := consent.ParseSettings(settings...)
	if err != nil {
		t.Fatal(err)
	}
	return lifecycle.ConsentRequest{Changes: changes, Who: "anna", Why: "to try it"}
}

// The diary, the model, the settings and consent know the same categories.
func TestOneListOfCategories(t *testing.T) {
	want := consent.EntryNames()
	for name, list := range map[string][]string{"diary": diary.Categories(), "prompt": prompt.Categories(), "lifecycle": lifecycle.Categories()} {
		if !slices.Equal(list, want) {
			t.Errorf("%s has %v, consent %v", name, list, want)
		}
	}
	of := map[consent.Category]bool{}
	for _, name := range want {
		of[consent.OfEntry(name)] = true
		if err := (lifecycle.Retention{name: lifecycle.KeepGist}).Check(); err != nil {
			t.Error(err)
		}
	}
	if len(of) != len(consent.Categories()) || of[0] {
		t.Errorf("they are of %v", of)
	}
}

// Nothing is kept without leave, and no more than the settings say with it.
func TestLeaveBoundsWhatIsKept(t *testing.T) {
	w := newWorld(t)
	w.opts.Retention = lifecycle.Retention{"financial": lifecycle.KeepGist, "health": lifecycle.KeepFull}
	c := w.live(t)
	try := func(when string, want map[string]lifecycle.Keep) {
		t.Helper()
		for category, keep := range want {
			r, err := c.Write(t.Context(), lifecycle.Note{Text: when + ", of " + category, Category: category})
			if err != nil {
				t.Fatal(err)
			}
			if m, err := c.Show(t.Context(), r.Event); err != nil || m.Kept != keep || (m.Text == "") != (keep == lifecycle.KeepNone) {
				t.Errorf("%s: %+v, %v", when, m, err)
			}
		}
	}
	try("By default", map[string]lifecycle.Keep{
		"": lifecycle.KeepFull, "behavioural": lifecycle.KeepFull, "communications": lifecycle.KeepFull, "operational": lifecycle.KeepFull,
		"health": lifecycle.KeepNone, "financial": lifecycle.KeepNone, "minor": lifecycle.KeepNone, "identity": lifecycle.KeepNone,
	})
	w.says(t, c, "*.storage=allow")
	try("Then", map[string]lifecycle.Keep{"health": lifecycle.KeepFull, "financial": lifecycle.KeepGist, "dependent": lifecycle.KeepFull})
	w.says(t, c, "*.storage=ask")
	try("Later", map[string]lifecycle.Keep{"health": lifecycle.KeepNone, "behavioural": lifecycle.KeepNone})
}

// canaries is a companion with canaries in all that may hold a text: entries, a gist of
// what was said, an answer to something else, a name of a tendency, SOUL.md and its
// copies, and backups.
func canaries(t testing.TB, w *world) (c *lifecycle.Companion, ids []string) {
	t.Helper()
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull} // answers too
	c = w.live(t)
	w.says(t, c, "health.storage=allow", "health.access=allow")
	for day := 1; day <= 6; day++ {
		w.clock.set(at(fmt.Sprintf("2026-04-%02d 09:00", day)))
		for _, n := range []lifecycle.Note{
			{Text: fmt.Sprintf("The quincunxed tooth ached on day %d.", day), Category: "health", Label: "quincunxed"},
			{Text: fmt.Sprintf("Zeugmatic fever again, said I on day %d.", day), Category: "health", Source: "chat"},
			{Text: fmt.Sprintf("Walked along the river on day %d.", day)},
		} {
			r, err := c.Write(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			if n.Category == "health" {
				ids = append(ids, r.Event)
			}
		}
		if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: fmt.Sprintf("And how was day %d?", day), Answered: "You spoke of a syzygial pain.", By: "a model"}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Backup(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	w.clock.set(at("2026-04-07 09:00"))
	r, err := c.Write(t.Context(), lifecycle.Note{Text: "A quincunxed tooth in a session that is open.", Category: "health"})
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"quincunxed", "zeugmatic", "syzygial"} {
		if !plantedIn(t, w.dir, canary) {
			t.Fatalf("%s is nowhere", canary)
		}
	}
	return c, append(ids, r.Event)
}

// plantedIn tells whether any file of a folder holds a word, whatever its case.
func plantedIn(t testing.TB, dir, word string) (is bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), []byte(word)) {
			is = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// destroyed sees that nothing of the canaries is anywhere, and everything else is there.
func destroyed(t testing.TB, w *world, c *lifecycle.Companion, ids []string, digest string) {
	t.Helper()
	for _, canary := range []string{"quincunxed", "zeugmatic", "syzygial"} {
		if plantedIn(t, w.dir, canary) {
			t.Errorf("%s is still there", canary)
		}
		if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: canary}); err != nil || slices.ContainsFunc(hits, func(r lifecycle.Recalled) bool { return r.Phrase }) {
			t.Errorf("%s is recalled: %v", canary, err)
		}
	}
	for _, id := range ids {
		if m, err := c.Show(t.Context(), id); err != nil || m.Text+m.Summary+m.Answer+m.Source != "" || m.Kept != lifecycle.KeepNone || m.Category != "health" {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "Walked along the river on day 3."}); err != nil || len(hits) == 0 || !hits[0].Phrase {
		t.Errorf("the rest is not found: %v", err)
	}
	if d := digestOf(t, c); d != digest {
		t.Errorf("the state is %s, was %s", d, digest)
	}
	v, err := c.Verify(t.Context(), true, nil)
	if err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
	view, err := c.Consent(t.Context())
	if err != nil || len(view.Unfinished) != 0 || len(view.Withdrawals) != 1 || len(view.Withdrawals[0].Left()) != 0 || view.Withdrawals[0].Done[0].Texts != len(ids) {
		t.Errorf("unfinished %+v, done %+v, %v", view.Unfinished, view.Withdrawals, err)
	}
}

// Storage that is denied destroys every text of the category, wherever it is, and leaves
// the impressions as they are.
func TestWithdrawnTextsAreDestroyed(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	digest, before := digestOf(t, c), trendLines(t, c)
	plan, err := c.PlanConsent(t.Context(), said(t, "health.storage=deny"))
	if err != nil || !plan.Takes() || len(plan.Kept) != 1 || plan.Kept[0].Texts != len(ids) || plan.Versions == 0 || len(plan.Backups) != 1 {
		t.Errorf("%+v, %v", plan, err)
	}
	if planned := digestOf(t, c); planned != digest {
		t.Error("a plan changes something")
	}
	r := w.says(t, c, "health.storage=deny")
	if len(r.Left()) != 0 || r.Backups != 1 || r.Versions != plan.Versions || !r.Remade || len(r.FilesLeft)+len(r.BackupsLeft) != 0 {
		t.Errorf("%+v", r)
	}
	destroyed(t, w, c, ids, digest)
	for _, canary := range []string{"quincunxed tooth", "zeugmatic", "syzygial"} {
		if a, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: w.dir}, canary, nil); err != nil || !a.Absent {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if after := trendLines(t, c); after != before {
		t.Errorf("the trend is\n%s\nwas\n%s", after, before)
	}
	// What comes later is not kept, and an ended session knows nothing of it.
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Quincunxed once more.", Category: "health"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if plantedIn(t, w.dir, "quincunxed") {
		t.Error("what came later is there")
	}
	w.end(t, c)
}

func trendLines(t testing.TB, c *lifecycle.Companion) string {
	t.Helper()
	records, err := c.Trend(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range records {
		gap := "none"
		if r.WitnessGap != nil {
			gap = fmt.Sprint(*r.WitnessGap)
		}
		fmt.Fprintf(&b, "%d %d %d %s %v %v\n", r.Session, r.Events, r.New, gap, r.GStore, r.MokshaDistance)
	}
	return b.String()
}

// Wherever a withdrawal is broken off, the next start finishes it.
func TestAWithdrawalThatBreaksOffIsFinished(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	digest := digestOf(t, c)
	copies := filepath.Join(t.TempDir(), "copies")
	var stages []string
	take := func(stage string) {
		if len(stages) > 0 && stages[len(stages)-1] == stage {
			return
		}
		stages = append(stages, stage)
		if err := os.CopyFS(filepath.Join(copies, fmt.Sprint(len(stages))), os.DirFS(w.dir)); err != nil {
			t.Error(err)
		}
	}
	// Where a folder is in the place of SOUL.md it cannot be written: so the last steps
	// fail here too.
	stuck := filepath.Join(w.dir, "SOUL.md")
	if err := errors.Join(os.Remove(stuck), os.MkdirAll(filepath.Join(stuck, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	r, err := c.SetConsent(t.Context(), said(t, "health.storage=deny"), func(p lifecycle.Progress) { take(p.Stage) })
	if err != nil || len(r.Left()) != 1 || r.Done[0].Failure == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	if view, err := c.Consent(t.Context()); err != nil || len(view.Unfinished) != 1 || view.Unfinished[0].Done[0].Failure == "" {
		t.Errorf("%+v, %v", view, err)
	}
	take("after")
	w.end(t, c)
	if len(stages) < 3 {
		t.Errorf("only %q", stages)
	}
	for i, stage := range stages {
		t.Run(stage, func(t *testing.T) {
			again := *w
			again.dir = filepath.Join(copies, fmt.Sprint(i+1))
			again.opts.Dir = again.dir
			if err := os.RemoveAll(filepath.Join(again.dir, "SOUL.md")); err != nil {
				t.Fatal(err)
			}
			c, err := lifecycle.Open(t.Context(), again.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close(context.Background()) }()
			destroyed(t, &again, c, ids, digest)
		})
	}
}

// A queue that cannot be emptied is owed until it is.
func TestWaitingUploadsAreDropped(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.says(t, c, "health.third_party_sharing=allow")
	w.end(t, c)
	var of []consent.Category
	broken := errors.New("the queue cannot be read")
	w.opts.DropUploads = func(_ context.Context, k consent.Category) (int, error) {
		of = append(of, k)
		return 4, broken
	}
	c = w.live(t)
	r := w.says(t, c, "health.third_party_sharing=deny")
	if !slices.Equal(of, []consent.Category{consent.Health}) || !slices.Equal(r.Left(), of) || !strings.Contains(r.Text(), broken.Error()) {
		t.Errorf("%v, %+v", of, r)
	}
	w.end(t, c)
	broken = nil
	c = w.live(t)
	if v, err := c.Consent(t.Context()); err != nil || len(v.Unfinished) != 0 || v.Withdrawals[0].Done[0].Uploads != 4 {
		t.Errorf("%+v, %v", v, err)
	}
}

// Access that is denied leaves the texts, and nothing reads them: no recall, no SOUL.md,
// no name. With leave they are read again.
func TestWithoutAccessNothingIsRead(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	seen := func() (recalled, quoted bool) {
		t.Helper()
		for _, reminded := range []bool{false, true} {
			hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "quincunxed tooth", Reminded: reminded, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				recalled = recalled || strings.Contains(h.Impression.Text, "uincunxed")
			}
		}
		doc, err := c.Soul(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		woven, err := c.Weave(t.Context(), "the quincunxed tooth", 10)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.Vasanas(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ToLower(doc.Text + woven.System + fmt.Sprint(all))
		return recalled, strings.Contains(text, "quincunxed") || strings.Contains(text, "zeugmatic")
	}
	if recalled, quoted := seen(); !recalled || !quoted {
		t.Fatalf("with leave: %v, %v", recalled, quoted)
	}
	for _, settings := range [][]string{{"health.access=deny"}, {"health.access=ask"}, {"health.access=allow", "health.storage=ask"}} {
		w.says(t, c, settings...)
		if recalled, quoted := seen(); recalled || quoted {
			t.Errorf("%v: %v, %v", settings, recalled, quoted)
		}
		if m, err := c.Show(t.Context(), ids[0]); err != nil || m.Text == "" {
			t.Errorf("%v: the text is gone: %+v, %v", settings, m, err)
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if view, err := c.Consent(t.Context()); err != nil || !slices.ContainsFunc(view.Kept, func(k lifecycle.ConsentKept) bool { return k.Category == consent.Health && k.Resting == len(ids) }) {
		t.Errorf("%+v, %v", view.Kept, err)
	}
	w.says(t, c, "health.storage=allow")
	if recalled, quoted := seen(); !recalled || !quoted {
		t.Errorf("with leave again: %v, %v", recalled, quoted)
	}
}

// What cannot be recorded is refused, and nothing is said.
func TestConsentThatCannotBeSaid(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	for name, r := range map[string]lifecycle.ConsentRequest{
		"nobody":    {Changes: said(t, "health.storage=deny").Changes},
		"nothing":   {Who: "anna"},
		"at length": {Changes: said(t, "health.storage=deny").Changes, Who: "anna", Why: strings.Repeat("a", 241)},
	} {
		if _, err := c.SetConsent(t.Context(), r, nil); !errors.Is(err, lifecycle.ErrConsent) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.PlanConsent(t.Context(), r); !errors.Is(err, lifecycle.ErrConsent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, err := c.Consent(t.Context()); err != nil || v.Head.Version != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// SOUL.md quotes no deep impression whose text may not be read.
func TestSoulQuotesWithLeaveOnly(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.says(t, c, "health.storage=allow", "health.access=allow")
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "A zeugmatic fever.", Category: "health"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		setting string
		quoted  bool
	}{{"health.access=allow", true}, {"health.access=deny", false}, {"health.access=allow", true}} {
		w.says(t, c, x.setting)
		if doc, err := c.Soul(t.Context(), 0); err != nil || strings.Contains(doc.Text, "zeugmatic") != x.quoted {
			t.Errorf("%s: %s, %v", x.setting, doc.Text, err)
		}
	}
}
