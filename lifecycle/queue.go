package lifecycle

import (
	"context"
	"sync"
	"time"
)

// task is one piece of work on its way through the queue: prepared by any
// preparer, then run by the one worker.
type task struct {
	prepare func(ctx context.Context) error
	run     func(ctx context.Context, prepared error) error
	// hurry, if not nil, has the preparation do with less: others wait behind it.
	hurry   func()
	pressed bool
	// taken and ready are guarded by the queue.
	taken, ready bool
	prepared     error
	done         chan error
}

// queue holds two lines of tasks. Each line is worked off in order; the
// interactive line goes before the backlog, in preparation and in running.
type queue struct {
	mu     sync.Mutex
	change *sync.Cond
	lines  [2][]*task
	bounds [2]int
	// stopped ends everything; draining only refuses new tasks.
	stopped, draining bool
	// patience is how long the first of a line may keep others waiting.
	patience time.Duration
}

type line int

const (
	interactive line = iota
	backlog
)

func newQueue(bound int) *queue {
	q := &queue{bounds: [2]int{bound, bound}, patience: patience}
	q.change = sync.NewCond(&q.mu)
	return q
}

// put adds a task, waiting while its line is full.
func (q *queue) put(ctx context.Context, l line, t *task) error {
	t.done = make(chan error, 1)
	stop := context.AfterFunc(ctx, q.wake)
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines[l]) >= q.bounds[l] && !q.stopped && !q.draining && ctx.Err() == nil {
		q.change.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case q.stopped || q.draining:
		return ErrStopping
	}
	q.add(l, t)
	return nil
}

// last refuses further tasks and adds t behind all that wait.
func (q *queue) last(t *task) error {
	t.done = make(chan error, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped || q.draining {
		return ErrStopping
	}
	q.draining = true
	q.add(backlog, t)
	return nil
}

func (q *queue) add(l line, t *task) {
	if t.prepare == nil {
		t.taken, t.ready = true, true
	}
	q.lines[l] = append(q.lines[l], t)
	q.press(l)
	q.change.Broadcast()
}

// patience is how long an entry waits for its model while others wait behind it.
const patience = 2 * time.Second

// press has the first of a line hurry where it keeps others waiting.
func (q *queue) press(l line) {
	if len(q.lines[l]) < 2 {
		return
	}
	if t := q.lines[l][0]; !t.ready && t.hurry != nil && !t.pressed {
		t.pressed = true
		time.AfterFunc(q.patience, t.hurry)
	}
}

// prepareAll prepares tasks until the queue is stopped.
func (q *queue) prepareAll(ctx context.Context) {
	for {
		t := q.unprepared()
		if t == nil {
			return
		}
		err := t.prepare(ctx)
		q.mu.Lock()
		t.prepared, t.ready = err, true
		q.change.Broadcast()
		q.mu.Unlock()
	}
}

func (q *queue) unprepared() *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped {
		for _, l := range q.lines {
			for _, t := range l {
				if !t.taken {
					t.taken = true
					return t
				}
			}
		}
		q.change.Wait()
	}
	return nil
}

// runAll runs prepared tasks one at a time until the queue is stopped.
func (q *queue) runAll(ctx context.Context) {
	for {
		t := q.next()
		if t == nil {
			return
		}
		t.done <- t.run(ctx, t.prepared)
	}
}

// next takes the task whose turn it is: the head of the interactive line, even
// if it must be waited for, else the head of the backlog.
func (q *queue) next() *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped {
		for l := range q.lines {
			if len(q.lines[l]) == 0 {
				continue
			}
			if t := q.lines[l][0]; t.ready {
				q.lines[l] = q.lines[l][1:]
				q.press(line(l))
				q.change.Broadcast()
				return t
			}
			break
		}
		q.change.Wait()
	}
	return nil
}

// length is the number of tasks waiting.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lines[interactive]) + len(q.lines[backlog])
}

// waiting is the number of tasks in one line.
func (q *queue) waiting(l line) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lines[l])
}

// stop ends the workers and fails what is left.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	for l := range q.lines {
		for _, t := range q.lines[l] {
			t.done <- ErrStopping
		}
		q.lines[l] = nil
	}
	q.change.Broadcast()
}

func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.change.Broadcast()
}
