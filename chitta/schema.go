package chitta

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/internal/ledger"
)

const (
	// FileName is the database inside the data folder.
	FileName  = "chitta.db"
	ownerName = "owner.json"
	// schemaVersion 2 put seals before texts, records of diary files and values,
	// and a mark in the place of a text that was not to be kept; 3 has changes of model
	// in the log, which a program of before cannot read.
	schemaVersion = 3
	firstSealed   = 2
	lockTimeout   = time.Second
)

// Buckets of the database. Events have their own, through the ledger.
var (
	bucketMeta       = []byte("meta")
	bucketTexts      = []byte("texts")
	bucketSources    = []byte("sources")
	bucketAmendments = []byte("amendments")
	bucketValues     = []byte("values")
)

var events = ledger.NewLog("events")

// Keys of the meta bucket. The seal stands beside the record and not in it, so
// that a program of schema 1 can still read which schema it is.
var (
	keyMeta     = []byte("meta")
	keyMetaSeal = []byte("seal")
)

// metaSeal is what stands beside the record of the meta bucket since schema 2.
func metaSeal(record []byte) []byte { return seal(bucketMeta, keyMeta, record)[:sealSize] }

// Meta is what a store knows of itself from its first moment.
type Meta struct {
	Schema int `json:"schema"`
	// ID is minted once; it names the store in its caches and, later, the
	// genesis of its lineage.
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Generation counts removals of events and changes of embedder: caches of an
	// older one are void.
	Generation uint64 `json:"generation"`
}

// create makes a new database beside its place and renames it in, because the
// first pages of a bbolt file are not written safely against a power cut.
func create(path string) (err error) {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(temp))
		}
	}()
	db, err := bolt.Open(temp, 0o600, &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return errors.Join(err, db.Close())
	}
	meta := Meta{Schema: schemaVersion, ID: id.String(), Created: time.Now().UTC().Truncate(time.Second)}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketMeta, bucketTexts, bucketSources, bucketAmendments, bucketValues} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		if err := events.Create(tx); err != nil {
			return err
		}
		return putMeta(tx, meta)
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	// Link, unlike rename, fails when another process was quicker; that one may
	// have taken ours for a leftover.
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) && !isThere(path) {
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}
	return errors.Join(removeIfThere(temp), atomicfile.SyncDir(dir))
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// clearLeftovers removes what a crash left unfinished: databases that were being
// made, one of which may be another name of the store's own file and would keep
// what is forgotten later, and caches that were being written. Whoever calls it
// holds the store.
func clearLeftovers(dir string) error {
	var faults []error
	for _, pattern := range []string{rewriteName, FileName + ".new-*", filepath.Join("cache", "*", "*.tmp"), filepath.Join("cache", "*", "*", "*.tmp")} {
		found, err := filepath.Glob(filepath.Join(quoteGlob(dir), pattern))
		faults = append(faults, err)
		for _, path := range found {
			if err := removeIfThere(path); err != nil {
				faults = append(faults, &Error{Op: "clear", Path: path, Err: err})
			}
		}
	}
	return errors.Join(faults...)
}

// quoteGlob has every letter of a path mean itself.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// openDB opens the database of a folder, or says who holds it.
func openDB(ctx context.Context, o Options) (*pages, error) {
	path := filepath.Join(o.Dir, FileName)
	fail := func(op string, err error, hint string) (*pages, error) {
		return nil, &Error{Op: op, Path: path, Err: err, Hint: hint}
	}
	if err := o.Missing(ctx); err != nil {
		return nil, err // a new store would take the place of one that was there
	}
	if err := create(path); err != nil {
		return fail("create", err, unwritable(err, "Check that the folder can be written and that the disk has room."))
	}
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		// bbolt would make a new store of it.
		return fail("open", fmt.Errorf("%w: the file is empty", ErrDamaged), o.advice(ctx, ""))
	}
	p, err := openPages(path, false)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fail("open", fmt.Errorf("%w by %s", ErrLocked, readOwner(o.Dir)), "Use that daemon, or stop it first.")
	case errors.Is(err, fs.ErrPermission):
		return fail("open", err, unwritable(err, ""))
	case ofSystem(err):
		return fail("open", err, unwritable(err, strings.TrimSpace(leftAsItIs)))
	case err != nil:
		return fail("open", asDamage(err), o.advice(ctx, ""))
	case p.head.lost && !o.LookOnly:
		err := errors.Join(fmt.Errorf("%w: %s", ErrDamaged, p.head.text), p.db.Close())
		return fail("open", err, o.lostAdvice(ctx, path, ""))
	}
	return p, nil
}

// errMoved: another file has come in the place of the one that was opened.
var errMoved = errors.New("the file was replaced while it was being opened")

// openPages opens the file and sees that its pages can be followed. Where they
// cannot, the file and its lock are let go, also when bbolt did not come so far.
// Whoever held the file before may have put another in its place: then that one
// is opened.
func openPages(path string, readOnly bool) (p *pages, err error) {
	const tries = 5
	for range tries {
		if p, err = openThese(path, readOnly); !errors.Is(err, errMoved) {
			break
		}
	}
	return p, err
}

// pages are an open database file.
type pages struct {
	db   *bolt.DB
	file *os.File
	// head is what is wrong with its first two pages.
	head headFault
}

func openThese(path string, readOnly bool) (*pages, error) {
	var db *bolt.DB
	var file *os.File
	o := &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, ReadOnly: readOnly}
	o.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		f, err = os.OpenFile(name, flag, mode)
		if errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == rewriteName {
			// Renamed since; bbolt goes by the name when it copies itself.
			return os.OpenFile(filepath.Join(filepath.Dir(name), FileName), flag, mode)
		}
		file = f
		return f, err
	}
	err := ledger.Guard(func() (err error) {
		db, err = bolt.Open(path, 0o600, o)
		return err
	})
	if err != nil {
		if file != nil {
			// The map of the file, which nobody can undo now, would hold the lock.
			_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
			_ = file.Close() // often closed already
		}
		return nil, err
	}
	p := &pages{db: db, file: file}
	err = ledger.View(db, func(tx *bolt.Tx) (err error) {
		if !sameFile(file, path) {
			return errMoved
		}
		if err := inspect(tx, path, branches); err != nil {
			return err
		}
		if tx.Bucket(bucketMeta) == nil || tx.Bucket(events.Bucket()) == nil {
			return fmt.Errorf("%w: it has no meta bucket", ErrDamaged)
		}
		p.head, err = checkHeads(tx, file)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

// sameFile tells whether an open file is still the one at a path.
func sameFile(file *os.File, path string) bool {
	a, err1 := file.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

func readMeta(tx *bolt.Tx) (Meta, error) {
	var m Meta
	b := tx.Bucket(bucketMeta)
	if b == nil {
		return m, fmt.Errorf("%w: it has no meta bucket", ErrDamaged)
	}
	record := b.Get(keyMeta)
	if err := json.Unmarshal(record, &m); err != nil {
		return m, fmt.Errorf("%w: meta record: %w", ErrDamaged, err)
	}
	own := b.Get(keyMetaSeal)
	if sealed := own != nil; sealed && !bytes.Equal(own, metaSeal(record)) || sealed != (m.Schema >= firstSealed) {
		return m, fmt.Errorf("%w: meta record: %w", ErrDamaged, errSeal)
	}
	if m.Schema > schemaVersion {
		return m, fmt.Errorf("%w: schema %d, this program knows %d", ErrSchema, m.Schema, schemaVersion)
	}
	for _, name := range [][]byte{bucketTexts, bucketSources, bucketAmendments, bucketValues} {
		if tx.Bucket(name) == nil {
			return m, fmt.Errorf("%w: bucket %s is missing", ErrDamaged, name)
		}
	}
	return m, nil
}

func putMeta(tx *bolt.Tx, m Meta) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	bucket := tx.Bucket(bucketMeta)
	return errors.Join(bucket.Put(keyMeta, b), bucket.Put(keyMetaSeal, metaSeal(b)))
}

// owner is who holds the store now; it is information for messages, the lock
// itself is the database's.
type owner struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket,omitempty"`
	Started time.Time `json:"started"`
}

func (o owner) String() string {
	s := fmt.Sprintf("process %d", o.PID)
	if o.Socket != "" {
		s += " (socket " + o.Socket + ")"
	}
	return s
}

func writeOwner(dir, socket string) error {
	b, err := json.Marshal(owner{PID: os.Getpid(), Socket: socket, Started: time.Now().UTC()})
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, ownerName+".tmp")
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, ownerName))
}

func readOwner(dir string) fmt.Stringer {
	var o owner
	b, err := os.ReadFile(filepath.Join(dir, ownerName))
	if err != nil || json.Unmarshal(b, &o) != nil || o.PID == 0 {
		return unknownOwner{}
	}
	return o
}

type unknownOwner struct{}

func (unknownOwner) String() string { return "another process" }

func sequenceKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
