package door

import (
	"context"
	"sync"
)

// inside knows how many requests are being answered.
type inside struct {
	mu     sync.Mutex
	n      int
	closed bool
	// empty is closed when none is, once no more are let in.
	empty chan struct{}
}

// enter lets a request in, unless the door is closed. It must leave.
func (i *inside) enter() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.n++
	}
	return !i.closed
}

func (i *inside) leave() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.n--; i.closed && i.n == 0 {
		close(i.empty)
	}
}

// close lets no more in, and waits for the last one to leave, or ctx to end.
func (i *inside) close(ctx context.Context) {
	i.mu.Lock()
	if !i.closed {
		i.closed = true
		if i.n == 0 {
			close(i.empty)
		}
	}
	i.mu.Unlock()
	select {
	case <-i.empty:
	case <-ctx.Done():
	}
}
