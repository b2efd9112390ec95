package lives

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/jivad/jivad/soul/lineage"
)

// Status is what has become of the one obligation of a life.
type Status string

// The statuses. Met, Declined and Discarded settle it.
const (
	// None: the life has not ended.
	None Status = ""
	// Owed: the life is to be distilled; its trace is there.
	Owed Status = "owed"
	// Drafted: it is distilled but for the judgement, which is waited for; its trace is gone.
	Drafted Status = "drafted"
	// Met: the distillate is in the lineage.
	Met Status = "met"
	// Declined: nothing is kept of it; Why says the reason.
	Declined Status = "declined"
	// Discarded: the person let it go after its distillation had failed.
	Discarded Status = "discarded"
)

// Obligation is what a life owes (J-4).
type Obligation struct {
	Status Status `json:"status"`
	// Until is when the judgement window ends: so much running time after the end.
	Until time.Duration `json:"window_ns,omitempty"`
	// Waited is the running time since the end, over restarts.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Tries counts distillations that failed, Next is the running time after which it is
	// tried again, Failure what failed last.
	Tries   int           `json:"tries,omitempty"`
	Next    time.Duration `json:"next_ns,omitempty"`
	Failure string        `json:"failure,omitempty"`
	// Distillate is what it was distilled to, where it is met.
	Distillate lineage.Digest `json:"distillate,omitzero"`
	// Why says why it was declined or discarded.
	Why string `json:"why,omitempty"`
	// Report are the figures of the distillation.
	Report json.RawMessage `json:"report,omitempty"`
}

// Settled tells that nothing is owed any more.
func (o *Obligation) Settled() bool {
	return o.Status == Met || o.Status == Declined || o.Status == Discarded
}

// MostTries is how often a distillation may fail; FirstPause is the pause after the
// first failure, which doubles.
const (
	MostTries  = 5
	FirstPause = 30 * time.Second
)

// Draft notes that a life is distilled but for its judgement, which may come within
// window of running time. Its trace goes now.
func (l *Life) Draft(window time.Duration, report json.RawMessage) error {
	if l.State != Withdrawn || l.Obligation.Status != Owed {
		return l.broken(J4, "it is not owed, so it cannot be drafted", "")
	}
	l.Obligation = Obligation{Status: Drafted, Until: window, Report: report}
	return nil
}

// Meet settles the obligation with a distillate; it is written in the transaction that
// takes the distillate into the lineage, which refuses to count a life twice.
func (l *Life) Meet(d lineage.Digest) error {
	if err := l.settleable(); err != nil {
		return err
	}
	if d == (lineage.Digest{}) {
		return l.broken(J4, "no distillate meets it", "")
	}
	l.Obligation = Obligation{Status: Met, Distillate: d, Report: l.Obligation.Report}
	return nil
}

// Decline settles it with nothing kept.
func (l *Life) Decline(why string) error {
	if err := l.settleable(); err != nil {
		return err
	}
	l.Obligation = Obligation{Status: Declined, Why: why, Report: l.Obligation.Report}
	return nil
}

// Rate notes how the person judged a life, in millionths from -1 to 1: while it lasts, or
// as long as its obligation is not settled (S-2).
func (l *Life) Rate(rating int64) error {
	switch {
	case rating < -lineage.Million || rating > lineage.Million:
		return l.broken(S2, "a rating is from -1 to 1", "")
	case !l.State.Living() && l.State != Withdrawn && l.State != Quarantined:
		return &IllegalError{l.Sequence, l.State, l.State}
	case l.Obligation.Settled():
		return l.broken(S2, "its judgement is over", "rate the next one within the window, see lives")
	}
	l.Rating = &rating
	return nil
}

// Discard is the word of the person over a life in quarantine.
func (l *Life) Discard(why string) error {
	if l.State != Quarantined {
		return &IllegalError{l.Sequence, l.State, Dissolved}
	}
	l.Obligation = Obligation{Status: Discarded, Why: why, Tries: l.Obligation.Tries, Report: l.Obligation.Report}
	return nil
}

// Fail notes a distillation that failed. After MostTries the life is in quarantine:
// nobody is born from its pin until the person clears, supersedes or discards it.
func (l *Life) Fail(failure string) error {
	if l.State != Withdrawn {
		return &IllegalError{l.Sequence, l.State, Quarantined}
	}
	o := &l.Obligation
	if o.Settled() {
		return l.broken(J4, "it is settled already", "")
	}
	o.Tries++
	o.Failure, o.Next = failure, o.Waited+FirstPause<<(o.Tries-1)
	if o.Tries < MostTries {
		return nil
	}
	return l.to(Quarantined)
}

// Due tells whether something is to be done for a life now.
func (l *Life) Due() bool {
	o := &l.Obligation
	switch {
	case (l.State == Withdrawn || l.State == Quarantined) && o.Settled():
		return true // to be dissolved
	case l.State != Withdrawn:
		return false
	case o.Status == Drafted && l.Rating == nil && o.Waited < o.Until:
		return false
	}
	return o.Waited >= o.Next
}

// HoldsPin tells of a life in quarantine, from whose pin nobody is born: one that is settled,
// and has only to be dissolved, holds it no more.
func (l *Life) HoldsPin() bool { return l.State == Quarantined && !l.Obligation.Settled() }

func (l *Life) settleable() error {
	if l.State != Withdrawn && l.State != Quarantined {
		return &IllegalError{l.Sequence, l.State, Dissolved}
	}
	if l.Obligation.Settled() {
		return l.broken(J4, "it is settled already: each life is distilled once", "")
	}
	return nil
}

// Says is what has become of a life, in words for a person.
func (l *Life) Says() string {
	o := &l.Obligation
	switch {
	case l.State == Avyakrta:
		return "not born: something is missing"
	case l.State == Conceived:
		return "being born"
	case l.State.Living():
		return "lived now"
	case l.State == Quarantined:
		return "in quarantine: its distillation failed " + strconv.Itoa(o.Tries) + " times"
	}
	switch o.Status {
	case Owed:
		return "to be distilled"
	case Drafted:
		return "waiting for your judgement"
	case Met:
		return "distilled"
	case Declined:
		return "nothing kept, " + o.Why
	case Discarded:
		return "discarded"
	}
	return string(l.State)
}
