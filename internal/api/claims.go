package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/jivad/jivad/lifecycle"
)

// gateQuestion asks what the gate says of the use of a tool.
type gateQuestion struct {
	Tool        string          `json:"tool"`
	Consequence string          `json:"consequence,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
}

// verdictOnAct is a person's yes or no to an act that waits.
type verdictOnAct struct {
	ID  int  `json:"id"`
	Yes bool `json:"yes"`
}

// forgottenClaims are claims that are to be forgotten.
type forgottenClaims struct {
	IDs []string `json:"ids"`
}

func (s *server) claims(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	list, err := s.companion.Claims(r.Context(), lifecycle.ClaimQuery{Class: q.Get("class"), Subject: q.Get("subject"), Due: q.Get("due") == "true", All: q.Get("all") == "true"})
	answer(w, list, err)
}

func (s *server) claim(w http.ResponseWriter, r *http.Request) {
	story, err := s.companion.Claim(r.Context(), r.PathValue("id"))
	answer(w, story, err)
}

func (s *server) addClaim(w http.ResponseWriter, r *http.Request) {
	handle(w, r, s.companion.AddClaim)
}

func (s *server) changeClaim(w http.ResponseWriter, r *http.Request) {
	handle(w, r, s.companion.ChangeClaim)
}

func (s *server) forgetClaims(w http.ResponseWriter, r *http.Request) {
	handle(w, r, func(ctx context.Context, f forgottenClaims) (lifecycle.ForgottenClaims, error) {
		return s.companion.ForgetClaims(ctx, f.IDs)
	})
}

func (s *server) gateAct(w http.ResponseWriter, r *http.Request) {
	handle(w, r, func(ctx context.Context, q gateQuestion) (lifecycle.GateDecision, error) {
		return s.companion.GateAct(ctx, q.Tool, q.Consequence, q.Arguments)
	})
}

func (s *server) pendingActs(w http.ResponseWriter, r *http.Request) {
	list, err := s.companion.PendingActs(r.Context())
	answer(w, list, err)
}

func (s *server) answerAct(w http.ResponseWriter, r *http.Request) {
	handle(w, r, func(ctx context.Context, v verdictOnAct) (lifecycle.PendingAct, error) {
		return s.companion.AnswerAct(ctx, v.ID, v.Yes)
	})
}

// handle reads what is asked, does it and answers.
func handle[Q, A any](w http.ResponseWriter, r *http.Request, do func(context.Context, Q) (A, error)) {
	var q Q
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	a, err := do(r.Context(), q)
	answer(w, a, err)
}

// Claims lists claims.
func (c *Client) Claims(ctx context.Context, q lifecycle.ClaimQuery) ([]lifecycle.Claim, error) {
	v := url.Values{}
	if q.Class != "" {
		v.Set("class", q.Class)
	}
	if q.Subject != "" {
		v.Set("subject", q.Subject)
	}
	if q.Due {
		v.Set("due", strconv.FormatBool(q.Due))
	}
	if q.All {
		v.Set("all", strconv.FormatBool(q.All))
	}
	return get[[]lifecycle.Claim](ctx, c, "claims?"+v.Encode())
}

// Claim tells of one claim.
func (c *Client) Claim(ctx context.Context, id string) (lifecycle.ClaimStory, error) {
	return get[lifecycle.ClaimStory](ctx, c, "claims/"+url.PathEscape(id))
}

// AddClaim makes a claim.
func (c *Client) AddClaim(ctx context.Context, d lifecycle.ClaimDraft) (lifecycle.Claim, error) {
	return send[lifecycle.Claim](ctx, c, "claims", d)
}

// ChangeClaim changes one.
func (c *Client) ChangeClaim(ctx context.Context, x lifecycle.ClaimChange) (lifecycle.Claim, error) {
	return send[lifecycle.Claim](ctx, c, "claims/change", x)
}

// ForgetClaims takes claims out.
func (c *Client) ForgetClaims(ctx context.Context, ids []string) (lifecycle.ForgottenClaims, error) {
	return send[lifecycle.ForgottenClaims](ctx, c, "claims/forget", forgottenClaims{ids})
}

// GateAct tells what the gate says of the use of a tool.
func (c *Client) GateAct(ctx context.Context, tool, consequence string, arguments json.RawMessage) (lifecycle.GateDecision, error) {
	return send[lifecycle.GateDecision](ctx, c, "claims/gate", gateQuestion{tool, consequence, arguments})
}

// PendingActs lists acts that wait for a person's yes.
func (c *Client) PendingActs(ctx context.Context) ([]lifecycle.PendingAct, error) {
	return get[[]lifecycle.PendingAct](ctx, c, "acts/pending")
}

// AnswerAct says yes or no to one.
func (c *Client) AnswerAct(ctx context.Context, id int, yes bool) (lifecycle.PendingAct, error) {
	return send[lifecycle.PendingAct](ctx, c, "acts/answer", verdictOnAct{id, yes})
}
