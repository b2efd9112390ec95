package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

// fake answers every question with a value of its own, or with err.
type fake struct {
	err error
	// notes are what Write and Import were given; query what Recall was.
	notes []lifecycle.Note
	query lifecycle.RecallQuery
	// numbers are the arguments of Session, Soul and Trend in turn.
	numbers []int
	id      string
	full    bool
	// hold is waited for by Import and Verify; ended gets their context's end.
	hold  chan struct{}
	ended chan error
	// said is what SetConsent and PlanConsent were given.
	said lifecycle.ConsentRequest
}

var (
	when    = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	gap     = 0.25
	session = lifecycle.SessionReport{Number: 3, Date: "2024-05-01", Opened: when, Closed: when.Add(time.Hour), Events: 4, New: 2, Reactivated: 1, Soft: 1, Suppressed: 1, WitnessGap: &gap, Reason: "end"}
	receipt = lifecycle.Receipt{Event: "0190-x", Session: 3, Created: true, Reactivate: 2, Soft: 1, Weight: 0.1, Focus: 0.2, Theta: 0.3, Novelty: 0.4, Match: 0.5, Shares: lifecycle.Shares{Tamas: 0.25, Rajas: 0.25, Sattva: 0.5}, Assessor: "a/1"}
	entry   = lifecycle.Impression{ID: "0190-x", Date: "2024-05-01", Text: "line\n\"two\" <&> \x1b[31m", Session: 1, Depth: 0.5, Shares: lifecycle.Shares{Sattva: 1}, Linked: []string{"a"}}
	hits    = []lifecycle.Recalled{{Rank: 1, Score: 1.5, Similarity: 0.9, Lexical: 0.6, Phrase: true, Impression: entry}}
	doc     = lifecycle.SoulDocument{Session: 3, Path: "/x/SOUL.md", Text: "---\nà ê\n", Digest: "abc"}
	vasana  = []lifecycle.Tendency{{ID: "v", Name: "n", Members: []string{"a", "b"}, Coherence: 0.9, Trend: "rising"}}
	ghosts  = lifecycle.GhostReport{Floor: 0.05, Strong: 0.2, Tendencies: []lifecycle.GhostTendency{{ID: "v", Name: "n", Members: []string{"a"}, Peak: 0.5}}, Impressions: []lifecycle.Impression{entry}}
	ghost   = lifecycle.Counterfactual{Kind: "entry", ID: "0190-x", Entries: []lifecycle.Impression{entry}, Depths: []lifecycle.GhostChange{{ID: "a", With: 0.2}}, Soul: &lifecycle.GhostSoul{Cosine: 0.5, Said: []string{"s"}, Instead: []string{}}, Measures: []lifecycle.GhostMeasure{{Name: lifecycle.MeasureDepths, Value: 1.5, Chance: &lifecycle.Chance{Upper: 1, Band: 0.95, P: 0.05, Larger: true}}}, Baseline: &lifecycle.GhostBaseline{Removals: 20, Entries: 1}, Curves: []lifecycle.GhostCurve{{ID: "a", Session: []int{1, 2}, With: []*float64{nil, &gap}, Without: []*float64{nil, nil}}}, Notes: []string{"n"}, Seconds: 0.5}
	trend   = []soul.Record{{Version: 1, Session: 3, Date: "2024-05-01", Opened: when, Closed: when, Events: 4, WitnessGap: &gap, GStore: &soul.Vector{Tamas: 0.6, Sattva: 0.8}}}
	status  = lifecycle.Status{Version: "v1", PID: 7, DataDir: "/x", Uptime: 1.5, Events: 1 << 40, Impressions: 2, Session: &session, LastSession: &session, StateDigest: "00ff", Problems: []string{"p"}}
	checks  = []lifecycle.Check{{Name: "store", OK: true, Detail: "fine"}, {Name: "clock", Detail: "wrong", Hint: "mend it"}}
	proof   = lifecycle.VerifyReport{OK: true, Checks: checks, StateDigest: "00ff", Events: 9, From: 2, Seconds: 0.5}

	forgetPlan = lifecycle.ForgetPlan{Entries: []lifecycle.ForgetEntry{{ID: "0190-x", Session: 3, Excerpt: "x"}}, Sessions: []int{3}, Versions: 2, Diary: []string{"a.md"}, Cannot: []string{"c"}}
	forgotten  = lifecycle.ForgetReceipt{Forgotten: 1, Records: 3, Sessions: []int{3}, Versions: 2, Remaining: 7, Before: "00", After: "ff", Left: lifecycle.ForgetLeft{Files: []string{"f"}}, Seconds: 1}

	report = lifecycle.ImportReport{Entries: 3, New: 2, Duplicates: 1, Sessions: 2, Warnings: []string{"w"}, Seconds: 2, PerMinute: 60}
)

func (f *fake) Write(_ context.Context, n lifecycle.Note) (lifecycle.Receipt, error) {
	f.notes = []lifecycle.Note{n}
	return receipt, f.err
}

func (f *fake) Import(ctx context.Context, notes []lifecycle.Note, progress func(lifecycle.Progress)) (lifecycle.ImportReport, error) {
	f.notes = notes
	for i := range notes {
		progress(lifecycle.Progress{Done: i + 1, Total: len(notes), Elapsed: time.Second})
	}
	return report, f.work(ctx)
}

// work is as long as hold says.
func (f *fake) work(ctx context.Context) error {
	if f.hold == nil {
		return f.err
	}
	f.hold <- struct{}{}
	select {
	case <-ctx.Done():
		f.ended <- ctx.Err()
		return ctx.Err()
	case <-f.hold:
		return f.err
	}
}
func (f *fake) EndSession(context.Context) (lifecycle.SessionReport, error) { return session, f.err }
func (f *fake) Sessions(context.Context) ([]lifecycle.SessionReport, error) {
	return []lifecycle.SessionReport{session}, f.err
}
func (f *fake) Session(_ context.Context, n int) (lifecycle.SessionReport, error) {
	f.numbers = append(f.numbers, n)
	return session, f.err
}
func (f *fake) Recall(_ context.Context, q lifecycle.RecallQuery) ([]lifecycle.Recalled, error) {
	f.query = q
	return hits, f.err
}
func (f *fake) Show(_ context.Context, id string) (lifecycle.Impression, error) {
	f.id = id
	return entry, f.err
}
func (f *fake) Soul(_ context.Context, n int) (lifecycle.SoulDocument, error) {
	f.numbers = append(f.numbers, n)
	return doc, f.err
}
func (f *fake) SoulVersions(context.Context) ([]lifecycle.SoulDocument, error) {
	return []lifecycle.SoulDocument{doc}, f.err
}
func (f *fake) Vasanas(context.Context) ([]lifecycle.Tendency, error) { return vasana, f.err }
func (f *fake) Ghosts(context.Context) (lifecycle.GhostReport, error) { return ghosts, f.err }
func (f *fake) GhostsOf(ctx context.Context, q lifecycle.GhostQuery, progress func(lifecycle.Progress)) (lifecycle.Counterfactual, error) {
	f.id, f.numbers = q.Of, append(f.numbers, q.Baseline)
	progress(lifecycle.Progress{Done: 9, Total: 9, Stage: "fold"})
	return ghost, f.work(ctx)
}
func (f *fake) Trend(_ context.Context, n int) ([]soul.Record, error) {
	f.numbers = append(f.numbers, n)
	return trend, f.err
}
func (f *fake) Status(context.Context) (lifecycle.Status, error) { return status, f.err }
func (f *fake) Verify(ctx context.Context, full bool, progress func(lifecycle.Progress)) (lifecycle.VerifyReport, error) {
	f.full = full
	progress(lifecycle.Progress{Done: 9, Total: 9, Stage: "fold"})
	return proof, f.work(ctx)
}
func (f *fake) Doctor(context.Context) ([]lifecycle.Check, error) { return checks, f.err }

func (f *fake) PlanForget(context.Context, lifecycle.ForgetQuery) (lifecycle.ForgetPlan, error) {
	return forgetPlan, f.err
}
func (f *fake) Forget(ctx context.Context, _ lifecycle.ForgetQuery, progress func(lifecycle.Progress)) (lifecycle.ForgetReceipt, error) {
	progress(lifecycle.Progress{Done: 1, Total: 9, Stage: "fold"})
	return forgotten, f.work(ctx)
}

// serve opens a socket for a companion and returns its path and a client.
func serve(t *testing.T, c Companion) (string, *Client) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(NewHandler(c))
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	client, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return path, client
}

// asked is one question to a companion.
type asked struct {
	name string
	ask  func(context.Context, Companion) (any, error)
	want any
}

var questions = append([]asked{
	{"write", func(ctx context.Context, c Companion) (any, error) { return c.Write(ctx, lifecycle.Note{Text: "x"}) }, receipt},
	{"import", func(ctx context.Context, c Companion) (any, error) {
		return c.Import(ctx, []lifecycle.Note{{Text: "x"}}, nil)
	}, report},
	{"end", func(ctx context.Context, c Companion) (any, error) { return c.EndSession(ctx) }, session},
	{"sessions", func(ctx context.Context, c Companion) (any, error) { return c.Sessions(ctx) }, []lifecycle.SessionReport{session}},
	{"session", func(ctx context.Context, c Companion) (any, error) { return c.Session(ctx, 3) }, session},
	{"recall", func(ctx context.Context, c Companion) (any, error) {
		return c.Recall(ctx, lifecycle.RecallQuery{Text: "x"})
	}, hits},
	{"show", func(ctx context.Context, c Companion) (any, error) { return c.Show(ctx, "0190") }, entry},
	{"soul", func(ctx context.Context, c Companion) (any, error) { return c.Soul(ctx, 0) }, doc},
	{"versions", func(ctx context.Context, c Companion) (any, error) { return c.SoulVersions(ctx) }, []lifecycle.SoulDocument{doc}},
	{"vasanas", func(ctx context.Context, c Companion) (any, error) { return c.Vasanas(ctx) }, vasana},
	{"ghosts", func(ctx context.Context, c Companion) (any, error) { return c.Ghosts(ctx) }, ghosts},
	{"ghosts of", func(ctx context.Context, c Companion) (any, error) {
		return c.GhostsOf(ctx, lifecycle.GhostQuery{Of: "0190"}, nil)
	}, ghost},
	{"trend", func(ctx context.Context, c Companion) (any, error) { return c.Trend(ctx, 0) }, trend},
	{"status", func(ctx context.Context, c Companion) (any, error) { return c.Status(ctx) }, status},
	{"verify", func(ctx context.Context, c Companion) (any, error) { return c.Verify(ctx, true, nil) }, proof},
	{"plan forget", func(ctx context.Context, c Companion) (any, error) {
		return c.PlanForget(ctx, lifecycle.ForgetQuery{Match: "x"})
	}, forgetPlan},
	{"forget", func(ctx context.Context, c Companion) (any, error) {
		return c.Forget(ctx, lifecycle.ForgetQuery{Entries: []string{"0190"}}, nil)
	}, forgotten},
	{"doctor", func(ctx context.Context, c Companion) (any, error) { return c.Doctor(ctx) }, checks},
	{"export", func(ctx context.Context, c Companion) (any, error) {
		return c.Export(ctx, nil, func(lifecycle.ExportPart) error { return nil })
	}, exported},
	toTalk, toBack, ofBacks,
	{"consent", func(ctx context.Context, c Companion) (any, error) { return c.Consent(ctx) }, viewed},
	{"plan consent", func(ctx context.Context, c Companion) (any, error) {
		return c.PlanConsent(ctx, lifecycle.ConsentRequest{Who: "anna"})
	}, lifecycle.ConsentPlan{}},
	{"set consent", func(ctx context.Context, c Companion) (any, error) {
		return c.SetConsent(ctx, lifecycle.ConsentRequest{Who: "anna"}, nil)
	}, withdrew},
}, append(askedOfLives(), askedOfClaims()...)...)

func TestEveryAnswerComesThroughWhole(t *testing.T) {
	_, client := serve(t, &fake{})
	if n := reflect.TypeFor[Companion]().NumMethod(); n != len(questions) {
		t.Fatalf("%d questions for %d methods", len(questions), n)
	}
	for _, q := range questions {
		got, err := q.ask(t.Context(), client)
		if err != nil || !reflect.DeepEqual(got, q.want) {
			t.Errorf("%s: %+v %v, want %+v", q.name, got, err, q.want)
		}
	}
}

func TestEveryErrorComesThrough(t *testing.T) {
	f := &fake{}
	_, client := serve(t, f)
	for _, k := range kinds {
		f.err = fmt.Errorf("entry %q: %w", "ab12", k.err)
		for _, q := range questions {
			_, err := q.ask(t.Context(), client)
			if !errors.Is(err, k.err) || err.Error() != f.err.Error() {
				t.Errorf("%s: %v, want %v", q.name, err, f.err)
			}
			for _, other := range kinds {
				if other.err != k.err && errors.Is(err, other.err) {
					t.Errorf("%s: %v is also %v", q.name, err, other.err)
				}
			}
		}
	}
	f.err = errors.New("the disk is full")
	_, err := client.Status(t.Context())
	var p *Problem
	if !errors.As(err, &p) || p.Status != http.StatusInternalServerError || p.Detail != f.err.Error() {
		t.Errorf("%v, want a problem of status 500", err)
	}
}

func TestEveryQuestionComesThrough(t *testing.T) {
	f := &fake{}
	_, client := serve(t, f)
	note := lifecycle.Note{Text: "a\nb \x00 ü", Date: "2024-05-01", Label: "l", Category: "health", Source: "here"}
	if _, err := client.Write(t.Context(), note); err != nil || !reflect.DeepEqual(f.notes, []lifecycle.Note{note}) {
		t.Errorf("written: %+v %v", f.notes, err)
	}
	if _, err := client.Write(t.Context(), lifecycle.Note{Text: "x"}); err != nil || f.notes[0].Source != "api" {
		t.Errorf("a note without a source comes from %q, %v", f.notes[0].Source, err)
	}
	q := lifecycle.RecallQuery{Text: "x", Limit: 7, From: "2023", To: "2024-05"}
	if _, err := client.Recall(t.Context(), q); err != nil || f.query != q {
		t.Errorf("asked: %+v %v", f.query, err)
	}
	for _, id := range []string{"ab12", "a/b", "..", "ü?x=1"} {
		if _, err := client.Show(t.Context(), id); id != ".." && (err != nil || f.id != id) {
			t.Errorf("asked for %q: %q %v", id, f.id, err)
		}
	}
	for _, n := range []int{0, 5} {
		_, e1 := client.Session(t.Context(), n)
		_, e2 := client.Soul(t.Context(), n)
		_, e3 := client.Trend(t.Context(), n)
		if err := errors.Join(e1, e2, e3); err != nil {
			t.Error(err)
		}
	}
	if want := []int{0, 0, 0, 5, 5, 5}; !reflect.DeepEqual(f.numbers, want) {
		t.Errorf("numbers %v, want %v", f.numbers, want)
	}
	f.numbers = nil
	if _, err := client.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "a/b ü", Baseline: 7}, nil); err != nil || f.id != "a/b ü" || !reflect.DeepEqual(f.numbers, []int{7}) {
		t.Errorf("asked for the ghost of %q with %v: %v", f.id, f.numbers, err)
	}
	for _, full := range []bool{true, false} {
		if _, err := client.Verify(t.Context(), full, nil); err != nil || f.full != full {
			t.Errorf("full %v: %v %v", full, f.full, err)
		}
	}
}

func TestImportTellsProgress(t *testing.T) {
	f := &fake{}
	_, client := serve(t, f)
	notes := make([]lifecycle.Note, 500)
	for i := range notes {
		notes[i] = lifecycle.Note{Text: strings.Repeat("word ", i), Date: "2024-05-01"}
	}
	var told []lifecycle.Progress
	got, err := client.Import(t.Context(), notes, func(p lifecycle.Progress) { told = append(told, p) })
	if err != nil || !reflect.DeepEqual(got, report) || !reflect.DeepEqual(f.notes, notes) {
		t.Errorf("%+v %v, %d notes arrived", got, err, len(f.notes))
	}
	if n := len(told); n < 2 || told[n-1] != (lifecycle.Progress{Done: 500, Total: 500, Elapsed: time.Second}) {
		t.Errorf("told %v", told)
	}
}

func TestLongWorkIsDoneOnceAtATime(t *testing.T) {
	f := &fake{hold: make(chan struct{}), ended: make(chan error, 1)}
	_, client := serve(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := client.Import(ctx, []lifecycle.Note{{Text: "x"}}, nil)
		first <- err
	}()
	<-f.hold
	if _, err := client.Import(t.Context(), nil, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	// A client that goes away ends its work.
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the work ended with %v", err)
	}
}

// limited records the last time limit for the arrival of a request.
type limited struct {
	*httptest.ResponseRecorder
	read time.Time
}

func (l *limited) SetReadDeadline(t time.Time) error { l.read = t; return nil }

// The limit on how long a request may take to arrive cancels it when it passes,
// also when all has arrived long ago.
func TestLongWorkHasNoLimitOfArrival(t *testing.T) {
	h := NewHandler(&fake{})
	for path, kind := range map[string]string{"/api/v1/import": "application/x-ndjson", "/api/v1/verify": ""} {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(""))
		r.Header.Set("Content-Type", kind)
		w := &limited{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !w.read.IsZero() {
			t.Errorf("%s: status %d, ends at %v", path, w.Code, w.read)
		}
	}
}

func TestADaemonThatGoesAwayIsUnreachable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{hold: make(chan struct{}), ended: make(chan error, 1)}
	server := NewServer(NewHandler(f))
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	client, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := client.Verify(t.Context(), false, nil)
		result <- err
	}()
	<-f.hold
	_ = server.Close()
	if err := <-result; !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "went away") {
		t.Errorf("%v, want ErrUnreachable", err)
	}
	<-done
	if _, err := client.Status(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want ErrUnreachable that names the socket", err)
	}
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v, want ErrUnreachable", err)
	}
}

// raw sends a request as other programs would.
func raw(t *testing.T, socket, method, path, kind string, body io.Reader) (int, string, Problem) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, socket) }}}
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://x"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p Problem
	_ = json.Unmarshal(data, &p)
	return answer.StatusCode, answer.Header.Get("Content-Type"), p
}

func TestBadRequestsAreRefusedInFormAndWithoutQuoting(t *testing.T) {
	socket, _ := serve(t, &fake{})
	const secret = "my secret"
	for name, c := range map[string]struct {
		method, path, kind string
		body               io.Reader
		status             int
		word               string
	}{
		"no such path":           {"GET", "/api/v1/nothing", "", nil, 404, "not-found"},
		"another method":         {"GET", "/api/v1/write", "", nil, 404, "not-found"},
		"a form":                 {"POST", "/api/v1/write", "application/x-www-form-urlencoded", strings.NewReader("text=" + secret), 400, "request"},
		"no JSON":                {"POST", "/api/v1/write", "application/json", strings.NewReader(secret), 400, "request"},
		"an unknown field":       {"POST", "/api/v1/write", "application/json", strings.NewReader(`{"text":"x","` + secret + `":1}`), 400, "request"},
		"two values":             {"POST", "/api/v1/write", "application/json", strings.NewReader(`{"text":"x"} {"text":"` + secret + `"}`), 400, "request"},
		"another type":           {"POST", "/api/v1/write", "application/json", strings.NewReader(`{"text":["` + secret + `"]}`), 400, "request"},
		"too much":               {"POST", "/api/v1/write", "application/json", strings.NewReader(`{"text":"` + strings.Repeat("x", maxBody) + `"}`), 413, "too-large"},
		"an import that is JSON": {"POST", "/api/v1/import", "application/json", strings.NewReader(`{}`), 400, "request"},
		"a line of an import":    {"POST", "/api/v1/import", "application/x-ndjson", strings.NewReader("{\"text\":\"a\"}\n" + secret), 400, "request"},
		"a line too long":        {"POST", "/api/v1/import", "application/x-ndjson", strings.NewReader(strings.Repeat("x", maxLine+1)), 413, "too-large"},
		"no such category":       {"POST", "/api/v1/write", "application/json", strings.NewReader(`{"text":"x","category":"` + secret + `"}`), 422, "category"},
		"one in an import":       {"POST", "/api/v1/import", "application/x-ndjson", strings.NewReader(`{"text":"x","category":"` + secret + `"}`), 422, "category"},
		"a session that is none": {"GET", "/api/v1/sessions/first", "", nil, 422, "query"},
		"a number below 0":       {"GET", "/api/v1/trend?last=-1", "", nil, 422, "query"},
		"a word for a number":    {"GET", "/api/v1/soul?session=x", "", nil, 422, "query"},
		"neither true nor false": {"POST", "/api/v1/verify?full=perhaps", "", nil, 422, "query"},
	} {
		t.Run(name, func(t *testing.T) {
			status, kind, p := raw(t, socket, c.method, c.path, c.kind, c.body)
			if status != c.status || kind != "application/problem+json" || p.Type != problemType+c.word || p.Status != status || p.Title == "" {
				t.Errorf("%d %s %+v", status, kind, p)
			}
			if strings.Contains(p.Detail, secret) {
				t.Errorf("%q quotes what was sent", p.Detail)
			}
		})
	}
	if status, _, _ := raw(t, socket, "GET", "/healthz", "", nil); status != http.StatusOK {
		t.Errorf("healthz answers %d", status)
	}
}

func TestTheLineOfAnImportIsNamed(t *testing.T) {
	socket, _ := serve(t, &fake{})
	_, _, p := raw(t, socket, "POST", "/api/v1/import", "application/x-ndjson", strings.NewReader("{\"text\":\"a\"}\n\n{\"text\":2}\n"))
	if !strings.Contains(p.Detail, "line 3") || !strings.Contains(p.Detail, "text") {
		t.Errorf("%q names neither line nor field", p.Detail)
	}
}

func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "s")
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Listen(t.Context(), path); !errors.Is(err, ErrSocketInUse) {
		t.Errorf("%v, want ErrSocketInUse", err)
	}
	// A process that was killed leaves its socket behind.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	again, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatalf("the socket left behind was not taken over: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: the socket is still there", err)
	}
}

func TestListenLeavesOtherFilesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), path); err == nil {
		t.Error("a file was taken for a socket")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "a letter" {
		t.Errorf("the file is now %q, %v", data, err)
	}
}
