package builtin

import (
	"sync"
	"sync/atomic"
)

// crew counts who works at texts, so that a processor with nothing to do helps with
// one text, and none is asked to where each has a text of its own.
type crew struct {
	busy atomic.Int32
	// most is how many may be busy, the processors.
	most int32
}

// begin is called for every text, leave when it is done.
func (c *crew) begin() { c.busy.Add(1) }

func (c *crew) leave() {
	if c != nil {
		c.busy.Add(-1)
	}
}

// join says whether one more may help, who then has to leave.
func (c *crew) join() bool {
	if c == nil || c.busy.Load() >= c.most {
		return false
	}
	if c.busy.Add(1) > c.most {
		c.busy.Add(-1)
		return false
	}
	return true
}

// worthHelp is the least work, in multiplications, that is worth to wake somebody for:
// about 0.1 ms of one processor.
const worthHelp = 1 << 21

// share calls do for each part from 0 up to n, each of that many multiplications, on as
// many processors as are free. Every call has working memory for stepWeights weights
// that nobody else uses meanwhile. Who comes late finds nothing left to do.
func (s *useScratch) share(n, multiplications int, do func(part int, unpacked []float32)) {
	if 2*worthHelp > n*multiplications || !s.crew.join() {
		for part := range n {
			do(part, s.rows)
		}
		return
	}
	var next atomic.Int32
	work := func(unpacked []float32) {
		for part := int(next.Add(1)) - 1; part < n; part = int(next.Add(1)) - 1 {
			do(part, unpacked)
		}
	}
	var wait sync.WaitGroup
	for k := 0; ; k++ {
		if k == len(s.spare) {
			s.spare = append(s.spare, make([]float32, stepWeights))
		}
		unpacked := s.spare[k]
		wait.Go(func() {
			defer s.crew.leave()
			work(unpacked)
		})
		if (k+3)*worthHelp > n*multiplications || !s.crew.join() {
			break
		}
	}
	work(s.rows)
	wait.Wait()
}
