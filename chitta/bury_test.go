package chitta_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// fading are parameters under which what is not touched again is buried soon.
func fading(below float64, after int) fold.Params {
	p := fold.DefaultParams()
	p.Reactivation.Lambda, p.Reactivation.BuryBelow, p.Reactivation.BuryAfter = 2, below, after
	return p
}

// kept is what a test knows of an entry.
type kept struct {
	words string
	// gone says that it was buried: whatever the fold makes of it later, the words
	// do not come back. sourceless says that it once was.
	gone, sourceless bool
}

// diarist keeps a store, what should be in it, and one record of a diary file
// that leads to every entry.
type diarist struct {
	rt      *rapid.T
	s       *chitta.Store
	dir     string
	entries map[uint64]*kept
	order   []uint64
}

func (d *diarist) append(b chitta.Batch) []chitta.Result {
	r, err := d.s.Append(context.Background(), b)
	if err != nil {
		d.rt.Fatal(err)
	}
	return r
}

// file is the record of the diary file as someone makes it who has not heard of
// any burial.
func (d *diarist) file() chitta.Source {
	src := chitta.Source{Path: "diary.md"}
	for i, seq := range d.order {
		src.Entries = append(src.Entries, chitta.SourceEntry{Key: fold.Key{byte(i), byte(i >> 8)}, Sequence: seq})
	}
	return src
}

// check holds the store against what is known.
func (d *diarist) check(when string) {
	var st *fold.State
	_ = d.s.View(func(s *fold.State) error { st = s.Clone(); return nil })
	linked := map[uint64]bool{}
	if src, err := d.s.SourceAt("diary.md"); err == nil {
		for _, e := range src.Entries {
			linked[e.Sequence] = true
		}
	} else if !errors.Is(err, chitta.ErrNotFound) {
		d.rt.Fatal(err)
	}
	texts := map[uint64]string{}
	if err := d.s.Texts(0, func(seq uint64, t chitta.Text) error { texts[seq] = t.Body; return nil }); err != nil {
		d.rt.Fatal(err)
	}
	for seq, k := range d.entries {
		k.gone = k.gone || st.EntryBuried(seq)
		k.sourceless = k.sourceless || k.gone
		t, err := d.s.TextOf(seq)
		e, err2 := d.s.EventAt(seq)
		if err2 != nil {
			d.rt.Fatal(err2)
		}
		source := e.Body.(fold.Experienced).Source
		_, listed := texts[seq]
		switch {
		case k.gone && (!errors.Is(err, chitta.ErrBuried) || listed || source != "" || linked[seq]):
			d.rt.Fatalf("%s: entry %d is buried: text %q (%v), listed %v, source %q, linked %v", when, seq, t.Body, err, listed, source, linked[seq])
		case !k.gone && (err != nil || t.Body != k.words || texts[seq] != k.words || (source == "") != k.sourceless):
			d.rt.Fatalf("%s: entry %d is not buried: text %q, want %q (%v), source %q", when, seq, t.Body, k.words, err, source)
		}
	}
	v, err := d.s.Verify(context.Background(), chitta.VerifyOptions{Full: true})
	if err != nil || !v.OK() {
		d.rt.Fatalf("%s: %v %+v", when, err, v.Findings)
	}
}

// Whatever is lived, edited, restarted and forgotten: what the fold has buried has
// no text, no source and no link to it, at any moment that can be looked at; all
// else has its text; and a file that was written anew holds nothing of the words.
func TestBuriedEntriesHaveNothingBesideTheLog(t *testing.T) {
	buried := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := &diarist{rt: rt, dir: mkdir(rt), entries: map[uint64]*kept{}}
		defer func() { _ = os.RemoveAll(d.dir) }()
		p := fading(rapid.SampledFrom([]float64{0.03, 0.06, 0.09}).Draw(rt, "below"), rapid.IntRange(1, 3).Draw(rt, "after"))
		every := rapid.IntRange(2, 40).Draw(rt, "snapshots")
		reopen := func() {
			if d.s != nil {
				if err := d.s.Close(context.Background()); err != nil {
					rt.Fatal(err)
				}
			}
			var err error
			if d.s, err = chitta.Open(context.Background(), chitta.Options{Dir: d.dir, Embedder: "test/1", Dim: dim, Params: &p, SnapshotEvery: every, Workers: 2}); err != nil {
				rt.Fatal(err)
			}
		}
		reopen()
		defer func() { _ = d.s.Close(context.Background()) }()
		number, opened, seed := uint32(0), false, uint64(0)
		words := func() string { return fmt.Sprintf("canary-%d-canary", seed) }
		var all []string
		for range rapid.IntRange(1, 50).Draw(rt, "deeds") {
			seed++
			x := experience(seed)
			what := rapid.SampledFrom([]string{"entry", "entry", "end", "end", "end", "edit", "restart", "file", "both"}).Draw(rt, "deed")
			switch {
			case what == "restart":
				reopen()
			case what == "file":
				d.append(chitta.Batch{Sources: []chitta.Source{d.file()}})
			case what == "edit" && len(d.order) > 0:
				target := rapid.SampledFrom(d.order).Draw(rt, "edited")
				d.append(chitta.Batch{Entries: []chitta.Entry{{
					Body: fold.Superseded{Target: target, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement},
					Text: &chitta.Text{Body: words()},
				}}})
				all = append(all, words())
				k := d.entries[target]
				// With a new text a buried entry may be one that is not buried.
				k.words, k.gone = words(), false
			case what == "end" && opened:
				opened = false
				d.append(chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionClosed{Number: number}}}})
			default:
				var b chitta.Batch
				if !opened {
					number++
					opened = true
					b.Entries = append(b.Entries, chitta.Entry{Body: fold.SessionOpened{Number: number}})
				}
				b.Entries = append(b.Entries, chitta.Entry{Body: x, Text: &chitta.Text{Body: words()}})
				all = append(all, words())
				at := len(b.Entries) - 1
				if what == "both" { // an entry and the end in one batch, and the file's record
					b.Entries = append(b.Entries, chitta.Entry{Body: fold.SessionClosed{Number: number}})
					b.Sources = append(b.Sources, d.file())
					opened = false
				}
				seq := d.append(b)[at].Sequence
				d.entries[seq] = &kept{words: words()}
				d.order = append(d.order, seq)
			}
			d.check(what)
		}
		gone := map[string]bool{}
		for _, w := range all {
			gone[w] = true
		}
		if len(d.order) > 0 {
			victim := rapid.SampledFrom(d.order).Draw(rt, "forgotten")
			if _, err := d.s.Excise(context.Background(), chitta.Excision{Sequences: []uint64{victim}}); err != nil {
				rt.Fatal(err)
			}
			delete(d.entries, victim)
			d.check("after one was forgotten")
		}
		for _, k := range d.entries {
			if k.gone {
				buried++
			} else {
				delete(gone, k.words)
			}
		}
		reopen()
		d.check("after a restart")
		if err := d.s.Close(context.Background()); err != nil {
			rt.Fatal(err)
		}
		for w := range gone {
			if found := holding(rt, d.dir, []byte(w)); len(d.order) > 0 && len(found) > 0 {
				rt.Fatalf("%s is still in %v", w, found)
			}
		}
	})
	if buried < 50 {
		t.Errorf("only %d were buried: the test shows little", buried)
	}
}

// faded opens a store in which the first of two entries is buried, and returns
// their places in the log.
func faded(t *testing.T, dir string) (s *chitta.Store, first, second uint64) {
	t.Helper()
	p := fading(0.09, 1)
	s = open(t, dir, func(o *chitta.Options) { o.Params = &p })
	first = mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1), Text: text(1)})[1].Sequence
	if _, err := s.Append(t.Context(), chitta.Batch{Sources: []chitta.Source{{Path: "diary.md", Entries: []chitta.SourceEntry{{Sequence: first}}}}}); err != nil {
		t.Fatal(err)
	}
	for n := uint32(1); n <= 3; n++ {
		mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: n}}, chitta.Entry{Body: fold.SessionOpened{Number: n + 1}})
	}
	second = mustAppend(t, s, chitta.Entry{Body: experience(2), Text: text(2)})[0].Sequence
	if _, err := s.TextOf(first); !errors.Is(err, chitta.ErrBuried) || !errors.Is(err, chitta.ErrNotFound) {
		t.Fatalf("the first is not buried: %v", err)
	}
	return s, first, second
}

// inside opens the database of a store that is closed.
func inside(t *testing.T, dir string, f func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, chitta.FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(f), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func placeOf(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// The text goes with the end of the session, in the same transaction.
func TestTheTextGoesWithTheEndOfTheSession(t *testing.T) {
	p := fading(0.09, 1)
	s := open(t, t.TempDir(), func(o *chitta.Options) { o.Params = &p })
	seq := mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1), Text: text(1)})[1].Sequence
	for n := uint32(1); n <= 3; n++ {
		if _, err := s.TextOf(seq); err != nil {
			t.Fatalf("before the end of session %d: %v", n, err)
		}
		before := s.Commits()
		r := mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: n}})
		if s.Commits() != before+1 {
			t.Errorf("the end of session %d took %d transactions", n, s.Commits()-before)
		}
		if n < 3 {
			mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: n + 1}})
			continue
		}
		if !slices.Equal(r[0].Outcome.Buried, []uint32{0}) {
			t.Errorf("buried: %v", r[0].Outcome.Buried)
		}
	}
	if _, err := s.TextOf(seq); !errors.Is(err, chitta.ErrBuried) {
		t.Errorf("after the last: %v", err)
	}
	if _, err := s.TextOf(2); errors.Is(err, chitta.ErrBuried) || !errors.Is(err, chitta.ErrNotFound) {
		t.Errorf("of a record that is no entry: %v", err)
	}
}

// What a process owed that did not live to settle it is settled at the next
// start; who only looks leaves it as it is.
func TestWhatIsOwedIsSettledAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	s, first, second := faded(t, dir)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	inside(t, dir, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("texts")).Put(placeOf(first), chitta.SealedText(placeOf(first), []byte(`{"body":"entry 1"}`)))
	})
	if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil { // it was killed before a snapshot
		t.Fatal(err)
	}
	for range 2 {
		looking, err := chitta.Open(t.Context(), chitta.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := looking.TextOf(first); err != nil {
			t.Errorf("who only looked took it away: %v", err)
		}
		check(t, looking)
		if err := looking.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir, nil)
	if _, err := s.TextOf(first); !errors.Is(err, chitta.ErrBuried) {
		t.Errorf("the buried one after a start: %v", err)
	}
	if _, err := s.TextOf(second); err != nil {
		t.Error(err)
	}
}

// Verify tells a text that is lost from one that is buried or was not to be kept.
func TestVerifyMissesALostText(t *testing.T) {
	dir := t.TempDir()
	s, _, second := faded(t, dir)
	mustAppend(t, s, chitta.Entry{Body: experience(3)})
	detail := func() (found chitta.Finding) {
		v, err := s.Verify(t.Context(), chitta.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Findings {
			if f.Name == "texts" {
				found = f
			}
		}
		return found
	}
	if f := detail(); !f.OK || f.Detail != "1 texts, each beside its event, all checksums match; 1 buried; 1 kept without one" {
		t.Errorf("%+v", f)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	inside(t, dir, func(tx *bolt.Tx) error { return tx.Bucket([]byte("texts")).Delete(placeOf(second)) })
	var err error
	if s, err = chitta.Open(t.Context(), chitta.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if f := detail(); f.OK || !strings.Contains(f.Detail, "1 entries that are not buried have lost theirs") {
		t.Errorf("%+v", f)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Texts that are not to be kept are not there, and an edit can take one away.
func TestEntriesWithoutText(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	r := mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}},
		chitta.Entry{Body: experience(1), Text: text(1)}, chitta.Entry{Body: experience(2)}, chitta.Entry{Body: experience(3), Text: text(3)})
	edit := func(seq, seed uint64) fold.Superseded {
		x := experience(seed)
		return fold.Superseded{Target: seq, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}
	}
	mustAppend(t, s, chitta.Entry{Body: edit(r[1].Sequence, 11), NoText: true}, chitta.Entry{Body: edit(r[3].Sequence, 13)})
	for i, want := range []string{"", "", "entry 3"} {
		got, err := s.TextOf(r[i+1].Sequence)
		if got.Body != want || (want == "") != errors.Is(err, chitta.ErrNotFound) || errors.Is(err, chitta.ErrBuried) {
			t.Errorf("entry %d: %q, %v", i+1, got.Body, err)
		}
	}
	n := 0
	if err := s.Texts(0, func(uint64, chitta.Text) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d texts, %v", n, err)
	}
	// A page of entries without text is no end of the texts.
	for i := range uint64(150) {
		mustAppend(t, s, chitta.Entry{Body: experience(100 + i)})
	}
	mustAppend(t, s, chitta.Entry{Body: experience(500), Text: text(500)})
	n = 0
	if err := s.Texts(0, func(uint64, chitta.Text) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d texts, %v", n, err)
	}
}

// The end of a session that buries one of 10,000 entries which one file has, as
// compared with one that buries none; and the first one that buries all of them.
func BenchmarkEnd(b *testing.B) {
	const n = 10_000
	for _, buries := range []bool{false, true} {
		b.Run(fmt.Sprintf("buries=%v", buries), func(b *testing.B) {
			dir := b.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filled(b, n))); err != nil {
				b.Fatal(err)
			}
			o := benchOptions(dir)
			p := fold.DefaultParams()
			if p.Reactivation.BuryAfter = 0; buries {
				p.Reactivation.Lambda, p.Reactivation.BuryBelow, p.Reactivation.BuryAfter = 2, 0.09, 1
			}
			o.Params = &p
			s, err := chitta.Open(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close(context.Background()) //nolint:errcheck // thrown away
			file := chitta.Source{Path: "diary.md"}
			_ = s.View(func(st *fold.State) error {
				for i := range st.Impressions {
					file.Entries = append(file.Entries, chitta.SourceEntry{Key: st.Impressions[i].Key, Date: "2026-03-01", Sequence: st.Impressions[i].Sequence})
				}
				return nil
			})
			if _, err := s.Append(b.Context(), chitta.Batch{Sources: []chitta.Source{file}}); err != nil {
				b.Fatal(err)
			}
			end := func() time.Duration {
				number := sessionNumber(s)
				began := time.Now()
				mustAppend(b, s, chitta.Entry{Body: fold.SessionClosed{Number: number}})
				took := time.Since(began)
				mustAppend(b, s, chitta.Entry{Body: fold.SessionOpened{Number: number + 1}},
					chitta.Entry{Body: benchExperience(uint64(1e6) + uint64(number)), Text: entryText(1)})
				return took
			}
			first := end()
			pages := s.PageBytes()
			var took time.Duration
			ends := 0
			for b.Loop() {
				took += end()
				ends++
			}
			b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
			b.ReportMetric(float64(took.Microseconds())/1000/float64(ends), "end-ms")
			b.ReportMetric(float64(s.PageBytes()-pages)/1000/float64(ends), "kB-pages/session")
		})
	}
}

// A snapshot that stands at an entry is good after the entry was buried: its
// record names no source any more, but the log has gone no other way.
func TestASnapshotAtAnEntryThatIsBuriedSince(t *testing.T) {
	dir := t.TempDir()
	p := fading(0.09, 1)
	o := chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim, Params: &p, SnapshotEvery: 20, Workers: 1}
	s, err := chitta.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background()) //nolint:errcheck // closed in a state that no longer matters
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var at uint64
	for seed := uint64(1); at < 20; seed++ {
		x := experience(seed)
		x.Source, x.AlwaysCreate = "diary.md", true
		at = mustAppend(t, s, chitta.Entry{Body: x, Text: text(seed)})[0].Sequence
	}
	buried := func() (is bool) {
		_ = s.View(func(st *fold.State) error { is = st.EntryBuried(at); return nil })
		return is
	}
	mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: 1}})
	for n := uint32(2); !buried() && n < 10; n++ {
		mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: n}}, chitta.Entry{Body: fold.SessionClosed{Number: n}})
	}
	e, err := s.EventAt(at)
	if err != nil || !buried() || e.Body.(fold.Experienced).Source != "" {
		t.Fatalf("it is not buried: %v %+v", err, e)
	}
	// The process is killed before it takes another snapshot.
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	o.Dir = killed
	again, err := chitta.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(context.Background()) //nolint:errcheck // only looked at
	if got := again.Start().Snapshot; got != at {
		t.Errorf("started from %d, the snapshot stands at %d", got, at)
	}
	if digest(again) != digest(s) {
		t.Error("another state")
	}
}
