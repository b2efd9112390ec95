package lifecycle

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// order records which tasks ran, in order.
type order struct {
	mu  sync.Mutex
	ran []string
}

func (o *order) task(name string, prepares, runs time.Duration) *task {
	return &task{
		prepare: func(context.Context) error { time.Sleep(prepares); return nil },
		run: func(_ context.Context, err error) error {
			time.Sleep(runs)
			o.mu.Lock()
			defer o.mu.Unlock()
			o.ran = append(o.ran, name)
			return err
		},
	}
}

// work starts two preparers and the worker, and stops them when the test ends.
func work(t *testing.T, q *queue) {
	var wg sync.WaitGroup
	wg.Go(func() { q.prepareAll(t.Context()) })
	wg.Go(func() { q.prepareAll(t.Context()) })
	wg.Go(func() { q.runAll(t.Context()) })
	t.Cleanup(func() { q.stop(); wg.Wait() })
}

func TestQueueKeepsOrderAndPutsPeopleFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, o := newQueue(8), &order{}
		var all []*task
		put := func(l line, name string, prepares time.Duration) {
			x := o.task(name, prepares, time.Second)
			if err := q.put(t.Context(), l, x); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		put(backlog, "old 1", 5*time.Second) // slow to prepare, and still first of its line
		put(backlog, "old 2", time.Millisecond)
		put(interactive, "new 1", time.Second)
		put(interactive, "new 2", time.Millisecond)
		work(t, q)
		for _, x := range all {
			if err := <-x.done; err != nil {
				t.Error(err)
			}
		}
		if want := []string{"new 1", "new 2", "old 1", "old 2"}; !slices.Equal(o.ran, want) {
			t.Errorf("ran %v, want %v", o.ran, want)
		}
	})
}

func TestQueueHoldsBackWhoeverIsTooQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, o := newQueue(2), &order{}
		for range 2 {
			if err := q.put(t.Context(), backlog, o.task("x", 0, 0)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := q.put(ctx, backlog, o.task("too many", 0, 0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third task in a line of two: %v", err)
		}
		if err := q.put(t.Context(), interactive, o.task("new", 0, 0)); err != nil {
			t.Errorf("the other line is free: %v", err)
		}
		waiting := make(chan error, 1)
		go func() { waiting <- q.put(t.Context(), backlog, o.task("later", 0, 0)) }()
		synctest.Wait()
		work(t, q)
		if err := <-waiting; err != nil {
			t.Errorf("room came, and still: %v", err)
		}
	})
}

func TestQueueRunsWhatWaitsBeforeTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, o := newQueue(8), &order{}
		for _, name := range []string{"a", "b", "c"} {
			if err := q.put(t.Context(), backlog, o.task(name, time.Second, time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		end := &task{run: o.task("end", 0, 0).run}
		if err := q.last(end); err != nil {
			t.Fatal(err)
		}
		for _, l := range []line{interactive, backlog} {
			if err := q.put(t.Context(), l, o.task("after", 0, 0)); !errors.Is(err, ErrStopping) {
				t.Errorf("a task after the last: %v", err)
			}
		}
		work(t, q)
		if err := <-end.done; err != nil {
			t.Error(err)
		}
		if want := []string{"a", "b", "c", "end"}; !slices.Equal(o.ran, want) {
			t.Errorf("ran %v, want %v", o.ran, want)
		}
	})
}

func TestQueueAnswersEveryTaskWhenItStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, o := newQueue(8), &order{}
		var all []*task
		for range 5 {
			x := o.task("x", 0, 0)
			if err := q.put(t.Context(), backlog, x); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		q.stop()
		for _, x := range all {
			if err := <-x.done; !errors.Is(err, ErrStopping) {
				t.Errorf("a task that never ran was answered with %v", err)
			}
		}
		if err := q.put(t.Context(), interactive, o.task("y", 0, 0)); !errors.Is(err, ErrStopping) {
			t.Errorf("a task after the stop: %v", err)
		}
	})
}
