package soul

import "fmt"

// The kinds of Warning.
const (
	WarnGapRising     = "witness-gap-rising"
	WarnSattvaFalling = "sattva-falling"
	WarnFocusFalling  = "focus-collapsing"
)

// Warning is an early sign of over-identification (avidya) in the trend.
type Warning struct {
	Kind string `json:"kind"`
	// Text is one sentence for people.
	Text string `json:"text"`
	// From and To are the sessions it rests on; Before and After the figures.
	From   int     `json:"from"`
	To     int     `json:"to"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

const (
	// leastRise is the rise of the witness gap over three sessions that is more
	// than the last digits wandering.
	leastRise = 0.01
	// sattvaFall and sattvaWindow: a share lost in so many sessions.
	sattvaFall, sattvaWindow = 0.1, 10
	// Focus collapses when the mean of the last focusRecent sessions is under
	// half of that of up to focusBase sessions (at least focusLeast) before.
	focusRecent, focusBase, focusLeast = 3, 10, 5
	focusDrop                          = 0.05
)

// Warnings looks at the end of the trend (records oldest first). Sessions
// without a value are passed over. It tells of
//
//   - a witness gap that rose in each of the last three sessions,
//   - a clarity share (sattva) more than 0.1 below its greatest of the ten
//     sessions before,
//   - a mean focus of the last three sessions under half of that of the (up to
//     ten, at least five) sessions before them, and lower by more than 0.05.
func Warnings(records []Record) []Warning {
	var out []Warning
	if p := lastDefined(records, 4, func(r *Record) *float64 { return r.WitnessGap }); len(p) == 4 {
		rising := p[3].value-p[0].value > leastRise
		for i := 1; i < len(p); i++ {
			rising = rising && p[i].value > p[i-1].value
		}
		if rising {
			out = append(out, warning(WarnGapRising, "The witness gap has risen for three sessions, from %.2f to %.2f.", p[0], p[3]))
		}
	}
	if p := lastDefined(records, sattvaWindow+1, (*Record).sattva); len(p) > 1 {
		now, top := p[len(p)-1], p[0]
		for _, q := range p {
			// Ten sessions by number: sessions without a store do not stretch it.
			if q.value >= top.value || top.session < now.session-sattvaWindow {
				top = q
			}
		}
		if top.value-now.value > sattvaFall {
			out = append(out, warning(WarnSattvaFalling, "The clarity share (sattva) has fallen from %.2f to %.2f within ten sessions.", top, now))
		}
	}
	if p := lastDefined(records, focusBase+focusRecent, func(r *Record) *float64 { return r.MeanFocus }); len(p) >= focusLeast+focusRecent {
		base, recent := mean(p[:len(p)-focusRecent]), mean(p[len(p)-focusRecent:])
		if recent.value < base.value/2 && base.value-recent.value > focusDrop {
			out = append(out, warning(WarnFocusFalling, "Focus has collapsed from a mean of %.2f to %.2f in the last three sessions.", base, recent))
		}
	}
	return out
}

type point struct {
	session int
	value   float64
}

// lastDefined is the last n values that are defined, oldest first.
func lastDefined(records []Record, n int, value func(*Record) *float64) []point {
	var out []point
	for i := len(records) - 1; i >= 0 && len(out) < n; i-- {
		if v := value(&records[i]); v != nil && finite(*v) {
			out = append(out, point{records[i].Session, *v})
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// mean is the mean value, at the last session.
func mean(p []point) point {
	var sum float64
	for _, q := range p {
		sum += q.value
	}
	return point{p[len(p)-1].session, sum / float64(len(p))}
}

func warning(kind, text string, from, to point) Warning {
	return Warning{kind, fmt.Sprintf(text, from.value, to.value), from.session, to.session, from.value, to.value}
}
