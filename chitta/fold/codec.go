package fold

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/jivad/jivad/reactivation"
)

// ErrDecode: bytes that are not an event or a state of this format.
var ErrDecode = errors.New("not readable")

const eventVersion = 1

// Encode writes an event for the log. The sequence is not part of it: it is the
// key under which the log keeps the event.
func Encode(e Event) ([]byte, error) {
	w := writer{b: make([]byte, 0, 256)}
	if e.Body == nil {
		return nil, fmt.Errorf("%w: an event without a body", ErrEvent)
	}
	w.u8(eventVersion)
	w.u8(uint8(e.Body.Kind()))
	w.u64(uint64(e.Wall))
	w.bool(e.ClockTrusted)
	switch b := e.Body.(type) {
	case SessionOpened:
		w.u32(b.Number)
		w.str(b.Date)
	case SessionClosed:
		w.u32(b.Number)
		w.str(b.Reason)
	case Experienced:
		w.raw(b.ID[:])
		w.raw(b.Key[:])
		w.str(b.Date)
		w.str(b.Source)
		w.str(b.Category)
		w.bool(b.AlwaysCreate)
		w.judgement(b.Judgement)
		w.str(b.Embedder)
		w.vector(b.Embedding)
	case Superseded:
		w.u64(b.Target)
		w.raw(b.Key[:])
		w.judgement(b.Judgement)
		w.str(b.Embedder)
		w.vector(b.Embedding)
	case Reassessed:
		w.u64(b.Target)
		w.judgement(b.Judgement)
	case ParamsChanged:
		w.str(string(b.Params.encode()))
	case EmbedderChanged:
		w.embedderChanged(b)
	case Excised:
		w.u32(uint32(len(b.IDs)))
		for _, id := range b.IDs {
			w.raw(id[:])
		}
		w.u32(uint32(len(b.Keys)))
		for _, k := range b.Keys {
			w.raw(k[:])
		}
		w.raw(b.Before[:])
		w.raw(b.After[:])
	case ModelChanged:
		w.str(b.Model)
		w.str(b.Digest)
	default:
		return nil, fmt.Errorf("%w: unknown kind %T", ErrEvent, e.Body)
	}
	return w.b, nil
}

// Decode reads an event that stands at sequence seq of the log. It never
// panics, whatever the bytes.
func Decode(seq uint64, data []byte) (Event, error) {
	r := reader{b: data}
	if v := r.u8(); v != eventVersion && r.err == nil {
		return Event{}, fmt.Errorf("event %d: %w: format %d, this program knows %d", seq, ErrDecode, v, eventVersion)
	}
	kind := Kind(r.u8())
	e := Event{Header: Header{Sequence: seq, Wall: int64(r.u64()), ClockTrusted: r.bool()}}
	switch kind {
	case KindSessionOpened:
		e.Body = SessionOpened{Number: r.u32(), Date: r.str()}
	case KindSessionClosed:
		e.Body = SessionClosed{Number: r.u32(), Reason: r.str()}
	case KindExperienced:
		var b Experienced
		r.raw(b.ID[:])
		r.raw(b.Key[:])
		b.Date, b.Source, b.Category = r.str(), r.str(), r.str()
		b.AlwaysCreate = r.bool()
		b.Judgement = r.judgement()
		b.Embedder = r.str()
		b.Embedding = r.vector()
		e.Body = b
	case KindSuperseded:
		var b Superseded
		b.Target = r.u64()
		r.raw(b.Key[:])
		b.Judgement = r.judgement()
		b.Embedder = r.str()
		b.Embedding = r.vector()
		e.Body = b
	case KindReassessed:
		e.Body = Reassessed{Target: r.u64(), Judgement: r.judgement()}
	case KindParamsChanged:
		p, err := decodeParams([]byte(r.str()))
		if err != nil && r.err == nil {
			r.err = err
		}
		e.Body = ParamsChanged{p}
	case KindEmbedderChanged:
		e.Body = r.embedderChanged()
	case KindExcised:
		var b Excised
		b.IDs = make([]ID, r.count(16))
		for i := range b.IDs {
			r.raw(b.IDs[i][:])
		}
		b.Keys = make([]Key, r.count(16))
		for i := range b.Keys {
			r.raw(b.Keys[i][:])
		}
		r.raw(b.Before[:])
		r.raw(b.After[:])
		e.Body = b
	case KindModelChanged:
		e.Body = ModelChanged{Model: r.str(), Digest: r.str()}
	default:
		r.fail("kind %d", kind)
	}
	if err := r.end(); err != nil {
		return Event{}, fmt.Errorf("event %d: %w", seq, err)
	}
	return e, nil
}

// writer appends little-endian fields to a buffer.
type writer struct {
	b []byte
	// positions says that places in the log are written too.
	positions bool
}

func (w *writer) u8(x uint8)    { w.b = append(w.b, x) }
func (w *writer) u32(x uint32)  { w.b = binary.LittleEndian.AppendUint32(w.b, x) }
func (w *writer) u64(x uint64)  { w.b = binary.LittleEndian.AppendUint64(w.b, x) }
func (w *writer) f64(x float64) { w.u64(math.Float64bits(x)) }
func (w *writer) raw(x []byte)  { w.b = append(w.b, x...) }

func (w *writer) position(sequence uint64) {
	if w.positions {
		w.u64(sequence)
	}
}

func (w *writer) bool(x bool) {
	if x {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

func (w *writer) str(s string) {
	w.u32(uint32(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) optional(x *float64) {
	w.bool(x != nil)
	if x != nil {
		w.f64(*x)
	}
}

func (w *writer) guna(g reactivation.Guna) {
	w.f64(g.Tamas)
	w.f64(g.Rajas)
	w.f64(g.Sattva)
}

func (w *writer) judgement(j Judgement) {
	w.str(j.Assessor)
	w.f64(j.Intensity)
	w.f64(j.Emotion)
	w.optional(j.Novelty)
	w.optional(j.Match)
	w.guna(j.Guna)
	w.f64(j.Valence)
}

func (w *writer) vector(v []float32) {
	w.u32(uint32(len(v)))
	for _, x := range v {
		w.u32(math.Float32bits(x))
	}
}

// reader takes little-endian fields from a buffer; after the first fault it
// returns zeros and keeps the fault.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrDecode}, a...)...)
	}
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.fail("cut short")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) f64() float64 { return math.Float64frombits(r.u64()) }

func (r *reader) bool() bool {
	x := r.u8()
	if x > 1 {
		r.fail("%d is neither true nor false", x)
	}
	return x == 1
}

func (r *reader) raw(to []byte) { copy(to, r.take(len(to))) }

// count reads a length and refuses one that the bytes left cannot hold, so that
// damage never asks for memory.
func (r *reader) count(size int) int {
	n := int(r.u32())
	if n < 0 || n > len(r.b)/size {
		r.fail("%d items of %d bytes do not fit in %d bytes", n, size, len(r.b))
		return 0
	}
	return n
}

func (r *reader) str() string { return string(r.take(r.count(1))) }

func (r *reader) optional() *float64 {
	if !r.bool() {
		return nil
	}
	x := r.f64()
	return &x
}

func (r *reader) guna() reactivation.Guna {
	return reactivation.Guna{Tamas: r.f64(), Rajas: r.f64(), Sattva: r.f64()}
}

func (r *reader) judgement() Judgement {
	return Judgement{
		Assessor: r.str(), Intensity: r.f64(), Emotion: r.f64(),
		Novelty: r.optional(), Match: r.optional(), Guna: r.guna(), Valence: r.f64(),
	}
}

func (r *reader) vector() []float32 {
	n := r.count(4)
	b := r.take(4 * n)
	if r.err != nil {
		return nil
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes left over", len(r.b))
	}
	return r.err
}
