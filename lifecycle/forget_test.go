package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
)

// days is a history with something to forget in it.
func days(n int) []lifecycle.Note {
	out := alike(n, 1911, 2)
	for i := range out {
		out[i].Source = "import:days"
		if i%5 == 3 {
			out[i].Text = fmt.Sprintf("Zanzibarine secret number %d, zanzibarine and \"quoted\" <so>.\nzanzibarine again.", i)
		}
	}
	return out
}

func without(list []lifecycle.Note, words string) []lifecycle.Note {
	return slices.DeleteFunc(slices.Clone(list), func(n lifecycle.Note) bool { return strings.Contains(n.Text, words) })
}

func imported(t testing.TB, w *world, list []lifecycle.Note) *lifecycle.Companion {
	t.Helper()
	c := w.live(t)
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// traces are the files below dir that hold the words in any case.
func traces(t testing.TB, dir, words string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), []byte(words)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What is forgotten has never been: not for the character, not in any byte.
func TestForgottenHasNeverBeen(t *testing.T) {
	list := days(60)
	w, other := newWorld(t), newWorld(t)
	c, never := imported(t, w, list), imported(t, other, without(list, "Zanzibarine"))
	if len(traces(t, w.dir, "zanzibarine")) < 3 {
		t.Fatalf("the words are only in %v: the test shows nothing", traces(t, w.dir, "zanzibarine"))
	}
	q := lifecycle.ForgetQuery{Match: "ZANZIBARINE"}
	plan, err := c.PlanForget(t.Context(), q)
	if err != nil || len(plan.Entries) != 12 || plan.Versions == 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	r, err := c.Forget(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Forgotten != 12 || r.Left.Events+r.Left.Texts+len(r.Left.Files) != 0 || r.Remaining != 48 || r.Versions == 0 {
		t.Errorf("%+v", r)
	}
	if digestOf(t, c) != digestOf(t, never) || r.After != digestOf(t, never) {
		t.Error("the state is not that of a companion that never had the entries")
	}
	if found := traces(t, w.dir, "zanzibarine"); len(found) > 0 {
		t.Errorf("the words are still in %v", found)
	}
	a, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: w.dir}, `secret number 8, zanzibarine and "quoted"`, nil)
	if err != nil || !a.Absent {
		t.Errorf("%+v, %v", a, err)
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "zanzibarine secret"}); err != nil || slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool {
		return h.Lexical > 0 && strings.Contains(h.Impression.Text, "anzibar")
	}) {
		t.Errorf("recall %+v, %v", hits, err)
	}
	// What is generated goes on as it was: the trend has its sessions, SOUL.md is whole.
	mine, err := c.Trend(t.Context(), 0)
	theirs, err2 := never.Trend(t.Context(), 0)
	if err != nil || err2 != nil || len(mine) != len(theirs) {
		t.Fatalf("%d sessions in the trend, %d in the other, %v %v", len(mine), len(theirs), err, err2)
	}
	for i := range mine {
		if mine[i].Session != theirs[i].Session || mine[i].Events != theirs[i].Events || mine[i].Date != theirs[i].Date {
			t.Errorf("session %d: %+v; the other %+v", i+1, mine[i], theirs[i])
		}
	}
	// The file brings nothing back; writing it anew does.
	again, err := c.Import(t.Context(), list, nil)
	if err != nil || again.New != 0 || again.Forgotten != 12 || digestOf(t, c) != digestOf(t, never) {
		t.Errorf("imported again: %+v, %v", again, err)
	}
	w.end(t, c)
	c = w.live(t)
	if digestOf(t, c) != digestOf(t, never) {
		t.Error("after a restart the state is another one")
	}
	if again, err := c.Import(t.Context(), list, nil); err != nil || again.Forgotten != 12 {
		t.Errorf("imported after a restart: %+v, %v", again, err)
	}
	if r, err := c.Write(t.Context(), lifecycle.Note{Text: list[3].Text, Date: list[3].Date}); err != nil || r.Duplicate {
		t.Errorf("written anew: %+v, %v", r, err)
	}
}

// Ways of naming what goes.
func TestWhatIsNamedGoes(t *testing.T) {
	list := days(40)
	list[0].Source, list[1].Source = "import:other", "import:other"
	for name, c := range map[string]struct {
		q    lifecycle.ForgetQuery
		want int
	}{
		"a source":         {lifecycle.ForgetQuery{Source: "import:other"}, 2},
		"a session":        {lifecycle.ForgetQuery{Session: 3}, 2},
		"days":             {lifecycle.ForgetQuery{From: "1911-01-05", To: "1911-01-07"}, 6},
		"a month":          {lifecycle.ForgetQuery{To: "1911-01"}, 40},
		"words":            {lifecycle.ForgetQuery{Match: "Secret  Number"}, 8},
		"words of one day": {lifecycle.ForgetQuery{Match: "zanzibarine", From: "1911-01-02", To: "1911-01-02"}, 1},
		"nothing fits":     {lifecycle.ForgetQuery{Match: "no such words"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			live := imported(t, w, list)
			plan, err := live.PlanForget(t.Context(), c.q)
			if err != nil || len(plan.Entries) != c.want {
				t.Fatalf("%d entries, %v", len(plan.Entries), err)
			}
			r, err := live.Forget(t.Context(), c.q, nil)
			if c.want == 0 {
				if !errors.Is(err, lifecycle.ErrNotFound) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil || r.Forgotten != c.want || r.Remaining != 40-c.want {
				t.Fatalf("%+v, %v", r, err)
			}
		})
	}
	w := newWorld(t)
	live := imported(t, w, list)
	hits, err := live.Recall(t.Context(), lifecycle.RecallQuery{Text: "secret number 8", Limit: 1})
	if err != nil || len(hits) != 1 {
		t.Fatal(err)
	}
	id := hits[0].Impression.ID
	for _, q := range []lifecycle.ForgetQuery{{}, {Match: " \n"}, {From: "yesterday"}, {Entries: []string{"abc"}}} {
		if _, err := live.Forget(t.Context(), q, nil); !errors.Is(err, lifecycle.ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := live.Forget(t.Context(), lifecycle.ForgetQuery{Entries: []string{"ffffffffffff"}}, nil); !errors.Is(err, lifecycle.ErrNotFound) {
		t.Errorf("an id of nothing: %v", err)
	}
	if r, err := live.Forget(t.Context(), lifecycle.ForgetQuery{Entries: []string{id[len(id)-12:]}}, nil); err != nil || r.Forgotten != 1 {
		t.Errorf("by a part of its id: %+v, %v", r, err)
	}
}

// While a session is open, while Given was edited, and down to the last entry.
func TestForgettingInTheMidstOfThings(t *testing.T) {
	w := newWorld(t)
	c := imported(t, w, days(20))
	w.write(t, c, "Zanzibarine, written today.")
	soulPath := filepath.Join(w.dir, "SOUL.md")
	doc, err := os.ReadFile(soulPath)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(doc), "## Given\n", "## Given\n\nI answer to the name of Mira.\n", 1)
	if edited == string(doc) {
		t.Fatal("SOUL.md has no Given")
	}
	if err := os.WriteFile(soulPath, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "written today"}, nil); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Status(t.Context()); err != nil || s.Session != nil && s.Session.Open {
		t.Errorf("the session that nothing is left of: %+v, %v", s.Session, err)
	}
	doc, err = os.ReadFile(soulPath)
	if err != nil || !strings.Contains(string(doc), "I answer to the name of Mira.") {
		t.Errorf("Given is lost: %v\n%s", err, doc)
	}
	w.write(t, c, "Another day, quiet.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{To: "2100"}, nil); err != nil || r.Remaining != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if trend, err := c.Trend(t.Context(), 0); err != nil || len(trend) != 0 {
		t.Errorf("%d sessions in the trend, %v", len(trend), err)
	}
	w.write(t, c, "The first one again.")
	if s, err := c.EndSession(t.Context()); err != nil || s.Number != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A process that dies between the new store and the rest leaves the rest to the next.
func TestTracesAreClearedAtTheNextStart(t *testing.T) {
	w := newWorld(t)
	c := imported(t, w, days(30))
	before := map[string][]byte{}
	for _, path := range traces(t, w.dir, "zanzibarine") {
		if strings.HasSuffix(path, ".md") {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before[path] = data
		}
	}
	if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil); err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
	// As it was before the traces were cleared.
	s, err := chitta.Open(t.Context(), chitta.Options{Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), chitta.Batch{Values: []chitta.Value{{Name: "forget/traces", Data: []byte(`{"first_session":1}`)}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for path, data := range before {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(traces(t, w.dir, "zanzibarine")) == 0 {
		t.Fatal("nothing to clear: the test shows nothing")
	}
	w.live(t)
	if found := traces(t, w.dir, "zanzibarine"); len(found) > 0 {
		t.Errorf("still in %v", found)
	}
}

// Twenty entries of a real diary.
func TestForgettingInDiaries(t *testing.T) {
	wantDiaries(t)
	list := readDiary(t, "barbellion_1903_1917", ".jsonl")[:300]
	r := rand.New(rand.NewPCG(7, 11))
	gone := map[int]bool{}
	for len(gone) < 20 {
		gone[r.IntN(len(list))] = true
	}
	var rest []lifecycle.Note
	for i, n := range list {
		if !gone[i] {
			rest = append(rest, n)
		}
	}
	w, other := realWorld(t), realWorld(t)
	c, never := imported(t, w, list), imported(t, other, rest)
	var q lifecycle.ForgetQuery
	for i := range gone {
		hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: list[i].Text[:min(400, len(list[i].Text))], Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(hits, func(h lifecycle.Recalled) bool {
			return h.Impression.Text == strings.ToValidUTF8(list[i].Text, "\uFFFD")
		})
		if at < 0 {
			t.Fatalf("entry %d is not found", i)
		}
		q.Entries = append(q.Entries, hits[at].Impression.ID)
	}
	receipt, err := c.Forget(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d forgotten in %.1f s", receipt.Forgotten, receipt.Seconds)
	if digestOf(t, c) != digestOf(t, never) {
		t.Error("the state is not that of a companion that never had the entries")
	}
	for i := range gone {
		if text := list[i].Text; len(text) > 60 {
			a, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: w.dir}, text[:60], nil)
			if err != nil || !a.Absent {
				t.Errorf("entry %d: %+v, %v", i, a, err)
			}
		}
	}
}

// A source with eleven entries goes whole, while others share its days and words,
// and the receipt counts what a fresh look finds: also a file of the data folder
// that nobody knows of.
func TestAWholeSourceGoes(t *testing.T) {
	const entries = 11
	w := newWorld(t)
	list := days(30)
	for i := range list[:entries] {
		list[2*i].Source = "import:letters"
		list[2*i].Text = fmt.Sprintf("Quondamish letter number %d, as it was sent.", i)
	}
	c := imported(t, w, list)
	stray := filepath.Join(w.dir, "stray.txt")
	if err := os.WriteFile(stray, []byte("a copy: "+list[4].Text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Source: "import:letters"}, nil)
	if err != nil || r.Forgotten != entries || r.Remaining != len(list)-entries || r.Left.Events+r.Left.Texts != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(r.Left.Files) != 1 || filepath.Base(r.Left.Files[0]) != "stray.txt" {
		t.Errorf("the look afterwards found %v", r.Left.Files)
	}
	if found := traces(t, w.dir, "quondamish"); !slices.Equal(found, []string{stray}) {
		t.Errorf("the words are in %v", found)
	}
}
