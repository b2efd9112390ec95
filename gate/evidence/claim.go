package evidence

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The kinds of errors.
var (
	// ErrForm: a claim, a root or a policy is not of the right form.
	ErrForm = errors.New("not of the right form")
	// ErrTransition: there is no such change of class.
	ErrTransition = errors.New("no such change of class")
)

// Moment is a time: seconds since 1970, and whether the clock could be trusted to show it.
// By a clock that cannot be, everything that may have expired has.
type Moment struct {
	Unix    int64 `json:"unix"`
	Trusted bool  `json:"trusted"`
}

// over tells whether an end has come; 0 is no end. With a clock that cannot be trusted it
// has.
func (m Moment) over(end int64) bool { return end != 0 && (!m.Trusted || end <= m.Unix) }

// RootType is what kind of thing a root is.
type RootType string

// The types. The first five count as evidence, the others never do.
const (
	Instrument    RootType = "primary_instrument"
	Repository    RootType = "canonical_repository_state"
	Attested      RootType = "attested_state"
	External      RootType = "primary_external_source"
	Human         RootType = "human_authorized_evidence"
	AgentMemory   RootType = "agent_memory"
	Summary       RootType = "repeated_summary"
	ReviewerSigns RootType = "reviewer_signature"
)

// RootTypes are all of them.
func RootTypes() []RootType {
	return []RootType{Instrument, Repository, Attested, External, Human, AgentMemory, Summary, ReviewerSigns}
}

// Qualifies tells whether a root of that type counts as evidence. Source: seed 003,
// sections 6 to 8.
func (t RootType) Qualifies() bool {
	switch t {
	case Instrument, Repository, Attested, External, Human:
		return true
	}
	return false
}

// Root is where a claim can be checked.
type Root struct {
	// ID names the thing in any of its forms; see [CanonicalRoot].
	ID   string   `json:"id"`
	Type RootType `json:"type"`
	// Observed is when it was looked at, Expires when that is over, 0 for never: seconds
	// since 1970.
	Observed int64 `json:"observed_at"`
	Expires  int64 `json:"expires_at,omitempty"`
	// Retrieval says how it can be looked at again; empty means that it cannot.
	Retrieval string `json:"retrieval,omitempty"`
	// Agent is who brought it.
	Agent string `json:"agent,omitempty"`
}

// Provenance is where a claim comes from.
type Provenance struct {
	// Source is who or what it was said by, Event the record of that.
	Source string `json:"source"`
	Event  string `json:"event,omitempty"`
	// Primary is the primary source, once it was located; Reasoning how the claim follows
	// from what it rests on.
	Primary   string `json:"primary,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// Consequence is what could come of acting on something wrong.
type Consequence string

// The consequences.
const (
	Low    Consequence = "low"
	Medium Consequence = "medium"
	High   Consequence = "high"
)

// Review is what a reviewer decided last.
type Review struct {
	By       string  `json:"by"`
	Decision Trigger `json:"decision"`
	At       int64   `json:"at"`
	Note     string  `json:"note,omitempty"`
}

// Claim is a statement that outlives the life in which it was made. Source: seed 003,
// sections 4 to 10.
type Claim struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`
	// Was is the class before it became stale or came into quarantine.
	Was     Class  `json:"was,omitempty"`
	Text    string `json:"text"`
	Subject string `json:"subject"`
	// Agent is who claims it, Life the life in which that was.
	Agent string `json:"agent"`
	Life  string `json:"life,omitempty"`
	// Previous are the claims that it follows from, Conflicts those that speak against it
	// and are not settled.
	Previous []string `json:"previous,omitempty"`
	// Fallen are those of them that cannot be relied on now: see [NotStanding].
	Fallen      []string    `json:"fallen,omitempty"`
	Conflicts   []string    `json:"conflicts,omitempty"`
	Roots       []Root      `json:"roots,omitempty"`
	Provenance  Provenance  `json:"provenance"`
	Consequence Consequence `json:"consequence"`
	// Created and Expires are seconds since 1970; Session is that in which it was made.
	Session int    `json:"session,omitempty"`
	Created int64  `json:"created_at"`
	Expires int64  `json:"expires_at,omitempty"`
	Review  Review `json:"review,omitzero"`
	// Successor stands in the place of one that is superseded.
	Successor string `json:"successor,omitempty"`
	// Refuted are the sources that it had when it was rejected: it takes another one to
	// open it again.
	Refuted []string `json:"refuted,omitempty"`
	// counted are the keys of its sources, where [Claim.Count] found them out.
	counted   []string
	isCounted bool
}

// The bounds of a claim: bytes, and numbers of things.
const (
	MostText  = 2 << 10
	MostRoots = 64
	mostName  = 512
)

// Check tells whether a claim is one. Error: ErrForm.
func (c *Claim) Check() error {
	switch {
	case !slices.Contains(Classes(), c.Class):
		return fmt.Errorf("claim %s: %w: there is no class %q", c.ID, ErrForm, c.Class)
	case !named(c.ID) || !named(c.Subject):
		return fmt.Errorf("claim %s: %w: an id and a subject of at most %d bytes are needed", c.ID, ErrForm, mostName)
	case strings.TrimSpace(c.Text) == "" || len(c.Text) > MostText || !utf8.ValidString(c.Text):
		return fmt.Errorf("claim %s: %w: the text is empty, longer than %d bytes or no UTF-8", c.ID, ErrForm, MostText)
	case len(c.Roots) > MostRoots || len(c.Previous) > MostRoots || len(c.Conflicts) > MostRoots:
		return fmt.Errorf("claim %s: %w: more than %d roots, previous claims or conflicts", c.ID, ErrForm, MostRoots)
	case c.Consequence != Low && c.Consequence != Medium && c.Consequence != High:
		return fmt.Errorf("claim %s: %w: the consequence is %q, not low, medium or high", c.ID, ErrForm, c.Consequence)
	}
	for _, r := range c.Roots {
		if err := r.Check(); err != nil {
			return fmt.Errorf("claim %s: %w", c.ID, err)
		}
	}
	return nil
}

// Check tells whether a root is one. Error: ErrForm.
func (r Root) Check() error {
	if !named(r.ID) || len(r.Retrieval) > MostText || !utf8.ValidString(r.Retrieval) {
		return fmt.Errorf("root: %w: an id of at most %d bytes is needed", ErrForm, mostName)
	}
	if !slices.Contains(RootTypes(), r.Type) {
		return fmt.Errorf("root %s: %w: there is no type %q", r.ID, ErrForm, r.Type)
	}
	return nil
}

func named(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= mostName && utf8.ValidString(s)
}

// Sources counts the independent sources of a claim: distinct things, in whatever form they
// are named, of a type that counts. It is the only definition of evidence there is: agents,
// repetitions, summaries and signatures add nothing. A beginning of a commit's digest is the
// commit that it fits, if the claim names one. Source: seed 003, section 7 and its
// amendment.
func (c *Claim) Sources() int { return len(c.sources()) }

// Source is the key of what a root is an observation of. Windows of one instrument are one
// source: that it says so again is repetition.
func (r Root) Source() string {
	key := CanonicalRoot(r.ID)
	if at := strings.LastIndexByte(key, '#'); at >= 0 && (strings.HasPrefix(key, "sensor:") || strings.HasPrefix(key, "mqtt:")) && isWindow(key[at+1:]) {
		return key[:at]
	}
	return key
}

// Fixed tells of a root that names a commit, whose contents never change.
func (r Root) Fixed() bool { return isCommitKey(CanonicalRoot(r.ID)) }

// SourceKeys are the keys of the independent sources of a claim, sorted.
func (c *Claim) SourceKeys() []string { return slices.Clone(c.sources()) }

// Count finds its sources out once, until it is called again: to be called by whoever changes
// Roots, each time, or never.
func (c *Claim) Count() {
	c.isCounted = false
	c.counted, c.isCounted = c.sources(), true
}

func (c *Claim) sources() []string {
	if c.isCounted {
		return c.counted
	}
	var keys []string
	for _, r := range c.Roots {
		if r.Type.Qualifies() {
			keys = append(keys, r.Source())
		}
	}
	slices.Sort(keys)
	return withoutBeginnings(slices.Compact(keys))
}

// SelfReferential tells of a claim that follows from others and from no evidence. Source:
// seed 003, section 9.
func (c *Claim) SelfReferential() bool { return len(c.Previous) > 0 && c.Sources() == 0 }

// complete tells whether it is known where a claim comes from and how it follows.
func (c *Claim) complete() bool {
	p := &c.Provenance
	return p.Source != "" && p.Primary != "" && p.Reasoning != ""
}

// retrievable tells whether one of its sources can be looked at again.
func (c *Claim) retrievable() bool {
	return slices.ContainsFunc(c.Roots, func(r Root) bool { return r.Type.Qualifies() && r.Retrieval != "" })
}
