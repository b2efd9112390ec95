package faults

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Distance is a metric that counts edits.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abc_")), 0, 8, -1)
		a, b, c := letters.Draw(t, "a"), letters.Draw(t, "b"), letters.Draw(t, "c")
		if distance(a, a) != 0 || (distance(a, b) == 0) != (a == b) {
			t.Fatalf("%q %q are %d apart", a, b, distance(a, b))
		}
		if distance(a, b) != distance(b, a) || distance(a, c) > distance(a, b)+distance(b, c) {
			t.Fatalf("no metric on %q %q %q", a, b, c)
		}
		i := rapid.IntRange(0, len(a)).Draw(t, "i")
		if d := distance(a, a[:i]+"x"+a[i:]); d != 1 {
			t.Fatalf("one letter more is %d apart", d)
		}
	})
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{30 * time.Minute: "30m", time.Hour: "1h", 90 * time.Second: "1m30s", 0: "0s", 10 * time.Second: "10s", 80 * time.Second: "1m20s"} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"show", "set", "history"}
	for name, want := range map[string]string{"shwo": "show", "sets": "set", "x": "", "histroy": "history"} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q is nearest to %q, not %q", name, got, want)
		}
	}
}

func TestTold(t *testing.T) {
	one := Fault{Where: "line 3", Key: "a.b", Value: "7", Text: "it must be less"}
	if got := Told("f.toml", []Fault{one}); got != "f.toml: line 3: a.b = 7: it must be less" {
		t.Error(got)
	}
	if got := Told("f.toml", []Fault{one, {Text: "no"}}); got != "f.toml has 2 faults:\n  line 3: a.b = 7: it must be less\n  no" {
		t.Error(got)
	}
}
