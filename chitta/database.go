package chitta

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/internal/ledger"
)

// database is the open file, which may be replaced by another while it is read.
type database struct {
	mu sync.RWMutex
	db *bolt.DB
	// file is what db reads and writes; closing db closes it.
	file *os.File
	// deaf and mute say that bbolt met damage where it holds locks that nobody can
	// give back now: a next look, or a next write, would wait for ever.
	deaf, mute atomic.Bool
}

var errStuck = errors.New("the database was left off after damage to its pages; start the daemon again when it is mended")

// View runs f in a read transaction of the file that is in place now.
func (d *database) View(f func(*bolt.Tx) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.deaf.Load() {
		return errors.Join(ledger.ErrPages, errStuck)
	}
	begun := false
	defer func() {
		if r := recover(); r != nil {
			if !begun { // what happens later is undone
				d.deaf.Store(true)
			}
			panic(r)
		}
	}()
	return d.db.View(func(tx *bolt.Tx) error {
		begun = true
		return f(tx)
	})
}

// Update runs f in a write transaction.
func (d *database) Update(f func(*bolt.Tx) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.deaf.Load() || d.mute.Load() {
		return errors.Join(ledger.ErrPages, errStuck)
	}
	defer func() {
		if r := recover(); r != nil {
			d.mute.Store(true)
			panic(r)
		}
	}()
	return d.db.Update(f)
}

// replace puts another file in place once nobody reads, and returns the one of
// before. place gives it its name; where that fails, nothing is replaced. Who
// reads by the name and by the pages sees one file, not two.
func (d *database) replace(db *bolt.DB, file *os.File, place func() error) (*bolt.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := place(); err != nil {
		return nil, err
	}
	old := d.db
	d.db, d.file = db, file
	return old, nil
}

func (d *database) stats() bolt.Stats {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.db.Stats()
}

// close lets the file go. Where bbolt is stuck, at least its lock is released.
func (d *database) close() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.deaf.Load() || d.mute.Load() {
		return syscall.Flock(int(d.file.Fd()), syscall.LOCK_UN)
	}
	return d.db.Close()
}
