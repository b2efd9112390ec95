package soul

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ghostPicture has n curves over so many sessions; the second curve begins late
// and the third is there on one side only.
func ghostPicture(curves, sessions int) GhostPicture {
	p := GhostPicture{
		Title: "Without the entry 4f0c91ab of 2024-03-03", Note: "“Sat for forty minutes; the breath <became> very quiet & \"still\".”",
		Marks: []int{sessions / 4, sessions / 4 * 3},
		Bars: []GhostBar{
			{Label: "depths of the others, sum of changes", Value: "0.621 (chance up to 0.576)", At: 0.621, Chance: &[3]float64{0.05, 0.24, 0.576}, Larger: true},
			{Label: "entries that would have woken others", Value: "1 (chance up to 77)", At: 1, Chance: &[3]float64{0, 29, 77}},
			{Label: "character of the store, degrees", Value: "0.000 (chance up to 0.000)", Chance: &[3]float64{}},
			{Label: "lines of SOUL.md", Value: "17", At: 17},
		},
		Chance: "20 random removals, their median",
	}
	for c := range curves {
		curve := GhostCurve{Label: fmt.Sprintf("2024-03-%02d The river was high and brown after the long rain of the night.", c+1)}
		for i := range sessions {
			with := round(0.09+0.2*math.Exp(-float64(i%17)/6)/(1+float64(c)), 6)
			without := with
			if i > sessions/4 {
				without = round(with*(0.6+0.1*float64(c)), 6)
			}
			curve.Session = append(curve.Session, i+1)
			curve.With, curve.Without = append(curve.With, &with), append(curve.Without, &without)
			if c == 1 && i < sessions/2 {
				curve.With[i], curve.Without[i] = nil, nil
			}
			if c == 2 {
				curve.Without[i] = nil
			}
		}
		p.Curves = append(p.Curves, curve)
	}
	return p
}

func ghostSVG(t testing.TB, p GhostPicture) string {
	t.Helper()
	var b bytes.Buffer
	if err := GhostSVG(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGhostSVG(t *testing.T) {
	golden(t, "ghost.svg", []byte(ghostSVG(t, ghostPicture(5, 40))))
	for _, size := range [][2]int{{0, 0}, {1, 1}, {1, 2}, {3, 7}, {6, 5000}} {
		picture := ghostSVG(t, ghostPicture(size[0], size[1]))
		if err := wellFormed(picture); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		if strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") || len(picture) > 60_000 {
			t.Errorf("%v: %d bytes, or a number that is none", size, len(picture))
		}
		if dir := os.Getenv("JIVAD_PLOT_DIR"); dir != "" { // to look at them
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("ghost-%d-%d.svg", size[0], size[1])), []byte(picture), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Of what lies above removals that are too few to tell, it says just that.
func TestGhostSVGOfFew(t *testing.T) {
	p := ghostPicture(1, 4)
	for i := range p.Bars {
		p.Bars[i].Beyond, p.Bars[i].Larger = p.Bars[i].Larger, false
	}
	p.Chance = "all 3 removals, their median"
	picture := ghostSVG(t, p)
	if err := wellFormed(picture); err != nil {
		t.Error(err)
	}
	if strings.Contains(picture, "larger than chance") || strings.Contains(picture, `class="larger"`) ||
		strings.Count(picture, `class="beyond"`) != 2 || !strings.Contains(picture, "larger, too few to tell") || !strings.Contains(picture, p.Chance) {
		t.Errorf("%s", picture)
	}
	p.Chance = ""
	if !strings.Contains(ghostSVG(t, p), "random removals and their median") {
		t.Error("it does not say what the bands are of")
	}
}

func TestGhostSVGRefuses(t *testing.T) {
	nan, two := math.NaN(), 2.0
	for name, p := range map[string]GhostPicture{
		"a measure that is no number": {Bars: []GhostBar{{At: nan}}},
		"a measure below 0":           {Bars: []GhostBar{{At: -1}}},
		"a band without an end":       {Bars: []GhostBar{{Chance: &[3]float64{0, 1, math.Inf(1)}}}},
		"a depth of 2":                {Curves: []GhostCurve{{Session: []int{1}, With: []*float64{&two}, Without: []*float64{nil}}}},
		"too few depths":              {Curves: []GhostCurve{{Session: []int{1, 2}, With: []*float64{nil, nil}, Without: []*float64{nil}}}},
		"sessions out of order":       {Curves: []GhostCurve{{Session: []int{2, 1}, With: []*float64{nil, nil}, Without: []*float64{nil, nil}}}},
	} {
		if err := GhostSVG(&bytes.Buffer{}, p); !errors.Is(err, ErrPicture) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever the numbers, every point lies inside the picture.
func TestGhostSVGStaysInside(t *testing.T) {
	point := regexp.MustCompile(`(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)`)
	size := regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`)
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.Ptr(rapid.Float64Range(0, 1), true)
		var p GhostPicture
		for range rapid.IntRange(0, 5).Draw(t, "bars") {
			b := GhostBar{At: rapid.Float64Range(0, 1e12).Draw(t, "at")}
			if rapid.Bool().Draw(t, "chance") {
				low, more := rapid.Float64Range(0, 1e6).Draw(t, "least"), rapid.Float64Range(0, 1e6).Draw(t, "more")
				b.Chance = &[3]float64{low, low + more/2, low + more}
			}
			p.Bars = append(p.Bars, b)
		}
		for range rapid.IntRange(0, 6).Draw(t, "curves") {
			c := GhostCurve{Label: rapid.String().Draw(t, "label")}
			session := 0
			for range rapid.IntRange(0, 20).Draw(t, "sessions") {
				session += rapid.IntRange(1, 3).Draw(t, "step")
				c.Session = append(c.Session, session)
				c.With, c.Without = append(c.With, depth.Draw(t, "with")), append(c.Without, depth.Draw(t, "without"))
			}
			p.Curves = append(p.Curves, c)
		}
		p.Marks = rapid.SliceOfN(rapid.IntRange(1, 60), 0, 15).Draw(t, "marks")
		var b bytes.Buffer
		if err := GhostSVG(&b, p); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Fatal("a number that is none")
		}
		var width, height float64
		m := size.FindStringSubmatch(b.String())
		fmt.Sscan(m[1], &width)
		fmt.Sscan(m[2], &height)
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "<path") {
				continue
			}
			for _, m := range point.FindAllStringSubmatch(line, -1) {
				var x, y float64
				fmt.Sscan(m[1], &x)
				fmt.Sscan(m[2], &y)
				if x < 0 || y < 0 || x > width || y > height {
					t.Fatalf("point %s lies outside: %s", m[0], line)
				}
			}
		}
	})
}
