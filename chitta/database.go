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
	// suspect says that damage was met: whoever looks from now on sees first that
	// the pages lead somewhere.
	suspect atomic.Bool
	// syncs counts those of the file.
	syncs atomic.Int64
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
			d.suspect.Store(true)
			if !begun { // what happens later is undone
				d.deaf.Store(true)
			}
			panic(r)
		}
	}()
	return d.noted(d.db.View(func(tx *bolt.Tx) error {
		begun = true
		return d.careful(tx, f)
	}))
}

// careful runs f, where damage was met before only if the pages lead somewhere.
func (d *database) careful(tx *bolt.Tx, f func(*bolt.Tx) error) error {
	if d.suspect.Load() {
		if _, err := inspectTrees(tx, d.file, branches); err != nil {
			return err
		}
	}
	return f(tx)
}

func (d *database) noted(err error) error {
	if errors.Is(damaged(err), ErrDamaged) {
		d.suspect.Store(true)
	}
	return err
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
			d.suspect.Store(true)
			d.mute.Store(true)
			panic(r)
		}
	}()
	before := d.size()
	err := d.db.Update(func(tx *bolt.Tx) error { return d.careful(tx, f) })
	if err == nil {
		d.syncs.Add(2) // the pages, and the one that makes them valid
		if d.size() != before {
			d.syncs.Add(1) // that it grew
		}
	}
	return d.noted(err)
}

// size is the length of the file in bytes, 0 where it cannot be told.
func (d *database) size() int64 {
	info, err := d.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
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
	d.suspect.Store(false)
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
