package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/export"
	"github.com/jivad/jivad/soul"
)

// namer is a model that names tendencies, and judges nothing.
type namer struct {
	wise
	lock  sync.Mutex
	says  func(ctx context.Context, words, excerpts []string) (string, error)
	tells func(summary string) (string, error)
	asked int
	sent  []string
}

func (n *namer) Name(ctx context.Context, words, excerpts []string) (string, error) {
	n.lock.Lock()
	n.asked++
	n.sent = append(append(n.sent, words...), excerpts...)
	says := n.says
	n.lock.Unlock()
	return says(ctx, words, excerpts)
}

func (n *namer) Narrate(_ context.Context, summary string) (string, error) {
	if n.tells == nil {
		return "", lifecycle.ErrModelAway
	}
	return n.tells(summary)
}

func (n *namer) count() int {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.asked
}

func (n *namer) wasSent(text string) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	return strings.Contains(strings.ToLower(strings.Join(n.sent, "\n")), text)
}

// about names a tendency by the first word that it is sent.
func about(_ context.Context, words, _ []string) (string, error) { return "all about " + words[0], nil }

func newNamer(says func(context.Context, []string, []string) (string, error)) *namer {
	n := &namer{says: says}
	n.digest = "abc"
	n.behaves(func(context.Context, lifecycle.Experience) (lifecycle.Assessment, error) {
		return lifecycle.Assessment{}, lifecycle.ErrModelAway
	})
	return n
}

// named is a world with a model that names; run has a daemon run in it until stop.
func named(t *testing.T, m *namer) *world {
	w := newWorld(t)
	w.opts.Model, w.opts.Deadline, w.opts.Rest = m, 10*time.Second, time.Second
	w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
	return w
}

func run(t *testing.T, c *lifecycle.Companion) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

// later is after the model had time.
func later() { time.Sleep(20 * time.Minute); synctest.Wait() }

func tendenciesOf(t testing.TB, c *lifecycle.Companion) []lifecycle.Tendency {
	t.Helper()
	v, err := c.Vasanas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// calledBy counts the tendencies that a model named.
func calledBy(t testing.TB, c *lifecycle.Companion) (n int) {
	t.Helper()
	for _, v := range tendenciesOf(t, c) {
		if v.NamedBy != "" {
			n++
		}
	}
	return n
}

// asWritten sees that SOUL.md comes out the same from the store, and is the file.
func asWritten(t testing.TB, c *lifecycle.Companion) {
	t.Helper()
	v, err := c.Verify(context.Background(), true, nil)
	if err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
	for _, k := range v.Checks {
		if k.Name == "soul" && !strings.HasSuffix(k.Detail, "the same when written again") {
			t.Errorf("%+v", k)
		}
	}
}

// The end of a session does not wait for names. Then they are shown wherever a
// tendency is, and the same store gives the same bytes, whatever becomes of it.
func TestTheModelNamesTendencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(func(ctx context.Context, words, excerpts []string) (string, error) {
			time.Sleep(5 * time.Second)
			return about(ctx, words, excerpts)
		})
		w := named(t, m)
		c := imported(t, w, days(40))
		run(t, c)
		plainly := soulText(t, c)
		before := tendenciesOf(t, c)
		later()
		list := tendenciesOf(t, c)
		if len(list) < 4 || calledBy(t, c) != len(list) || m.count() != len(list) {
			t.Fatalf("asked %d times: %+v", m.count(), list)
		}
		doc := soulText(t, c)
		h, err := soul.ParseHeader([]byte(doc))
		if err != nil || h.Named != len(list) || h.NamedBy != "wise:1@abc" {
			t.Errorf("%+v, %v", h, err)
		}
		for i, v := range list {
			if v.ID != before[i].ID || !strings.HasPrefix(v.Name, "all about ") || !strings.Contains(doc, "- **"+v.Name+"**") || strings.Contains(plainly, v.Name) {
				t.Errorf("%+v, was %s, in\n%s", v, before[i].Name, doc)
			}
			if hit, err := c.Show(t.Context(), v.Members[0]); err != nil || hit.Tendency != v.Name {
				t.Errorf("%q, %v", hit.Tendency, err)
			}
			if x, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: v.Name, Baseline: 1}, nil); err != nil || x.ID != v.ID || x.Name != v.Name {
				t.Errorf("%+v, %v", x, err)
			}
		}
		asWritten(t, c)
		gap := trendOf(t, c)

		// A session in which little happens keeps them, and no figure depends on them.
		w.write(t, c, "Another slow walk by the river.")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		later()
		if calledBy(t, c) != len(tendenciesOf(t, c)) || m.count() != len(list) {
			t.Errorf("asked %d times: %+v", m.count(), tendenciesOf(t, c))
		}
		plain := newWorld(t)
		plain.opts.Now = w.opts.Now
		other := imported(t, plain, days(40))
		if trendOf(t, other) != gap {
			t.Errorf("the trend is\n%s\nwithout a model\n%s", gap, trendOf(t, other))
		}
		asWritten(t, c)
	})
}

func trendOf(t testing.TB, c *lifecycle.Companion) (out string) {
	t.Helper()
	list, err := c.Trend(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		out += fmt.Sprintf("%d %v %v %v\n", r.Session, *r.WitnessGap, r.GStore, r.Ghosts)
	}
	return out
}

// Names outlive a restart, a backup that is put back, an export, and a change of embedder.
func TestNamesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(about)
		w := named(t, m)
		c := imported(t, w, days(40))
		stop := run(t, c)
		later()
		stop()
		want, asked := soulText(t, c), m.count()
		if !strings.Contains(want, "all about") {
			t.Fatal(want)
		}
		saved, err := c.Backup(t.Context(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		folder, _ := exported(t, c)
		w.end(t, c)
		same := func(what string) {
			t.Helper()
			c = w.live(t)
			stop := run(t, c)
			later()
			if soulText(t, c) != want || m.count() != asked {
				t.Errorf("%s: asked %d times, SOUL.md is\n%s", what, m.count()-asked, soulText(t, c))
			}
			asWritten(t, c)
			stop()
			w.end(t, c)
		}
		same("a restart")

		if _, err := lifecycle.Restore(t.Context(), lifecycle.RestoreOptions{Dir: w.dir, File: saved.Path}, nil); err != nil {
			t.Fatal(err)
		}
		same("a backup")

		x, err := export.Open(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close() //nolint:errcheck // opened for reading
		first := w
		w = named(t, m)
		w.end(t, w.live(t))
		if _, err := lifecycle.Rebuild(t.Context(), w.opts, x, nil); err != nil {
			t.Fatal(err)
		}
		same("an export")

		w = first
		w.opts.Embedder = called{hashed{64}, "other/1"}
		if _, err := lifecycle.Reembed(t.Context(), w.opts, lifecycle.ReembedOptions{}); err != nil {
			t.Fatal(err)
		}
		c = w.live(t)
		if n := calledBy(t, c); n < 4 {
			t.Errorf("%d names after a change of embedder", n)
		}
	})
}

// An answer that cannot be used is asked for again a few times, then the built-in name
// stays, until another model is there. A restart begins nothing anew.
func TestNamesThatAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the plain run has it")
	}
	synctest.Test(t, func(t *testing.T) {
		answers := []string{"", "Dear Esmeralda", "77 herons", "a **bold** one", strings.Repeat("still ", 9), "one\nand two", "same for all"}
		for i, name := range answers {
			m := newNamer(func(context.Context, []string, []string) (string, error) { return name, nil })
			w := named(t, m)
			c := imported(t, w, days(40))
			stop := run(t, c)
			before := tendenciesOf(t, c)
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			want, names := 3*len(before), 0
			if i == len(answers)-1 { // no two tendencies are called alike
				want, names = 3*len(before)-2, 1
			}
			if m.count() != want || calledBy(t, c) != names {
				t.Errorf("%.20q: asked %d times, want %d: %+v", name, m.count(), want, tendenciesOf(t, c))
			}
			asWritten(t, c)
			stop()
			w.end(t, c)
			c = w.live(t)
			stop = run(t, c)
			later()
			if m.count() != want {
				t.Errorf("%.20q: asked again after a restart", name)
			}
			m.lock.Lock()
			m.says = about
			m.lock.Unlock()
			m.is("", "def")
			later()
			if calledBy(t, c) != len(before) {
				t.Errorf("%.20q: another model named %d", name, calledBy(t, c))
			}
			stop() // else its clock goes on beside that of the next
			w.end(t, c)
		}
	})
}

// A model that comes later names what it finds, one that goes away is not asked.
func TestNamesOfAModelThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(about)
		m.away = "connection refused"
		w := named(t, m)
		c := imported(t, w, days(40))
		run(t, c)
		later()
		if m.count() != 0 {
			t.Errorf("asked %d times while it was away", m.count())
		}
		m.is("", "abc")
		later()
		if n := calledBy(t, c); n != len(tendenciesOf(t, c)) {
			t.Errorf("%d names", n)
		}
		asWritten(t, c)
	})
}

// A question that is never answered is in nobody's way, and a stop ends it. What was
// not answered is asked at the next start.
func TestNamingIsInNobodysWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(func(ctx context.Context, _, _ []string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		w := named(t, m)
		w.opts.Deadline = time.Hour
		c := imported(t, w, days(40))
		stop := run(t, c)
		synctest.Wait()
		if m.count() != 1 {
			t.Fatalf("asked %d times", m.count())
		}
		m.behaves(nil) // what is written is judged
		began := time.Now()
		w.write(t, c, "A slow walk by the river.")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		w.end(t, c)
		if took := time.Since(began); took != 0 {
			t.Errorf("held up for %v", took)
		}
		m.lock.Lock()
		m.says, m.asked = about, 0
		m.lock.Unlock()
		c = w.live(t)
		run(t, c)
		later()
		if n := calledBy(t, c); n != len(tendenciesOf(t, c)) || m.count() != n {
			t.Errorf("%d names, asked %d times", n, m.count())
		}
	})
}

// A process that dies between the names and SOUL.md leaves the file to the next start,
// which takes it for nobody's edit.
func TestNamedAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(about)
		w := named(t, m)
		c := imported(t, w, days(40))
		plainly := soulText(t, c)
		stop := run(t, c)
		later()
		stop()
		want := soulText(t, c)
		w.end(t, c)
		if err := os.WriteFile(filepath.Join(w.dir, "SOUL.md"), []byte(plainly), 0o600); err != nil {
			t.Fatal(err)
		}
		c = w.live(t)
		if s, err := c.Status(t.Context()); err != nil || soulText(t, c) != want || len(s.Problems) > 0 {
			t.Errorf("%v, %v, SOUL.md is\n%s", s.Problems, err, soulText(t, c))
		}
	})
}

// The words of a session stay beside names that come later, where they say nothing
// that SOUL.md does not say with these; else they are said anew.
func TestNamesBesideTheNarrative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(func(context.Context, []string, []string) (string, error) { return "", errors.New("not now") })
		told := 0
		m.tells = func(string) (string, error) { told++; return "I am mostly still.", nil }
		w := named(t, m)
		c := imported(t, w, days(40))
		run(t, c)
		later()
		if !strings.Contains(soulText(t, c), "mostly still") || told != 1 {
			t.Fatalf("told %d times\n%s", told, soulText(t, c))
		}
		m.lock.Lock()
		m.says = about
		m.lock.Unlock()
		m.is("", "def")
		later()
		if doc := soulText(t, c); !strings.Contains(doc, "mostly still") || !strings.Contains(doc, "all about") || told != 1 {
			t.Errorf("told %d times\n%s", told, doc)
		}
		asWritten(t, c)
	})
}

// A model that judges again makes another state. The names that come then come with
// words that speak of it.
func TestNamesBesideANarrativeOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(func(context.Context, []string, []string) (string, error) { return "", errors.New("not now") })
		m.behaves(nil)
		told := 0
		m.tells = func(string) (string, error) { told++; return "I am mostly still.", nil }
		w := named(t, m)
		c := imported(t, w, days(40))
		run(t, c)
		later()
		if s := modelOf(t, c); s.Reassessed != 40 || told != 1 {
			t.Fatalf("told %d times, %+v", told, s)
		}
		m.lock.Lock()
		m.says = about
		m.lock.Unlock()
		m.is("", "def")
		later()
		if doc := soulText(t, c); !strings.Contains(doc, "mostly still") || !strings.Contains(doc, "all about") || told != 2 {
			t.Errorf("told %d times\n%s", told, doc)
		}
		asWritten(t, c)
	})
}
