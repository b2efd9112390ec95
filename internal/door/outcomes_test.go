package door

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// How an answer ends for a client.
const (
	endsWell = "well"
	endsCut  = "cut"  // the connection breaks off
	endsLeft = "left" // by the client, which has waited for an hour, or has read enough
)

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func answering(body string) http.HandlerFunc { return status(http.StatusOK, body) }

// flushed sends a piece at once.
func flushed(w http.ResponseWriter, piece string) error {
	if _, err := io.WriteString(w, piece); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// sleep waits until the request ends, at most d.
func sleep(r *http.Request, d time.Duration) {
	select {
	case <-r.Context().Done():
	case <-time.After(d):
	}
}

// breaks sends a piece and breaks the connection off.
func breaks(piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if piece != "" {
			_ = flushed(w, piece)
		}
		panic(http.ErrAbortHandler)
	}
}

// over sends a piece, again and again, with pauses between.
func over(piece string, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if flushed(w, piece) != nil {
				return
			}
			if pause > 0 {
				sleep(r, pause)
			}
		}
	}
}

const (
	onAndOn  = `{"model":"m","message":{"role":"assistant","content":"and on and on "},"done":false}` + "\n"
	oneLine  = `{"model":"m","message":{"role":"assistant","content":"Good morning."},"done":true,"done_reason":"stop"}`
	anHour   = time.Hour
	someMuch = 4 << 20
)

// outcomes are what a server can do, and what comes of it: what the client sees, when, and
// what is remembered of it.
var outcomes = []struct {
	name   string
	serve  http.HandlerFunc
	status int
	body   string // empty for that which is looked at by its beginning
	begins string
	ends   string
	took   time.Duration
	// outcome is how the request is counted; answered what is remembered, "-" for no turn.
	outcome, answered string
}{
	{name: "well", serve: answering(chatAnswer), status: 200, body: chatAnswer, ends: endsWell, outcome: outcomeWoven, answered: "Good morning."},
	{name: "in one piece", serve: answering(oneLine), status: 200, body: oneLine, ends: endsWell, outcome: outcomeWoven, answered: "Good morning."},
	{name: "delay", serve: func(w http.ResponseWriter, r *http.Request) { sleep(r, 10*time.Minute); answering(chatAnswer)(w, r) },
		status: 200, body: chatAnswer, ends: endsWell, took: 10 * time.Minute, outcome: outcomeWoven, answered: "Good morning."},
	{name: "delay in the middle", serve: func(w http.ResponseWriter, r *http.Request) {
		_ = flushed(w, onAndOn)
		sleep(r, 10*time.Minute)
		_, _ = io.WriteString(w, chatAnswer)
	}, status: 200, body: onAndOn + chatAnswer, ends: endsWell, took: 10 * time.Minute, outcome: outcomeWoven, answered: "and on and on Good morning."},
	{name: "never", serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		ends: endsLeft, took: anHour, outcome: outcomeLeft, answered: "-"},
	{name: "never more", serve: func(w http.ResponseWriter, r *http.Request) { _ = flushed(w, onAndOn); <-r.Context().Done() },
		status: 200, body: onAndOn, ends: endsLeft, took: anHour, outcome: outcomeLeft, answered: "and on and on "},
	{name: "drip-feed", serve: func(w http.ResponseWriter, r *http.Request) {
		for _, b := range []byte(chatAnswer) {
			_ = flushed(w, string(b))
			sleep(r, time.Second)
		}
	}, status: 200, body: chatAnswer, ends: endsWell, took: time.Duration(len(chatAnswer)) * time.Second, outcome: outcomeWoven, answered: "Good morning."},
	{name: "drip-feed of nothing", serve: over(" ", time.Second), status: 200, begins: "", ends: endsLeft, took: anHour, outcome: outcomeLeft, answered: "-"},
	{name: "never-ending", serve: over(onAndOn, 0), status: 200, begins: onAndOn + onAndOn, ends: endsLeft, outcome: outcomeLeft, answered: strings.Repeat("and on and on ", maxAnswer)[:maxAnswer]},
	{name: "reset before an answer", serve: breaks(""), status: 502, begins: `{"error":"the model server at http://server.example:11434 did not answer`, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "cut at once", serve: func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}, status: 200, ends: endsCut, outcome: outcomeFailed, answered: "-"},
	{name: "cut in the middle", serve: breaks(onAndOn), status: 200, body: onAndOn, ends: endsCut, outcome: outcomeFailed, answered: "-"},
	{name: "not done", serve: answering(onAndOn), status: 200, body: onAndOn, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "empty", serve: answering(""), status: 200, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "404 model", serve: status(404, `{"error":"model 'm' not found"}`), status: 404, body: `{"error":"model 'm' not found"}`, ends: endsWell, outcome: outcomeWoven, answered: "-"},
	{name: "500 out of memory", serve: status(500, `{"error":"model requires more system memory (9.1 GiB) than is available (1 GiB)"}`), status: 500,
		body: `{"error":"model requires more system memory (9.1 GiB) than is available (1 GiB)"}`, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "500 empty", serve: status(500, ""), status: 500, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "502", serve: status(502, ""), status: 502, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "503", serve: status(503, `{"error":"server busy, please try again"}`), status: 503, body: `{"error":"server busy, please try again"}`, ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "a page", serve: answering("<html>Welcome to the router!</html>"), status: 200, body: "<html>Welcome to the router!</html>", ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "out of memory in a line", serve: answering(onAndOn + `{"error":"CUDA error: out of memory"}` + "\n"), status: 200,
		body: onAndOn + `{"error":"CUDA error: out of memory"}` + "\n", ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "thinking apart, and nothing said", serve: answering(`{"message":{"content":"","thinking":"It is a sad day."},"done":true}`), status: 200,
		body: `{"message":{"content":"","thinking":"It is a sad day."},"done":true}`, ends: endsWell, outcome: outcomeWoven, answered: ""},
	{name: "thinking aloud", serve: answering(`{"message":{"content":"<think>Hm.</think>Good."},"done":true}`), status: 200,
		body: `{"message":{"content":"<think>Hm.</think>Good."},"done":true}`, ends: endsWell, outcome: outcomeWoven, answered: "<think>Hm.</think>Good."},
	{name: "prose where JSON is asked for", serve: answering(`{"message":{"content":"What a day!"},"done":true}`), status: 200,
		body: `{"message":{"content":"What a day!"},"done":true}`, ends: endsWell, outcome: outcomeWoven, answered: "What a day!"},
	{name: "JSON of the model that is cut", serve: answering(`{"message":{"content":"{\"mood\": \"sa"},"done":true,"done_reason":"length"}`), status: 200,
		body: `{"message":{"content":"{\"mood\": \"sa"},"done":true,"done_reason":"length"}`, ends: endsWell, outcome: outcomeWoven, answered: `{"mood": "sa`},
	{name: "JSON of the server that is cut", serve: answering(chatAnswer[:len(chatAnswer)-20]), status: 200, body: chatAnswer[:len(chatAnswer)-20], ends: endsWell, outcome: outcomeFailed, answered: "-"},
	{name: "all of it twice", serve: answering(chatAnswer + chatAnswer), status: 200, body: chatAnswer + chatAnswer, ends: endsWell, outcome: outcomeWoven, answered: "Good morning.Good morning."},
}

// What comes of each of them, by HTTP through the door: with tools of the companion, which
// are between, and without. What was said is kept once or not at all, nothing of the door
// makes an answer later than the server does, and nothing is left behind.
func TestOutcomes(t *testing.T) {
	for _, tc := range outcomes {
		for kind, companion := range map[string]func() *fake{"plain": newFake, "with tools": withTools} {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				serve := func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if r.URL.Path == "/api/show" {
						_, _ = io.WriteString(w, `{"capabilities":["tools"]}`)
						return
					}
					tc.serve(w, r)
				}
				inBubble(t, companion, serve, func(t *testing.T, d *Door, f *fake, client *http.Client) {
					got := says(t, client, "/api/chat", hello, someMuch, anHour)
					ended := endsWell
					switch {
					case got.end != nil && errors.Is(got.end, context.DeadlineExceeded), len(got.body) == someMuch:
						ended = endsLeft
					case got.end != nil:
						ended = endsCut
					}
					client.CloseIdleConnections()
					synctest.Wait()
					// Of an answer that breaks off before its first byte the client may see no beginning either.
					noBeginning := tc.name == "cut at once" && got.status == 0
					if got.status != tc.status && !noBeginning || ended != tc.ends || got.took != tc.took {
						t.Errorf("status %d, ends %s (%v), after %v; want %d, %s, %v", got.status, ended, got.end, got.took, tc.status, tc.ends, tc.took)
					}
					if free := tc.begins != "" || tc.name == "drip-feed of nothing"; !free && got.body != tc.body || !strings.HasPrefix(got.body, tc.begins) {
						t.Errorf("the client sees %.300q", got.body)
					}
					if counts := d.Requests(); !slices.Equal(counts, []Count{{"chat", tc.outcome, 1}}) {
						t.Errorf("counted as %v, want %s", counts, tc.outcome)
					}
					d.Close(context.Background())
					var want []lifecycle.Turn
					if tc.answered != "-" {
						want = []lifecycle.Turn{{Said: "Hello", Answered: tc.answered, By: "m", Source: "chat:door"}}
					}
					if turns := f.remembered(); !slices.EqualFunc(turns, want, same) {
						t.Errorf("remembered %.300v", turns)
					}
				})
			})
		}
	}
}

// A server that does not say what a model can do is waited for once: not by the next
// request, not by one with another model, and not once more after a while.
func TestAServerThatDoesNotTellIsWaitedForOnce(t *testing.T) {
	looks := 0
	hangs := true
	serve := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/api/show" {
			if looks++; hangs {
				<-r.Context().Done()
				return
			}
			_, _ = io.WriteString(w, `{"capabilities":["tools"]}`)
			return
		}
		_, _ = io.WriteString(w, chatAnswer)
	}
	inBubble(t, withTools, serve, func(t *testing.T, d *Door, _ *fake, client *http.Client) {
		ask := func(when, model string, want time.Duration) {
			t.Helper()
			got := says(t, client, "/api/chat", `{"model":"`+model+`","messages":[{"role":"user","content":"Hello"}]}`, someMuch, anHour)
			if got.status != http.StatusOK || got.body != chatAnswer || got.took != want {
				t.Errorf("%s: %d after %v, want %v", when, got.status, got.took, want)
			}
		}
		ask("the first", "m", showTimeout)
		for range 50 {
			ask("again", "m", 0)
		}
		synctest.Wait()
		if looks != 1 {
			t.Errorf("looked %d times", looks)
		}
		ask("another model", "n", 0)
		for range 10 {
			time.Sleep(failTime + showTimeout)
			ask("after a while", "m", 0)
			ask("at the same time", "m", 0)
		}
		synctest.Wait()
		if looks != 1+1+10 {
			t.Errorf("looked %d times", looks)
		}
		hangs = false
		time.Sleep(failTime + showTimeout)
		ask("when it answers again", "m", 0)
		synctest.Wait()
		if !d.usesTools(t.Context(), "m") {
			t.Error("the look behind the answer is not believed")
		}
		hangs = true
		time.Sleep(2 * capableTime)
		ask("when it hangs once more", "m", showTimeout)
		ask("and again", "m", 0)
	})
}

// A look that fails at once is remembered as well, and no reason to wait for another model.
func TestAModelThatIsNotTold(t *testing.T) {
	looks := map[string]int{}
	serve := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o := parseObject(body)
		if r.URL.Path != "/api/show" {
			_, _ = io.WriteString(w, chatAnswer)
			return
		}
		if looks[o.text("model")]++; o.text("model") == "m" {
			http.Error(w, `{"error":"model not found"}`, http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"capabilities":["tools"]}`)
	}
	inBubble(t, withTools, serve, func(t *testing.T, d *Door, _ *fake, client *http.Client) {
		for range 5 {
			says(t, client, "/api/chat", hello, someMuch, anHour)
			if !d.usesTools(t.Context(), "n") {
				t.Error("another model is not known")
			}
		}
		if looks["m"] != 1 || looks["n"] != 1 {
			t.Errorf("looked %v", looks)
		}
	})
}
