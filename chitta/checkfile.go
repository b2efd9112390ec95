package chitta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// FileReport tells what a store's file holds.
type FileReport struct {
	Path  string
	Bytes int64
	// ID names the store that it is of.
	ID         string
	Schema     int
	Generation uint64
	// Last is the sequence of the last record, Written its wall time; zero where
	// the file holds no record.
	Last    uint64
	Written time.Time
	// Records and Texts count what was read and found whole; 0 after a quick look.
	Records uint64
	Texts   int
	// Folded is the number of impressions, where the log was folded.
	Folded int
}

// CheckOptions say how much of a file is read.
type CheckOptions struct {
	// Quick reads what leads to the records, and not the records.
	Quick bool
	// FoldWithin folds the log too, where that should take no longer.
	FoldWithin time.Duration
	// Progress, if not nil, is told how many records of how many were read.
	Progress func(done, total uint64)
	// sums leaves it at the checksums of experiences, which this program wrote.
	sums bool
	// spared are records beside the log that may be damaged.
	spared func(name string) bool
}

// CheckFile reads a store's file that no process has open and sees that it is
// whole: pages, every record, every text and value. It changes nothing. Its
// errors are those of [Open].
func CheckFile(ctx context.Context, path string, o CheckOptions) (FileReport, error) {
	s, report, err := openFile(path)
	if err != nil {
		return report, err
	}
	err = func() error {
		if o.Quick {
			return nil
		}
		return s.checkWhole(ctx, &report, o)
	}()
	if err = errors.Join(err, s.db.close()); err != nil && ctx.Err() == nil {
		err = &Error{Op: "read", Path: path, Err: damaged(err)}
	}
	return report, err
}

// openFile opens a store's file for reading and no more. It follows what leads
// to the records, and reads what the file says of itself.
func openFile(path string) (*Store, FileReport, error) { return openFileTo(path, true) }

// openFileTo is openFile, for writing too unless it is only to be read.
func openFileTo(path string, readOnly bool) (*Store, FileReport, error) {
	report := FileReport{Path: path}
	fail := func(err error) (*Store, FileReport, error) {
		return nil, report, &Error{Op: "read", Path: path, Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fail(bare(err))
	case !info.Mode().IsRegular():
		return fail(errors.New("not a file"))
	case info.Size() == 0:
		return fail(fmt.Errorf("%w: the file is empty", ErrDamaged))
	}
	report.Bytes = info.Size()
	p, err := openPages(path, readOnly)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fail(fmt.Errorf("%w by another process", ErrLocked))
	case err != nil && ofSystem(err):
		return fail(bare(err))
	case err != nil:
		return fail(asDamage(err))
	}
	s := &Store{
		opts: Options{Dir: filepath.Dir(path), Workers: runtime.GOMAXPROCS(0)}, db: &database{db: p.db, file: p.file},
		touched: &touched{}, log: slog.New(slog.DiscardHandler), machine: arithmetic(), file: path,
	}
	if p.head.text != "" {
		err = fmt.Errorf("%w: %s", ErrDamaged, p.head.text)
	} else {
		err = s.view(func(tx *bolt.Tx) error { return s.describe(tx, &report) })
	}
	if err != nil {
		return fail(errors.Join(err, p.db.Close()))
	}
	return s, report, nil
}

// describe reads what the file says of itself.
func (s *Store) describe(tx *bolt.Tx, report *FileReport) error {
	var err error
	if s.meta, err = readMeta(tx); err != nil {
		return err
	}
	s.plain = s.meta.Schema < firstSealed
	report.ID, report.Schema, report.Generation, report.Last = s.meta.ID, s.meta.Schema, s.meta.Generation, events.Last(tx)
	if report.Last > 0 {
		if err := s.readLastWall(tx, report.Last); err != nil {
			return err
		}
		report.Written = time.UnixMilli(s.lastWall).UTC()
	}
	return s.readAmendments(tx)
}

// checkWhole reads all of a file. Nobody else has it open, so a long look harms
// nobody.
func (s *Store) checkWhole(ctx context.Context, report *FileReport, o CheckOptions) error {
	if err := s.view(func(tx *bolt.Tx) error { return inspect(tx, s.file, everything) }); err != nil {
		return err
	}
	in, err := s.checkLog(ctx, report, o)
	if err != nil {
		return err
	}
	if err := s.checkAmendments(in.noted, report.Last); err != nil {
		return err
	}
	if _, err := s.readRows(ctx, in.changes, o.sums); err != nil {
		return err
	}
	texts, err := s.checkSealed(ctx, o.spared)
	if err != nil {
		return err
	}
	report.Texts = texts
	if o.FoldWithin <= 0 || costOf(int(report.Records), s.dimension()) > o.FoldWithin {
		return nil
	}
	state := fold.NewState()
	if err := s.replay(ctx, state, report.Last, &s.amendments, hooks{}); err != nil {
		return err
	}
	report.Folded = len(state.Impressions)
	return nil
}

// checkLog reads every record and stops at the first that is not as it was
// written. It returns what must stand beside them.
func (s *Store) checkLog(ctx context.Context, report *FileReport, o CheckOptions) (in inLog, err error) {
	err = events.Each(s.db, 0, report.Last, func(seq uint64, payload []byte, err error) error {
		var e fold.Event
		const kind = 1 // where it stands in a record
		if err == nil && (!o.sums || len(payload) <= kind || fold.Kind(payload[kind]) != fold.KindExperienced) {
			e, err = fold.Decode(seq, payload)
		}
		if err != nil {
			return asDamage(err)
		}
		report.Records++
		in.add(e)
		if o.Progress != nil {
			o.Progress(seq, report.Last)
		}
		return ctx.Err()
	})
	return in, err
}

// checkSealed reads every text and record beside the log, and stops at the first
// that is not as it was written and not spared. It counts the texts.
func (s *Store) checkSealed(ctx context.Context, spared func(name string) bool) (texts int, err error) {
	for _, bucket := range sealedBuckets {
		err := s.each(bucket, func(k, v []byte) error {
			data, err := s.opened(bucket, k, v)
			if err != nil && spared != nil && string(bucket) == string(bucketValues) && spared(string(k)) {
				return ctx.Err()
			}
			if err != nil {
				return asWritten(err, "%s", nameOf(bucket, k))
			}
			if string(bucket) == string(bucketTexts) && !bytes.Equal(data, noText) {
				texts++
			}
			return ctx.Err()
		})
		if err != nil {
			return texts, err
		}
	}
	return texts, nil
}

// nameOf says for people what stands under a key; the paths of a person's files
// are not in it.
func nameOf(bucket, key []byte) string {
	switch string(bucket) {
	case string(bucketTexts):
		return fmt.Sprintf("text of event %d", sequenceOf(key))
	case string(bucketSources):
		return "record of a diary file"
	}
	return "record " + string(key)
}

// checkAmendments sees that what is noted beside the log, of amendments and of what
// else must be known before a fold, is what is in it up to its record last, so many
// records.
func (s *Store) checkAmendments(inLog int, last uint64) error {
	return s.view(func(tx *bolt.Tx) error {
		noted := 0
		err := tx.Bucket(bucketAmendments).ForEach(func(k, v []byte) error {
			if sequenceOf(k) > last {
				return nil // came later
			}
			data, err := events.Get(tx, sequenceOf(k))
			if err != nil {
				return asWritten(err, "amendment %d", sequenceOf(k))
			}
			e, err := fold.Decode(sequenceOf(k), data)
			if err != nil {
				return asWritten(err, "amendment %d", sequenceOf(k))
			}
			if isNoted(e.Body) {
				noted++
			}
			if t := targetOf(e.Body); t != 0 && t != sequenceOf(v) {
				return fmt.Errorf("%w: record %d is noted as an amendment of %d and amends %d", ErrDamaged, sequenceOf(k), sequenceOf(v), t)
			}
			return nil
		})
		if err == nil && noted != inLog {
			err = fmt.Errorf("%w: %d amendments are noted of %d in the log", ErrDamaged, noted, inLog)
		}
		return err
	})
}

// isNoted tells of records that are noted beside the log: amendments, what was
// taken out, and changes of embedder that brought vectors.
func isNoted(body fold.Body) bool {
	_, excised := body.(fold.Excised)
	return excised || targetOf(body) != 0 || brought(body)
}

// dimension is that of the vectors, as the first experience has it.
func (s *Store) dimension() (n int) {
	found := errors.New("found")
	_ = events.Each(s.db, 0, ^uint64(0), func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return err
		}
		if e, err := fold.Decode(seq, payload); err == nil {
			if x, ok := e.Body.(fold.Experienced); ok {
				n = len(x.Embedding)
				return found
			}
		}
		return nil
	})
	return n
}

// bare takes the path off an error of the file system; it is said elsewhere.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// ofSystem tells of errors of the system, which say nothing of the file's bytes.
// That a disk cannot read what was written is damage.
func ofSystem(err error) bool {
	var number syscall.Errno
	return errors.As(err, &number) && number != syscall.EIO && !errors.Is(err, ledger.ErrPages)
}
