package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
)

// Part is a piece of a file on its way.
type Part struct {
	File string `json:"file"`
	// New begins the file, or begins it again: what came of it before is void.
	New  bool   `json:"new,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// partBytes bounds a part, in bytes.
const partBytes = 256 << 10

// Encoder writes the files of an export one after the other, in parts.
type Encoder struct {
	put   func(Part) error
	files map[string]FileInfo

	part Part
	sum  hash.Hash
	info FileInfo
	err  error
}

// NewEncoder writes through put, which may not keep a part's data.
func NewEncoder(put func(Part) error) *Encoder {
	return &Encoder{put: put, files: map[string]FileInfo{}}
}

// File ends the file before and begins another.
func (e *Encoder) File(name string) {
	e.end()
	if _, twice := e.files[name]; twice && e.err == nil {
		e.err = fmt.Errorf("the file %s is written twice", name)
	}
	e.part = Part{File: name, New: true, Data: e.part.Data[:0]}
	e.sum, e.info = sha256.New(), FileInfo{}
}

// end sends what is left of a file and notes its sum.
func (e *Encoder) end() {
	if e.sum == nil {
		return
	}
	if len(e.part.Data) > 0 || e.part.New {
		e.send()
	}
	e.info.SHA256 = hex.EncodeToString(e.sum.Sum(nil))
	e.files[e.part.File], e.sum = e.info, nil
}

func (e *Encoder) send() {
	if e.err == nil {
		e.err = e.put(e.part)
	}
	e.part.New, e.part.Data = false, e.part.Data[:0]
}

// Write appends to the file. The error is that of put, and stays.
func (e *Encoder) Write(p []byte) (int, error) {
	if e.sum == nil {
		return 0, errors.New("no file was begun")
	}
	e.sum.Write(p)
	e.info.Bytes += int64(len(p))
	for rest := p; len(rest) > 0 && e.err == nil; {
		n := min(len(rest), partBytes-len(e.part.Data))
		e.part.Data, rest = append(e.part.Data, rest[:n]...), rest[n:]
		if len(e.part.Data) == partBytes {
			e.send()
		}
	}
	return len(p), e.err
}

// Line appends a value as one line of JSON, with the checksum of the line.
func (e *Encoder) Line(value any) error {
	line, err := marshal(value)
	if err != nil {
		return err
	}
	e.info.Lines++
	_, err = e.Write(append(sealed(line), '\n'))
	return err
}

// JSON writes a file that is one value, for people to read.
func (e *Encoder) JSON(name string, value any) error {
	line, err := marshal(value)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return e.Whole(name, b.Bytes())
}

// Whole writes a file of which all is at hand.
func (e *Encoder) Whole(name string, data []byte) error {
	e.File(name)
	_, err := e.Write(data)
	return err
}

// Finish writes the manifest, with what is known of the files.
func (e *Encoder) Finish(m Manifest) error {
	e.end()
	m.Format, m.Version, m.Files = Format, Version, e.files
	e.files = map[string]FileInfo{}
	if err := e.JSON(FileManifest, m); err != nil {
		return err
	}
	e.end()
	return e.err
}

// marshal is JSON that leaves letters as they are.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The checksum of a line, CRC-32C over all that stands before it, is its last field.
const (
	sealMark = `,"check":"`
	sealEnd  = `"}`
	sealLen  = len(sealMark) + 8 + len(sealEnd)
)

// sealed puts the checksum into an object.
func sealed(object []byte) []byte {
	head := object[:len(object)-1]
	return fmt.Appendf(head, "%s%08x%s", sealMark, crc32.Checksum(head, castagnoli), sealEnd)
}

// unsealed takes the checksum off again; false where it does not match.
func unsealed(line []byte) ([]byte, bool) {
	at := len(line) - sealLen
	if at < 1 {
		return nil, false
	}
	head := line[:at:at]
	if string(line[at:]) != fmt.Sprintf("%s%08x%s", sealMark, crc32.Checksum(head, castagnoli), sealEnd) {
		return nil, false
	}
	return append(head, '}'), true
}
