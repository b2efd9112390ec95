package chitta_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// copied is everything of a moment, as the filling of another store.
func copied(t interface{ Fatal(...any) }, m *chitta.Moment) chitta.Filling {
	var all []chitta.Filled
	at := map[uint64]uint64{} // the places of the entries in the filling
	err := m.Events(context.Background(), func(e fold.Event) error {
		r := chitta.Filled{Event: e}
		x, err := m.TextOf(e.Sequence)
		switch {
		case err == nil:
			r.Text = &x
		case errors.Is(err, chitta.ErrBuried):
			r.Gone = true
		case !errors.Is(err, chitta.ErrNotFound):
			return err
		}
		type row struct {
			seq uint64
			v   []float32
		}
		var rows []row
		brought, err := m.Vectors(context.Background(), e, func(seq uint64, v []float32) error {
			rows = append(rows, row{at[seq], slices.Clone(v)})
			return nil
		})
		if err != nil {
			return err
		}
		if brought {
			r.Vectors = func(f func(uint64, []float32) error) error {
				for _, x := range rows {
					if err := f(x.seq, x.v); err != nil {
						return err
					}
				}
				return nil
			}
		}
		r.Event.Sequence = uint64(len(all) + 1)
		at[e.Sequence] = r.Event.Sequence
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return chitta.Filling{
		ID: m.Meta.ID, Created: m.Meta.Created,
		Records: func(f func(chitta.Filled) error) error {
			for _, r := range all {
				if err := f(r); err != nil {
					return err
				}
			}
			return nil
		},
		Values: func(*fold.State) ([]chitta.Value, error) { return m.Values, nil },
	}
}

// changed puts f on the records of a filling.
func changed(good chitta.Filling, f func(*chitta.Filled)) chitta.Filling {
	return chitta.Filling{ID: good.ID, Created: good.Created, Values: good.Values, Records: func(add func(chitta.Filled) error) error {
		return good.Records(func(r chitta.Filled) error {
			f(&r)
			return add(r)
		})
	}}
}

// refilled is a fresh store, filled with everything of another.
func refilled(rt *rapid.T, from *chitta.Store, dir string, by int) *chitta.Store {
	m, err := from.Moment(context.Background())
	if err != nil {
		rt.Fatal(err)
	}
	if over, err := m.Over(); over || err != nil {
		rt.Fatal(over, err)
	}
	s := openBy(rt, dir, by)
	if err := s.Fill(context.Background(), copied(rt, m)); err != nil {
		rt.Fatal(err)
	}
	if again, err := s.Moment(context.Background()); err != nil || len(again.Values) != len(m.Values) || again.Meta.ID != m.Meta.ID {
		rt.Fatalf("%+v %v", again, err)
	}
	return s
}

func openBy(rt *rapid.T, dir string, by int) *chitta.Store {
	s, err := chitta.Open(context.Background(), chitta.Options{Dir: dir, Embedder: embedders[by].id, Dim: embedders[by].dim, SnapshotEvery: 1000, Workers: 2})
	if err != nil {
		rt.Fatal(err)
	}
	return s
}

// entriesOf lists the experiences of a store, by their order among them.
func entriesOf(rt *rapid.T, s *chitta.Store) (out []uint64) {
	err := s.Experiences(context.Background(), func(x chitta.Experience) error {
		out = append(out, x.Sequence)
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

// textsOf says what is kept of each entry.
func textsOf(rt *rapid.T, s *chitta.Store) (out []string) {
	for _, seq := range entriesOf(rt, s) {
		x, err := s.TextOf(seq)
		switch {
		case errors.Is(err, chitta.ErrBuried):
			x.Body = "buried"
		case errors.Is(err, chitta.ErrNotFound):
			x.Body = "none"
		case err != nil:
			rt.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%+v", x))
	}
	return out
}

// Whatever was lived, edited, judged again, buried, forgotten, given other vectors
// or restarted: a store that is filled with all of it has the same state, bit for
// bit, and goes on in the same way: with entries, edits, burials, another
// embedder and what is forgotten. Its log holds no amendment. So does a store that
// is filled from that one.
func TestAFilledStoreIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dirs := [3]string{mkdir(rt), mkdir(rt), mkdir(rt)}
		defer func() {
			for _, dir := range dirs {
				_ = os.RemoveAll(dir)
			}
		}()
		deeds := drawDeeds(rt)
		buries := rapid.Bool().Draw(rt, "buries")
		by := 0 // the embedder in force
		for i := range deeds {
			switch d := &deeds[i]; d.kind {
			case "params":
				d.bury = buries
			case "entry":
				d.gist = rapid.IntRange(0, 4).Draw(rt, "gist") == 0
			case "reembed":
				by = int(d.seed) % len(embedders)
			}
		}
		a, at := live(rt, dirs[0], rapid.IntRange(2, 60).Draw(rt, "snapshots"), deeds, nil)
		var gone []uint64
		for i, d := range deeds {
			if d.kind == "entry" && rapid.IntRange(0, 7).Draw(rt, "goes") == 0 {
				gone = append(gone, at[i])
			}
		}
		if len(gone) > 0 {
			if _, err := a.Excise(context.Background(), chitta.Excision{Sequences: gone}); err != nil {
				rt.Fatal(err)
			}
		}
		if _, err := a.Append(context.Background(), chitta.Batch{Values: []chitta.Value{{Name: "v", Data: []byte("w")}}}); err != nil {
			rt.Fatal(err)
		}
		b := refilled(rt, a, dirs[1], by)
		all := []*chitta.Store{a, b, refilled(rt, b, dirs[2], by)}
		defer func() {
			for _, s := range all {
				_ = s.Close(context.Background())
			}
		}()
		same := func(when string) {
			texts := textsOf(rt, a)
			for n, s := range all {
				if digest(a) != digest(s) {
					var diff []string
					_ = a.View(func(x *fold.State) error {
						return s.View(func(y *fold.State) error { diff, _ = fold.Difference(x, y, 0, 10); return nil })
					})
					rt.Fatalf("store %d %s: %v", n, when, diff)
				}
				if other := textsOf(rt, s); !slices.Equal(texts, other) {
					rt.Fatalf("store %d %s: texts\n%v\n%v", n, when, texts, other)
				}
				v, err := s.Verify(context.Background(), chitta.VerifyOptions{Full: true})
				if err != nil || !v.OK() {
					rt.Fatalf("store %d %s: %v %+v", n, when, err, v.Findings)
				}
			}
		}
		same("after it was filled")
		for n, s := range all[1:] {
			if err := s.Close(context.Background()); err != nil {
				rt.Fatal(err)
			}
			all[n+1] = openBy(rt, dirs[n+1], by)
		}
		same("after a restart")
		for i, d := range deeds {
			for _, s := range all[1:] {
				if d.kind == "entry" && a.ExcisedKey(experience(d.seed).Key) != s.ExcisedKey(experience(d.seed).Key) {
					rt.Fatalf("deed %d is forgotten in one of them only", i)
				}
			}
		}
		// Life goes on. What is edited, forgotten and embedded is named by its place
		// among the entries, since the sequences differ.
		each := func(f func(s *chitta.Store) error) {
			for n, s := range all {
				if err := f(s); err != nil {
					rt.Fatalf("store %d: %v", n, err)
				}
			}
		}
		ctx := context.Background()
		write := func(seed uint64, ends bool) func(*chitta.Store) error {
			return func(s *chitta.Store) error {
				session := s.Snapshot().Session
				entries := []chitta.Entry{{Body: experienceBy(seed, by), Text: canary(seed)}, {Body: experienceBy(seed+1, by), Text: canary(seed + 1)}}
				if !session.Open {
					session.Number++
					entries = append([]chitta.Entry{{Body: fold.SessionOpened{Number: session.Number}}}, entries...)
				}
				if ends {
					entries = append(entries, chitta.Entry{Body: fold.SessionClosed{Number: session.Number, Reason: "end"}})
				}
				_, err := s.Append(ctx, chitta.Batch{Entries: entries})
				return err
			}
		}
		seed := uint64(500)
		for range rapid.IntRange(1, 6).Draw(rt, "further deeds") {
			n := len(entriesOf(rt, a))
			kind := rapid.SampledFrom([]string{"write", "edit", "forget", "reembed", "refill"}).Draw(rt, "further deed")
			place := rapid.IntRange(0, max(0, n-1)).Draw(rt, "place")
			seed += 10
			switch {
			case kind == "write" || n == 0:
				each(write(seed, rapid.Bool().Draw(rt, "ends")))
			case kind == "edit":
				x := experienceBy(seed, by)
				each(func(s *chitta.Store) error {
					body := fold.Superseded{Target: entriesOf(rt, s)[place], Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}
					_, err := s.Append(ctx, chitta.Batch{Entries: []chitta.Entry{{Body: body, Text: canary(seed)}}})
					return err
				})
			case kind == "forget":
				each(func(s *chitta.Store) error {
					_, err := s.Excise(ctx, chitta.Excision{Sequences: []uint64{entriesOf(rt, s)[place]}})
					return err
				})
			case kind == "reembed":
				if a.Snapshot().Session.Open {
					each(write(seed, true))
				}
				by = rapid.IntRange(0, len(embedders)-1).Draw(rt, "embedder")
				each(func(s *chitta.Store) error {
					wording := map[uint64]uint64{}
					for i, seq := range entriesOf(rt, s) {
						wording[seq] = seed + uint64(i)
					}
					_, err := s.Reembed(ctx, reembedding(by, wording))
					return err
				})
			default:
				dir := mkdir(rt)
				defer os.RemoveAll(dir)
				all = append(all, refilled(rt, all[rapid.IntRange(0, len(all)-1).Draw(rt, "from")], dir, by))
			}
			same("after " + kind)
		}
	})
}

// A filling that ends in the middle, that is out of order, or that amends
// something changes nothing, and leaves no file behind.
func TestAFillingIsAllOrNothing(t *testing.T) {
	from := open(t, t.TempDir(), nil)
	wording := entries(t, from, 50)
	if _, err := from.Reembed(t.Context(), reembedding(1, wording)); err != nil {
		t.Fatal(err)
	}
	x := experienceBy(60, 1)
	mustAppend(t, from, chitta.Entry{Body: fold.SessionOpened{Number: 2}}, chitta.Entry{Body: x, Text: text(60)})
	m, err := from.Moment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := open(t, dir, nil)
	before, meta := digest(s), s.Meta()
	refuse := func(name string, f chitta.Filling, want error) {
		t.Helper()
		if err := s.Fill(t.Context(), f); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*rewrite*")); len(left) > 0 {
			t.Errorf("%s left behind: %v", name, left)
		}
		if digest(s) != before || s.Meta() != meta {
			t.Errorf("%s: the store has changed", name)
		}
	}
	no := errors.New("no")
	good := copied(t, m)
	f := good
	f.Values = func(*fold.State) ([]chitta.Value, error) { return nil, no }
	refuse("values refused", f, no)
	n := 0
	f = good
	f.Records = func(add func(chitta.Filled) error) error {
		return good.Records(func(r chitta.Filled) error {
			if n++; n == 40 {
				return no
			}
			return add(r)
		})
	}
	refuse("cut in the middle", f, no)
	refuse("a gap in the order", changed(good, func(r *chitta.Filled) {
		if r.Event.Sequence > 20 {
			r.Event.Sequence++
		}
	}), fold.ErrOrder)
	refuse("an amendment", changed(good, func(r *chitta.Filled) {
		if r.Event.Sequence == 30 {
			r.Event.Body = fold.Reassessed{Target: 10, Judgement: experience(1).Judgement}
		}
	}), fold.ErrEvent)
	// vectors has f take the place of what the change of embedder brings.
	vectors := func(name string, want error, give func(add func(uint64, []float32) error) error) {
		refuse(name, changed(good, func(r *chitta.Filled) {
			if r.Vectors != nil {
				r.Vectors = give
			}
		}), want)
	}
	v := vectorBy(3, 1)
	vectors("a vector of no entry", fold.ErrEvent, func(add func(uint64, []float32) error) error { return add(2, v) })
	vectors("a vector of an entry to come", fold.ErrEvent, func(add func(uint64, []float32) error) error { return add(60, v) })
	vectors("a vector twice", fold.ErrOrder, func(add func(uint64, []float32) error) error { return errors.Join(add(9, v), add(9, v)) })
	vectors("vectors in another order", fold.ErrOrder, func(add func(uint64, []float32) error) error { return errors.Join(add(9, v), add(8, v)) })
	vectors("a vector of another dimension", fold.ErrDimension, func(add func(uint64, []float32) error) error { return add(9, v[1:]) })
	vectors("a vector that is no unit", fold.ErrZeroVector, func(add func(uint64, []float32) error) error { return add(9, make([]float32, len(v))) })
	vectors("vectors that end in the middle", no, func(add func(uint64, []float32) error) error { return errors.Join(add(9, v), no) })
	vectors("a change without its vectors", fold.ErrEmbedder, nil)
	refuse("vectors of nothing", changed(good, func(r *chitta.Filled) {
		r.Vectors = func(add func(uint64, []float32) error) error { return nil }
	}), fold.ErrEvent)
	refuse("a dimension that cannot be", changed(good, func(r *chitta.Filled) {
		if b, ok := r.Event.Body.(fold.EmbedderChanged); ok {
			b.Dim = 1 << 20
			r.Event.Body = b
		}
	}), fold.ErrEvent)
	f = good
	f.Values = func(*fold.State) ([]chitta.Value, error) {
		return []chitta.Value{{Name: "a"}, {Name: "b"}, {Name: "a"}}, nil
	}
	if err := s.Fill(t.Context(), f); err == nil || digest(s) != before {
		t.Errorf("two values of one name: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f = good
	f.Progress = func(done uint64) {
		if done == 25 {
			cancel()
		}
	}
	if err := s.Fill(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := s.Fill(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	if digest(s) != digest(from) {
		t.Error("not the same in the end")
	}
	if err := s.Fill(t.Context(), good); !errors.Is(err, chitta.ErrNotFresh) {
		t.Errorf("a second time: %v", err)
	}
}

// A moment is over when an entry of it is edited or taken out, not when one is added.
func TestAMomentIsOverWhenItsEntriesChange(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	seq := mustAppend(t, s, chitta.Entry{Body: experience(1), Text: text(1)}, chitta.Entry{Body: experience(2), Text: text(2)})
	look := func() *chitta.Moment {
		m, err := s.Moment(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	over := func(m *chitta.Moment, want bool, what string) {
		t.Helper()
		if got, err := m.Over(); err != nil || got != want {
			t.Errorf("%s: over %v, %v", what, got, err)
		}
	}
	m := look()
	third := mustAppend(t, s, chitta.Entry{Body: experience(3), Text: text(3)})[0].Sequence
	over(m, false, "an entry more")
	x := experience(4)
	mustAppend(t, s, chitta.Entry{Body: fold.Superseded{Target: third, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}, Text: text(4)})
	over(m, false, "an edit of a later one")
	mustAppend(t, s, chitta.Entry{Body: fold.Reassessed{Target: seq[0].Sequence, Judgement: x.Judgement}})
	over(m, false, "another judgement")
	x = experience(5)
	mustAppend(t, s, chitta.Entry{Body: fold.Superseded{Target: seq[0].Sequence, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}, Text: text(5)})
	over(m, true, "an edit")
	m = look()
	if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{third}}); err != nil {
		t.Fatal(err)
	}
	over(m, true, "an excision")
}
