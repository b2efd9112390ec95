package consent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/soul/lineage"
)

// first is a record by hand; its digest was worked out by another program.
const (
	first = `{"changes":[{"answer":"allow","category":"health","dimension":"storage"},{"answer":"deny","category":"operational","dimension":"training"}],` +
		`"clock_trusted":true,"id":"019a0000-0000-7000-8000-000000000001","previous":"00000000-0000-0000-0000-000000000000",` +
		`"previous_digest":"0000000000000000000000000000000000000000000000000000000000000000","schema":"jivad/consent/1","version":1,` +
		`"when":"2026-11-30T11:42:29Z","who":"Ida","why":"a <b> & \"c\""}`
	firstDigest = "3713f8cf33652966a34d4d2acb12642a0fd0310b634f048c2dddf627ec8735dd"
)

func TestRecordVector(t *testing.T) {
	r, err := consent.ParseRecord([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := r.Digest(); err != nil || digest.String() != firstDigest {
		t.Errorf("%s, %v", digest, err)
	}
	if text, err := r.Canonical(); err != nil || string(text) != first {
		t.Errorf("%s, %v", text, err)
	}
	if r.Who != "Ida" || r.Why != `a <b> & "c"` || !r.When.Equal(time.Date(2026, 11, 30, 11, 42, 29, 0, time.UTC)) || len(r.Changes) != 2 {
		t.Errorf("%+v", r)
	}
	for name, bad := range map[string]string{
		"a space more":          " " + first,
		"an end of line":        first + "\n",
		"another behind":        first + first,
		"cut off":               first[:len(first)-1],
		"an unknown field":      strings.Replace(first, `"who"`, `"whom":1,"who"`, 1),
		"a field twice":         strings.Replace(first, `"who"`, `"who":"Max","who"`, 1),
		"a field less":          strings.Replace(first, `,"version":1`, "", 1),
		"a field in capitals":   strings.Replace(first, `"who"`, `"Who"`, 1),
		"another schema":        strings.Replace(first, "consent/1", "consent/2", 1),
		"an older UUID":         strings.Replace(first, "7000-8000", "4000-8000", 1),
		"no UUID of RFC 9562":   strings.Replace(first, "7000-8000", "7000-c000", 1),
		"one before":            strings.Replace(first, `"previous":"0`, `"previous":"1`, 1),
		"a digest before":       strings.Replace(first, `digest":"0`, `digest":"1`, 1),
		"none before":           strings.Replace(first, `"version":1`, `"version":2`, 1),
		"version 0":             strings.Replace(first, `"version":1`, `"version":0`, 1),
		"nobody":                strings.Replace(first, `"Ida"`, `""`, 1),
		"a long name":           strings.Replace(first, "Ida", strings.Repeat("é", 65), 1),
		"two lines":             strings.Replace(first, "Ida", `I\nda`, 1),
		"turned":                strings.Replace(first, "Ida", "I\u202eda", 1),
		"not trimmed":           strings.Replace(first, "Ida", "Ida ", 1),
		"not UTF-8":             strings.Replace(first, "Ida", "I\xff", 1),
		"half a letter":         strings.Replace(first, "Ida", `I\ud800`, 1),
		"a long reason":         strings.Replace(first, "a <b>", strings.Repeat("a", 241), 1),
		"another zone":          strings.Replace(first, "29Z", "29+01:00", 1),
		"parts of a second":     strings.Replace(first, "29Z", "29.5Z", 1),
		"before all clocks":     strings.Replace(first, "2026", "1969", 1),
		"no changes":            `{"changes":[]` + first[strings.Index(first, `,"clock`):],
		"changes out of order":  strings.NewReplacer(`health","dimension":"storage`, `operational","dimension":"training`, `operational","dimension":"training`, `health","dimension":"storage`).Replace(first),
		"a cell twice":          strings.Replace(first, `operational","dimension":"training`, `health","dimension":"storage`, 1),
		"a category that isn't": strings.Replace(first, "operational", "occasional", 1),
		"a category of entries": strings.Replace(first, "operational", "minor", 1),
		"an answer that isn't":  strings.Replace(first, `"deny"`, `"no"`, 1),
		"too long":              first + strings.Repeat(" ", consent.MaxBytes),
		"nothing":               "",
	} {
		if bad == first {
			t.Errorf("%s: it is the good one", name)
		}
		if r, err := consent.ParseRecord([]byte(bad)); !errors.Is(err, consent.ErrForm) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for name, good := range map[string]string{
		"as long a name":   strings.Replace(first, "Ida", strings.Repeat("é", 64), 1),
		"as long a reason": strings.Replace(first, `a <b> & \"c\"`, strings.Repeat("a", 240), 1),
		"no reason":        strings.Replace(first, `a <b> & \"c\"`, "", 1),
	} {
		if _, err := consent.ParseRecord([]byte(good)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The grid is the default with, for each cell, what was said of it last; a fold of
// records in two parts is the fold of all; and it was the same at every record on the way.
func TestFoldIsWhatWasSaidLast(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		records := someRecords(t, rng, rng.IntN(8))
		c := mustFold(t, records)
		cut := rng.IntN(len(records) + 1)
		parts := mustFold(t, records[:cut])
		for _, r := range records[cut:] {
			if err := parts.Append(r); err != nil {
				t.Fatal(err)
			}
		}
		if parts.Grid() != c.Grid() || parts.Head() != c.Head() || !reflect.DeepEqual(parts.Table(), c.Table()) {
			t.Errorf("in two parts it is another: %+v, %+v", parts.Head(), c.Head())
		}
		want, by := map[consent.Cell]consent.Answer{}, map[consent.Cell]int{}
		for i, r := range records {
			for _, change := range r.Changes {
				want[change.Cell], by[change.Cell] = change.Answer, i+1
			}
			before, err := c.At(r.ID)
			if err != nil || before != mustFold(t, records[:i+1]).Grid() {
				t.Errorf("at record %d it is another grid: %v", i+1, err)
			}
		}
		for _, cell := range consent.Cells() {
			d := c.Check(cell.Category, cell.Dimension)
			answer, said := want[cell]
			if !said {
				answer = consent.Default().Answer(cell.Category, cell.Dimension)
			}
			if d.Answer != answer || c.Grid().Answer(cell.Category, cell.Dimension) != answer || d.Version != by[cell] || d.Cell != cell {
				t.Errorf("%+v, not %s by %d", d, answer, by[cell])
			}
			if said && d.Record != records[by[cell]-1].ID || !said && d.Record != (lineage.ID{}) {
				t.Errorf("%+v is of another record", d)
			}
		}
		log, err := c.Log()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := consent.ParseLog(log); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%s is read as another, %v", log, err)
		}
	})
}

// brokenAt is the position at which records are broken, 0 for not at all.
func brokenAt(t *testing.T, records []consent.Record) int {
	t.Helper()
	c, err := consent.Fold(records)
	if err == nil {
		return 0
	}
	var broken *consent.BrokenError
	if c != nil || !errors.As(err, &broken) || !errors.Is(err, consent.ErrChain) {
		t.Fatalf("%v, %v", c, err)
	}
	return broken.Position
}

// forgeries each change one thing of a record, into another that is a record as well.
var forgeries = map[string]func(rng *rand.Rand, r *consent.Record){
	"answer": func(rng *rand.Rand, r *consent.Record) {
		r.Changes = slices.Clone(r.Changes)
		i := rng.IntN(len(r.Changes))
		r.Changes[i].Answer = (r.Changes[i].Answer + 1) % 3
	},
	"a change less or more": func(_ *rand.Rand, r *consent.Record) {
		last := consent.Cell{Category: consent.Operational, Dimension: consent.DeletionOrPortability}
		switch {
		case len(r.Changes) > 1:
			r.Changes = r.Changes[1:]
		case r.Changes[0].Cell == last:
			r.Changes = []consent.Change{{Cell: consent.Cell{Category: 1, Dimension: 1}}}
		default:
			r.Changes = append(slices.Clone(r.Changes), consent.Change{Cell: last})
		}
	},
	"id":    func(_ *rand.Rand, r *consent.Record) { r.ID[15] ^= 1 },
	"who":   func(_ *rand.Rand, r *consent.Record) { r.Who += "x" },
	"why":   func(_ *rand.Rand, r *consent.Record) { r.Why += "x" },
	"when":  func(_ *rand.Rand, r *consent.Record) { r.When = r.When.Add(time.Second) },
	"clock": func(_ *rand.Rand, r *consent.Record) { r.ClockTrusted = !r.ClockTrusted },
}

// Whatever is changed of a record, the chain is broken there or at the next one; of the
// last one the head tells.
func TestAnyChangedRecordBreaksTheChain(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		records := someRecords(t, rng, 2+rng.IntN(5))
		head := mustFold(t, records).Head()
		for name, forge := range forgeries {
			at := rng.IntN(len(records))
			forged := slices.Clone(records)
			forge(rng, &forged[at])
			if err := forged[at].Check(); err != nil {
				t.Fatalf("%s: the forgery is no record: %v", name, err)
			}
			if at < len(records)-1 {
				if got := brokenAt(t, forged); got != at+2 {
					t.Errorf("%s of record %d: broken at %d", name, at+1, got)
				}
				continue
			}
			var broken *consent.BrokenError
			if err := mustFold(t, forged).Holds(head); !errors.As(err, &broken) || broken.Position != at+1 {
				t.Errorf("%s of the last record: %v", name, err)
			}
		}
		for name, forge := range map[string]func(r *consent.Record){
			"version":  func(r *consent.Record) { r.Version++ },
			"previous": func(r *consent.Record) { r.Previous[15] ^= 1 },
			"digest":   func(r *consent.Record) { r.PreviousDigest[31] ^= 1 },
			"schema":   func(r *consent.Record) { r.Schema = "jivad/consent/0" },
		} {
			at := rng.IntN(len(records))
			forged := slices.Clone(records)
			forge(&forged[at])
			if got := brokenAt(t, forged); got != at+1 {
				t.Errorf("%s of record %d: broken at %d", name, at+1, got)
			}
		}
		at := rng.IntN(len(records) - 1)
		for name, c := range map[string]struct {
			forged []consent.Record
			at     int
		}{
			"left out": {slices.Delete(slices.Clone(records), at, at+1), at + 1},
			"twice":    {slices.Insert(slices.Clone(records), at, records[at]), at + 2},
			"swapped": {func() []consent.Record {
				out := slices.Clone(records)
				out[at], out[at+1] = out[at+1], out[at]
				return out
			}(), at + 1},
		} {
			if got := brokenAt(t, c.forged); got != c.at {
				t.Errorf("record %d %s: broken at %d", at+1, name, got)
			}
		}
	})
}

// A head that was noted is held by every chain that grew from there, and by no shorter one.
func TestHeads(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		records := someRecords(t, rng, 1+rng.IntN(5))
		other := someRecords(t, rng, len(records))
		for i := range len(records) + 1 {
			head := mustFold(t, records[:i]).Head()
			if head.Version != i {
				t.Errorf("%+v after %d records", head, i)
			}
			for j := range len(records) + 1 {
				if err := mustFold(t, records[:j]).Holds(head); (err == nil) != (j >= i) {
					t.Errorf("of %d records the head of %d: %v", j, i, err)
				}
			}
			if err := mustFold(t, other).Holds(head); (err == nil) != (head == mustFold(t, other[:i]).Head()) {
				t.Errorf("another chain: %v", err)
			}
		}
	})
	one := mustFold(t, someRecords(t, rand.New(rand.NewPCG(5, 6)), 1)) //nolint:gosec // the same each time
	head := one.Head()
	head.ID[15] ^= 1
	if err := one.Holds(head); !errors.Is(err, consent.ErrChain) {
		t.Errorf("a head of another record: %v", err)
	}
	c := mustFold(t, nil)
	for _, h := range []consent.Head{{Version: -1}, {ID: idOf(1)}, {Version: 1}} {
		if err := c.Holds(h); !errors.Is(err, consent.ErrChain) {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// A byte of the log that is changed, left out or put in is told.
func TestAnyChangedByteIsTold(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		c := mustFold(t, someRecords(t, rng, 1+rng.IntN(3)))
		log, err := c.Log()
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			at := rng.IntN(len(log))
			forged := slices.Clone(log)
			switch rng.IntN(3) {
			case 0:
				forged[at] ^= 1 << rng.IntN(8)
			case 1:
				forged = slices.Delete(forged, at, at+1)
			default:
				forged = slices.Insert(forged, at, byte(' '+rng.IntN(95))) //nolint:gosec // ASCII
			}
			if bytes.Equal(forged, log) {
				continue
			}
			if got, err := consent.ParseLog(forged); err == nil && got.Holds(c.Head()) == nil {
				t.Errorf("%s is taken for %s", forged, log)
			}
		}
	})
}

func TestChainKeepsItsRecordsToItself(t *testing.T) {
	records := someRecords(t, rand.New(rand.NewPCG(1, 2)), 3) //nolint:gosec // the same each time
	c := mustFold(t, records)
	grid, head := c.Grid(), c.Head()
	for i := range records {
		records[i].Changes[0].Answer = (records[i].Changes[0].Answer + 1) % 3
	}
	taken := c.Records()
	taken[0].Changes[0].Answer = (taken[0].Changes[0].Answer + 1) % 3
	if err := mustFold(t, c.Records()).Holds(head); err != nil {
		t.Error(err)
	}
	bad := taken[0]
	if err := c.Append(consent.Record{}); !errors.Is(err, consent.ErrFollow) || !errors.Is(err, consent.ErrForm) {
		t.Error(err)
	}
	if err := c.Append(bad); !errors.Is(err, consent.ErrFollow) || errors.Is(err, consent.ErrChain) || c.Grid() != grid || c.Head() != head {
		t.Errorf("%v, and the chain is another", err)
	}
}

func TestNext(t *testing.T) {
	c := mustFold(t, nil)
	health := consent.Cell{Category: consent.Health, Dimension: consent.Storage}
	identity := consent.Cell{Category: consent.Identity, Dimension: consent.Storage}
	said := consent.Said{
		ID: idOf(1), Who: "Ida", When: time.Date(2026, 11, 30, 12, 0, 0, 999, time.FixedZone("", 3600)),
		Changes: []consent.Change{{Cell: health, Answer: consent.Deny}, {Cell: identity, Answer: consent.Ask}, {Cell: health, Answer: consent.Deny}},
	}
	r, err := c.Next(said)
	if err != nil || r.Version != 1 || len(r.Changes) != 2 || r.Changes[0].Cell != identity || r.When.Format(time.RFC3339Nano) != "2026-11-30T11:00:00Z" {
		t.Fatalf("%+v, %v", r, err)
	}
	if c.Head() != (consent.Head{}) {
		t.Error("it was appended")
	}
	if err := c.Append(r); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(said); !errors.Is(err, consent.ErrFollow) || errors.Is(err, consent.ErrChain) || !strings.Contains(err.Error(), "identifier is that of record 1") {
		t.Error(err)
	}
	for name, change := range map[string]func(s *consent.Said){
		"no changes":      func(s *consent.Said) { s.Changes = nil },
		"no cell":         func(s *consent.Said) { s.Changes = []consent.Change{{}} },
		"no answer":       func(s *consent.Said) { s.Changes = []consent.Change{{Cell: health, Answer: 3}} },
		"an old UUID":     func(s *consent.Said) { s.ID[6] = 0x40 },
		"nobody":          func(s *consent.Said) { s.Who = "" },
		"no time":         func(s *consent.Said) { s.When = time.Time{} },
		"a line too much": func(s *consent.Said) { s.Why = "a\nb" },
	} {
		s := said
		s.ID = idOf(2)
		change(&s)
		if _, err := c.Next(s); !errors.Is(err, consent.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	said.ID, said.Changes = idOf(2), []consent.Change{{Cell: health, Answer: consent.Deny}, {Cell: health, Answer: consent.Allow}}
	if _, err := c.Next(said); !errors.Is(err, consent.ErrConflict) {
		t.Error(err)
	}
	if _, err := c.At(idOf(3)); !errors.Is(err, consent.ErrAbsent) {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	c := mustFold(t, nil)
	r, err := c.Next(consent.Said{ID: idOf(1), Who: "Ida", Why: "my secret", When: time.Unix(0, 0), Changes: []consent.Change{
		{Cell: consent.Cell{Category: consent.Location, Dimension: consent.Storage}, Answer: consent.Ask},
		{Cell: consent.Cell{Category: consent.Operational, Dimension: consent.Access}, Answer: consent.Deny},
	}})
	if err == nil {
		err = c.Append(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	var nobody *consent.Chain
	for _, x := range []struct {
		chain  *consent.Chain
		c      consent.Category
		d      consent.Dimension
		answer consent.Answer
		reason string
	}{
		{c, consent.Behavioural, consent.Storage, consent.Allow, "behavioural.storage is allowed by default"},
		{c, consent.Health, consent.Storage, consent.Ask, "by default; settle it with: jivad consent set health.storage=allow"},
		{c, consent.Location, consent.Storage, consent.Ask, "location.storage is to be asked each time, by record 1"},
		{c, consent.Operational, consent.Access, consent.Deny, "operational.access is denied by record 1"},
		{c, consent.Biometric, consent.Training, consent.Deny, "biometric.training is denied by default"},
		{c, 0, consent.Storage, consent.Deny, "not known is denied"},
		{c, consent.Health, 9, consent.Deny, "not known is denied"},
		{nobody, consent.Behavioural, consent.Storage, consent.Deny, "restore a backup"},
	} {
		if d := x.chain.Check(x.c, x.d); d.Answer != x.answer || !strings.Contains(d.Reason, x.reason) || strings.Contains(d.Reason, "secret") {
			t.Errorf("%+v, not %s: %s", d, x.answer, x.reason)
		}
	}
	if nobody.Grid() != (consent.Grid{}) {
		t.Error("a chain that cannot be read allows something")
	}
	scope := []consent.Cell{
		{Category: consent.Health, Dimension: consent.Storage}, {Category: consent.Behavioural, Dimension: consent.Access},
		{Category: consent.Operational, Dimension: consent.Access},
	}
	if got := c.Uncovered(scope); len(got) != 2 || got[0].Cell != scope[0] || got[1].Cell != scope[2] {
		t.Errorf("%+v", got)
	}
	if got := nobody.Uncovered(scope); len(got) != 3 {
		t.Errorf("%+v", got)
	}
	text, err := json.Marshal(c.Check(consent.Location, consent.Storage))
	if err != nil || !strings.HasPrefix(string(text), `{"category":"location","dimension":"storage","answer":"ask","version":1,"record":"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestBrokenChainSaysWhere(t *testing.T) {
	records := someRecords(t, rand.New(rand.NewPCG(3, 4)), 3) //nolint:gosec // the same each time
	records[1].Who = "somebody"
	_, err := consent.Fold(records)
	want := "the chain of consent is broken at record 3 (" + records[2].ID.String() + "): the record before it was changed: " +
		"its digest is not the one that was noted; nothing is allowed until a backup from before is restored"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
	records[1].Who = ""
	if _, err = consent.Fold(records); !errors.Is(err, consent.ErrForm) || !errors.Is(err, consent.ErrChain) {
		t.Error(err)
	}
	if _, err = consent.ParseLog([]byte(first)); !errors.Is(err, consent.ErrChain) || !strings.Contains(err.Error(), "record 1: ") {
		t.Error(err)
	}
}
