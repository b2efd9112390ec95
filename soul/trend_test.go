package soul

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTrendCSVGolden(t *testing.T) {
	var b bytes.Buffer
	if err := TrendCSV(&b, trendOf(t, 12)); err != nil {
		t.Fatal(err)
	}
	golden(t, "trend.csv", b.Bytes())
}

func TestTrendCSVIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := anyRecords(10).Draw(t, "records")
		var b bytes.Buffer
		if err := TrendCSV(&b, records); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != len(records)+1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		for i, r := range records {
			cell := rows[i+1][at["witness_gap"]]
			var got float64
			if _, err := fmt.Sscan(cell, &got); (err == nil) != (r.WitnessGap != nil) || err == nil && got != *r.WitnessGap {
				t.Fatalf("%q for %s", cell, figure(r.WitnessGap))
			}
		}
	})
}

func TestTrendJSON(t *testing.T) {
	records := trendOf(t, 12)
	var b bytes.Buffer
	if err := TrendJSON(&b, records); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"witness_gap": null`) {
		t.Error("what is undefined is not null")
	}
	var back []Record
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, records) {
		t.Error("the records do not come back as they were")
	}
	b.Reset()
	if err := TrendJSON(&b, nil); err != nil || b.String() != "[]\n" {
		t.Errorf("no records: %q, %v", b.String(), err)
	}
	records[3].Kappa = math.NaN()
	if err := TrendJSON(io.Discard, records); !errors.Is(err, ErrSummary) {
		t.Errorf("NaN: %v", err)
	}
	if err := TrendSVG(io.Discard, records); !errors.Is(err, ErrSummary) {
		t.Errorf("NaN: %v", err)
	}
}

func svg(t testing.TB, records []Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := TrendSVG(&b, records); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wellFormed reads the whole picture and gives the first fault.
func wellFormed(picture string) error {
	d := xml.NewDecoder(strings.NewReader(picture))
	d.Strict = true
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local == "script" || start.Name.Local == "foreignObject" {
				return fmt.Errorf("element %s", start.Name.Local)
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "javascript:") || a.Name.Local == "href" {
					return fmt.Errorf("attribute %s", a.Name.Local)
				}
			}
		}
	}
}

func TestTrendSVG(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4, 60, 5000} {
		picture := svg(t, trendOf(t, n))
		if err := wellFormed(picture); err != nil {
			t.Errorf("%d records: %v", n, err)
		}
		if strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") || len(picture) > 150_000 {
			t.Errorf("%d records: %d bytes, or a number that is none", n, len(picture))
		}
		if again := svg(t, trendOf(t, n)); again != picture {
			t.Errorf("%d records: not deterministic", n)
		}
		if dir := os.Getenv("JIVAD_PLOT_DIR"); dir != "" { // to look at them
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("trend-%d.svg", n)), []byte(picture), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		if err := TrendSVG(&b, anyRecords(30).Draw(t, "records")); err != nil {
			t.Fatal(err)
		}
		if err := wellFormed(b.String()); err != nil || strings.Contains(b.String(), "NaN") {
			t.Fatalf("%v\n%s", err, b.String())
		}
	})
}

// A session without a gap breaks the curve; one alone is a dot.
func TestTrendSVGGaps(t *testing.T) {
	records := trendOf(t, 8)
	lines := func() (int, int) {
		picture := svg(t, records)
		legends := strings.Count(picture, `class="line gap" d="M0,0`)
		return strings.Count(picture, `class="line gap"`) - legends, strings.Count(picture, `class="dot-gap"`)
	}
	if l, d := lines(); l != 1 || d != 0 {
		t.Errorf("whole: %d lines, %d dots", l, d)
	}
	records[3].WitnessGap = nil
	if l, d := lines(); l != 2 || d != 0 {
		t.Errorf("one gap: %d lines, %d dots", l, d)
	}
	records[5].WitnessGap = nil
	if l, d := lines(); l != 2 || d != 1 {
		t.Errorf("two gaps: %d lines, %d dots", l, d)
	}
	for i := range records {
		records[i].WitnessGap = nil
	}
	if l, d := lines(); l != 0 || d != 0 {
		t.Errorf("nothing: %d lines, %d dots", l, d)
	}
}

func TestTrendSVGStaysInside(t *testing.T) {
	number := regexp.MustCompile(`(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)`)
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		if err := TrendSVG(&b, anyRecords(30).Draw(t, "records")); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(b.String(), "</defs>")
		for _, m := range number.FindAllStringSubmatch(body, -1) {
			var x, y float64
			fmt.Sscan(m[1], &x)
			fmt.Sscan(m[2], &y)
			if x > svgWidth || y > svgHeight {
				t.Fatalf("point %s lies outside", m[0])
			}
		}
	})
}

func TestSparkline(t *testing.T) {
	v := func(xs ...float64) []*float64 {
		var out []*float64
		for _, x := range xs {
			if math.IsNaN(x) {
				out = append(out, nil)
			} else {
				out = append(out, &x)
			}
		}
		return out
	}
	none := math.NaN()
	for _, c := range []struct {
		values []*float64
		width  int
		want   string
	}{
		{nil, 10, ""}, {v(1), 0, ""}, {v(1, 2), -1, ""},
		{v(1), 10, "▄"}, {v(3, 3, 3), 10, "▄▄▄"}, {v(none, none), 10, "  "},
		{v(0, 1, 2, 3, 4, 5, 6, 7), 8, "▁▂▃▄▅▆▇█"},
		{v(0, none, 7), 8, "▁ █"},
		{v(0, 0, 7, 7), 2, "▁█"},
		{v(-math.MaxFloat64, math.MaxFloat64), 2, "▁█"},
		{v(0, none, 7, none), 2, "▁█"}, // a run passes over what is undefined
	} {
		if got := Sparkline(c.values, c.width); got != c.want {
			t.Errorf("Sparkline(%d values, %d) = %q, want %q", len(c.values), c.width, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Ptr(rapid.Float64(), true)).Draw(t, "values")
		width := rapid.IntRange(0, 50).Draw(t, "width")
		if n := utf8.RuneCountInString(Sparkline(values, width)); n != min(width, len(values)) {
			t.Fatalf("%d blocks for %d values in %d columns", n, len(values), width)
		}
	})
}

func TestTrendText(t *testing.T) {
	records := trendOf(t, 60)
	for _, width := range []int{0, 40, 60, 80, 200} {
		for _, opts := range []TextOptions{{}, {ASCII: true}, {Last: 5}} {
			text := TrendText(records, width, opts)
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > max(width, 40) && !strings.Contains(line, "has ") && !strings.Contains(line, "sessions,") {
					t.Errorf("width %d, %+v: %d columns: %s", width, opts, n, line)
				}
			}
			if opts.ASCII && strings.IndexFunc(text, func(r rune) bool { return r > 126 }) >= 0 {
				t.Errorf("not ASCII:\n%s", text)
			}
			if opts.Last == 5 && !strings.HasPrefix(text, "5 sessions, 56") {
				t.Errorf("last 5:\n%s", text)
			}
		}
	}
	if got := TrendText(nil, 80, TextOptions{}); got != "No session has ended yet.\n" {
		t.Errorf("none: %q", got)
	}
	golden(t, "trend.txt", []byte(TrendText(records, 80, TextOptions{})))
}

func TestWarnings(t *testing.T) {
	gaps := func(values ...float64) []Record {
		var out []Record
		for i, v := range values {
			r := Record{Session: i + 1}
			if !math.IsNaN(v) {
				r.WitnessGap = &v
			}
			out = append(out, r)
		}
		return out
	}
	shares := func(values ...float64) []Record {
		var out []Record
		for i, v := range values {
			out = append(out, Record{Session: i + 1, GStore: NewVector(guna(t, 0, 1-v, v))})
		}
		return out
	}
	focus := func(values ...float64) []Record {
		var out []Record
		for i, v := range values {
			out = append(out, Record{Session: i + 1, MeanFocus: &v})
		}
		return out
	}
	none := math.NaN()
	for name, c := range map[string]struct {
		records []Record
		want    string
	}{
		"no record":              {nil, ""},
		"three rises":            {gaps(0.9, 0.2, 0.3, 0.4, 0.5), WarnGapRising},
		"over a silent day":      {gaps(0.2, 0.3, none, 0.4, 0.5, none), WarnGapRising},
		"two rises":              {gaps(0.3, 0.4, 0.5), ""},
		"a fall between":         {gaps(0.2, 0.3, 0.29, 0.5), ""},
		"risen, then fallen":     {gaps(0.2, 0.3, 0.4, 0.5, 0.1), ""},
		"rises of nothing":       {gaps(0.2, 0.201, 0.202, 0.203), ""},
		"sattva lost at once":    {shares(0.6, 0.6, 0.45), WarnSattvaFalling},
		"sattva lost slowly":     {shares(0.60, 0.58, 0.56, 0.55, 0.54, 0.53, 0.52, 0.51, 0.5, 0.49, 0.48), WarnSattvaFalling},
		"too slowly":             {shares(0.6, 0.599, 0.598, 0.597, 0.596, 0.595, 0.58, 0.57, 0.56, 0.55, 0.54, 0.53, 0.51), ""},
		"sattva lost long ago":   {shares(0.9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5), ""},
		"sattva rising":          {shares(0.3, 0.4, 0.6), ""},
		"focus collapsed":        {focus(0.4, 0.4, 0.4, 0.4, 0.4, 0.1, 0.1, 0.1), WarnFocusFalling},
		"too little to say":      {focus(0.4, 0.4, 0.4, 0.4, 0.1, 0.1, 0.1), ""},
		"one weak session":       {focus(0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.1), ""},
		"focus was always small": {focus(0.04, 0.04, 0.04, 0.04, 0.04, 0.01, 0.01, 0.01), ""},
	} {
		var kinds []string
		for _, w := range Warnings(c.records) {
			kinds = append(kinds, w.Kind)
			if w.From >= w.To || w.Text == "" {
				t.Errorf("%s: %+v", name, w)
			}
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func BenchmarkTrendSVG5000(b *testing.B) {
	records := trendOf(b, 5000)
	b.ReportAllocs()
	for b.Loop() {
		if err := TrendSVG(io.Discard, records); err != nil {
			b.Fatal(err)
		}
	}
}
