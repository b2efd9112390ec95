package door

import (
	"io"
	"net/http"
	"slices"
	"testing"
)

// The life that an answer is given in may begin with the request: who is to answer is told to
// the companion before the rules of it are woven in, whatever the request is.
func TestTheLifeBeginsBeforeItsRulesAreWoven(t *testing.T) {
	for name, q := range map[string][2]string{
		"a chat":                 {"/api/chat", `{"model":"m","messages":[{"role":"user","content":"Hello."}]}`},
		"with tools of a client": {"/api/chat", `{"model":"m","messages":[{"role":"user","content":"Hello."}],"tools":[{"type":"function","function":{"name":"own"}}]}`},
		"words to go on with":    {"/api/generate", `{"model":"m","prompt":"Hello."}`},
	} {
		f := newFake()
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, chatAnswer) })
		_, s := open(t, f, u.URL)
		post(t, s.URL+q[0], q[1])
		f.mu.Lock()
		if !slices.Equal(f.order, []string{"offers to m", "weave"}) {
			t.Errorf("%s: %q", name, f.order)
		}
		f.mu.Unlock()
	}
}
