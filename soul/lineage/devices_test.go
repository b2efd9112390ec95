package lineage_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// sharesOf are the parts that one device has in all rules of a set, by digest and key.
func sharesOf(l *lineage.Lineage, device lineage.Key) map[string]lineage.Share {
	out := map[string]lineage.Share{}
	for _, key := range []string{"tool.t0", "tool.t1", "tool.t2", "tool.t3"} {
		for _, s := range l.Blame(key) {
			if s.Device == device {
				s.Words = false // whose words are the rule's is for all of them to say
				out[s.Digest.String()+key] = s
			}
		}
	}
	return out
}

// What one device says, of whatever life and under whatever id, leaves what another said
// counted as it was.
func TestNoDeviceDisplacesAnother(t *testing.T) {
	named := 0
	eachCase(t, func(t *testing.T, rng *rand.Rand) {
		l := lineage.New(root, identity)
		var own, strangers []*lineage.Distillate
		for _, d := range set(rng, 2+rng.IntN(10)) {
			if d.Device == (lineage.Key{1}) {
				own = append(own, d)
			} else {
				strangers = append(strangers, d)
			}
		}
		merge(t, l, own...)
		before := sharesOf(l, lineage.Key{1})
		for _, d := range strangers {
			named += len(l.OfLife(d.Life))
			merge(t, l, d)
		}
		if after := sharesOf(l, lineage.Key{1}); !reflect.DeepEqual(before, after) {
			t.Errorf("%+v, not %+v", after, before)
		}
	})
	if named == 0 {
		t.Error("no life was named by two devices: too few cases to tell")
	}
}

// Two distillates of two devices that name one life count as those of two lives, in either
// order, whichever has the lower digest; and an excision of that life takes both.
func TestALifeIsOfOneDevice(t *testing.T) {
	for n := range uint64(8) { // the digests are in either order
		own := lived(t, 1, 1, lineage.Million, lineage.Digest{}, "tool fare, argument way: indexed")
		other := lived(t, 1, 2, -lineage.Million, lineage.Digest{byte(n)}, "tool fare, argument way: nested")
		for _, order := range [][]*lineage.Distillate{{own, other}, {other, own}} {
			l := lineage.New(root, identity)
			merge(t, l, order[0])
			merge(t, l, order[1])
			rule, _ := l.Rule("tool.fare")
			if rule.Support != 2 || rule.For != lineage.Million || rule.Against != lineage.Million {
				t.Errorf("%d: %+v", n, rule)
			}
			for _, d := range order {
				if counts, ok := l.Counts(digestOf(t, d)); !ok || counts != digestOf(t, d) {
					t.Errorf("%d: %s does not count", n, d.Device)
				}
			}
			if left := l.Without(own.Life); left.Size() != 0 || len(left.Rules()) != 0 {
				t.Errorf("%d: %d distillates are left", n, left.Size())
			}
		}
	}
}

// Of two distillates of one force and one id the digest tells whose words are the rule's, in
// whatever order they come, and blame names that one alone.
func TestTheDigestDecidesBetweenCopiesOfAnID(t *testing.T) {
	for n := range uint64(8) {
		a := lived(t, 1, 1, lineage.Million, lineage.Digest{}, "tool fare, argument way: indexed")
		b := lived(t, 1, 2, lineage.Million, lineage.Digest{byte(n)}, "tool fare, argument way: nested")
		b.Life = idOf('l', 2)
		if err := b.Sign(device(2)); err != nil {
			t.Fatal(err)
		}
		if a.ID != b.ID {
			t.Fatal("two ids")
		}
		last := a
		if digestOf(t, a).Compare(digestOf(t, b)) < 0 {
			last = b
		}
		there, back, once := lineage.New(root, identity), lineage.New(root, identity), lineage.New(root, identity)
		merge(t, there, a)
		merge(t, there, b)
		merge(t, back, b)
		merge(t, back, a)
		merge(t, once, a, b)
		fold := lineage.Fold(mapped(t, []*lineage.Distillate{a, b}))
		for _, rules := range [][]lineage.Rule{there.Rules(), back.Rules(), once.Rules(), fold} {
			if len(rules) != 1 || rules[0].Guidance != last.Dispositions[0].Guidance {
				t.Errorf("%d: %+v, not the words of %s", n, rules, digestOf(t, last))
			}
		}
		for _, s := range back.Blame("tool.fare") {
			if s.Words != (s.Digest == digestOf(t, last)) {
				t.Errorf("%d: %+v", n, s)
			}
		}
	}
}

// Of one device two lives of one number are two lives.
func TestASequenceDecidesNothing(t *testing.T) {
	l := lineage.New(root, identity)
	merge(t, l, lived(t, 1, 1, lineage.Million, l.Head(), "tool fare, argument way: indexed"))
	merge(t, l, lived(t, 2, 1, lineage.Million, l.Head(), "tool fare, argument way: indexed"))
	if rule, _ := l.Rule("tool.fare"); rule.Support != 2 {
		t.Errorf("%+v", rule)
	}
}
