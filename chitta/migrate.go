package chitta

import (
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// migrate brings a store of an older schema to the present one, in one
// transaction and after a backup of the file as it was.
func (s *Store) migrate(ctx context.Context, report FileReport) error {
	backup, err := s.makeBackup(ctx, BackupOptions{}, func(_ context.Context, path string) error { return s.copyRaw(path) }, func(f func() error) error { return f() })
	if err != nil {
		return &Error{Op: "open", Path: s.file, Err: fmt.Errorf("the store is of schema %d and would be brought to %d after a backup, which could not be made: %w", report.Schema, schemaVersion, err),
			Hint: "Nothing has changed."}
	}
	m := s.meta
	m.Schema = schemaVersion
	err = s.forward(ctx, m, report.Last)
	if ctx.Err() != nil || errors.Is(err, ErrDamaged) {
		return s.notOpened(ctx, err)
	}
	if err != nil {
		return &Error{Op: "open", Path: s.file, Err: fmt.Errorf("bring it to schema %d: %w", schemaVersion, err),
			Hint: "Nothing has changed. Check that the disk has as much free room as the file is long."}
	}
	s.meta, s.plain = m, false
	s.log.Info("the store was brought to a newer schema; the file as it was is kept", "schema", m.Schema, "backup", backup.Path)
	return nil
}

// forward seals what stands beside the log, where it is of schema 1; of schema 2 all
// is as it should be. Schema 1 had nothing in the place of a
// text that was not to be kept. That now says of an entry that it is buried, and
// schema 1 buried none, so each of them gets the mark that it has today.
func (s *Store) forward(ctx context.Context, m Meta, last uint64) error {
	if s.Size() > readWhole { // else it was read already
		if err := s.view(func(tx *bolt.Tx) error { return inspect(tx, s.file, everything) }); err != nil {
			return err
		}
	}
	if !s.plain {
		return s.update(func(tx *bolt.Tx) error { return putMeta(tx, m) })
	}
	unmarked, err := s.textless(ctx, last)
	if err != nil {
		return err
	}
	return s.update(func(tx *bolt.Tx) error {
		for _, seq := range unmarked {
			if err := tx.Bucket(bucketTexts).Put(sequenceKey(seq), noText); err != nil {
				return err
			}
		}
		for _, bucket := range sealedBuckets {
			if err := sealAll(tx.Bucket(bucket), bucket); err != nil {
				return err
			}
		}
		return putMeta(tx, m)
	})
}

// textless lists the entries that were written without a text.
func (s *Store) textless(ctx context.Context, last uint64) (entries []uint64, err error) {
	err = events.Each(s.db, 0, last, func(seq uint64, payload []byte, err error) error {
		var e fold.Event
		if err == nil {
			e, err = fold.Decode(seq, payload)
		}
		if err != nil {
			return asDamage(err)
		}
		if _, ok := e.Body.(fold.Experienced); ok {
			entries = append(entries, seq)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	err = s.view(func(tx *bolt.Tx) error {
		texts := tx.Bucket(bucketTexts)
		entries = slices.DeleteFunc(entries, func(seq uint64) bool { return texts.Get(sequenceKey(seq)) != nil })
		return nil
	})
	return entries, err
}

// sealAll puts seals before the values of a bucket.
func sealAll(b *bolt.Bucket, name []byte) error {
	var keys [][]byte
	err := b.ForEach(func(k, _ []byte) error { keys = append(keys, slices.Clone(k)); return nil })
	for _, k := range keys {
		if err != nil {
			return err
		}
		value, e := copyOf(b.Get(k))
		if e != nil {
			return asWritten(e, "%s", nameOf(name, k))
		}
		err = errors.Join(err, b.Put(k, seal(name, k, value)))
	}
	return err
}
