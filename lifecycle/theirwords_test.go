package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// quotations are ways to quote, or not to.
var quotations = []string{
	"%s", "“%s”", "„%s“", "«%s»", "« %s »", "»%s«", "‹%s›", "‘%s’", "‚%s‘", `"%s"`, "'%s'", "”%s”", "「%s」", "“%s", `%s"`, `5'10" %s`, "it's %s, isn't it", "you said: %s. And",
}

// forceOf is that of an entry of a day long ago.
func forceOf(t *testing.T, c *lifecycle.Companion, text string) float64 {
	t.Helper()
	r, err := c.Write(t.Context(), lifecycle.Note{Text: text, Date: "2001-02-03"})
	if err != nil {
		t.Fatal(err)
	}
	hit, err := c.Show(t.Context(), r.Event)
	if err != nil {
		t.Fatal(err)
	}
	return hit.Intensity
}

// Whatever an answer repeats of what the person said, now or earlier in the conversation, or
// of what was recalled, and however it quotes it: an entry of the same words keeps its force.
func TestTheirWordsStayTheirs(t *testing.T) {
	w := newWorld(t)
	w.opts.Assessor = firm{}
	c := w.live(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := func(kind string, n int) string {
		var out []string
		for range n {
			word := fmt.Sprintf("%s%c%c", kind, 'a'+random.IntN(26), 'a'+random.IntN(26))
			out = append(out, word+[]string{"", "", "", ",", "’s", ` 5"`, "”", "“", `'`, "»"}[random.IntN(10)])
		}
		return strings.Join(out, " ")
	}
	for i := range 150 {
		theirs := words(fmt.Sprintf("w%c%c", 'a'+i/26, 'a'+i%26), 8+random.IntN(20))
		var answer strings.Builder
		for range 1 + random.IntN(3) {
			part := theirs
			if fields := strings.Fields(theirs); random.IntN(2) == 0 {
				part = strings.Join(fields[random.IntN(3):], " ")
			}
			_, _ = fmt.Fprintf(&answer, words("own", random.IntN(9))+" "+quotations[random.IntN(len(quotations))]+" "+words("own", random.IntN(9)), part)
		}
		turn := lifecycle.Turn{Said: theirs, Answered: answer.String(), By: "x"}
		switch i % 3 {
		case 1:
			turn.Said = fmt.Sprintf("Number %d, and?", i)
			turn.Heard = lifecycle.HeardIn(lifecycle.Woven{}, []lifecycle.ChatMessage{{Role: "user", Content: theirs}, {Role: "assistant", Content: "Yes."}})
		case 2:
			turn.Said = fmt.Sprintf("Number %d, and?", i)
			turn.Heard = lifecycle.HeardIn(lifecycle.Woven{Recalled: []lifecycle.Recalled{{Impression: lifecycle.Impression{Text: theirs}}}}, nil)
		}
		if _, err := c.Remember(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
		if force := forceOf(t, c, theirs); force != 0.8 {
			t.Fatalf("%d: a force of %v of %q, after %q", i, force, theirs, answer.String())
		}
	}
	own := "The heron stood in the shallow water all morning and counted every slow breath of it until noon."
	if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: "And?", Answered: own + " You said “yes, it's so”. " + own, By: "x"}); err != nil {
		t.Fatal(err)
	}
	if force := forceOf(t, c, own); force > 0.1 {
		t.Errorf("its own words have a force of %v", force)
	}
}

// The same through a talk: what a model repeats of what was recalled for it, and what the
// built-in reflection brings back, with marks in it.
func TestWhatATalkRepeatsStaysTheirs(t *testing.T) {
	for name, with := range map[string]bool{"a model": true, "the built-in reflection": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.opts.Assessor = firm{}
			written := "By the river there lay 5” of snow, and I walked home alone and glad, with the heron above me."
			if with {
				w.opts.Model = &speaking{pieces: []string{"You wrote it well: " + written}}
			}
			c := w.live(t)
			w.write(t, c, written)
			r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "What of the heron by the river?"}, nothing)
			if err != nil || !strings.Contains(r.Answer, "walked home alone") {
				t.Fatalf("%+v, %v", r, err)
			}
			want := 0.8
			if with {
				want = verdict(lifecycle.Experience{Text: written}).Judgement.Intensity
			}
			if force := forceOf(t, c, written); force != want {
				t.Errorf("a force of %v, want %v", force, want)
			}
		})
	}
}

// What an answer quotes is not its own, in whatever marks; what stands behind the quotation
// is, and an apostrophe or an inch begins none.
func TestAQuotationEnds(t *testing.T) {
	w := newWorld(t)
	w.opts.Assessor = firm{}
	c := w.live(t)
	for i, marks := range []string{"“%s”", "„%s“", "«%s»", "« %s »", "»%s«", "‹%s›", "›%s‹", "‘%s’", "‚%s‘", `"%s"`, "'%s'", "”%s”", "「%s」", "『%s』"} {
		quoted := fmt.Sprintf("The dog’s ears and the men's hats were white when we went number%d miles along the water, and home.", i)
		before := fmt.Sprintf(`It's 5" of snow o' nights, and that is the number%d winter of them in your book.`, i)
		behind := fmt.Sprintf("The heron stood number%d mornings in the shallow water and counted every slow breath until noon.", i)
		if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: fmt.Sprintf("And %d?", i), Answered: before + " " + fmt.Sprintf(marks, quoted) + " " + behind, By: "x"}); err != nil {
			t.Fatal(err)
		}
		if a, b, c := forceOf(t, c, before), forceOf(t, c, quoted), forceOf(t, c, behind); a > 0.01 || b != 0.8 || c > 0.01 {
			t.Errorf("%s: a force of %v before it, %v of what is quoted, %v behind it", marks, a, b, c)
		}
	}
	// The built-in reflection quotes one line on each, which may have any marks in it.
	for i, text := range []string{"There lay 5” of snow by the river, and I walked home alone and glad of it.", "She said “no, and I walked home alone by the river, for an hour."} {
		said := "I have no model to think with; this is what it brings back.\n\nOn 2026-03-10 you wrote: “" + text + "”"
		if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: fmt.Sprintf("So, %d?", i), Answered: said, By: lifecycle.ByReflection}); err != nil {
			t.Fatal(err)
		}
		if force := forceOf(t, c, text); force != 0.8 {
			t.Errorf("a force of %v of %q", force, text)
		}
	}
}
