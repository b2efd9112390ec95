package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"
)

// What a log can be wrong about.
var (
	// ErrDamaged: a record's bytes are not those that were written.
	ErrDamaged = errors.New("damaged record")
	// ErrNoRecord: nothing stands at that sequence.
	ErrNoRecord = errors.New("no such record")
)

// RecordError names the record that something is wrong with.
type RecordError struct {
	Log      string
	Sequence uint64
	Err      error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("%s, record %d: %v", e.Log, e.Sequence, e.Err)
}
func (e *RecordError) Unwrap() error { return e.Err }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumSize is the length of the CRC-32C that precedes each payload.
const checksumSize = 4

// maxRecord bounds what is copied on the word of a page that may be damaged.
const maxRecord = 16 << 20

// Log is an append-only sequence of payloads in one bbolt bucket.
type Log struct{ bucket string }

// NewLog names a log; [Log.Create] makes its bucket.
func NewLog(bucket string) Log { return Log{bucket} }

// Create makes the bucket where it is missing.
func (l Log) Create(tx *bolt.Tx) error {
	_, err := tx.CreateBucketIfNotExists([]byte(l.bucket))
	return err
}

// Append writes payload behind the last record and returns its sequence, from
// 1. It is durable when the transaction has committed.
func (l Log) Append(tx *bolt.Tx, payload []byte) (uint64, error) {
	b := tx.Bucket([]byte(l.bucket))
	b.FillPercent = 1 // keys only ever grow, so half-empty pages would stay so
	seq, err := b.NextSequence()
	if err != nil {
		return 0, fmt.Errorf("%s: next sequence: %w", l.bucket, err)
	}
	if err := b.Put(key(seq), Record(seq, payload)); err != nil {
		return 0, fmt.Errorf("%s: append: %w", l.bucket, err)
	}
	return seq, nil
}

// Replace puts another payload, with its own checksum, in the place of a record
// that is there.
func (l Log) Replace(tx *bolt.Tx, seq uint64, payload []byte) error {
	b := tx.Bucket([]byte(l.bucket))
	if b.Get(key(seq)) == nil {
		return &RecordError{l.bucket, seq, ErrNoRecord}
	}
	if err := b.Put(key(seq), Record(seq, payload)); err != nil {
		return fmt.Errorf("%s: replace: %w", l.bucket, err)
	}
	return nil
}

// Bucket is the name of the log's bucket, for one who writes a whole log anew.
// Its records stand under their sequences, eight bytes, the most significant first.
func (l Log) Bucket() []byte { return []byte(l.bucket) }

// Record is a payload as it stands at seq in the bucket: behind its checksum.
func Record(seq uint64, payload []byte) []byte {
	record := make([]byte, checksumSize+len(payload))
	binary.LittleEndian.PutUint32(record, checksum(seq, payload))
	copy(record[checksumSize:], payload)
	return record
}

// Get returns a copy of the payload at seq.
func (l Log) Get(tx *bolt.Tx, seq uint64) ([]byte, error) {
	record := tx.Bucket([]byte(l.bucket)).Get(key(seq))
	if record == nil {
		return nil, &RecordError{l.bucket, seq, ErrNoRecord}
	}
	return l.open(seq, record)
}

// Checksum is that of the record at seq, which covers the sequence too; 0 where
// nothing stands.
func (l Log) Checksum(tx *bolt.Tx, seq uint64) uint32 {
	if record := tx.Bucket([]byte(l.bucket)).Get(key(seq)); len(record) >= checksumSize {
		return binary.LittleEndian.Uint32(record)
	}
	return 0
}

// Last is the sequence of the last record, 0 when there is none.
func (l Log) Last(tx *bolt.Tx) uint64 {
	k, _ := tx.Bucket([]byte(l.bucket)).Cursor().Last()
	if len(k) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k)
}

// Count is the number of records.
func (l Log) Count(tx *bolt.Tx) int { return tx.Bucket([]byte(l.bucket)).Stats().KeyN }

// pageRecords bounds how long one read transaction lasts: long readers keep
// bbolt from reusing pages and let the file grow.
const pageRecords = 128

// Each calls f for the records in (after, to], in order, with copies of their
// payloads and outside of any transaction. A damaged record is reported to f as
// an error with a nil payload; f decides whether to go on by returning nil.
func (l Log) Each(db Viewer, after, to uint64, f func(seq uint64, payload []byte, err error) error) error {
	type record struct {
		seq     uint64
		payload []byte
		err     error
	}
	for after < to {
		page := make([]record, 0, pageRecords)
		err := View(db, func(tx *bolt.Tx) error {
			c, last := tx.Bucket([]byte(l.bucket)).Cursor(), after
			for k, v := c.Seek(key(after + 1)); k != nil && len(page) < pageRecords; k, v = c.Next() {
				if len(k) != 8 {
					return &RecordError{l.bucket, after, fmt.Errorf("%w: key of %d bytes", ErrDamaged, len(k))}
				}
				seq := binary.BigEndian.Uint64(k)
				if seq > to {
					break
				}
				if seq <= last { // damage that would have no end
					return &RecordError{l.bucket, last, fmt.Errorf("%w: record %d stands behind it", ErrDamaged, seq)}
				}
				last = seq
				payload, err := l.open(seq, v)
				page = append(page, record{seq, payload, err})
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for _, r := range page {
			if err := f(r.seq, r.payload, r.err); err != nil {
				return err
			}
			after = r.seq
		}
	}
	return nil
}

// open checks a record and returns a copy of its payload.
func (l Log) open(seq uint64, record []byte) ([]byte, error) {
	if len(record) < checksumSize || len(record) > maxRecord {
		return nil, &RecordError{l.bucket, seq, fmt.Errorf("%w: a length of %d bytes", ErrDamaged, len(record))}
	}
	payload := append([]byte(nil), record[checksumSize:]...)
	if binary.LittleEndian.Uint32(record) != checksum(seq, payload) {
		return nil, &RecordError{l.bucket, seq, fmt.Errorf("%w: checksum does not match", ErrDamaged)}
	}
	return payload, nil
}

// checksum covers the sequence too, so that a record in the wrong place shows.
func checksum(seq uint64, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(key(seq), castagnoli), castagnoli, payload)
}

func key(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
