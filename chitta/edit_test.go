package chitta_test

import (
	"sync"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// An edit of an old entry folds again, which takes a while. Whoever looks
// meanwhile must see the store of before or the one of after, never a mix.
func TestVerifyDuringEditsFindsNothing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var first uint64
	for i := range uint64(300) {
		r := mustAppend(t, s, chitta.Entry{Body: experience(i), Text: text(i)})
		if i == 0 {
			first = r[0].Sequence
		}
	}
	var editing sync.WaitGroup
	editing.Go(func() {
		for i := range uint64(15) {
			x := experience(1000 + i)
			mustAppend(t, s, chitta.Entry{Body: fold.Superseded{Target: first, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}})
		}
	})
	for range 15 {
		check(t, s)
	}
	editing.Wait()
}
