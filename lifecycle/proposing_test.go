package lifecycle_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

// proposing is a model that takes the same two statements from everything.
func proposing(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
	a := verdict(e)
	a.Claims = []lifecycle.Proposed{{Subject: "pump 3", Text: "Pump 3 leaks."}, {Subject: "moon", Text: "The moon is of cheese."}, {Subject: "pump 3", Text: "Pump 3 leaks below."}}
	return a, nil
}

// What a model takes from an entry, in its words, is a report of that entry: once, and
// whatever it is judged to be later. Nothing is taken from what may not be kept, from what
// is long past, and from what the companion said.
func TestAModelProposesClaims(t *testing.T) {
	w := newWorld(t)
	m := &wise{digest: "abc", answer: proposing}
	w.opts.Model = m
	c := w.live(t)
	of := func(n lifecycle.Note) lifecycle.Receipt {
		t.Helper()
		r, err := c.Write(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := of(lifecycle.Note{Text: "This morning pump 3 leaks below."})
	if got := listed(t, c); !slices.Equal(got, []string{"REPORTED 0 Pump 3 leaks."}) {
		t.Fatalf("%q", got)
	}
	all, err := c.Claims(t.Context(), lifecycle.ClaimQuery{})
	if v := all[0]; err != nil || v.From != r.Event || v.Category != lifecycle.DefaultCategory || v.Agent != "wise:1@abc" || v.Provenance.Source != "diary" || v.Session != 1 || len(v.Roots) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	of(lifecycle.Note{Text: "This morning pump 3 leaks below."}) // the same entry
	of(lifecycle.Note{Text: "Pump 3 leaks.", Category: "health"})
	of(lifecycle.Note{Text: "Pump 3 leaks, it was said.", Date: "2026-03-08"})
	of(lifecycle.Note{Text: "Pump 3 leaks, it will be said.", Date: "2026-03-11"})
	of(lifecycle.Note{Text: "A quiet day."})
	if got := listed(t, c); len(got) != 1 {
		t.Errorf("%q", got)
	}
	of(lifecycle.Note{Text: "Pump 3 leaks, she said.", Date: "2026-03-09", Source: "chat:door"})
	if all, err = c.Claims(t.Context(), lifecycle.ClaimQuery{}); err != nil || len(all) != 2 || all[1].Provenance.Source != "chat" || all[1].Category != "communications" {
		t.Errorf("%+v, %v", all, err)
	}
	w.says(t, c, "behavioural.access=deny")
	of(lifecycle.Note{Text: "Once more pump 3 leaks."})
	w.says(t, c, "behavioural.access=allow")
	if got := listed(t, c); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// Words of the companion's own, copied into the diary, give no claim.
func TestTheCompanionsWordsGiveNoClaim(t *testing.T) {
	w := newWorld(t)
	m := &talker{wise: wise{digest: "abc", answer: proposing}, say: "Then you may remember that the old pump 3 leaks below the seal on every second morning of the week."}
	w.opts.Model = m
	c := w.live(t)
	if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "What about the works?"}, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "Remember that the old pump 3 leaks below the seal on every second morning of the week.")
	if got := listed(t, c); len(got) != 0 {
		t.Errorf("%q", got)
	}
	w.write(t, c, "Somebody else tells me: pump 3 leaks.")
	if got := listed(t, c); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// What is judged again later gives its claims then, and once.
func TestAModelProposesClaimsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{away: "starting", digest: "abc", answer: proposing}
		w, c := thoughtful(t, m)
		r := w.write(t, c, "This morning pump 3 leaks below.")
		if got := listed(t, c); len(got) != 0 || !strings.HasPrefix(r.Assessor, "plain") {
			t.Errorf("the built-in assessor takes nothing: %q by %s", got, r.Assessor)
		}
		m.is("", "abc")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := listed(t, c); !slices.Equal(got, []string{"REPORTED 0 Pump 3 leaks."}) {
			t.Errorf("%q", got)
		}
	})
}

// talker is a model that always answers the same.
type talker struct {
	wise
	say string
}

func (m *talker) Chat(_ context.Context, _ []lifecycle.ChatMessage, _ []tools.Offer, emit func(string) error) (lifecycle.ChatEnd, error) {
	return lifecycle.ChatEnd{}, emit(m.say)
}
