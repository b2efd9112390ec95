package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

// reader is an embedder that notes what it was given, and stops at one text until it may go on.
type reader struct {
	hashed
	mu     sync.Mutex
	read   []string
	stopAt string
	at, on chan struct{}
}

func (r *reader) Embed(ctx context.Context, text string) ([]float32, error) {
	r.mu.Lock()
	r.read = append(r.read, text)
	r.mu.Unlock()
	if text == r.stopAt {
		r.at <- struct{}{}
		<-r.on
	}
	return r.hashed.Embed(ctx, text)
}

func (r *reader) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.read, text)
}

func entriesIn(t *testing.T, c *lifecycle.Companion) int {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(s.Entries)
}

// What was said, and waits, is not taken in once leave for it is withdrawn: neither to store
// nor to read it. It is then given to no model, and nothing of it is kept.
func TestWhatWaitsIsAskedForAgain(t *testing.T) {
	const words = "We quarrelled about the fence."
	for name, say := range map[string]string{"storage": "communications.storage=deny", "to be asked for": "communications.storage=ask", "access": "communications.access=deny"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := &reader{hashed: hashed{64}}
			w.opts.Embedder = e
			c := w.live(t)
			then := c.Allowed()
			w.says(t, c, say)
			receipts, err := c.RememberAll(t.Context(), []lifecycle.Turn{{Said: words, Answered: "Which fence?", Allowed: then}, {Said: "And then?", Allowed: then}})
			if !errors.Is(err, lifecycle.ErrWithdrawn) || len(receipts) > 0 || entriesIn(t, c) != 0 || e.has(words) {
				t.Errorf("%v, %+v, %d entries, read: %v", err, receipts, entriesIn(t, c), e.has(words))
			}
			// What is said now is said by one who knows that no text of it is kept.
			if r, err := c.Remember(t.Context(), lifecycle.Turn{Said: words}); err != nil || r.Duplicate || entriesIn(t, c) != 1 {
				t.Errorf("said now: %+v, %v", r, err)
			}
			w.says(t, c, "communications.storage=allow", "communications.access=allow")
			if r, err := c.Remember(t.Context(), lifecycle.Turn{Said: "Peace again.", Allowed: then}); err != nil || !r.Created {
				t.Errorf("allowed again: %+v, %v", r, err)
			}
		})
	}
}

// What never could be kept is taken in as ever, and leave for another kind is none for this.
func TestWhatWaitsAndWasNeverAllowed(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.says(t, c, "communications.storage=deny")
	then := c.Allowed()
	w.says(t, c, "behavioural.storage=deny")
	if r, err := c.Remember(t.Context(), lifecycle.Turn{Said: "Nothing of it is kept.", Allowed: then}); err != nil || r.Withheld != "communications" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A note that stands behind the withdrawal in the queue is not taken in either, however far it
// was prepared, and no model is asked about it from then on.
func TestLeaveIsWithdrawnInTheMidst(t *testing.T) {
	const first, second = "The first.", "The second."
	for name, embedded := range map[string]bool{"while it is embedded": false, "when it is embedded and judged": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := &reader{hashed: hashed{64}, at: make(chan struct{}), on: make(chan struct{})}
			if !embedded {
				e.stopAt = second
			}
			judging, judged, judge := make(chan struct{}), make(chan struct{}), make(chan struct{})
			m := &wise{answer: func(_ context.Context, x lifecycle.Experience) (lifecycle.Assessment, error) {
				if x.Text == first {
					close(judging)
					<-judge
				} else {
					close(judged)
				}
				return verdict(x), nil
			}}
			w.opts.Embedder, w.opts.Model, w.opts.Workers = e, m, 2
			c := w.live(t)
			ctx, done := context.WithoutCancel(t.Context()), [3]chan error{}
			begin := func(i int, f func() error) {
				done[i] = make(chan error, 1)
				go func() { done[i] <- f() }()
			}
			write := func(text string) func() error {
				return func() error { _, err := c.Write(ctx, lifecycle.Note{Text: text}); return err }
			}
			begin(0, write(first))
			<-judging
			begin(1, func() error { _, err := c.SetConsent(ctx, said(t, "behavioural.storage=deny"), nil); return err })
			for s := (lifecycle.Status{}); s.Queue < 2; { // behind the first
				var err error
				if s, err = c.Status(ctx); err != nil {
					t.Fatal(err)
				}
			}
			begin(2, write(second))
			if embedded {
				<-judged
			} else {
				<-e.at
			}
			close(judge)
			if err := errors.Join(<-done[0], <-done[1]); err != nil {
				t.Fatal(err)
			}
			close(e.on)
			if err := <-done[2]; !errors.Is(err, lifecycle.ErrWithdrawn) || entriesIn(t, c) != 1 || slices.Contains(m.asked, second) != embedded {
				t.Errorf("%v, %d entries, asked %q", err, entriesIn(t, c), m.asked)
			}
		})
	}
}

// A turn whose answer was still coming when leave was withdrawn is not kept, and that is said.
func TestLeaveIsWithdrawnWhileItIsAnswered(t *testing.T) {
	for name, m := range map[string]*telling{"a model": {wise: &wise{}, says: "Yes."}, "the companion itself": {wise: &wise{}}} {
		w := newWorld(t)
		w.opts.Model = m
		c := w.live(t)
		m.meanwhile = func() { w.says(t, c, "communications.storage=deny") }
		out, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Are you there?"}, func(string) error { return nil })
		if !errors.Is(err, lifecycle.ErrWithdrawn) || out.Receipt != nil || out.Answer == "" || entriesIn(t, c) != 0 {
			t.Errorf("%s: %+v, %v, %d entries", name, out, err, entriesIn(t, c))
		}
	}
}

// telling is a model during whose answer something happens; of no words it is away.
type telling struct {
	*wise
	says      string
	meanwhile func()
}

func (m *telling) Chat(_ context.Context, _ []lifecycle.ChatMessage, _ []tools.Offer, emit func(string) error) (lifecycle.ChatEnd, error) {
	m.meanwhile()
	if m.says == "" {
		return lifecycle.ChatEnd{}, lifecycle.ErrModelAway
	}
	return lifecycle.ChatEnd{}, emit(m.says)
}
