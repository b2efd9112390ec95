package chitta_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// inSessions makes a store with sessions of the given sizes and returns the places
// of their entries, by session.
func inSessions(t interface{ Fatal(...any) }, dir string, sizes ...int) (*chitta.Store, [][]uint64) {
	s, err := chitta.Open(context.Background(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim, SnapshotEvery: 1000, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var at [][]uint64
	seed := uint64(0)
	for i, size := range sizes {
		number := uint32(i + 1)
		entries := []chitta.Entry{{Body: fold.SessionOpened{Number: number}}}
		for range size {
			seed++
			entries = append(entries, chitta.Entry{Body: experience(seed), Text: text(seed)})
		}
		r, err := s.Append(context.Background(), chitta.Batch{Entries: append(entries, chitta.Entry{Body: fold.SessionClosed{Number: number}})})
		if err != nil {
			t.Fatal(err)
		}
		var places []uint64
		for _, receipt := range r[1 : len(r)-1] {
			places = append(places, receipt.Sequence)
		}
		at = append(at, places)
	}
	return s, at
}

// Draws are as many, of other experiences, empty as many sessions of the same
// size where there are any, and are the same each time.
func TestDraws(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	var at [][]uint64 // by session
	seed := uint64(0)
	for number, size := range []int{3, 1, 2, 1, 3, 1, 2, 5, 1, 1} {
		mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: uint32(number + 1)}})
		at = append(at, nil)
		for range size {
			seed++
			at[number] = append(at[number], mustAppend(t, s, chitta.Entry{Body: experience(seed), Text: text(seed)})[0].Sequence)
		}
		mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: uint32(number + 1)}})
	}
	r, err := s.Retrace(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		examined []uint64
		draws    int
		emptied  int
	}{
		"a session of one":     {at[1], 4, 1},
		"a session of three":   {at[0], 1, 1},
		"a session of five":    {at[7], 20, 0}, // there is no other
		"one of three":         {at[0][:1], 14, 0},
		"some of all":          {slices.Concat(at[2], at[4][:2], at[5]), 20, 2},
		"more than half of it": {slices.Concat(at[0], at[2], at[4], at[7]), 0, 0},
	} {
		all := r.Draws(c.examined, 20)
		draws := all.Sets
		if len(draws) != c.draws || all.All != (c.draws < 20) {
			t.Errorf("%s: %d draws, all %v", name, len(draws), all.All)
		}
		different := map[uint64]bool{}
		for _, d := range draws {
			if len(d) != len(c.examined) || !slices.IsSorted(d) || len(slices.Compact(slices.Clone(d))) != len(d) {
				t.Errorf("%s: drawn %v", name, d)
			}
			emptied := 0
			for _, session := range at {
				in := 0
				for _, seq := range session {
					if slices.Contains(d, seq) {
						in++
						different[seq] = true
					}
					if slices.Contains(d, seq) && slices.Contains(c.examined, seq) {
						t.Errorf("%s: an examined one was drawn", name)
					}
				}
				if in == len(session) {
					emptied++
				}
			}
			if emptied != c.emptied {
				t.Errorf("%s: %v empties %d sessions, want %d", name, d, emptied, c.emptied)
			}
		}
		if want := name != "a session of three"; c.draws > 0 && (len(different) > len(c.examined)) != want {
			t.Errorf("%s: drawn were %v", name, different) // of three there is one other
		}
	}
}

// subsets are all of a size, in order.
func subsets(of []uint64, size int) [][]uint64 {
	if size == 0 {
		return [][]uint64{nil}
	}
	var out [][]uint64
	for i, first := range of {
		for _, rest := range subsets(of[i+1:], size-1) {
			out = append(out, append([]uint64{first}, rest...))
		}
	}
	return out
}

// comparable are the sets that may be compared with the examined one, by looking
// at each set there is: as many, emptying as many sessions of the same sizes as
// there are, and as few besides as can be.
func comparable(at [][]uint64, examined []uint64) [][]uint64 {
	emptiedBy := func(set []uint64) (sizes map[int]int, number int) {
		sizes = map[int]int{}
		for _, session := range at {
			if !slices.ContainsFunc(session, func(x uint64) bool { return !slices.Contains(set, x) }) {
				sizes[len(session)]++
				number++
			}
		}
		return sizes, number
	}
	free := map[int]int{}
	var others []uint64
	for _, session := range at {
		untouched := true
		for _, seq := range session {
			if slices.Contains(examined, seq) {
				untouched = false
			} else {
				others = append(others, seq)
			}
		}
		if untouched {
			free[len(session)]++
		}
	}
	mine, _ := emptiedBy(examined)
	var out [][]uint64
	fewest := len(at)
	for _, set := range subsets(others, len(examined)) {
		sizes, number := emptiedBy(set)
		alike := true
		for size, n := range mine {
			alike = alike && sizes[size] >= min(n, free[size])
		}
		if !alike || number > fewest {
			continue
		}
		if number < fewest {
			out, fewest = nil, number
		}
		out = append(out, set)
	}
	return out
}

// Whatever the store, draws differ from each other, are sets that may be compared,
// are the same each time, and are all of them where there are no more.
func TestDrawsAreDistinct(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := mkdir(rt)
		defer func() { _ = os.RemoveAll(dir) }()
		sizes := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 6).Draw(rt, "sizes")
		s, at := inSessions(rt, dir, sizes...)
		defer s.Close(context.Background()) //nolint:errcheck // a test that is over
		var examined []uint64
		for _, session := range at {
			// More often all or nothing of a session than chance would have it.
			switch rapid.IntRange(0, 3).Draw(rt, "of this session") {
			case 0:
				examined = append(examined, session...)
			case 1:
				examined = append(examined, session[:rapid.IntRange(0, len(session)).Draw(rt, "of it")]...)
			}
		}
		if len(examined) == 0 {
			examined = at[0][:1]
		}
		n := rapid.IntRange(1, 40).Draw(rt, "draws")
		r, err := s.Retrace(context.Background(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		want := comparable(at, examined)
		got := r.Draws(examined, n)
		if len(got.Sets) != min(n, len(want)) || got.All != (len(want) <= n) {
			rt.Fatalf("%d draws of %d, all %v; there are %d", len(got.Sets), n, got.All, len(want))
		}
		sorted := slices.Clone(got.Sets)
		slices.SortFunc(sorted, slices.Compare)
		for i, set := range sorted {
			if i > 0 && slices.Equal(set, sorted[i-1]) {
				rt.Fatalf("%v was drawn twice", set)
			}
			if _, ok := slices.BinarySearchFunc(want, set, slices.Compare); !ok {
				rt.Fatalf("%v of %v may not be compared with %v", set, at, examined)
			}
		}
		again, err := s.Retrace(context.Background(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		slices.Reverse(examined)
		if more := again.Draws(examined, n); !slices.EqualFunc(got.Sets, more.Sets, slices.Equal) {
			rt.Fatalf("not the same again: %v and %v", got.Sets, more.Sets)
		}
	})
}

// Where much can be drawn, what is drawn depends on what is examined, and none is
// much likelier than another.
func TestDrawsAreRandom(t *testing.T) {
	s, at := inSessions(t, t.TempDir(), slices.Repeat([]int{1, 2}, 40)...)
	defer s.Close(context.Background()) //nolint:errcheck // a test that is over
	r, err := s.Retrace(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[uint64]int{}
	for i := 1; i < len(at); i += 2 {
		d := r.Draws(at[i][:1], 20)
		if len(d.Sets) != 20 || d.All {
			t.Fatalf("%d draws, all %v", len(d.Sets), d.All)
		}
		for _, set := range d.Sets {
			drawn[set[0]]++
		}
	}
	// 800 draws of 80 entries: each 10 times, give or take 3.
	for seq, n := range drawn {
		if n > 25 {
			t.Errorf("%d was drawn %d times", seq, n)
		}
	}
	if len(drawn) != 80 {
		t.Errorf("%d entries were drawn", len(drawn))
	}
	// Of 79 that there are, 60 are not always the first.
	passed := map[uint64]bool{}
	for i := 1; i < len(at); i += 2 {
		d := r.Draws(at[i][:1], 60)
		if len(d.Sets) != 60 || d.All {
			t.Fatalf("%d draws, all %v", len(d.Sets), d.All)
		}
		for seq := range drawn {
			if !slices.Contains(at[i], seq) && !slices.ContainsFunc(d.Sets, func(set []uint64) bool { return set[0] == seq }) {
				passed[seq] = true
			}
		}
	}
	if len(passed) != 80 {
		t.Errorf("only %d entries are ever left out", len(passed))
	}
	if d := r.Draws(at[1][:1], 0); d.Sets != nil || d.All {
		t.Errorf("no draws are %+v", d)
	}
}

// A large store is no reason to wait: the way to the first sets does not lead
// through all of them.
func TestDrawsInALargeStore(t *testing.T) {
	sizes := append(slices.Repeat([]int{1, 2, 3}, 300), 40, 40)
	s, at := inSessions(t, t.TempDir(), sizes...)
	defer s.Close(context.Background()) //nolint:errcheck // a test that is over
	r, err := s.Retrace(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := len(at) - 1
	for name, c := range map[string]struct {
		examined []uint64
		want     int
	}{
		"one beside another of its size": {at[last], 1},
		"half of a large session":        {at[last][:20], 20},
		"many days":                      {slices.Concat(at[:150]...), 20},
		"more than half":                 {slices.Concat(at[:600]...), 0},
	} {
		if d := r.Draws(c.examined, 20); len(d.Sets) != c.want || d.All != (c.want < 20) {
			t.Errorf("%s: %d draws, all %v", name, len(d.Sets), d.All)
		}
	}
}
