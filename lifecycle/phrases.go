package lifecycle

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// phrases looks for a number of phrases in texts and files.
type phrases struct {
	letters *letters
	// want are the forms to find, none of them empty.
	want [][]byte
	// longest is the length of the longest, least how many bytes of a file any takes.
	longest, least int
	// Many of them are known by their first bytes: bits says of a hash of these
	// whether byHead can have them, short are those that are shorter.
	bits   []uint64
	byHead map[uint64][]int
	short  []int
	// The buffers of the files that are read one after the other.
	piece, raw, decoded []byte
	plain, json         reading
	// apart says that the text as JSON is another than as it stands; raw is then
	// what was not read as JSON yet.
	apart bool
}

// headLength is how many bytes a phrase is known by; few phrases are looked for
// one by one.
const (
	headLength = 8
	few        = 4
	headBits   = 16
)

func newPhrases(l *letters, want [][]byte) *phrases {
	p := &phrases{letters: l, want: want}
	for i, w := range want {
		p.longest = max(p.longest, len(w))
		if least := leastBytes(w); i == 0 || least < p.least {
			p.least = least
		}
	}
	if len(want) > few {
		p.bits, p.byHead = make([]uint64, 1<<headBits/64), map[uint64][]int{}
	}
	for i, w := range want {
		if len(want) <= few || len(w) < headLength {
			p.short = append(p.short, i)
			continue
		}
		head := binary.LittleEndian.Uint64(w)
		h := headHash(head)
		p.bits[h>>6] |= 1 << (h & 63)
		p.byHead[head] = append(p.byHead[head], i)
	}
	return p
}

// leastBytes is how long a text in UTF-8 must be to have a form: no character
// becomes more Latin letters and digits than ㎯ does, which takes three bytes.
func leastBytes(form []byte) int {
	n := 0
	for _, b := range form {
		if 'a' <= b && b <= 'z' || '0' <= b && b <= '9' {
			n++
		}
	}
	return n * len("㎯") / len("rads2")
}

func headHash(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> (64 - headBits) }

// in calls found for phrases that are in the form, each at least once, until it
// says that it is enough.
func (p *phrases) in(form []byte, found func(i int) (enough bool)) bool {
	for _, i := range p.short {
		if bytes.Contains(form, p.want[i]) && found(i) {
			return true
		}
	}
	if len(p.byHead) == 0 {
		return false
	}
	for at := 0; at+headLength <= len(form); at++ {
		head := binary.LittleEndian.Uint64(form[at:])
		h := headHash(head)
		if p.bits[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, i := range p.byHead[head] {
			if bytes.HasPrefix(form[at:], p.want[i]) && found(i) {
				return true
			}
		}
	}
	return false
}

func anyOf(int) bool { return true }

// file tells whether a file holds one of the phrases, as text or in JSON, and how
// many bytes were read to know it. The memory that it takes depends on the
// longest phrase.
func (p *phrases) file(ctx context.Context, path string) (has bool, read int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, 0, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	return p.stream(ctx, file, max(1<<16, min(p.longest, 1<<20)))
}

// stream is file for what a reader gives, in pieces of a size.
func (p *phrases) stream(ctx context.Context, from io.Reader, size int) (has bool, read int64, err error) {
	if len(p.piece) != size {
		p.piece = make([]byte, size)
	}
	p.raw, p.apart = p.raw[:0], false
	p.plain = reading{letters: p.letters, in: p.plain.in[:0], out: p.plain.out[:0], blank: true, least: p.least}
	p.json = reading{letters: p.letters, in: p.json.in[:0], out: p.json.out[:0], least: p.least}
	for last := false; !last; {
		if err := ctx.Err(); err != nil {
			return false, read, err
		}
		n, err := io.ReadFull(from, p.piece)
		read += int64(n)
		last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return false, read, err
		}
		if p.inPiece(p.piece[:n], last) {
			return true, read, nil
		}
	}
	return false, read, nil
}

// inPiece reads on and tells whether a phrase ends here. What has escapes is read
// a second time, as JSON, together with what is around it.
func (p *phrases) inPiece(piece []byte, last bool) bool {
	overlap := p.longest - 1
	step := max(512, p.longest)
	for done := false; !done; {
		part := piece
		if first := firstEscape(piece); !p.apart && first > 0 {
			part = piece[:first]
		} else if (p.apart || first == 0) && step < len(piece) {
			part = piece[:step]
		}
		if !p.apart && firstEscape(part) >= 0 {
			p.apart = true
			p.json.become(&p.plain, overlap)
		}
		piece = piece[len(part):]
		done = len(piece) == 0
		p.plain.add(part, last && done)
		if !p.apart {
			continue
		}
		p.raw = append(p.raw, part...)
		var used int
		p.decoded, used = unescape(p.decoded[:0], p.raw, last && done)
		p.raw = p.raw[:copy(p.raw, p.raw[used:])]
		p.json.add(p.decoded, last && done)
		if p.in(p.json.out, anyOf) {
			return true
		}
		p.json.keep(overlap)
		p.apart = len(p.raw) > 0 || !p.json.same(&p.plain, overlap)
	}
	found := p.in(p.plain.out, anyOf)
	p.plain.keep(overlap)
	return found
}

// firstEscape is where something is that JSON would take for an escape, or -1.
func firstEscape(p []byte) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(p[at:], '\\')
		if n < 0 {
			return -1
		}
		if at += n; at+1 == len(p) || bytes.IndexByte([]byte(`"\/bfnrtu`), p[at+1]) >= 0 {
			return at
		}
	}
}
