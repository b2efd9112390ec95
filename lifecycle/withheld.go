package lifecycle

import (
	"fmt"
	"maps"

	"github.com/jivad/jivad/lifecycle/consent"
)

// withheld is the kind of data for want of whose leave no text of a note is kept, and what
// to say so that one is; both are empty where leave is given. found is what a model found
// it to be of.
func (c *Companion) withheld(n Note, found string) (kind, allow string) {
	leave := c.leave.now()
	settled := leave.settled(n.Category, found)
	if leave.keep(n.Category, settled) != KeepNone {
		return "", ""
	}
	k := consent.OfEntry(n.Category)
	if leave.grid.Answer(k, consent.Storage) == consent.Allow {
		k = consent.OfEntry(settled)
	}
	return k.String(), allowing(k.String())
}

// allowing is the command that has texts of a kind of data kept and read.
func allowing(kind string) string {
	return fmt.Sprintf("jivad consent set %s.storage=allow %s.access=allow", kind, kind)
}

// counting adds one to a kind, if it is one.
func counting(counts map[string]int, kind string) map[string]int {
	if kind == "" {
		return counts
	}
	if counts == nil {
		counts = map[string]int{}
	}
	counts[kind]++
	return counts
}

// noteWithheld counts an entry of which no text is kept, for status; the log has the kind
// only, and once.
func (c *Companion) noteWithheld(kind string) {
	if kind == "" {
		return
	}
	c.mu.Lock()
	c.without = counting(c.without, kind)
	first := c.without[kind] == 1
	c.mu.Unlock()
	if first {
		c.log.Info("of entries of a kind no text is kept, as there is no leave", "kind", kind, "to_allow", allowing(kind))
	}
}

// withheldSince are the entries of which no text is kept for want of leave, by kind, since
// the start.
func (c *Companion) withheldSince() map[string]int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.without)
}
