package projection

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// strange is a distillate of another device that names a life of this one, with a lower
// digest than what this device said of it.
func strange(t *testing.T, own *lineage.Distillate) *lineage.Distillate {
	t.Helper()
	want, err := own.Digest()
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for n := range byte(255) {
		d := *own
		d.Base = lineage.Digest{n, 1}
		if err := d.Sign(key); err != nil {
			t.Fatal(err)
		}
		if digest, err := d.Digest(); err != nil || digest.Compare(want) < 0 {
			return &d
		}
	}
	t.Fatal("none is lower")
	return nil
}

// What another device says of a life of this one takes nothing from what this one said of
// it: the lineage is sound, and the life's own distillate is the one that is proved. An
// excision of the life takes both, and stops whatever names it from then on.
func TestAnotherDeviceOnALifeOfThisOne(t *testing.T) {
	w, p := endedWorld(t, 2)
	own := memberOf(t, p, 1)
	ours, _ := own.Digest()
	other := strange(t, own)
	theirs, _ := other.Digest()
	w.merges(p, other)
	p = w.must(w.open())
	if n, err := p.Verify(t.Context()); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	for name, want := range map[string]lineage.Digest{
		"1": ours, own.Life.String(): ours, ours.String()[:12]: ours, theirs.String()[:12]: theirs,
	} {
		if got, err := p.DigestOf(name); err != nil || got != want {
			t.Errorf("%s is %s, %v, not %s", name, got, err, want)
		}
	}
	r, err := p.Excise(t.Context(), []lineage.ID{own.Life}, false, "a test", nil)
	if err != nil || len(r.Digests) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, _, err := p.merge(other); !errors.Is(err, ErrTombstone) {
		t.Errorf("it comes back: %v", err)
	}
	if n, err := p.Verify(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
}
