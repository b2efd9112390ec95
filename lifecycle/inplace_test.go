package lifecycle_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// What the built-in ones do in a model's place is counted, each kind by itself.
func TestWhatIsDoneInTheModelsPlaceIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(func(context.Context, []string, []string) (string, error) { return "77 herons", nil })
		m.tells = func(string) (string, error) { return "I count 77 herons.", nil }
		w := named(t, m)
		c := imported(t, w, days(40))
		stop := run(t, c)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if s := modelOf(t, c); m.count() == 0 || s.Unnamed != int64(m.count()) || s.Unnarrated != 1 || s.Reflections != 0 {
			t.Errorf("asked for %d names: %+v", m.count(), s)
		}
		stop()
		for range 2 {
			r := lifecycle.TalkRequest{Said: "Do you remember the river?", Forget: true}
			if out, err := c.Talk(t.Context(), r, func(string) error { return nil }); err != nil || out.By != lifecycle.ByReflection {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		if s := modelOf(t, c); s.Reflections != 2 {
			t.Errorf("%+v", s)
		}
	})
}
