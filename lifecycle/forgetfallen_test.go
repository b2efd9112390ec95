package lifecycle_test

import (
	"testing"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
)

// However a claim came to stand in SOUL.md, no word of it is left when it is forgotten.
func TestForgettingAClaimThatFell(t *testing.T) {
	for _, how := range []string{"withdrawn", "follows", "doubted"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			c := w.live(t)
			end := func(day string) {
				t.Helper()
				w.write(t, c, "A "+day+" day at the works.")
				if _, err := c.EndSession(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			end("quiet")
			base := claimed(t, c, "The base holds", "")
			d := lifecycle.ClaimDraft{Subject: "it", Text: "The zanzibarine pump leaks", Source: "x"}
			if how == "follows" {
				d.Previous = []string{base.ID}
			}
			k := claim(t, c, d)
			seal := &evidence.Root{ID: "the seal", Type: evidence.Human}
			change(t, c, lifecycle.ClaimChange{ID: k.ID, What: lifecycle.ClaimLocate, Root: seal, Reasoning: "r"})
			switch how {
			case "withdrawn":
				change(t, c, lifecycle.ClaimChange{ID: k.ID, What: lifecycle.ClaimWithdraw, Root: &evidence.Root{ID: seal.ID}})
			case "follows":
				change(t, c, lifecycle.ClaimChange{ID: base.ID, What: lifecycle.ClaimReject})
			default:
				change(t, c, lifecycle.ClaimChange{ID: k.ID, What: lifecycle.ClaimDoubt})
			}
			end("loud")
			end("third")
			if len(traces(t, w.dir, "zanzibarine")) < 2 {
				t.Fatal("SOUL.md never told of it")
			}
			if _, err := c.ForgetClaims(t.Context(), []string{k.ID}); err != nil {
				t.Fatal(err)
			}
			for _, p := range traces(t, w.dir, "zanzibarine") {
				t.Errorf("it is still in %s", p)
			}
		})
	}
}
