package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// versioned is a model whose id says by which question it judges.
type versioned struct{ speaking }

func (v *versioned) ID() string { return "wise:1@abc assess/1" }

// Who answered is named without the question that judges.
func TestWhoAnswered(t *testing.T) {
	w := newWorld(t)
	w.opts.Model = &versioned{speaking{pieces: []string{"Yes."}}}
	c := w.live(t)
	r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Are you there?"}, func(string) error { return nil })
	if err != nil || r.By != "wise:1@abc" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Of what is not kept nobody says that it is.
func TestWhatIsNotKeptIsNotSaidToBe(t *testing.T) {
	c := newWorld(t).live(t)
	for _, says := range []string{"is not kept, as you asked.", "What you said is kept."} {
		forget := says != "What you said is kept."
		r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Are you there?", Forget: forget}, func(string) error { return nil })
		if err != nil || !strings.Contains(r.Answer, says) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
