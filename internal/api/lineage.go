package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/jivad/jivad/lifecycle"
)

// invitation asks for an invitation.
type invitation struct {
	Hub string `json:"hub,omitempty"`
}

func (s *server) lineage(w http.ResponseWriter, r *http.Request) {
	k, err := s.companion.Lineage(r.Context())
	answer(w, k, err)
}

func (s *server) verifyLineage(w http.ResponseWriter, r *http.Request) {
	out := newStream(w)
	report, err := s.companion.VerifyLineage(r.Context())
	out.end(report, err)
}

func (s *server) renderLineage(w http.ResponseWriter, r *http.Request) {
	text, err := s.companion.RenderLineage(r.Context(), r.URL.Query().Get("version"))
	answer(w, text, err)
}

func (s *server) lineageRules(w http.ResponseWriter, r *http.Request) {
	rules, err := s.companion.LineageRules(r.Context())
	answer(w, rules, err)
}

func (s *server) blame(w http.ResponseWriter, r *http.Request) {
	shares, err := s.companion.Blame(r.Context(), r.PathValue("key"))
	answer(w, shares, err)
}

func (s *server) prove(w http.ResponseWriter, r *http.Request) {
	proof, err := s.companion.Prove(r.Context(), r.PathValue("id"))
	answer(w, proof, err)
}

func (s *server) attest(w http.ResponseWriter, r *http.Request) {
	envelope, err := s.companion.Attest(r.Context())
	answer(w, envelope, err)
}

func (s *server) absorb(w http.ResponseWriter, r *http.Request) {
	what, err := s.companion.Absorb(r.Context())
	answer(w, what, err)
}

func (s *server) invite(w http.ResponseWriter, r *http.Request) {
	var what invitation
	if err := read(w, r, &what); err != nil {
		refuse(w, err)
		return
	}
	v, err := s.companion.Invite(r.Context(), what.Hub)
	answer(w, v, err)
}

func (s *server) planExcise(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.ExcisionRequest
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	plan, err := s.companion.PlanExcise(r.Context(), q)
	answer(w, plan, err)
}

func (s *server) excise(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.ExcisionRequest
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	out := newStream(w)
	receipt, err := s.companion.ExciseLives(r.Context(), q)
	out.end(receipt, err)
}

func (s *server) excisions(w http.ResponseWriter, r *http.Request) {
	list, err := s.companion.Excisions(r.Context())
	answer(w, list, err)
}

// Lineage is what there is to know of the lineage at a glance.
func (c *Client) Lineage(ctx context.Context) (lifecycle.LineageSummary, error) {
	return get[lifecycle.LineageSummary](ctx, c, "lineage")
}

// VerifyLineage reads the whole lineage anew.
func (c *Client) VerifyLineage(ctx context.Context) (lifecycle.LineageCheck, error) {
	var report lifecycle.LineageCheck
	err := c.long(ctx, "lineage/verify", "application/json", http.NoBody, nil, &report)
	return report, err
}

// RenderLineage is the text of the rules of a version; empty means the head.
func (c *Client) RenderLineage(ctx context.Context, version string) (lifecycle.LineageText, error) {
	return get[lifecycle.LineageText](ctx, c, "lineage/render?version="+url.QueryEscape(version))
}

// LineageRules are all rules of the head.
func (c *Client) LineageRules(ctx context.Context) ([]lifecycle.LineageRule, error) {
	return get[[]lifecycle.LineageRule](ctx, c, "lineage/rules")
}

// Blame lists who made a rule what it is.
func (c *Client) Blame(ctx context.Context, key string) ([]lifecycle.RuleShare, error) {
	return get[[]lifecycle.RuleShare](ctx, c, "lineage/blame/"+url.PathEscape(key))
}

// Prove proves that a distillate is in the lineage, or is not.
func (c *Client) Prove(ctx context.Context, name string) (lifecycle.LineageProof, error) {
	return get[lifecycle.LineageProof](ctx, c, "lineage/proofs/"+url.PathEscape(name))
}

// Attest says what the lineage is now, signed by the daemon's device.
func (c *Client) Attest(ctx context.Context) (json.RawMessage, error) {
	return get[json.RawMessage](ctx, c, "lineage/attestation")
}

// Absorb exports what is mature as training data (M-1).
func (c *Client) Absorb(ctx context.Context) (lifecycle.Absorption, error) {
	return send[lifecycle.Absorption](ctx, c, "absorb", struct{}{})
}

// Invite makes an invitation for a further device.
func (c *Client) Invite(ctx context.Context, hub string) (lifecycle.Invited, error) {
	return send[lifecycle.Invited](ctx, c, "invite", invitation{hub})
}

// PlanExcise tells what ExciseLives would take out.
func (c *Client) PlanExcise(ctx context.Context, q lifecycle.ExcisionRequest) (lifecycle.ExcisionPlan, error) {
	return send[lifecycle.ExcisionPlan](ctx, c, "excise/plan", q)
}

// ExciseLives takes lives out of the lineage as if they had never been distilled.
func (c *Client) ExciseLives(ctx context.Context, q lifecycle.ExcisionRequest) (lifecycle.ExcisionReceipt, error) {
	var receipt lifecycle.ExcisionReceipt
	body, err := json.Marshal(q)
	if err != nil {
		return receipt, err
	}
	err = c.long(ctx, "excise", "application/json", bytes.NewReader(body), nil, &receipt)
	return receipt, err
}

// Excisions are those that were made, the oldest first.
func (c *Client) Excisions(ctx context.Context) ([]lifecycle.ExcisionRecord, error) {
	return get[[]lifecycle.ExcisionRecord](ctx, c, "excisions")
}
