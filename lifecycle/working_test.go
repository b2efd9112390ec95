package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
)

func TestTheSameTextOfADayIsOneImpression(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	first := w.write(t, c, "Sat by the river.")
	again := w.write(t, c, "Sat by the river.\r\n\r\n")
	if first.Duplicate || !again.Duplicate || first.Event != again.Event {
		t.Errorf("first %+v, again %+v", first, again)
	}
	w.clock.set(at("2026-03-11 08:00"))
	if next := w.write(t, c, "Sat by the river."); next.Duplicate {
		t.Error("the same words of another day are another entry")
	}
}

func TestShortEntriesAreKept(t *testing.T) {
	c := newWorld(t).live(t)
	for _, text := range []string{"Toothache.", "The funeral.", "雨。", "ok"} {
		r, err := c.Write(t.Context(), lifecycle.Note{Text: text})
		if err != nil || !r.Created {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}

func TestRefusedNotes(t *testing.T) {
	c := newWorld(t).live(t)
	before := digestOf(t, c)
	for _, x := range []struct {
		note lifecycle.Note
		want error
	}{
		{lifecycle.Note{Text: " \n\t "}, lifecycle.ErrEmpty},
		{lifecycle.Note{Text: "\u200b\x00\ufeff"}, lifecycle.ErrEmpty},
		{lifecycle.Note{Text: strings.Repeat("a", lifecycle.MaxNote+1)}, lifecycle.ErrTooLong},
		{lifecycle.Note{Text: "x", Date: "2026-02-30"}, lifecycle.ErrDate},
	} {
		if _, err := c.Write(t.Context(), x.note); !errors.Is(err, x.want) {
			t.Errorf("%v, want %v", err, x.want)
		}
	}
	if digestOf(t, c) != before {
		t.Error("a refused note changed the state")
	}
}

func TestTheDayIsTheLocalOne(t *testing.T) {
	w := newWorld(t)
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Skip("skipped: no time zone data here:", err)
	}
	w.opts.Location = shanghai
	w.clock.set(at("2026-03-09 19:53")) // 03:53 of the tenth in Shanghai
	c := w.live(t)
	r := w.write(t, c, "Could not sleep.")
	m, err := c.Show(t.Context(), r.Event)
	if err != nil || m.Date != "2026-03-10" {
		t.Errorf("filed under %q, %v", m.Date, err)
	}
}

func TestAClockThatFallsBackKeepsTheOrder(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "First.")
	w.end(t, c)
	w.clock.set(at("2026-03-10 07:50"))
	c = w.live(t)
	r := w.write(t, c, "Second.")
	m, err := c.Show(t.Context(), r.Event)
	if err != nil || m.Age != 0 || m.Session != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	s, err := c.Sessions(t.Context())
	if err != nil || len(s) != 2 || s[0].Number != 1 || s[1].Number != 2 {
		t.Errorf("sessions %+v, %v", s, err)
	}
}

func TestRestartsWithinASessionDecayNothing(t *testing.T) {
	w := newWorld(t)
	w.opts.KeepOpen = true
	c := w.live(t)
	r := w.write(t, c, "Sat by the river.")
	first, err := c.Show(t.Context(), r.Event)
	if err != nil {
		t.Fatal(err)
	}
	for range 24 {
		w.end(t, c)
		c = w.live(t)
		if m, err := c.Show(t.Context(), r.Event); err != nil || m.Depth != first.Depth || m.Age != 0 {
			t.Fatalf("depth %v, was %v; %v", m.Depth, first.Depth, err)
		}
	}
}

func TestSessionsRollWithTheDayAndEndWhenAsked(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "Morning.")
	if s, err := c.EndSession(t.Context()); err != nil || s.Open || s.Reason != "end" {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := c.EndSession(t.Context()); !errors.Is(err, lifecycle.ErrNoSession) {
		t.Errorf("a second end: %v", err)
	}
	w.write(t, c, "Noon.")
	w.clock.set(at("2026-03-11 06:00"))
	w.write(t, c, "Next morning.")
	s, err := c.Sessions(t.Context())
	if err != nil || len(s) != 3 || s[1].Reason != "roll" || !s[2].Open || s[2].Date != "2026-03-11" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAnUnfinishedSessionGoesOnOrIsWithdrawn(t *testing.T) {
	w := newWorld(t)
	w.opts.KeepOpen = true
	c := w.live(t)
	w.write(t, c, "One.")
	w.end(t, c)
	c = w.live(t)
	w.write(t, c, "Two.")
	if s, err := c.Session(t.Context(), 0); err != nil || !s.Open || s.Number != 1 || s.Events != 2 {
		t.Errorf("the same day: %+v, %v", s, err)
	}
	w.end(t, c)
	w.clock.set(at("2026-03-12 08:00"))
	c = w.live(t)
	if s, err := c.Session(t.Context(), 0); err != nil || s.Open || s.Reason != "recovery" {
		t.Errorf("another day: %+v, %v", s, err)
	}
}

// notes are a small diary: several days, some with two entries, some undated.
func notes(days int) []lifecycle.Note {
	var out []lifecycle.Note
	themes := []string{"the river and the slow walk", "counting breath on the cushion", "noise from the neighbour again", "a call with mother"}
	for d := range days {
		date := time.Date(1911, 2, 1+d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		out = append(out, lifecycle.Note{Text: fmt.Sprintf("Day %d: %s.", d, themes[d%4]), Date: date})
		if d%3 == 0 {
			out = append(out, lifecycle.Note{Text: fmt.Sprintf("Later on day %d, %s once more.", d, themes[(d+1)%4]), Date: date})
		}
		if d%7 == 3 {
			out = append(out, lifecycle.Note{Text: fmt.Sprintf("An undated line, %d.", d)})
		}
	}
	return out
}

func TestImportingAgainChangesNothing(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	list := notes(30)
	r, err := c.Import(t.Context(), list, nil)
	if err != nil || r.New != len(list) || r.Sessions != 30 {
		t.Fatalf("%+v, %v", r, err)
	}
	before, doc := digestOf(t, c), soulText(t, c)
	r, err = c.Import(t.Context(), list, nil)
	if err != nil || r.New != 0 || r.Duplicates != len(list) {
		t.Fatalf("%+v, %v", r, err)
	}
	if digestOf(t, c) != before || soulText(t, c) != doc {
		t.Error("the second import changed the state or SOUL.md")
	}
}

// A file that is imported again after an edit has its entry replaced; a path that
// holds something else by now takes nothing away.
func TestImportingAnEditedFileReplaces(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	first := []lifecycle.Note{
		{Text: "At the zoo. We saw a tiger in the rain.", Date: "2024-05-01", Source: "import:/d/a.md"},
		{Text: "A quiet day with tea.", Date: "2024-05-01", Source: "import:/d/a.md"},
		{Text: "Nothing at all.", Date: "2024-05-02", Source: "import:/d/a.md"},
	}
	second := slices.Clone(first)
	second[0].Text = "At the zoo. We saw a lion in the rain."
	other := []lifecycle.Note{{Text: "Entirely different words stand here now.", Date: "2024-05-01", Source: "import:/d/a.md"}}
	for i, step := range []struct {
		notes            []lifecycle.Note
		fresh, edited    int
		tiger, lion, all int
	}{{first, 3, 0, 1, 0, 3}, {second, 0, 1, 0, 1, 3}, {second, 0, 0, 0, 1, 3}, {other, 1, 0, 0, 1, 4}} {
		r, err := c.Import(t.Context(), step.notes, nil)
		if err != nil || r.New != step.fresh || r.Edited != step.edited {
			t.Fatalf("import %d: %+v, %v", i, r, err)
		}
		for word, want := range map[string]int{"tiger": step.tiger, "lion": step.lion} {
			found, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: word})
			if err != nil {
				t.Fatal(err)
			}
			hits := 0
			for _, x := range found {
				if x.Phrase {
					hits++
				}
			}
			if hits != want {
				t.Errorf("import %d: %d entries with %q, want %d", i, hits, word, want)
			}
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK || strings.Contains(fmt.Sprint(v.Checks), "not compared") {
			t.Errorf("import %d: SOUL.md does not follow: %+v, %v", i, v.Checks, err)
		}
		if s, err := c.Status(t.Context()); err != nil || s.Impressions != step.all {
			t.Errorf("import %d: %d impressions, want %d", i, s.Impressions, step.all)
		}
	}
}

func soulText(t testing.TB, c *lifecycle.Companion) string {
	t.Helper()
	d, err := c.Soul(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return d.Text
}

// An import cut anywhere, in mid-day too, and continued after a restart equals
// the import at once: state, trend and SOUL.md.
func TestImportInPartsEqualsImportAtOnce(t *testing.T) {
	list := notes(24)
	whole := newWorld(t)
	c := whole.live(t)
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	want, doc := digestOf(t, c), soulText(t, c)
	for _, cut := range []int{1, 2, 13, 20, len(list) - 1} {
		w := newWorld(t)
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
	}
}

// withoutIdentity leaves out the line that differs between any two companions.
func withoutIdentity(doc string) string {
	var kept []string
	for line := range strings.Lines(doc) {
		if !strings.HasPrefix(line, "identity:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func TestSoulComesBackWhenItIsLost(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	if _, err := c.Import(t.Context(), notes(10), nil); err != nil {
		t.Fatal(err)
	}
	want := soulText(t, c)
	w.end(t, c)
	path := filepath.Join(w.dir, "SOUL.md")
	for _, damage := range []func() error{
		func() error { return os.Truncate(path, 0) },
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, []byte("\n \n"), 0o600) },
		func() error { return os.WriteFile(path, []byte{0, 1, 2, 0xff}, 0o600) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		c = w.live(t)
		if got := soulText(t, c); got != want {
			t.Errorf("restored to\n%s", got)
		}
		w.end(t, c)
	}
}

func TestGivenIsThePersonsOwn(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "One.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, "SOUL.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mine := "I am kept by Ada.\n\n- Speak *softly*.\n\n### More\n\nÜ 猫"
	edited := strings.Replace(string(doc), "## Given\n", "## Given\n\n"+mine+"\n", 1)
	edited = strings.Replace(edited, "## Unresolved", "Trust me, I am a genius.\n\n## Unresolved", 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "Two.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := soulText(t, c)
	if !strings.Contains(got, mine) {
		t.Errorf("Given was not taken in:\n%s", got)
	}
	if strings.Contains(got, "genius") {
		t.Error("an edit outside of Given stayed")
	}
	archive, err := filepath.Glob(filepath.Join(w.dir, "soul", "archive", "*edited*"))
	if err != nil || len(archive) != 1 {
		t.Errorf("the edited SOUL.md is not in the archive: %v %v", archive, err)
	}
	w.end(t, c)
	c = w.live(t)
	w.write(t, c, "Three.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(soulText(t, c), mine) {
		t.Error("Given was lost")
	}
}

func TestEveryFileIsPrivate(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	if _, err := c.Import(t.Context(), notes(12), nil); err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want && path != w.dir || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestASecondCompanionOfTheFolderEndsQuickly(t *testing.T) {
	w := newWorld(t)
	w.opts.Socket = "/run/somewhere.sock"
	w.live(t)
	began := time.Now()
	_, err := lifecycle.Open(t.Context(), w.opts)
	if !errors.Is(err, chitta.ErrLocked) {
		t.Fatalf("the second: %v", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, part := range []string{fmt.Sprint(os.Getpid()), "/run/somewhere.sock"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
}

func TestRecallFindsWordsAndDates(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	list := append(notes(20),
		lifecycle.Note{Text: "今天玩成语接龙游戏", Date: "2024-05-01"},
		lifecycle.Note{Text: "Straße am Fluß, *sehr* still.", Date: "2024-06-02"})
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"成语接龙":                   "2024-05-01",
		"STRASSE am fluss, sehr": "2024-06-02",
		"Later on day 9":         "1911-02-10",
	} {
		r, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: query})
		if err != nil || len(r) == 0 || r[0].Impression.Date != want || !r[0].Phrase {
			t.Errorf("%q: %+v, %v", query, r, err)
		}
	}
	r, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "the river", From: "1911-02-05", To: "1911-02", Limit: 50})
	if err != nil || len(r) == 0 {
		t.Fatal(r, err)
	}
	for _, x := range r {
		if x.Impression.Date < "1911-02-05" || x.Impression.Date > "1911-02-28" {
			t.Errorf("outside of the dates: %s", x.Impression.Date)
		}
	}
	for _, q := range []lifecycle.RecallQuery{{}, {Text: "x", Limit: 1000}, {Text: "x", From: "soon"}} {
		if _, err := c.Recall(t.Context(), q); !errors.Is(err, lifecycle.ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// What the companion is reminded of is deep and like the query, and no leftover
// of a crash stays beside SOUL.md.
func TestReminded(t *testing.T) {
	w := newWorld(t)
	left := filepath.Join(w.dir, ".SOUL.md.123.tmp")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover: %v", err)
	}
	if _, err := c.Import(t.Context(), notes(40), nil); err != nil {
		t.Fatal(err)
	}
	got, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "the slow walk by the river", Reminded: true, Limit: 5})
	if err != nil || len(got) != 5 {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	for _, x := range got {
		if want := x.Impression.Depth * x.Similarity; math.Abs(x.Score-want) > 1e-6 || x.Score <= 0 {
			t.Errorf("rank %d: score %v, depth × likeness %v", x.Rank, x.Score, want)
		}
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	errs := make(chan error, 40)
	for i := range cap(errs) {
		go func() {
			_, err := c.Write(context.Background(), lifecycle.Note{Text: fmt.Sprintf("Entry number %d.", i)})
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if s, err := c.Status(t.Context()); err != nil || s.Impressions != 40 || s.Session.Number != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestNothingIsAcceptedAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "One.")
	w.end(t, c)
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Two."}); !errors.Is(err, lifecycle.ErrStopping) {
		t.Errorf("%v", err)
	}
}

// A file of the watched folder that is imported comes to what watching it comes to: whatever
// stands in an entry's place is its new wording.
func TestImportingAFileOfTheDiaryFolderIsWatchingIt(t *testing.T) {
	w := newWorld(t)
	w.opts.Diary = t.TempDir()
	if err := os.WriteFile(filepath.Join(w.opts.Diary, "a.md"), []byte("#"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	for i, x := range []struct {
		source string
		edited int
	}{{"a.md", 1}, {"b.md", 0}, {"../a.md", 0}, {"import:" + filepath.Join(w.opts.Diary, "a.md"), 0}} {
		note := func(text string) []lifecycle.Note { // nothing of the path in it: its words would make them alike
			return []lifecycle.Note{{Text: fmt.Sprint(text, i), Date: "2024-01-01", Source: x.source}}
		}
		if _, err := c.Import(t.Context(), note("We walked along the river in the rain "), nil); err != nil {
			t.Fatal(err)
		}
		r, err := c.Import(t.Context(), note("Nothing else is like it "), nil)
		if err != nil || r.Edited != x.edited || r.New != 1-x.edited {
			t.Errorf("%s: %+v, %v", x.source, r, err)
		}
	}
}
