package lifecycle_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/lifecycle/tools"
)

const searching = `
mission = "Look things up."
[[grants]]
capability = "exec"
[[tools]]
name = "search"
description = "Searches."
consequence = "low"
[tools.arguments]
type = "object"
required = ["way"]
properties.way.enum = ["zigzagwise", "straight"]
[tools.exec]
argv = ["/usr/bin/test", "{{way}}", "=", "zigzagwise"]
`

func (w *world) lived(t *testing.T) *lifecycle.Companion {
	t.Helper()
	return w.livedFrom(t, searching)
}

// livedFrom is a companion that lives by a manifest.
func (w *world) livedFrom(t *testing.T, manifest string) *lifecycle.Companion {
	t.Helper()
	w.opts.Lives = true
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return w.live(t)
}

func act(t *testing.T, c *lifecycle.Companion, way string) projection.Acted {
	t.Helper()
	out, err := c.Act(t.Context(), tools.Call{Tool: "search", Arguments: []byte(`{"way":"` + way + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A life is born with the first entry of a session, acts, ends with the session, waits for
// its judgement without a trace, and what it taught is in SOUL.md from the next session's
// end on. An excision takes that out of every byte of the data folder.
func TestALifeLeavesARule(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "I look for the way.")
	if out := act(t, c, "straight"); out.OK || len(out.Refused) > 0 {
		t.Fatalf("%+v", out)
	}
	if out := act(t, c, "sideways"); len(out.Refused) == 0 || out.Refused[0] != tools.OutsideSchema {
		t.Fatalf("%+v", out)
	}
	if out := act(t, c, "zigzagwise"); !out.OK {
		t.Fatalf("%+v", out)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		l, err := c.Rate(t.Context(), 0, 1)
		return err == nil && l.Obligation.Status == lives.Met
	})
	k, err := c.Lineage(t.Context())
	if err != nil || k.Distillates != 1 || k.Rules == 0 {
		t.Fatalf("%+v %v", k, err)
	}
	w.write(t, c, "Another day of looking.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if trend, err := c.Trend(t.Context(), 1); err != nil || len(trend) != 1 || trend[0].Kappa == 0 {
		t.Fatalf("%+v, %v", trend, err)
	}
	doc := soulOf(t, w)
	if !strings.Contains(doc, "tool search, argument way: prefer zigzagwise") || !strings.Contains(doc, "lineage_version: "+k.Head.String()) || !strings.Contains(doc, k.Identity.String()) {
		t.Errorf("SOUL.md says\n%s", doc)
	}
	rec, err := c.Excise(t.Context(), []string{"1"}, false, "a test")
	if err != nil || len(rec.Digests) != 1 {
		t.Fatalf("%+v %v", rec, err)
	}
	if doc := soulOf(t, w); strings.Contains(doc, "zigzagwise") || !strings.Contains(doc, rec.After.String()) {
		t.Errorf("SOUL.md says\n%s", doc)
	}
	_ = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == lifecycle.ManifestFile {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte("zigzagwise")) {
			t.Errorf("%s still has it (%v)", path, err)
		}
		return nil
	})
	if _, err := c.Excise(t.Context(), []string{"77"}, false, "a test"); !errors.Is(err, projection.ErrNoLife) {
		t.Error(err)
	}
}

// A process that is killed in the middle of a life leaves it to the next start, which
// withdraws and distils it before anything else; the session goes on in another life.
func TestALifeThatBrokeOff(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "Here it breaks off.")
	act(t, c, "zigzagwise")
	killed := newWorld(t)
	killed.opts.Lives = true
	if err := os.CopyFS(killed.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	d := killed.live(t)
	all, err := d.Lives(t.Context(), 10)
	if err != nil || len(all) != 1 || all[0].State != lives.Withdrawn || all[0].Reason != lives.ByCrash || all[0].Obligation.Status != lives.Drafted {
		t.Fatalf("%+v %v", all, err)
	}
	if left, _ := os.ReadDir(filepath.Join(killed.dir, "life")); len(left) > 0 {
		t.Errorf("its trace is there: %v", left)
	}
	killed.write(t, d, "And here it goes on.")
	if all, err = d.Lives(t.Context(), 10); err != nil || len(all) != 2 || all[0].State != lives.Active {
		t.Fatalf("%+v %v", all, err)
	}
}

// What is missing at birth is told, and keeps no entry from being remembered (J-1).
func TestEntriesAreKeptWithoutALife(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(strings.ReplaceAll(searching, "/usr/bin/test", "/nowhere/test")), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.write(t, c, "Kept all the same."); !r.Created {
		t.Errorf("%+v", r)
	}
	if _, err := c.Act(t.Context(), tools.Call{Tool: "search"}); !errors.Is(err, projection.ErrNotLiving) {
		t.Error(err)
	}
	s, err := c.Status(t.Context())
	if err != nil || !strings.Contains(strings.Join(s.Problems, " "), "there is no such program") {
		t.Errorf("%q %v", s.Problems, err)
	}
	if k, _ := c.Lineage(t.Context()); len(k.Missing) != 1 {
		t.Errorf("%+v", k)
	}
}

// A forgetting cuts the trace of the life that is lived, and drops what waits of lives
// whose session lost an entry.
func TestForgettingReachesTheTrace(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "The quarrel with Ottokar about the fence.")
	act(t, c, "zigzagwise")
	if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "Ottokar"}, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(w.dir, "life", "0000000001.trace"))
	if err != nil || len(data) > 0 {
		t.Errorf("the trace has %d bytes (%v)", len(data), err)
	}
	w.write(t, c, "The walk with Kunigunde.")
	if all, err := c.Lives(t.Context(), 10); err != nil || all[0].Session != 1 {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "Kunigunde"}, nil); err != nil {
		t.Fatal(err)
	}
	all, err := c.Lives(t.Context(), 10)
	if err != nil || len(all) != 1 || all[0].State != lives.Dissolved || all[0].Obligation.Status != lives.Declined {
		t.Errorf("%+v %v", all, err)
	}
}

// SOUL.md of a session that ended before the first life names what was known then, also
// once the identity is there.
func TestSoulOfBeforeTheFirstLife(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "Before any life.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := soulOf(t, w)
	w.end(t, c)
	c = w.lived(t)
	c.Offers(t.Context())
	if k, err := c.Lineage(t.Context()); err != nil || k.Lives == 0 {
		t.Fatalf("%+v %v", k, err)
	}
	if r, err := c.Verify(t.Context(), false, nil); err != nil || !r.OK || soulOf(t, w) != before {
		t.Errorf("%+v %v", r, err)
	}
}

// A life costs an entry nothing: but for the first of a session it is one transaction and
// two syncs, as without.
func TestALifeCostsAnEntryNothing(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "The first has a life be born.")
	before := c.Meters()
	for i := range 10 {
		w.write(t, c, "And entry "+strings.Repeat("x", i+1)+" after it.")
	}
	after := c.Meters()
	if n := after.Transactions - before.Transactions; n != 10 {
		t.Errorf("%d transactions for 10 entries", n)
	}
	if n := after.Syncs - before.Syncs; n > 20 {
		t.Errorf("%d syncs for 10 entries", n)
	}
	if all, err := c.Lives(t.Context(), 1); err != nil || all[0].Spent.Events != 11 {
		t.Errorf("%+v %v", all, err)
	}
}

// A manifest that names a time of day has the life end then, in the midst of a day.
func TestALifeEndsAtItsTimeOfDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.lived(t)
		text := strings.Replace(searching, "[[grants]]", "[life]\nroll = \"09:30\"\n[[grants]]", 1)
		if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Run(t.Context()) }()
		w.write(t, c, "At eight.")
		w.clock.set(at("2026-03-10 09:29"))
		time.Sleep(2 * time.Minute)
		if all, err := c.Lives(t.Context(), 10); err != nil || len(all) != 1 || all[0].State != lives.Active {
			t.Errorf("%+v %v", all, err)
		}
		w.clock.set(at("2026-03-10 09:31"))
		time.Sleep(2 * time.Minute)
		if all, err := c.Lives(t.Context(), 10); err != nil || all[0].State == lives.Active || all[0].Reason != lives.ByDay {
			t.Errorf("%+v %v", all, err)
		}
	})
}

// The bound of entries ends a life with the entry that reaches it.
func TestTheLastEntryEndsALife(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	text := strings.Replace(searching, "[[grants]]", "[life]\nmax_events = 2\n[[grants]]", 1)
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "One.")
	w.write(t, c, "Two.")
	if all, err := c.Lives(t.Context(), 10); err != nil || len(all) != 1 || all[0].Reason != lives.ByEvents {
		t.Errorf("%+v %v", all, err)
	}
	if s, err := c.Session(t.Context(), 0); err != nil || s.Open {
		t.Errorf("%+v %v", s, err)
	}
}

// The clock of the wall is set ten years forward, or back, in the middle of a life: only
// the time that it really ran ends it, and no day begins by that, neither that of its
// session nor that of its manifest (J-3).
func TestLifetimeIgnoresTheWallClock(t *testing.T) {
	for _, years := range []int{10, -10} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c := w.lived(t)
			rewrite(t, w, "[life]\nttl = \"40m\"\nroll = \"09:30\"\n")
			run(t, c)
			still := func(running time.Duration) {
				t.Helper()
				all, err := c.Lives(t.Context(), 10)
				if err != nil || len(all) != 1 || all[0].State != lives.Active || all[0].Spent.Running < running {
					t.Errorf("%+v %v", all, err)
				}
				if s, err := c.Session(t.Context(), 0); err != nil || s.Number != 1 || !s.Open {
					t.Errorf("%+v %v", s, err)
				}
			}
			w.write(t, c, "Ten years are nothing.")
			time.Sleep(10 * time.Minute)
			w.clock.jump(at("2026-03-10 08:10").AddDate(years, 0, 3))
			w.write(t, c, "Still.")
			still(10 * time.Minute)
			time.Sleep(10 * time.Minute)
			w.clock.jump(at("2026-03-11 23:20"))
			time.Sleep(10 * time.Minute)
			w.write(t, c, "And still.")
			still(30 * time.Minute)
			time.Sleep(12 * time.Minute)
			if all, err := c.Lives(t.Context(), 10); err != nil || all[0].State == lives.Active || all[0].Reason != lives.ByTTL {
				t.Errorf("%+v %v", all, err)
			}
		})
	}
}

// A day that really begins ends the session and its life, also after the clock was set.
func TestADayThatBeginsEndsALife(t *testing.T) {
	for _, set := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c := w.lived(t)
			run(t, c)
			w.write(t, c, "At eight.")
			if set {
				w.clock.jump(at("2031-07-05 20:00"))
				w.write(t, c, "In another year.")
			}
			now, _ := w.clock.read()
			w.clock.set(now.Truncate(24 * time.Hour).Add(24*time.Hour + time.Minute))
			time.Sleep(2 * time.Minute)
			if all, err := c.Lives(t.Context(), 10); err != nil || len(all) != 1 || all[0].State == lives.Active || all[0].Reason != lives.ByDay {
				t.Errorf("%+v %v", all, err)
			}
			if s, err := c.Session(t.Context(), 0); err != nil || s.Open || s.Reason != "roll" {
				t.Errorf("%+v %v", s, err)
			}
		})
	}
}

// A life in which nothing was kept has no session: the person ends it all the same, and so
// do quiet, a new day, its own time of day and a stop.
func TestALifeWithoutASessionEnds(t *testing.T) {
	for want, end := range map[string]func(*testing.T, *world, *lifecycle.Companion){
		lives.ByPerson: func(t *testing.T, _ *world, c *lifecycle.Companion) {
			s, err := c.EndSession(t.Context())
			if err != nil || s.Number != 0 || s.Open || !slices.Equal(s.Lives, []int64{1}) {
				t.Errorf("%+v %v", s, err)
			}
			if s, err := c.EndSession(t.Context()); !errors.Is(err, lifecycle.ErrNoSession) {
				t.Errorf("once more: %+v %v", s, err)
			}
		},
		lives.ByIdle: func(*testing.T, *world, *lifecycle.Companion) { time.Sleep(32 * time.Minute) },
		lives.ByDay: func(_ *testing.T, w *world, _ *lifecycle.Companion) {
			w.clock.set(at("2026-03-11 00:01"))
			time.Sleep(2 * time.Minute)
		},
		lives.ByStop: func(t *testing.T, w *world, c *lifecycle.Companion) { w.end(t, c) },
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c := w.lived(t)
				stop := run(t, c)
				c.Offers(t.Context())
				if want == lives.ByStop {
					stop()
				}
				end(t, w, c)
				if want == lives.ByStop {
					c = w.live(t)
				}
				all, err := c.Lives(t.Context(), 10)
				if err != nil || len(all) != 1 || all[0].Reason != want || all[0].Obligation.Status == lives.None {
					t.Errorf("%+v %v", all, err)
				}
			})
		})
	}
}

// The person's end reaches a life that was born beside a session of before.
func TestTheEndReachesALifeBesideASession(t *testing.T) {
	w := newWorld(t)
	w.opts.KeepOpen = true
	c := w.live(t)
	w.write(t, c, "Before any life.")
	w.end(t, c)
	w.opts.KeepOpen = false
	c = w.lived(t)
	c.Offers(t.Context())
	s, err := c.EndSession(t.Context())
	if err != nil || s.Number != 1 || s.Open || !slices.Equal(s.Lives, []int64{1}) {
		t.Errorf("%+v %v", s, err)
	}
	if all, err := c.Lives(t.Context(), 10); err != nil || len(all) != 1 || all[0].Reason != lives.ByPerson {
		t.Errorf("%+v %v", all, err)
	}
}

// rewrite puts a table into the manifest.
func rewrite(t *testing.T, w *world, table string) {
	t.Helper()
	text := strings.Replace(searching, "[[grants]]", table+"[[grants]]", 1)
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func soulOf(t *testing.T, w *world) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "SOUL.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	eventually(t, "it comes", done)
}
