package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/reactivation"
	"github.com/jivad/jivad/soul"
)

// sessionRecord is what is kept of one session for ever: its line of the trend
// and why it ended.
type sessionRecord struct {
	soul.Record
	Reason string `json:"reason"`
}

// Names of the values in the store.
const (
	valueGiven   = "soul/given"
	valueCurrent = "soul/current"
	prefixRecord = "session/"
)

func recordName(n int) string { return fmt.Sprintf("session/%08d", n) }

// unmarshal reads a record of the store. Only whole ones are written, so one
// that cannot be read is damaged.
func unmarshal(name string, data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: record %s: %w", chitta.ErrDamaged, name, err)
	}
	return nil
}

// readRecords loads the trend.
func (c *Companion) readRecords() error {
	var records []sessionRecord
	err := c.store.Values(prefixRecord, func(name string, data []byte) error {
		var r sessionRecord
		if err := unmarshal(name, data, &r); err != nil {
			return err
		}
		records = append(records, r)
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records = records
	return err
}

// record returns the record of session n.
func (c *Companion) record(n int) (sessionRecord, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, ok := slices.BinarySearchFunc(c.records, n, func(r sessionRecord, n int) int { return r.Session - n })
	if !ok {
		return sessionRecord{}, false
	}
	return c.records[i], true
}

// keepRecord puts a record in its place in memory.
func (c *Companion) keepRecord(r sessionRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := slices.BinarySearchFunc(c.records, r.Session, func(r sessionRecord, n int) int { return r.Session - n })
	if ok {
		c.records[i] = r
		return
	}
	c.records = slices.Insert(c.records, i, r)
}

// before returns the trend of the sessions before n.
func (c *Companion) before(n int) []soul.Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []soul.Record
	for _, r := range c.records {
		if r.Session < n {
			out = append(out, r.Record)
		}
	}
	return out
}

func (c *Companion) given() (string, error) {
	data, err := c.store.Value(valueGiven)
	if errors.Is(err, chitta.ErrNotFound) {
		return "", nil
	}
	return string(data), err
}

func sharesOf(g reactivation.Guna) Shares { return Shares(g.Shares()) }

func mean(sum float64, n uint32) *float64 {
	if n == 0 {
		return nil
	}
	x := sum / float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
