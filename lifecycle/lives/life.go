package lives

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jivad/jivad/soul/lineage"
)

// Schema is the version of the form of a life.
const Schema = "jivad/life/1"

// Life is one life of this device. It holds nothing of what was said or done in it, but for
// what the person says to their rating of it.
type Life struct {
	Schema string     `json:"schema"`
	ID     lineage.ID `json:"id"`
	// Sequence counts the lives of the device from 1.
	Sequence int64 `json:"sequence"`
	State    State `json:"state"`
	// Identity is that of the lineage, Nonce that of this projection alone, Device the
	// key that signs what it does.
	Identity lineage.Digest `json:"identity"`
	Nonce    lineage.Digest `json:"nonce"`
	Device   lineage.Key    `json:"device"`
	// Manifest is the digest of the manifest that it is born from, Base the version of
	// the lineage that it is pinned to, Consent the last record of consent then, zero for
	// the default.
	Manifest lineage.Digest `json:"manifest"`
	Base     lineage.Digest `json:"base"`
	Consent  lineage.ID     `json:"consent"`
	// Mind names the model that thinks in it, Session the session that it lives, 0 while
	// none is open.
	Mind    string `json:"mind,omitempty"`
	Session int    `json:"session,omitempty"`
	// Times are by the wall clock, for the person; zero for what was not yet.
	Conceived Stamp  `json:"conceived,omitzero"`
	Born      Stamp  `json:"born,omitzero"`
	Ended     Stamp  `json:"ended,omitzero"`
	Gone      Stamp  `json:"gone,omitzero"`
	Bounds    Bounds `json:"bounds"`
	Spent     Spent  `json:"spent"`
	// Reason is why it ended.
	Reason string `json:"reason,omitempty"`
	// Rating is how the person judged it, in millionths from -1 to 1; nil while they did not.
	Rating *int64 `json:"rating,omitempty"`
	// Note is what the person said to that rating, in their own words; empty for nothing.
	Note string `json:"note,omitempty"`
	// Missing is why it could not be born.
	Missing    []Lack     `json:"missing,omitempty"`
	Obligation Obligation `json:"obligation,omitzero"`
}

// Stamp is a wall time, and whether the clock could be trusted then.
type Stamp struct {
	Time    time.Time `json:"time"`
	Trusted bool      `json:"trusted"`
}

// At makes a stamp in UTC and whole seconds.
func At(t time.Time, trusted bool) Stamp { return Stamp{t.UTC().Truncate(time.Second), trusted} }

// Lack is one thing that a birth lacked, and what mends it.
type Lack struct {
	Invariant Invariant `json:"invariant"`
	Code      string    `json:"code"`
	What      string    `json:"what"`
	Mend      string    `json:"mend,omitempty"`
}

// Conceive begins a life; what is given of l is what it is conceived with.
func Conceive(l Life, now Stamp) (Life, error) {
	l.Schema, l.Conceived = Schema, now
	l.Spent, l.Reason, l.Missing, l.Rating, l.Note, l.Obligation = Spent{}, "", nil, nil, "", Obligation{}
	l.State = Avyakrta
	if l.ID == (lineage.ID{}) || l.Nonce == (lineage.Digest{}) || l.Device == (lineage.Key{}) || l.Sequence < 1 {
		return l, l.broken(AD4, "a projection has an id, a nonce, a device and a number", "")
	}
	return l, l.to(Conceived)
}

// Settle is the end of a birth: ready where nothing is missing, else back to what has
// no form, with all that is missing (J-1).
func (l *Life) Settle(missing []Lack, mind string, now Stamp) error {
	if len(missing) > 0 {
		if err := l.to(Avyakrta); err != nil {
			return err
		}
		l.Missing, l.Gone = slices.Clone(missing), now
		return nil
	}
	if mind == "" {
		return l.broken(J1, "nobody thinks in it", "name a model in manifest.toml, or let the built-in one stand in")
	}
	if err := l.to(Ready); err != nil {
		return err
	}
	l.Mind, l.Born = mind, now
	return nil
}

// Begin is the first entry or act of a life.
func (l *Life) Begin() error {
	if l.State == Active {
		return nil
	}
	return l.to(Active)
}

// MayAct tells whether it can do something now (J-3): it lives, and no bound is
// reached. m is as for [Bounds.Over].
func (l *Life) MayAct(m Moment) error {
	if !l.State.Living() {
		return &IllegalError{l.Sequence, l.State, Active}
	}
	if reason, over := l.Bounds.Over(l.Spent, m); over {
		return l.broken(J3, "it is over: "+l.Bounds.Says(reason), "the next one begins by itself")
	}
	return nil
}

// Withdraw ends a life for a reason. From here on it owes to be distilled, once (J-4).
func (l *Life) Withdraw(reason string, now Stamp) error {
	if l.Obligation.Status != None {
		return l.broken(J4, "it has an obligation already", "")
	}
	if l.State == Ready { // it was born, and ends before anything came
		if err := l.to(Active); err != nil {
			return err
		}
	}
	if err := l.to(Withdrawn); err != nil {
		return err
	}
	l.Reason, l.Ended, l.Obligation.Status = reason, now, Owed
	return nil
}

// Dissolve lets go of a life whose obligation is settled. The trace must be gone (S-1).
func (l *Life) Dissolve(traceGone bool, now Stamp) error {
	switch {
	case !l.Obligation.Settled():
		return l.broken(J4, "its obligation is not settled", "")
	case !traceGone:
		return l.broken(S1, "something of its trace is still there", "")
	}
	if err := l.to(Dissolved); err != nil {
		return err
	}
	l.Gone = now
	return nil
}

func (l *Life) to(next State) error {
	if !may(l.State, next) {
		return &IllegalError{l.Sequence, l.State, next}
	}
	l.State = next
	return nil
}

func (l *Life) broken(i Invariant, what, do string) error {
	return &BrokenError{Invariant: i, Life: l.Sequence, What: what, Do: do}
}

// Check tells whether a life is one that its steps lead to.
func (l *Life) Check() error {
	o := &l.Obligation
	owes := l.State == Withdrawn || l.State == Quarantined || l.State == Dissolved
	switch {
	case l.Schema != Schema || !slices.Contains(States(), l.State) || l.Sequence < 1 || l.ID == (lineage.ID{}):
		return fmt.Errorf("life %d: not of the form %s", l.Sequence, Schema)
	case owes == (o.Status == None):
		return l.broken(J4, fmt.Sprintf("it is %s with the obligation %q", l.State, o.Status), "")
	case l.State == Dissolved && !o.Settled():
		return l.broken(J4, "it is dissolved and its obligation is not settled", "")
	case (l.State == Avyakrta) != (len(l.Missing) > 0):
		return l.broken(J1, fmt.Sprintf("it is %s with %d things missing", l.State, len(l.Missing)), "")
	case (o.Status == Met) != (o.Distillate != lineage.Digest{}):
		return l.broken(J4, "its obligation is met by no distillate, or has one and is not met", "")
	}
	return nil
}

// Encode writes a life, which must pass Check.
func (l *Life) Encode() ([]byte, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return json.Marshal(l)
}

// Decode reads what Encode wrote.
func Decode(data []byte) (l Life, err error) {
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("a life: %w", err)
	}
	return l, l.Check()
}
