package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/consent"
)

// PolicyFile is the name of the policy of evidence in the data folder.
const PolicyFile = claims.PolicyFile

// ErrPolicy: the policy of evidence cannot be used.
var ErrPolicy = claims.ErrPolicy

// Claims, what is asked of them and what is told.
type (
	// Claim is a statement, as it is to be taken now.
	Claim = claims.View
	// ClaimEvent is one thing that happened to it.
	ClaimEvent = claims.Event
	// GateDecision is what the gate says of the use of a tool.
	GateDecision = claims.Decided
)

// ofClaims tells of the names of all records of claims.
func ofClaims(name string) bool { return strings.HasPrefix(name, "claim/") }

// claimRecords is the store as a book of claims keeps its events in it.
type claimRecords struct{ c *Companion }

func (r claimRecords) Values(prefix string, f func(name string, data []byte) error) error {
	return r.c.store.Values(prefix, f)
}

func (r claimRecords) Put(ctx context.Context, values ...claims.Value) error {
	out := make([]chitta.Value, len(values))
	for i, v := range values {
		out[i] = chitta.Value(v)
	}
	_, err := r.c.store.Append(ctx, chitta.Batch{Values: out})
	return err
}

// openClaims reads the claims and the policy. A policy that cannot be used keeps nothing
// from being remembered: acts of consequence are refused until it is mended.
func (c *Companion) openClaims(ctx context.Context) error {
	policy, err := readPolicy(c.opts.Dir)
	if err == nil {
		err = checkPolicy(policy)
	}
	if err != nil {
		policy = claims.DefaultPolicy()
		policy.Unusable = err
		c.sensing.problem = err.Error()
	}
	if c.claims, err = claims.Open(ctx, claimRecords{c}, policy, c.opts.Now); err != nil {
		return err
	}
	if c.opts.LookOnly {
		c.claims.Freeze()
		return nil
	}
	if err := c.claimsUnread(); err != nil {
		c.log.Error("the records of claims cannot be read: no claim is believed, and acts of consequence are refused; all else goes on", "error", err)
		return nil
	}
	return c.forgetClaimsAgain(ctx)
}

// begunAnew is what mends claims that cannot be read where nothing better does.
const begunAnew = "to begin the claims anew, without those that there were: jivad claims forget " + AllClaims + " --yes"

// claimsUnread tells why the claims cannot be read, and what mends that; nil where they can.
func (c *Companion) claimsUnread() error {
	err := c.claims.Unread()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chitta.ErrDamaged):
		return fmt.Errorf("%w; %s", c.store.Explain(err), begunAnew)
	}
	return fmt.Errorf("%w. Another version of jivad may have written it: run that one; or put a backup of before in place: jivad restore --latest; %s", err, begunAnew)
}

// readPolicy reads evidence.toml; where there is none, the policy of a new companion. With
// an error it is that too.
func readPolicy(dir string) (claims.Policy, error) {
	path := filepath.Join(dir, PolicyFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return claims.DefaultPolicy(), nil
	}
	if err != nil {
		return claims.DefaultPolicy(), fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	p, err := claims.ParsePolicy(path, string(data))
	if err != nil {
		return claims.DefaultPolicy(), err
	}
	return p, nil
}

// sweepClaims writes down which claims are over: at the beginning of a session, and while the
// daemon runs, so that no clock that is set back makes one fresh again.
func (c *Companion) sweepClaims(ctx context.Context) {
	n, err := c.claims.Sweep(ctx)
	if err != nil && ctx.Err() == nil {
		c.problem(fmt.Sprintf("which claims are over could not be written down; it is tried again: %v", err))
	}
	if n > 0 {
		c.log.Info("claims are stale now; what it takes to believe them again: jivad claims list --due", "claims", n)
	}
}

// ofNobody is the category of a claim of which none is said.
const ofNobody = "operational"

// claimReadable tells whether claims of a category may be read: whoever's they are, they are
// kept and read again as its entries are.
func (c *Companion) claimReadable(category string) bool {
	if category == "" {
		category = ofNobody
	}
	return c.leave.now().readable(category, "")
}

// ClaimQuery chooses claims; empty is all.
type ClaimQuery struct {
	Class   string `json:"class,omitempty"`
	Subject string `json:"subject,omitempty"`
	// Due are those that are to be looked at again, what acts rest on first.
	Due bool `json:"due,omitempty"`
	// All are also those that are superseded; of that class they are given anyway.
	All bool `json:"all,omitempty"`
}

// Claims lists claims in the order in which they were made. Error: ErrQuery.
func (c *Companion) Claims(_ context.Context, q ClaimQuery) ([]Claim, error) {
	if q.Class != "" && !isClass(q.Class) {
		return nil, fmt.Errorf("%w: there is no class %q", ErrQuery, q.Class)
	}
	if err := c.claimsUnread(); err != nil {
		return nil, err
	}
	if q.Due {
		return c.readableClaims(c.claims.Due()), nil
	}
	return c.claims.List(claims.Filter{Class: evidence.Class(q.Class), Subject: q.Subject, Allowed: c.claimReadable, Standing: !q.All && q.Class == ""}), nil
}

func (c *Companion) readableClaims(all []Claim) []Claim {
	out := []Claim{}
	for _, v := range all {
		if c.claimReadable(v.Category) {
			out = append(out, v)
		}
	}
	return out
}

func isClass(name string) bool {
	for _, c := range evidence.Classes() {
		if string(c) == name {
			return true
		}
	}
	return false
}

// ClaimStory is a claim with all that happened to it.
type ClaimStory struct {
	Claim
	History []ClaimEvent `json:"history"`
}

// Claim tells of one claim, by its id or the beginning of it. Errors: ErrNotFound,
// ErrAmbiguous; ErrConsent for one that may not be read.
func (c *Companion) Claim(ctx context.Context, id string) (ClaimStory, error) {
	if err := c.mayBeRead(id); err != nil {
		return ClaimStory{}, err
	}
	v, err := c.claims.Get(id)
	if err != nil {
		return ClaimStory{}, c.claimError(err)
	}
	h, err := c.claims.History(ctx, v.ID)
	return ClaimStory{v, h}, err
}

// ClaimDraft is a claim that a person makes.
type ClaimDraft struct {
	Text    string `json:"text"`
	Subject string `json:"subject"`
	// Source is who said it or what it was taken from; empty is the person.
	Source      string `json:"source,omitempty"`
	Category    string `json:"category,omitempty"`
	Consequence string `json:"consequence,omitempty"`
	// Inferred makes it INFERRED, which takes Primary and Reasoning.
	Inferred  bool            `json:"inferred,omitempty"`
	Primary   string          `json:"primary,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	Previous  []string        `json:"previous,omitempty"`
	Roots     []evidence.Root `json:"roots,omitempty"`
	// Contests is a claim that it speaks against.
	Contests string `json:"contests,omitempty"`
}

// AddClaim makes a claim of the person's. Errors: ErrQuery for one of a wrong form,
// ErrCategory, ErrConsent where claims of its category may not be kept, ErrNotFound.
func (c *Companion) AddClaim(ctx context.Context, d ClaimDraft) (Claim, error) {
	if err := CheckCategory(d.Category); err != nil {
		return Claim{}, err
	}
	if d.Category == "" {
		d.Category = ofNobody
	}
	if !c.claimReadable(d.Category) {
		return Claim{}, fmt.Errorf("%w: claims of this kind are not kept without leave; %s gives it", ErrConsent, allowing(consent.OfEntry(d.Category).String()))
	}
	if d.Consequence != "" && !slices.Contains([]string{"low", "medium", "high"}, d.Consequence) {
		return Claim{}, fmt.Errorf("%w: the consequence is low, medium or high, not %q", ErrQuery, d.Consequence)
	}
	if err := c.mayBeRead(append(slices.Clone(d.Previous), d.Contests)...); err != nil {
		return Claim{}, err
	}
	draft := claims.Draft{
		Text: d.Text, Subject: d.Subject, Agent: evidence.Person, Source: d.Source, Category: d.Category, Session: int(c.session().Number),
		Consequence: evidence.Consequence(d.Consequence), Primary: d.Primary, Reasoning: d.Reasoning, Previous: d.Previous, Roots: d.Roots, Against: d.Contests,
	}
	if draft.Source == "" {
		draft.Source = evidence.Person
	}
	if d.Inferred {
		draft.Class = evidence.Inferred
	}
	k, err := c.claims.Assert(ctx, draft)
	c.soulMovedSoon(context.WithoutCancel(ctx), interactive)
	return c.claimAfter(k.ID, err)
}

// mayBeRead sees that claims are there and of kinds of data that may be read; empty ids are
// none. Errors: ErrNotFound, ErrAmbiguous; ErrConsent, which says what gives leave.
func (c *Companion) mayBeRead(ids ...string) error {
	for _, id := range ids {
		if id == "" {
			continue
		}
		v, err := c.claims.Get(id)
		if err != nil {
			return c.claimError(err)
		}
		if !c.claimReadable(v.Category) {
			return fmt.Errorf("%w: claim %s is of a kind of data that may not be read now; %s gives leave", ErrConsent, v.ID, allowing(consent.OfEntry(v.Category).String()))
		}
	}
	return nil
}

// claimAfter is a claim as it is after a change.
func (c *Companion) claimAfter(id string, err error) (Claim, error) {
	if err != nil {
		return Claim{}, c.claimError(err)
	}
	v, err := c.claims.Get(id)
	return v, c.claimError(err)
}

// The changes of a claim that a person may make.
const (
	ClaimEvidence  = "evidence"
	ClaimWithdraw  = "withdraw"
	ClaimLocate    = "locate"
	ClaimReplay    = "replay"
	ClaimPromote   = "promote"
	ClaimDoubt     = "quarantine"
	ClaimContest   = "contest"
	ClaimSettle    = "settle"
	ClaimClear     = "clear"
	ClaimHold      = "hold"
	ClaimReject    = "reject"
	ClaimSupersede = "supersede"
	ClaimReopen    = "reopen"
)

// decisions are a reviewer's.
var decisions = map[string]evidence.Trigger{
	ClaimClear: evidence.Cleared, ClaimHold: evidence.Held, ClaimReject: evidence.Refused, ClaimSupersede: evidence.Replaced, ClaimReopen: evidence.Reopened,
}

// ClaimChange is what is to be done with a claim.
type ClaimChange struct {
	// ID is its id, or the beginning of it.
	ID string `json:"id"`
	// What is one of the changes above.
	What string `json:"what"`
	// Root is what was looked at, for evidence and locate, or is taken back, for withdraw.
	Root *evidence.Root `json:"root,omitempty"`
	// Reasoning says how it follows, for locate and replay; Note is a remark.
	Reasoning string `json:"reasoning,omitempty"`
	Note      string `json:"note,omitempty"`
	// Other is the claim that speaks against it or stands in its place.
	Other string `json:"other,omitempty"`
}

// ChangeClaim does that, for the person. Errors: ErrQuery, ErrNotFound, ErrAmbiguous,
// ErrConsent for one that may not be read; ErrRefused, whose text has all reasons.
func (c *Companion) ChangeClaim(ctx context.Context, x ClaimChange) (Claim, error) {
	const by = evidence.Person
	if err := c.mayBeRead(x.ID, x.Other); err != nil {
		return Claim{}, err
	}
	if (x.What == ClaimEvidence || x.What == ClaimLocate || x.What == ClaimWithdraw) && x.Root == nil {
		return Claim{}, fmt.Errorf("%w: what was looked at is to be named", ErrQuery)
	}
	if x.Root != nil && x.Root.Agent == "" {
		x.Root.Agent = by
	}
	var k claims.Kept
	var err error
	switch x.What {
	case ClaimEvidence:
		k, err = c.claims.AddEvidence(ctx, x.ID, *x.Root, by, "")
	case ClaimWithdraw:
		k, err = c.claims.Withdraw(ctx, x.ID, x.Root.ID, x.Note, by)
	case ClaimLocate:
		k, err = c.claims.Locate(ctx, x.ID, *x.Root, x.Reasoning, by)
	case ClaimReplay:
		k, err = c.claims.Replay(ctx, x.ID, x.Reasoning, by)
	case ClaimPromote:
		k, err = c.claims.Promote(ctx, x.ID, by)
	case ClaimDoubt:
		k, err = c.claims.Doubt(ctx, x.ID, x.Note, by)
	case ClaimContest:
		k, err = c.claims.Contest(ctx, x.ID, x.Other, by)
	case ClaimSettle:
		k, err = c.claims.Settle(ctx, x.ID, x.Other, x.Note, by)
	default:
		decision, ok := decisions[x.What]
		if !ok {
			return Claim{}, fmt.Errorf("%w: a claim cannot be changed by %q", ErrQuery, x.What)
		}
		k, err = c.claims.Review(ctx, x.ID, decision, x.Other, x.Note, by)
	}
	c.soulMovedSoon(context.WithoutCancel(ctx), interactive)
	return c.claimAfter(k.ID, err)
}

// ErrRefused: the policy of evidence has reasons against it.
var ErrRefused = claims.ErrRefused

// claimError gives an error of the claims as one of this package.
func (c *Companion) claimError(err error) error {
	switch {
	case errors.Is(err, claims.ErrUnread):
		return c.claimsUnread()
	case errors.Is(err, claims.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, claims.ErrAmbiguous):
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	case errors.Is(err, claims.ErrNoRoot):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, claims.ErrOlder):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, evidence.ErrForm):
		return fmt.Errorf("%w: %w", ErrQuery, err)
	case errors.Is(err, evidence.ErrTransition):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
