package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jivad/jivad/chitta/fold"
)

// The graph of near impressions costs seconds to make for a large store, so it
// is kept over a restart. It is a cache: anything odd about it and it is made
// again when the next session ends.

func (c *Companion) graphPath() string { return filepath.Join(c.store.CacheDir(), "graph") }

// graphKey ties the file to the vectors and parameters that it was made from.
func (c *Companion) graphKey(s *fold.State) ([]byte, error) {
	params, err := json.Marshal(c.opts.Vasana)
	return fmt.Appendf(nil, "jivad graph 1\n%x %s\n", s.VectorDigest, params), err
}

// saveGraph keeps the graph, where it covers all impressions.
func (c *Companion) saveGraph() error {
	state := c.store.Snapshot()
	if c.life.graph.Len() == 0 || c.life.graph.Len() != len(state.Impressions) {
		return nil
	}
	key, err := c.graphKey(state)
	if err != nil {
		return err
	}
	data, err := c.life.graph.MarshalBinary()
	if err != nil {
		return err
	}
	temp := c.graphPath() + ".tmp"
	if err := os.MkdirAll(filepath.Dir(temp), 0o700); err != nil {
		return err
	}
	err = os.WriteFile(temp, append(key, data...), 0o600)
	if err == nil {
		err = os.Rename(temp, c.graphPath())
	}
	if err != nil { // a full disk wants its room back
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// loadGraph takes the graph of an earlier run, where it fits.
func (c *Companion) loadGraph() {
	data, err := os.ReadFile(c.graphPath())
	if err != nil {
		return
	}
	key, err := c.graphKey(c.store.Snapshot())
	if err != nil || !bytes.HasPrefix(data, key) {
		return
	}
	if err := c.life.graph.UnmarshalBinary(data[len(key):]); err != nil {
		c.log.Warn("the graph of near impressions is made anew", "error", err)
	}
}
