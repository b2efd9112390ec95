package chitta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"
)

// sealSize is the length of the CRC-32C that stands before every text, value and
// record of a diary file since schema 2.
const sealSize = 4

// sealedBuckets are those whose values stand behind a seal. Events have
// checksums of their own, and amendments are compared with the events.
var sealedBuckets = [][]byte{bucketTexts, bucketSources, bucketValues}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errSeal = errors.New("checksum does not match")

// sealOf covers bucket and key too, so that a value in the wrong place shows.
func sealOf(bucket, key, data []byte) uint32 {
	sum := crc32.Checksum(bucket, castagnoli)
	sum = crc32.Update(sum, castagnoli, []byte{0})
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, data)
}

// seal returns data as it stands in its bucket.
func seal(bucket, key, data []byte) []byte {
	out := make([]byte, sealSize, sealSize+len(data))
	binary.LittleEndian.PutUint32(out, sealOf(bucket, key, data))
	return append(out, data...)
}

// unseal checks a value as it stands in its bucket and returns a copy of what
// was sealed. The error does not say what it was; see asWritten.
func unseal(bucket, key, value []byte) ([]byte, error) {
	if len(value) < sealSize || len(value) > longestValue {
		return nil, fmt.Errorf("a length of %d bytes", len(value))
	}
	if binary.LittleEndian.Uint32(value) != sealOf(bucket, key, value[sealSize:]) {
		return nil, errSeal
	}
	return append([]byte{}, value[sealSize:]...), nil
}

// sealed returns data as the store's schema keeps it.
func (s *Store) sealed(bucket, key, data []byte) []byte {
	if s.plain {
		return data
	}
	return seal(bucket, key, data)
}

// opened checks a value of a bucket and returns a copy of what was sealed.
func (s *Store) opened(bucket, key, value []byte) ([]byte, error) {
	if s.plain {
		return copyOf(value)
	}
	return unseal(bucket, key, value)
}

// put writes a value in its place; everything that a bucket beside the log holds
// is written with it or with remove, because a copy that is being made has to
// know.
func (s *Store) put(tx *bolt.Tx, bucket, key, data []byte) error {
	if err := s.sound(tx, bucket, key, false); err != nil {
		return err
	}
	s.touched.add(bucket, key)
	if bucketIsSealed(bucket) {
		data = s.sealed(bucket, key, data)
	}
	return tx.Bucket(bucket).Put(key, data)
}

func (s *Store) remove(tx *bolt.Tx, bucket, key []byte) error {
	if err := s.sound(tx, bucket, key, true); err != nil {
		return err
	}
	s.touched.add(bucket, key)
	return tx.Bucket(bucket).Delete(key)
}

// record appends a record to the log.
func (s *Store) record(tx *bolt.Tx, payload []byte) (uint64, error) {
	next := sequenceKey(tx.Bucket(events.Bucket()).Sequence() + 1)
	if err := s.sound(tx, events.Bucket(), next, false); err != nil {
		return 0, err
	}
	return events.Append(tx, payload)
}

// replaceRecord puts another payload in the place of a record.
func (s *Store) replaceRecord(tx *bolt.Tx, seq uint64, payload []byte) error {
	if err := s.sound(tx, events.Bucket(), sequenceKey(seq), false); err != nil {
		return err
	}
	s.touched.add(events.Bucket(), sequenceKey(seq))
	return events.Replace(tx, seq, payload)
}

func bucketIsSealed(bucket []byte) bool {
	for _, b := range sealedBuckets {
		if string(b) == string(bucket) {
			return true
		}
	}
	return false
}
