package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// That what was said is not kept is told with every answer, and what becomes an entry only
// where there is nothing else to say.
func TestWhatIsNotKeptIsAlwaysTold(t *testing.T) {
	for _, empty := range []bool{true, false} {
		w := newWorld(t)
		c := w.live(t)
		if !empty {
			w.write(t, c, "A slow walk by the river.")
		}
		for fate, always := range map[lifecycle.Fate]bool{lifecycle.TooLong: true, lifecycle.NoRoom: true, lifecycle.Ending: true, lifecycle.Becomes: false} {
			answer, err := c.Reflect(t.Context(), "the river", lifecycle.NoModel, fate)
			if err != nil || strings.Contains(answer, string(fate)) != (always || empty) || strings.Contains(answer, "slow walk") == empty {
				t.Errorf("%q: %q, %v", fate, answer, err)
			}
		}
	}
}
