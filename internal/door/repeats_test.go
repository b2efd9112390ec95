package door

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// What the person said earlier in a conversation goes with the turn: the answer may repeat
// it, and it stays theirs.
func TestEarlierWordsGoWithATurn(t *testing.T) {
	f := newFake()
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, chatAnswer) })
	_, s := open(t, f, u.URL)
	post(t, s.URL+"/api/chat", `{"model":"m","messages":[{"role":"user","content":"One."},{"role":"assistant","content":"Two."},{"role":"user","content":"Three."}]}`)
	if turn := f.turn(t); !slices.Equal(turn.Heard, []string{"Three.", "One."}) {
		t.Errorf("%q", turn.Heard)
	}
	if turn := f.remembered()[0]; turn.Allowed == (lifecycle.Allowance{}) {
		t.Error("what was allowed when it was said does not go with it")
	}
	if n := sizeOf(f.remembered()[0]); n != len("Three.Three.One.Good morning.") {
		t.Errorf("%d bytes", n)
	}
}
