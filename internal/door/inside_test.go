package door

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// An answer that is on its way when the daemon ends is a turn like others: the door does
// not close before it is heard to its end. Afterwards nobody is let in.
func TestTheLastTurnIsWaitedFor(t *testing.T) {
	noLeak(t)
	f := newFake()
	asked, answer := make(chan struct{}), make(chan struct{})
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		_, _ = io.WriteString(w, chatAnswer)
	})
	d, err := New(Options{Companion: f, Server: u.URL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	chat := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/api/chat", strings.NewReader(hello)))
		return w
	}
	served, closed := make(chan struct{}), make(chan struct{})
	go func() { defer close(served); chat() }()
	<-asked
	go func() { defer close(closed); d.Close(t.Context()) }()
	wait(t, func() bool { return d.turns.closing.Err() != nil }, func() string { return "the door does not close" })
	close(answer)
	<-served
	<-closed
	want := lifecycle.Turn{Said: "Hello", Answered: "Good morning.", By: "m", Source: "chat:door"}
	if turns := f.remembered(); len(turns) != 1 || turns[0].Said != want.Said || turns[0].Source != want.Source {
		t.Errorf("remembered %+v, want %+v", turns, want)
	}
	if w := chat(); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `{"error":"jivad is stopping`) {
		t.Errorf("after the end: %d %s", w.Code, w.Body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.inside.n++ // one that never leaves
	d.inside.close(ctx)
}
