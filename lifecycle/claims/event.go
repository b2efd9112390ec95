package claims

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/jivad/jivad/gate/evidence"
)

// Kind is what happened to a claim.
type Kind string

// The kinds.
const (
	// Asserted: it was made, as REPORTED or INFERRED.
	Asserted Kind = "asserted"
	// Evidence: a root was added, or a source was looked at again.
	Evidence Kind = "evidence_added"
	// Withdrawn: a root was taken back. Renewed: an instrument said the same in another window;
	// the record takes the place of the one before.
	Withdrawn Kind = "evidence_withdrawn"
	Renewed   Kind = "renewed"
	// Located: its primary source was found; Replayed: its reasoning was gone through again.
	Located  Kind = "source_located"
	Replayed Kind = "reasoning_replayed"
	// Promoted: it was verified, on the sources that the event names.
	Promoted Kind = "promoted"
	// Doubted: it was put into quarantine.
	Doubted Kind = "doubted"
	// Contested: another claim speaks against it; Settled: that was looked into.
	Contested Kind = "contested"
	Settled   Kind = "settled"
	// Reviewed: a reviewer decided.
	Reviewed Kind = "reviewed"
	// Superseded: another claim stands in its place.
	Superseded Kind = "superseded"
	// Expired: its time is over.
	Expired Kind = "expired"
	// Dropped: claims of instruments, superseded long ago, were dropped; of no single claim.
	Dropped Kind = "dropped"
)

var kinds = []Kind{Asserted, Evidence, Located, Replayed, Promoted, Doubted, Contested, Settled, Reviewed, Superseded, Expired, Withdrawn, Renewed, Dropped}

// Form is the version of the form of an event.
const Form = "jivad/claim-event/1"

// Event is one of them.
type Event struct {
	// Seq is its place, from 1; it is in the name that it is kept under.
	Seq  uint64 `json:"-"`
	Form string `json:"form"`
	Kind Kind   `json:"kind"`
	// Claim is the id of the claim.
	Claim string `json:"claim"`
	// At is when, Session in which session of the companion.
	At      evidence.Moment `json:"at"`
	Session int             `json:"session,omitempty"`
	// By is who brought it: the person, an agent, an instrument.
	By string `json:"by"`
	// From is the entry, or the distillate, that it was taken from: it goes with that.
	From string `json:"from,omitempty"`
	// Category is the category of consent of what is asserted.
	Category string `json:"category,omitempty"`

	// Asserted is the claim as it was made.
	Asserted *evidence.Claim `json:"asserted,omitempty"`
	// Root is what was looked at.
	Root *evidence.Root `json:"root,omitempty"`
	// Text is a primary source or a note, Reasoning how a claim follows.
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Other is the claim that speaks against it, or stands in its place.
	Other string `json:"other,omitempty"`
	// Decision is a reviewer's.
	Decision evidence.Trigger `json:"decision,omitempty"`
	// Expires is when the claim is over that comes of it, 0 for never.
	Expires int64 `json:"expires_at,omitempty"`
	// Sources are those that it was promoted on, Needed how many the policy wanted.
	Sources []string `json:"sources,omitempty"`
	Needed  int      `json:"needed,omitempty"`
	// Count is how many claims were dropped so far.
	Count int `json:"count,omitempty"`
}

// ErrEvent: a record is no event of a claim.
var ErrEvent = errors.New("no event of a claim")

// decode reads one strictly.
func decode(seq uint64, data []byte) (Event, error) {
	e := Event{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return e, fmt.Errorf("%w: something stands behind it", ErrEvent)
	}
	e.Seq = seq
	return e, e.check()
}

// Bounds: bytes.
const mostText = 4 << 10

func (e *Event) check() error {
	wrong := func(what string) error { return fmt.Errorf("%w: %s", ErrEvent, what) }
	switch {
	case e.Form != Form:
		return wrong(fmt.Sprintf("its form is %q, and this program knows %s", e.Form, Form))
	case !slices.Contains(kinds, e.Kind):
		return wrong("an unknown kind")
	case (e.Claim == "") != (e.Kind == Dropped) || len(e.Claim) > 64:
		return wrong("no claim is named")
	case len(e.Text) > mostText || len(e.Reasoning) > mostText || !utf8.ValidString(e.Text+e.Reasoning):
		return wrong("its text is too long, or no UTF-8")
	case (e.Kind == Asserted) != (e.Asserted != nil):
		return wrong("only what is asserted has a claim")
	case (e.Kind == Evidence || e.Kind == Withdrawn || e.Kind == Renewed) && e.Root == nil:
		return wrong("no root is named")
	case (e.Kind == Contested || e.Kind == Settled || e.Kind == Superseded) && e.Other == "":
		return wrong("no other claim is named")
	}
	if e.Root != nil {
		if err := e.Root.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrEvent, err)
		}
	}
	if a := e.Asserted; a != nil {
		if a.ID != e.Claim || a.Class != evidence.Reported && a.Class != evidence.Inferred {
			return wrong("what is asserted is REPORTED or INFERRED, and nothing more")
		}
		if err := a.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrEvent, err)
		}
	}
	return nil
}

// normal is a text in its one form, in which it is kept: NFC, with one blank between words.
func normal(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }

// Statement is a text as it is compared: its one form, where case and what stands at its
// ends do not matter.
func Statement(text string) string {
	return norm.NFC.String(strings.ToLower(bare(text)))
}

// bare is a text in its one form without what may stand at its ends.
func bare(text string) string { return strings.Trim(normal(text), " .!?;:,\"'“”„«»") }
