package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/jivad/jivad/lifecycle"
)

func (s *server) consent(w http.ResponseWriter, r *http.Request) {
	view, err := s.companion.Consent(r.Context())
	answer(w, view, err)
}

func (s *server) planConsent(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.ConsentRequest
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	plan, err := s.companion.PlanConsent(r.Context(), q)
	answer(w, plan, err)
}

func (s *server) setConsent(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.ConsentRequest
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	out := newStream(w)
	report, err := s.companion.SetConsent(r.Context(), q, out.progress)
	out.end(report, err)
}

// Consent tells what the person allows, with all that they said of it.
func (c *Client) Consent(ctx context.Context) (lifecycle.ConsentView, error) {
	return get[lifecycle.ConsentView](ctx, c, "consent")
}

// PlanConsent tells what SetConsent would do.
func (c *Client) PlanConsent(ctx context.Context, r lifecycle.ConsentRequest) (lifecycle.ConsentPlan, error) {
	return send[lifecycle.ConsentPlan](ctx, c, "consent/plan", r)
}

// SetConsent records what the person says, and does at once what it asks for.
func (c *Client) SetConsent(ctx context.Context, r lifecycle.ConsentRequest, progress func(lifecycle.Progress)) (lifecycle.Withdrawal, error) {
	var report lifecycle.Withdrawal
	body, err := json.Marshal(r)
	if err != nil {
		return report, err
	}
	err = c.long(ctx, "consent", "application/json", bytes.NewReader(body), progress, &report)
	return report, err
}
