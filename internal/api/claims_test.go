package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/claims"
)

var (
	root  = evidence.Root{ID: "sensor:a", Type: evidence.Instrument, Observed: 7, Expires: 9, Retrieval: "look"}
	claim = lifecycle.Claim{
		Kept:    claims.Kept{Claim: evidence.Claim{ID: "c1", Class: evidence.Verified, Text: "a <b> & c", Subject: "s", Roots: []evidence.Root{root}}, Promotion: &claims.Promotion{Sources: []string{"sensor:a"}, Needed: 1}},
		Sources: 1, Usable: []evidence.Reason{{Code: evidence.StaleRoot, Claim: "c1", Root: "sensor:a", Says: "x"}}, Reverify: "y",
	}
	story    = lifecycle.ClaimStory{Claim: claim, History: []lifecycle.ClaimEvent{{Form: claims.Form, Kind: claims.Evidence, Claim: "c1", Root: &root}}}
	decision = lifecycle.GateDecision{Decision: evidence.Decision{Verdict: evidence.Audit, Reasons: []evidence.Reason{{Code: evidence.NeedsPerson, Says: "z"}}, Ask: true}, Tool: "t", Consequence: evidence.High, RestsOn: []string{"r"}, Claims: []string{"c1"}}
	pending  = lifecycle.PendingAct{ID: 2, Tool: "t", Arguments: json.RawMessage(`{"a":1}`), Seconds: 3.5}
	gone     = lifecycle.ForgottenClaims{Claims: 1, Events: 2, BackupsLeft: []string{"b"}}
	draft    = lifecycle.ClaimDraft{Text: "t", Subject: "s", Roots: []evidence.Root{root}, Previous: []string{"c0"}, Contests: "c2"}
	changed  = lifecycle.ClaimChange{ID: "c1", What: lifecycle.ClaimLocate, Root: &root, Reasoning: "r"}
)

// claimAsked is what a fake was asked of claims last.
var claimAsked []any

func (f *fake) Claims(_ context.Context, q lifecycle.ClaimQuery) ([]lifecycle.Claim, error) {
	claimAsked = []any{q}
	return []lifecycle.Claim{claim}, f.err
}

func (f *fake) Claim(_ context.Context, id string) (lifecycle.ClaimStory, error) {
	claimAsked = []any{id}
	return story, f.err
}

func (f *fake) AddClaim(_ context.Context, d lifecycle.ClaimDraft) (lifecycle.Claim, error) {
	claimAsked = []any{d}
	return claim, f.err
}

func (f *fake) ChangeClaim(_ context.Context, x lifecycle.ClaimChange) (lifecycle.Claim, error) {
	claimAsked = []any{x}
	return claim, f.err
}

func (f *fake) ForgetClaims(_ context.Context, ids []string) (lifecycle.ForgottenClaims, error) {
	claimAsked = []any{ids}
	return gone, f.err
}

func (f *fake) GateAct(_ context.Context, tool, consequence string, arguments json.RawMessage) (lifecycle.GateDecision, error) {
	claimAsked = []any{tool, consequence, string(arguments)}
	return decision, f.err
}

func (f *fake) PendingActs(context.Context) ([]lifecycle.PendingAct, error) {
	return []lifecycle.PendingAct{pending}, f.err
}

func (f *fake) AnswerAct(_ context.Context, id int, yes bool) (lifecycle.PendingAct, error) {
	claimAsked = []any{id, yes}
	return pending, f.err
}

// ofClaims are the questions about claims, and what the companion is asked by them.
var ofClaims = []struct {
	asked
	given []any
}{
	{asked{"claims", func(ctx context.Context, c Companion) (any, error) {
		return c.Claims(ctx, lifecycle.ClaimQuery{Class: "STALE", Subject: "a&b c", Due: true})
	}, []lifecycle.Claim{claim}}, []any{lifecycle.ClaimQuery{Class: "STALE", Subject: "a&b c", Due: true}}},
	{asked{"claim", func(ctx context.Context, c Companion) (any, error) { return c.Claim(ctx, "c1/?x") }, story}, []any{"c1/?x"}},
	{asked{"add", func(ctx context.Context, c Companion) (any, error) { return c.AddClaim(ctx, draft) }, claim}, []any{draft}},
	{asked{"change", func(ctx context.Context, c Companion) (any, error) { return c.ChangeClaim(ctx, changed) }, claim}, []any{changed}},
	{asked{"forget claims", func(ctx context.Context, c Companion) (any, error) { return c.ForgetClaims(ctx, []string{"c1", "c2"}) }, gone}, []any{[]string{"c1", "c2"}}},
	{asked{"gate", func(ctx context.Context, c Companion) (any, error) {
		return c.GateAct(ctx, "t", "high", json.RawMessage(`{"a":1}`))
	}, decision}, []any{"t", "high", `{"a":1}`}},
	{asked{"pending", func(ctx context.Context, c Companion) (any, error) { return c.PendingActs(ctx) }, []lifecycle.PendingAct{pending}}, nil},
	{asked{"approve", func(ctx context.Context, c Companion) (any, error) { return c.AnswerAct(ctx, 2, true) }, pending}, []any{2, true}},
}

func askedOfClaims() (out []asked) {
	for _, q := range ofClaims {
		out = append(out, q.asked)
	}
	return out
}

func TestQuestionsOfClaimsArriveWhole(t *testing.T) {
	_, client := serve(t, &fake{})
	for _, q := range ofClaims {
		claimAsked = nil
		if _, err := q.ask(t.Context(), client); err != nil || !reflect.DeepEqual(claimAsked, q.given) {
			t.Errorf("%s asked %+v (%v), want %+v", q.name, claimAsked, err, q.given)
		}
	}
}

// All reasons of a refusal arrive, and what kind of error it is.
func TestARefusalArrivesWhole(t *testing.T) {
	refusal := &claims.RefusedError{What: "to promote c1", Reasons: []evidence.Reason{{Code: evidence.StaleRoot, Says: "a"}, {Code: evidence.StaleRecord, Says: "b"}}}
	_, client := serve(t, &fake{err: fmt.Errorf("claims: %w", refusal)})
	_, err := client.ChangeClaim(t.Context(), changed)
	if !errors.Is(err, lifecycle.ErrRefused) || !strings.Contains(err.Error(), "stale_evidence_root: a") || !strings.Contains(err.Error(), "stale_record_freshness: b") {
		t.Error(err)
	}
}

func TestRequestsOfClaimsAreChecked(t *testing.T) {
	h := NewHandler(&fake{})
	for _, c := range []struct {
		path, body string
		want       int
	}{
		{"claims", `{"text":"t","more":1}`, http.StatusBadRequest}, {"claims", `{"text":1}`, http.StatusBadRequest}, {"claims/change", `{"id":"c1"}{}`, http.StatusBadRequest},
		{"claims/gate", `{"tool":"t","yes":true}`, http.StatusBadRequest}, {"acts/answer", `{"id":"1","yes":true}`, http.StatusBadRequest}, {"acts/answer", `{"id":1,"yes":true}`, http.StatusOK},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/"+c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s: %d, want %d: %s", c.path, c.body, w.Code, c.want, w.Body)
		}
	}
}
