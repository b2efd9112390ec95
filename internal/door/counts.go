package door

import (
	"cmp"
	"slices"
	"sync"
)

// Count is how often something came out in a way since the door was made.
type Count struct {
	// Endpoint is the last word of the path, such as chat, or other; it is empty for
	// turns.
	Endpoint string
	Outcome  string
	N        uint64
}

// What can become of a request.
const (
	// outcomeWoven: passed on with memory; outcomeOff: without it, as the client
	// asked; outcomeUnwoven: without it, because it could not be had.
	outcomeWoven   = "woven"
	outcomeOff     = "off"
	outcomeUnwoven = "unwoven"
	// outcomePassed: passed on as it came.
	outcomePassed = "passed"
	// outcomeReflected: answered here, without a server; outcomeUnavailable: it
	// could not be.
	outcomeReflected   = "reflected"
	outcomeUnavailable = "unavailable"
	// outcomeRefused: not taken; outcomeFailed: the server failed, or cut its answer;
	// outcomeLeft: the client left before the end.
	outcomeRefused = "refused"
	outcomeFailed  = "failed"
	outcomeLeft    = "left"
)

// What can become of a turn.
const (
	turnRemembered = "remembered"
	turnDuplicate  = "duplicate"
	turnFailed     = "failed"
	turnDropped    = "dropped"
)

// What can become of a call of a tool that a model asks for.
const (
	callDone    = "done"
	callFailed  = "failed"
	callRefused = "refused"
)

// tally counts.
type tally struct {
	mu sync.Mutex
	n  map[[2]string]uint64
}

func (t *tally) add(endpoint, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[[2]string]uint64{}
	}
	t.n[[2]string{endpoint, outcome}]++
}

func (t *tally) list() []Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Count, 0, len(t.n))
	for k, n := range t.n {
		out = append(out, Count{Endpoint: k[0], Outcome: k[1], N: n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Outcome, b.Outcome))
	})
	return out
}

// Requests counts requests by endpoint and outcome: woven, unwoven, off, passed,
// reflected, unavailable, refused, failed, left.
func (d *Door) Requests() []Count { return d.requests.list() }

// Turns counts what became of what was said: remembered, duplicate, failed,
// dropped. Waiting is how many wait.
func (d *Door) Turns() (counts []Count, waiting int) {
	return d.turns.done.list(), d.turns.waiting()
}

// Calls counts what became of the tools that models asked for: done, failed, refused.
func (d *Door) Calls() []Count { return d.calls.list() }

// Held is how many turns wait for the embedder to be back; they are not remembered yet.
func (d *Door) Held() int {
	if !d.turns.held.Load() {
		return 0
	}
	return d.turns.waiting()
}
