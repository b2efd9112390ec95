package door

import (
	"net/http"
	"sync/atomic"
	"testing"
)

// While the server answers a conversation the companion knows that somebody waits.
func TestSomebodyWaits(t *testing.T) {
	f := newFake()
	var seen atomic.Int64
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		seen.Store(f.talking.Load())
		_, _ = w.Write([]byte(chatAnswer))
	})
	_, s := open(t, f, u.URL)
	post(t, s.URL+"/api/chat", `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`)
	f.turn(t)
	if seen.Load() != 1 {
		t.Errorf("%d wait while it answers", seen.Load())
	}
	post(t, s.URL+"/api/embed", `{"model":"m","input":"Hello"}`)
	if seen.Load() != 0 {
		t.Errorf("%d wait while nobody talks", seen.Load())
	}
}
