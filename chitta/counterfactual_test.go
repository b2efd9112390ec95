package chitta_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// eventful makes a store of entries, edits, ends of sessions and changes of
// settings, in which the gate reads only a few neighbours, and returns the places
// of its entries.
func eventful(rt *rapid.T, dir string, deeds int) (*chitta.Store, []uint64) {
	p := fold.DefaultParams()
	p.Gate.Candidates = rapid.IntRange(1, 6).Draw(rt, "candidates")
	s, err := chitta.Open(context.Background(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim, Params: &p, SnapshotEvery: 1000, Workers: 1})
	if err != nil {
		rt.Fatal(err)
	}
	var at []uint64
	number, opened := uint32(0), false
	put := func(entries ...chitta.Entry) uint64 {
		r, err := s.Append(context.Background(), chitta.Batch{Entries: entries})
		if err != nil {
			rt.Fatal(err)
		}
		return r[len(r)-1].Sequence
	}
	for i := range deeds {
		x := alike(uint64(i+1), rapid.IntRange(0, 3).Draw(rt, "like"))
		switch a := rapid.IntRange(0, 11).Draw(rt, "deed"); {
		case a <= 1 && opened:
			put(chitta.Entry{Body: fold.SessionClosed{Number: number}})
			opened = false
		case a == 2 && len(at) > 0:
			target := rapid.SampledFrom(at).Draw(rt, "edited")
			put(chitta.Entry{Body: fold.Superseded{Target: target, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}, Text: text(uint64(i))})
		case a == 3 && len(at) > 0:
			put(chitta.Entry{Body: fold.Reassessed{Target: rapid.SampledFrom(at).Draw(rt, "judged"), Judgement: x.Judgement}})
		case a == 4:
			p.Gate.Candidates = rapid.IntRange(1, 6).Draw(rt, "candidates")
			put(chitta.Entry{Body: fold.ParamsChanged{Params: p}})
		default:
			var entries []chitta.Entry
			if !opened {
				// A session that was closed is taken up again now and then.
				if number == 0 || rapid.IntRange(0, 3).Draw(rt, "again") != 0 {
					number++
				}
				opened = true
				entries = append(entries, chitta.Entry{Body: fold.SessionOpened{Number: number}})
			}
			at = append(at, put(append(entries, chitta.Entry{Body: x, Text: text(uint64(i))})...))
		}
	}
	return s, at
}

// alike is an experience near one of four, or just like it: it wakes others, and
// often leaves no impression of its own.
func alike(seed uint64, group int) fold.Experienced {
	x := experience(seed)
	near := experience(uint64(1000 + group)).Embedding
	if seed%3 == 0 {
		x.Embedding = near
		return x
	}
	var n float64
	for i := range near {
		x.Embedding[i] = near[i] + 0.3*x.Embedding[i]
		n += float64(x.Embedding[i]) * float64(x.Embedding[i])
	}
	for i := range near {
		x.Embedding[i] /= float32(math.Sqrt(n))
	}
	return x
}

// passing folds a whole store in the plain way and says whom the gate let
// through at each experience.
func passing(rt *rapid.T, s *chitta.Store) map[uint64][]fold.ID {
	out := map[uint64][]fold.ID{}
	var last uint64
	_ = s.View(func(st *fold.State) error { last = st.Sequence; return nil })
	state := fold.NewState()
	for seq := uint64(1); seq <= last; seq++ {
		e, err := s.EventAt(seq)
		if errors.Is(err, chitta.ErrNotFound) {
			continue
		}
		var near []fold.Candidate
		x, ok := e.Body.(fold.Experienced)
		if ok {
			near = state.Vectors.Nearest(x.Embedding, state.Params.Gate.Candidates, 1, nil)
		}
		did, err := fold.Step(state, e, near)
		if err != nil {
			rt.Fatal(err)
		}
		if ok {
			out[seq] = []fold.ID{}
			for _, row := range slices.Concat(did.Fired, did.Suppressed) {
				out[seq] = append(out[seq], state.Impressions[row].ID)
			}
			slices.SortFunc(out[seq], func(a, b fold.ID) int { return slices.Compare(a[:], b[:]) })
		}
	}
	return out
}

func same(rt *rapid.T, what string, a, b *fold.State) {
	if a.Digest() != b.Digest() {
		diff, _ := fold.Difference(a, b, 0, 10)
		rt.Fatalf("%s: %v", what, diff)
	}
}

// sameEarlier compares the states at the end of the session before the last.
func sameEarlier(rt *rapid.T, what string, a, b *fold.State) {
	if (a == nil) != (b == nil) {
		rt.Fatalf("%s: the session before the last ended on one way only", what)
	}
	if a != nil {
		same(rt, what+", at the end of the session before the last", a, b)
	}
}

// What a fold without some experiences comes to, by the lists of the first one,
// is bit for bit what taking them out leaves, and what it says of the gate is
// what two plain folds say.
func TestWithoutEqualsTakingOut(t *testing.T) {
	scanned, whole, own := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		dir := mkdir(rt)
		defer func() { _ = os.RemoveAll(dir) }()
		s, at := eventful(rt, dir, rapid.IntRange(1, 90).Draw(rt, "deeds"))
		defer s.Close(context.Background()) //nolint:errcheck // a test that is over
		var gone []uint64
		for _, seq := range at {
			if rapid.IntRange(0, 5).Draw(rt, "goes") == 0 {
				gone = append(gone, seq)
			}
		}
		if rapid.Bool().Draw(rt, "only the last") && len(at) > 0 {
			gone = at[len(at)-1:]
		}
		room := rapid.SampledFrom([]int{0, 500, 1 << 20}).Draw(rt, "room")
		r, err := s.RetraceNarrowly(context.Background(), rapid.IntRange(0, 3).Draw(rt, "spare"), room)
		if err != nil {
			rt.Fatal(err)
		}
		var live *fold.State
		_ = s.View(func(st *fold.State) error { live = st.Clone(); return nil })
		same(rt, "the first fold", r.State(), live)
		nothing, err := r.Without(context.Background(), nil, chitta.WithoutOptions{})
		if err != nil || nothing.Differently != 0 || nothing.Woken != 0 {
			rt.Fatalf("without nothing: %+v, %v", nothing, err)
		}
		same(rt, "without nothing", nothing.State, live)
		if c, err := r.Contrast(nothing); err != nil || len(c.Depths) > 0 || c.Sum != 0 || c.Angle != nil && *c.Angle != 0 {
			rt.Fatalf("the contrast to nothing: %+v, %v", c, err)
		}
		var ends []uint32
		w, err := r.Without(context.Background(), gone, chitta.WithoutOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		slowly, err := r.Without(context.Background(), gone, chitta.WithoutOptions{Ended: func(n uint32, st *fold.State) error {
			ends = append(ends, n)
			if len(st.Impressions)+len(st.Links) == 0 && slices.Contains(w.Gone.Sessions, n) {
				rt.Fatalf("session %d ended, which would not have been", n)
			}
			return nil
		}})
		if err != nil || slowly.Differently != w.Differently || slowly.Woken != w.Woken {
			rt.Fatalf("%v: %+v and %+v", err, slowly, w)
		}
		if !slices.IsSorted(ends) {
			rt.Fatalf("sessions ended in the order %v", ends)
		}
		same(rt, "the two ways", slowly.State, w.State)
		sameEarlier(rt, "the two ways", slowly.Earlier, w.Earlier)
		scanned, whole = scanned+slowly.Scanned, whole+slowly.Experiences
		if c, err := r.Contrast(w); err != nil {
			rt.Fatal(err)
		} else if slices.ContainsFunc(c.Depths, func(d chitta.DepthChange) bool { return d.OnlyIn }) {
			own++
		}

		really := passing(rt, s)
		ids := map[fold.ID]bool{}
		for _, e := range w.Gone.Events {
			ids[e.ID] = true
		}
		if len(gone) > 0 {
			if _, err := s.Excise(context.Background(), chitta.Excision{Sequences: gone}); err != nil {
				rt.Fatal(err)
			}
			if !r.Stale() {
				rt.Fatal("it does not know that events were taken out")
			}
		}
		_ = s.View(func(st *fold.State) error { same(rt, "without what was taken out", w.State, st); return nil })
		never, err := s.Retrace(context.Background(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, "what was taken out never was", never.State(), w.State)
		sameEarlier(rt, "what was taken out never was", never.Earlier(), w.Earlier)
		differently, woken, left := 0, 0, 0
		for seq, here := range passing(rt, s) {
			there := slices.DeleteFunc(slices.Clone(really[seq]), func(id fold.ID) bool { return ids[id] })
			woken += len(really[seq]) - len(there)
			left++
			if !slices.Equal(here, there) {
				differently++
			}
		}
		if w.Differently != differently || w.Woken != woken || w.Experiences != left {
			rt.Fatalf("%d of %d differ and %d woken, said were %d of %d and %d", differently, left, woken, w.Differently, w.Experiences, w.Woken)
		}
	})
	t.Logf("%d of %d experiences needed a scan; %d times there were impressions that really are not there", scanned, whole, own)
	if scanned == 0 || scanned == whole || own == 0 {
		t.Error("one of the ways was never taken")
	}
}

// A session that was taken up again and loses what came then ended before, and
// its state at that end is the one that is told.
func TestTheEndBeforeASessionWasTakenUpAgain(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	put := func(bodies ...fold.Body) uint64 {
		var entries []chitta.Entry
		for _, b := range bodies {
			entries = append(entries, chitta.Entry{Body: b})
		}
		r := mustAppend(t, s, entries...)
		return r[len(r)-1].Sequence
	}
	put(fold.SessionOpened{Number: 1}, experience(1))
	put(fold.SessionClosed{Number: 1})
	first := digest(s)
	then := put(fold.SessionOpened{Number: 1}, experience(2))
	put(fold.SessionClosed{Number: 1})
	second := digest(s)
	put(fold.SessionOpened{Number: 2}, experience(3))
	r, err := s.Retrace(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		gone []uint64
		want [32]byte
	}{"nothing": {nil, second}, "what came when it was taken up": {[]uint64{then}, first}} {
		w, err := r.Without(t.Context(), c.gone, chitta.WithoutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if w.Earlier == nil || w.Earlier.Digest() != c.want {
			t.Errorf("without %s: not the state at the end that would have been", name)
		}
	}
	if r.Earlier().Digest() != second {
		t.Error("the first fold tells another end")
	}
}

// The contrast says of each impression what the two states say.
func TestContrast(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := mkdir(rt)
		defer func() { _ = os.RemoveAll(dir) }()
		s, at := eventful(rt, dir, rapid.IntRange(5, 60).Draw(rt, "deeds"))
		defer s.Close(context.Background()) //nolint:errcheck // a test that is over
		if len(at) == 0 {
			rt.Skip()
		}
		gone := rapid.SampledFrom(at).Draw(rt, "gone")
		r, err := s.Retrace(context.Background(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		w, err := r.Without(context.Background(), []uint64{gone}, chitta.WithoutOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		c, err := r.Contrast(w)
		if err != nil {
			rt.Fatal(err)
		}
		depth := func(st *fold.State) map[fold.ID]float64 {
			out := map[fold.ID]float64{}
			for i, m := range st.Impressions {
				d, err := st.Depth(i)
				if err != nil {
					rt.Fatal(err)
				}
				out[m.ID] = d
			}
			return out
		}
		with, without := depth(r.State()), depth(w.State)
		delete(with, w.Gone.Events[0].ID)
		sum, greatest := 0.0, math.Inf(1)
		for _, d := range c.Depths {
			if with[d.ID] != d.With || without[d.ID] != d.Without || d.With == d.Without || d.Sequence == gone {
				rt.Fatalf("%+v: %v and %v", d, with[d.ID], without[d.ID])
			}
			if math.Abs(d.Delta()) > greatest {
				rt.Fatal("not the greatest first")
			}
			greatest = math.Abs(d.Delta())
			sum += greatest
			delete(with, d.ID)
			delete(without, d.ID)
		}
		for id, d := range with {
			if without[id] != d {
				rt.Fatalf("a change was missed: %v and %v", d, without[id])
			}
		}
		if math.Abs(sum-c.Sum) > 1e-12 {
			rt.Fatalf("the sum is %v, not %v", c.Sum, sum)
		}
		if c.Angle != nil && !(*c.Angle >= 0 && *c.Angle <= 90) {
			rt.Fatalf("an angle of %v", *c.Angle)
		}
	})
}

// A store is written to while it is retraced, and a retracing can be given up.
func TestRetracingIsInNobodysWay(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	for i := range uint64(300) {
		mustAppend(t, s, chitta.Entry{Body: experience(i), Text: text(i)})
	}
	before := digest(s)
	wrote := false
	r, err := s.Retrace(t.Context(), func(done, _ uint64) {
		if done == 150 {
			mustAppend(t, s, chitta.Entry{Body: experience(1000), Text: text(1000)})
			wrote = true
		}
	})
	if err != nil || !wrote || r.State().Digest() != before || r.Stale() {
		t.Fatalf("%v, written to meanwhile: %v", err, wrote)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Retrace(ctx, func(done, _ uint64) {
		if done == 100 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if _, err := r.Without(ctx, []uint64{5}, chitta.WithoutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if _, err := r.Without(t.Context(), []uint64{1}, chitta.WithoutOptions{}); !errors.Is(err, chitta.ErrNotFound) {
		t.Errorf("without something that is no experience: %v", err)
	}
}

// A strong entry that woke others is missed more than one that nothing was like.
func TestAStrongEntryIsMissed(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	put := func(seed uint64, like uint64, intensity float64, emotion float64) uint64 {
		x := experience(seed)
		x.AlwaysCreate = true
		x.Embedding = experience(like).Embedding
		x.Judgement.Intensity, x.Judgement.Emotion = intensity, emotion
		x.Judgement.Guna = reactivation.Rajas()
		return mustAppend(t, s, chitta.Entry{Body: x, Text: text(seed)})[0].Sequence
	}
	for i := range uint64(6) {
		put(100+i, 1, 0.4, 0.4)
	}
	strong := put(1, 1, 1, 1)
	weak := put(2, 50, 0, 0)
	for i := range uint64(6) {
		put(200+i, 1, 0.4, 0.4)
	}
	r, err := s.Retrace(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var sums []float64
	for _, seq := range []uint64{strong, weak} {
		w, err := r.Without(t.Context(), []uint64{seq}, chitta.WithoutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.Contrast(w)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, c.Sum)
	}
	if !(sums[0] > 3*sums[1]) {
		t.Errorf("changes of depth without the strong one %v, without the weak one %v", sums[0], sums[1])
	}
}

// The first fold and one without an experience from the middle, by its lists.
func BenchmarkRetrace(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := chitta.Open(b.Context(), benchOptions(filled(b, n)))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close(context.Background()) //nolint:errcheck // a benchmark that only reads
			var first, again time.Duration
			scanned := 0
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				began := time.Now()
				r, err := s.Retrace(b.Context(), nil)
				if err != nil {
					b.Fatal(err)
				}
				first += time.Since(began)
				began = time.Now()
				seq := r.State().Impressions[n/2].Sequence
				w, err := r.Without(b.Context(), []uint64{seq}, chitta.WithoutOptions{Ended: func(uint32, *fold.State) error { return nil }})
				if err != nil {
					b.Fatal(err)
				}
				again += time.Since(began)
				scanned = w.Scanned
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(w)
				runtime.KeepAlive(r)
			}
			b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "ms/first")
			b.ReportMetric(float64(again.Milliseconds())/float64(b.N), "ms/again")
			b.ReportMetric(float64(scanned), "scanned")
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(n), "B-held/impression")
		})
	}
}
