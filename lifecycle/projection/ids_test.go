package projection

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// An id is above all that were given, by a millisecond at least, whatever the clock says.
func TestNewIDAfter(t *testing.T) {
	id := func(first ...byte) (id lineage.ID) {
		copy(id[:], first)
		id[6], id[8], id[15] = 0x7f, 0xbf, 0xff
		return id
	}
	for _, c := range []struct {
		last, from lineage.ID
	}{
		{id(0xf0, 0, 0, 0, 0, 7), id(0xf0, 0, 0, 0, 0, 8)},
		{id(0xf0, 0, 0, 0, 3, 0xff), id(0xf0, 0, 0, 0, 4, 0)},
		{id(0xf0, 9, 0xff, 0xff, 0xff, 0xff), id(0xf0, 10, 0, 0, 0, 0)},
	} {
		got, err := newIDAfter(id(1), c.last, id(2))
		if err != nil || got.Compare(c.last) <= 0 || !slices.Equal(got[:6], c.from[:6]) || got[6]>>4 != 7 || got[8]>>6 != 2 {
			t.Errorf("%s after %s: %v", got, c.last, err)
		}
	}
	now, err := newIDAfter()
	if err != nil {
		t.Fatal(err)
	}
	if next, err := newIDAfter(now, id(0)); err != nil || next.Compare(now) <= 0 || next[0] != now[0] {
		t.Errorf("%s after %s: %v", next, now, err)
	}
	if _, err := newIDAfter(id(0xff, 0xff, 0xff, 0xff, 0xff, 0xff)); err != nil {
		t.Error(err)
	}
}

// With a clock that was years ahead, and is set back, the ids of lives go on rising with
// their numbers, and the words of a later life take the place of equal ones of before.
func TestIDsRiseWhateverTheClockSays(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	// As if it had been the year 5138.
	ahead := func(id *lineage.ID) { id[0] = 0x5b }
	ahead(&p.living.life.ID)
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	early := *memberOf(t, p, 1)
	ahead(&early.ID)
	if err := early.Sign(p.key); err != nil {
		t.Fatal(err)
	}
	for name := range w.store.records {
		if strings.HasPrefix(name, prefixMember) || strings.HasPrefix(name, prefixBatch) {
			delete(w.store.records, name)
		}
	}
	p.lineage = lineage.New(p.genesis.Root, p.genesis.Identity)
	w.merges(p, &early)
	digest, err := early.Digest()
	if err != nil {
		t.Fatal(err)
	}
	w.changeLife(1, func(l *lives.Life) { l.Obligation.Distillate = digest })
	w.text = strings.ReplaceAll(fareManifest, "VALID", "mirrored")
	for n := int64(2); n <= 4; n++ {
		p = w.must(w.open())
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := w.end(p, lineage.Million); err != nil {
			t.Fatal(err)
		}
		last, err := p.Life(n - 1)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := p.Life(n); err != nil || l.ID.Compare(last.ID) <= 0 || memberOf(t, p, n).ID.Compare(memberOf(t, p, n-1).ID) <= 0 {
			t.Errorf("life %d: %s after %s, %v", n, l.ID, last.ID, err)
		}
		if !strings.Contains(p.Rules(), "prefer mirrored") {
			t.Errorf("after life %d: %s", n, p.Rules())
		}
	}
	if n, err := p.Verify(t.Context()); n != 4 || err != nil {
		t.Error(n, err)
	}
}

// A life of this device is found by its id where it left nothing in the lineage, too; one
// that could not be born is none.
func TestALifeThatLeftNothingIsFound(t *testing.T) {
	w, p := endedWorld(t, 1)
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	w.text = "mission = 3"
	if err := p.Birth(t.Context()); !errors.Is(err, ErrUnborn) {
		t.Fatal(err)
	}
	for n := int64(1); n <= 3; n++ {
		l, err := p.Life(n)
		if err != nil || (l.Obligation.Status == lives.Met) != (n == 1) {
			t.Fatalf("%+v, %v", l, err)
		}
		for _, name := range []string{l.ID.String(), l.ID.String()[:35]} {
			if found, err := p.LifeOf(name); (err == nil) != (n < 3) || err == nil && found != l.ID {
				t.Errorf("life %d by %s: %s, %v", n, name, found, err)
			}
		}
		if _, err := p.DigestOf(l.ID.String()); (err == nil) != (n == 1) || n == 2 && !errors.Is(err, lineage.ErrAbsent) {
			t.Errorf("life %d: %v", n, err)
		}
	}
	if l, err := p.LifeOf("0"); err == nil {
		t.Errorf("%s", l)
	}
}
