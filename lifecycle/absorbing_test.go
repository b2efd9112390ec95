package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/projection"
)

// Nothing becomes part of a model but what the gate M-1 lets through: it lists all that is
// missing, and what is exported then are rules and gists, no entry.
func TestAbsorb(t *testing.T) {
	w := newWorld(t)
	m := &wise{digest: "d1"}
	m.answer = func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		a := verdict(e)
		a.Gist = "Calm work, told briefly."
		if strings.Contains(e.Text, "leak") {
			a.Gist = "A leak in the cellar behind the old boiler."
		}
		if strings.Contains(e.Text, "neighbour") {
			a.Gist = "Calm hours near Kunigunde."
		}
		return a, nil
	}
	w.opts.Model = m
	c := w.lived(t)
	named := searching + "[distillation]\nnames = [\"Kunigunde\"]\n"
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(named), 0o600); err != nil {
		t.Fatal(err)
	}
	var immature *projection.ImmatureError
	if _, err := c.Absorb(t.Context()); !errors.As(err, &immature) || immature.Missing[0].Invariant != lives.M1 {
		t.Fatal(err)
	}
	for n := 1; n <= 4; n++ {
		w.write(t, c, fmt.Sprintf("Day %d of steady work in the garden of Ottokar.", n))
		if n == 2 {
			w.write(t, c, "There is a leak in the cellar behind the old boiler of Ottokar.")
			w.write(t, c, "An afternoon with the neighbour.")
		}
		act(t, c, "zigzagwise")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			l, err := c.Rate(t.Context(), 0, 1)
			return err == nil && l.Obligation.Status == lives.Met
		})
	}
	if _, err := c.Absorb(t.Context()); !errors.As(err, &immature) || len(immature.Missing) != 2 {
		t.Fatalf("only consent is missing now: %v", err)
	}
	changes, err := consent.ParseSettings("*.training=allow")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetConsent(t.Context(), lifecycle.ConsentRequest{Changes: changes, Who: "a test"}, nil); err != nil {
		t.Fatal(err)
	}
	out, err := c.Absorb(t.Context())
	if err != nil || out.Rules == 0 || out.Gists != 4 || out.Leaked != 2 || out.Withheld != 0 {
		t.Fatalf("%+v %v", out, err)
	}
	if s := string(out.Data); strings.Contains(s, "Ottokar") || strings.Contains(s, "boiler") || strings.Contains(s, "Kunigunde") || !strings.Contains(s, "I prefer zigzagwise.") {
		t.Errorf("%s", s)
	}
	for line := range strings.Lines(string(out.Data)) {
		var chat struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(line), &chat); err != nil || len(chat.Messages) != 2 {
			t.Errorf("%s: %v", line, err)
		}
	}
	if !strings.Contains(string(out.Attestation), `"sha256"`) {
		t.Errorf("%s", out.Attestation)
	}
	w.says(t, c, "behavioural.training=deny") // of which the entries are, and no rule
	if out, err = c.Absorb(t.Context()); err != nil || out.Gists+out.Leaked != 0 || out.Withheld != 6 || out.Rules == 0 {
		t.Errorf("%+v %v", out, err)
	}
}
