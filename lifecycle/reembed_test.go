package lifecycle_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
)

// another is an embedder of another name and dimension than hashed. It counts what
// it is asked, and a test may answer in its place.
type another struct {
	hashed
	mu    sync.Mutex
	asked map[string]int
	// before, if not nil, is called with the number of the call; a vector or an
	// error is the answer.
	before func(n int, text string) ([]float32, error)
	calls  int
}

func newAnother() *another { return &another{hashed: hashed{24}, asked: map[string]int{}} }

func (a *another) ID() string { return "another/1" }
func (a *another) Embed(ctx context.Context, text string) ([]float32, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	a.asked[text]++
	if a.before != nil {
		if v, err := a.before(a.calls, text); v != nil || err != nil {
			return v, err
		}
	}
	return a.hashed.Embed(ctx, text)
}

// history is a world in which a history was imported under the embedder hashed.
func history(t *testing.T, days int) (*world, []lifecycle.Note) {
	t.Helper()
	w := newWorld(t)
	w.opts.Workers = 1
	list := notes(days)
	for i := range list {
		list[i].Source = "old.md"
	}
	c := w.live(t)
	if r, err := c.Import(t.Context(), list, nil); err != nil || r.New != len(list) {
		t.Fatalf("%+v, %v", r, err)
	}
	w.end(t, c)
	return w, list
}

// reembed changes to e and puts it into the options of the world.
func (w *world) reembed(t testing.TB, e lifecycle.Embedder) lifecycle.ReembedReport {
	t.Helper()
	w.opts.Embedder = e
	r, err := lifecycle.Reembed(t.Context(), w.opts, lifecycle.ReembedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// dropTexts leaves the first n entries as those whose texts were not to be kept.
func dropTexts(t testing.TB, dir string, n int) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, chitta.FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte("texts")).Cursor()
		for k, _ := c.First(); k != nil && n > 0; k, _ = c.Next() {
			n--
			k = slices.Clone(k)
			none := []byte("null")
			sum := crc32.Checksum(slices.Concat([]byte("texts\x00"), k, none), crc32.MakeTable(crc32.Castagnoli))
			if err := tx.Bucket([]byte("texts")).Put(k, append(binary.LittleEndian.AppendUint32(nil, sum), none...)); err != nil {
				return err
			}
			c.Seek(k) // a cursor does not outlive a write
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// Under another embedder the companion is who it was, remembers by the new
// vectors, and lives on.
func TestLifeGoesOnUnderAnotherEmbedder(t *testing.T) {
	w, list := history(t, 30)
	c := w.live(t)
	var before []lifecycle.Impression
	for _, h := range recalled(t, c, "day") {
		before = append(before, h.Impression)
	}
	trend, err := c.Trend(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
	const textless = 3
	dropTexts(t, w.dir, textless)
	e := newAnother()
	r := w.reembed(t, e)
	if r.From != "hashed/1" || r.FromDim != 64 || r.Embedder != "another/1" || r.Dim != 24 ||
		r.Impressions != len(list) || r.Embedded != len(list)-textless || r.Resumed != 0 || r.Unplaced != textless || r.PerMinute <= 0 {
		t.Fatalf("%+v", r)
	}
	if again := w.reembed(t, e); again.Embedded+again.Resumed != 0 || again.Unplaced != textless || again.From != again.Embedder {
		t.Errorf("again: %+v", again)
	}

	c = w.live(t)
	s, err := c.Status(t.Context())
	if err != nil || s.Unplaced != textless || s.Embedder != "another/1" || s.Dim != 24 || s.Impressions != len(list) {
		t.Fatalf("%+v, %v", s, err)
	}
	unplaced := 0
	for _, m := range before {
		is, err := c.Show(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if is.Unplaced {
			unplaced++
		} else if is.Text != m.Text {
			t.Errorf("%s has another text", m.ID)
		}
		if is.Depth != m.Depth || is.Peak != m.Peak || is.Shares != m.Shares || is.Activations != m.Activations || is.LastSession != m.LastSession {
			t.Errorf("it was %+v and is %+v", m, is)
		}
	}
	if unplaced == 0 {
		t.Error("none of those that were looked at is without a place")
	}
	hits := recalled(t, c, "counting breath on the cushion")
	if len(hits) == 0 || hits[0].Similarity < 0.5 {
		t.Fatalf("%+v", hits)
	}
	reminded, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "the river", Reminded: true})
	if err != nil || len(reminded) == 0 || slices.ContainsFunc(reminded, func(h lifecycle.Recalled) bool { return h.Impression.Unplaced }) {
		t.Errorf("reminded: %+v, %v", reminded, err)
	}

	// The rest of the last day is a session of its own: no session has both kinds
	// of vectors. Its gap is measured against the identity of before.
	more := append(slices.Clone(list), lifecycle.Note{Text: "In the evening, noise from the neighbour again.", Date: list[len(list)-1].Date, Source: "old.md"})
	if more[len(more)-1].Date == "" {
		more[len(more)-1].Date = list[len(list)-2].Date
	}
	if r, err := c.Import(t.Context(), more, nil); err != nil || r.New != 1 || r.Duplicates != len(list) {
		t.Fatalf("%+v, %v", r, err)
	}
	now, err := c.Trend(t.Context(), 0)
	if err != nil || len(now) != len(trend)+1 || now[len(now)-1].WitnessGap == nil || now[len(now)-1].Date != trend[len(trend)-1].Date {
		t.Fatalf("%d sessions, then %d: %+v, %v", len(trend), len(now), now[len(now)-1], err)
	}
	w.write(t, c, "Sat by the river.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
	w.end(t, w.live(t)) // the same after a start
}

func recalled(t testing.TB, c *lifecycle.Companion, text string) []lifecycle.Recalled {
	t.Helper()
	hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: text, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// An entry of before the change that is edited after it is edited, SOUL.md
// follows, and the gap of the session that ends again stays what it was.
func TestEditsAfterAChangeOfEmbedder(t *testing.T) {
	w, list := history(t, 12)
	w.reembed(t, newAnother())
	c := w.live(t)
	soul, trend := soulText(t, c), mustTrend(t, c)
	edited := slices.Clone(list)
	edited[2].Text += " And the wind was cold."
	r, err := c.Import(t.Context(), edited, nil)
	if err != nil || r.Edited != 1 || r.New != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if soulText(t, c) == soul {
		t.Error("SOUL.md did not follow")
	}
	now := mustTrend(t, c)
	last, was := now[len(now)-1].WitnessGap, trend[len(trend)-1].WitnessGap
	if len(now) != len(trend) || last == nil || was == nil || *last != *was {
		t.Errorf("%d sessions, then %d; the gap was %v and is %v", len(trend), len(now), was, last)
	}
	hits := recalled(t, c, edited[2].Text)
	if len(hits) == 0 || !hits[0].Phrase || hits[0].Similarity < 0.999 {
		t.Errorf("%+v", hits)
	}
}

func mustTrend(t testing.TB, c *lifecycle.Companion) (gaps []struct{ WitnessGap *float64 }) {
	t.Helper()
	all, err := c.Trend(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		gaps = append(gaps, struct{ WitnessGap *float64 }{r.WitnessGap})
	}
	return gaps
}

// The store of another embedder is refused, with both named and what to do; who
// only looks is answered by words.
func TestAStoreOfAnotherEmbedderAnswersByWords(t *testing.T) {
	w, list := history(t, 12)
	file := filepath.Join(w.dir, chitta.FileName)
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w.opts.Embedder = newAnother()
	_, err = lifecycle.Open(t.Context(), w.opts)
	if !errors.Is(err, lifecycle.ErrEmbedder) {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{"hashed/1 (64 dimensions)", "another/1 (24 dimensions)", "jivad reembed"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	o := w.opts
	o.LookOnly = true
	c, err := lifecycle.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	hits := recalled(t, c, "counting breath")
	if len(hits) == 0 || hits[0].Lexical != 1 || hits[0].Similarity != 0 {
		t.Errorf("%+v", hits)
	}
	if _, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "breath", Reminded: true}); !errors.Is(err, lifecycle.ErrEmbedder) || !strings.Contains(err.Error(), "jivad reembed") {
		t.Errorf("reminded: %v", err)
	}
	if _, err := c.Show(t.Context(), hits[0].Impression.ID); err != nil {
		t.Error(err)
	}
	checks, err := c.Doctor(t.Context())
	i := slices.IndexFunc(checks, func(k lifecycle.Check) bool { return k.Name == "embedder" })
	if err != nil || checks[i].OK || !strings.Contains(checks[i].Detail, "jivad reembed") {
		t.Errorf("%+v, %v", checks, err)
	}
	if s, err := c.Status(t.Context()); err != nil || s.Embedder != "hashed/1" || s.Dim != 64 || s.Entries != len(list) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "No."}); !errors.Is(err, lifecycle.ErrEmbedder) {
		t.Errorf("written: %v", err)
	}
	if r, err := c.Verify(t.Context(), true, nil); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != string(was) {
		t.Errorf("looking has changed the file: %v", err)
	}
}

// Work that is ended in the middle goes on where it was, and nothing is embedded
// twice but what was under way.
func TestReembedGoesOnWhereItWas(t *testing.T) {
	w, list := history(t, 40)
	cut := filepath.Join(t.TempDir(), "cut")
	e := newAnother()
	w.opts.Embedder = e
	ctx, cancel := context.WithCancel(t.Context())
	const killed, ended = 10, 25
	e.before = func(n int, _ string) ([]float32, error) {
		switch n {
		case killed: // what is on disk when the process dies now
			if err := os.CopyFS(cut, os.DirFS(w.dir)); err != nil {
				t.Error(err)
			}
		case ended:
			cancel()
		}
		return nil, nil
	}
	r, err := lifecycle.Reembed(ctx, w.opts, lifecycle.ReembedOptions{})
	cancel()
	if !errors.Is(err, context.Canceled) || r.Embedded != ended-1 {
		t.Fatalf("%+v, %v", r, err)
	}
	e.before = nil
	r = w.reembed(t, e)
	if r.Resumed != ended-1 || r.Embedded != len(list)-r.Resumed {
		t.Errorf("after the end: %+v of %d", r, len(list))
	}
	twice := 0
	for _, n := range list {
		if e.asked[n.Text] > 1 {
			twice++
		}
	}
	if twice > w.opts.Workers {
		t.Errorf("%d entries were embedded twice", twice)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "cache", "*", "reembed*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	done := digestOf(t, w.live(t))

	// The one that was killed still has its old embedder, or goes on.
	k := *w
	k.opts.Dir, k.opts.SoulPath = cut, ""
	k.opts.Embedder = hashed{64}
	k.end(t, k.live(t))
	e = newAnother()
	if r := k.reembed(t, e); r.Resumed != killed-1 || r.Embedded != len(list)-r.Resumed {
		t.Errorf("after the kill: %+v of %d", r, len(list))
	}
	if digestOf(t, k.live(t)) != done {
		t.Error("the two differ")
	}
}

// Rows of the cache that are torn or damaged are computed again, and the cache of
// another embedder is not taken for this one's.
func TestDamagedProgressIsDoneAgain(t *testing.T) {
	w, list := history(t, 20)
	run := func(e lifecycle.Embedder, after int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.opts.Embedder = e
		if _, err := lifecycle.Reembed(ctx, w.opts, lifecycle.ReembedOptions{Progress: func(p lifecycle.Progress) {
			if p.Done >= after {
				cancel()
			}
		}}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	e := newAnother()
	run(e, 12)
	files, err := filepath.Glob(filepath.Join(w.dir, "cache", "*", "reembed*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	const row = 4 + 16 + 32 + 4*24
	data[len(data)-4*row-5] ^= 1 // in the fifth row from the end
	if err := os.WriteFile(files[0], data[:len(data)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.reembed(t, e); r.Resumed != 12-5 || r.Embedded != len(list)-r.Resumed {
		t.Errorf("%+v of %d", r, len(list))
	}
	w.end(t, w.live(t))
}

// An open session is ended first; where the change then does not come about, life
// goes on under the old embedder.
func TestReembedEndsTheOpenSession(t *testing.T) {
	w := newWorld(t)
	w.opts.KeepOpen = true
	c := w.live(t)
	for i := range 12 {
		w.write(t, c, fmt.Sprintf("Walked along the river, day %d.", i))
	}
	w.end(t, c)
	e := newAnother()
	gone := errors.New("no")
	e.before = func(int, string) ([]float32, error) { return nil, gone }
	w.opts.Embedder = e
	if _, err := lifecycle.Reembed(t.Context(), w.opts, lifecycle.ReembedOptions{}); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	w.opts.Embedder = hashed{64}
	c = w.live(t)
	s, err := c.Session(t.Context(), 0)
	if err != nil || s.Open || s.Reason != "reembed" || s.Number != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if r := w.write(t, c, "Another walk."); r.Session != 2 {
		t.Errorf("%+v", r)
	}
	w.end(t, c)
	e.before = nil
	w.reembed(t, e)
	c = w.live(t)
	if s, err := c.Session(t.Context(), 0); err != nil || s.Open || s.Number != 2 || s.Reason != "reembed" {
		t.Errorf("%+v, %v", s, err)
	}
	if r := w.write(t, c, "And another."); r.Session != 3 {
		t.Errorf("%+v", r)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Session(t.Context(), 3); err != nil || s.WitnessGap == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// A companion that has lived nothing takes any embedder.
func TestReembedOfNothing(t *testing.T) {
	w := newWorld(t)
	w.end(t, w.live(t))
	if r := w.reembed(t, newAnother()); r.Impressions+r.Embedded+r.Unplaced != 0 {
		t.Errorf("%+v", r)
	}
	c := w.live(t)
	if r := w.write(t, c, "The first."); !r.Created {
		t.Errorf("%+v", r)
	}
}

// The new vectors are those that the texts have under the new embedder.
func TestReembedGivesTheTextsTheirVectors(t *testing.T) {
	w, list := history(t, 15)
	w.opts.Workers = 4
	w.reembed(t, newAnother())
	db, err := bolt.Open(filepath.Join(w.dir, chitta.FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	if err := errors.Join(db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("rows")).ForEach(func(_, v []byte) error { all = append(all, v...); return nil })
	}), db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		v, err := hashed{24}.Embed(t.Context(), n.Text)
		if err != nil {
			t.Fatal(err)
		}
		var row []byte
		for _, x := range v {
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(x))
		}
		if !strings.Contains(string(all), string(row)) {
			t.Errorf("the vector of %q is not there", n.Text)
		}
	}
}
