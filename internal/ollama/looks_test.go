package ollama

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// A server that goes wrong where it is asked which models it has is away, whichever way
// it does so, and nothing of the person's is sent to it.
func TestFaultsOfALook(t *testing.T) {
	behind := httptest.NewServer(newStub())
	defer behind.Close()
	p := &proxy{}
	front := httptest.NewServer(p)
	defer front.Close()
	for name, wrong := range map[string]func(*play){
		"never": never, "drip-feed": drip, "never-ending": endless, "reset": func(*play) { abort() }, "cut": cutInTheMiddle,
		"empty": func(*play) {}, "404": func(p *play) { http.NotFound(p.w, p.r) }, "401": statusOf(401, "no"), "500": statusOf(500, "unexpected EOF"),
		"502": statusOf(502, ""), "503": statusOf(503, "server busy"), "a page": func(p *play) { p.send([]byte("<html>Welcome!</html>")) },
	} {
		for _, path := range []string{"/api/tags", "/api/show"} {
			if name == "empty" && path == "/api/show" {
				continue // a model of which nothing is told
			}
			t.Run(name+path, func(t *testing.T) {
				o := Options{Server: front.URL, Chat: chatModel, Embed: embedModel, Deadline: time.Minute}
				if name == "never" || name == "drip-feed" {
					o.Deadline = 300 * time.Millisecond
				}
				p.at = path
				p.start(behind.URL, wrong, 1000)
				s := New(o)
				defer s.Close()
				if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
					t.Errorf("%v", err)
				}
				if state := s.State(); state.Away == "" || state.Calls != 0 {
					t.Errorf("%+v", state)
				}
			})
		}
	}
}

// silence takes requests and never answers.
type silence struct{}

func (silence) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that takes requests and never answers is found out by looking.
func TestSilenceIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Server: "http://stub.example", Chat: chatModel, HTTP: &http.Client{Transport: silence{}}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var told []lifecycle.ModelState
		s.Watch(ctx, func(m lifecycle.ModelState) { told = append(told, m) })
		time.Sleep(lookTime + time.Second)
		synctest.Wait()
		if len(told) != 1 || told[0].Away == "" || s.State().Away == "" {
			t.Errorf("%+v", told)
		}
	})
}
