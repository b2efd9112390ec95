package consent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jivad/jivad/soul/lineage"
)

// Chain is all that the person said about consent, in order, and the grid that it makes.
// Nothing in it can be changed; it only grows. A nil chain, as of records that could not
// be folded, denies everything. A chain is not safe for use while it grows.
type Chain struct {
	records []Record
	digests []lineage.Digest
	at      map[lineage.ID]int
	grid    Grid
	// said is the version of the record that an answer is from, 0 for the default.
	said [categoryCount * dimensionCount]int
}

// Head names the last record of a chain. Kept apart from the records it tells whether
// the last of them was changed, or some are missing at the end.
type Head struct {
	// Version is how many records there are; 0, with the rest zero, for none.
	Version int            `json:"version"`
	ID      lineage.ID     `json:"id"`
	Digest  lineage.Digest `json:"digest"`
}

// Fold makes a chain of its records, from the first. Error: [BrokenError], an ErrChain,
// that says at which record it is broken; there is no chain then.
func Fold(records []Record) (*Chain, error) {
	c := begin()
	for i, r := range records {
		if err := c.add(r); err != nil {
			return nil, &BrokenError{Position: i + 1, ID: r.ID, Reason: err}
		}
	}
	return c, nil
}

// begin is the chain of no records.
func begin() *Chain { return &Chain{at: map[lineage.ID]int{}, grid: Default()} }

// Append adds a record that follows from the last. Error: ErrFollow, and ErrForm where it
// is no record; the chain is as it was then.
func (c *Chain) Append(r Record) error {
	if err := c.add(r); err != nil {
		return fmt.Errorf("%w after record %d: %w", ErrFollow, len(c.records), err)
	}
	return nil
}

func (c *Chain) add(r Record) error {
	digest, err := c.follows(r)
	if err != nil {
		return err
	}
	r.Changes = slices.Clone(r.Changes)
	c.records = append(c.records, r)
	c.digests = append(c.digests, digest)
	c.at[r.ID] = r.Version
	for _, change := range r.Changes {
		c.grid.answers[change.place()] = change.Answer
		c.said[change.place()] = r.Version
	}
	return nil
}

// follows tells whether a record is the next one, and its digest.
func (c *Chain) follows(r Record) (lineage.Digest, error) {
	digest, err := r.Digest()
	if err != nil {
		return digest, err
	}
	head := c.Head()
	switch {
	case r.Version != head.Version+1:
		return digest, fmt.Errorf("it says that it is record %d", r.Version)
	case r.Previous != head.ID:
		return digest, fmt.Errorf("it follows record %s, and the one before is %s", r.Previous, head.ID)
	case r.PreviousDigest != head.Digest:
		return digest, errors.New("the record before it was changed: its digest is not the one that was noted")
	case c.at[r.ID] != 0:
		return digest, fmt.Errorf("its identifier is that of record %d", c.at[r.ID])
	}
	return digest, nil
}

// Said is what the person says, when, and why; see [Record] for the ranges.
type Said struct {
	ID           lineage.ID
	Who, Why     string
	When         time.Time
	ClockTrusted bool
	// Changes may be in any order; of several for a cell all must say the same.
	Changes []Change
}

// Next is the record that would follow, which it does not append. The time is brought to
// UTC and whole seconds. Errors: ErrForm, ErrConflict; ErrFollow for an identifier that
// is in the chain.
func (c *Chain) Next(s Said) (Record, error) {
	changes, err := inOrder(s.Changes)
	if err != nil {
		return Record{}, err
	}
	head := c.Head()
	r := Record{
		Schema: Schema, Version: head.Version + 1, ID: s.ID, Previous: head.ID, PreviousDigest: head.Digest,
		Who: s.Who, Why: s.Why, When: s.When.UTC().Truncate(time.Second), ClockTrusted: s.ClockTrusted, Changes: changes,
	}
	if err := r.Check(); err != nil {
		return Record{}, err
	}
	if _, err := c.follows(r); err != nil {
		return Record{}, fmt.Errorf("%w after record %d: %w", ErrFollow, head.Version, err)
	}
	return r, nil
}

// Head names the last record.
func (c *Chain) Head() Head {
	n := len(c.records)
	if n == 0 {
		return Head{}
	}
	return Head{Version: n, ID: c.records[n-1].ID, Digest: c.digests[n-1]}
}

// Holds tells whether the chain has the record of a head that was noted before: whether
// it is that chain, or has grown from it. Error: [BrokenError].
func (c *Chain) Holds(h Head) error {
	switch {
	case h == Head{}:
		return nil
	case h.Version < 1:
		return &BrokenError{Position: h.Version, ID: h.ID, Reason: fmt.Errorf("%w: a head of no record", ErrForm)}
	case h.Version > len(c.records):
		return &BrokenError{Position: len(c.records) + 1, Reason: fmt.Errorf("it is missing; there were %d records", h.Version)}
	}
	r := c.records[h.Version-1]
	if r.ID != h.ID || c.digests[h.Version-1] != h.Digest {
		return &BrokenError{Position: h.Version, ID: r.ID, Reason: errors.New("it is another than was noted")}
	}
	return nil
}

// Grid is what the records make of the default. That of a nil chain denies everything.
func (c *Chain) Grid() Grid {
	if c == nil {
		return Grid{}
	}
	return c.grid
}

// At is the grid as it was once the record of that name was said. Error: ErrAbsent.
func (c *Chain) At(id lineage.ID) (Grid, error) {
	version := c.at[id]
	if version == 0 {
		return Grid{}, fmt.Errorf("%w: %s", ErrAbsent, id)
	}
	g := Default()
	for _, r := range c.records[:version] {
		for _, change := range r.Changes {
			g.answers[change.place()] = change.Answer
		}
	}
	return g, nil
}

// Records are those of the chain, from the first, to keep.
func (c *Chain) Records() []Record {
	out := slices.Clone(c.records)
	for i := range out {
		out[i].Changes = slices.Clone(out[i].Changes)
	}
	return out
}

// Log is the chain as text: a record in each line, in canonical form.
func (c *Chain) Log() ([]byte, error) {
	var out bytes.Buffer
	for _, r := range c.records {
		line, err := r.Canonical()
		if err != nil {
			return nil, err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// ParseLog reads what Log writes. Error: [BrokenError].
func ParseLog(data []byte) (*Chain, error) {
	c := begin()
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		r, err := ParseRecord(line)
		if err == nil && !ended {
			err = fmt.Errorf("%w: the line has no end", ErrForm)
		}
		if err != nil {
			return nil, &BrokenError{Position: len(c.records) + 1, Reason: err}
		}
		if err := c.add(r); err != nil {
			return nil, &BrokenError{Position: len(c.records) + 1, ID: r.ID, Reason: err}
		}
		data = rest
	}
	return c, nil
}

// Decision is an answer with its reason.
type Decision struct {
	Cell
	Answer Answer `json:"answer"`
	// Version and Record are of what the person said last of it; zero for a default.
	Version int        `json:"version"`
	Record  lineage.ID `json:"record"`
	// Reason says in a line why it is so, and how to have it otherwise. Nothing of the
	// person's own words is in it.
	Reason string `json:"reason"`
}

// Check says whether a category may be put to a use, and why. Deny where either is not
// known, and of a nil chain.
func (c *Chain) Check(category Category, dimension Dimension) Decision {
	d := Decision{Cell: Cell{category, dimension}}
	switch {
	case c == nil:
		d.Reason = "what was said about consent cannot be read, so nothing is allowed; restore a backup from before"
		return d
	case !d.Valid():
		d.Reason = "the category or the use is not known, and what is not known is denied"
		return d
	}
	d.Answer = c.grid.answers[d.place()]
	if d.Version = c.said[d.place()]; d.Version > 0 {
		d.Record = c.records[d.Version-1].ID
	}
	d.Reason = reason(d)
	return d
}

func reason(d Decision) string {
	by := "by default"
	if d.Version > 0 {
		by = fmt.Sprintf("by record %d", d.Version)
	}
	switch d.Answer {
	case Allow:
		return fmt.Sprintf("%s is allowed %s", d.Cell, by)
	case Ask:
		return fmt.Sprintf("%s is to be asked each time, %s; settle it with: jivad consent set %s=allow", d.Cell, by, d.Cell)
	}
	return fmt.Sprintf("%s is denied %s; to have it otherwise: jivad consent set %s=allow", d.Cell, by, d.Cell)
}

// Uncovered are the decisions of those cells of a scope that are not allowed, in its
// order: what a birth lists as missing (J-1).
func (c *Chain) Uncovered(scope []Cell) []Decision {
	var out []Decision
	for _, cell := range scope {
		if d := c.Check(cell.Category, cell.Dimension); d.Answer != Allow {
			out = append(out, d)
		}
	}
	return out
}
