package chitta

import (
	"errors"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
)

// Batches that came together share a transaction; when it fails, each must hear
// of it, also those that were not looked at any more.
func TestNoBatchOfAFailedTransactionIsAcknowledged(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Embedder: "test/1", Dim: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context()) //nolint:errcheck // its file is closed already
	if err := s.db.close(); err != nil {
		t.Fatal(err)
	}
	var group []*request
	for n := range uint32(3) {
		b := Batch{Entries: []Entry{{Body: fold.SessionOpened{Number: n + 1}}}}
		group = append(group, &request{batch: b, results: make([]Result, 1), done: make(chan struct{})})
	}
	s.commitGroup(group)
	for i, r := range group {
		<-r.done
		if r.err == nil {
			t.Errorf("batch %d was acknowledged and is not on disk", i)
		}
	}
}

func TestABatchThatCannotBeWrittenFailsAlone(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Embedder: "test/1", Dim: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context()) //nolint:errcheck // nothing is read after it
	bad := &request{batch: Batch{Sources: []Source{{Path: ""}}}, done: make(chan struct{})}
	good := &request{batch: Batch{Values: []Value{{Name: "a", Data: []byte("b")}}}, done: make(chan struct{})}
	s.commitGroup([]*request{bad, good})
	if bad.err == nil || good.err != nil {
		t.Errorf("bad: %v, good: %v", bad.err, good.err)
	}
	if v, err := s.Value("a"); err != nil || string(v) != "b" {
		t.Errorf("the good one is not there: %q %v", v, err)
	}
	if _, err := s.Value("c"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
