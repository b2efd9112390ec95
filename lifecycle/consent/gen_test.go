package consent_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/soul/lineage"
)

// cases is how many times a law is held against something made by chance; those that
// fold long chains in each take a tenth.
const cases = 10_000

func eachCase(t *testing.T, n int, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	if n /= thin; testing.Short() {
		n = max(1, n/50)
	}
	first := rand.Uint64() //nolint:gosec // to be repeated, not to be secret
	for i := range n {
		f(t, rand.New(rand.NewPCG(first, uint64(i)))) //nolint:gosec // as above
		if t.Failed() {
			t.Fatalf("case %d of the seed %d", i, first)
		}
	}
}

// idOf makes an identifier of version 7.
func idOf(n uint64) (id lineage.ID) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("consent"), n))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

func pick[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

var answers = []consent.Answer{consent.Deny, consent.Ask, consent.Allow}

// someChanges makes changes of different cells, in no order.
func someChanges(rng *rand.Rand) []consent.Change {
	cells := consent.Cells()
	rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	n := 1 + rng.IntN(6)
	if rng.IntN(20) == 0 {
		n = len(cells)
	}
	out := make([]consent.Change, n)
	for i := range out {
		out[i] = consent.Change{Cell: cells[i], Answer: pick(rng, answers)}
	}
	return out
}

func someGrid(t *testing.T, rng *rand.Rand) consent.Grid {
	t.Helper()
	g := consent.Default()
	for range rng.IntN(4) {
		var err error
		if g, err = g.With(someChanges(rng)...); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// someRecords makes n records that follow from each other.
func someRecords(t *testing.T, rng *rand.Rand, n int) []consent.Record {
	t.Helper()
	c := mustFold(t, nil)
	for i := range n {
		r, err := c.Next(consent.Said{
			ID: idOf(uint64(i)), Who: pick(rng, []string{"person", "Ida", "心", "a & <b>"}), Why: pick(rng, []string{"", "enough", "\"why\" \\ not?"}), //nolint:gosec // small
			When: time.Unix(rng.Int64N(4e9), rng.Int64N(1e9)), ClockTrusted: rng.IntN(2) == 0, Changes: someChanges(rng),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return c.Records()
}

func mustFold(t *testing.T, records []consent.Record) *consent.Chain {
	t.Helper()
	c, err := consent.Fold(records)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// someTime is when things are said where it does not matter.
var someTime = time.Date(2026, 11, 30, 11, 42, 29, 0, time.UTC)
