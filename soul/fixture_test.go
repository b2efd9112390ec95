package soul

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jivad/jivad/reactivation"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; look at it, then run with -update\ngot:\n%s", path, got)
	}
}

func ptr(v float64) *float64 { return &v }

func guna(t testing.TB, tamas, rajas, sattva float64) reactivation.Guna {
	t.Helper()
	g, err := reactivation.NewGuna(math.Sqrt(tamas), math.Sqrt(rajas), math.Sqrt(sattva))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// trendOf makes n sessions of a slow way from restlessness to clarity, with
// some days without an experience.
func trendOf(t testing.TB, n int) []Record {
	out := make([]Record, n)
	start := time.Date(2024, 3, 1, 7, 0, 0, 0, time.UTC)
	for i := range out {
		x := float64(i) / float64(max(n-1, 1))
		wave := round(math.Sin(float64(i)*0.7), 6) // the last bit differs between processors
		sattva := round(0.3+0.35*x+0.04*wave, 6)
		tamas := round(0.25-0.12*x+0.03*math.Cos(float64(i)*0.4), 6)
		g := guna(t, tamas, 1-tamas-sattva, sattva)
		self := guna(t, round(0.25-0.06*x, 6), round(0.45-0.12*x, 6), round(0.3+0.18*x, 6))
		r := Record{
			Version: RecordVersion, Session: i + 1,
			Date:   start.AddDate(0, 0, i).Format(time.DateOnly),
			Opened: start.AddDate(0, 0, i), Closed: start.AddDate(0, 0, i).Add(40 * time.Minute),
			GStore: NewVector(g), GAhamkara: NewVector(self), MokshaDistance: ptr(round(52-14*x+2*wave, 3)),
			Impressions: 3 * (i + 1), Vasanas: 1 + i/6, Ghosts: i / 20,
			LoadTamas: round(tamas, 4), LoadRajas: round(1-tamas-sattva, 4), Kappa: round(0.05+0.02*wave, 4),
		}
		if i%13 != 9 { // a silent day
			r.Events = 3 + (i*7)%5
			r.New = 1 + (i*5)%3
			r.Reactivated, r.Soft, r.Suppressed = 4+i%5, 9+i%7, i%2
			r.MeanFocus = ptr(round(0.32+0.12*math.Sin(float64(i)*0.33), 4))
			r.MeanTheta = ptr(round(0.55+0.08*math.Cos(float64(i)*0.21), 4))
			r.WitnessGap = ptr(round(0.5-0.22*x+0.06*math.Sin(float64(i)*1.3), 4))
			r.Valence = ptr(round(0.2*wave, 4))
			r.ByModel, r.ByBuiltin = 0.75, 0.25
			r.Latency = Latency{AssessP50: ptr(310.5), AssessP95: ptr(702), EventP50: ptr(325), EventP95: ptr(718.25), Close: ptr(41)}
		}
		out[i] = r
	}
	return out
}

func summaryOf(t testing.TB) Summary {
	trend := trendOf(t, 23)
	s := Summary{
		Session: 24, Date: "2024-03-24", ClosedAt: time.Date(2024, 3, 24, 21, 4, 5, 0, time.UTC),
		Identity: "id-4f2a9c", LineageVersion: "v7-91be03", StoreDigest: "sha256:0a1b2c3d4e5f", Assessor: "builtin/1",
		GStore: guna(t, 0.11, 0.28, 0.61), GAhamkara: guna(t, 0.14, 0.31, 0.55), WitnessGap: ptr(0.21344),
		Given:       "You keep a quiet meditation diary with me.\n\n### How I like it\n- short answers\n- no advice unless I ask\n",
		Events:      118,
		Impressions: 96,
		Trend:       trend,
		Rules:       []string{"prefer: ask before giving advice (tone)", "avoid: long lists (form)"},
		Unresolved:  []string{"contested: mention the weather (2 for, 2 against)"},
	}
	for i, name := range []string{"morning practice", "worry about work", "walks by the river"} {
		s.Tendencies = append(s.Tendencies, Tendency{
			ID: fmt.Sprint("t", i), Name: name, Strength: 1.9 - 0.6*float64(i), Share: 0.41 - 0.12*float64(i),
			Shares: guna(t, 0.1+0.05*float64(i), 0.2+0.2*float64(i%2), 0.7-0.05*float64(i)-0.2*float64(i%2)).Shares(), Members: 14 - 4*i,
			Trend: []string{"rising", "fading", "new"}[i], FirstSession: 1 + i, LastSession: 24 - i,
		})
		s.Deep = append(s.Deep, DeepImpression{
			Date: fmt.Sprintf("2024-03-%02d", 3+i), Text: []string{"Sat for forty minutes; the breath became very quiet.", "", "The river was high & brown."}[i],
			Depth: 0.25 - 0.05*float64(i), Activations: 4 - i, Shares: guna(t, 0.1, 0.2, 0.7).Shares(),
		})
	}
	return s
}
