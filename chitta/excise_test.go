package chitta_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// deed is one thing that happens to a store: an entry, an edit of one, or the
// end of the session.
type deed struct {
	kind   string // "entry", "edit", "judge", "end", "params", "restart", "reembed"
	seed   uint64
	target int // the place among the deeds of what is edited
	// again has an entry take the last session up again, if it is not open.
	again bool
	// bury has parameters bury what fades, gist an entry keep its gist only.
	bury, gist bool
}

// days gives each entry the day that it belongs to; a day is one session.
func days(deeds []deed) []int {
	of, day, open := make([]int, len(deeds)), 0, false
	for i, d := range deeds {
		switch d.kind {
		case "end", "reembed":
			open = false
		case "entry":
			if !open && (!d.again || day == 0) {
				day++
			}
			open = true
		}
		of[i] = day
	}
	return of
}

// live does the deeds, but for the entries that are left out and what is done to
// them. A session begins with its first entry. It returns the entries' sequences.
func live(t interface{ Fatal(...any) }, dir string, every int, deeds []deed, without map[int]bool) (*chitta.Store, map[int]uint64) {
	at, wording := map[int]uint64{}, map[uint64]uint64{}
	by := 0 // the embedder in force
	reopen := func(s *chitta.Store) *chitta.Store {
		if s != nil {
			if err := s.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		s, err := chitta.Open(context.Background(), chitta.Options{Dir: dir, Embedder: embedders[by].id, Dim: embedders[by].dim, SnapshotEvery: every, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen(nil)
	number, opened, day := uint32(0), false, 0
	for i, d := range deeds {
		var entries []chitta.Entry
		x := experienceBy(d.seed, by)
		switch d.kind {
		case "reembed":
			if opened {
				opened = false
				if _, err := s.Append(context.Background(), chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionClosed{Number: number, Reason: "reembed"}}}}); err != nil {
					t.Fatal(err)
				}
			}
			by = int(d.seed) % len(embedders)
			if _, err := s.Reembed(context.Background(), reembedding(by, wording)); err != nil {
				t.Fatal(err)
			}
			continue
		case "restart":
			s = reopen(s)
			continue
		case "params":
			p := fold.DefaultParams()
			p.Reactivation.Lambda = 0.2 + float64(d.seed%5)/10
			if d.bury {
				p.Reactivation.Lambda, p.Reactivation.BuryBelow, p.Reactivation.BuryAfter = 1.5, 0.09, 1+int(d.seed%3)
			}
			entries = append(entries, chitta.Entry{Body: fold.ParamsChanged{Params: p}})
		case "end":
			if !opened {
				continue
			}
			opened = false
			entries = append(entries, chitta.Entry{Body: fold.SessionClosed{Number: number, Reason: "end"}})
		case "edit":
			if without[d.target] {
				continue
			}
			wording[at[d.target]] = d.seed
			entries = append(entries, chitta.Entry{Body: fold.Superseded{Target: at[d.target], Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}, Text: canary(d.seed)})
		case "judge":
			if without[d.target] {
				continue
			}
			entries = append(entries, chitta.Entry{Body: fold.Reassessed{Target: at[d.target], Judgement: x.Judgement}})
		default:
			if without[i] {
				continue
			}
			if !opened {
				if day != days(deeds)[i] {
					number, day = number+1, days(deeds)[i]
				}
				opened = true
				entries = append(entries, chitta.Entry{Body: fold.SessionOpened{Number: number}})
			}
			words := canary(d.seed)
			words.Gist = d.gist
			entries = append(entries, chitta.Entry{Body: x, Text: words})
		}
		r, err := s.Append(context.Background(), chitta.Batch{Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		at[i] = r[len(r)-1].Sequence
		if d.kind == "entry" {
			wording[at[i]] = d.seed
		}
	}
	return s, at
}

func canary(seed uint64) *chitta.Text {
	return &chitta.Text{Body: fmt.Sprintf("canary-%d-canary", seed)}
}

func drawDeeds(rt *rapid.T) []deed {
	var deeds []deed
	var entries []int
	for i := range rapid.IntRange(1, 70).Draw(rt, "deeds") {
		d := deed{kind: "entry", seed: uint64(i + 1)}
		switch a := rapid.IntRange(0, 12).Draw(rt, "kind"); {
		case a <= 1:
			d.kind = "end"
		case a == 2 && len(entries) > 0:
			d.kind, d.target = "edit", rapid.SampledFrom(entries).Draw(rt, "edited")
		case a == 3 && len(entries) > 0:
			d.kind, d.target = "judge", rapid.SampledFrom(entries).Draw(rt, "judged")
		case a == 4:
			d.kind = "restart"
		case a == 5:
			d.kind = "params"
		case a == 6:
			d.kind = "reembed"
		default:
			d.again = rapid.IntRange(0, 3).Draw(rt, "again") == 0
			entries = append(entries, i)
		}
		deeds = append(deeds, d)
	}
	return deeds
}

// The law of forgetting: whatever was lived, edited, judged again or restarted,
// whatever goes, and wherever snapshots stand, what is left is bit for bit what a
// store has that never had it, and no byte of the words is in any file.
func TestExcisionEqualsNeverHavingBeen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dirs := [2]string{mkdir(rt), mkdir(rt)}
		defer func() { _ = os.RemoveAll(dirs[0]); _ = os.RemoveAll(dirs[1]) }()
		deeds := drawDeeds(rt)
		gone := map[int]bool{}
		for i, d := range deeds {
			if d.kind == "entry" && rapid.IntRange(0, 3).Draw(rt, "goes") == 0 {
				gone[i] = true
			}
		}
		a, at := live(rt, dirs[0], rapid.IntRange(2, 60).Draw(rt, "snapshots"), deeds, nil)
		b, _ := live(rt, dirs[1], 1000, deeds, gone)
		defer a.Close(context.Background()) //nolint:errcheck // closed below where it matters
		defer b.Close(context.Background()) //nolint:errcheck // the same
		var wanted []uint64
		for i := range gone {
			wanted = append(wanted, at[i])
		}
		if len(wanted) > 0 {
			x, err := a.Excise(context.Background(), chitta.Excision{Sequences: wanted})
			if err != nil {
				rt.Fatal(err)
			}
			if len(x.Events) != len(wanted) || x.After != digest(a) {
				rt.Fatalf("%d of %d went, digest %x and %x", len(x.Events), len(wanted), x.After, digest(a))
			}
		}
		same := func(when string) {
			if digest(a) != digest(b) {
				var diff []string
				_ = a.View(func(x *fold.State) error {
					return b.View(func(y *fold.State) error { diff, _ = fold.Difference(x, y, 0, 10); return nil })
				})
				rt.Fatalf("%s: %v", when, diff)
			}
			v, err := a.Verify(context.Background(), chitta.VerifyOptions{Full: true})
			if err != nil || !v.OK() {
				rt.Fatalf("%s: %v %+v", when, err, v.Findings)
			}
		}
		same("after the excision")
		// Life goes on in the same way, and a start finds the same.
		by := 0
		for _, d := range deeds {
			if d.kind == "reembed" {
				by = int(d.seed) % len(embedders)
			}
		}
		more := []chitta.Entry{{Body: experienceBy(500, by)}, {Body: experienceBy(501, by)}}
		for _, s := range []*chitta.Store{a, b} {
			var session fold.Session
			_ = s.View(func(st *fold.State) error { session = st.Session; return nil })
			entries := more
			if !session.Open {
				entries = append([]chitta.Entry{{Body: fold.SessionOpened{Number: session.Number + 1}}}, more...)
			}
			if _, err := s.Append(context.Background(), chitta.Batch{Entries: entries}); err != nil {
				rt.Fatal(err)
			}
		}
		same("after more entries")
		if err := a.Close(context.Background()); err != nil {
			rt.Fatal(err)
		}
		for i := range deeds {
			if !gone[i] && (deeds[i].kind != "edit" || !gone[deeds[i].target]) {
				continue
			}
			words := [][]byte{[]byte(canary(deeds[i].seed).Body)}
			for by := range embedders { // vectors tell of words
				words = append(words, bits(vectorBy(deeds[i].seed, by)))
			}
			for _, w := range words {
				if found := holding(rt, dirs[0], w); len(found) > 0 {
					rt.Fatalf("%q is still in %v", w, found)
				}
			}
		}
		var err error
		if a, err = chitta.Open(context.Background(), chitta.Options{Dir: dirs[0], Embedder: embedders[by].id, Dim: embedders[by].dim}); err != nil {
			rt.Fatal(err)
		}
		defer a.Close(context.Background()) //nolint:errcheck // only looked at
		same("after a restart")
		for i := range gone {
			if !a.ExcisedKey(experience(deeds[i].seed).Key) {
				rt.Fatal("what went is not known to have gone")
			}
		}
	})
}

// holding lists the files under dir that contain the bytes.
func holding(t interface{ Fatal(...any) }, dir string, words []byte) (found []string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a backup that was being made has got its name
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, words) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// An excision that is given up leaves the store as it was, and no file behind.
func TestExcisionCanBeGivenUp(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var all []uint64
	for i := range uint64(300) {
		all = append(all, mustAppend(t, s, chitta.Entry{Body: experience(i), Text: text(i)})[0].Sequence)
	}
	before := digest(s)
	for _, stage := range []string{"fold", "write"} {
		for _, at := range []uint64{1, 150} {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Excise(ctx, chitta.Excision{Sequences: all[10:20], Progress: func(now string, done, _ uint64) {
				if now == stage && done >= at {
					cancel()
				}
			}})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("given up while it %ss: %v", stage, err)
			}
			if digest(s) != before {
				t.Fatal("the state has changed")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*rewrite*")); len(left) > 0 {
				t.Fatalf("left behind: %v", left)
			}
		}
	}
	failing := errors.New("no")
	if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: all[:1], Values: func(context.Context, chitta.Excised, []chitta.Value) ([]chitta.Value, error) {
		return nil, failing
	}}); !errors.Is(err, failing) || digest(s) != before {
		t.Fatalf("%v", err)
	}
	if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{all[0], 1}}); !errors.Is(err, chitta.ErrNotFound) {
		t.Fatalf("of something that is no experience: %v", err)
	}
	mustAppend(t, s, chitta.Entry{Body: experience(1000), Text: text(1000)})
}

// The only impression goes, and the next one comes.
func TestTheOnlyOneGoes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	seq := mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1), Text: text(1)})[1].Sequence
	x, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{seq}})
	if err != nil || !slices.Equal(x.Sessions, []uint32{1}) || x.Records != 2 {
		t.Fatalf("%+v, %v", x, err)
	}
	if _, err := s.TextOf(seq); !errors.Is(err, chitta.ErrNotFound) {
		t.Fatalf("its text: %v", err)
	}
	r := mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1), Text: text(1)})
	if r[1].Duplicate || !r[1].Outcome.Created {
		t.Fatalf("%+v", r[1])
	}
}

// Readers and writers go on while entries are taken out.
func TestExcisionAmongOthers(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var all []uint64
	for i := range uint64(200) {
		all = append(all, mustAppend(t, s, chitta.Entry{Body: experience(i), Text: text(i)})[0].Sequence)
	}
	done := make(chan error, 2)
	go func() {
		for i := range uint64(20) {
			if _, err := s.Append(context.Background(), chitta.Batch{Entries: []chitta.Entry{{Body: experience(1000 + i), Text: text(1000 + i)}}}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	go func() {
		for range 5 {
			if v, err := s.Verify(context.Background(), chitta.VerifyOptions{}); err != nil || !v.OK() {
				done <- fmt.Errorf("%v: %+v", err, v.Findings)
				return
			}
		}
		done <- nil
	}()
	for i := range 8 {
		if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: all[i*10 : i*10+3]}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(20) {
		if _, ok := s.Has(experience(1000 + i).Key); !ok {
			t.Fatalf("entry %d of those that were written meanwhile is not there", i)
		}
	}
}
