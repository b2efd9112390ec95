package chitta_test

import (
	"context"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// Judgements that were folded ahead give, bit for bit, what they give when they are
// folded where they are written, whatever came meanwhile.
func TestJudgementsFoldedAhead(t *testing.T) {
	used := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		dirs := [2]string{mkdir(rt), mkdir(rt)}
		defer func() { _ = os.RemoveAll(dirs[0]); _ = os.RemoveAll(dirs[1]) }()
		deeds := drawDeeds(rt)
		a, at := live(rt, dirs[0], rapid.IntRange(2, 60).Draw(rt, "snapshots"), deeds, nil)
		b, _ := live(rt, dirs[1], 1000, deeds, nil)
		defer func() { _ = a.Close(context.Background()) }()
		defer b.Close(context.Background()) //nolint:errcheck // only looked at
		var entries []int
		for i, d := range deeds {
			if d.kind == "entry" {
				entries = append(entries, i)
			}
		}
		if len(entries) == 0 {
			return
		}
		by := 0
		for _, d := range deeds {
			if d.kind == "reembed" {
				by = int(d.seed) % len(embedders)
			}
		}
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		var list []fold.Reassessed
		var batch chitta.Batch
		for n := range rapid.IntRange(1, 5).Draw(rt, "judged") {
			j := fold.Reassessed{Target: at[rapid.SampledFrom(entries).Draw(rt, "entry")], Judgement: experience(uint64(700 + n)).Judgement}
			list = append(list, j)
			batch.Entries = append(batch.Entries, chitta.Entry{Body: j})
		}
		ahead, err := a.FoldAhead(context.Background(), list)
		must(err)
		what := rapid.SampledFrom([]string{"nothing", "entries", "an edit", "a forgetting", "other judgements"}).Draw(rt, "meanwhile")
		changed := what == "an edit" || what == "other judgements"
		for _, s := range []*chitta.Store{a, b} {
			var session fold.Session
			must(s.View(func(st *fold.State) error { session = st.Session; return nil }))
			var more []chitta.Entry
			x := experienceBy(800, by)
			switch what {
			case "entries":
				if !session.Open {
					more = append(more, chitta.Entry{Body: fold.SessionOpened{Number: session.Number + 1}})
				}
				more = append(more, chitta.Entry{Body: x}, chitta.Entry{Body: experienceBy(801, by)})
			case "an edit":
				more = append(more, chitta.Entry{Body: fold.Superseded{Target: at[entries[0]], Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}})
			case "a forgetting":
				if rest := entries[len(entries)-1]; at[rest] != list[0].Target && len(list) == 1 {
					changed = true
					_, err := s.Excise(context.Background(), chitta.Excision{Sequences: []uint64{at[rest]}})
					must(err)
				}
			case "other judgements":
				more = append(more, chitta.Entry{Body: fold.Reassessed{Target: at[entries[0]], Judgement: experience(900).Judgement}})
			}
			if len(more) > 0 {
				_, err := s.Append(context.Background(), chitta.Batch{Entries: more})
				must(err)
			}
		}
		_, err = b.Append(context.Background(), batch)
		must(err)
		batch.Ahead = ahead
		_, err = a.Append(context.Background(), batch)
		must(err)
		if changed == (a.Aheads() == 1) {
			rt.Fatalf("%s came meanwhile, and folding ahead was used %d times", what, a.Aheads())
		}
		used += a.Aheads()
		same := func(when string) {
			if digest(a) != digest(b) {
				var diff []string
				_ = a.View(func(x *fold.State) error {
					return b.View(func(y *fold.State) error { diff, _ = fold.Difference(x, y, 0, 10); return nil })
				})
				rt.Fatalf("%s, %s: %v", what, when, diff)
			}
			v, err := a.Verify(context.Background(), chitta.VerifyOptions{Full: true})
			if err != nil || !v.OK() {
				rt.Fatalf("%s, %s: %v %+v", what, when, err, v.Findings)
			}
		}
		same("at once")
		must(a.Close(context.Background()))
		a, err = chitta.Open(context.Background(), chitta.Options{Dir: dirs[0], Embedder: embedders[by].id, Dim: embedders[by].dim})
		must(err)
		same("after a restart")
	})
	if used == 0 {
		t.Error("it was never used")
	}
}
