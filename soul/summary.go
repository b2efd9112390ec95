package soul

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/jivad/jivad/reactivation"
)

// Schema names the form of SOUL.md in its front matter.
const Schema = "jivad/soul/1"

// Summary is everything SOUL.md says, as values. A zero Guna means that there
// is none yet.
type Summary struct {
	// Session counts from 1; 0 is the state before the first session.
	Session int
	// Date is the session's own day, YYYY-MM-DD, or empty.
	Date string
	// ClosedAt is the recorded end of the session; it becomes generated_at.
	ClosedAt time.Time

	Identity       string
	LineageVersion string
	StoreDigest    string
	// Assessor names who judged most of this session's experiences.
	Assessor string

	// GStore is the character of the store, GAhamkara the identity's own.
	GStore    reactivation.Guna
	GAhamkara reactivation.Guna
	// WitnessGap is in [0, 2]; nil for a session without experiences.
	WitnessGap *float64

	// Given is what the person wrote, byte for byte.
	Given string
	// Voice is the Character section in a model's words, or empty. It must have
	// passed CheckVoice; Render trusts its facts and only bounds its form.
	Voice string
	// VoiceBy names the model that it is by.
	VoiceBy string

	Events      int
	Impressions int
	// Tendencies and Deep come strongest first.
	Tendencies []Tendency
	Deep       []DeepImpression
	// Rules are the rendered dispositions, one line each, strongest first.
	Rules []string
	// Unresolved are contested rules and escalations, one line each, most pressing
	// first. The claims of Unsettled stand behind them.
	Unresolved []string
	Unsettled  []Unsettled
	// Trend are the records of earlier sessions, oldest first; this session's
	// own record may be the last.
	Trend []Record
}

// Tendency is one cluster of impressions (vasana).
type Tendency struct {
	ID string
	// Name is made of its entries' words; the identity is measured by it.
	Name string
	// Called is what a model calls it, shown in the place of Name, or empty; CalledBy
	// names that model. Like Name it is bounded and made harmless by Render.
	Called, CalledBy string
	// Strength is the influence of all members together, 0 or more; Share is
	// its part of the influence of the whole store, in [0,1].
	Strength, Share float64
	Shares          reactivation.Shares
	Members         int
	// Trend is "rising", "steady", "fading" or "new".
	Trend                     string
	FirstSession, LastSession int
}

// DeepImpression is one impression with great influence.
type DeepImpression struct {
	// Date is the entry's own day, YYYY-MM-DD, or empty.
	Date string
	// Text is what consent lets SOUL.md quote; empty for nothing.
	Text string
	// Buried says that there is no text any more.
	Buried bool
	// Depth is in [0,1).
	Depth       float64
	Activations int
	Shares      reactivation.Shares
}

// Why a summary was refused; test with errors.Is.
var (
	// ErrNotText: Given holds a NUL byte or is not UTF-8.
	ErrNotText = errors.New("not text")
	// ErrSummary: a number in the summary is not one that can be written down.
	ErrSummary = errors.New("unusable summary")
	// ErrTooSmall: the byte limit leaves no room for a SOUL.md.
	ErrTooSmall = errors.New("limit is too small")
)

func (s *Summary) check() error {
	if !isText(s.Given) {
		return fmt.Errorf("soul: the Given section cannot be written (%w); save it as UTF-8 text", ErrNotText)
	}
	bad := func(what string, v any) error {
		return fmt.Errorf("soul: %s is %v (%w); verify the store", what, v, ErrSummary)
	}
	for _, c := range []struct {
		what string
		g    reactivation.Guna
	}{{"the character of the store", s.GStore}, {"the character of the identity", s.GAhamkara}} {
		if c.g == (reactivation.Guna{}) {
			continue
		}
		if err := c.g.Check(); err != nil {
			return fmt.Errorf("soul: %s (%w): %w", c.what, ErrSummary, err)
		}
	}
	if s.WitnessGap != nil && !(*s.WitnessGap >= 0 && *s.WitnessGap <= 2) {
		return bad("the witness gap", *s.WitnessGap)
	}
	if y := s.ClosedAt.UTC().Year(); !s.ClosedAt.IsZero() && (y < 1 || y > 9999) {
		return bad("the year of the closing time", y)
	}
	for _, t := range s.Tendencies {
		if !finite(t.Strength, t.Share, t.Shares.Tamas, t.Shares.Rajas, t.Shares.Sattva) {
			return bad("a number of a tendency", "not finite")
		}
	}
	for _, d := range s.Deep {
		if !finite(d.Depth, d.Shares.Tamas, d.Shares.Rajas, d.Shares.Sattva) {
			return bad("a number of a deep impression", "not finite")
		}
	}
	for i := range s.Trend {
		if err := s.Trend[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func isText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for i := range len(s) {
		if s[i] == 0 {
			return false
		}
	}
	return true
}
