package soul

import (
	"strings"
	"testing"
)

// One session is "the last session".
func TestOneSessionAgo(t *testing.T) {
	var s Summary
	s.Trend = append(s.Trend, line(t, 1, "", 0.3, 0.5), line(t, 2, "", 0.5, 0.4))
	s.Session, s.GStore, s.WitnessGap = 2, s.Trend[1].GStore.Guna(), s.Trend[1].WitnessGap
	s.Events, s.Impressions = 2, 2
	doc, err := Render(s, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Over the last session my clarity has grown (30 % to 50 %).", "Over the last session the witness gap went from 0.50 to 0.40"} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("%s\nhas no %q", doc, want)
		}
	}
}
