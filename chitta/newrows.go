package chitta

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"math"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// bucketRows keeps the vectors that changes of embedder brought, in pieces: one
// record for all of them would be too large. A piece stands under the sequence of
// its event and its number, four bytes, from 0; it holds a checksum, the
// dimension, and rows of an experience's sequence and its vector. Experiences
// without a row have no place. A store whose embedder never changed has no such
// bucket.
var bucketRows = []byte("rows")

// pieceBytes is about how long one piece is.
const pieceBytes = 256 << 10

const pieceHead = 4 + 4 // checksum, dimension

func pieceKey(event uint64, n uint32) []byte {
	return binary.BigEndian.AppendUint32(sequenceKey(event), n)
}

// pieceChecksum covers the key too, so that a piece in the wrong place shows.
func pieceChecksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// eachRow calls f for the vectors that lie beside the change of embedder at
// event, in order of the experiences' sequences, in short transactions. v is used
// again for the next.
func eachRow(db ledger.Viewer, event uint64, f func(seq uint64, v []float32) error) error {
	var v []float32
	for n := uint32(0); ; n++ {
		key := pieceKey(event, n)
		var piece []byte
		err := ledger.View(db, func(tx *bolt.Tx) error {
			b := tx.Bucket(bucketRows)
			if b == nil {
				return nil
			}
			var err error
			if value := b.Get(key); value != nil {
				piece, err = copyOf(value)
			}
			return err
		})
		if err != nil || piece == nil {
			return damaged(err)
		}
		fault := func(what string) error {
			return fmt.Errorf("%w: vectors of event %d, piece %d: %s", ErrDamaged, event, n, what)
		}
		if len(piece) < pieceHead || binary.LittleEndian.Uint32(piece) != pieceChecksum(key, piece[4:]) {
			return fault("checksum does not match")
		}
		dim := int(binary.LittleEndian.Uint32(piece[4:]))
		size := 8 + 4*dim
		rows := piece[pieceHead:]
		if dim < 1 || dim > 1<<14 || len(rows)%size != 0 {
			return fault("a length that cannot be")
		}
		if len(v) != dim {
			v = make([]float32, dim)
		}
		for ; len(rows) > 0; rows = rows[size:] {
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(rows[8+4*i:]))
			}
			if err := f(binary.LittleEndian.Uint64(rows), v); err != nil {
				return err
			}
		}
	}
}

// rowSum counts rows and takes their digest.
type rowSum struct {
	hash  hash.Hash
	count uint32
	row   []byte
}

func newRowSum() *rowSum { return &rowSum{hash: sha256.New()} }

func (s *rowSum) add(seq uint64, v []float32) []byte {
	s.row = binary.LittleEndian.AppendUint64(s.row[:0], seq)
	for _, x := range v {
		s.row = binary.LittleEndian.AppendUint32(s.row, math.Float32bits(x))
	}
	s.hash.Write(s.row)
	s.count++
	return s.row
}

// on writes count and digest into a change of embedder.
func (s *rowSum) on(b fold.EmbedderChanged) fold.EmbedderChanged {
	b.Stored = s.count
	s.hash.Sum(b.Digest[:0])
	return b
}

// check holds them against what the event says.
func (s *rowSum) check(event uint64, b fold.EmbedderChanged) error {
	if got := s.on(b); got.Stored != b.Stored || got.Digest != b.Digest {
		return s.missing(event, b)
	}
	return nil
}

func (s *rowSum) missing(event uint64, b fold.EmbedderChanged) error {
	return fmt.Errorf("%w: vectors of event %d: %d are there, which are not the %d that were stored", ErrDamaged, event, s.count, b.Stored)
}

// rowWriter writes the vectors of one change of embedder into a new database.
type rowWriter struct {
	f     *filler
	event uint64
	sum   *rowSum
	n     uint32
	piece []byte
}

func newRowWriter(f *filler, event uint64) *rowWriter {
	return &rowWriter{f: f, event: event, sum: newRowSum()}
}

func (w *rowWriter) add(seq uint64, v []float32) error {
	if w.piece == nil {
		w.piece = binary.LittleEndian.AppendUint32(make([]byte, 4, pieceBytes), uint32(len(v)))
	}
	w.piece = append(w.piece, w.sum.add(seq, v)...)
	if len(w.piece) >= pieceBytes {
		return w.flush()
	}
	return nil
}

func (w *rowWriter) flush() error {
	if w.piece == nil {
		return nil
	}
	key := pieceKey(w.event, w.n)
	binary.LittleEndian.PutUint32(w.piece, pieceChecksum(key, w.piece[4:]))
	err := w.f.put(bucketRows, key, w.piece)
	w.n, w.piece = w.n+1, nil
	return err
}

// attach gives a change of embedder the rows for the impressions of the state
// that it is to be folded into: the vector of the newest wording where an entry
// was edited since, else the one that was stored with the event. An impression
// that has neither gets no place. Other events it returns as they are.
func (s *Store) attach(state *fold.State, e fold.Event, amendments *fold.Amendments) (fold.Event, error) {
	b, ok := e.Body.(fold.EmbedderChanged)
	if !ok || len(state.Impressions) == 0 {
		return e, nil
	}
	b.Rows = fold.NewMatrix(b.Dim)
	put := func(stored []float32) error {
		v := amendments.VectorSince(state.Impressions[b.Rows.Len()].Sequence, e.Sequence, b)
		if v == nil {
			v = stored
		}
		if v == nil {
			b.Rows.AppendUnplaced()
			return nil
		}
		return b.Rows.Append(v)
	}
	// waits tells whether the next impression comes before seq, or at it.
	waits := func(seq uint64) bool {
		return b.Rows.Len() < len(state.Impressions) && state.Impressions[b.Rows.Len()].Sequence <= seq
	}
	sum := newRowSum()
	err := eachRow(s.db, e.Sequence, func(seq uint64, v []float32) error {
		sum.add(seq, v)
		for waits(seq - 1) {
			if err := put(nil); err != nil {
				return err
			}
		}
		if waits(seq) {
			return put(v)
		}
		return nil
	})
	for err == nil && waits(math.MaxUint64) {
		err = put(nil)
	}
	if err = errors.Join(err, sum.check(e.Sequence, b)); err != nil {
		return e, err
	}
	e.Body = b
	return e, nil
}

// embedderChanges lists the changes of embedder that brought vectors.
func (s *Store) embedderChanges() (list []fold.Event, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketAmendments).ForEach(func(k, _ []byte) error {
			seq := sequenceOf(k)
			data, err := events.Get(tx, seq)
			if err != nil {
				return err
			}
			e, err := fold.Decode(seq, data)
			if err != nil {
				return asWritten(err, "event %d", seq)
			}
			if _, ok := e.Body.(fold.EmbedderChanged); ok {
				list = append(list, e)
			}
			return nil
		})
	})
	return list, err
}

// fillRows copies the vectors of earlier changes of embedder without those of
// experiences that go, and notes what the events are to say of the rest. Then it
// writes those of the change that the plan makes, if it makes one.
func (s *Store) fillRows(f *filler, p *plan) error {
	changes, err := s.embedderChanges()
	if err != nil {
		return err
	}
	p.left = map[uint64]*rowSum{}
	for _, e := range changes {
		w := newRowWriter(f, e.Sequence)
		err := eachRow(s.db, e.Sequence, func(seq uint64, v []float32) error {
			if p.drop[seq] {
				return nil
			}
			return w.add(seq, v)
		})
		if err := errors.Join(err, w.flush()); err != nil {
			return err
		}
		p.left[e.Sequence] = w.sum
	}
	if p.change != nil {
		return p.change(f)
	}
	return nil
}

// brought tells of an event that is a change of embedder with vectors beside it.
func brought(body fold.Body) bool {
	b, ok := body.(fold.EmbedderChanged)
	return ok && (b.Stored > 0 || b.Digest != [32]byte{})
}

// readRows reads the vectors that changes of embedder brought, and counts them. It
// stops at the first that is not as it was stored. With sums it leaves it at the
// checksum of each piece and at how many there are.
func (s *Store) readRows(ctx context.Context, changes []fold.Event, sums bool) (rows int, err error) {
	for _, e := range changes {
		sum, b := newRowSum(), e.Body.(fold.EmbedderChanged)
		err := eachRow(s.db, e.Sequence, func(seq uint64, v []float32) error {
			if rows++; sums {
				sum.count++
			} else {
				sum.add(seq, v)
			}
			return ctx.Err()
		})
		switch {
		case err != nil:
		case !sums:
			err = sum.check(e.Sequence, b)
		case sum.count != b.Stored:
			err = sum.missing(e.Sequence, b)
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// checkRows says how the vectors are that changes of embedder brought; a store
// without any has nothing to say of them.
func (s *Store) checkRows(ctx context.Context, changes []fold.Event) []Finding {
	if len(changes) == 0 {
		return nil
	}
	rows, err := s.readRows(ctx, changes, false)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return []Finding{{Name: "vectors", Detail: err.Error()}}
	}
	changed := "1 change of embedder"
	if len(changes) > 1 {
		changed = fmt.Sprintf("%d changes of embedder", len(changes))
	}
	return []Finding{{Name: "vectors", OK: true, Detail: fmt.Sprintf("%d rows, brought by %s, all as they were stored", rows, changed)}}
}
