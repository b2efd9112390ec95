package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/jivad/jivad/lifecycle"
)

func (s *server) planForget(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.ForgetQuery
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	plan, err := s.companion.PlanForget(r.Context(), q)
	answer(w, plan, err)
}

func (s *server) forget(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.ForgetQuery
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	out := newStream(w)
	receipt, err := s.companion.Forget(r.Context(), q, out.progress)
	out.end(receipt, err)
}

// PlanForget tells what Forget would take out.
func (c *Client) PlanForget(ctx context.Context, q lifecycle.ForgetQuery) (lifecycle.ForgetPlan, error) {
	return send[lifecycle.ForgetPlan](ctx, c, "forget/plan", q)
}

// Forget takes entries out as if they had never been.
func (c *Client) Forget(ctx context.Context, q lifecycle.ForgetQuery, progress func(lifecycle.Progress)) (lifecycle.ForgetReceipt, error) {
	var receipt lifecycle.ForgetReceipt
	body, err := json.Marshal(q)
	if err != nil {
		return receipt, err
	}
	err = c.long(ctx, "forget", "application/json", bytes.NewReader(body), progress, &receipt)
	return receipt, err
}
