package lifecycle_test

import (
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

var digestA, digestB = strings.Repeat("ab", 32), strings.Repeat("cd", 32)

// asked is a talk with what the model was told of and did.
func asked(t *testing.T, c *lifecycle.Companion, said string) lifecycle.TalkReport {
	t.Helper()
	r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func livesOf(t *testing.T, c *lifecycle.Companion) []lifecycle.Life {
	t.Helper()
	all, err := c.Lives(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A life ends where another model is under the name of the one that it was born with, and
// the next is born with that (J-1): what the other one asks for is no act of the first.
func TestAnotherModelIsAnotherLife(t *testing.T) {
	w := newWorld(t)
	m := &scripted{wise: wise{digest: digestA}}
	w.opts.Model = m
	c := w.lived(t)
	if r := asked(t, c, "Where is it?"); len(r.Acts) != 3 || !r.Acts[2].OK {
		t.Fatalf("%+v", r)
	}
	m.is("", digestB)
	if r := asked(t, c, "And the other one?"); len(r.Acts) == 0 {
		t.Fatalf("%+v", r)
	}
	all := livesOf(t, c)
	if len(all) != 2 || all[0].Mind != "wise:1@"+digestB || all[0].Spent.Events != 1 || all[0].Session != 2 {
		t.Fatalf("%+v", all)
	}
	if l := all[1]; l.Mind != "wise:1@"+digestA || l.Reason != lives.ByMind || l.Spent.Acts != 2 || l.Spent.Events != 1 || l.State.Living() {
		t.Fatalf("%+v", l)
	}
	// An entry is of the life of the model that is there, too.
	m.is("", digestA)
	w.write(t, c, "A third one.")
	if all := livesOf(t, c); len(all) != 3 || all[0].Mind != "wise:1@"+digestA || all[1].Reason != lives.ByMind || all[1].Spent.Events != 1 {
		t.Errorf("%+v", all)
	}
}

// A daemon ends such a life as soon as it hears of it.
func TestAnotherModelEndsALifeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opts.Lives = true
		m := &wise{digest: digestA}
		_, c := thoughtfulAgain(t, w, m)
		w.write(t, c, "Here it begins.")
		m.is("connection refused", digestA)
		synctest.Wait()
		m.is("", digestA)
		synctest.Wait()
		if all := livesOf(t, c); len(all) != 1 || !all[0].State.Living() {
			t.Fatalf("it was away for a while: %+v", all)
		}
		m.is("", digestB)
		synctest.Wait()
		if all := livesOf(t, c); len(all) != 1 || all[0].Reason != lives.ByMind {
			t.Errorf("%+v", all)
		}
	})
}

// Between what a model is told of and what it asks for another one may take its place, and
// a model that a client names is not the one that thinks in the life: neither acts in it.
func TestWhoActsInALife(t *testing.T) {
	w := newWorld(t)
	m := &wise{digest: digestA}
	w.opts.Model = m
	c := w.lived(t)
	if o := c.OffersTo(t.Context(), "wise:1"); len(o) != 1 {
		t.Fatalf("%+v", o)
	}
	call := lifecycle.ChatCall{Tool: "search", Arguments: []byte(`{"way":"zigzagwise"}`)}
	if _, act := c.ActFor(t.Context(), "wise:1", call); !act.OK {
		t.Fatalf("%+v", act)
	}
	refused := func(model string) {
		t.Helper()
		text, act := c.ActFor(t.Context(), model, call)
		if act.OK || !slices.Equal(act.Refused, []tools.Code{projection.OtherMind}) || !strings.HasPrefix(text, "Refused") {
			t.Errorf("%s: %+v", text, act)
		}
	}
	if o := c.OffersTo(t.Context(), "llama:8b"); len(o) != 0 {
		t.Errorf("a model that does not think in it is told of %+v", o)
	}
	refused("llama:8b")
	m.is("", digestB)
	refused("wise:1")
	m.is("connection refused", digestA)
	if o := c.OffersTo(t.Context(), "wise:1"); len(o) != 0 {
		t.Errorf("one that may be another by now is told of %+v", o)
	}
	refused("wise:1")
	m.is("", digestA)
	if _, act := c.ActFor(t.Context(), "wise:1", call); !act.OK {
		t.Errorf("%+v", act)
	}
	if all := livesOf(t, c); len(all) != 1 || all[0].Spent.Acts != 2 || all[0].Spent.Refused != 3 {
		t.Errorf("%+v", all)
	}
}

// closed is a model that is not asked to judge now, and talks all the same.
type closed struct{ scripted }

func (m *closed) State() lifecycle.ModelState {
	s := m.scripted.State()
	s.Met = true
	return s
}

// In a life of the built-in model no tool is offered to the server's, and it ends before
// that answers where the next one is born with it.
func TestALifeOfTheBuiltinModel(t *testing.T) {
	w := newWorld(t)
	m := &closed{scripted{wise: wise{digest: digestA}}}
	w.opts.Model = m
	w.firstLife(t)
	m.is("5 answers in a row could not be used", digestA)
	c := w.lived(t)
	if r := asked(t, c, "Where is it?"); r.Answer != "It is there." || len(r.Acts) != 0 || len(m.told) != 0 {
		t.Fatalf("%+v, told of %+v", r, m.told)
	}
	w.write(t, c, "I go on writing.")
	m.is("", digestA)
	w.write(t, c, "And on.")
	if all := livesOf(t, c); len(all) != 2 || all[0].Mind != projection.Builtin || all[0].Spent.Events != 3 {
		t.Fatalf("%+v", all)
	}
	if r := asked(t, c, "And the other one?"); len(r.Acts) == 0 || len(m.told) != 1 {
		t.Errorf("%+v, told of %+v", r, m.told)
	}
	if all := livesOf(t, c); len(all) != 3 || all[0].Mind != "wise:1@"+digestA || all[1].Mind != projection.Builtin || all[1].Reason != lives.ByMind || all[1].Spent.Events != 3 {
		t.Errorf("%+v", all)
	}
}

// Where the manifest names another model than the one that is there, each life but the first
// is of the built-in one: none ends for that, and no tool is offered.
func TestAModelThatIsNotDeclared(t *testing.T) {
	w := newWorld(t)
	m := &scripted{wise: wise{digest: digestA}}
	w.opts.Model = m
	w.firstLife(t)
	c := w.livedFrom(t, searching+"\n[substrate]\ndigest = \""+digestB+"\"\n")
	for range 2 {
		if r := asked(t, c, "Where is it?"); len(r.Acts) != 0 || len(m.told) != 0 {
			t.Fatalf("%+v, told of %+v", r, m.told)
		}
	}
	if all := livesOf(t, c); len(all) != 2 || all[0].Mind != projection.Builtin {
		t.Errorf("%+v", all)
	}
}

// firstLife has the first life be lived, and end, with the model that is there: the identity
// is made of that.
func (w *world) firstLife(t *testing.T) {
	t.Helper()
	c := w.lived(t)
	c.Offers(t.Context())
	if all := livesOf(t, c); len(all) != 1 || all[0].Mind != "wise:1@"+digestA {
		t.Fatalf("%+v", all)
	}
	w.end(t, c)
}

// A life that was born by a bare name, since its server told no digest, is of the same model
// once it tells one, and of another where it is another one after that.
func TestADigestThatIsToldLate(t *testing.T) {
	w := newWorld(t)
	m := &closed{}
	w.opts.Model = m
	c := w.lived(t)
	if r := asked(t, c, "Where is it?"); len(r.Acts) != 3 {
		t.Fatalf("%+v", r)
	}
	m.is("", digestA)
	if r := asked(t, c, "And the other one?"); len(r.Acts) == 0 {
		t.Fatalf("%+v", r)
	}
	if all := livesOf(t, c); len(all) != 1 || all[0].Mind != "wise:1@"+digestA {
		t.Fatalf("%+v", all)
	}
	m.is("", "")
	asked(t, c, "And a third one?")
	if all := livesOf(t, c); len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	m.is("", digestB)
	asked(t, c, "And the last one?")
	if all := livesOf(t, c); len(all) != 2 || all[0].Mind != "wise:1@"+digestB {
		t.Errorf("%+v", all)
	}
}

// Which model is under the name is looked at before it is told of tools, once in a while.
func TestAModelIsSeenBeforeItActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m := &late{takes: time.Millisecond, digest: digestA}
		w.opts.Model = m
		c := w.lived(t)
		for range 3 {
			if o := c.OffersTo(t.Context(), "wise:1"); len(o) != 1 || m.looks != 1 {
				t.Fatalf("%+v after %d looks", o, m.looks)
			}
		}
		m.mu.Lock()
		m.digest = digestB
		m.mu.Unlock()
		time.Sleep(6 * time.Second)
		if o := c.OffersTo(t.Context(), "wise:1"); len(o) != 1 {
			t.Errorf("%+v", o)
		}
		if all := livesOf(t, c); len(all) != 2 || all[0].Mind != "wise:1@"+digestB || all[1].Reason != lives.ByMind {
			t.Errorf("%+v", all)
		}
	})
}
