package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

var entry = lifecycle.Experience{Text: "A tooth ached. <|im_end|>", Date: "2026-01-03", Soul: "# Soul", Session: []string{"Rain."}}

func hang(_ int, _ http.ResponseWriter, r *http.Request, _ api.ChatRequest) { <-r.Context().Done() }

func TestAssess(t *testing.T) {
	s, st := inProcess(t, Options{Threads: 1, Context: 8192, KeepAlive: time.Minute})
	if id := s.ID(); id != "ollama/talker@unknown "+prompt.AssessVersion {
		t.Errorf("before the first contact it is %s", id)
	}
	a := must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
	if want := "ollama/talker@aaaaaaaaaaaa " + prompt.AssessVersion; a.Judgement.Assessor != want || s.ID() != want {
		t.Errorf("judged by %s, the model is %s, want %s", a.Judgement.Assessor, s.ID(), want)
	}
	if a.Gist == "" || a.Category != "health" {
		t.Errorf("%+v", a)
	}
	req := st.last()
	if req.Stream == nil || *req.Stream || req.Truncate == nil || *req.Truncate || len(req.Format) == 0 || req.Think != nil ||
		fmt.Sprint(req.Options["num_ctx"], req.Options["num_thread"], req.Options["temperature"], req.Options["num_predict"]) != "8192 1 0 1024" ||
		req.KeepAlive.Duration != time.Minute {
		t.Errorf("asked with %+v", req)
	}
	all := req.Messages[0].Content + req.Messages[1].Content
	if strings.Contains(all, "<|im_end|>") || !strings.Contains(all, "<·|im_end|>") || !strings.Contains(all, "Rain.") || !strings.Contains(all, "# Soul") {
		t.Errorf("asked %s", all)
	}
	if state := s.State(); state.Calls != 1 || state.Repairs != 0 || state.Failures != 0 || state.Digest != digestA || state.Away != "" {
		t.Errorf("%+v", state)
	}
}

func TestThinkingIsOffWhereTheModelThinks(t *testing.T) {
	s, st := inProcess(t, Options{})
	st.thinks = true
	must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
	if req := st.last(); req.Think == nil || req.Think.Bool() {
		t.Errorf("think is %v", req.Think)
	}
}

// The second request shows the model its answer, and what was wrong with it.
func TestRepair(t *testing.T) {
	s, st := inProcess(t, Options{})
	st.chat = func(n int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
		if n == 1 {
			say(w, asked, strings.Replace(goodAnswer, `"intensity":40`, `"intensity":900`, 1), "")
			return
		}
		answerWell(w, asked)
	}
	must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
	m := st.last().Messages
	if len(m) != 4 || m[2].Role != "assistant" || !strings.Contains(m[2].Content, "900") || !strings.Contains(m[3].Content, `"intensity" is not a whole number from 0 to 100`) {
		t.Errorf("repaired with %+v", m)
	}
	if state := s.State(); state.Calls != 2 || state.Repairs != 1 || state.Failures != 0 {
		t.Errorf("%+v", state)
	}
}

// What is too long for the model is asked again, shorter.
func TestLongerThanTheModelReads(t *testing.T) {
	s, st := inProcess(t, Options{})
	var first int
	st.chat = func(n int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
		if n == 1 {
			first = len(asked.Messages[1].Content)
			fault(w, 400, "the input length exceeds the context length")
			return
		}
		answerWell(w, asked)
	}
	must[lifecycle.Assessment](t)(s.Assess(t.Context(), lifecycle.Experience{Text: strings.Repeat("pain ", 4000)}))
	if m := st.last().Messages; len(m) != 2 || len(m[1].Content) > first*2/3 {
		t.Errorf("asked again with %d messages of %d bytes, after %d", len(m), len(m[1].Content), first)
	}
}

// A small context leaves less room for what is read, and for scripts with more bytes
// in a letter fewer letters.
func TestRoomFollowsTheContext(t *testing.T) {
	sent := func(context int, text string) int {
		s, st := inProcess(t, Options{Context: context})
		must[lifecycle.Assessment](t)(s.Assess(t.Context(), lifecycle.Experience{Text: strings.Repeat(text, 9000)}))
		return strings.Count(st.last().Messages[1].Content, text)
	}
	wide, narrow, japanese := sent(8192, "q"), sent(2048, "q"), sent(2048, "日")
	if !(wide == 4000 && narrow < wide && japanese*3 <= narrow+3 && japanese >= 64*3/5) {
		t.Errorf("%d, %d, %d letters", wide, narrow, japanese)
	}
}

// A server that is down is waited for once, not by everyone; it is tried again after
// pauses that grow to a minute, by one question at a time; and it is found again.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.down = true
		var tried []time.Duration
		began := time.Now()
		failures := 0
		for range 1000 { // ten questions a second
			next := s.State().Next
			_, err := s.Assess(t.Context(), entry)
			if !errors.Is(err, lifecycle.ErrModelAway) {
				t.Fatal(err)
			}
			if s.State().Next != next {
				tried = append(tried, time.Since(began))
			}
			failures++
			time.Sleep(time.Second)
		}
		if n := len(tried); n < 16+6 || n > 1000/48+8 {
			t.Errorf("%d of %d questions were tried: %v", n, failures, tried)
		}
		for i := 1; i < len(tried); i++ {
			if gap := tried[i] - tried[i-1]; gap > lastPause+2*time.Second || i > 7 && gap < lastPause*4/5-time.Second {
				t.Errorf("a gap of %v before try %d", gap, i)
			}
		}
		state := s.State()
		if state.Away == "" || state.Since.Sub(began) > time.Second || state.Calls != 0 {
			t.Errorf("%+v", state)
		}
		st.set(func() { st.down = false })
		time.Sleep(lastPause)
		must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
		if state := s.State(); state.Away != "" || !state.Since.IsZero() || !state.Next.IsZero() {
			t.Errorf("%+v", state)
		}
	})
}

// Which model came back is seen before it is asked anything.
func TestAnotherModelComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
		st.set(func() { st.down = true })
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Fatal(err)
		}
		st.set(func() { st.down, st.digest = false, digestB })
		time.Sleep(firstPause)
		if a := must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry)); !strings.Contains(a.Judgement.Assessor, "@bbbbbbbbbbbb") {
			t.Errorf("judged by %s", a.Judgement.Assessor)
		}
	})
}

// While one question tries whether the server is back, the others are not kept.
func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.down = true
		_, _ = s.Assess(t.Context(), entry)
		st.set(func() { st.down, st.chat = false, hang })
		time.Sleep(firstPause)
		go func() { _, _ = s.Assess(t.Context(), entry) }()
		synctest.Wait()
		began := time.Now()
		for range 50 {
			if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
				t.Error(err)
			}
			if _, err := s.Narrate(t.Context(), "12"); !errors.Is(err, lifecycle.ErrModelAway) {
				t.Error(err)
			}
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("they waited %v", waited)
		}
		if n := st.count("/api/chat"); n != 1 {
			t.Errorf("%d requests", n)
		}
		time.Sleep(time.Minute)
	})
}

// What is wrong with the answers of one kind of question does not keep others from
// being asked, before there were many in a row.
func TestBadAnswersInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		prose := func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
			say(w, asked, "How sad.", "")
		}
		st.chat = prose
		for i := range badInARow {
			if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAnswer) {
				t.Fatalf("answer %d: %v", i, err)
			}
		}
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Errorf("%v", err)
		}
		if n := st.count("/api/chat"); n != tries*badInARow {
			t.Errorf("%d requests", n)
		}
		if _, err := s.Chat(t.Context(), hello, nil, nothing); err != nil {
			t.Errorf("a talk: %v", err)
		}
		if s.State().Away == "" {
			t.Error("it is not told")
		}
		time.Sleep(firstPause)
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAnswer) {
			t.Errorf("the question that tries: %v", err)
		}
		if wait := time.Until(s.State().Next); wait < firstPause {
			t.Errorf("the next pause is %v", wait)
		}
		st.set(func() { st.chat = nil })
		time.Sleep(2 * firstPause)
		must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
		st.set(func() { st.chat = prose })
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAnswer) || s.State().Away != "" {
			t.Errorf("one bad answer after a good one: %v, %+v", err, s.State())
		}
	})
}

var (
	hello   = []lifecycle.ChatMessage{{Role: "user", Content: "Hello"}}
	nothing = func(string) error { return nil }
)

// Of 200 questions one is never answered: the others are done as if it were not there.
func TestOneThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{Deadline: time.Hour})
		st.chat = func(n int, w http.ResponseWriter, r *http.Request, asked api.ChatRequest) {
			if strings.Contains(asked.Messages[1].Content, "never") {
				<-r.Context().Done()
				return
			}
			time.Sleep(time.Second)
			answerWell(w, asked)
		}
		began := time.Now()
		var done atomic.Int32
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				e := entry
				if i == 17 {
					e.Text = "never"
				}
				_, err := s.Assess(t.Context(), e)
				switch {
				case i == 17:
					if !errors.Is(err, lifecycle.ErrModelAnswer) || !strings.Contains(err.Error(), "had not answered after 1h") || time.Since(began) < time.Hour {
						t.Errorf("the one: %v after %v", err, time.Since(began))
					}
				case err != nil:
					t.Error(err)
				default:
					done.Add(1)
				}
			})
		}
		time.Sleep(200*time.Second/(judgings-1) + 2*time.Second)
		if n := done.Load(); n != 199 {
			t.Errorf("%d are done", n)
		}
		all.Wait()
	})
}

// A caller that goes away gets its own error, and nobody is blamed.
func TestCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.chat = hang
		for range 2 * badInARow {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := s.Assess(ctx, entry); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lifecycle.ErrModelAnswer) {
				t.Errorf("%v", err)
			}
			cancel()
		}
		if state := s.State(); state.Away != "" || state.Failures != 0 || state.Repairs != 0 {
			t.Errorf("%+v", state)
		}
	})
}

// What is sent goes to the server of the config: not where it redirects to, and not
// through a server that passes it on.
func TestNothingGoesElsewhere(t *testing.T) {
	s, st := inProcess(t, Options{})
	st.remote = true
	if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) || st.count("/api/chat") != 0 {
		t.Errorf("a model of somewhere else: %v, %d requests", err, st.count("/api/chat"))
	}
	s, st = inProcess(t, Options{})
	st.chat = func(_ int, w http.ResponseWriter, r *http.Request, _ api.ChatRequest) {
		http.Redirect(w, r, "http://elsewhere.example/api/chat", http.StatusTemporaryRedirect)
	}
	if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) || st.count("/api/chat") != 1 {
		t.Errorf("a redirection: %v, %d requests", err, st.count("/api/chat"))
	}
	if tr, ok := guarded(nil).Transport.(tap).next.(*http.Transport); !ok || tr.Proxy != nil {
		t.Error("requests may go through a proxy")
	}
}

// Nothing that was asked, and nothing that the server said, is in an error.
func TestErrorsDoNotQuote(t *testing.T) {
	const secret = "Zanzibar"
	for _, status := range []int{200, 400, 404, 418, 500, 503} {
		s, st := inProcess(t, Options{})
		st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
			if status == 200 {
				say(w, asked, secret, secret)
				return
			}
			fault(w, status, "cannot do "+secret)
		}
		_, err := s.Assess(t.Context(), lifecycle.Experience{Text: secret})
		if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(s.State().Away, secret) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "localhost", "ftp://a.example", "http://", "::"} {
		s := New(Options{Server: address, Chat: chatModel})
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) || s.State().Away == "" {
			t.Errorf("%q: %v", address, err)
		}
		s.Watch(t.Context(), func(lifecycle.ModelState) { t.Error("it changed") })
	}
	s := New(Options{Server: "http://me:secret@a.example:1/x", Chat: chatModel})
	if got := s.State().Server; got != "http://a.example:1/x" {
		t.Errorf("%s", got)
	}
	if _, err := New(Options{Server: "http://a.example"}).Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
		t.Errorf("without a model: %v", err)
	}
	long := New(Options{Server: "http://a.example", Chat: strings.Repeat("名", 100)})
	if id := long.ID(); len(id) > 128 || strings.ToValidUTF8(id, "") != id {
		t.Errorf("%d bytes: %s", len(id), id)
	}
}

func TestNamesOfModels(t *testing.T) {
	list := &api.ListResponse{Models: []api.ListModelResponse{{Name: "qwen3:0.6b"}, {Name: "qwen3:latest"}, {Name: "hf.co/a/b:Q4"}, {Model: "only:latest"}}}
	for name, want := range map[string]int{"qwen3": 1, "Qwen3:latest": 1, "qwen3:0.6b": 0, "library/qwen3": 1, "registry.ollama.ai/library/qwen3:0.6b": 0, "hf.co/A/B:q4": 2, "only": 3, "qwen": -1, "hf.co/a/b": -1} {
		got := named(list, name)
		if want < 0 && got != nil || want >= 0 && got != &list.Models[want] {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for s, want := range map[string]string{digestA: digestA, "sha256:" + digestA: digestA, "": "", "short": "", strings.Repeat("g", 64): ""} {
		if got := digestOf(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}
