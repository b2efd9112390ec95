package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/soul"
)

// ForgottenClaims tells what went. Left is counted by looking at what is there afterwards.
type ForgottenClaims struct {
	// Claims went, with so many records of what happened to them; those that follow from
	// others that went are among them.
	Claims int `json:"claims"`
	Events int `json:"records"`
	// Left are records of them that are still in the store: 0.
	Left int `json:"left"`
	// Versions of SOUL.md went, since they may have spoken of them.
	Versions int `json:"soul_versions"`
	// BackupsLeft may still hold them.
	BackupsLeft []string `json:"backups_left,omitempty"`
}

// claimsOf are the claims that go with entries: those that were taken from them, and those
// that match.
func (c *Companion) claimsOf(events []chitta.ExcisedEvent, match map[string]bool) claims.Goes {
	g := claims.Goes{From: map[string]bool{}, Claims: match}
	for _, e := range events {
		g.From[formatID(e.ID)] = true
	}
	return g
}

// claimsFrom are those that go with texts.
func claimsFrom(gone []categorised) claims.Goes {
	g := claims.Goes{From: map[string]bool{}}
	for _, e := range gone {
		g.From[formatID(e.id)] = true
	}
	return g
}

// valuesWithout are records without the claims that go.
func valuesWithout(old []chitta.Value, g claims.Goes) ([]chitta.Value, error) {
	all := make([]claims.Value, len(old))
	for i, v := range old {
		all[i] = claims.Value(v)
	}
	left, _, err := claims.Without(all, g)
	if err != nil {
		return nil, err
	}
	out := make([]chitta.Value, len(left))
	for i, v := range left {
		out[i] = chitta.Value(v)
	}
	return out, nil
}

// AllClaims stands for the ids of all claims.
const AllClaims = "all"

// ForgetClaims takes claims out as if they had never been made, with what follows from them.
// [AllClaims] alone is all of them, also where their records cannot be read. Errors:
// ErrNotFound, ErrAmbiguous; ErrConsent for one that may not be read; ErrQuery for none.
func (c *Companion) ForgetClaims(ctx context.Context, ids []string) (out ForgottenClaims, err error) {
	if len(ids) == 0 {
		return out, fmt.Errorf("%w: no claim is named", ErrQuery)
	}
	if slices.Equal(ids, []string{AllClaims}) {
		err = c.do(context.WithoutCancel(ctx), interactive, func(ctx context.Context) error {
			out, err = c.forgetAllClaims(ctx)
			return err
		})
		return out, err
	}
	g := claims.Goes{Claims: map[string]bool{}}
	for _, id := range ids {
		if len(id) < 4 {
			return out, fmt.Errorf("%w: %q is too little of an id to forget by; give at least 4 letters", ErrQuery, id)
		}
		if err := c.mayBeRead(id); err != nil {
			return out, err
		}
		v, err := c.claims.Get(id)
		if err != nil {
			return out, c.claimError(err)
		}
		g.Claims[v.ID] = true
	}
	err = c.do(context.WithoutCancel(ctx), interactive, func(ctx context.Context) error {
		out, err = c.forgetClaims(ctx, g)
		return err
	})
	return out, err
}

// forgetClaims does that on the worker, or while there is none.
func (c *Companion) forgetClaims(ctx context.Context, g claims.Goes) (out ForgottenClaims, err error) {
	apart, leaving, err := c.claims.Apart(ctx, g)
	if err != nil {
		return out, c.claimError(err)
	}
	return c.forgetLeaving(ctx, g, apart, leaving)
}

// forgetAllClaims begins the claims anew. Where their records cannot be read, nobody knows
// what they are: the records go by their names, with every SOUL.md and every answer that may
// have spoken of one.
func (c *Companion) forgetAllClaims(ctx context.Context) (out ForgottenClaims, err error) {
	everything := claims.Goes{From: map[string]bool{}, Category: func(string) bool { return true }}
	if c.claims.Unread() == nil {
		return c.forgetClaims(ctx, everything)
	}
	names, err := c.store.Names(claims.Prefix)
	if err != nil {
		return out, err
	}
	leaving := claims.Leaving{Gone: claims.Gone{Events: len(names)}, IDs: map[string]bool{}, Shown: true, Session: 1, Asserted: 1}
	var gone []chitta.Value
	for _, name := range names {
		n, _ := claims.Number(name)
		leaving.Last = max(leaving.Last, n)
		gone = append(gone, chitta.Value{Name: name})
	}
	list, err := leaving.Forgotten().Encode()
	if err != nil {
		return out, err
	}
	err = c.claims.Exclusively(ctx, func() error {
		_, err := c.store.Append(ctx, chitta.Batch{Values: append(gone, chitta.Value{Name: claims.NameForgotten, Data: list}, chitta.Value{Name: valueToForgetClaims})})
		return err
	})
	if err == nil {
		err = c.claimsUnread()
	}
	if err != nil {
		return out, err
	}
	return c.forgetLeaving(ctx, everything, c.claims, leaving)
}

// forgetLeaving takes out what leaves. apart is the book without it.
func (c *Companion) forgetLeaving(ctx context.Context, g claims.Goes, apart *claims.Book, leaving claims.Leaving) (out ForgottenClaims, err error) {
	out.Claims, out.Events = leaving.Claims, leaving.Events
	var doc []byte
	if leaving.Shown {
		if doc, err = c.soulWithout(apart); err != nil {
			return out, err
		}
	}
	since, err := c.answersSince(ctx, leaving.Asserted)
	if err != nil {
		return out, err
	}
	defer c.backupSoon()
	err = c.claims.Exclusively(ctx, func() error {
		return c.store.RewriteUnsaid(ctx, since, func(old []chitta.Value) ([]chitta.Value, error) {
			return valuesForgetting(old, g, leaving, doc)
		})
	})
	if err != nil {
		return out, err
	}
	ctx = context.WithoutCancel(ctx)
	if out.Versions, err = c.clearTraces(ctx); err != nil {
		return out, fmt.Errorf("forgotten in the store, but something that was generated from it could not be removed; it is tried again at the next start: %w", err)
	}
	_, out.BackupsLeft = c.store.DropCopies()
	if err := c.dropCopies(ctx); err != nil {
		return out, err
	}
	out.Left, err = claims.Mentions(c.store.Values, leaving.IDs)
	return out, err
}

// answersSince is the first entry of a session, or behind it: what a model answered since may
// speak of a claim that was made in it.
func (c *Companion) answersSince(ctx context.Context, session int) (since uint64, err error) {
	since = c.store.Snapshot().Sequence + 1 // nothing was answered, perhaps
	err = c.store.Experiences(ctx, func(x chitta.Experience) error {
		if int(x.Session) >= session {
			since = min(since, x.Sequence)
		}
		return ctx.Err()
	})
	return since, err
}

// valuesForgetting are the records without the claims, with what says that copies of before
// go, and doc for SOUL.md where that may have spoken of one.
func valuesForgetting(old []chitta.Value, g claims.Goes, leaving claims.Leaving, doc []byte) ([]chitta.Value, error) {
	left, err := valuesWithout(old, g)
	if err != nil {
		return nil, err
	}
	left = slices.DeleteFunc(left, func(v chitta.Value) bool { return v.Name == valueToForgetClaims })
	if left, err = withForgottenClaims(left, leaving); err != nil {
		return nil, err
	}
	left = markCopies(left)
	if leaving.Shown {
		mark, err := json.Marshal(traces{FirstSession: leaving.Session})
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(v chitta.Value) bool { return v.Name == valueCurrent || v.Name == valueTraces })
		left = append(left, chitta.Value{Name: valueCurrent, Data: doc}, chitta.Value{Name: valueTraces, Data: mark})
	}
	return left, nil
}

// withForgottenClaims are records that also say which claims were forgotten, and that copies
// of before are to go; the same ones for none.
func withForgottenClaims(values []chitta.Value, leaving claims.Leaving) ([]chitta.Value, error) {
	if leaving.Nothing() {
		return values, nil
	}
	all := claims.Forgotten{IDs: map[string]bool{}}
	all.Add(leaving.Forgotten())
	var out []chitta.Value
	for _, v := range values {
		if v.Name != claims.NameForgotten {
			out = append(out, v)
			continue
		}
		before, err := claims.ReadForgotten(v.Data)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", chitta.ErrDamaged, err)
		}
		all.Add(before)
	}
	list, err := all.Encode()
	return markCopies(append(out, chitta.Value{Name: claims.NameForgotten, Data: list})), err
}

// markCopies are records that say that copies of before are to go.
func markCopies(values []chitta.Value) []chitta.Value {
	values = slices.DeleteFunc(values, func(v chitta.Value) bool { return v.Name == valueCopies })
	return append(values, chitta.Value{Name: valueCopies, Data: []byte("1")})
}

// soulWithout is SOUL.md of the last session with the claims of a book; where a session is
// open, the one that was written last, with none: the end writes it anew.
func (c *Companion) soulWithout(apart *claims.Book) ([]byte, error) {
	s, err := c.lastSummary()
	if errors.Is(err, errNotNow) {
		doc, err := c.lastWritten()
		return soul.WithoutClaims(doc), err
	}
	if err != nil {
		return nil, err
	}
	s.Unsettled = c.unsettledIn(apart)
	return soul.Render(s, c.opts.SoulBytes)
}

// valueToForgetClaims is there after a restore until claims that were forgotten before are
// taken out again.
const valueToForgetClaims = "claim/again"

// forgetClaimsAgain does that.
func (c *Companion) forgetClaimsAgain(ctx context.Context) error {
	if _, err := c.store.Value(valueToForgetClaims); errors.Is(err, chitta.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	data, err := c.store.Value(claims.NameForgotten)
	if err != nil && !errors.Is(err, chitta.ErrNotFound) {
		return err
	}
	gone, err := claims.ReadForgotten(data)
	if err != nil {
		return fmt.Errorf("%w: %w", chitta.ErrDamaged, err)
	}
	if _, err := c.forgetClaims(ctx, claims.Goes{Claims: gone.IDs}); err != nil {
		return fmt.Errorf("forget again the claims that were forgotten before the store was restored: %w", err)
	}
	return nil
}

// claimsMatching are the claims that a query matches which names nothing but a text.
func (c *Companion) claimsMatching(q ForgetQuery) (map[string]bool, error) {
	match := plain(q.Match)
	if match == "" || len(q.Entries) > 0 || q.Source != "" || q.Session != 0 || q.byDate() || q.Undated {
		return nil, nil
	}
	var all []claims.Value
	err := c.store.Values(claims.Prefix, func(name string, data []byte) error {
		all = append(all, claims.Value{Name: name, Data: slices.Clone(data)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claims.Matching(all, func(text string) bool { return strings.Contains(plain(text), match) })
}

// forgetClaimsAlone is a forgetting that no entry fits.
func (c *Companion) forgetClaimsAlone(ctx context.Context, match map[string]bool) (r ForgetReceipt, err error) {
	began, before := time.Now(), c.store.Snapshot()
	gone, err := c.forgetClaims(ctx, claims.Goes{Claims: match})
	if err != nil {
		return r, err
	}
	r.Claims, r.Versions, r.BackupsLeft, r.Left.Texts = gone.Claims, gone.Versions, gone.BackupsLeft, gone.Left
	r.Before = fmt.Sprintf("%x", before.Digest())
	r.After = r.Before
	r.Remaining = len(before.Impressions) + len(before.Links)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// purgeClaims takes out the claims of categories whose leave was withdrawn.
func (c *Companion) purgeClaims(ctx context.Context, o *owedWithdrawal) error {
	if len(o.Plan.Purge) == 0 {
		return nil
	}
	g := claims.Goes{Category: func(name string) bool { return slices.Contains(o.Plan.Purge, consent.OfEntry(name)) }}
	_, leaving, err := c.claims.Apart(ctx, g)
	if err != nil || leaving.Claims+leaving.Events == 0 {
		return err
	}
	gone, err := c.forgetClaims(ctx, g)
	if err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	o.Claims += gone.Claims
	o.Versions += gone.Versions
	return nil
}
