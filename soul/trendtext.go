package soul

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// TextOptions say what a terminal can show.
type TextOptions struct {
	// ASCII draws with letters that every terminal has.
	ASCII bool
	// Last is how many sessions to show; 0 means all.
	Last int
}

const (
	blocks      = "▁▂▃▄▅▆▇█"
	asciiBlocks = "_.:-=+*#"
)

// Sparkline draws values as one line of at most width blocks between their
// least and their greatest. Undefined values are blanks. More values than width
// are averaged in equal runs; equal values are drawn at half height.
func Sparkline(values []*float64, width int) string {
	return sparkline(values, width, 0, blocks)
}

// sparkline is Sparkline with letters of its own. Values that span less than
// least are drawn in the middle of that much, so that what hardly moves looks so.
func sparkline(values []*float64, width int, least float64, ramp string) string {
	values = squeeze(values, width)
	low, high, ok := bounds(values)
	if !ok {
		return strings.Repeat(" ", len(values))
	}
	if span := high/2 - low/2; span < least/2 && low != high {
		middle := low/2 + high/2
		low, high = middle-least/2, middle+least/2
	}
	steps := []rune(ramp)
	var b strings.Builder
	for _, v := range values {
		switch {
		case v == nil:
			b.WriteByte(' ')
		case high == low:
			b.WriteRune(steps[len(steps)/2-1])
		default:
			// Halving first keeps the span of the greatest floats finite.
			at := int((*v/2 - low/2) / (high/2 - low/2) * float64(len(steps)))
			b.WriteRune(steps[min(max(at, 0), len(steps)-1)])
		}
	}
	return b.String()
}

// squeeze averages values into at most n runs, passing over what is undefined or
// not finite. A run without a value is undefined.
func squeeze(values []*float64, n int) []*float64 {
	if n <= 0 {
		return nil
	}
	n = min(n, len(values))
	out := make([]*float64, n)
	for i := range out {
		run := values[i*len(values)/n : (i+1)*len(values)/n]
		sum, count := 0.0, 0
		for _, v := range run {
			if v != nil && finite(*v) {
				sum += *v / float64(len(run))
				count++
			}
		}
		if count > 0 {
			mean := sum * float64(len(run)) / float64(count)
			if len(run) == 1 {
				mean = *run[0]
			}
			out[i] = &mean
		}
	}
	return out
}

func bounds(values []*float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v != nil && finite(*v) {
			low, high, ok = min(low, *v), max(high, *v), true
		}
	}
	return low, high, ok
}

// series are the lines of TrendText.
var series = []struct {
	name   string
	format func(float64) string
	// least is the span under which the line stays flat.
	least float64
	value func(*Record) *float64
}{
	{"witness gap", fine, 0.05, func(r *Record) *float64 { return r.WitnessGap }},
	{"sattva share", fine, 0.05, (*Record).sattva},
	{"rajas share", fine, 0.05, (*Record).rajas},
	{"tamas share", fine, 0.05, (*Record).tamas},
	{"focus", fine, 0.05, func(r *Record) *float64 { return r.MeanFocus }},
	{"threshold", fine, 0.05, func(r *Record) *float64 { return r.MeanTheta }},
	{"valence", fine, 0.1, func(r *Record) *float64 { return r.Valence }},
	{"to sattva (deg)", coarse, 2, func(r *Record) *float64 { return r.MokshaDistance }},
	{"entries", entire, 2, func(r *Record) *float64 { return whole(r.Events) }},
	{"new", entire, 2, func(r *Record) *float64 { return whole(r.New) }},
	{"tendencies", entire, 2, func(r *Record) *float64 { return whole(r.Vasanas) }},
}

func whole(n int) *float64 {
	v := float64(n)
	return &v
}

func (r *Record) rajas() *float64 {
	s, ok := r.GStore.Shares()
	if !ok {
		return nil
	}
	return &s.Rajas
}

func (r *Record) tamas() *float64 {
	s, ok := r.GStore.Shares()
	if !ok {
		return nil
	}
	return &s.Tamas
}

// TrendText is the trend for a terminal of width columns (40 or more): for each
// figure a sparkline, the last value and the range, then the warnings.
func TrendText(records []Record, width int, opts TextOptions) string {
	all := records
	if opts.Last > 0 && len(records) > opts.Last {
		records = records[len(records)-opts.Last:]
	}
	if len(records) == 0 {
		return "No session has ended yet.\n"
	}
	ramp, dash, alarm := blocks, "–", "⚠ "
	if opts.ASCII {
		ramp, dash, alarm = asciiBlocks, "-", "! "
	}
	const names, figures = 16, 31 // columns beside the line
	room := max(width, 40) - names - 1
	wide := room-figures >= 10
	if wide {
		room -= figures
	}
	var b strings.Builder
	b.WriteString(spanOf(records, dash))
	b.WriteString("\n\n")
	values := make([]*float64, len(records))
	for _, s := range series {
		for i := range records {
			values[i] = s.value(&records[i])
		}
		low, high, ok := bounds(values)
		line := sparkline(values, room, s.least, ramp)
		if !wide {
			fmt.Fprintf(&b, "%-*s%s\n", names, s.name, strings.TrimRight(line, " "))
			continue
		}
		fmt.Fprintf(&b, "%-*s%-*s", names, s.name, room+1, line)
		if !ok {
			fmt.Fprintf(&b, " %8s\n", dash)
			continue
		}
		now := dash
		if v := values[len(values)-1]; v != nil && finite(*v) {
			now = s.format(*v)
		}
		fmt.Fprintf(&b, " %8s   %s to %s\n", now, s.format(low), s.format(high))
	}
	for i, w := range Warnings(all) {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(alarm + w.Text + "\n")
	}
	return b.String()
}

// spanOf says which sessions and days the records cover.
func spanOf(records []Record, dash string) string {
	first, last := &records[0], &records[len(records)-1]
	// Sessions are in the order of their writing: an import may have come late.
	var from, to string
	for i := range records {
		if d := day(records[i].Date); d != "" {
			from, to = min(cmp.Or(from, d), d), max(to, d)
		}
	}
	if len(records) == 1 {
		return strings.TrimSuffix(fmt.Sprintf("session %d, %s", first.Session, from), ", ")
	}
	span := fmt.Sprintf("%d sessions, %d%s%d", len(records), first.Session, dash, last.Session)
	if from != "" && to != "" {
		span += ", " + from + " to " + to
	}
	return span
}

// A figure in at most eight columns.
func fine(v float64) string   { return fmt.Sprintf("%.2f", v+0) }
func coarse(v float64) string { return fmt.Sprintf("%.1f", v+0) }
func entire(v float64) string { return fmt.Sprintf("%.0f", v+0) }
