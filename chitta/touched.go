package chitta

import (
	"context"
	"sync"
)

// touched knows of the copy that is being made, and gathers which values beside the log
// change meanwhile. A key
// is added before the transaction that changes it commits, so whoever reads the
// store and then looks here misses nothing.
type touched struct {
	mu sync.Mutex
	// keys is nil while no copy is being made.
	keys map[place]struct{}
	// stop ends the copy, ended is closed once nothing of it is left.
	stop  context.CancelCauseFunc
	ended chan struct{}
}

// place is where a value stands.
type place struct{ bucket, key string }

func (t *touched) add(bucket, key []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys != nil {
		t.keys[place{string(bucket), string(key)}] = struct{}{}
	}
}

// begin starts gathering; false says that another copy is being made.
func (t *touched) begin(stop context.CancelCauseFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys != nil {
		return false
	}
	t.keys, t.stop, t.ended = map[place]struct{}{}, stop, make(chan struct{})
	return true
}

func (t *touched) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.ended)
	t.keys, t.stop, t.ended = nil, nil, nil
}

// abandon has a copy that is being made begin anew, and waits until nothing is left of
// what it had, or ctx ends: the store was written anew, and it may hold what went.
func (t *touched) abandon(ctx context.Context) {
	t.mu.Lock()
	stop, ended := t.stop, t.ended
	t.mu.Unlock()
	if stop == nil {
		return
	}
	stop(errReplaced)
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// list is what has changed since begin.
func (t *touched) list() []place {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]place, 0, len(t.keys))
	for p := range t.keys {
		out = append(out, p)
	}
	return out
}
