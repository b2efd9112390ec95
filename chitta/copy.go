package chitta

import (
	"context"
	"errors"
	"os"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/internal/ledger"
)

// A read transaction that lasts as long as it takes to write a large file to a
// card would have writers wait as soon as the file must grow, and have it grow
// because freed pages cannot be used again. So a copy is made from many short
// looks. Events never change, so they can be read at leisure. Of what stands
// beside them it is noted what changes meanwhile; a last short look at the end
// reads those few again, together with the events that came since. The copy is
// the store at the moment of that look.

// errReplaced: the database was replaced while it was copied.
var errReplaced = errors.New("the database was replaced meanwhile")

// copyTo writes everything that the store holds at one moment into a new
// database. Its pages are filled in order, and none of them holds remains of what
// was there before.
func (s *Store) copyTo(ctx context.Context, path string, progress func(stage string, done, total uint64)) error {
	for {
		err := s.copyOnce(ctx, path, progress)
		if !errors.Is(err, errReplaced) {
			return err
		}
	}
}

func (s *Store) copyOnce(ctx context.Context, path string, progress func(stage string, done, total uint64)) (err error) {
	f, err := newFiller(ctx, path)
	if err != nil {
		return err
	}
	closed := false
	defer func() {
		if err != nil && !closed {
			err = errors.Join(err, f.abandon())
		}
	}()
	c := &copying{s: s, f: f, progress: progress}
	for _, step := range []func() error{c.begin, c.records, c.beside, c.catchUp, f.commit} {
		if err := step(); err != nil {
			if c.moved() {
				return errReplaced
			}
			return err
		}
	}
	if err := f.db.Sync(); err != nil {
		return err
	}
	closed = true
	return errors.Join(f.db.Close(), cutToSize(path))
}

// copying is a copy on its way.
type copying struct {
	s        *Store
	f        *filler
	progress func(stage string, done, total uint64)
	// generation is that of the database that is copied.
	generation uint64
	// beside the log there are these buckets.
	buckets [][]byte
	// done is the last event that was copied, last the last one that there is.
	done, last uint64
}

// begin looks at what there is.
func (c *copying) begin() error {
	return c.s.view(func(tx *bolt.Tx) error {
		if _, err := inspectTrees(tx, c.s.db.file, branches); err != nil {
			return err
		}
		m, err := readMeta(tx)
		if err != nil {
			return err
		}
		c.generation, c.last = m.Generation, events.Last(tx)
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			if string(name) != string(bucketMeta) && string(name) != string(events.Bucket()) {
				c.buckets = append(c.buckets, slices.Clone(name))
			}
			return nil
		})
	})
}

// records copies the events up to the last one that was there when it was asked.
func (c *copying) records() error {
	if _, err := c.f.bucket(events.Bucket()); err != nil {
		return err
	}
	return events.Each(c.s.db, c.done, c.last, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return damaged(err)
		}
		c.done = seq
		c.progress("copy", seq, c.last)
		return c.f.put(events.Bucket(), sequenceKey(seq), ledger.Record(seq, payload))
	})
}

// beside copies what stands beside the log, as it is when it is read.
func (c *copying) beside() error {
	for _, bucket := range c.buckets {
		if _, err := c.f.bucket(bucket); err != nil {
			return err
		}
		err := c.s.each(bucket, func(k, v []byte) error {
			if bucketIsSealed(bucket) {
				if _, err := c.s.opened(bucket, k, v); err != nil {
					return asWritten(err, "%s", nameOf(bucket, k))
				}
			}
			c.progress("copy", c.done, c.last)
			return c.f.put(bucket, k, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// catchUp copies what came and what changed meanwhile.
func (c *copying) catchUp() error {
	const few = 256 // events that the last look may read
	for {
		var last *lastLook
		err := c.s.view(func(tx *bolt.Tx) error {
			if c.last = events.Last(tx); c.last-c.done > few {
				return nil
			}
			last = &lastLook{}
			return last.read(tx, c)
		})
		if err != nil {
			return err
		}
		if last != nil {
			return last.write(c.f)
		}
		if err := c.records(); err != nil {
			return err
		}
	}
}

// moved tells whether the database was replaced since the copy began.
func (c *copying) moved() bool { return len(c.buckets) > 0 && c.s.Meta().Generation != c.generation }

// lastLook is what the last look at the store read.
type lastLook struct {
	events  [][2][]byte
	meta    [][2][]byte
	changed []change
	last    uint64
}

// change is what stands now where something was changed; nil for nothing.
type change struct{ bucket, key, value []byte }

// inTransaction lets what asks for transactions read in the present one.
type inTransaction struct{ tx *bolt.Tx }

func (t inTransaction) View(f func(*bolt.Tx) error) error { return f(t.tx) }

func (l *lastLook) read(tx *bolt.Tx, c *copying) error {
	m, err := readMeta(tx)
	if err != nil {
		return err
	}
	if m.Generation != c.generation {
		return errReplaced
	}
	l.last = tx.Bucket(events.Bucket()).Sequence()
	err = events.Each(inTransaction{tx}, c.done, c.last, func(seq uint64, payload []byte, err error) error {
		if err == nil {
			l.events = append(l.events, [2][]byte{sequenceKey(seq), ledger.Record(seq, payload)})
		}
		return err
	})
	if err != nil {
		return err
	}
	err = tx.Bucket(bucketMeta).ForEach(func(k, v []byte) error {
		l.meta = append(l.meta, [2][]byte{slices.Clone(k), slices.Clone(v)})
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range c.s.touched.list() {
		ch := change{bucket: []byte(p.bucket), key: []byte(p.key)}
		if v := tx.Bucket(ch.bucket).Get(ch.key); v != nil {
			if ch.value, err = copyOf(v); err != nil {
				return asWritten(err, "%s", nameOf(ch.bucket, ch.key))
			}
		}
		l.changed = append(l.changed, ch)
	}
	return nil
}

func (l *lastLook) write(f *filler) error {
	for _, e := range l.events {
		if err := f.put(events.Bucket(), e[0], e[1]); err != nil {
			return err
		}
	}
	for _, m := range l.meta {
		if err := f.put(bucketMeta, m[0], m[1]); err != nil {
			return err
		}
	}
	for _, ch := range l.changed {
		err := error(nil)
		if ch.value == nil {
			err = f.remove(ch.bucket, ch.key)
		} else {
			err = f.put(ch.bucket, ch.key, ch.value)
		}
		if err != nil {
			return err
		}
	}
	b, err := f.bucket(events.Bucket())
	if err != nil {
		return err
	}
	return b.SetSequence(l.last)
}

// cutToSize cuts off what bbolt reserved at the end of a file that it has closed,
// and sees the rest to the disk.
func cutToSize(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := pageSizeOf(file)
	if err != nil {
		return err
	}
	if h := readHeads(file, size).newest(); h.whole {
		if err := file.Truncate(int64(h.limit) * size); err != nil {
			return err
		}
	}
	return file.Sync()
}
