package lifecycle_test

import (
	"reflect"
	"testing"
)

// What a process carries from one session to the next, it could as well read
// from the store or work out anew: a companion that is started again for every
// day comes to the same SOUL.md, every day, as one that lived through. Some days
// come in two parts, so that their session is withdrawn twice.
func TestWhatIsCarriedOnIsWhatIsStored(t *testing.T) {
	list := alike(40, 1911, 2)
	through, again := newWorld(t), newWorld(t)
	one := through.live(t)
	for i := range list {
		if _, err := one.Import(t.Context(), list[i:i+1], nil); err != nil {
			t.Fatal(err)
		}
		other := again.live(t)
		if _, err := other.Import(t.Context(), list[i:i+1], nil); err != nil {
			t.Fatal(err)
		}
		if got, want := withoutIdentity(soulText(t, other)), withoutIdentity(soulText(t, one)); got != want {
			t.Fatalf("entry %d: after a restart SOUL.md is\n%s\nwithout\n%s", i, got, want)
		}
		a, err1 := one.Vasanas(t.Context())
		b, err2 := other.Vasanas(t.Context())
		if err1 != nil || err2 != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("entry %d: tendencies %+v and %+v (%v, %v)", i, a, b, err1, err2)
		}
		if i == len(list)-1 && len(a) < 3 {
			t.Fatalf("%d tendencies: the property was hardly put to the test", len(a))
		}
		again.end(t, other)
	}
}
