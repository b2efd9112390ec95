package soul

import (
	"fmt"
	"math"
	"strings"
)

func (d *drawing) gapPanel(top float64) {
	value := func(s *sample) *float64 { return s.gap }
	high := 0.2
	for i := range d.points {
		if v := value(&d.points[i]); v != nil {
			high = max(high, *v)
		}
	}
	step := niceStep(high / 4)
	high = min(math.Ceil(high/step-1e-9)*step, 2)
	y := d.panel(top, "Witness gap: how far a session lay from the identity's own words (0 to 2)", high, step, func(v float64) string { return fmt.Sprintf("%.2f", v) })
	d.curve("gap", y, value)
}

func (d *drawing) sharesPanel(top float64) {
	y := d.panel(top, "Character of the store, in shares", 1, 0.25, func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) })
	d.legend(top,
		[2]string{fmt.Sprintf(boxSample, `fill="url(#tamas)"`), "tamas, heavy"},
		[2]string{fmt.Sprintf(boxSample, `fill="url(#rajas)"`), "rajas, restless"},
		[2]string{fmt.Sprintf(boxSample, `class="sattva"`), "sattva, clear"})
	for from := 0; from < len(d.points); {
		if d.points[from].tamas == nil {
			from++
			continue
		}
		to := from
		for to < len(d.points) && d.points[to].tamas != nil {
			to++
		}
		d.stack(d.points[from:to], y)
		from = to
	}
}

// stack draws one run of shares, from below tamas, rajas, sattva.
func (d *drawing) stack(run []sample, y func(float64) float64) {
	// Each point has its slot, so that a single one is a column.
	var xs []float64
	var lower, upper []float64 // the two borders inside
	add := func(x float64, s *sample) {
		xs = append(xs, x)
		lower = append(lower, y(*s.tamas))
		upper = append(upper, y(*s.tamas+*s.rajas))
	}
	half := d.slot() / 2
	add(d.x(run[0].session)-half, &run[0])
	for i := range run {
		add(d.x(run[i].session), &run[i])
	}
	add(d.x(run[len(run)-1].session)+half, &run[len(run)-1])
	level := func(v float64) []float64 {
		out := make([]float64, len(xs))
		for i := range out {
			out[i] = y(v)
		}
		return out
	}
	d.band(`class="sattva"`, xs, level(1), upper)
	d.band(`fill="url(#rajas)"`, xs, upper, lower)
	d.band(`fill="url(#tamas)"`, xs, lower, level(0))
	for _, border := range [][]float64{lower, upper} {
		fmt.Fprintf(d, `<path class="edge" d="M%s"/>`+"\n", outline(xs, border))
	}
}

func (d *drawing) band(fill string, xs, above, below []float64) {
	back := make([]string, len(xs))
	for i := range xs {
		back[len(xs)-1-i] = px(xs[i]) + "," + px(below[i])
	}
	fmt.Fprintf(d, `<path %s d="M%s L%s Z"/>`+"\n", fill, outline(xs, above), strings.Join(back, " L"))
}

func outline(xs, ys []float64) string {
	out := make([]string, len(xs))
	for i := range xs {
		out[i] = px(xs[i]) + "," + px(ys[i])
	}
	return strings.Join(out, " L")
}

func (d *drawing) focusPanel(top float64) {
	y := d.panel(top, "Focus and threshold, mean of the session", 1, 0.25, func(v float64) string { return fmt.Sprintf("%.2f", v) })
	d.legend(top,
		[2]string{fmt.Sprintf(lineSample, "focus"), "focus"},
		[2]string{fmt.Sprintf(lineSample, "theta"), "threshold"})
	d.curve("focus", y, func(s *sample) *float64 { return s.focus })
	d.curve("theta", y, func(s *sample) *float64 { return s.theta })
}

func (d *drawing) eventsPanel(top float64) {
	high := 4.0
	for i := range d.points {
		high = max(high, *d.points[i].events)
	}
	step := max(niceStep(high/4), 1)
	high = math.Ceil(high/step-1e-9) * step
	y := d.panel(top, "Entries of a session, and how many became impressions", high, step, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	d.legend(top,
		[2]string{fmt.Sprintf(boxSample, `class="events rim"`), "entries"},
		[2]string{fmt.Sprintf(boxSample, `class="new"`), "new impressions"})
	width := max(d.slot()*0.76, 1)
	events := "events"
	if width > 5 {
		events = "events rim"
	}
	for i := range d.points {
		s := &d.points[i]
		x := d.x(s.session)
		d.bar(events, x, width, y(*s.events), y(0))
		d.bar("new", x, width*0.55, y(*s.new), y(0))
	}
}

func (d *drawing) bar(class string, x, width, top, bottom float64) {
	if bottom-top < 0.05 {
		return
	}
	fmt.Fprintf(d, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", class, px(x-width/2), px(top), px(width), px(bottom-top))
}

// ternary draws the path of the character between the three poles.
func (d *drawing) ternary(top float64) {
	const left, side = 96.0, 280.0
	height := side * math.Sqrt(3) / 2
	base := top + 40 + height
	at := func(t, r, s float64) (float64, float64) {
		sum := t + r + s
		if !(sum > 0) {
			t, r, s, sum = 1, 1, 1, 3
		}
		return left + (r+s/2)/sum*side, base - s/sum*height
	}
	place := func(t, r, s float64) string {
		x, y := at(t, r, s)
		return px(x) + "," + px(y)
	}
	d.text(plotLeft, top-2, "head", "start", "Path of the character")
	for _, v := range []float64{0.25, 0.5, 0.75} {
		fmt.Fprintf(d, `<path class="grid" d="M%s L%s M%s L%s M%s L%s"/>`+"\n",
			place(v, 1-v, 0), place(v, 0, 1-v), place(1-v, v, 0), place(0, v, 1-v), place(1-v, 0, v), place(0, 1-v, v))
	}
	fmt.Fprintf(d, `<path class="axis" d="M%s L%s L%s Z"/>`+"\n", place(1, 0, 0), place(0, 1, 0), place(0, 0, 1))
	d.text(left+side/2, base-height-8, "label", "middle", "sattva")
	d.text(left, base+18, "label", "middle", "tamas")
	d.text(left+side, base+18, "label", "middle", "rajas")

	var store, self []string
	for i := range d.points {
		if s := &d.points[i]; s.tamas != nil {
			store = append(store, place(*s.tamas, *s.rajas, *s.sattva))
		}
		if s := &d.points[i]; s.selfT != nil {
			self = append(self, place(*s.selfT, *s.selfR, *s.selfS))
		}
	}
	if len(self) > 0 {
		fmt.Fprintf(d, `<path class="self" d="M%s"/>`+"\n", strings.Join(self, " L"))
	}
	if len(store) > 0 {
		fmt.Fprintf(d, `<path class="path" d="M%s"/>`+"\n", strings.Join(store, " L"))
	}
	if len(store) > 1 {
		d.mark(`<circle class="start" r="4"/>`, store[0])
	}
	if len(store) > 0 {
		d.mark(`<circle class="end" r="5"/>`, store[len(store)-1])
	}
	if len(self) > 0 {
		d.mark(`<path class="selfend" d="M0,-6 L6,0 L0,6 L-6,0 Z"/>`, self[len(self)-1])
	}
}

// mark places a shape at "x,y".
func (d *drawing) mark(shape, at string) {
	fmt.Fprintf(d, `<g transform="translate(%s)">%s</g>`+"\n", at, shape)
}

// sideNotes explains the triangle and says where things stand now.
func (d *drawing) sideNotes(top float64, records []Record) {
	const x = 470.0
	y := top + 36
	for _, e := range [][2]string{
		{`<path class="path" d="M0,0 H28"/><circle class="start" r="4"/><circle class="end" cx="28" r="5"/>`, "the store, from the first session (ring) to the last (disc)"},
		{`<path class="self" d="M0,0 H28"/><path class="selfend" d="M28,-6 L34,0 L28,6 L22,0 Z"/>`, "the identity's own, slower character (ends in a diamond)"},
	} {
		fmt.Fprintf(d, `<g transform="translate(%s %s)">%s</g>`+"\n", px(x), px(y-4), e[0])
		d.text(x+46, y, "label", "start", e[1])
		y += 24
	}
	y += 14
	last := &records[len(records)-1]
	d.text(x, y, "head", "start", fmt.Sprintf("Session %d", last.Session))
	lines := []string{"witness gap: " + figure(last.WitnessGap)}
	if s, ok := last.GStore.Shares(); ok {
		lines = append(lines, "store: "+shareList(s))
	}
	if s, ok := last.GAhamkara.Shares(); ok {
		lines = append(lines, "identity: "+shareList(s))
	}
	if last.MokshaDistance != nil {
		lines = append(lines, fmt.Sprintf("mean angle of all impressions to sattva: %.1f degrees", *last.MokshaDistance))
	}
	lines = append(lines, fmt.Sprintf("%s, %s, %s", count(last.Impressions, "impression", "impressions"),
		count(last.Vasanas, "tendency", "tendencies"), count(last.Ghosts, "ghost", "ghosts")))
	for _, line := range lines {
		y += 19
		d.text(x, y, "label", "start", line)
	}
	warnings := Warnings(records)
	if len(warnings) == 0 {
		return
	}
	y += 34
	d.text(x, y, "head", "start", "Early signs")
	for _, w := range warnings {
		for _, line := range wrap(w.Text, 60) {
			y += 18
			d.text(x, y, "label", "start", line)
		}
	}
}

// wrap breaks text between words into lines of at most n characters.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > n {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
