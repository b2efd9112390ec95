package lifecycle

import (
	"sort"

	"github.com/jivad/jivad/chitta/fold"
)

// rowAt is the row of the first impression that stands at seq of the log or
// later; the number of rows when there is none.
func rowAt(s *fold.State, seq uint64) int {
	return sort.Search(len(s.Impressions), func(i int) bool { return s.Impressions[i].Sequence >= seq })
}

// rowOf is the row of the impression that the event at seq made, or false.
func rowOf(s *fold.State, seq uint64) (int, bool) {
	i := rowAt(s, seq)
	return i, i < len(s.Impressions) && s.Impressions[i].Sequence == seq
}

// linkOf is the link that the event at seq left, or false.
func linkOf(s *fold.State, seq uint64) (fold.Link, bool) {
	i := sort.Search(len(s.Links), func(i int) bool { return s.Links[i].Sequence >= seq })
	if i < len(s.Links) && s.Links[i].Sequence == seq {
		return s.Links[i], true
	}
	return fold.Link{}, false
}

// forgetRows tells everything derived from the vectors that they changed from
// row on.
func (c *Companion) forgetRows(row int) {
	c.life.graph.Truncate(row)
	c.life.terms = nil
	c.indexing.Lock()
	defer c.indexing.Unlock()
	c.index.Truncate(row)
}
