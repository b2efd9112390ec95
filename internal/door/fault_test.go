package door

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

const hello = `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`

// noLeak sees that a test leaves no goroutine behind.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		wait(t, func() bool { return runtime.NumGoroutine() <= before }, func() string {
			stacks := make([]byte, 1<<20)
			return fmt.Sprintf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		})
	})
}

// A stream that the server cuts is cut for the client too, and is no turn.
func TestServerCutsItsAnswer(t *testing.T) {
	noLeak(t)
	f := newFake()
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, chatAnswer[:90])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	d, s := open(t, f, u.URL)
	response, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err == nil || string(got) != chatAnswer[:90] {
		t.Errorf("got %q, %v; want what came, and an error", got, err)
	}
	settle(t, d, "chat", outcomeFailed)
	d.Close(t.Context())
	if turns := f.remembered(); len(turns) > 0 {
		t.Errorf("remembered %+v", turns)
	}
}

// An answer that the server ended before it was whole was not left by a client that goes when
// there is no more of it.
func TestServerCutsBeforeTheClientLeaves(t *testing.T) {
	f := newFake()
	d, _ := open(t, f, "http://127.0.0.1:1")
	client, leave := context.WithCancel(t.Context())
	e := &exchange{door: d, w: newPaced(httptest.NewRecorder()), client: client, turn: &lifecycle.Turn{Said: "Hello"}}
	h := &heard{ReadCloser: io.NopCloser(strings.NewReader(`{"message":{"content":"Good"}}`)), exchange: e}
	if _, err := io.ReadAll(h); err != nil {
		t.Fatal(err)
	}
	leave() // with all that it could get
	if err := h.Close(); err != nil || e.outcome != outcomeFailed {
		t.Errorf("it is taken for %q, %v", e.outcome, err)
	}
	if counts, waiting := d.Turns(); len(counts) > 0 || waiting > 0 {
		t.Errorf("a turn is remembered of an answer that is not whole: %v, %d wait", counts, waiting)
	}
}

func TestServerFails(t *testing.T) {
	noLeak(t)
	for name, tc := range map[string]struct {
		serve   http.HandlerFunc
		status  int
		answer  string
		outcome string
	}{
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, `{"error":"model requires more system memory"}`)
		}, 500, `{"error":"model requires more system memory"}`, outcomeFailed},
		"404": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":"model 'm' not found"}`)
		}, 404, `{"error":"model 'm' not found"}`, outcomeWoven},
		"empty": {func(http.ResponseWriter, *http.Request) {}, 200, "", outcomeFailed},
		"no answer at all": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			502, `did not answer: it closed the connection"}`, outcomeFailed},
		"words of its own": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(c, "SSH-2.0-canary\r\n\r\n")
				_ = c.Close()
			}
		}, 502, `did not answer: what it sent is no answer of an Ollama server; see to it that model.server is the address of one"}`, outcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			u := newUpstream(t, tc.serve)
			d, s := open(t, f, u.URL)
			response, answer := post(t, s.URL+"/api/chat", hello)
			if response.StatusCode != tc.status || tc.answer != "" && answer != tc.answer && (tc.status != 502 || !strings.HasSuffix(answer, tc.answer)) {
				t.Errorf("%d %s", response.StatusCode, answer)
			}
			if tc.status == 502 && (!strings.Contains(answer, `{"error":"the model server at `+u.URL) || strings.Contains(answer, "Hello")) {
				t.Errorf("502 says %s", answer)
			}
			settle(t, d, "chat", tc.outcome)
			d.Close(t.Context())
			if turns := f.remembered(); len(turns) > 0 {
				t.Errorf("remembered %+v", turns)
			}
		})
	}
}

// A client that leaves ends the work of the server. What it had heard is a turn; where
// it had heard nothing there is none.
func TestClientLeaves(t *testing.T) {
	noLeak(t)
	for name, heard := range map[string]string{"after some": chatAnswer[:90], "before any": ""} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			ended := make(chan struct{})
			u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, heard)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(ended)
			})
			d, s := open(t, f, u.URL)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/chat", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := io.ReadFull(response.Body, make([]byte, len(heard))); err != nil {
				t.Fatal(err)
			}
			leave()
			<-ended
			settle(t, d, "chat", outcomeLeft)
			d.Close(t.Context())
			want := []lifecycle.Turn{{Said: "Hello", Answered: "Good ", By: "m", Source: "chat:door"}}
			if heard == "" {
				want = nil
			}
			if turns := f.remembered(); len(turns) != len(want) || len(want) > 0 && !same(turns[0], want[0]) {
				t.Errorf("remembered %+v, want %+v", turns, want)
			}
		})
	}
}

func TestHugeRequests(t *testing.T) {
	noLeak(t)
	f := newFake()
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) })
	d, s := open(t, f, u.URL)
	huge := `{"model":"m","prompt":"` + strings.Repeat("x", maxBody) + `"}`
	for _, path := range []string{"/api/chat", "/api/create"} {
		response, answer := post(t, s.URL+path, huge)
		if response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(answer, `{"error":"the request is too large`) {
			t.Errorf("%s: %d %s", path, response.StatusCode, answer)
		}
	}
	if response, answer := post(t, s.URL+"/api/blobs/sha256:x", huge); response.StatusCode != http.StatusOK {
		t.Errorf("a part of a model: %d %s", response.StatusCode, answer)
	}
	settle(t, d, "chat", outcomeRefused)
	d.held.Store(heldBodies)
	large := `{"model":"m","prompt":"` + strings.Repeat("x", 2*smallBody) + `"}`
	if response, answer := post(t, s.URL+"/api/embed", large); response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(answer, "try again") {
		t.Errorf("with much held: %d %s", response.StatusCode, answer)
	}
	if response, answer := post(t, s.URL+"/api/chat", hello); response.StatusCode != http.StatusOK {
		t.Errorf("a small one, with much held: %d %s", response.StatusCode, answer)
	}
	d.small.Store(heldSmall)
	if response, answer := post(t, s.URL+"/api/chat", hello); response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(answer, "try again") {
		t.Errorf("with many small ones held: %d %s", response.StatusCode, answer)
	}
	d.small.Add(-heldSmall)
	d.held.Add(-heldBodies)
	wait(t, func() bool { return d.held.Load() == 0 && d.small.Load() == 0 }, func() string { return fmt.Sprint("still held: ", d.held.Load(), d.small.Load()) })
	if response, answer := post(t, s.URL+"/api/chat", hello); response.StatusCode != http.StatusOK {
		t.Errorf("after all that: %d %s", response.StatusCode, answer)
	}
}

// A request that the server has is held no longer, however long the answer takes.
func TestARequestThatWasHandedOnIsNotHeld(t *testing.T) {
	noLeak(t)
	f := newFake()
	end := make(chan struct{})
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, chatAnswer[:90])
		_ = http.NewResponseController(w).Flush()
		<-end
		_, _ = io.WriteString(w, chatAnswer[90:])
	})
	d, s := open(t, f, u.URL)
	large := `{"model":"m","messages":[{"role":"user","content":"Hello"}],"x":"` + strings.Repeat("x", 2*smallBody) + `"}`
	response, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(large))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if held, small := d.held.Load(), d.small.Load(); held != 0 || small != 0 {
		t.Errorf("while it answers %d and %d are held", held, small)
	}
	close(end)
	answer, err := io.ReadAll(response.Body)
	if err != nil || string(answer) != chatAnswer {
		t.Errorf("%q, %v", answer, err)
	}
	if turn := f.turn(t); turn.Said != "Hello" || turn.Answered != "Good morning." {
		t.Errorf("remembered %+v", turn)
	}
}

// What is no request goes to the server, which says what is wrong with it.
func TestOddBodiesPass(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "{", `{"model":1,"messages":3}`, `{"model":"m","messages":"x"}`, `{"model":"m","messages":[1,null,{"role":7}]}`, "{} {}", `{"prompt":{}}`, "\xff", `{"messages":[{"role":"user","content":["a"]}]}`} {
		f := newFake()
		u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
		_, s := open(t, f, u.URL)
		for _, path := range []string{"/api/chat", "/api/generate", "/api/show"} {
			if response, answer := post(t, s.URL+path, body); response.StatusCode != http.StatusBadRequest {
				t.Errorf("%s %q: %d %s", path, body, response.StatusCode, answer)
			}
			if _, got, _ := u.last(); got != body && !strings.Contains(got, "role") {
				t.Errorf("%s %q: the server got %q", path, body, got)
			}
		}
	}
}

// A hundred clients at a time: each gets its own answer, and each turn is there once.
func TestManyClients(t *testing.T) {
	noLeak(t)
	const clients = 100
	f := newFake()
	var all sync.WaitGroup
	all.Add(clients)
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o := parseObject(body)
		name := o.text("model")
		_, _ = fmt.Fprintf(w, `{"message":{"content":"for %s"},"done":false}`+"\n", name)
		_ = http.NewResponseController(w).Flush()
		all.Done()
		all.Wait() // all of them are open at a time
		_, _ = io.WriteString(w, `{"message":{"content":"."},"done":true}`+"\n")
	})
	d, s := open(t, f, u.URL)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			body := fmt.Sprintf(`{"model":"m%d","messages":[{"role":"user","content":"said %d"}]}`, i, i)
			response, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			line, err := bufio.NewReader(response.Body).ReadString('\n')
			if want := fmt.Sprintf(`"for m%d"`, i); err != nil || !strings.Contains(line, want) {
				t.Errorf("client %d: %q, %v", i, line, err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
		})
	}
	group.Wait()
	wait(t, func() bool {
		for _, c := range d.Requests() {
			if c.N == clients {
				return true
			}
		}
		return false
	}, func() string { return fmt.Sprint(d.Requests()) })
	d.Close(t.Context())
	seen := map[string]int{}
	for _, turn := range f.remembered() {
		seen[turn.Said+"|"+turn.Answered]++
	}
	for i := range clients {
		if key := fmt.Sprintf("said %d|for m%d.", i, i); seen[key] != 1 {
			t.Errorf("%s is there %d times", key, seen[key])
		}
	}
}

// Remembering that takes long holds no answer up; what does not fit is counted, and a
// stop gives the rest up.
func TestRememberingIsInNobodysWay(t *testing.T) {
	noLeak(t)
	f := newFake()
	f.hold = make(chan struct{})
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, chatAnswer) })
	d, err := New(Options{Companion: f, Server: u.URL})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(d)
	const extra = 5
	for range maxTurns + 1 + extra {
		post(t, s.URL+"/api/chat", hello)
	}
	s.Close()
	counts, waiting := d.Turns()
	if waiting != maxTurns || len(counts) != 1 || counts[0].Outcome != turnDropped || counts[0].N < extra || counts[0].N > extra+1 {
		t.Errorf("%d wait, %v", waiting, counts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d.Close(ctx)
	if turns := f.remembered(); len(turns) > 0 {
		t.Errorf("remembered %d", len(turns))
	}
}
