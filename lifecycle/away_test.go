package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// roaming is an embedder of a server that comes and goes. Calls counts what it was
// asked to embed.
type roaming struct {
	hashed
	mu       sync.Mutex
	away     string
	calls    int
	unread   string // the text that it has no answer for
	hangs    bool   // it never answers
	watchers []func(lifecycle.ModelState)
}

func (r *roaming) ID() string { return "ollama/roaming@0123456789ab" }

func (r *roaming) Embed(ctx context.Context, text string) ([]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	switch {
	case r.hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case r.away != "":
		return nil, fmt.Errorf("%w: %s", lifecycle.ErrModelAway, r.away)
	case text == r.unread && text != "":
		return nil, fmt.Errorf("%w: it had not answered", lifecycle.ErrModelAnswer)
	}
	return r.hashed.Embed(ctx, text)
}

func (r *roaming) State() lifecycle.ModelState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return lifecycle.ModelState{Name: "roaming", Away: r.away}
}

func (r *roaming) Watch(_ context.Context, changed func(lifecycle.ModelState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers = append(r.watchers, changed)
}

// goes has it go, or come back with an empty reason, and tells who watches.
func (r *roaming) goes(why string) {
	r.mu.Lock()
	r.away = why
	watchers := slices.Clone(r.watchers)
	r.mu.Unlock()
	for _, changed := range watchers {
		changed(r.State())
	}
}

// of is EmbedderFor with r behind it: it is asked only where nothing is recorded.
func (r *roaming) of(_ context.Context, id string, _ int) (lifecycle.Embedder, error) {
	switch {
	case id == r.ID():
		return r, nil
	case id != "":
		return lateNamed{}, nil
	case r.State().Away != "":
		return nil, fmt.Errorf("%w: start the server once", lifecycle.ErrModelAway)
	}
	return r, nil
}

// lateNamed is an embedder of which only the name is known.
type lateNamed struct{}

func (lateNamed) ID() string { return "ollama/roaming" }
func (lateNamed) Dim() int   { return 0 }
func (lateNamed) Embed(context.Context, string) ([]float32, error) {
	return nil, lifecycle.ErrModelAway
}

// roamingWorld is a world whose embedder is on a server.
func roamingWorld(t testing.TB) (*world, *roaming) {
	t.Helper()
	w, r := newWorld(t), &roaming{hashed: hashed{64}}
	w.opts.Embedder, w.opts.EmbedderFor = nil, r.of
	return w, r
}

// A new store needs the server once; from then on nobody is asked to open it, and
// what the parameters are for is the same.
func TestOpeningWithoutTheServer(t *testing.T) {
	w, r := roamingWorld(t)
	r.away = "refused"
	if _, err := lifecycle.Open(t.Context(), w.opts); !errors.Is(err, lifecycle.ErrModelAway) || !strings.Contains(err.Error(), "start the server once") {
		t.Fatalf("a new store: %v", err)
	}
	r.away = ""
	c := w.live(t)
	w.write(t, c, "Sat by the river.")
	w.end(t, c)
	r.away = "refused"
	asked := r.calls
	for _, look := range []bool{false, true} {
		w.opts.LookOnly = look
		c = w.live(t)
		s, err := c.Status(t.Context())
		if err != nil || s.Embedder != r.ID() || s.Dim != 64 || s.EmbedderState == nil || s.EmbedderState.Away != "refused" || s.Entries != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		w.end(t, c)
	}
	if r.calls != asked {
		t.Errorf("opening asked for %d vectors", r.calls-asked)
	}
	w.opts.LookOnly = false
	r.away = ""
	before := w.live(t)
	if s, err := before.Status(t.Context()); err != nil || s.Events != 5 { // embedder, parameters, begin, entry, end
		t.Errorf("something was put in force anew: %d records, %v", s.Events, err)
	}
}

// A store that is empty takes the embedder that the server has, and keeps the one that
// it records while there is none.
func TestAnEmptyStoreTakesTheEmbedderOfNow(t *testing.T) {
	w, r := roamingWorld(t)
	w.end(t, w.live(t))
	r.away = "refused"
	w.end(t, w.live(t))
	e := newAnother()
	w.opts.EmbedderFor = func(_ context.Context, id string, _ int) (lifecycle.Embedder, error) {
		if id == "another/1" || id == "" {
			return e, nil
		}
		return lateNamed{}, nil
	}
	c := w.live(t)
	w.write(t, c, "Sat by the river.")
	if s, err := c.Status(t.Context()); err != nil || s.Embedder != "another/1" || s.Dim != 24 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A store of another embedder is refused as ever, also where nobody can be asked which
// the configured one is, and is looked at by words.
func TestAnotherEmbedderIsRefusedWithoutTheServer(t *testing.T) {
	w, _ := history(t, 10)
	r := &roaming{hashed: hashed{64}, away: "refused"}
	w.opts.Embedder, w.opts.EmbedderFor = nil, r.of
	_, err := lifecycle.Open(t.Context(), w.opts)
	if !errors.Is(err, lifecycle.ErrEmbedder) || !strings.Contains(err.Error(), "by hashed/1 (64 dimensions), the configured embedder is ollama/roaming. Run jivad reembed") {
		t.Fatalf("%v", err)
	}
	w.opts.LookOnly = true
	c := w.live(t)
	if hits := recalled(t, c, "the river"); len(hits) == 0 {
		t.Error("nothing is found by words")
	}
}

// While the embedder is away what looks works, and goes by words; what would write is
// refused by name and leaves nothing; the session ends all the same.
func TestWhileTheEmbedderIsAway(t *testing.T) {
	w, r := roamingWorld(t)
	w.opts.Backups.Dir = filepath.Join(w.dir, "backups")
	c := w.live(t)
	w.write(t, c, "A slow walk by the river.")
	w.write(t, c, "Toothache again.")
	r.goes("refused")
	before, doc := digestOf(t, c), soulText(t, c)

	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Lost?"}); !errors.Is(err, lifecycle.ErrEmbedderAway) || errors.Is(err, lifecycle.ErrUnjudged) ||
		!strings.HasPrefix(err.Error(), "not kept: ") || !strings.Contains(err.Error(), "try again when it is back") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("write: %v", err)
	}
	said, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Do you remember the river?"}, func(string) error { return nil })
	if !errors.Is(err, lifecycle.ErrEmbedderAway) || said.ByWords == "" || said.Receipt != nil || len(said.Recalled) != 1 ||
		!strings.Contains(said.Answer, "slow walk by the river") || !strings.Contains(said.Answer, "by your words alone") {
		t.Errorf("talk: %+v, %v", said, err)
	}
	for _, said := range []string{"Nothing of it.", "Do you remember the river?"} {
		answer, err := c.Reflect(t.Context(), said, lifecycle.ModelAway, lifecycle.Becomes)
		if err != nil || !strings.HasPrefix(answer, "My model cannot be reached now") || !strings.Contains(answer, "what you said waits here, and becomes an entry when it is back.") {
			t.Errorf("reflect on %q: %q, %v", said, answer, err)
		}
		if answer, err = c.Reflect(t.Context(), said, lifecycle.NoModel, ""); err != nil || !strings.HasPrefix(answer, "I have no model") || strings.Contains(answer, "waits here") {
			t.Errorf("reflect on %q, which is not kept: %q, %v", said, answer, err)
		}
	}
	if !strings.Contains(said.Answer, "so what you said is not kept") {
		t.Errorf("talk: %q", said.Answer)
	}
	woven, err := c.Weave(t.Context(), "the river", 6)
	if err != nil || woven.ByWords == "" || !strings.Contains(woven.System, "slow walk by the river") {
		t.Errorf("weave: %+v, %v", woven, err)
	}
	if hits := recalled(t, c, "river walk"); len(hits) != 1 || hits[0].Lexical == 0 || hits[0].Similarity != 0 {
		t.Errorf("recall: %+v", hits)
	}
	if _, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "river", Reminded: true}); !errors.Is(err, lifecycle.ErrEmbedderAway) || strings.Contains(err.Error(), "not kept") {
		t.Errorf("reminded: %v", err)
	}
	if digestOf(t, c) != before || soulText(t, c) != doc {
		t.Error("what was refused left something")
	}
	if s, err := c.EndSession(t.Context()); err != nil || s.Open || s.Events != 2 {
		t.Fatalf("the end of the session: %+v, %v", s, err)
	}
	if soulText(t, c) == doc {
		t.Error("SOUL.md does not tell of the session")
	}
	ended := digestOf(t, c)
	for what, do := range map[string]func() error{
		"trend":   func() error { _, err := c.Trend(t.Context(), 0); return err },
		"vasanas": func() error { _, err := c.Vasanas(t.Context()); return err },
		"ghosts":  func() error { _, err := c.Ghosts(t.Context()); return err },
		"ghosts of": func() error {
			_, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "1", Baseline: 2}, nil)
			return err
		},
		"verify": func() error {
			v, err := c.Verify(t.Context(), true, nil)
			for _, k := range v.Checks {
				if !k.OK {
					err = errors.Join(err, fmt.Errorf("%s: %s", k.Name, k.Detail))
				}
			}
			return err
		},
		"backup": func() error { _, err := c.Backup(t.Context(), "", nil); return err },
		"export": func() error {
			_, err := c.Export(t.Context(), nil, func(lifecycle.ExportPart) error { return nil })
			return err
		},
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if digestOf(t, c) != ended {
		t.Error("looking changed the state")
	}
	plan := lifecycle.ForgetQuery{Match: "Toothache"}
	if got, err := c.Forget(t.Context(), plan, nil); err != nil || got.Left.Events+got.Left.Texts > 0 {
		t.Errorf("forget: %+v, %v", got, err)
	}
	w.end(t, c)
	c = w.live(t)
	if s, err := c.Status(t.Context()); err != nil || s.Entries != 1 {
		t.Errorf("after a start: %+v, %v", s, err)
	}
	r.goes("")
	w.write(t, c, "And on it goes.")
}

// An import stops where the embedder goes, says how far it came, ends its session, and
// goes on from there without anything twice: it is the companion that nobody disturbed.
func TestAnImportGoesOnWhenTheEmbedderIsBack(t *testing.T) {
	list := notes(60)
	calm, _ := roamingWorld(t)
	undisturbed := calm.live(t)
	if _, err := undisturbed.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}

	w, r := roamingWorld(t)
	w.opts.Workers = 1
	c := w.live(t)
	gone := 0
	report, err := c.Import(t.Context(), list, func(p lifecycle.Progress) {
		if p.Done == 7 {
			r.goes("refused")
			gone = p.Done
		}
	})
	if gone == 0 || !errors.Is(err, lifecycle.ErrEmbedderAway) || report.New < gone || report.New >= len(list) ||
		!strings.Contains(err.Error(), fmt.Sprintf("stopped after %d of %d entries", report.New, len(list))) {
		t.Fatalf("%+v, %v", report, err)
	}
	if s, err := c.Session(t.Context(), 0); err != nil || s.Open {
		t.Errorf("its session is left open: %+v, %v", s, err)
	}
	w.end(t, c)
	c = w.live(t) // the server is away at the start, too
	if s, err := c.Status(t.Context()); err != nil || s.Entries != report.New {
		t.Errorf("%d entries are there of %d, %v", s.Entries, report.New, err)
	}
	r.goes("")
	again, err := c.Import(t.Context(), list, nil)
	if err != nil || again.New != len(list)-report.New || again.Duplicates != report.New {
		t.Fatalf("%+v, %v", again, err)
	}
	sameHistory(t, c, undisturbed)
}

// sameHistory sees that a companion has the entries of another, in its order, and that its
// last session was measured against an identity.
func sameHistory(t *testing.T, c, other *lifecycle.Companion) {
	t.Helper()
	if a, b := digestOf(t, c), digestOf(t, other); a != b {
		t.Errorf("another state: %s, %s", a, b)
	}
	a, b := order(t, c), order(t, other)
	if !slices.Equal(a, b) {
		t.Errorf("entries are\n%q\nand not\n%q", a, b)
	}
	trend, err := c.Trend(t.Context(), 0)
	if err != nil || len(trend) == 0 || trend[len(trend)-1].WitnessGap == nil {
		t.Errorf("no gap for the last session: %v", err)
	}
}

// order are the texts in the order of the log.
func order(t *testing.T, c *lifecycle.Companion) []string {
	t.Helper()
	out, err := c.Texts()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A session that ends without the embedder hands on an identity without a vector; that
// is made up for before the next begins, and all is as if nothing had been.
func TestTheIdentityIsEmbeddedLater(t *testing.T) {
	gaps := func(disturbed bool) []float64 {
		w, r := roamingWorld(t)
		c := w.live(t)
		var out []float64
		for day := range 6 {
			w.clock.set(at("2026-03-10 08:00").AddDate(0, 0, day))
			w.write(t, c, fmt.Sprintf("Day %d by the river and the bridge.", day))
			if disturbed && day%2 == 1 {
				r.goes("refused")
			}
			if _, err := c.EndSession(t.Context()); err != nil {
				t.Fatal(err)
			}
			if day == 3 { // the vector is owed by the process before
				w.end(t, c)
				c = w.live(t)
			}
			r.goes("")
		}
		trend, err := c.Trend(t.Context(), 0)
		if err != nil || len(trend) != 6 {
			t.Fatal(len(trend), err)
		}
		for _, r := range trend {
			if r.WitnessGap == nil {
				t.Fatalf("session %d has no gap", r.Session)
			}
			out = append(out, *r.WitnessGap)
		}
		return out
	}
	if a, b := gaps(true), gaps(false); !slices.Equal(a, b) {
		t.Errorf("gaps are %v, undisturbed %v", a, b)
	}
}

// A session ends also where the embedder never answers, and SOUL.md is written.
func TestASessionEndsThoughTheEmbedderHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := roamingWorld(t)
		c := w.live(t)
		w.write(t, c, "Sat by the river.")
		doc := soulText(t, c)
		r.hangs = true
		began := time.Now()
		if s, err := c.EndSession(t.Context()); err != nil || s.Open {
			t.Errorf("%+v, %v", s, err)
		}
		if took := time.Since(began); took > time.Minute || soulText(t, c) == doc {
			t.Errorf("it took %v", took)
		}
		r.hangs = false
		w.end(t, c)
	})
}

// The diary waits for the embedder, its days in order, and nothing has to be started
// anew. What comes meanwhile stands behind what waits.
func TestTheDiaryWaitsForTheEmbedder(t *testing.T) {
	for name, start := range map[string]string{"away at the start": "refused", "goes in the middle": ""} {
		t.Run(name, func(t *testing.T) {
			w, r := roamingWorld(t)
			w.opts.Diary = t.TempDir()
			w.end(t, w.live(t)) // the server was there once
			r.away = start
			day := func(date, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(w.opts.Diary, date+".md"), []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if start == "" {
				day("2026-03-07", "Before it went.")
			}
			c := w.live(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- c.Run(ctx) }()
			if start == "" {
				eventually(t, "the first day", func() bool { return len(order(t, c)) == 1 })
				r.goes("refused")
			}
			day("2026-03-09", "The second day of it.")
			day("2026-03-08", "The first day of it.")
			day("2026-03-10", "Today.")
			waiting := func(n int) func() bool {
				return func() bool { s, err := c.Status(t.Context()); return err == nil && s.Waiting == n }
			}
			eventually(t, "three wait", waiting(3))
			day("2026-03-06", "An older one, later.")
			eventually(t, "four wait", waiting(4))
			s, err := c.Status(t.Context())
			if err != nil || len(s.Problems) > 0 {
				t.Errorf("waiting is a problem: %q, %v", s.Problems, err)
			}
			r.goes("")
			eventually(t, "all are taken in", waiting(0))
			want := []string{"An older one, later.", "The first day of it.", "The second day of it.", "Today."}
			if start == "" {
				want = append([]string{"Before it went."}, want...)
			}
			eventually(t, "all are there", func() bool { return len(order(t, c)) == len(want) })
			if got := order(t, c); !slices.Equal(got, want) {
				t.Errorf("in the order %q", got)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// eventually waits for something that happens by itself.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// An entry that the embedder had no answer for is tried again, ever less often, and
// keeps no other out.
func TestAnEntryWithoutAnAnswerIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := roamingWorld(t)
		w.opts.Diary = t.TempDir()
		w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
		c := w.live(t)
		for _, day := range []string{"1999-12-08", "1999-12-09"} {
			if err := os.WriteFile(filepath.Join(w.opts.Diary, day+".md"), []byte("Of "+day+".\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r.unread = "Of 1999-12-08."
		paths, ended := make(chan string), make(chan error, 1)
		go func() { ended <- c.TakeChanges(t.Context(), paths) }()
		paths <- "1999-12-08.md"
		paths <- "1999-12-09.md"
		time.Sleep(10 * time.Second)
		if got := order(t, c); !slices.Equal(got, []string{"Of 1999-12-09."}) {
			t.Errorf("at first: %q", got)
		}
		time.Sleep(24 * time.Hour)
		r.mu.Lock()
		calls := r.calls
		r.unread = ""
		r.mu.Unlock()
		if calls < 20 || calls > 60 {
			t.Errorf("asked %d times in a day", calls)
		}
		time.Sleep(time.Hour)
		if got := order(t, c); len(got) != 2 {
			t.Errorf("at last: %q", got)
		}
		close(paths)
		<-ended
		w.end(t, c)
	})
}
