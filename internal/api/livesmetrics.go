package api

import (
	"context"
	"sync"

	"github.com/jivad/jivad/lifecycle"
)

// The states of a life and what can have become of its obligation, in their order; the
// last of an obligation is of those that owe nothing yet.
var (
	lifeStates  = []string{"avyakrta", "conceived", "ready", "active", "withdrawn", "quarantined", "dissolved"}
	obligations = []string{"owed", "drafted", "met", "declined", "discarded", "none"}
)

// livesSum is what is told of lives, added up.
type livesSum struct {
	states, owed  map[string]int
	acts, refused int
}

func (s *livesSum) add(l lifecycle.Life) {
	if s.states == nil {
		s.states, s.owed = map[string]int{}, map[string]int{}
	}
	owed := string(l.Obligation.Status)
	if owed == "" {
		owed = "none"
	}
	s.states[string(l.State)]++
	s.owed[owed]++
	s.acts += l.Spent.Acts
	s.refused += l.Spent.Refused
}

func (s *livesSum) join(other livesSum) {
	for k, n := range other.states {
		s.states[k] += n
	}
	for k, n := range other.owed {
		s.owed[k] += n
	}
	s.acts += other.acts
	s.refused += other.refused
}

// livesMeter adds lives up. Those that are dissolved change no more, and are read once: until
// some are taken out, all of them are read again.
type livesMeter struct {
	mu sync.Mutex
	// settled are the lives up to the one with the number last, all of them dissolved;
	// excisions is how many there were when they were read.
	settled   livesSum
	last      int64
	excisions int
}

// sum adds up all lives; known is of the lineage now.
func (m *livesMeter) sum(ctx context.Context, c Companion, known lifecycle.LineageSummary, excisions int) (livesSum, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if excisions != m.excisions {
		m.settled, m.last, m.excisions = livesSum{}, 0, excisions
	}
	all := livesSum{states: map[string]int{}, owed: map[string]int{}}
	if known.Lives > m.last {
		list, err := c.Lives(ctx, int(known.Lives-m.last))
		if err != nil {
			return all, err
		}
		before := m.last
		open := false
		for i := len(list) - 1; i >= 0; i-- { // the newest come first
			l := list[i]
			if l.Sequence <= before {
				continue // some between were taken out
			}
			if open = open || string(l.State) != "dissolved"; open {
				all.add(l)
				continue
			}
			m.settled.add(l)
			m.last = l.Sequence
		}
	}
	all.join(m.settled)
	return all, nil
}

// livesMetrics tells of lives and of what they left: numbers, and nothing of what was done.
func livesMetrics(c Companion) Collector {
	meter := &livesMeter{}
	return func(ctx context.Context) ([]Family, error) {
		known, err := c.Lineage(ctx)
		if err != nil {
			return nil, err
		}
		excisions, err := c.Excisions(ctx)
		if err != nil {
			return nil, err
		}
		out := []Family{
			Gauge("jivad_rules", "Rules that lives have left, as the lineage has them now.", float64(known.Rules)),
			Gauge("jivad_rules_contested", "Rules of which lives say both.", float64(known.Contested)),
			Gauge("jivad_distillates", "Distillates of lives in the lineage.", float64(known.Distillates)),
			Gauge("jivad_excisions", "Excisions that were made of lives.", float64(len(excisions))),
			Gauge("jivad_lives_waiting", "Lives that wait for a judgement, or to be distilled.", float64(known.Waiting)),
			Gauge("jivad_birth_lacks", "What the last birth lacked; 0 where it did not fail.", float64(len(known.Missing))),
		}
		sum, err := meter.sum(ctx, c, known, len(excisions))
		if err != nil {
			return out, err
		}
		states := Family{Name: "jivad_lives", Kind: "gauge", Help: "Lives of this device by state.", Samples: byLabel("state", lifeStates, sum.states)}
		owed := Family{Name: "jivad_lives_obligation", Kind: "gauge", Help: "Lives by what has become of their one obligation, to be distilled.", Samples: byLabel("status", obligations, sum.owed)}
		return append(out, states, owed,
			Gauge("jivad_acts", "Acts that lives were permitted.", float64(sum.acts)),
			Gauge("jivad_refusals", "Acts that lives were refused.", float64(sum.refused))), nil
	}
}

// byLabel are samples of all the values that a label can have.
func byLabel(label string, values []string, n map[string]int) []Sample {
	out := make([]Sample, len(values))
	for i, v := range values {
		out[i] = Sample{Labels: []string{label, v}, Value: float64(n[v])}
	}
	return out
}
