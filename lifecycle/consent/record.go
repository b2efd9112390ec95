package consent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jivad/jivad/soul/lineage"
)

// Schema is the version of the form of a record, and of the default that a chain begins with.
const Schema = "jivad/consent/1"

const (
	// WhoRunes and WhyRunes bound what a record says in words.
	WhoRunes = 64
	WhyRunes = 240
	// MaxBytes bounds the canonical form of a record, and a grid.
	MaxBytes = 64 << 10
	// MaxRecords bounds a chain.
	MaxRecords = 1 << 20
)

// Change sets the answer of one cell.
type Change struct {
	Cell
	Answer Answer `json:"answer"`
}

// String is CATEGORY.USE=ANSWER.
func (c Change) String() string { return c.Cell.String() + "=" + c.Answer.String() }

func (c Change) check() error {
	if !c.Valid() || !c.Answer.Valid() {
		return fmt.Errorf("%w: a change of %s, which is not in the grid", ErrForm, c)
	}
	return nil
}

// Valid tells whether cell and answer are known.
func (c Change) Valid() bool { return c.Cell.Valid() && c.Answer.Valid() }

// Record is one time that the person said something about consent.
type Record struct {
	Schema string `json:"schema"`
	// Version counts the records of a chain from 1.
	Version int `json:"version"`
	// ID is a UUID of version 7, given from outside. A distillate names it.
	ID lineage.ID `json:"id"`
	// Previous is the record before and PreviousDigest its digest; both are zero in
	// the first.
	Previous       lineage.ID     `json:"previous"`
	PreviousDigest lineage.Digest `json:"previous_digest"`
	// Who said it, 1 to 64 code points in one line.
	Who string `json:"who"`
	// When is in UTC and whole seconds, of the years 1970 to 9999. The order of the
	// records is that of the chain, whatever the clock said; ClockTrusted tells
	// whether it was known to be right.
	When         time.Time `json:"when"`
	ClockTrusted bool      `json:"clock_trusted"`
	// Why is what the person gave as the reason, up to 240 code points in one line;
	// it may be empty. It is theirs: no log and no prompt has it.
	Why string `json:"why"`
	// Changes are one or more, in the order of the grid, each cell once. A change to
	// what is so already is a change: what was a default is then said.
	Changes []Change `json:"changes"`
}

// Canonical is the canonical form (RFC 8785). Error: ErrForm where it is no record.
func (r Record) Canonical() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return canonical(r)
}

// Digest is the SHA-256 of the canonical form. Error: ErrForm where it is no record.
func (r Record) Digest() (lineage.Digest, error) {
	data, err := r.Canonical()
	if err != nil {
		return lineage.Digest{}, err
	}
	return sha256.Sum256(data), nil
}

// ParseRecord reads a record, which must be in canonical form. Error: ErrForm.
func ParseRecord(data []byte) (Record, error) {
	if len(data) > MaxBytes {
		return Record{}, fmt.Errorf("%w: a record of %d bytes; at most %d", ErrForm, len(data), MaxBytes)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	var r Record
	if err := in.Decode(&r); err != nil {
		return Record{}, unreadable(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return Record{}, fmt.Errorf("%w: something stands behind the record", ErrForm)
	}
	again, err := r.Canonical()
	if err != nil {
		return Record{}, err
	}
	if !bytes.Equal(again, data) {
		return Record{}, fmt.Errorf("%w: the record is not in its canonical form", ErrForm)
	}
	return r, nil
}

// unreadable tells of JSON that cannot be read, without what stands in it.
func unreadable(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, ErrForm):
		return err
	case errors.As(err, &wrong):
		return fmt.Errorf("%w: %s is no %s", ErrForm, wrong.Field, wrong.Type)
	}
	return fmt.Errorf("%w: it is no record of consent", ErrForm)
}

// Check tells whether it is a record, by itself; whether it follows from those before,
// [Chain.Append] tells. Error: ErrForm.
func (r Record) Check() error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("%w: of the form %q, not %s", ErrForm, clipped(r.Schema), Schema)
	case r.Version < 1 || r.Version > MaxRecords:
		return fmt.Errorf("%w: the version %d, not 1 to %d", ErrForm, r.Version, MaxRecords)
	case !sortable(r.ID):
		return fmt.Errorf("%w: the identifier is no UUID of version 7", ErrForm)
	case r.Version == 1 && (r.Previous != lineage.ID{} || r.PreviousDigest != lineage.Digest{}):
		return fmt.Errorf("%w: the first record names one before", ErrForm)
	case r.Version > 1 && !sortable(r.Previous):
		return fmt.Errorf("%w: the identifier of the record before is no UUID of version 7", ErrForm)
	case !plain(r.Who, WhoRunes) || r.Who == "":
		return fmt.Errorf("%w: who said it must be 1 to %d letters in one plain line", ErrForm, WhoRunes)
	case !plain(r.Why, WhyRunes):
		return fmt.Errorf("%w: why must be at most %d letters in one plain line", ErrForm, WhyRunes)
	case r.When.Location() != time.UTC || r.When.Nanosecond() != 0 || r.When.Year() < 1970 || r.When.Year() > 9999:
		return fmt.Errorf("%w: the time must be in UTC, whole seconds, of the years 1970 to 9999", ErrForm)
	case len(r.Changes) == 0 || len(r.Changes) > categoryCount*dimensionCount:
		return fmt.Errorf("%w: %d changes, not 1 to %d", ErrForm, len(r.Changes), categoryCount*dimensionCount)
	}
	for i, c := range r.Changes {
		if err := c.check(); err != nil {
			return err
		}
		if i > 0 && r.Changes[i-1].place() >= c.place() {
			return fmt.Errorf("%w: the changes are not in the order of the grid, each cell once", ErrForm)
		}
	}
	return nil
}

// sortable tells of a UUID of version 7 (RFC 9562).
func sortable(id lineage.ID) bool { return id[6]>>4 == 7 && id[8]>>6 == 0b10 }

// plain tells of text in one line without characters that do not show, trimmed.
func plain(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, unplain)
}

// unplain tells of characters that have no place in a line that is shown: controls, line
// ends, marks of direction. The two joiners are letters of some scripts.
func unplain(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return unicode.IsControl(r) || r == utf8.RuneError || r != ' ' && unicode.IsSpace(r) ||
		unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}

// inOrder sorts changes by the grid; of several for a cell all must say the same.
func inOrder(changes []Change) ([]Change, error) {
	for _, c := range changes {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b Change) int { return a.place() - b.place() })
	out = slices.Compact(out)
	for i := 1; i < len(out); i++ {
		if out[i-1].Cell == out[i].Cell {
			return nil, fmt.Errorf("%w: %s and %s in one record", ErrConflict, out[i-1], out[i])
		}
	}
	return out, nil
}

func clipped(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
