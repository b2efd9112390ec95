package lifecycle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jivad/jivad/lifecycle"
)

// The trend and SOUL.md say who judged the entries of a session.
func TestWhoJudgedIsTold(t *testing.T) {
	for _, tc := range []struct {
		good, bad int // entries that the model judges, and those that it does not
		model     float64
		most      string
	}{
		{3, 1, 0.75, "wise:1@abc"},
		{1, 3, 0.25, "plain/1"},
		{0, 2, 0, "plain/1"},
		{2, 0, 1, "wise:1@abc"},
	} {
		t.Run(fmt.Sprintf("%d and %d", tc.good, tc.bad), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &wise{digest: "abc"}
				m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
					if strings.HasPrefix(e.Text, "Bad") {
						return lifecycle.Assessment{}, fmt.Errorf("%w: prose", lifecycle.ErrModelAnswer)
					}
					return verdict(e), nil
				})
				w, c := thoughtful(t, m)
				for i := range tc.good {
					w.write(t, c, fmt.Sprintf("Good one of number %d.", i))
				}
				for i := range tc.bad {
					w.write(t, c, fmt.Sprintf("Bad one of number %d.", i))
				}
				if _, err := c.EndSession(t.Context()); err != nil {
					t.Fatal(err)
				}
				trend, err := c.Trend(t.Context(), 0)
				if err != nil || len(trend) != 1 {
					t.Fatalf("%v, %v", trend, err)
				}
				if r := trend[0]; r.ByModel != tc.model || r.ByBuiltin != 1-tc.model {
					t.Errorf("by the model %v, built-in %v", r.ByModel, r.ByBuiltin)
				}
				if doc := soulText(t, c); !strings.Contains(doc, "assessor: "+tc.most) && !strings.Contains(doc, `assessor: "`+tc.most) {
					t.Errorf("SOUL.md does not name %s:\n%s", tc.most, doc[:min(len(doc), 500)])
				}
			})
		})
	}
}
