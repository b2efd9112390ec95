package soul

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

// line is a record with a character and a gap.
func line(t *testing.T, session int, date string, sattva, gap float64) Record {
	t.Helper()
	other := math.Sqrt((1 - sattva) / 2)
	g, err := reactivation.NewGuna(other, other, math.Sqrt(sattva))
	if err != nil {
		t.Fatal(err)
	}
	return Record{Session: session, Date: date, GStore: NewVector(g), WitnessGap: &gap}
}

// SOUL.md speaks of one span: from the state of ten sessions ago to now.
func TestBothSentencesCompareTheSameSessions(t *testing.T) {
	var s Summary
	for i := 1; i <= 14; i++ {
		s.Trend = append(s.Trend, line(t, i, "", 0.30+float64(i)/50, 0.50-float64(i)/100))
	}
	last := s.Trend[13]
	s.Session, s.GStore, s.WitnessGap = 14, last.GStore.Guna(), last.WitnessGap
	s.Events, s.Impressions = 14, 14
	doc, err := Render(s, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Over the last 10 sessions my clarity has grown (38 % to 58 %).",
		"Over the last 10 sessions the witness gap went from 0.46 to 0.36.\n",
	} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("%s\nhas no %q", doc, want)
		}
	}
	for i := range s.Trend {
		s.Trend[i] = line(t, i+1, "", 0.4, 0.3)
	}
	s.GStore, s.WitnessGap = s.Trend[0].GStore.Guna(), s.Trend[0].WitnessGap
	if doc, err = Render(s, MaxBytes); err != nil {
		t.Fatal(err)
	}
	if want := "the witness gap hardly changed (0.30) and clarity (sattva) hardly changed (40 %)."; !strings.Contains(string(doc), want) {
		t.Errorf("%s\nhas no %q", doc, want)
	}
}

// What became of clarity is said once, however it is told: by the Character, by a
// warning, or by the Trend where a model's words stand in the Character's place.
func TestClarityIsToldOnce(t *testing.T) {
	summary := func(shares ...float64) Summary {
		var s Summary
		for i, sattva := range shares {
			s.Trend = append(s.Trend, line(t, i+1, "", sattva, 0.3))
		}
		n := len(shares)
		s.Session, s.GStore, s.WitnessGap, s.Events, s.Impressions = n, s.Trend[n-1].GStore.Guna(), s.Trend[n-1].WitnessGap, n, n
		return s
	}
	voiced := summary(0.50, 0.45)
	voiced.Voice, voiced.VoiceBy = "I am clear.", "scribe"
	for name, c := range map[string]struct {
		s          Summary
		want, none string
	}{
		"a fall that is warned of":   {summary(0.50, 0.45, 0.38), "my clarity has lessened (50 % to 38 %)", "has fallen"},
		"a fall from between":        {summary(0.45, 0.52, 0.38), "has fallen from 0.52 to 0.38", "clarity (sattva) went"},
		"another share moved more":   {summary(0.50, 0.50), "clarity (sattva) hardly changed (50 %)", "my clarity"},
		"one point is hardly a move": {summary(0.50, 0.51), "clarity (sattva) hardly changed (51 %)", "went from 50 %"},
		"a model's words":            {voiced, "clarity (sattva) went from 50 % to 45 %", "my clarity"},
	} {
		doc, err := Render(c.s, MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(doc), c.want) || strings.Contains(string(doc), c.none) {
			t.Errorf("%s: %s\nwant %q and no %q", name, doc, c.want, c.none)
		}
	}
}

// What was woken never or once is said as people say it.
func TestWokenInWords(t *testing.T) {
	var s Summary
	s.Trend = append(s.Trend, line(t, 1, "", 0.4, 0.3))
	s.Session, s.GStore, s.Events, s.Impressions = 1, s.Trend[0].GStore.Guna(), 3, 3
	shares, _ := s.Trend[0].GStore.Shares()
	for i := range 3 {
		s.Deep = append(s.Deep, DeepImpression{Date: "2024-05-03", Text: "Rain.", Depth: 0.1, Activations: i, Shares: shares})
	}
	doc, err := Render(s, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"depth 0.10, never woken, ", "depth 0.10, woken once, ", "depth 0.10, woken 2 times, "} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("%s\nhas no %q", doc, want)
		}
	}
}

// The days of a trend are the earliest and the latest, also where an old diary
// was imported late.
func TestSpanIsOfAllDays(t *testing.T) {
	records := []Record{line(t, 1, "2024-05-03", 0.4, 0.3), line(t, 2, "1911-05-01", 0.4, 0.3), line(t, 3, "", 0.4, 0.3), line(t, 4, "2023-01-01", 0.4, 0.3)}
	const want = "1911-05-01 to 2024-05-03"
	if got := TrendText(records, 80, TextOptions{}); !strings.Contains(got, want) {
		t.Error(got)
	}
	var svg strings.Builder
	if err := TrendSVG(&svg, records); err != nil || strings.Count(svg.String(), want) != 2 {
		t.Errorf("%v: %d times", err, strings.Count(svg.String(), want))
	}
}

// A figure that hardly moves is drawn as one.
func TestFlatFiguresLookFlat(t *testing.T) {
	var records []Record
	for i := range 12 {
		records = append(records, line(t, i+1, "", 0.400+float64(i%2)/1000, 0.3))
	}
	text := TrendText(records, 100, TextOptions{ASCII: true})
	drawn := regexp.MustCompile(`(?m)^sattva share +(\S+)`).FindStringSubmatch(text)
	if drawn == nil {
		t.Fatal(text)
	}
	heights := []byte(drawn[1])
	slices.Sort(heights)
	if heights = slices.Compact(heights); strings.ContainsAny(string(heights), "_#") {
		t.Errorf("it looks as if it moved: %s", drawn[1])
	}
	if got := fmt.Sprint(Percents(reactivation.Shares{Tamas: 0.335, Rajas: 0.335, Sattva: 0.33})); got != "[34 33 33]" && got != "[33 34 33]" {
		t.Errorf("shares do not sum to 100: %s", got)
	}
}
