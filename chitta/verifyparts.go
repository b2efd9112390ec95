package chitta

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// checkPages walks the pages of the database. Writing waits meanwhile, because
// bbolt's check reads the list of free pages, which a writer changes.
func (s *Store) checkPages() Finding {
	f := Finding{Name: "database", OK: true}
	var faults []string
	path := filepath.Join(s.opts.Dir, FileName)
	var head headFault
	err := s.update(func(tx *bolt.Tx) (err error) {
		// First by own means: bbolt's check may not come to an end where the
		// pages mislead it.
		if err := inspect(tx, path, everything); err != nil {
			return err
		}
		if head, err = headsAt(tx, path); err != nil || head.text != "" {
			return errors.Join(err, errNothing) // bbolt's check stumbles over it
		}
		for err := range tx.Check() {
			faults = append(faults, err.Error())
		}
		f.Detail = fmt.Sprintf("%d bytes, every page accounted for", tx.Size())
		return errNothing
	})
	switch {
	case err != nil && !errors.Is(err, errNothing):
		f.OK, f.Detail = false, err.Error()
	case len(faults) > 0:
		f.OK, f.Detail = false, fmt.Sprintf("%d faults in the pages: %v", len(faults), faults[:min(3, len(faults))])
	case head.lost:
		f.OK, f.Detail, f.Hint = false, head.text, s.opts.lostAdvice(context.Background(), path, s.meta.ID)
	case head.text != "":
		f.OK, f.Detail = false, head.text+"; nothing is missing"
		f.Hint = "The next entry writes it anew. Look at the disk: it has lost a page."
	}
	return f
}

func headsAt(tx *bolt.Tx, path string) (headFault, error) {
	file, err := os.Open(path)
	if err != nil {
		return headFault{}, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	return checkHeads(tx, file)
}

// inLog is what of the log's records is held against what stands beside it.
type inLog struct {
	// noted counts the records that are noted beside the log too.
	noted int
	// changes are those of the embedder that brought vectors.
	changes []fold.Event
	// sourced are the entries that name their source, ascending.
	sourced []uint64
}

func (in *inLog) add(e fold.Event) {
	if isNoted(e.Body) {
		in.noted++
	}
	if brought(e.Body) {
		in.changes = append(in.changes, e)
	}
	if x, ok := e.Body.(fold.Experienced); ok && x.Source != "" {
		in.sourced = append(in.sourced, e.Sequence)
	}
}

// checkRecords reads every event of the log up to last, and counts them.
func (s *Store) checkRecords(ctx context.Context, last uint64) (f Finding, count uint64, in inLog) {
	var damaged uint64
	var first error
	err := events.Each(s.db, 0, last, func(seq uint64, payload []byte, err error) error {
		count++
		var e fold.Event
		if err == nil {
			e, err = fold.Decode(seq, payload)
		}
		if err == nil {
			in.add(e)
		} else {
			damaged++
			if first == nil {
				first = err
			}
		}
		return ctx.Err()
	})
	if err != nil && first == nil {
		first = err
	}
	if first != nil {
		return Finding{Name: "events", Detail: fmt.Sprintf("%d of %d records are damaged, first: %v", damaged, count, first)}, count, in
	}
	return Finding{Name: "events", OK: true, Detail: fmt.Sprintf("%d records, all checksums match", count)}, count, in
}

// checkBeside reads all that stands beside the log: texts, each of which belongs
// to an event, records, and what is noted of amendments.
func (s *Store) checkBeside(ctx context.Context, in inLog, live *fold.State) []Finding {
	how := "all checksums match"
	if s.plain {
		how = "without checksums, which come with the next start of the daemon"
	}
	a := s.checkTexts(ctx, in.sourced, live, how)
	values, lostValues := s.checkBucket(ctx, bucketValues, nil)
	sources, lostSources := s.checkBucket(ctx, bucketSources, nil)
	b := Finding{Name: "beside", OK: true, Detail: fmt.Sprintf("%d values beside the log, which are no records of it, %s", values+sources, how)}
	if lost := lostValues.and(lostSources); lost.count > 0 {
		b.OK, b.Detail = false, lost.of(values+sources, "values beside the log")
	} else if err := s.checkAmendments(in.noted, live.Sequence); err != nil {
		b.OK, b.Detail = false, err.Error()
	}
	return []Finding{a, b}
}

// losses are what of a bucket is damaged.
type losses struct {
	count int
	first error
}

func (l losses) and(m losses) losses {
	if l.first == nil {
		l.first = m.first
	}
	return losses{l.count + m.count, l.first}
}

func (l losses) of(all int, what string) string {
	return fmt.Sprintf("%d of %d %s are damaged, first: %v", l.count, all, what, l.first)
}

// checkBucket reads every value of a bucket. belongs is given what was sealed.
func (s *Store) checkBucket(ctx context.Context, bucket []byte, belongs func(key, data []byte) error) (all int, lost losses) {
	err := s.each(bucket, func(k, v []byte) error {
		all++
		data, err := s.opened(bucket, k, v)
		if err == nil && belongs != nil {
			err = belongs(k, data)
		}
		if err != nil {
			lost = lost.and(losses{1, fmt.Errorf("%s: %w", nameOf(bucket, k), err)})
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		lost = lost.and(losses{1, err})
	}
	return all, lost
}
