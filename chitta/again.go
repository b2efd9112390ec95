package chitta

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// What was taken out of a store stays out where a copy of before is put in its
// place. The copy gets a note of the wordings that are to go, before it has the
// store's name; Excise takes them out and the note with them.

// valueToForget names the note: keys, one behind the other.
const valueToForget = "chitta/to-forget"

// ToForget are the wordings of entries that were taken out of the store in whose
// place this one was put, and are to be taken out of this one too: see
// [Excision.Wordings]. Mostly there are none.
func (s *Store) ToForget() ([]fold.Key, error) {
	data, err := s.Value(valueToForget)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	const size = len(fold.Key{})
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%w: a note of what to forget of %d bytes", ErrDamaged, len(data))
	}
	var out []fold.Key
	for key := range slices.Chunk(data, size) {
		out = append(out, fold.Key(key))
	}
	return out, nil
}

// forgotten tells of each wording that was taken out of the store, or is to be,
// whether that still holds: it may have been written anew since.
func (s *Store) forgotten(ctx context.Context, last uint64) (map[fold.Key]bool, error) {
	out := make(map[fold.Key]bool, len(s.excised))
	for k := range s.excised {
		out[k] = true
	}
	if len(out) > 0 {
		err := s.wordings(ctx, last, func(seq, _ uint64, k fold.Key) error {
			if at, ok := s.excised[k]; ok && seq > at {
				out[k] = false
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	owed, err := s.ToForget()
	for _, k := range owed {
		out[k] = true
	}
	return out, err
}

// wordings calls f for each wording that the log has of an entry: the record that
// brings it, and the entry's.
func (s *Store) wordings(ctx context.Context, last uint64, f func(seq, entry uint64, k fold.Key) error) error {
	return events.Each(s.db, 0, last, func(seq uint64, payload []byte, err error) error {
		var e fold.Event
		if err == nil {
			e, err = fold.Decode(seq, payload)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case fold.Experienced:
			return f(seq, seq, b.Key)
		case fold.Superseded:
			return f(seq, b.Target, b.Key)
		}
		return nil
	})
}

// entriesWith are the entries that have, or had, one of the wordings, in order.
func (s *Store) entriesWith(ctx context.Context, last uint64, wordings []fold.Key) ([]uint64, error) {
	wanted := make(map[fold.Key]bool, len(wordings))
	for _, k := range wordings {
		wanted[k] = true
	}
	var out []uint64
	err := s.wordings(ctx, last, func(_, entry uint64, k fold.Key) error {
		if wanted[k] {
			out = append(out, entry)
		}
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out), err
}

// forgetAgain notes in the copy what was taken out of the store that it is to
// replace, as far as the copy has not forgotten it too.
func (r *restoring) forgetAgain() (err error) {
	if r.o.WithForgotten || r.itself() {
		return nil
	}
	wordings, err := r.forgottenSince()
	if err != nil || len(wordings) == 0 {
		return err
	}
	s, report, err := openFileTo(r.temp, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.close()) }()
	own, err := s.forgotten(r.ctx, report.Last)
	if err != nil {
		return err
	}
	owed, err := s.ToForget()
	if err != nil {
		return err
	}
	wordings = slices.DeleteFunc(wordings, func(k fold.Key) bool { return own[k] })
	if len(wordings) == 0 {
		return nil
	}
	entries, err := s.entriesWith(r.ctx, report.Last, wordings)
	if err != nil {
		return err
	}
	r.out.ToForget = len(entries)
	var data []byte
	for _, k := range slices.Concat(owed, wordings) {
		data = append(data, k[:]...)
	}
	return s.update(func(tx *bolt.Tx) error { return s.put(tx, bucketValues, []byte(valueToForget), data) })
}

// forgottenSince is what the store that is there has forgotten, rising. Where it
// cannot be read its other copies are asked, those that a restore replaced too; the
// one that was written last knows best.
func (r *restoring) forgottenSince() ([]fold.Key, error) {
	if r.present.ID != "" && r.present.ID != r.out.ID {
		return nil, nil // another's
	}
	if r.read {
		return still(r.forgotten), nil
	}
	r.out.ForgottenUnknown = r.out.Damage != nil
	type witness struct {
		written time.Time
		keys    map[fold.Key]bool
	}
	var all []witness
	paths, _ := r.o.copies()
	for _, path := range paths {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		keys, report, err := forgottenIn(r.ctx, path)
		if err == nil && report.ID == r.out.ID {
			all = append(all, witness{report.Written, keys})
		}
	}
	slices.SortStableFunc(all, func(a, b witness) int { return a.written.Compare(b.written) })
	out := map[fold.Key]bool{}
	for _, w := range all {
		maps.Copy(out, w.keys)
	}
	return still(out), nil
}

// still are the wordings of which it holds that they are forgotten, rising.
func still(forgotten map[fold.Key]bool) (out []fold.Key) {
	for k, holds := range forgotten {
		if holds {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b fold.Key) int { return slices.Compare(a[:], b[:]) })
	return out
}

// forgottenIn is what the store of a file has forgotten.
func forgottenIn(ctx context.Context, path string) (keys map[fold.Key]bool, report FileReport, err error) {
	s, report, err := openFile(path)
	if err != nil {
		return nil, report, err
	}
	keys, err = s.forgotten(ctx, report.Last)
	return keys, report, errors.Join(err, s.db.close())
}

// copies are the automatic backups of a data folder, and what restores replaced.
func (o Options) copies() (paths []string, err error) {
	list, err := ListBackups(o.BackupFolder())
	for _, b := range list {
		if b.Automatic {
			paths = append(paths, b.Path)
		}
	}
	entries, e := os.ReadDir(o.Dir)
	for _, x := range entries {
		if strings.HasPrefix(x.Name(), replacedPrefix) {
			paths = append(paths, filepath.Join(o.Dir, x.Name()))
		}
	}
	return paths, errors.Join(err, e)
}
