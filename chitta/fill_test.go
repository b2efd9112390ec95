package chitta_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// copied is everything of a moment, as the filling of another store.
func copied(t interface{ Fatal(...any) }, m *chitta.Moment) chitta.Filling {
	type record struct {
		event fold.Event
		text  *chitta.Text
	}
	var all []record
	err := m.Events(context.Background(), func(e fold.Event) error {
		r := record{event: e}
		if x, err := m.TextOf(e.Sequence); err == nil {
			r.text = &x
		} else if !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
		r.event.Sequence = uint64(len(all) + 1)
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return chitta.Filling{
		ID: m.Meta.ID, Created: m.Meta.Created,
		Records: func(f func(fold.Event, *chitta.Text) error) error {
			for _, r := range all {
				if err := f(r.event, r.text); err != nil {
					return err
				}
			}
			return nil
		},
		Values: func(*fold.State) ([]chitta.Value, error) { return m.Values, nil },
	}
}

// Whatever was lived, edited, judged again, forgotten or restarted: a store that
// is filled with all of it has the same state, bit for bit, goes on in the same
// way, and its log holds no amendment.
func TestAFilledStoreIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dirs := [2]string{mkdir(rt), mkdir(rt)}
		defer func() { _ = os.RemoveAll(dirs[0]); _ = os.RemoveAll(dirs[1]) }()
		deeds := drawDeeds(rt)
		for i := range deeds { // a store that changed its embedder is not filled from an export
			if deeds[i].kind == "reembed" {
				deeds[i].kind = "end"
			}
		}
		a, at := live(rt, dirs[0], rapid.IntRange(2, 60).Draw(rt, "snapshots"), deeds, nil)
		defer a.Close(context.Background()) //nolint:errcheck // what matters is checked
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
		m, err := a.Moment(context.Background())
		if err != nil {
			rt.Fatal(err)
		}
		if over, err := m.Over(); over || err != nil {
			rt.Fatal(over, err)
		}
		b, err := chitta.Open(context.Background(), chitta.Options{Dir: dirs[1], Embedder: "test/1", Dim: dim, SnapshotEvery: 1000, Workers: 2})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = b.Close(context.Background()) }()
		if err := b.Fill(context.Background(), copied(rt, m)); err != nil {
			rt.Fatal(err)
		}
		same := func(when string) {
			if digest(a) != digest(b) {
				var diff []string
				_ = a.View(func(x *fold.State) error {
					return b.View(func(y *fold.State) error { diff, _ = fold.Difference(x, y, 0, 10); return nil })
				})
				rt.Fatalf("%s: %v", when, diff)
			}
			v, err := b.Verify(context.Background(), chitta.VerifyOptions{Full: true})
			if err != nil || !v.OK() {
				rt.Fatalf("%s: %v %+v", when, err, v.Findings)
			}
		}
		same("after it was filled")
		if again, err := b.Moment(context.Background()); err != nil || len(again.Values) != len(m.Values) || again.Meta.ID != m.Meta.ID {
			rt.Fatalf("%+v %v", again, err)
		}
		if err := b.Close(context.Background()); err != nil {
			rt.Fatal(err)
		}
		if b, err = chitta.Open(context.Background(), chitta.Options{Dir: dirs[1], Embedder: "test/1", Dim: dim}); err != nil {
			rt.Fatal(err)
		}
		same("after a restart")
		for i, d := range deeds {
			if d.kind == "entry" && a.ExcisedKey(experience(d.seed).Key) != b.ExcisedKey(experience(d.seed).Key) {
				rt.Fatalf("deed %d is forgotten in one of them only", i)
			}
		}
		for _, s := range []*chitta.Store{a, b} {
			var session fold.Session
			_ = s.View(func(st *fold.State) error { session = st.Session; return nil })
			entries := []chitta.Entry{{Body: experience(500)}, {Body: experience(501)}}
			if !session.Open {
				entries = append([]chitta.Entry{{Body: fold.SessionOpened{Number: session.Number + 1}}}, entries...)
			}
			r, err := s.Append(context.Background(), chitta.Batch{Entries: entries})
			if err != nil {
				rt.Fatal(err)
			}
			// An edit of today folds again from the opening of the session.
			x := experience(502)
			edit := fold.Superseded{Target: r[len(r)-1].Sequence, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}
			if _, err := s.Append(context.Background(), chitta.Batch{Entries: []chitta.Entry{{Body: edit}}}); err != nil {
				rt.Fatal(err)
			}
		}
		same("after more entries")
	})
}

// A filling that ends in the middle, that is out of order, or that amends
// something changes nothing, and leaves no file behind.
func TestAFillingIsAllOrNothing(t *testing.T) {
	from := open(t, t.TempDir(), nil)
	mustAppend(t, from, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	for i := range uint64(50) {
		mustAppend(t, from, chitta.Entry{Body: experience(i), Text: text(i)})
	}
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
	f = good
	f.Records = func(add func(fold.Event, *chitta.Text) error) error {
		n := 0
		return good.Records(func(e fold.Event, t *chitta.Text) error {
			if n++; n == 40 {
				return no
			}
			return add(e, t)
		})
	}
	refuse("cut in the middle", f, no)
	f.Records = func(add func(fold.Event, *chitta.Text) error) error {
		return good.Records(func(e fold.Event, t *chitta.Text) error {
			if e.Sequence > 20 {
				e.Sequence++
			}
			return add(e, t)
		})
	}
	refuse("a gap in the order", f, fold.ErrOrder)
	f.Records = func(add func(fold.Event, *chitta.Text) error) error {
		return good.Records(func(e fold.Event, t *chitta.Text) error {
			if e.Sequence == 30 {
				e.Body = fold.Reassessed{Target: 10, Judgement: experience(1).Judgement}
			}
			return add(e, t)
		})
	}
	refuse("an amendment", f, fold.ErrEvent)
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
