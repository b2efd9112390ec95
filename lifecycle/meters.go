package lifecycle

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jivad/jivad/chitta"
)

// The stages of an entry, in the order in which it goes through them.
const (
	StageEmbed = "embed"
	StageJudge = "judge"
	// StageWait is the time in the queue in which nothing is done with it.
	StageWait = "wait"
	// StageStore is the folding and the writing, until it is durable.
	StageStore = "store"
)

// Meters are what a companion measured of itself since it was opened.
type Meters struct {
	// Stages tell how long entries took in each, Entries how long from the queue to
	// the disk.
	Stages  []StageTimes
	Entries Times
	// Interactive and Backlog are what waits in each line of the queue.
	Interactive, Backlog int
	// Read is of the last entry that met an impression, nil before there was one.
	Read *Reading
	// Shares are the character as the last session left it, nil before the first.
	Shares *Shares
	// Transactions counts those that wrote to the store, Syncs those of its file.
	Transactions, Syncs int64
}

// StageTimes are the times of one stage.
type StageTimes struct {
	Stage string
	Times
}

// Times are how long something took, as a histogram.
type Times struct {
	// Counts are one for each of TimeBounds, and at the end those above all.
	Counts []uint64
	Sum    time.Duration
}

// TimeBounds are the upper bounds of [Times], inclusive.
func TimeBounds() []time.Duration { return slices.Clone(timeBounds[:]) }

var timeBounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond,
	500 * time.Millisecond, 2 * time.Second, 10 * time.Second, time.Minute,
}

// Reading is what the gate read at an entry; all of it is in [0,1].
type Reading struct {
	// Focus and Theta, the effective threshold, are as in [Receipt].
	Focus, Theta float64
	// LoadTamas and LoadRajas are how heavy and how stirred up the context was.
	LoadTamas, LoadRajas float64
}

// meters gather what Meters tells.
type meters struct {
	mu      sync.Mutex
	stages  map[string]*histogram
	entries histogram
	read    *Reading
}

type histogram struct {
	counts [len(timeBounds) + 1]uint64
	sum    time.Duration
}

func (h *histogram) add(d time.Duration) {
	at, _ := slices.BinarySearch(timeBounds[:], d)
	h.counts[at]++
	h.sum += d
}

func (h *histogram) times() Times { return Times{Counts: slices.Clone(h.counts[:]), Sum: h.sum} }

// took notes how long an entry was in a stage.
func (m *meters) took(stage string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stages == nil {
		m.stages = map[string]*histogram{}
	}
	h := m.stages[stage]
	if h == nil {
		h = &histogram{}
		m.stages[stage] = h
	}
	h.add(d)
}

// folded notes an entry that is durable.
func (m *meters) folded(r chitta.Result, queued time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries.add(time.Since(queued))
	if x := r.Outcome; x.Reading.N > 0 {
		m.read = &Reading{Focus: x.Reading.Focus, Theta: x.Reading.Effective, LoadTamas: x.Load.Inertia, LoadRajas: x.Load.Reactivity}
	}
}

// appendEntry folds and writes an entry with what belongs to it; its result is the last.
func (c *Companion) appendEntry(ctx context.Context, p *prepared, b chitta.Batch) ([]chitta.Result, error) {
	began := time.Now()
	results, err := c.store.Append(ctx, b)
	if err != nil {
		return nil, err
	}
	c.meters.took(StageStore, time.Since(began))
	c.meters.folded(results[len(results)-1], p.queued)
	return results, nil
}

// Meters tells what was measured; it is quick.
func (c *Companion) Meters() Meters {
	out := Meters{
		Interactive: c.queue.waiting(interactive), Backlog: c.queue.waiting(backlog), Transactions: c.store.Commits(), Syncs: c.store.Syncs(),
	}
	none := histogram{}
	c.meters.mu.Lock()
	for _, stage := range []string{StageEmbed, StageJudge, StageWait, StageStore} {
		h := &none
		if has := c.meters.stages[stage]; has != nil {
			h = has
		}
		out.Stages = append(out.Stages, StageTimes{stage, h.times()})
	}
	out.Entries = c.meters.entries.times()
	if r := c.meters.read; r != nil {
		read := *r
		out.Read = &read
	}
	c.meters.mu.Unlock()
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, r := range slices.Backward(c.records) {
		if g := r.GStore; g != nil {
			out.Shares = &Shares{Tamas: g.Tamas * g.Tamas, Rajas: g.Rajas * g.Rajas, Sattva: g.Sattva * g.Sattva}
			break
		}
	}
	return out
}
