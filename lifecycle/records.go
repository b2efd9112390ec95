package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/reactivation"
	"github.com/jivad/jivad/soul"
)

// sessionRecord is what is kept of one session for ever: its line of the trend
// and why it ended.
type sessionRecord struct {
	soul.Record
	Reason string `json:"reason"`
}

// heritage is what one session hands to the next: its tendencies and the words
// of its identity. Only those of the last two sessions are kept.
type heritage struct {
	Vasanas []vasana.Vasana `json:"vasanas"`
	// Narrative embeds the identity that this session wrote.
	Narrative []float32 `json:"narrative"`
}

// Names of the values in the store.
const (
	valueGiven   = "soul/given"
	valueCurrent = "soul/current"
	prefixRecord = "session/"
)

func recordName(n int) string   { return fmt.Sprintf("session/%08d", n) }
func heritageName(n int) string { return fmt.Sprintf("heritage/%08d", n) }

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

// tendenciesOf are those that session n left; none where they are not kept.
func (c *Companion) tendenciesOf(n int) ([]vasana.Vasana, error) {
	data, err := c.store.Value(heritageName(n))
	if errors.Is(err, chitta.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var h heritage
	err = unmarshal(heritageName(n), data, &h)
	return h.Vasanas, err
}

// heritageOf reads what session n handed on; that of session 0 is the identity
// before any experience. Only the worker may ask: it keeps vectors in c.life.
func (c *Companion) heritageOf(ctx context.Context, n int) (heritage, error) {
	var h heritage
	data, err := c.store.Value(heritageName(n))
	if err == nil {
		return h, unmarshal(heritageName(n), data, &h)
	}
	if !errors.Is(err, chitta.ErrNotFound) {
		return h, err
	}
	if n > 0 {
		// The session before the last two of the store: its tendencies are gone,
		// so ids start anew, and the identity is taken from what it wrote.
		c.log.Warn("no heritage of the session before; tendencies get new ids", "session", n)
	}
	given, err := c.given()
	if err != nil {
		return h, err
	}
	h.Narrative, err = c.identityVector(ctx, soul.Summary{Given: given})
	return h, err
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
