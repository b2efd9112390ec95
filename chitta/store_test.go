package chitta_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

const dim = 16

// open opens a store that is checked and closed when the test ends.
func open(t testing.TB, dir string, change func(*chitta.Options)) *chitta.Store {
	t.Helper()
	o := chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim, SnapshotEvery: 20}
	if change != nil {
		change(&o)
	}
	s, err := chitta.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		check(t, s)
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// check reports every fault that a verification finds.
func check(t testing.TB, s *chitta.Store) {
	t.Helper()
	v, err := s.Verify(context.Background(), chitta.VerifyOptions{Full: true})
	if errors.Is(err, chitta.ErrClosed) {
		return
	}
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	for _, f := range v.Findings {
		if !f.OK {
			t.Errorf("verify %s: %s", f.Name, f.Detail)
		}
	}
}

func vector(r *rand.Rand) []float32 {
	v := make([]float32, dim)
	var n float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		n += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(n))
	}
	return v
}

func judgement(r *rand.Rand) fold.Judgement {
	g, err := reactivation.NewGuna(r.Float64()+0.01, r.Float64(), r.Float64())
	if err != nil {
		panic(err)
	}
	return fold.Judgement{Assessor: "test", Intensity: r.Float64(), Emotion: r.Float64(), Guna: g, Valence: 2*r.Float64() - 1}
}

func experience(seed uint64) fold.Experienced {
	r := rand.New(rand.NewPCG(seed, 1))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, seed))
	e := fold.Experienced{Embedder: "test/1", Embedding: vector(r), Judgement: judgement(r), AlwaysCreate: r.IntN(3) > 0, Source: "test"}
	copy(e.ID[:], sum[:])
	copy(e.Key[:], sum[16:])
	return e
}

func text(seed uint64) *chitta.Text { return &chitta.Text{Body: fmt.Sprintf("entry %d", seed)} }

func mustAppend(t testing.TB, s *chitta.Store, entries ...chitta.Entry) []chitta.Result {
	t.Helper()
	r, err := s.Append(context.Background(), chitta.Batch{Entries: entries})
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return r
}

func digest(s *chitta.Store) (d [32]byte) {
	_ = s.View(func(st *fold.State) error { d = st.Digest(); return nil })
	return d
}

// A history is what a person may do: sessions of entries, edits, restarts.
func TestHistoriesAgreeHoweverTheyAreInterrupted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dirs := [2]string{mkdir(rt), mkdir(rt)}
		defer func() { _ = os.RemoveAll(dirs[0]); _ = os.RemoveAll(dirs[1]) }()
		opts := func(i int) chitta.Options {
			return chitta.Options{Dir: dirs[i], Embedder: "test/1", Dim: dim, SnapshotEvery: 5 + 40*i, Workers: 1 + i}
		}
		var stores [2]*chitta.Store
		reopen := func(i int) {
			if stores[i] != nil {
				if err := stores[i].Close(context.Background()); err != nil {
					rt.Fatal(err)
				}
			}
			s, err := chitta.Open(context.Background(), opts(i))
			if err != nil {
				rt.Fatal(err)
			}
			stores[i] = s
		}
		reopen(0)
		reopen(1)
		number, opened, seed := uint32(0), false, uint64(0)
		edited := map[uint64]uint64{} // place of an entry in the log → content it was given last
		var places []uint64
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			var entry chitta.Entry
			switch action := rapid.IntRange(0, 9).Draw(rt, "action"); {
			case action == 0 && opened:
				entry.Body, opened = fold.SessionClosed{Number: number, Reason: "end"}, false
			case action == 1 && len(places) > 0:
				target := places[rapid.IntRange(0, len(places)-1).Draw(rt, "target")]
				seed++
				x := experience(seed)
				entry.Body = fold.Superseded{Target: target, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}
				edited[target] = seed
			case action == 2:
				reopen(0) // only the first store is interrupted
				continue
			default:
				if !opened {
					number++
					for _, s := range stores {
						mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: number}})
					}
					opened = true
				}
				seed++
				entry = chitta.Entry{Body: experience(seed), Text: text(seed)}
			}
			var at uint64
			for _, s := range stores {
				r, err := s.Append(context.Background(), chitta.Batch{Entries: []chitta.Entry{entry}})
				if err != nil {
					rt.Fatal(err)
				}
				at = r[0].Sequence
			}
			if _, ok := entry.Body.(fold.Experienced); ok {
				places = append(places, at)
			}
			if a, b := digest(stores[0]), digest(stores[1]); a != b {
				rt.Fatalf("digests differ after %T", entry.Body)
			}
		}
		for i, s := range stores {
			v, err := s.Verify(context.Background(), chitta.VerifyOptions{Full: true})
			if err != nil || !v.OK() {
				rt.Fatalf("store %d: %v %+v", i, err, v.Findings)
			}
			if err := s.Close(context.Background()); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

func mkdir(rt *rapid.T) string {
	base := "" // memory, where there is some: this test is about order, not about the disk
	if _, err := os.Stat("/dev/shm"); err == nil {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "chitta")
	if err != nil {
		rt.Fatal(err)
	}
	return dir
}

// An edit makes the store what it would be had the entry been written so at once.
func TestEditEqualsHavingWrittenItSoAtOnce(t *testing.T) {
	a, b := open(t, t.TempDir(), nil), open(t, t.TempDir(), nil)
	for _, s := range []*chitta.Store{a, b} {
		number := uint32(0)
		for i := uint64(1); i <= 60; i++ {
			if i%7 == 1 {
				if number > 0 {
					mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: number}})
				}
				number++
				mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: number}})
			}
			x := experience(i)
			if s == b && i == 9 {
				y := experience(1009)
				x.Key, x.Embedding, x.Judgement = y.Key, y.Embedding, y.Judgement
			}
			mustAppend(t, s, chitta.Entry{Body: x, Text: text(i)})
		}
	}
	seq, ok := a.Has(experience(9).Key)
	if !ok {
		t.Fatal("entry 9 is missing")
	}
	y := experience(1009)
	mustAppend(t, a, chitta.Entry{
		Body: fold.Superseded{Target: seq, Key: y.Key, Embedding: y.Embedding, Embedder: y.Embedder, Judgement: y.Judgement},
		Text: &chitta.Text{Body: "edited"},
	})
	if digest(a) != digest(b) {
		t.Error("the edited store differs from the one that was written so at once")
	}
	if got, err := a.TextOf(seq); err != nil || got.Body != "edited" {
		t.Errorf("text after the edit: %+v, %v", got, err)
	}
}

func TestSameEntryTwiceIsOneEvent(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	first := mustAppend(t, s, chitta.Entry{Body: experience(1)}, chitta.Entry{Body: experience(1)})
	second := mustAppend(t, s, chitta.Entry{Body: experience(1)})
	if first[0].Duplicate || !first[1].Duplicate || !second[0].Duplicate {
		t.Errorf("duplicates: %+v %+v", first, second)
	}
	if first[1].Sequence != first[0].Sequence || second[0].Sequence != first[0].Sequence {
		t.Errorf("places of the duplicates: %+v %+v", first, second)
	}
}

func TestConcurrentWritersAreAllKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			for i := range uint64(20) {
				if _, err := s.Append(context.Background(), chitta.Batch{Entries: []chitta.Entry{{Body: experience(w*100 + i + 1)}}}); err != nil {
					t.Error(err)
				}
				_ = s.View(func(st *fold.State) error { _, err := st.Top(5); return err })
			}
		})
	}
	wg.Wait()
	_ = s.View(func(st *fold.State) error {
		if n := len(st.Impressions) + len(st.Links); n != 160 {
			t.Errorf("%d entries kept, want 160", n)
		}
		return nil
	})
}

// Caches may be missing, cut or altered: the state is the same.
func TestDamagedCachesChangeNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	for i := range uint64(70) {
		mustAppend(t, s, chitta.Entry{Body: experience(i + 1)})
	}
	want := digest(s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cache", "0", "snapshots", "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("snapshots: %v %v", files, err)
	}
	files = append(files, filepath.Join(dir, "cache", "0", "vectors"))
	for i, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := append([]byte(nil), whole...)
		flipped[len(flipped)*2/3] ^= 4
		for _, damage := range [][]byte{nil, whole[:len(whole)/2], flipped} {
			if err := os.WriteFile(path, damage, 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim, SnapshotEvery: 1 << 20})
			if err != nil {
				t.Fatalf("file %d: %v", i, err)
			}
			if digest(again) != want {
				t.Errorf("file %d: another state", i)
			}
			check(t, again)
			if err := again.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	mustAppend(t, s, chitta.Entry{Body: experience(1)})
	before := digest(s)
	nan := float32(math.NaN())
	refuse := func(name string, want error, change func(*fold.Experienced)) {
		t.Helper()
		x := experience(2)
		change(&x)
		_, err := s.Append(t.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: x}}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	refuse("zero vector", fold.ErrZeroVector, func(x *fold.Experienced) { x.Embedding = make([]float32, dim) })
	refuse("wrong dimension", fold.ErrDimension, func(x *fold.Experienced) { x.Embedding = x.Embedding[:dim-1] })
	refuse("not finite", fold.ErrNotFinite, func(x *fold.Experienced) { x.Embedding[3] = nan })
	refuse("not unit", fold.ErrNotUnit, func(x *fold.Experienced) { x.Embedding[0] += 2 })
	refuse("other embedder", fold.ErrEmbedder, func(x *fold.Experienced) { x.Embedder = "other" })
	refuse("intensity", fold.ErrEvent, func(x *fold.Experienced) { x.Judgement.Intensity = math.NaN() })
	refuse("infinite emotion", fold.ErrEvent, func(x *fold.Experienced) { x.Judgement.Emotion = math.Inf(1) })
	refuse("valence", fold.ErrEvent, func(x *fold.Experienced) { x.Judgement.Valence = -2 })
	refuse("novelty", fold.ErrEvent, func(x *fold.Experienced) { n := math.NaN(); x.Judgement.Novelty = &n })
	refuse("guna", reactivation.ErrNotFinite, func(x *fold.Experienced) { x.Judgement.Guna.Rajas = math.NaN() })
	refuse("zero guna", reactivation.ErrGuna, func(x *fold.Experienced) { x.Judgement.Guna = reactivation.Guna{} })
	refuse("date", fold.ErrEvent, func(x *fold.Experienced) { x.Date = "2026-02-30" })
	refuse("no id", fold.ErrEvent, func(x *fold.Experienced) { x.ID = fold.ID{} })
	if digest(s) != before {
		t.Error("a refused event changed the state")
	}
	_, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim})
	if !errors.Is(err, chitta.ErrLocked) {
		t.Errorf("second owner: %v", err)
	}
}

func TestAnotherEmbedderIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1)})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "wide/1", Dim: 768}); !errors.Is(err, chitta.ErrEmbedder) {
		t.Errorf("another embedder: %v", err)
	}
}
