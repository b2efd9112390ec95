package lifecycle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

// teller is a model that narrates.
type teller struct {
	wise
	says  func(summary string) string
	asked int
	told  string
}

func (t *teller) Narrate(_ context.Context, summary string) (string, error) {
	t.asked++
	t.told = summary
	return t.says(summary), nil
}

func teach(t *testing.T, m *teller) (*world, *lifecycle.Companion) {
	t.Helper()
	w := newWorld(t)
	w.opts.Model = m
	w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
	c := w.live(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return w, c
}

// The end of a session does not wait for the model. Then SOUL.md is written once more,
// in its words, where they say nothing that the summary does not; the same store gives
// the same bytes, and what is forgotten takes the words with it.
func TestTheModelNarrates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &teller{says: func(string) string {
			time.Sleep(5 * time.Second)
			return "I am new to myself, and mostly still."
		}}
		m.digest = "abc"
		w, c := teach(t, m)
		w.write(t, c, "A slow walk by the river.")
		w.write(t, c, "Zanzibarine, and a call with mother.")
		began := time.Now()
		if _, err := c.EndSession(t.Context()); err != nil || time.Since(began) != 0 {
			t.Fatalf("the end took %v: %v", time.Since(began), err)
		}
		if strings.Contains(soulText(t, c), "new to myself") {
			t.Error("narrated before the model said anything")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		doc := soulText(t, c)
		h, err := soul.ParseHeader([]byte(doc))
		if err != nil || h.Voice != "wise:1@abc" || !strings.Contains(doc, "I am new to myself, and mostly still.") || !strings.Contains(doc, "In numbers: ") {
			t.Errorf("%+v, %v\n%s", h, err, doc)
		}
		if strings.Contains(m.told, "---\nschema") || m.asked != 1 {
			t.Errorf("asked %d times, with\n%s", m.asked, m.told)
		}
		v, err := c.Verify(t.Context(), true, nil)
		if err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
		for _, k := range v.Checks {
			if k.Name == "soul" && !strings.Contains(k.Detail, "the same when written again") {
				t.Errorf("%+v", k)
			}
		}
		m.says = func(string) string { return "I count 77 herons." }
		if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(soulText(t, c), "new to myself") {
			t.Error("the words are there still")
		}
	})
}

// Words that go beyond the summary are never shown; after some tries the built-in ones
// stay. A session that begins meanwhile is not disturbed.
func TestAModelThatMakesThingsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{"I count 77 herons.", "I miss dear Esmeralda.", "", strings.Repeat("still ", 400)} {
			var last time.Time
			m := &teller{says: func(string) string {
				if time.Since(last) < 2*time.Minute-time.Second { // the pause is kept in whole seconds
					t.Errorf("asked again after %v", time.Since(last))
				}
				last = time.Now()
				return text
			}}
			m.digest = "abc"
			w, c := teach(t, m)
			w.write(t, c, "A slow walk by the river.")
			if _, err := c.EndSession(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := soulText(t, c)
			time.Sleep(time.Hour)
			synctest.Wait()
			if soulText(t, c) != before || m.asked != 3 {
				t.Errorf("%.20q: asked %d times, SOUL.md is\n%s", text, m.asked, soulText(t, c))
			}
		}
	})
}

// A process that dies between the words and SOUL.md leaves the file to the next start.
func TestNarratedAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &teller{says: func(string) string { return "I am new to myself." }}
		m.digest = "abc"
		w := newWorld(t)
		w.opts.Model = m
		c := w.live(t)
		w.write(t, c, "A slow walk by the river.")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		plainly := soulText(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		cancel()
		<-done
		told := soulText(t, c)
		if told == plainly {
			t.Fatal("not narrated")
		}
		w.end(t, c)
		if err := os.WriteFile(filepath.Join(w.dir, "SOUL.md"), []byte(plainly), 0o600); err != nil {
			t.Fatal(err)
		}
		c = w.live(t)
		if soulText(t, c) != told {
			t.Errorf("SOUL.md is\n%s", soulText(t, c))
		}
	})
}
