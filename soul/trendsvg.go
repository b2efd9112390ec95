package soul

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// The plot's measures, in pixels.
const (
	svgWidth    = 900
	plotLeft    = 64
	plotRight   = 876
	plotWidth   = plotRight - plotLeft
	panelHeight = 130
	panelStep   = panelHeight + 72
	panelTop    = 96
	ternaryTop  = panelTop + 4*panelStep
	svgHeight   = ternaryTop + 330
	// maxPoints bounds what is drawn: a point takes at least four pixels, so that
	// dashes are still seen as dashes.
	maxPoints = plotWidth / 4
)

// TrendSVG draws the trend as one static picture, 900 pixels wide: the witness
// gap, the shares of the store, focus and threshold, events, and the path of
// the character in a triangle. It needs no colour to be read (dashes, patterns,
// labels), follows the viewer's light or dark scheme, and holds no script. What
// is undefined is a gap. Many records are averaged to what the width can show.
func TrendSVG(w io.Writer, records []Record) error {
	for i := range records {
		if err := records[i].Check(); err != nil {
			return err
		}
	}
	d := &drawing{points: bucket(records, maxPoints)}
	d.open(records)
	if len(d.points) == 0 {
		d.text(plotLeft, panelTop, "label", "start", "No session has ended yet.")
	} else {
		d.gapPanel(panelTop)
		d.sharesPanel(panelTop + panelStep)
		d.focusPanel(panelTop + 2*panelStep)
		d.eventsPanel(panelTop + 3*panelStep)
		d.ternary(ternaryTop)
		d.sideNotes(ternaryTop, records)
	}
	d.WriteString("</svg>\n")
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("soul: trend as SVG: %w", err)
	}
	return nil
}

// sample is one record, or the mean of a run of them.
type sample struct {
	session             float64
	gap, focus, theta   *float64
	tamas, rajas        *float64 // shares; sattva is the rest
	sattva              *float64
	selfT, selfR, selfS *float64 // the identity's own
	events, new         *float64
}

// bucket averages the records in at most n equal runs.
func bucket(records []Record, n int) []sample {
	column := func(value func(*Record) *float64) []*float64 {
		all := make([]*float64, len(records))
		for i := range records {
			all[i] = value(&records[i])
		}
		return squeeze(all, n)
	}
	self := func(i int) func(*Record) *float64 {
		return func(r *Record) *float64 {
			s, ok := r.GAhamkara.Shares()
			if !ok {
				return nil
			}
			return []*float64{&s.Tamas, &s.Rajas, &s.Sattva}[i]
		}
	}
	session := column(func(r *Record) *float64 { return whole(r.Session) })
	gap := column(func(r *Record) *float64 { return r.WitnessGap })
	focus := column(func(r *Record) *float64 { return r.MeanFocus })
	theta := column(func(r *Record) *float64 { return r.MeanTheta })
	t, r, s := column((*Record).tamas), column((*Record).rajas), column((*Record).sattva)
	st, sr, ss := column(self(0)), column(self(1)), column(self(2))
	events := column(func(r *Record) *float64 { return whole(r.Events) })
	fresh := column(func(r *Record) *float64 { return whole(r.New) })
	out := make([]sample, len(session))
	for i := range out {
		out[i] = sample{*session[i], gap[i], focus[i], theta[i], t[i], r[i], s[i], st[i], sr[i], ss[i], events[i], fresh[i]}
	}
	return out
}

// drawing collects the SVG.
type drawing struct {
	strings.Builder
	points []sample
}

// style holds the light scheme first; the dark one only changes colours.
const style = `
  text{font-family:system-ui,sans-serif;font-size:12px;fill:#2b2b2b}
  .title{font-size:20px;font-weight:600}
  .head{font-size:14px;font-weight:600}
  .tick{fill:#595959;font-size:11px}
  .back{fill:#ffffff}
  .grid{stroke:#dcdcdc;stroke-width:1;fill:none}
  .axis{stroke:#7a7a7a;stroke-width:1;fill:none}
  .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
  .edge{fill:none;stroke:#2b2b2b;stroke-width:1.2;stroke-linejoin:round}
  .gap{stroke:#6d3b8e}.focus{stroke:#1d6996}.theta{stroke:#8a5a00;stroke-dasharray:7 5}
  .dot-gap{fill:#6d3b8e}.dot-focus{fill:#1d6996}.dot-theta{fill:#8a5a00}
  .tamas{fill:#8796a5}.rajas{fill:#e79a6c}.sattva{fill:#f4dc8c}
  .hatch{stroke:#2b2b2b;stroke-width:.8;fill:none;opacity:.55}.speck{fill:#2b2b2b;opacity:.45}
  .events{fill:#c3d7e2}.rim{stroke:#1d6996;stroke-width:.8}.new{fill:#1d6996}
  .path{fill:none;stroke:#2b2b2b;stroke-width:1.6;stroke-linejoin:round}
  .self{fill:none;stroke:#6d3b8e;stroke-width:1.6;stroke-dasharray:3 3}
  .end{fill:#2b2b2b}.start{fill:#ffffff;stroke:#2b2b2b;stroke-width:1.5}.selfend{fill:#6d3b8e}
  @media (prefers-color-scheme:dark){
    text{fill:#e6e6e6}.tick{fill:#a8a8a8}.back{fill:#16181c}
    .grid{stroke:#34383f}.axis{stroke:#868c96}.edge{stroke:#e6e6e6}
    .gap{stroke:#c79be6}.focus{stroke:#74b9e0}.theta{stroke:#e0b45c}
    .dot-gap{fill:#c79be6}.dot-focus{fill:#74b9e0}.dot-theta{fill:#e0b45c}
    .tamas{fill:#4a5764}.rajas{fill:#9c5530}.sattva{fill:#8d7524}
    .hatch{stroke:#e6e6e6}.speck{fill:#e6e6e6}
    .events{fill:#23414f}.rim{stroke:#74b9e0}.new{fill:#74b9e0}
    .path{stroke:#e6e6e6}.self{stroke:#c79be6}.end{fill:#e6e6e6}.start{fill:#16181c;stroke:#e6e6e6}.selfend{fill:#c79be6}
  }
`

// patterns tell the shares apart without colour: tamas hatched, rajas dotted,
// sattva plain.
const patterns = `<defs>
<pattern id="tamas" width="7" height="7" patternUnits="userSpaceOnUse"><rect class="tamas" width="7" height="7"/><path class="hatch" d="M-1,1 L1,-1 M0,7 L7,0 M6,8 L8,6"/></pattern>
<pattern id="rajas" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="rajas" width="8" height="8"/><circle class="speck" cx="2" cy="2" r="1"/><circle class="speck" cx="6" cy="6" r="1"/></pattern>
</defs>
`

func (d *drawing) open(records []Record) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="trend-title trend-desc">`+"\n",
		svgWidth, svgHeight, svgWidth, svgHeight)
	span := "no session has ended yet"
	if n := len(records); n > 0 {
		span = spanOf(records, " to ")
	}
	fmt.Fprintf(d, "<title id=\"trend-title\">Trend of the soul</title>\n<desc id=\"trend-desc\">Witness gap, shares of the store, focus and threshold, and entries: %s.</desc>\n", span)
	fmt.Fprintf(d, "<style>%s</style>\n%s", style, patterns)
	fmt.Fprintf(d, `<rect class="back" width="%d" height="%d"/>`+"\n", svgWidth, svgHeight)
	d.text(plotLeft, 36, "title", "start", "Trend")
	if n := len(records); n > len(d.points) {
		span += fmt.Sprintf("; each point is the mean of about %d", int(math.Round(float64(n)/float64(len(d.points)))))
	}
	d.text(plotLeft, 56, "tick", "start", span)
}

// text places a text; everything a person wrote goes through here.
func (d *drawing) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(d, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`+"\n", px(x), px(y), class, anchor, xmlEscape.Replace(s))
}

var xmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func px(v float64) string {
	s := fmt.Sprintf("%.1f", v+0)
	return strings.TrimSuffix(s, ".0")
}

// x is where a session lies.
func (d *drawing) x(session float64) float64 {
	first, last := d.points[0].session, d.points[len(d.points)-1].session
	half := d.slot() / 2
	if last <= first {
		return plotLeft + plotWidth/2
	}
	return plotLeft + half + (session-first)/(last-first)*(plotWidth-2*half)
}

// slot is the width that one point has to itself.
func (d *drawing) slot() float64 { return min(plotWidth/float64(len(d.points)), 40) }

// panel draws the frame, the grid and the axes; y maps 0…high to the frame.
func (d *drawing) panel(top float64, title string, high, step float64, label func(float64) string) (y func(float64) float64) {
	y = func(v float64) float64 { return top + panelHeight - min(max(v/high, 0), 1)*panelHeight }
	d.text(plotLeft, top-14, "head", "start", title)
	for i := 0; float64(i)*step <= high*(1+1e-9); i++ {
		v := float64(i) * step
		fmt.Fprintf(d, `<path class="grid" d="M%d,%s H%d"/>`+"\n", plotLeft, px(y(v)), plotRight)
		d.text(plotLeft-8, y(v)+4, "tick", "end", label(v))
	}
	fmt.Fprintf(d, `<path class="axis" d="M%d,%s V%s H%d"/>`+"\n", plotLeft, px(top), px(top+panelHeight), plotRight)
	d.sessionTicks(top + panelHeight)
	return y
}

func (d *drawing) sessionTicks(y float64) {
	first, last := d.points[0].session, d.points[len(d.points)-1].session
	step := max(niceStep((last-first)/8), 1)
	for v := math.Ceil(first/step) * step; v <= last+1e-9; v += step {
		fmt.Fprintf(d, `<path class="axis" d="M%s,%s v4"/>`+"\n", px(d.x(v)), px(y))
		d.text(d.x(v), y+17, "tick", "middle", fmt.Sprintf("%.0f", v))
		if last-first < step/2 {
			break
		}
	}
	d.text(plotRight, y+32, "tick", "end", "session")
}

// niceStep is 1, 2 or 5 times a power of ten, at least v.
func niceStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if base*m >= v*(1-1e-9) {
			return base * m
		}
	}
	return base * 10
}

// curve draws a line with gaps; a value with undefined neighbours is a dot.
func (d *drawing) curve(name string, y func(float64) float64, value func(*sample) *float64) {
	var run []string
	var dots [][2]string
	flush := func() {
		if len(run) > 1 {
			fmt.Fprintf(d, `<path class="line %s" d="M%s"/>`+"\n", name, strings.Join(run, " L"))
		} else if len(run) == 1 {
			at := strings.SplitN(run[0], ",", 2)
			dots = append(dots, [2]string{at[0], at[1]})
		}
		run = run[:0]
	}
	for i := range d.points {
		v := value(&d.points[i])
		if v == nil {
			flush()
			continue
		}
		run = append(run, px(d.x(d.points[i].session))+","+px(y(*v)))
	}
	flush()
	for _, at := range dots {
		fmt.Fprintf(d, `<circle class="dot-%s" cx="%s" cy="%s" r="3"/>`+"\n", name, at[0], at[1])
	}
}

// legend places samples with names above a panel, from the right. Widths of
// text are estimated: no font is known here.
func (d *drawing) legend(top float64, entries ...[2]string) {
	const sampleWidth, letter, space = 34, 6.6, 22
	x := float64(plotRight)
	for _, e := range entries {
		x -= sampleWidth + letter*float64(len(e[1])) + space
	}
	x += space
	for _, e := range entries {
		fmt.Fprintf(d, `<g transform="translate(%s %s)">%s</g>`+"\n", px(x), px(top-18), e[0])
		d.text(x+sampleWidth, top-14, "label", "start", e[1])
		x += sampleWidth + letter*float64(len(e[1])) + space
	}
}

const (
	lineSample = `<path class="line %s" d="M0,0 H28"/>`
	boxSample  = `<rect %s x="4" y="-7" width="22" height="13"/>`
)
