package lives

import (
	"fmt"
	"time"
)

// Bounds end a life; whichever is reached first does. A bound of 0 is none.
type Bounds struct {
	// TTL is the longest that a life runs. Time in which no program ran, and whatever
	// the wall clock did, does not count.
	TTL time.Duration `json:"ttl_ns"`
	// Idle is the longest without an entry or an act.
	Idle time.Duration `json:"idle_ns"`
	// MaxEvents bounds the entries, MaxFailures the failures of tools in a row.
	MaxEvents   int `json:"max_events"`
	MaxFailures int `json:"max_failures"`
	// WitnessGap is the greatest gap between who the companion says that it is and what
	// this session brought, in [0, 2].
	WitnessGap float64 `json:"witness_gap"`
}

// Spent is what a life has used of its bounds.
type Spent struct {
	// Running is the time that it ran, added up over restarts of the program.
	Running time.Duration `json:"running_ns"`
	Events  int           `json:"events"`
	// Acts were permitted, Refused were not; Failures failed in a row, as the last ones.
	Acts     int `json:"acts"`
	Refused  int `json:"refused"`
	Failures int `json:"failures_in_a_row"`
	// Gap is the witness gap as it is, nil while it is not known.
	Gap *float64 `json:"witness_gap,omitempty"`
}

// Reasons for which a life ends.
const (
	ByTTL      = "ttl"
	ByIdle     = "idle"
	ByEvents   = "max_events"
	ByFailures = "max_failures"
	ByGap      = "witness_gap"
	ByDay      = "roll"
	ByPerson   = "end"
	ByStop     = "stop"
	ByCrash    = "recovery"
	ByFull     = "journal_full"
	ByMind     = "other_mind"
)

// Moment is what is known outside of a life while it runs.
type Moment struct {
	// Quiet is how long nothing has come, by a clock that only goes forward.
	Quiet time.Duration
	// NextDay says that the local day is another one than that of its session.
	NextDay bool
	// Over is a reason for which it is to end already, whatever came since; empty for none.
	Over string
}

// Over tells whether a bound is reached, and which is the first in this order: what it is
// over for already, the time to live, entries, failures, the witness gap, the day, quiet.
func (b Bounds) Over(s Spent, m Moment) (reason string, over bool) {
	switch {
	case m.Over != "":
		return m.Over, true
	case b.TTL > 0 && s.Running >= b.TTL:
		return ByTTL, true
	case b.MaxEvents > 0 && s.Events >= b.MaxEvents:
		return ByEvents, true
	case b.MaxFailures > 0 && s.Failures >= b.MaxFailures:
		return ByFailures, true
	case b.WitnessGap > 0 && s.Gap != nil && *s.Gap >= b.WitnessGap:
		return ByGap, true
	case m.NextDay:
		return ByDay, true
	case b.Idle > 0 && m.Quiet >= b.Idle:
		return ByIdle, true
	}
	return "", false
}

// Says is a reason in words for a person.
func (b Bounds) Says(reason string) string {
	switch reason {
	case ByTTL:
		return fmt.Sprintf("it ran as long as it may (%v)", b.TTL)
	case ByIdle:
		return "nothing came any more"
	case ByEvents:
		return fmt.Sprintf("it took in as many entries as it may (%d)", b.MaxEvents)
	case ByFailures:
		return fmt.Sprintf("its tools failed %d times in a row", b.MaxFailures)
	case ByGap:
		return "what it met went too far from who it says that it is"
	case ByDay:
		return "a new day began"
	case ByPerson:
		return "you ended it"
	case ByStop:
		return "the program was stopped"
	case ByCrash:
		return "the program ended in the middle of it"
	case ByFull:
		return "there was no room for more of what it did"
	case ByMind:
		return "another model was there than the one that it was born with"
	}
	return reason
}
