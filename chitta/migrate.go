package chitta

import (
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// migrate brings a store of an older schema to the present one, in one
// transaction and after a backup of the file as it was.
func (s *Store) migrate(ctx context.Context, report FileReport) error {
	backup, err := s.makeBackup(ctx, BackupOptions{}, s.copyRaw, func(f func() error) error { return f() })
	if err != nil {
		return &Error{Op: "open", Path: s.file, Err: fmt.Errorf("the store is of schema %d and would be brought to %d after a backup, which could not be made: %w", report.Schema, schemaVersion, err),
			Hint: "Nothing has changed."}
	}
	m := s.meta
	m.Schema = schemaVersion
	err = s.update(func(tx *bolt.Tx) error {
		for _, bucket := range sealedBuckets {
			if err := sealAll(tx.Bucket(bucket), bucket); err != nil {
				return err
			}
		}
		return putMeta(tx, m)
	})
	if err != nil {
		return &Error{Op: "open", Path: s.file, Err: fmt.Errorf("bring it to schema %d: %w", schemaVersion, err),
			Hint: "Nothing has changed. Check that the disk has as much free room as the file is long."}
	}
	s.meta, s.plain = m, false
	s.log.Info("the store was brought to a newer schema; the file as it was is kept", "schema", m.Schema, "backup", backup.Path)
	return nil
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
