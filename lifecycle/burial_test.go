package lifecycle_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
)

// fading has entries buried a few sessions after nothing touches them any more.
func fading(w *world, after int) {
	w.opts.Params = fold.DefaultParams()
	w.opts.Params.Reactivation.Lambda = 1.5
	w.opts.Params.Reactivation.BuryBelow, w.opts.Params.Reactivation.BuryAfter = 0.09, after
}

// everything lists all entries by their texts, and the sources of those that
// have none any more.
func everything(t testing.TB, c *lifecycle.Companion) (texts map[string]bool, buried int) {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]bool{}
	hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "day line walk river breath mother noise", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		m := h.Impression
		if (m.Kept == lifecycle.KeepBuried) != (m.Text == "") || m.Kept == lifecycle.KeepBuried && (m.Source != "" || m.Excerpt != "" || m.BuryAt != 0) {
			t.Errorf("%+v", m)
		}
		if m.Text != "" {
			texts[m.Text] = true
		}
	}
	return texts, s.Buried
}

// With burial too an import in parts equals the import at once: state, SOUL.md and
// what is left of the texts.
func TestBurialInPartsEqualsBurialAtOnce(t *testing.T) {
	list := notes(24)
	for i := range list {
		list[i].Source = "import:/d/a.md"
	}
	whole := newWorld(t)
	fading(whole, 8)
	c := whole.live(t)
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	want, doc := digestOf(t, c), soulText(t, c)
	texts, buried := everything(t, c)
	if buried < 5 || len(texts) < 5 {
		t.Fatalf("%d buried, %d not: the test shows little", buried, len(texts))
	}
	for _, cut := range []int{1, 13, 20, 27, len(list) - 1} {
		w := newWorld(t)
		fading(w, 8)
		w.dir = filepath.Join(w.dir, "data")
		w.opts.Dir = w.dir
		c := w.live(t)
		if _, err := c.Import(t.Context(), list[:cut], nil); err != nil {
			t.Fatal(err)
		}
		w.end(t, c)
		c = w.live(t)
		if _, err := c.Import(t.Context(), list, nil); err != nil {
			t.Fatal(err)
		}
		if digestOf(t, c) != want {
			t.Errorf("cut at %d: another state", cut)
		}
		if got := soulText(t, c); withoutIdentity(got) != withoutIdentity(doc) {
			t.Errorf("cut at %d: another SOUL.md\n%s\n%s", cut, got, doc)
		}
		again, n := everything(t, c)
		if n != buried || fmt.Sprint(again) != fmt.Sprint(texts) {
			t.Errorf("cut at %d: %d buried, want %d; left are %v", cut, n, buried, again)
		}
		w.end(t, c)
	}
}

// The file still has what is buried and brings nothing back. What a person makes
// of it is a new entry, also when it is buried while that is on its way.
func TestTheFileBringsNothingBack(t *testing.T) {
	w := newWorld(t)
	fading(w, 1)
	w.opts.Diary = filepath.Join(w.dir, "diary")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(w.opts.Diary, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.TakeIn(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(phrase string) lifecycle.Keep {
		t.Helper()
		hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: phrase})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if h.Phrase {
				return h.Impression.Kept
			}
		}
		return ""
	}
	day := func(d int, text string) string { return fmt.Sprintf("# 1911-05-%02d\n\n%s\n\n", d, text) }
	walnut := day(1, "The walnut tree is in leaf.")
	write("a.md", walnut)
	if kept("walnut tree") != lifecycle.KeepFull {
		t.Fatal("it is not there")
	}
	for d, text := range []string{"Toothache.", "Mortgage signatures.", "Oranges from Seville."} {
		walnut += day(2+d, text)
		write("a.md", walnut)
	}
	s, err := c.Status(t.Context())
	if err != nil || s.Buried != 2 || kept("walnut tree") != "" {
		t.Fatalf("%d buried, %q, %v", s.Buried, kept("walnut tree"), err)
	}
	before := digestOf(t, c)
	write("a.md", walnut)
	write("b.md", walnut)
	write("b.md", walnut+"\n")
	if digestOf(t, c) != before || kept("walnut tree") != "" {
		t.Error("the file brought something back")
	}
	write("b.md", strings.Replace(walnut, "in leaf", "in bloom", 1))
	if s, err := c.Status(t.Context()); err != nil || s.Impressions != 5 || kept("walnut tree is in bloom") != lifecycle.KeepFull {
		t.Errorf("%d impressions, %q, %v", s.Impressions, kept("walnut tree is in bloom"), err)
	}
	w.end(t, c)

	// Here the edit of one is prepared before it is buried, by the end of the
	// session that the other ends.
	w = newWorld(t)
	fading(w, 1)
	w.opts.Diary = filepath.Join(w.dir, "diary")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	w.opts.KeepOpen = true
	c = w.live(t)
	write("a.md", day(5, "The walnut tree is in leaf."))
	write("c.md", day(6, "Toothache."))
	w.write(t, c, "Mortgage signatures.") // session 3 is open, and its end buries the first
	write("a.md", day(1, "Oranges from Seville.")+day(5, "The walnut tree is in bloom."))
	s, err = c.Status(t.Context())
	if err != nil || s.Impressions != 5 || s.Buried == 0 || kept("in bloom") != lifecycle.KeepFull {
		t.Errorf("%d impressions, %d buried, %q, %v", s.Impressions, s.Buried, kept("in bloom"), err)
	}
}

// SOUL.md and the tendencies say nothing in the words of what is buried.
func TestBuriedWordsAreNowhere(t *testing.T) {
	w := newWorld(t)
	fading(w, 1)
	c := w.live(t)
	var list []lifecycle.Note
	for d := range 12 {
		list = append(list, lifecycle.Note{Text: fmt.Sprintf("canary%dcanary", d), Date: fmt.Sprintf("1911-05-%02d", d+1), Source: "import:/d/a.md"})
	}
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	doc := soulText(t, c)
	v, err := c.Vasanas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, n := range list {
		hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: n.Text})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) > 0 && hits[0].Phrase {
			continue
		}
		gone++
		if strings.Contains(doc, n.Text) || strings.Contains(fmt.Sprint(v), n.Text) {
			t.Errorf("%s is still said", n.Text)
		}
	}
	if gone < 5 || !strings.Contains(doc, "buried, its words are gone") {
		t.Errorf("%d are buried:\n%s", gone, doc)
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: list[0].Text, Reminded: true}); err != nil || len(hits) == 0 {
		t.Errorf("%v, %v", hits, err)
	}
}

// How much is kept follows the category, and the source where that says nothing.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "communications": lifecycle.KeepGist, "financial": lifecycle.KeepFull}
	c := w.live(t)
	w.says(t, c, "*.storage=allow", "*.access=allow")
	const text = "Call 0664 1234567 about it. Then rest."
	for i, x := range []struct {
		category, source string
		kept             lifecycle.Keep
		text             string
	}{
		{"", "a.md", lifecycle.KeepFull, text},
		{"behavioural", "import:/a.md", lifecycle.KeepFull, text},
		{"behavioural", "write", lifecycle.KeepFull, text},
		{"behavioural", "chat", lifecycle.KeepGist, "Call [phone] about it. Then rest."},
		{"behavioural", "chat:evening", lifecycle.KeepGist, "Call [phone] about it. Then rest."},
		{"behavioural", "chatter.md", lifecycle.KeepFull, text},
		{"communications", "a.md", lifecycle.KeepGist, "Call [phone] about it. Then rest."},
		{"financial", "chat", lifecycle.KeepFull, text},
		{"health", "write", lifecycle.KeepNone, ""},
		{"health", "chat", lifecycle.KeepNone, ""},
	} {
		r, err := c.Write(t.Context(), lifecycle.Note{Text: text, Date: fmt.Sprintf("2026-02-%02d", i+1), Category: x.category, Source: x.source, Label: "A heading"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.Show(t.Context(), r.Event)
		if err != nil || m.Kept != x.kept || m.Text != x.text || m.Source != x.source {
			t.Errorf("%q from %q: %+v, %v", x.category, x.source, m, err)
		}
	}
	s, err := c.Status(t.Context())
	if err != nil || len(s.Retention) != 3 || s.Impressions != 10 {
		t.Errorf("%+v, %v", s, err)
	}
	w.end(t, c)
	for name, bad := range map[string]lifecycle.Retention{"category": {"weather": lifecycle.KeepNone}, "keep": {"health": "some"}} {
		o := w.opts
		o.Retention = bad
		if _, err := lifecycle.Open(t.Context(), o); !errors.Is(err, lifecycle.ErrCategory) && !errors.Is(err, lifecycle.ErrKeep) {
			t.Errorf("a bad %s: %v", name, err)
		}
	}
}

// Nothing that an entry does depends on how much is kept of it.
func TestRetentionChangesNoImpression(t *testing.T) {
	digests := map[lifecycle.Keep]string{}
	for _, k := range []lifecycle.Keep{lifecycle.KeepFull, lifecycle.KeepGist, lifecycle.KeepNone} {
		w := newWorld(t)
		w.opts.Retention = lifecycle.Retention{lifecycle.DefaultCategory: k}
		c := w.live(t)
		if _, err := c.Import(t.Context(), notes(20), nil); err != nil {
			t.Fatal(err)
		}
		digests[k] = digestOf(t, c)
		w.end(t, c)
	}
	if digests[lifecycle.KeepFull] != digests[lifecycle.KeepGist] || digests[lifecycle.KeepFull] != digests[lifecycle.KeepNone] {
		t.Errorf("%v", digests)
	}
}

// An edit keeps no more than the stricter of the two categories.
func TestAnEditKeepsNoMore(t *testing.T) {
	w := newWorld(t)
	w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "communications": lifecycle.KeepGist}
	w.opts.Diary = filepath.Join(w.dir, "diary")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	var id string
	for i, x := range []struct {
		category, text string
		kept           lifecycle.Keep
		want           string
	}{
		{"communications", "Ada rang from 0664 1234567.", lifecycle.KeepGist, "Ada rang from [phone]."},
		{"communications", "Ada rang twice from 0664 1234567.", lifecycle.KeepGist, "Ada rang twice from [phone]."},
		{"behavioural", "Ada rang thrice from 0664 1234567.", lifecycle.KeepGist, "Ada rang thrice from [phone]."},
		{"health", "Ada rang ill from 0664 1234567.", lifecycle.KeepNone, ""},
		{"communications", "Ada rang well from 0664 1234567.", lifecycle.KeepGist, "Ada rang well from [phone]."},
	} {
		path := filepath.Join(w.opts.Diary, "a.md")
		if err := os.WriteFile(path, []byte("---\ncategory: "+x.category+"\n---\n# 2026-03-01\n\n"+x.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.TakeIn(t.Context(), "a.md"); err != nil {
			t.Fatal(err)
		}
		if id == "" {
			hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "rang"})
			if err != nil || len(hits) != 1 {
				t.Fatalf("%+v, %v", hits, err)
			}
			id = hits[0].Impression.ID
		}
		m, err := c.Show(t.Context(), id)
		if err != nil || m.Kept != x.kept || m.Text != x.want {
			t.Errorf("edit %d: %+v, %v", i, m, err)
		}
	}
	if s, err := c.Status(t.Context()); err != nil || s.Impressions != 1 {
		t.Errorf("%d impressions, %v", s.Impressions, err)
	}
}
