package chitta

import (
	"sync"

	bolt "go.etcd.io/bbolt"
)

// database is the open file, which may be replaced by another while it is read.
type database struct {
	mu sync.RWMutex
	db *bolt.DB
}

// View runs f in a read transaction of the file that is in place now.
func (d *database) View(f func(*bolt.Tx) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.db.View(f)
}

// Update runs f in a write transaction.
func (d *database) Update(f func(*bolt.Tx) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.db.Update(f)
}

// replace puts another file in place once nobody reads, and returns the one of before.
func (d *database) replace(db *bolt.DB) *bolt.DB {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.db
	d.db = db
	return old
}

func (d *database) stats() bolt.Stats {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.db.Stats()
}

func (d *database) close() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.db.Close()
}
