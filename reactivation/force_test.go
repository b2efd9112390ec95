package reactivation_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

func TestWeightBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := unitFloat()
		f := reactivation.Force{Intensity: u.Draw(t, "i"), Novelty: u.Draw(t, "n"), Emotion: u.Draw(t, "e"), Match: u.Draw(t, "m")}
		w, err := f.Weight()
		if err != nil {
			t.Fatal(err)
		}
		greatest := max(f.Intensity, f.Novelty, f.Emotion, f.Match)
		// Half the greatest part when the others are 0, all of it when they are equal.
		if !(w >= greatest/2-ulps && w <= greatest+ulps && w <= 1) {
			t.Fatalf("weight is %v for a greatest part of %v", w, greatest)
		}
	})
	for _, c := range []struct {
		force reactivation.Force
		want  float64
	}{
		{reactivation.Force{}, 0},
		{reactivation.Force{Intensity: 1}, 0.5},
		{reactivation.Force{Intensity: 1, Novelty: 1, Emotion: 1, Match: 1}, 1},
	} {
		if got := must[float64](t)(c.force.Weight()); got != c.want {
			t.Errorf("%+v weighs %v; expected %v", c.force, got, c.want)
		}
	}
}

func TestBlendLiesBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		embedded, judged := unitFloat().Draw(t, "embedded"), unitFloat().Draw(t, "judged")
		b, err := p.Blend(embedded, &judged)
		if err != nil {
			t.Fatal(err)
		}
		if b < min(embedded, judged)-ulps || b > max(embedded, judged)+ulps || b > 1 {
			t.Fatalf("%v and %v blend to %v", embedded, judged, b)
		}
		if alone, err := p.Blend(embedded, nil); err != nil || alone != embedded {
			t.Fatalf("%v alone blends to %v (%v)", embedded, alone, err)
		}
	})
}
