package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// Thinking something away is long work too: it has no limit of arrival, is done
// once at a time, and ends with the client that asked.
func TestGhostsAreLongWork(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/api/v1/ghosts/of", strings.NewReader(`{"of":"12","baseline":20}`))
	r.Header.Set("Content-Type", "application/json")
	w := &limited{ResponseRecorder: httptest.NewRecorder()}
	NewHandler(&fake{}).ServeHTTP(w, r)
	if w.Code != http.StatusOK || !w.read.IsZero() {
		t.Errorf("status %d, ends at %v", w.Code, w.read)
	}

	f := &fake{hold: make(chan struct{}), ended: make(chan error, 1)}
	_, client := serve(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := client.GhostsOf(ctx, lifecycle.GhostQuery{Of: "12"}, nil)
		first <- err
	}()
	<-f.hold
	if _, err := client.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "12"}, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the work ended with %v", err)
	}
}
