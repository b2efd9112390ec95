package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// parrot answers with what was said, in pieces, and waits in the middle where hold
// is there: until it is stopped, or hold ends.
type parrot struct {
	asked []lifecycle.TalkRequest
	hold  chan struct{}
	err   error
	ended int
	// stopped is what comes of an answer that is stopped: nil where the turn is kept.
	stopped error
	// cut is why answers are not whole, empty where they are.
	cut string
}

func (p *parrot) Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(string) error) (lifecycle.TalkReport, error) {
	r.History = append([]lifecycle.ChatMessage(nil), r.History...)
	p.asked = append(p.asked, r)
	out := lifecycle.TalkReport{Answer: "You: " + r.Said, By: "parrot", Recalled: []lifecycle.Recalled{
		{Similarity: 0.51, Impression: lifecycle.Impression{Date: "1911-05-01", Excerpt: "The ponies\nare tired."}},
		{Similarity: 0.4, Impression: lifecycle.Impression{Kept: lifecycle.KeepBuried}},
	}}
	out.Cut, out.CutWhy = p.cut != "", p.cut
	if p.err != nil {
		return out, p.err
	}
	if err := emit("You: "); err != nil {
		return out, err
	}
	if p.hold != nil {
		p.hold <- struct{}{}
		<-ctx.Done()
		out.Answer = "You: "
		return out, p.stopped
	}
	return out, emit(r.Said)
}

func (p *parrot) EndSession(context.Context) (lifecycle.SessionReport, error) {
	if p.ended++; p.ended > 1 {
		return lifecycle.SessionReport{}, lifecycle.ErrNoSession
	}
	return lifecycle.SessionReport{Number: 3, Events: 2}, nil
}

// conversation is a talk with a parrot over an input.
func conversation(p *parrot, input io.Reader, out *bytes.Buffer, json bool) (*talk, chan os.Signal) {
	a := &app{stdin: input, stdout: out, stderr: out, flags: flags{json: json}}
	signals := make(chan os.Signal, 1)
	return &talk{app: a, with: p, signals: signals, out: a.printer()}, signals
}

func TestTalkLineByLine(t *testing.T) {
	p := &parrot{}
	var out bytes.Buffer
	talk, _ := conversation(p, strings.NewReader("/why\nHow are you?\n\n/why\n/usr is a folder\x1b[31m\n/end\n/end\nlast\n/quit\nnever\n"), &out, false)
	if err := talk.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `There was no answer yet.
You: How are you?
What was recalled for the last answer: date, nearness (at most 1), first words.
1911-05-01  0.51  The ponies are tired.
–           0.40  (buried)
You: /usr is a folder␛[31m
Session 3 ended, with 2 entries.
No session is open.
You: last
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if len(p.asked) != 3 || p.asked[2].Said != "last" {
		t.Fatalf("asked %+v", p.asked)
	}
	history := []lifecycle.ChatMessage{
		{Role: "user", Content: "How are you?"}, {Role: "assistant", Content: "You: How are you?"},
		{Role: "user", Content: "/usr is a folder\x1b[31m"}, {Role: "assistant", Content: "You: /usr is a folder\x1b[31m"},
	}
	if !reflect.DeepEqual(p.asked[2].History, history) {
		t.Errorf("history %+v", p.asked[2].History)
	}
}

// That an answer is not whole is told below it.
func TestTalkTellsOfACut(t *testing.T) {
	p := &parrot{cut: "an answer may have 2048 tokens"}
	var out bytes.Buffer
	talk, _ := conversation(p, strings.NewReader(""), &out, false)
	if err := talk.once(t.Context(), "So?"); err != nil || out.String() != "You: So?\n(cut: an answer may have 2048 tokens)\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	talk, _ = conversation(p, strings.NewReader(""), &out, true)
	if err := talk.once(t.Context(), "So?"); err != nil || !strings.Contains(out.String(), `"cut": true`) || !strings.Contains(out.String(), `"cut_why": "an answer may`) {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestTalkInJSON(t *testing.T) {
	p := &parrot{}
	var out bytes.Buffer
	talk, _ := conversation(p, strings.NewReader("One\n/why\n/end\n"), &out, true)
	if err := talk.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	values := json.NewDecoder(&out)
	var report lifecycle.TalkReport
	var recalled []lifecycle.Recalled
	var ended lifecycle.SessionReport
	for _, v := range []any{&report, &recalled, &ended} {
		if err := values.Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	if report.Answer != "You: One" || len(recalled) != 2 || ended.Number != 3 || values.More() {
		t.Errorf("%+v %+v %+v", report, recalled, ended)
	}
}

// Ctrl-C stops the answer, not the conversation's memory of it; a line of a file
// after it is not said. What is not kept, or not known to be, is not said to be.
func TestTalkIsStopped(t *testing.T) {
	for _, tc := range []struct {
		asked         os.Signal
		stopped, want error
		told          string
	}{
		{os.Interrupt, nil, context.Canceled, "\n(stopped; what you said is remembered)\n"},
		{syscall.SIGTERM, nil, context.Canceled, "\n(stopped; what you said is remembered)\n"},
		{os.Interrupt, context.Canceled, context.Canceled, "\n(stopped; it is not known whether what you said is remembered)\n"},
		{syscall.SIGTERM, lifecycle.ErrUnjudged, lifecycle.ErrUnjudged, "\n"},
	} {
		p := &parrot{hold: make(chan struct{}), stopped: tc.stopped}
		var out bytes.Buffer
		talk, signals := conversation(p, strings.NewReader("One\nTwo\n"), &out, false)
		go func() {
			<-p.hold
			signals <- tc.asked
		}()
		if err := talk.loop(t.Context()); !errors.Is(err, tc.want) {
			t.Errorf("%v, want %v", err, tc.want)
		}
		if want := "You: " + tc.told; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		if known := tc.stopped == nil; (talk.last != nil) != known {
			t.Errorf("of the answer: %+v", talk.last)
		}
		if len(p.asked) != 1 || tc.want == context.Canceled && (len(talk.history) != 2 || talk.history[1].Content != "You: ") {
			t.Errorf("asked %+v, history %+v", p.asked, talk.history)
		}
	}
}

// A person at a terminal goes on after an answer that was stopped or failed.
func TestTalkGoesOnAtATerminal(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	var out bytes.Buffer
	talk, signals := conversation(p, strings.NewReader(""), &out, false)
	talk.here = true
	go func() {
		<-p.hold
		signals <- os.Interrupt
	}()
	if leave, err := talk.take(t.Context(), "One"); leave || err != nil {
		t.Errorf("stopped: %v, %v", leave, err)
	}
	p.hold, p.err = nil, lifecycle.ErrDamaged
	if leave, err := talk.take(t.Context(), "Two"); leave || err != nil || !strings.Contains(out.String(), lifecycle.ErrDamaged.Error()) {
		t.Errorf("failed: %v, %v, %q", leave, err, out.String())
	}
	talk.here = false
	if _, err := talk.take(t.Context(), "Two"); !errors.Is(err, lifecycle.ErrDamaged) {
		t.Errorf("failed, of a file: %v", err)
	}
	p.err, talk.here = nil, true
	if _, err := talk.take(t.Context(), "/help"); err != nil {
		t.Error(err)
	}
	_ = talk.out.flush()
	if !strings.Contains(out.String(), "There is no /help.") || len(p.asked) != 3 {
		t.Errorf("got %q, asked %+v", out.String(), p.asked)
	}
	if _, err := talk.take(t.Context(), "Three"); err != nil || !strings.HasSuffix(out.String(), "You: Three\n") {
		t.Errorf("%v, %q", err, out.String())
	}
	p.hold = make(chan struct{})
	go func() {
		<-p.hold
		signals <- syscall.SIGTERM
	}()
	if leave, _ := talk.take(t.Context(), "Four"); !leave {
		t.Error("SIGTERM did not end it")
	}
}

// At the prompt Ctrl-C leaves, whatever the input waits for.
func TestTalkLeftAtThePrompt(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	var out bytes.Buffer
	talk, signals := conversation(&parrot{}, in, &out, false)
	signals <- os.Interrupt
	if err := talk.loop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTalkRefusesAnEndlessLine(t *testing.T) {
	var out bytes.Buffer
	talk, _ := conversation(&parrot{}, strings.NewReader(strings.Repeat("x", maxSaid+2)), &out, false)
	if err := talk.loop(t.Context()); !errors.Is(err, lifecycle.ErrTooLong) {
		t.Errorf("%v, want ErrTooLong", err)
	}
}

// brokenPipe takes nothing.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Where nobody reads, the answer is stopped by the end of its context, so that the
// turn is kept.
func TestTalkIntoAClosedPipe(t *testing.T) {
	p := &parrot{}
	a := &app{stdin: strings.NewReader(""), stdout: brokenPipe{}, stderr: io.Discard}
	ended := &watched{parrot: p}
	talk := &talk{app: a, with: ended, out: a.printer()}
	if err := talk.once(t.Context(), "One"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want ErrClosedPipe", err)
	}
	if !errors.Is(ended.ctx, context.Canceled) {
		t.Errorf("the answer's context: %v, want Canceled", ended.ctx)
	}
}

// watched notes how the context of an answer was at its end.
type watched struct {
	*parrot
	ctx error
}

func (w *watched) Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(string) error) (lifecycle.TalkReport, error) {
	out, err := w.parrot.Talk(ctx, r, emit)
	w.ctx = ctx.Err()
	return out, err
}

// keeper is a parrot that keeps what was said.
type keeper struct {
	*parrot
	unjudged bool
}

func (k *keeper) Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(string) error) (lifecycle.TalkReport, error) {
	out, err := k.parrot.Talk(ctx, r, emit)
	out.Receipt = &lifecycle.Receipt{Event: "1", Unjudged: k.unjudged}
	return out, err
}

// judge is a companion that judges in this process, until over is closed.
type judge struct{ over chan struct{} }

func (j judge) Judged(ctx context.Context) error {
	select {
	case <-j.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Whoever leaves is told what becomes of what was said: kept, and judged by the daemon,
// or here before the end, unless that is stopped.
func TestTalkTellsOfWhatIsKept(t *testing.T) {
	const plain, daemon, own = "(what you said is kept)\n", "(what you said is kept; the daemon judges what is not judged yet)\n", "(what you said is kept, as the built-in assessor judged it)\n"
	for name, tc := range map[string]struct {
		said, unjudged, here, quiet, stopped bool
		judging                              judging
		want                                 string
	}{
		"nothing was said":      {},
		"judged":                {said: true, here: true, stopped: true, want: plain},
		"judged by the daemon":  {said: true, unjudged: true, here: true, stopped: true, want: daemon},
		"left by a word":        {said: true, unjudged: true, here: true, want: daemon},
		"nobody looks on":       {said: true, unjudged: true, stopped: true},
		"not wanted":            {said: true, unjudged: true, here: true, quiet: true, stopped: true},
		"judged here":           {said: true, unjudged: true, here: true, judging: judge{closed()}},
		"judged here, stopped":  {said: true, unjudged: true, here: true, stopped: true, judging: judge{}, want: "\n" + own},
		"nothing to judge here": {said: true, here: true, judging: judge{}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			talk, signals := conversation(&parrot{}, strings.NewReader(""), &out, false)
			talk.with, talk.judging, talk.app.flags.quiet = &keeper{&parrot{}, tc.unjudged}, tc.judging, tc.quiet
			if tc.said {
				if _, err := talk.say(t.Context(), "One"); err != nil {
					t.Fatal(err)
				}
			}
			out.Reset()
			talk.here = tc.here
			if tc.stopped {
				signals <- os.Interrupt
			}
			var err error
			if tc.stopped && tc.judging == nil { // at the prompt
				talk.farewell()
				err = talk.out.flush()
			} else {
				err = talk.settle(t.Context())
			}
			if err != nil || out.String() != tc.want {
				t.Errorf("%q, %v; want %q", out.String(), err, tc.want)
			}
		})
	}
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
