package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

var (
	talkReport = lifecycle.TalkReport{Answer: "One two.", By: "reflection", Why: "no model", Recalled: hits, Receipt: &receipt}
	// pieces hold what a line of JSON must not be broken by.
	pieces = []string{"One", " \ntwo\u2028", "<&>\x1b."}
)

// Talk gives its pieces, and then is as long as hold says.
func (f *fake) Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(string) error) (lifecycle.TalkReport, error) {
	f.notes = []lifecycle.Note{{Text: r.Said}}
	for _, m := range r.History {
		f.notes = append(f.notes, lifecycle.Note{Text: m.Content, Label: m.Role})
	}
	for _, p := range pieces {
		if err := emit(p); err != nil {
			return lifecycle.TalkReport{}, err
		}
	}
	return talkReport, f.work(ctx)
}

var toTalk = asked{"talk", func(ctx context.Context, c Companion) (any, error) {
	return c.Talk(ctx, lifecycle.TalkRequest{Said: "x"}, func(string) error { return nil })
}, talkReport}

func TestTalkStreamsThroughTheSocket(t *testing.T) {
	f := &fake{}
	_, client := serve(t, f)
	var got []string
	r := lifecycle.TalkRequest{Said: "How are you?", History: []lifecycle.ChatMessage{{Role: "user", Content: "Hello"}}}
	report, err := client.Talk(t.Context(), r, func(p string) error { got = append(got, p); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, pieces) {
		t.Errorf("pieces %q, want %q", got, pieces)
	}
	if !reflect.DeepEqual(report, talkReport) {
		t.Errorf("report %+v, want %+v", report, talkReport)
	}
	if len(f.notes) != 2 || f.notes[0].Text != "How are you?" || f.notes[1].Label != "user" {
		t.Errorf("the companion was told %+v", f.notes)
	}
	f.err = lifecycle.ErrEmpty
	if _, err := client.Talk(t.Context(), lifecycle.TalkRequest{}, func(string) error { return nil }); !errors.Is(err, lifecycle.ErrEmpty) {
		t.Errorf("%v, want ErrEmpty", err)
	}
}

// Pieces come while the answer lasts, and whoever leaves ends it.
func TestLeavingEndsTheAnswer(t *testing.T) {
	f := &fake{hold: make(chan struct{}), ended: make(chan error, 1)}
	_, client := serve(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got strings.Builder
	result := make(chan error, 1)
	heard := make(chan struct{}, len(pieces))
	go func() {
		_, err := client.Talk(ctx, lifecycle.TalkRequest{Said: "x"}, func(p string) error {
			got.WriteString(p)
			heard <- struct{}{}
			return nil
		})
		result <- err
	}()
	<-f.hold
	for range pieces {
		<-heard // before the answer has ended
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the answer ended with %v, want Canceled", err)
	}
	if got.String() != strings.Join(pieces, "") {
		t.Errorf("heard %q", got.String())
	}

	enough, last := errors.New("enough"), pieces[len(pieces)-1]
	go func() {
		_, err := client.Talk(t.Context(), lifecycle.TalkRequest{Said: "x"}, func(p string) error {
			if p == last { // the daemon has written all of them
				return enough
			}
			return nil
		})
		result <- err
	}()
	<-f.hold
	if err := <-result; !errors.Is(err, enough) {
		t.Errorf("%v, want what emit said", err)
	}
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the answer ended with %v, want Canceled", err)
	}
}

// broken is a connection that takes nothing any more and does not tell.
type broken struct{ *httptest.ResponseRecorder }

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A piece that cannot be written ends the context of the answer, so that the
// companion knows that the client left, and keeps the turn.
func TestAPieceThatCannotBeWritten(t *testing.T) {
	f := &fake{}
	var err, ended error
	h := NewHandler(&listening{fake: f, heard: func(ctx context.Context, of error) { err, ended = of, ctx.Err() }})
	r := httptest.NewRequest(http.MethodPost, "/api/v1/talk", strings.NewReader(`{"said":"x"}`))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(broken{httptest.NewRecorder()}, r)
	if !errors.Is(err, context.Canceled) || !errors.Is(ended, context.Canceled) {
		t.Errorf("emit: %v, context: %v; want Canceled", err, ended)
	}
}

// listening tells how the first piece went.
type listening struct {
	*fake
	heard func(ctx context.Context, emitted error)
}

func (l *listening) Talk(ctx context.Context, _ lifecycle.TalkRequest, emit func(string) error) (lifecycle.TalkReport, error) {
	err := emit("x")
	l.heard(ctx, err)
	return lifecycle.TalkReport{}, err
}
