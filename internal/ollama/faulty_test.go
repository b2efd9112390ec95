package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

// play is one request that reaches a proxy which does wrong.
type play struct {
	w       http.ResponseWriter
	r       *http.Request
	asked   api.ChatRequest
	embeds  bool
	forward func() []byte // what the server behind it answers
}

// proxy stands before a server and does wrong to its answers.
type proxy struct {
	behind string
	mu     sync.Mutex
	wrong  func(*play) // nil for nothing
	times  int         // how often it still does
	at     string      // the path to which it does; empty for those of questions
	count  atomic.Int32
	known  sync.Map // answers to requests, which are the same each time
}

func (p *proxy) start(behind string, wrong func(*play), times int) {
	p.startAt("", behind, wrong, times)
}

// startAt does wrong to one path; requests of before may still be under way.
func (p *proxy) startAt(path, behind string, wrong func(*play), times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.behind, p.wrong, p.times = path, behind, wrong, times
	p.count.Store(0)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	pl := &play{w: w, r: r, embeds: r.URL.Path == "/api/embed"}
	_ = json.Unmarshal(body, &pl.asked)
	p.mu.Lock()
	wrong, behind := p.wrong, p.behind
	if p.at != "" && p.at != r.URL.Path || p.at == "" && !pl.embeds && r.URL.Path != "/api/chat" {
		wrong = nil
	} else if p.count.Add(1); p.times <= 0 {
		wrong = nil
	} else {
		p.times--
	}
	p.mu.Unlock()
	pl.forward = func() []byte {
		key := r.URL.Path + string(body)
		if all, ok := p.known.Load(key); ok {
			return bytes.Clone(all.([]byte))
		}
		all := forward(behind, pl, body)
		p.known.Store(key, bytes.Clone(all))
		return all
	}
	if wrong == nil {
		_, _ = w.Write(pl.forward())
		return
	}
	wrong(pl)
}

// forward gives what the server behind answers to a request.
func forward(behind string, p *play, body []byte) []byte {
	judges := strings.Contains(string(p.asked.Format), `"intensity"`)
	if p.r.URL.Path == "/api/chat" && !judges {
		body = briefly(body) // the tiny model never ends by itself
	}
	req, err := http.NewRequestWithContext(p.r.Context(), p.r.Method, behind+p.r.URL.Path, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		panic(http.ErrAbortHandler)
	}
	all = bytes.Replace(all, []byte(`"done_reason":"length"`), []byte(`"done_reason":"stop"`), 1)
	if len(p.asked.Format) > 0 && !judges {
		all = withContent(all, goodContent(p.asked), "") // the tiny model's own would be refused
	}
	return all
}

// briefly has a chat request ask for a few words.
func briefly(body []byte) []byte {
	var req map[string]any
	if json.Unmarshal(body, &req) != nil {
		return body
	}
	req["options"].(map[string]any)["num_predict"] = 24
	out, _ := json.Marshal(req)
	return out
}

// withContent puts content and thinking in the place of those of an answer.
func withContent(answer []byte, content, thinking string) []byte {
	lines := bytes.Split(bytes.TrimSpace(answer), []byte("\n"))
	var last map[string]any
	if json.Unmarshal(lines[len(lines)-1], &last) != nil || last["message"] == nil {
		return answer
	}
	last["message"] = map[string]any{"role": "assistant", "content": content, "thinking": thinking}
	out, _ := json.Marshal(last)
	return append(out, '\n')
}

// contentOf joins the content of an answer.
func contentOf(answer []byte) string {
	var all string
	for _, l := range bytes.Split(answer, []byte("\n")) {
		var r api.ChatResponse
		_ = json.Unmarshal(l, &r)
		all += r.Message.Content
	}
	return all
}

// The faults. Each is one way of going wrong.

func (p *play) send(b []byte) { _, _ = p.w.Write(b) }

func (p *play) flush() { _ = http.NewResponseController(p.w).Flush() }

func abort() { panic(http.ErrAbortHandler) } // the connection breaks off

func statusOf(status int, message string) func(*play) {
	return func(p *play) { fault(p.w, status, message) }
}

// sayInstead has the server's envelope say something else.
func sayInstead(content, thinking string) func(*play) {
	return func(p *play) { p.send(withContent(p.forward(), content, thinking)) }
}

// vectors answers with embeddings as they are written here.
func vectors(text string) func(*play) {
	return func(p *play) { p.send([]byte(`{"model":"m","embeddings":` + text + `}`)) }
}

func floats(n int, each string) string {
	return "[[" + strings.TrimSuffix(strings.Repeat(each+",", n), ",") + "]]"
}

func cutInTheMiddle(p *play) {
	b := p.forward()
	p.send(b[:len(b)*2/3])
	p.flush()
	abort()
}

// notDone ends a response well, in the midst of an answer.
func notDone(p *play) {
	b := p.forward()
	switch {
	case p.embeds:
		p.send(b[:len(b)/2])
	case len(p.asked.Format) > 0:
		c := contentOf(b)
		line(p.w, api.ChatResponse{Message: api.Message{Role: "assistant", Content: c[:len(c)/2]}})
	default:
		lines := bytes.SplitAfter(b, []byte("\n"))
		p.send(bytes.Join(lines[:len(lines)/2], nil))
	}
}

// wholeBut sends all of an answer, and ends it so.
func wholeBut(done bool, reason string) func(*play) {
	return func(p *play) {
		line(p.w, api.ChatResponse{Message: api.Message{Role: "assistant", Content: contentOf(p.forward())}, Done: done, DoneReason: reason})
	}
}

func lengthReached(p *play) {
	c := contentOf(p.forward())
	line(p.w, api.ChatResponse{Message: api.Message{Role: "assistant", Content: c[:len(c)*2/3]}, Done: true, DoneReason: "length"})
}

func never(p *play) { <-p.r.Context().Done() }

// drip sends a blank at a time, for ever.
func drip(p *play) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.r.Context().Done():
			return
		case <-tick.C:
			p.send([]byte(" "))
			p.flush()
		}
	}
}

// endless sends an answer without an end, as fast as it is taken.
func endless(p *play) {
	piece, _ := json.Marshal(api.ChatResponse{Message: api.Message{Role: "assistant", Content: strings.Repeat("and on ", 50)}})
	piece = append(piece, '\n')
	if p.embeds {
		p.send([]byte(`{"embeddings":[[`))
		piece = []byte("0.1,")
	}
	for p.r.Context().Err() == nil {
		if _, err := p.w.Write(piece); err != nil {
			return
		}
	}
}

func slowly(p *play) {
	b := p.forward()
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	p.send(b)
}

func thinkAloud(p *play) {
	c := contentOf(p.forward())
	if len(p.asked.Format) > 0 {
		c = "```json\n" + c + "\n```"
	}
	say(p.w, p.asked, "<think>\nHow {is} that?\n</think>\n"+c, "")
}

// What an item comes to.
const (
	itsOK     = "ok"
	itsCut    = "ok, cut"
	itsAway   = "away"
	itsAnswer = "answer"
)

// want is what comes of an item, and how many requests that takes.
type want struct {
	what  string
	calls int32
}

var (
	fine     = want{itsOK, 1}
	repaired = want{itsOK, 2}
	useless  = want{itsAnswer, 2}
	lost     = want{itsAnswer, 1}
	absent   = want{itsAway, 1}
)

// faults are all of them, with what comes of a question that is to be answered by
// an object, of a talk, and of a text to embed: where it happens once, and always.
// A row without outcomes for a kind does not concern it.
var faults = []struct {
	name                string
	wrong               func(*play)
	object, talk, embed [2]want
	impatient           bool
}{
	{name: "delay", wrong: slowly, object: [2]want{fine, fine}, talk: [2]want{fine, fine}, embed: [2]want{fine, fine}},
	{name: "never", wrong: never, impatient: true, object: [2]want{lost, lost}, talk: [2]want{lost, lost}, embed: [2]want{lost, lost}},
	{name: "drip-feed", wrong: drip, impatient: true, object: [2]want{lost, lost}, talk: [2]want{lost, lost}, embed: [2]want{lost, lost}},
	{name: "never-ending", wrong: endless, object: [2]want{repaired, useless}, talk: [2]want{{itsCut, 1}, {itsCut, 1}}, embed: [2]want{repaired, useless}},
	{name: "reset before an answer", wrong: func(*play) { abort() }, object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "cut at once", wrong: func(p *play) { p.flush(); abort() }, object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "cut in the middle", wrong: cutInTheMiddle, object: [2]want{repaired, useless}, talk: [2]want{lost, lost}, embed: [2]want{repaired, useless}},
	{name: "not done", wrong: notDone, object: [2]want{repaired, useless}, talk: [2]want{lost, lost}, embed: [2]want{repaired, useless}},
	{name: "whole and not done", wrong: wholeBut(false, ""), object: [2]want{repaired, useless}, talk: [2]want{lost, lost}},
	{name: "whole and at its length", wrong: wholeBut(true, "length"), object: [2]want{repaired, useless}, talk: [2]want{{itsCut, 1}, {itsCut, 1}}},
	{name: "empty", wrong: func(*play) {}, object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "404 model", wrong: statusOf(404, "model 'x' not found"), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "404 page", wrong: func(p *play) { http.NotFound(p.w, p.r) }, object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "401", wrong: statusOf(401, "no"), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "400 cannot do this", wrong: statusOf(400, `"x" does not support chat`), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "400 too long", wrong: statusOf(400, "the input length exceeds the context length"), object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "500 out of memory", wrong: statusOf(500, "model requires more system memory (9.1 GiB) than is available (1 GiB)"), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "500 runner killed", wrong: statusOf(500, "llama runner process has terminated: signal: killed"), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "500", wrong: statusOf(500, "unexpected EOF"), object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "500 empty", wrong: func(p *play) { p.w.WriteHeader(500) }, object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "502", wrong: statusOf(502, ""), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "503", wrong: statusOf(503, "server busy"), object: [2]want{absent, absent}, talk: [2]want{absent, absent}, embed: [2]want{absent, absent}},
	{name: "a page", wrong: func(p *play) { p.send([]byte("<html>Welcome to the router!</html>")) }, object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}, embed: [2]want{repaired, useless}},
	{name: "out of memory in a line", wrong: func(p *play) { p.send([]byte(`{"error":"CUDA error: out of memory"}`)) }, object: [2]want{absent, absent}, talk: [2]want{absent, absent}},
	{name: "thinking apart", wrong: sayInstead("", "It is a sad day, so I say much."), object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}},
	{name: "thinking aloud", wrong: thinkAloud, object: [2]want{fine, fine}, talk: [2]want{fine, fine}},
	{name: "thinking without an end", wrong: sayInstead("<think>It is a sad day, ", ""), object: [2]want{repaired, useless}, talk: [2]want{repaired, useless}},
	{name: "prose", wrong: sayInstead("What a sad day that was! Tell me more.", ""), object: [2]want{repaired, useless}, talk: [2]want{fine, fine}},
	{name: "cut at its length", wrong: lengthReached, object: [2]want{repaired, useless}, talk: [2]want{{itsCut, 1}, {itsCut, 1}}},
	{name: "numbers out of range", wrong: sayInstead(strings.Replace(strings.Replace(goodAnswer, `"intensity":40`, `"intensity":-5e15`, 1), "{", `{"narrative":"There were 99 entries.","name":"99 rivers","rules":[{"exemplar":-5e15,"guidance":"tool fare, argument way: indexed"}],`, 1), ""), object: [2]want{repaired, useless}},
	{name: "names of nowhere", wrong: sayInstead(strings.Replace(goodAnswer[:len(goodAnswer)-1], `"health"`, `"magic"`, 1)+`,"narrative":"Much is about Zanzibar.","name":"from Zanzibar","rules":[{"exemplar":7,"guidance":"from Zanzibar"}]}`, ""), object: [2]want{repaired, useless}},
	{name: "NaN", wrong: sayInstead(`{"intensity": NaN, "narrative": NaN, "name": NaN, "rules": NaN}`, ""), object: [2]want{repaired, useless}},
	{name: "an object of another kind", wrong: sayInstead(`{"answer":42}`, ""), object: [2]want{repaired, useless}},
	{name: "null", wrong: sayInstead(`{"intensity":null,"narrative":null,"name":null,"rules":null}`, ""), object: [2]want{repaired, useless}},
	{name: "NaN in a vector", wrong: vectors(floats(128, "NaN")), embed: [2]want{repaired, useless}},
	{name: "beyond floats", wrong: vectors(floats(128, "1e400")), embed: [2]want{repaired, useless}},
	{name: "no vectors", wrong: vectors("[]"), embed: [2]want{repaired, useless}},
	{name: "null for vectors", wrong: vectors("null"), embed: [2]want{repaired, useless}},
	{name: "an empty vector", wrong: vectors("[[]]"), embed: [2]want{repaired, useless}},
	{name: "a vector of zeros", wrong: vectors(floats(128, "0")), embed: [2]want{repaired, useless}},
	{name: "a vector of nulls", wrong: vectors(floats(128, "null")), embed: [2]want{repaired, useless}},
	{name: "a wrong size", wrong: vectors(floats(64, "0.125")), embed: [2]want{repaired, useless}},
	{name: "two vectors", wrong: vectors("[[1],[1]]"), embed: [2]want{repaired, useless}},
	{name: "not of unit length", wrong: vectors(floats(128, "1")), embed: [2]want{repaired, useless}},
}

// sites are where a model is asked.
var sites = []struct {
	name string
	kind string
	ask  func(t *testing.T, s *Server, e *Embedder) (what string, err error)
}{
	{"assess", "object", func(t *testing.T, s *Server, _ *Embedder) (string, error) {
		a, err := s.Assess(t.Context(), entry)
		if err == nil && (a.Judgement.Guna.Check() != nil || a.Judgement.Assessor == "" || a.Judgement.Intensity > 1) {
			t.Errorf("%+v", a)
		}
		return itsOK, err
	}},
	{"narrate", "object", func(t *testing.T, s *Server, _ *Embedder) (string, error) {
		said, err := s.Narrate(t.Context(), "entries: 12\ntendency: the river")
		if err == nil && said == "" {
			t.Error("nothing is told")
		}
		return itsOK, err
	}},
	{"name", "object", func(t *testing.T, s *Server, _ *Embedder) (string, error) {
		said, err := s.Name(t.Context(), []string{"river", "walking"}, []string{"By the river."})
		if err == nil && said == "" {
			t.Error("no name")
		}
		return itsOK, err
	}},
	{"propose", "object", func(t *testing.T, s *Server, _ *Embedder) (string, error) {
		w := &worder{Server: s}
		d := distil.Distiller{Secret: make([]byte, distil.MinSecret)}
		rules, report, err := d.Write(t.Context(), w, triedLife(), lineage.Satisfaction{Valence: lineage.Million, Confidence: lineage.Million, Source: lineage.Explicit})
		by := distil.ByModel
		if w.err != nil {
			by = distil.ByRules
		}
		if err != nil || len(rules) != 1 || report.Source != by || report.WriterFailed != (w.err != nil) {
			t.Errorf("%+v %+v, %v", rules, report, err)
		}
		return itsOK, w.err
	}},
	{"chat", "talk", func(t *testing.T, s *Server, _ *Embedder) (string, error) {
		var all string
		end, err := s.Chat(t.Context(), hello, nil, func(p string) error { all += p; return nil })
		if err == nil && (strings.TrimSpace(all) == "" || len(all) > talkLength || strings.Contains(all, "think>")) {
			t.Errorf("%d bytes are told", len(all))
		}
		if end.Cut != (end.Why != "") {
			t.Errorf("cut %v, because %q", end.Cut, end.Why)
		}
		if end.Cut {
			return itsCut, err
		}
		return itsOK, err
	}},
	{"embed", "embed", func(t *testing.T, _ *Server, e *Embedder) (string, error) {
		v, err := e.Embed(t.Context(), "a sad day")
		if _, bad := checkedVector([][]float32{v}, e.Dim()); err == nil && bad != nil {
			t.Error(bad)
		}
		return itsOK, err
	}},
}

// worder is a model that words rules; it notes how that ended.
type worder struct {
	*Server
	err error
}

func (w *worder) Propose(ctx context.Context, task distil.Task) (out []distil.Proposal, err error) {
	out, w.err = w.Server.Propose(ctx, task)
	return out, w.err
}

// triedLife is a life that leaves one rule.
func triedLife() (out distil.Trace) {
	for _, tried := range [][2]string{{"nested", distil.Failed}, {"indexed", distil.OK}} {
		out.Add(distil.Act{Kind: distil.Call, Tool: "fare", Arguments: distil.Arguments{distil.Text("way", tried[0])}, Outcome: tried[1]})
	}
	return out
}

// Every fault at every place where a model is asked, once and always, before a server
// that is made for the test.
func TestFaults(t *testing.T) {
	behind := httptest.NewServer(newStub())
	defer behind.Close()
	testFaults(t, behind.URL, chatModel, embedModel)
}

// The same before a real server with tiny models.
func TestFaultsOfARealServer(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a real server takes a minute")
	}
	r := startReal(t, t.TempDir(), "127.0.0.1:0")
	r.models(t)
	testFaults(t, r.url, realChat, realEmbed)
}

func testFaults(t *testing.T, behind, chat, embed string) {
	before := runtime.NumGoroutine()
	p := &proxy{}
	front := httptest.NewServer(p)
	front.Config.ErrorLog = nil
	began := time.Now()
	for _, f := range faults {
		for _, site := range sites {
			wants := map[string][2]want{"object": f.object, "talk": f.talk, "embed": f.embed}[site.kind]
			for i, often := range []string{"once", "always"} {
				if wants[i].calls == 0 {
					continue
				}
				t.Run(f.name+"/"+site.name+"/"+often, func(t *testing.T) {
					o := Options{Server: front.URL, Chat: chat, Embed: embed, Threads: 1, KeepAlive: time.Minute, Deadline: time.Minute}
					if f.impatient {
						o.Deadline = 300 * time.Millisecond
					}
					p.start(behind, nil, 0)
					s := New(o)
					defer s.Close()
					var e *Embedder
					if site.kind == "embed" {
						patient := o
						patient.Deadline = time.Minute
						s.o.Deadline = patient.Deadline
						e = must[*Embedder](t)(s.Embedder(t.Context()))
						s.o.Deadline = o.Deadline
					} else if v := s.meet(t.Context(), t.Context(), s.chat); v.kind != good {
						t.Fatalf("%+v", v)
					}
					p.start(behind, f.wrong, []int{1, 1000}[i])
					what, err := site.ask(t, s, e)
					switch {
					case errors.Is(err, lifecycle.ErrModelAway):
						what = itsAway
					case errors.Is(err, lifecycle.ErrModelAnswer):
						what = itsAnswer
					case err != nil:
						what = "an error of no kind"
					}
					if got := (want{what, p.count.Load()}); got != wants[i] {
						t.Errorf("%+v, want %+v (%v)", got, wants[i], err)
					}
					if state := s.State(); (state.Away != "") != (what == itsAway) && site.kind == "object" {
						t.Errorf("%+v", state)
					}
				})
			}
		}
	}
	t.Logf("%d faults in %v", len(faults), time.Since(began))
	front.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	settle(t, before)
}

// settle waits until no goroutine is left of those that were started meanwhile.
func settle(t *testing.T, before int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		<-tick.C
	}
	buf := make([]byte, 64<<10)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// Ten thousand questions leave nothing behind.
func TestMemoryIsBounded(t *testing.T) {
	st := newStub()
	front := httptest.NewServer(st)
	defer front.Close()
	s := New(Options{Server: front.URL, Chat: chatModel, Embed: embedModel})
	defer s.Close()
	e := must[*Embedder](t)(s.Embedder(t.Context()))
	ask := func(n int) {
		for i := range n {
			var err error
			switch i % 8 {
			case 0:
				_, err = s.Assess(t.Context(), entry)
			case 1:
				_, err = s.Chat(t.Context(), hello, nil, nothing)
			default:
				_, err = e.Embed(t.Context(), fmt.Sprintf("entry %d", i))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	ask(200)
	before, goroutines := heap(), runtime.NumGoroutine()
	ask(10_000)
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d bytes after, %d before", after, before)
	}
	if n := runtime.NumGoroutine(); n > goroutines+8 {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}
