package chitta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/internal/ledger"
)

// rewriteName is the database that is to take the place of the present one.
// One that a crash left behind is removed at the next start.
const rewriteName = FileName + ".rewrite"

// rewritten is a new database, complete and on disk, but not in its place yet.
type rewritten struct {
	db   *bolt.DB
	file *os.File
	meta Meta
	// last is the sequence of its last record.
	last uint64
}

// filler writes a new database in transactions of bounded size, without a sync
// each: it counts only when it is whole.
type filler struct {
	ctx   context.Context
	path  string
	db    *bolt.DB
	tx    *bolt.Tx
	bytes int
}

// fillBytes bounds what one transaction holds in memory.
const fillBytes = 8 << 20

func (f *filler) bucket(name []byte) (*bolt.Bucket, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	if f.tx != nil && f.bytes >= fillBytes {
		if err := f.commit(); err != nil {
			return nil, err
		}
	}
	if f.tx == nil {
		var err error
		if f.tx, err = f.db.Begin(true); err != nil {
			return nil, err
		}
		f.bytes = 0
	}
	b, err := f.tx.CreateBucketIfNotExists(name)
	if err != nil {
		return nil, err
	}
	b.FillPercent = 0.95 // filled in order of the keys
	return b, nil
}

func (f *filler) put(name, key, value []byte) error {
	b, err := f.bucket(name)
	if err != nil {
		return err
	}
	f.bytes += len(key) + len(value)
	return b.Put(key, value)
}

func (f *filler) commit() error {
	tx := f.tx
	f.tx = nil
	if tx == nil {
		return nil
	}
	return tx.Commit()
}

func (f *filler) abandon() error {
	var err error
	if f.tx != nil {
		err = f.tx.Rollback()
	}
	return errors.Join(err, f.db.Close(), removeIfThere(f.path))
}

// remove takes a key out again.
func (f *filler) remove(name, key []byte) error {
	b, err := f.bucket(name)
	if err != nil {
		return err
	}
	return b.Delete(key)
}

// newFiller begins a database, in place of what is at path.
func newFiller(ctx context.Context, path string) (*filler, error) {
	if err := removeIfThere(path); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, NoSync: true, NoGrowSync: true})
	if err != nil {
		return nil, err
	}
	return &filler{ctx: ctx, db: db, path: path}, nil
}

// rewrite makes the database that a plan leaves.
func (s *Store) rewrite(ctx context.Context, p *plan, last uint64, x Excision) (r *rewritten, err error) {
	f, err := newFiller(ctx, filepath.Join(s.opts.Dir, rewriteName))
	if err != nil {
		return nil, s.notRewritten(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(s.notRewritten(err), f.abandon())
		}
	}()
	r = &rewritten{meta: s.meta, last: last + 1}
	r.meta.Generation++
	steps := []func(*filler, *plan) error{
		func(f *filler, _ *plan) error {
			return fillMeta(f, r.meta)
		},
		s.fillRows,
		func(f *filler, p *plan) error { return s.fillEvents(f, p, last, x.Progress) },
		s.fillTexts,
		s.fillSources,
		func(f *filler, p *plan) error { return s.fillAmendments(f, p, r.last) },
		func(f *filler, p *plan) error { return s.fillValues(f, p, x) },
	}
	for _, step := range steps {
		if err := step(f, p); err != nil {
			return nil, err
		}
	}
	if err := f.commit(); err != nil {
		return nil, err
	}
	x.Progress("write", 1, 1)
	return r, s.finish(f, r)
}

// finish puts a new database on disk and opens it as a store does.
func (s *Store) finish(f *filler, r *rewritten) error {
	if err := errors.Join(f.db.Sync(), f.db.Close()); err != nil {
		return err
	}
	path := filepath.Join(s.opts.Dir, rewriteName)
	p, err := openPages(path, false)
	if err != nil {
		return err
	}
	r.db, r.file, f.db = p.db, p.file, p.db
	return nil
}

func (s *Store) notRewritten(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Op: "rewrite", Path: filepath.Join(s.opts.Dir, FileName), Err: err,
		Hint: "Nothing has changed. Check that the disk has as much free room as the file is long."}
}

func fillMeta(f *filler, m Meta) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for _, name := range [][]byte{bucketTexts, bucketSources, bucketAmendments, bucketValues} {
		if _, err := f.bucket(name); err != nil {
			return err
		}
	}
	return errors.Join(f.put(bucketMeta, keyMeta, b), f.put(bucketMeta, keyMetaSeal, metaSeal(b)))
}

// fillEvents copies the log without what goes, then says what went.
func (s *Store) fillEvents(f *filler, p *plan, last uint64, progress func(string, uint64, uint64)) error {
	if _, err := f.bucket(events.Bucket()); err != nil {
		return err
	}
	err := events.Each(s.db, 0, last, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return err
		}
		if seq >= p.first || p.buried[seq] || p.wordless[seq] {
			e, err := fold.Decode(seq, payload)
			if err != nil {
				return err
			}
			e, keep := p.apply(e)
			if !keep {
				return nil
			}
			if payload, err = fold.Encode(e); err != nil {
				return err
			}
		}
		progress("write", seq, last)
		return f.put(events.Bucket(), sequenceKey(seq), ledger.Record(seq, payload))
	})
	if err != nil {
		return err
	}
	said := fold.Event{Body: p.record()}
	said.Wall, said.ClockTrusted = s.now()
	data, err := fold.Encode(said)
	if err != nil {
		return err
	}
	if err := f.put(events.Bucket(), sequenceKey(last+1), ledger.Record(last+1, data)); err != nil {
		return err
	}
	b, err := f.bucket(events.Bucket())
	if err != nil {
		return err
	}
	return b.SetSequence(last + 1)
}

// each calls f for everything in a bucket, in order, in short transactions,
// with copies.
func (s *Store) each(bucket []byte, f func(k, v []byte) error) error {
	const page, bytes = 128, 4 << 20
	var after []byte
	for {
		var list [][2][]byte
		err := s.view(func(tx *bolt.Tx) error {
			c := tx.Bucket(bucket).Cursor()
			k, v := c.First()
			if after != nil {
				if k, v = c.Seek(after); k != nil && slices.Equal(k, after) {
					k, v = c.Next()
				}
			}
			for size, last := 0, after; k != nil && len(list) < page && size < bytes; k, v = c.Next() {
				if err := follows(k, last); err != nil {
					return asWritten(err, "a record of %s", bucket)
				}
				size += len(v)
				value, err := copyOf(v)
				if err != nil {
					return asWritten(err, "a record of %s", bucket)
				}
				last = slices.Clone(k)
				list = append(list, [2][]byte{last, value})
			}
			return nil
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, kv := range list {
			after = kv[0]
			if err := f(kv[0], kv[1]); err != nil {
				return err
			}
		}
	}
}

func (s *Store) fillTexts(f *filler, p *plan) error {
	return s.each(bucketTexts, func(k, v []byte) error {
		if p.drop[sequenceOf(k)] || p.buried[sequenceOf(k)] {
			return nil
		}
		if p.wordless[sequenceOf(k)] {
			return f.put(bucketTexts, k, s.sealed(bucketTexts, k, noText))
		}
		data, err := s.opened(bucketTexts, k, v)
		if err != nil {
			return asWritten(err, "text of event %d", sequenceOf(k))
		}
		less, err := p.unsaid(sequenceOf(k), data)
		if err != nil {
			return asWritten(err, "text of event %d", sequenceOf(k))
		}
		if less != nil {
			v = s.sealed(bucketTexts, k, less)
		}
		return f.put(bucketTexts, k, v)
	})
}

// unsaid is what is kept of the entry at seq without what may speak of an experience
// that goes, or of its text: what a model said of it, who was told SOUL.md and what stood around, and
// may have judged long after; and what was answered to it, if that came later than the
// first that goes. nil where nothing changes.
func (p *plan) unsaid(seq uint64, data []byte) ([]byte, error) {
	first, since := p.firstSpokenOf(), p.answersSince
	if first == 0 && since == 0 || bytes.Equal(data, noText) {
		return nil, nil
	}
	var t Text
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, err
	}
	without := t
	without.Summary, without.Reason = "", ""
	if first > 0 && seq > first || since > 0 && seq >= since {
		without.Answer, without.By = "", ""
	}
	if without == t {
		return nil, nil
	}
	return json.Marshal(without)
}

// fillSources copies what was seen of the diary files. An entry that goes keeps
// its key there, so that the file, which still has it, brings nothing back.
func (s *Store) fillSources(f *filler, p *plan) error {
	return s.each(bucketSources, func(k, v []byte) error {
		data, err := s.opened(bucketSources, k, v)
		var src Source
		if err == nil {
			err = json.Unmarshal(data, &src)
		}
		if err != nil {
			return asWritten(err, "record of a diary file")
		}
		for i := range src.Entries {
			if n := src.Entries[i].Sequence; p.drop[n] || p.buried[n] || p.wordless[n] {
				src.Entries[i].Sequence = 0
			}
		}
		if data, err = json.Marshal(src); err != nil {
			return err
		}
		return f.put(bucketSources, k, s.sealed(bucketSources, k, data))
	})
}

func (s *Store) fillAmendments(f *filler, p *plan, said uint64) error {
	err := s.each(bucketAmendments, func(k, v []byte) error {
		if p.drop[sequenceOf(k)] {
			return nil
		}
		return f.put(bucketAmendments, k, v)
	})
	if err != nil {
		return err
	}
	return f.put(bucketAmendments, sequenceKey(said), sequenceKey(said))
}

func (s *Store) fillValues(f *filler, p *plan, x Excision) error {
	var old []Value
	err := s.Values("", func(name string, data []byte) error { old = append(old, Value{name, data}); return nil })
	if err != nil {
		return err
	}
	if !x.Again.Nothing() {
		old = slices.DeleteFunc(old, func(v Value) bool { return v.Name == valueToForget })
	}
	if x.Values != nil {
		if old, err = x.Values(f.ctx, p.Excised, old); err != nil {
			return err
		}
	}
	slices.SortFunc(old, func(a, b Value) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	for _, v := range old {
		if v.Name == "" || len(v.Name) > maxName {
			return fmt.Errorf("value name of %d bytes, must be 1 to %d", len(v.Name), maxName)
		}
		name := []byte(v.Name)
		if err := f.put(bucketValues, name, s.sealed(bucketValues, name, v.Data)); err != nil {
			return err
		}
	}
	return nil
}

// replace puts a new database in the place of the present one. Who reads sees the
// database and what adopt changes as they were, or both as they are now.
func (s *Store) replace(r *rewritten, adopt func()) error {
	path := filepath.Join(s.opts.Dir, FileName)
	s.mu.Lock()
	old, err := s.db.replace(r.db, r.file, func() error { return os.Rename(filepath.Join(s.opts.Dir, rewriteName), path) })
	if err != nil {
		s.mu.Unlock()
		return errors.Join(s.notRewritten(err), r.db.Close(), removeIfThere(filepath.Join(s.opts.Dir, rewriteName)))
	}
	s.meta = r.meta
	adopt()
	s.mu.Unlock()
	// From here on the new one is the store. That its name is on disk is asked
	// for now; where that fails, a power cut may bring the old one back, whole.
	err = atomicfile.SyncDir(s.opts.Dir)
	s.commits.Add(1)
	if e := old.Close(); e != nil {
		s.log.Warn("the database of before was not closed cleanly", "error", e)
	}
	if err != nil {
		return &Error{Op: "rewrite", Path: path, Err: fmt.Errorf("the folder could not be synced: %w", err),
			Hint: "It is done, but a power cut now might undo it. Check the disk and do it again."}
	}
	return nil
}

// CacheDir is the folder of what can be made again. It is another one after
// every removal of events, and those of before are deleted: they hold what is gone.
func (s *Store) CacheDir() string {
	return filepath.Join(s.opts.Dir, "cache", fmt.Sprintf("%d", s.Meta().Generation))
}

// openCaches names the caches that belong to the database, and removes others.
func (s *Store) openCaches() error {
	dir := s.CacheDir()
	s.mu.Lock()
	s.snapshots = ledger.NewSnapshots(filepath.Join(dir, "snapshots"))
	s.rows = openRows(filepath.Join(dir, "vectors"), s.meta)
	s.mu.Unlock()
	return clearExcept(filepath.Dir(dir), filepath.Base(dir))
}

// clearExcept empties a folder but for one name.
func clearExcept(dir, keep string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != keep {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// freshCaches makes the caches of a new database.
func (s *Store) freshCaches() {
	if err := s.openCaches(); err != nil {
		s.log.Warn("old caches could not be removed; it is tried again at the next start", "error", err)
	}
	s.snapshotAt = 0
	if err := s.snapshot(); err != nil {
		s.log.Warn("no snapshot; it is tried again later", "error", err)
		s.snapshotAt = s.state.Sequence
	}
}
