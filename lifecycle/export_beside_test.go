package lifecycle_test

import (
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/export"
)

// What a model said of an entry, what was answered to it and how much of it the
// companion had said before go along, and come back.
func TestWhatStandsBesideATextIsExported(t *testing.T) {
	w := newWorld(t)
	w.opts.Model = &wise{digest: "abc"}
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull, "health": lifecycle.KeepGist, "financial": lifecycle.KeepNone}
	c := w.live(t)
	const answer = "The river runs past the old mill, and “you” sat there.\n今天 \u2028 <b>&\x00"
	if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: "Where did I sit?", Answered: answer, By: "ollama/m@abc", Source: "chat"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Judged(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "The river runs past the old mill, and I wrote it down.")
	w.says(t, c, "health.storage=allow", "financial.storage=allow")
	for _, category := range []string{"health", "financial"} {
		if _, err := c.Write(t.Context(), lifecycle.Note{Text: "A tooth, of " + category + ".", Category: category}); err != nil {
			t.Fatal(err)
		}
	}
	folder, report := exported(t, c)
	list := experiences(t, folder)
	if len(list) != 4 {
		t.Fatalf("%d lines", len(list))
	}
	if b := list[0].Beside; b != (export.Beside{Summary: "It says Where did I ", Reason: "by its length", Answer: answer, AnsweredBy: "ollama/m@abc"}) {
		t.Errorf("a turn: %+v", b)
	}
	if b := list[1].Beside; b.OwnShare <= 0 || b.OwnShare >= 1 || b.Summary == "" || b.Answer != "" {
		t.Errorf("the companion's own words: %+v", b)
	}
	if b := list[2].Beside; list[2].Kept != export.KeptGist || b.Summary == "" || b.Reason == "" {
		t.Errorf("a gist: %+v", b)
	}
	if b := list[3].Beside; b != (export.Beside{}) {
		t.Errorf("of what is not kept: %+v", b)
	}
	other, r := rebuilt(t, w, folder)
	if r.StateDigest != report.StateDigest || len(r.Notes) > 0 {
		t.Errorf("%+v of %+v", r, report)
	}
	other.opts.Model = w.opts.Model
	d := other.live(t)
	sameTexts(t, c, folder)
	sameTexts(t, d, folder)
	again, _ := exported(t, d)
	sameFiles(t, folder, again)
	sameLife(t, c, d, false)
}
