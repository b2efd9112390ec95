package chitta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// Options say which store to open and how.
type Options struct {
	// Dir is the data folder; it is made with mode 0700 where it is missing.
	Dir string
	// Embedder and Dim name the model whose vectors the store takes. Empty opens
	// a store as it is, for reading and checking.
	Embedder string
	Dim      int
	// Agree, if not nil, is told the embedder that the store records, its dimension
	// and how many impressions it has made, once the store was read and before anything
	// is put in force. It says what Embedder, Dim and Params are to be.
	Agree func(embedder string, dim, impressions int) (Agreement, error)
	// Params are put in force, by an event, where they differ from the store's.
	// Nil keeps the store's.
	Params *fold.Params
	// Socket is told to whoever finds the store in use.
	Socket string
	// Workers bounds the goroutines of a scan; 0 means all cores.
	Workers int
	// SnapshotEvery is the least number of events between two snapshots; 0 means 500.
	SnapshotEvery int
	// Clock tells the wall time and whether it is synchronised; nil means the
	// system's clock, taken as synchronised.
	Clock func() (now time.Time, synchronised bool)
	// Log takes what goes wrong with caches; nil discards it.
	Log *slog.Logger
	// Identity names the companion by what stands beside the store, where the store
	// itself cannot tell; empty where nothing does.
	Identity string
	// LookOnly opens a store as it is, for checking: it is not brought to the
	// present schema, and damage that reading can go round does not keep it shut.
	LookOnly bool
	// Spared, if not nil, names records beside the log whose damage keeps the store from
	// nothing but reading them: whoever keeps them tells of it.
	Spared func(name string) bool
	// Backups is the folder of the automatic backups; empty means backups in Dir.
	Backups string
	// RestoreCommand gives the command that puts a file in the store's place, for
	// messages; nil means one that names Dir.
	RestoreCommand func(file string) string
	// Traces tell that there was a store where none is: then none is begun.
	Traces Traces
}

// Agreement is what a caller puts in force, as Options says of its fields.
type Agreement struct {
	Embedder string
	Dim      int
	Params   *fold.Params
}

const defaultSnapshotEvery = 500

// Store is an open store. Its methods may be called from many goroutines.
type Store struct {
	opts      Options
	db        *database
	snapshots ledger.Snapshots
	rows      *rowFile
	log       *slog.Logger
	// machine names this machine's arithmetic.
	machine string
	// file is where the database lies; plain says that its schema has no seals.
	file  string
	plain bool
	// touched is what changes while a copy is made.
	touched *touched
	// told is nil where the store is only looked at, and while it is opened.
	told *told
	// queue feeds the one committer, alone gives it something to do between two
	// groups; closing ends it.
	queue     chan *request
	alone     chan func()
	closing   chan struct{}
	finished  chan struct{}
	closeOnce sync.Once
	commits   atomic.Int64
	// aheads counts groups that were folded ahead.
	aheads atomic.Int64
	// longestRead is the longest read transaction so far, in nanoseconds.
	longestRead atomic.Int64
	// removed is what Removed counted last.
	removed atomic.Pointer[removals]
	// sounds is the committer's alone.
	sounds sounds

	// mu guards what follows. Only the committer writes, under the lock; it
	// reads without.
	mu         sync.RWMutex
	meta       Meta
	state      *fold.State
	amendments fold.Amendments
	// amended is the last record that amended anything since the start.
	amended uint64
	keys    map[fold.Key]uint64
	// excised are the keys of entries that were taken out, with the record that
	// says so.
	excised map[fold.Key]uint64
	// arithmetic names the machines that the live state went through.
	arithmetic []string
	// checkpoint is the state at the opening of the current session: where a
	// refold after an edit of the day starts.
	checkpoint *fold.State
	// owed are entries that are buried and whose texts are still there.
	owed []uint64
	// snapshotAt is the sequence of the newest snapshot.
	snapshotAt uint64
	started    Start
	broken     error
	// lastWall is the latest wall time on record, Unix milliseconds.
	lastWall int64
}

// Start tells how the state was rebuilt when the store was opened.
type Start struct {
	// Snapshot is the sequence that the fold started from, 0 for the beginning.
	Snapshot uint64
	// Folded is the number of events folded on top.
	Folded uint64
}

// Open opens or creates the store of a folder, rebuilds its state and starts
// taking entries. It fails with ErrLocked within about a second when another
// process owns the store.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.SnapshotEvery <= 0 {
		o.SnapshotEvery = defaultSnapshotEvery
	}
	if o.Clock == nil {
		o.Clock = func() (time.Time, bool) { return time.Now(), true }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := privateDir(o.Dir); err != nil {
		return nil, err
	}
	if err := notALink(filepath.Join(o.Dir, FileName)); err != nil {
		return nil, err
	}
	p, err := openDB(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := clearLeftovers(o.Dir); err != nil {
		return nil, errors.Join(err, p.db.Close())
	}
	s := &Store{
		opts: o, db: &database{db: p.db, file: p.file}, log: o.Log, machine: arithmetic(),
		file: filepath.Join(o.Dir, FileName), touched: &touched{},
		queue:    make(chan *request),
		alone:    make(chan func()),
		closing:  make(chan struct{}),
		finished: make(chan struct{}),
	}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(err, s.db.close())
	}
	s.told = &told{}
	if p.head.text != "" && !p.head.lost {
		var fault error = &Error{Op: "open", Path: s.file, Err: errors.New(p.head.text + "; nothing is missing"),
			Hint: "The next entry writes it anew. Look at the disk: it has lost a page."}
		s.told.fault.Store(&fault)
	}
	s.longestRead.Store(0) // nobody wrote yet
	if o.Embedder != "" || o.Agree != nil && !o.LookOnly {
		s.settle() // what a process owed that a crash ended
	}
	go s.commit()
	if err := s.agree(ctx); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// notALink sees that a store's file is no link: it is replaced when entries are
// taken out, and what the link leads to would stay.
func notALink(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	to, _ := os.Readlink(path)
	return &Error{Op: "open", Path: path, Err: fmt.Errorf("it is a link to %s", to),
		Hint: "Move the file itself there, or make the data folder the link: what is forgotten would stay in the file that it leads to."}
}

// privateDir makes the data folder, closed to other users.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &Error{Op: "create", Path: dir, Err: err, Hint: unwritable(err, "Choose a folder that can be written, with --data.")}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return &Error{Op: "open", Path: dir, Err: err}
	}
	if !info.IsDir() {
		return &Error{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return &Error{Op: "protect", Path: dir, Err: err, Hint: unwritable(err, "The folder must be readable by its owner only.")}
		}
	}
	return nil
}

// load reads what the database says of itself and rebuilds the state.
func (s *Store) load(ctx context.Context) error {
	var report FileReport
	err := s.view(func(tx *bolt.Tx) error { return s.describe(tx, &report) })
	if err == nil && !s.opts.LookOnly && s.Size() <= readWhole {
		err = damaged(s.checkWhole(ctx, &report, CheckOptions{sums: true, spared: s.opts.Spared}))
	}
	if err != nil {
		return s.notOpened(ctx, err)
	}
	if s.meta.Schema < schemaVersion && !s.opts.LookOnly {
		if err := s.migrate(ctx, report); err != nil {
			return err
		}
	}
	last := report.Last
	if s.opts.LookOnly {
		// who looks leaves everything
	} else if err := s.clearLeftovers(); err != nil {
		s.log.Warn("what a crash left behind stays there", "error", err)
	}
	if err := writeOwner(s.opts.Dir, s.opts.Socket); err != nil {
		return &Error{Op: "open", Path: s.opts.Dir, Err: err, Hint: unwritable(err, "Check that the folder can be written and that the disk has room.")}
	}
	if err := s.openCaches(); err != nil {
		s.log.Warn("old caches could not be removed", "error", err)
	}
	if err := damaged(s.rebuild(ctx, last)); err != nil {
		return s.notOpened(ctx, err)
	}
	return nil
}

// readWhole is the size of a file, in bytes, up to which all of it is read and
// checked at every start. A larger one would keep a board waiting: of that the
// beginning is read, each leaf before it is first changed (see sound), and the rest
// when a backup is made, every day.
const readWhole = 64 << 20

// notOpened says why a store is not opened.
func (s *Store) notOpened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := &Error{Op: "open", Path: s.file, Err: err}
	if errors.Is(err, ErrDamaged) {
		out.Hint = s.opts.advice(ctx, s.meta.ID)
	}
	return out
}

// clearLeftovers removes what a process that was killed left behind.
func (s *Store) clearLeftovers() error {
	s.dropVoidCopies()
	for _, path := range s.copies() {
		if sameFileAt(path, s.file) { // a restore came no further than to name it
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return errors.Join(removeTemps(s.opts.BackupFolder(), backupTemp(s.meta.ID)), removeTemps(s.opts.Dir, restoreTemp))
}

// agree puts the caller's embedder and parameters in force, or refuses.
func (s *Store) agree(ctx context.Context) error {
	if s.opts.Agree != nil {
		a, err := s.opts.Agree(s.state.Embedder, s.state.Dim, len(s.state.Impressions))
		if err != nil {
			return &Error{Op: "open", Path: s.opts.Dir, Err: err}
		}
		s.opts.Embedder, s.opts.Dim, s.opts.Params = a.Embedder, a.Dim, a.Params
	}
	var bodies []Entry
	if s.opts.Embedder != "" && (s.state.Embedder != s.opts.Embedder || s.state.Dim != s.opts.Dim) {
		if len(s.state.Impressions) > 0 {
			return &Error{Op: "open", Path: s.opts.Dir,
				Err:  OtherEmbedder("the store's vectors", s.state.Embedder, s.state.Dim, s.opts.Embedder, s.opts.Dim),
				Hint: "Run jivad reembed, which computes all vectors anew, or set the embedder back; the store is never mixed."}
		}
		bodies = append(bodies, Entry{Body: fold.EmbedderChanged{Embedder: s.opts.Embedder, Dim: s.opts.Dim}})
	}
	if p := s.opts.Params; p != nil && *p != s.state.Params {
		bodies = append(bodies, Entry{Body: fold.ParamsChanged{Params: *p}})
	}
	if len(bodies) == 0 {
		return nil
	}
	_, err := s.Append(ctx, Batch{Entries: bodies})
	return err
}

// Close finishes what was accepted, takes a snapshot and releases the file.
func (s *Store) Close(ctx context.Context) error {
	var err error
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.finished
		if s.broken == nil && s.state.Sequence > s.snapshotAt && len(s.owed) == 0 {
			if e := s.snapshot(); e != nil {
				s.log.Warn("no snapshot at the stop; the next start folds a longer tail", "error", e)
			}
		}
		err = errors.Join(removeIfThere(filepath.Join(s.opts.Dir, ownerName)), s.db.close())
	})
	return err
}

// view reads the database, and tells damage as ErrDamaged.
// How long the longest such look took is kept: while one lasts, bbolt cannot use
// freed pages again, and the file grows.
func (s *Store) view(f func(*bolt.Tx) error) error {
	began := time.Now()
	err := s.explained("read", damaged(ledger.View(s.db, f)))
	for took := int64(time.Since(began)); ; {
		longest := s.longestRead.Load()
		if took <= longest || s.longestRead.CompareAndSwap(longest, took) {
			return err
		}
	}
}

// update writes to it. Each commit is counted in the bucket of the store's own
// record: that costs nothing, as it stands in a page that every commit writes, and
// tells later which of the pages in the file was written last.
func (s *Store) update(f func(*bolt.Tx) error) error {
	return damaged(ledger.Update(s.db, func(tx *bolt.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		if err := s.sound(tx, bucketMeta, keyMeta, false); err != nil {
			return err
		}
		_, err := tx.Bucket(bucketMeta).NextSequence()
		return err
	}))
}

// View calls f with the state. f must not keep or change it, and should be
// quick: no event is folded meanwhile.
func (s *Store) View(f func(*fold.State) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return f(s.state)
}

// Snapshot returns a copy of the state that stays as it is now; its vectors are
// shared, not copied.
func (s *Store) Snapshot() *fold.State {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.Clone()
}

// Has tells whether an entry of that key is in the store, and where.
func (s *Store) Has(k fold.Key) (uint64, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seq, ok := s.keys[k]
	return seq, ok
}

// Meta tells the store's id, age and generation.
func (s *Store) Meta() Meta {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.meta
}

// Start tells how the state was rebuilt when the store was opened.
func (s *Store) Start() Start { return s.started }

// Size is the length of the database file in bytes.
func (s *Store) Size() int64 {
	info, err := os.Stat(filepath.Join(s.opts.Dir, FileName))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Commits counts the transactions since the store was opened that wrote what was
// asked for; each costs two syncs, and a third where the file grows.
func (s *Store) Commits() int64 { return s.commits.Load() }

// Syncs counts how often the database's file was synced since it was opened, but for
// writing it anew.
func (s *Store) Syncs() int64 { return s.db.syncs.Load() }

// PageBytes is what was written to the database's pages since it was opened,
// without the file system's own journal.
func (s *Store) PageBytes() int64 {
	st := s.db.stats().TxStats
	return st.GetPageAlloc()
}
