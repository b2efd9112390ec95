package chitta_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// No look at the database lasts long, whatever is asked while others write: a
// long one would keep freed pages from being used and let the file grow.
func TestReadsAreShort(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	const n = 2000
	for from := uint64(1); from <= n; from += 100 {
		var entries []chitta.Entry
		for seed := from; seed < from+100; seed++ {
			entries = append(entries, chitta.Entry{Body: experience(seed), Text: text(seed)})
		}
		mustAppend(t, s, entries...)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for seed := uint64(1); seed <= 100; seed++ {
			if _, err := s.Append(context.Background(), chitta.Batch{Entries: []chitta.Entry{{Body: experience(10*n + seed), Text: text(seed)}}}); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range 5 {
			if err := s.Texts(0, func(uint64, chitta.Text) error { return nil }); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		if v, err := s.Verify(context.Background(), chitta.VerifyOptions{}); err != nil || !v.OK() {
			t.Errorf("%+v, %v", v, err)
		}
	})
	wg.Wait()
	if h := s.Health(); h.LongestRead > time.Second {
		t.Errorf("a read transaction lasted %v", h.LongestRead)
	} else if h.LongestRead == 0 {
		t.Error("no read transaction was measured")
	}
}
