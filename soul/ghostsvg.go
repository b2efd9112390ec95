package soul

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// GhostPicture is what GhostSVG draws: what would differ today had something
// never been.
type GhostPicture struct {
	// Title says what, Note more about it.
	Title, Note string
	Bars        []GhostBar
	Curves      []GhostCurve
	// Chance says what the bands are of; empty is "random removals and their median".
	Chance string
	// Marks are the sessions of what would not be there.
	Marks []int
}

// GhostBar is one measure beside what it is by chance.
type GhostBar struct {
	// Label says what is measured, Value how it is written.
	Label, Value string
	// At is finite and 0 or more.
	At float64
	// Chance is nil, or the least, the median and the upper end of the band.
	Chance *[3]float64
	// Larger says that it is larger than chance, Beyond that it is larger than all
	// of chance that was looked at, which is too little to say so.
	Larger, Beyond bool
}

// GhostCurve is one impression's depth, in [0,1), at the end of each session, as
// it was and as it would have been; nil where it is not there.
type GhostCurve struct {
	Label         string
	Session       []int // rising
	With, Without []*float64
}

// ErrPicture: a picture's numbers do not belong together.
var ErrPicture = errors.New("unusable picture")

func (p *GhostPicture) check() error {
	for _, b := range p.Bars {
		v := []float64{b.At}
		if b.Chance != nil {
			v = append(v, b.Chance[:]...)
		}
		if !finite(v...) || slices.Min(v) < 0 {
			return fmt.Errorf("soul: a measure is %v (%w)", v, ErrPicture)
		}
	}
	for _, c := range p.Curves {
		if len(c.With) != len(c.Session) || len(c.Without) != len(c.Session) || !slices.IsSorted(c.Session) {
			return fmt.Errorf("soul: a curve has %d sessions, %d and %d depths (%w)", len(c.Session), len(c.With), len(c.Without), ErrPicture)
		}
		for _, v := range slices.Concat(c.With, c.Without) {
			if v != nil && !(*v >= 0 && *v <= 1) {
				return fmt.Errorf("soul: a depth is %v (%w)", *v, ErrPicture)
			}
		}
	}
	return nil
}

// The measures of the picture, in pixels.
const (
	barsTop    = 112
	barStep    = 30
	barLeft    = 330
	barRight   = 660
	cellWidth  = 380
	cellHeight = 108
	cellStep   = cellHeight + 58
	cellPoints = cellWidth / 2
	// mostMarks is how many sessions can be marked.
	mostMarks = 12
)

// GhostSVG draws a picture, 900 pixels wide: each measure beside the band that
// random removals stay in, then the depths of the most changed impressions,
// with it and without it. Like the trend's it needs no colour to be read and
// holds no script.
func GhostSVG(w io.Writer, p GhostPicture) error {
	if err := p.check(); err != nil {
		return err
	}
	curvesTop := float64(barsTop + barStep*len(p.Bars) + 74)
	height := curvesTop + float64((len(p.Curves)+1)/2*cellStep) + 6
	d := &drawing{}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %d %s" role="img" aria-labelledby="ghost-title ghost-desc">`+"\n",
		svgWidth, px(height), svgWidth, px(height))
	fmt.Fprintf(d, "<title id=\"ghost-title\">%s</title>\n<desc id=\"ghost-desc\">What would differ today, beside what random removals change, and the depths of the most changed impressions with it and without it.</desc>\n", xmlEscape.Replace(p.Title))
	fmt.Fprintf(d, "<style>%s</style>\n", ghostStyle)
	fmt.Fprintf(d, `<rect class="back" width="%d" height="%s"/>`+"\n", svgWidth, px(height))
	d.text(plotLeft, 36, "title", "start", fit(p.Title, 74))
	d.text(plotLeft, 56, "tick", "start", fit(p.Note, 134))
	d.bars(p)
	d.multiples(curvesTop, p)
	d.WriteString("</svg>\n")
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("soul: ghost as SVG: %w", err)
	}
	return nil
}

const ghostStyle = `
  text{font-family:system-ui,sans-serif;font-size:12px;fill:#2b2b2b}
  .title{font-size:20px;font-weight:600}
  .head{font-size:14px;font-weight:600}
  .tick{fill:#595959;font-size:11px}
  .back{fill:#ffffff}
  .grid{stroke:#dcdcdc;stroke-width:1;fill:none}
  .axis{stroke:#7a7a7a;stroke-width:1;fill:none}
  .mark{stroke:#7a7a7a;stroke-width:1;stroke-dasharray:2 3;fill:none}
  .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
  .now-with{fill:#6d3b8e;font-size:11px}.now-without{fill:#1d6996;font-size:11px}
  .with{stroke:#6d3b8e}.without{stroke:#1d6996;stroke-dasharray:5 4}
  .dot-with{fill:#6d3b8e}.dot-without{fill:#ffffff;stroke:#1d6996;stroke-width:1.5}
  .band{fill:#d5d9dd}.median{stroke:#595959;stroke-width:1.5;fill:none}
  .larger{fill:#6d3b8e}.within,.beyond{fill:#ffffff;stroke:#6d3b8e;stroke-width:2}
  .beyond{stroke-dasharray:2.5 1.4}
  @media (prefers-color-scheme:dark){
    text{fill:#e6e6e6}.tick{fill:#a8a8a8}.back{fill:#16181c}
    .grid{stroke:#34383f}.axis{stroke:#868c96}.mark{stroke:#868c96}
    .now-with{fill:#c79be6}.now-without{fill:#74b9e0}
    .with{stroke:#c79be6}.without{stroke:#74b9e0}
    .dot-with{fill:#c79be6}.dot-without{fill:#16181c;stroke:#74b9e0}
    .band{fill:#3a4048}.median{stroke:#a8a8a8}
    .larger{fill:#c79be6}.within,.beyond{fill:#16181c;stroke:#c79be6}
  }
`

// bars draws the measures, each on a scale of its own from 0.
func (d *drawing) bars(p GhostPicture) {
	bars := p.Bars
	d.text(plotLeft, barsTop-24, "head", "start", "What differs today")
	above := [2]string{`<circle class="larger" cx="20" r="5"/>`, "larger than chance"}
	if slices.ContainsFunc(bars, func(b GhostBar) bool { return b.Beyond }) {
		above = [2]string{`<circle class="beyond" cx="20" r="5"/>`, "larger, too few to tell"}
	}
	d.legend(barsTop-10,
		[2]string{`<rect class="band" x="0" y="-6" width="28" height="12"/><path class="median" d="M14,-6 V6"/>`, cmp.Or(p.Chance, "random removals and their median")},
		above, [2]string{`<circle class="within" cx="20" r="5"/>`, "within it"})
	for i, b := range bars {
		y := float64(barsTop + barStep*i + 14)
		most := b.At
		if b.Chance != nil {
			most = max(most, b.Chance[2])
		}
		x := func(v float64) float64 {
			if most == 0 {
				return barLeft
			}
			return barLeft + float64(v/most*(barRight-barLeft))
		}
		d.text(barLeft-16, y+4, "label", "end", b.Label)
		fmt.Fprintf(d, `<path class="axis" d="M%d,%s V%s"/><path class="grid" d="M%d,%s H%d"/>`+"\n", barLeft, px(y-11), px(y+11), barLeft, px(y), barRight)
		if c := b.Chance; c != nil {
			fmt.Fprintf(d, `<rect class="band" x="%s" y="%s" width="%s" height="14"/>`+"\n", px(x(c[0])), px(y-7), px(max(x(c[2])-x(c[0]), 1.5)))
			fmt.Fprintf(d, `<path class="median" d="M%s,%s v14"/>`+"\n", px(x(c[1])), px(y-7))
		}
		class := "within"
		switch {
		case b.Larger:
			class = "larger"
		case b.Beyond:
			class = "beyond"
		}
		fmt.Fprintf(d, `<circle class="%s" cx="%s" cy="%s" r="5"/>`+"\n", class, px(x(b.At)), px(y))
		d.text(barRight+16, y+4, "label", "start", b.Value)
	}
}

// multiples draws one small panel for each impression, all on one scale.
func (d *drawing) multiples(top float64, p GhostPicture) {
	d.text(plotLeft, top-30, "head", "start", "Depth of the most changed impressions")
	if len(p.Curves) == 0 {
		d.text(plotLeft, top-8, "label", "start", "No impression would be deeper or less deep.")
		return
	}
	marks := p.Marks
	if len(marks) > mostMarks {
		marks = nil // they would hide the curves
	}
	entries := [][2]string{
		{fmt.Sprintf(lineSample, "with"), "as it was"},
		{fmt.Sprintf(lineSample, "without"), "without it"},
	}
	if len(marks) > 0 {
		entries = append(entries, [2]string{`<path class="mark" d="M14,-8 V8"/>`, "when it was"})
	}
	d.legend(top-16, entries...)
	high := 0.1
	for _, c := range p.Curves {
		for _, v := range slices.Concat(c.With, c.Without) {
			if v != nil {
				high = max(high, *v)
			}
		}
	}
	step := niceStep(high / 5)
	high = math.Ceil(high/step-1e-9) * step
	first, last := spanOfCurves(p.Curves, marks)
	for i, c := range p.Curves {
		left, y := float64(plotLeft), top+float64(i/2*cellStep)+14
		if i%2 == 1 {
			left = plotRight - cellWidth
		}
		f := frame{left: left, top: y, high: high, step: step, first: first, last: last, named: i/2 == (len(p.Curves)-1)/2}
		d.multiple(f, c, marks)
	}
}

// frame is one panel: where it lies and what it spans.
type frame struct {
	left, top   float64
	high, step  float64
	first, last float64
	// named panels say what their axis is.
	named bool
}

const (
	// cellInset and cellLabels are the room beside the curves.
	cellInset  = 8
	cellLabels = 40
)

func (f frame) x(session float64) float64 {
	if f.last <= f.first {
		return f.left + cellWidth/2
	}
	return f.left + cellInset + float64((session-f.first)/(f.last-f.first)*(cellWidth-cellInset-cellLabels))
}

func (f frame) y(v float64) float64 { return f.top + cellHeight - float64(v/f.high*cellHeight) }

// spanOfCurves are the sessions from the first mark or depth to the last.
func spanOfCurves(curves []GhostCurve, marks []int) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, m := range marks {
		first = min(first, float64(m))
	}
	for _, c := range curves {
		for i, s := range c.Session {
			if c.With[i] != nil || c.Without[i] != nil {
				first = min(first, float64(s))
			}
			last = max(last, float64(s))
		}
	}
	return min(first, last), last
}

// multiple draws one panel.
func (d *drawing) multiple(f frame, c GhostCurve, marks []int) {
	d.text(f.left, f.top-8, "label", "start", fit(c.Label, 56))
	for v := 0.0; v <= f.high*(1+1e-9); v += f.step {
		fmt.Fprintf(d, `<path class="grid" d="M%s,%s h%d"/>`+"\n", px(f.left), px(f.y(v)), cellWidth)
		d.text(f.left-6, f.y(v)+4, "tick", "end", fmt.Sprintf("%.2f", v))
	}
	fmt.Fprintf(d, `<path class="axis" d="M%s,%s v%d h%d"/>`+"\n", px(f.left), px(f.top), cellHeight, cellWidth)
	if len(c.Session) == 0 {
		return
	}
	step := max(niceStep((f.last-f.first)/8), 1)
	for v := math.Ceil(f.first/step) * step; v <= f.last+1e-9; v += step {
		fmt.Fprintf(d, `<path class="axis" d="M%s,%s v4"/>`+"\n", px(f.x(v)), px(f.top+cellHeight))
		d.text(f.x(v), f.top+cellHeight+17, "tick", "middle", fmt.Sprintf("%.0f", v))
	}
	if f.named {
		d.text(f.left+cellWidth, f.top+cellHeight+32, "tick", "end", "session")
	}
	for _, m := range marks {
		if s := float64(m); s >= f.first && s <= f.last {
			fmt.Fprintf(d, `<path class="mark" d="M%s,%s V%s"/>`+"\n", px(f.x(s)), px(f.top), px(f.top+cellHeight))
		}
	}
	from, _ := slices.BinarySearch(c.Session, int(f.first))
	sessions := make([]*float64, 0, len(c.Session))
	for _, s := range c.Session[from:] {
		sessions = append(sessions, whole(s))
	}
	sessions = thinned(sessions)
	d.follow("with", f, sessions, thinned(c.With[from:]))
	d.follow("without", f, sessions, thinned(c.Without[from:]))
	d.endLabels(f, c)
}

// thinned has no more points than the width can show: means of equal runs, but
// for the last, which is today.
func thinned(values []*float64) []*float64 {
	n := len(values)
	if n <= cellPoints {
		return values
	}
	return append(squeeze(values[:n-1], cellPoints-1), values[n-1])
}

// follow draws one line with gaps, and a dot at its end.
func (d *drawing) follow(class string, f frame, sessions, values []*float64) {
	var run []string
	flush := func() {
		if len(run) > 1 {
			fmt.Fprintf(d, `<path class="line %s" d="M%s"/>`+"\n", class, strings.Join(run, " L"))
		}
		run = run[:0]
	}
	end := ""
	for i, v := range values {
		if v == nil {
			flush()
			continue
		}
		run = append(run, px(f.x(*sessions[i]))+","+px(f.y(*v)))
		end = fmt.Sprintf(`<circle class="dot-%s" cx="%s" cy="%s" r="3"/>`+"\n", class, px(f.x(*sessions[i])), px(f.y(*v)))
	}
	flush()
	d.WriteString(end)
}

// endLabels writes both depths of today beside the curves' ends, apart from each
// other.
func (d *drawing) endLabels(f frame, c GhostCurve) {
	const apart = 12
	x := f.left + cellWidth - cellLabels + 8
	n := len(c.Session) - 1
	with, without := c.With[n], c.Without[n]
	var a, b float64
	if with != nil {
		a = f.y(*with)
	}
	if without != nil {
		b = f.y(*without)
	}
	if with != nil && without != nil {
		shift := float64(max(apart-math.Abs(a-b), 0) / 2)
		if a <= b {
			a = max(a-shift, f.top+4)
			b = max(b+shift, a+apart)
		} else {
			b = max(b-shift, f.top+4)
			a = max(a+shift, b+apart)
		}
	}
	if with != nil {
		d.text(x, a+4, "now-with", "start", fmt.Sprintf("%.3f", *with))
	}
	if without != nil {
		d.text(x, b+4, "now-without", "start", fmt.Sprintf("%.3f", *without))
	}
}

// fit shortens a text to a width of columns.
func fit(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var out strings.Builder
	used, state := 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += w; used > width-1 {
			break
		}
		out.WriteString(cluster)
	}
	return strings.TrimRight(out.String(), " ") + "…"
}
