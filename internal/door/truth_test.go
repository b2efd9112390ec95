package door

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// Without a server an answer says what becomes of what was said: it is taken in before it is
// said to become an entry, and where it cannot be the answer says so, and why.
func TestAloneItSaysWhatIsTrue(t *testing.T) {
	for name, tc := range map[string]struct {
		said    string
		waiting int
		ending  bool
		want    lifecycle.Fate
		kept    bool
	}{
		"short":             {said: "Hello", want: lifecycle.Becomes, kept: true},
		"as long as may be": {said: strings.Repeat("x", lifecycle.MaxNote), want: lifecycle.Becomes, kept: true},
		"too long":          {said: strings.Repeat("x", lifecycle.MaxNote+1), want: lifecycle.TooLong},
		"too many wait":     {said: "Hello", waiting: maxTurns, want: lifecycle.NoRoom},
		"it is stopping":    {said: "Hello", ending: true, want: lifecycle.Ending},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.hold = make(chan struct{})
			d, err := New(Options{Companion: f})
			if err != nil {
				t.Fatal(err)
			}
			for range tc.waiting {
				d.turns.add(lifecycle.Turn{Said: "Before"})
			}
			if tc.ending {
				d.turns.mu.Lock()
				d.turns.closed = true
				d.turns.mu.Unlock()
			}
			body, _ := json.Marshal(map[string]any{"model": "m", "messages": []map[string]string{{"role": "user", "content": tc.said}}})
			w := httptest.NewRecorder()
			d.ServeHTTP(w, httptest.NewRequest("POST", "/api/chat", strings.NewReader(string(body))))
			if f.fate != tc.want || w.Code != 200 || !strings.Contains(w.Body.String(), `"done":true`) {
				t.Errorf("it says %q, want %q; %d", f.fate, tc.want, w.Code)
			}
			if got := d.turns.waiting(); got != tc.waiting+map[bool]int{true: 1}[tc.kept] {
				t.Errorf("%d wait of %d before", got, tc.waiting)
			}
			close(f.hold)
			d.Close(t.Context())
		})
	}
}
