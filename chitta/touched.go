package chitta

import "sync"

// touched gathers which values beside the log change while a copy is made. A key
// is added before the transaction that changes it commits, so whoever reads the
// store and then looks here misses nothing.
type touched struct {
	mu sync.Mutex
	// keys is nil while no copy is being made.
	keys map[place]struct{}
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
func (t *touched) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys != nil {
		return false
	}
	t.keys = map[place]struct{}{}
	return true
}

func (t *touched) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys = nil
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
