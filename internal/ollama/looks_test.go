package ollama

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
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
				p.startAt(path, behind.URL, wrong, 1000)
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

// A judgement is recorded as that of the model that made it, also where another one got
// its name between two looks; not for each is the server looked at.
func TestWhoJudgedIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		for range 10 {
			must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
		}
		if n := st.count("/api/tags"); n != 1 {
			t.Errorf("%d looks for ten judgements", n)
		}
		time.Sleep(2 * trusted)
		st.set(func() { st.digest = digestB })
		if a, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAnswer) {
			t.Errorf("recorded as by %s: %v", a.Judgement.Assessor, err)
		}
		if a := must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry)); !strings.Contains(a.Judgement.Assessor, "@bbbbbbbbbbbb") {
			t.Errorf("judged by %s", a.Judgement.Assessor)
		}
		if state := s.State(); state.Away != "" || state.Failures != 0 {
			t.Errorf("%+v", state)
		}
	})
}

// listing is a stub whose list of models takes a time, or never comes.
type listing struct {
	*stub
	takes atomic.Int64
}

func (l *listing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/api/tags" {
		select {
		case <-time.After(time.Duration(l.takes.Load())):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return l.stub.RoundTrip(r)
}

// The looks after texts are shared, belong to the items' deadline, and close the lane
// where they come to nothing.
func TestLooksAfterTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listing{stub: newStub()}
		s := New(Options{Server: "http://stub.example", Embed: embedModel, Deadline: time.Minute, HTTP: &http.Client{Transport: l}})
		e := must[*Embedder](t)(s.Embedder(t.Context()))
		l.takes.Store(int64(time.Second))
		before := l.count("/api/tags")
		var all sync.WaitGroup
		for range embeddings {
			all.Go(func() {
				if _, err := e.Embed(t.Context(), "words"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := l.count("/api/tags") - before; n != 2 { // the second began after all of the answers
			t.Errorf("%d looks for %d texts", n, embeddings)
		}
		l.takes.Store(int64(time.Hour))
		began := time.Now()
		for range 100 {
			if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAway) {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != lookTime || e.State().Away == "" {
			t.Errorf("it took %v, %+v", took, e.State())
		}
		time.Sleep(lastPause)
		l.takes.Store(0)
		s.o.Deadline = 5 * time.Second // the item's comes before a look's
		if _, err := e.Embed(t.Context(), "words"); err != nil {
			t.Fatal(err)
		}
		l.takes.Store(int64(time.Hour))
		began = time.Now()
		if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAnswer) || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
