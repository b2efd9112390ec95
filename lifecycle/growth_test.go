package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// What an import costs must not grow with the store: the same twenty days, a
// session each, into a store of a hundred impressions and into one of eight
// hundred. Counted are transactions and bytes of pages, which a busy machine
// does not change; BenchmarkImport measures the time.
//
// One thing does grow: a session hands on the members of its tendencies, some two
// bytes each, where nearly every entry belongs to one. More than that would be
// something new.
func TestImportCostsTheSameInALargeStore(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the plain run has it")
	}
	const days, small, large = 20, 100, 800
	cost := func(n int) (commits, bytes int64) {
		w := newWorld(t)
		w.opts.SnapshotEvery = 1 << 20 // snapshots are files of their own
		c := w.live(t)
		if _, err := c.Import(t.Context(), alike(n, 1800, 50), nil); err != nil {
			t.Fatal(err)
		}
		commits, bytes = c.Commits(), c.PageBytes()
		r, err := c.Import(t.Context(), alike(days, 1911, 1), nil)
		if err != nil || r.New != days || r.Sessions != days {
			t.Fatalf("%+v, %v", r, err)
		}
		return c.Commits() - commits, c.PageBytes() - bytes
	}
	commits, bytes := cost(small)
	moreCommits, moreBytes := cost(large)
	t.Logf("into %d: %d transactions, %d bytes; into %d: %d transactions, %d bytes", small, commits, bytes, large, moreCommits, moreBytes)
	if moreCommits != commits {
		t.Errorf("%d transactions into a large store, %d into a small one", moreCommits, commits)
	}
	const perMember = 8
	if moreBytes > bytes*3/2+days*perMember*(large-small) {
		t.Errorf("%d bytes into a large store, %d into a small one", moreBytes, bytes)
	}
}

// alike are n entries about few things, some a day, from the first of a year on.
func alike(n, year, daily int) []lifecycle.Note {
	themes := []string{"the river and the slow walk", "counting breath on the cushion", "noise from the neighbour again", "a call with mother"}
	out := make([]lifecycle.Note, n)
	for i := range out {
		day := time.Date(year, 1, 1+i/daily, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		out[i] = lifecycle.Note{Text: fmt.Sprintf("%s, %d.", themes[i%len(themes)], i), Date: day}
	}
	return out
}
