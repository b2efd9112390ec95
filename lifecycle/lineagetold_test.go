package lifecycle_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// taught lives a life with a lesson that is judged, and ends it.
func taught(t *testing.T, w *world, c *lifecycle.Companion, text string) lifecycle.Life {
	t.Helper()
	w.write(t, c, text)
	act(t, c, "straight")
	act(t, c, "zigzagwise")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := c.Life(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		r, err := c.Rate(t.Context(), l.Sequence, 1)
		l = r
		return err == nil && l.Obligation.Status == lives.Met
	})
	return l
}

// The receipt of an excision is of what is there afterwards: words that another life left
// too are told as such, and a copy that was made by hand is named.
func TestExcisionIsLookedAtAgain(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	empty, err := c.Lineage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, second := taught(t, w, c, "One way is tried."), taught(t, w, c, "It is tried on another day.")
	k, err := c.Lineage(t.Context())
	if err != nil || k.Distillates != 2 {
		t.Fatalf("%+v %v", k, err)
	}
	q := lifecycle.ExcisionRequest{Lives: []string{"1"}, Head: empty.Head.String(), Who: "a test"}
	if _, err := c.ExciseLives(t.Context(), q); !errors.Is(err, lifecycle.ErrMoved) {
		t.Fatalf("excised from another version than was looked at: %v", err)
	}
	if now, _ := c.Lineage(t.Context()); now.Head != k.Head {
		t.Fatal("something was changed")
	}
	if _, err := c.Backup(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	byHand := filepath.Join(w.dir, "backups", "mine.db")
	if _, err := c.Backup(t.Context(), byHand, nil); err != nil {
		t.Fatal(err)
	}
	q.Head = k.Head.String()
	r, err := c.ExciseLives(t.Context(), q)
	if err != nil || r.Left+r.Present > 0 || !slices.Equal(r.Files, []string{"backups/mine.db"}) || r.Elsewhere == 0 || r.Backups != 1 || r.Remaining != 1 || r.Rules == 0 || r.Who != "a test" {
		t.Fatalf("%+v %v", r, err)
	}
	if len(r.Lives) != 1 || r.Lives[0] != first.ID || len(r.Digests) != 1 || r.Digests[0] != first.Obligation.Distillate {
		t.Errorf("%+v went", r)
	}
	if err := os.Remove(byHand); err != nil {
		t.Fatal(err)
	}
	r, err = c.ExciseLives(t.Context(), lifecycle.ExcisionRequest{Lives: []string{second.ID.String()}})
	if err != nil || len(r.Files) > 0 || r.Elsewhere != 0 || r.After != empty.Head || r.Who != "api" {
		t.Errorf("%+v %v", r, err)
	}
	if all, err := c.Excisions(t.Context()); err != nil || len(all) != 2 || all[1].Number != 2 {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := c.ExciseLives(t.Context(), lifecycle.ExcisionRequest{}); !errors.Is(err, lifecycle.ErrQuery) {
		t.Error(err)
	}
}

// What the status has of the life and the lineage, and which lives a session had.
func TestStatusTellsOfTheLife(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	s, err := c.Status(t.Context())
	if err != nil || s.Life != nil || s.Lineage == nil || s.Lineage.Lives != 0 {
		t.Fatalf("%+v %v", s.Lineage, err)
	}
	path := filepath.Join(w.dir, lifecycle.ManifestFile)
	if err := os.WriteFile(path, []byte("[substrate]\nbuiltin = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "Nobody can be born yet.")
	s, err = c.Status(t.Context())
	if err != nil || s.Life != nil || len(s.Lineage.Missing) != 1 || !strings.Contains(strings.Join(s.Problems, " "), "cannot be born") {
		t.Fatalf("%+v %q %v", s.Lineage, s.Problems, err)
	}
	if k := checkOf(t, c, "manifest"); k.OK || k.Hint == "" || !strings.Contains(k.Detail, "no chat model") {
		t.Errorf("%+v", k)
	}
	if err := os.WriteFile(path, []byte(searching), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "Now somebody is.")
	s, err = c.Status(t.Context())
	if err != nil || s.Life == nil || s.Life.Sequence != 1 || strings.Contains(strings.Join(s.Problems, " "), "born") {
		t.Fatalf("%+v %q %v", s.Life, s.Problems, err)
	}
	if k := checkOf(t, c, "manifest"); !k.OK {
		t.Errorf("%+v", k)
	}
	if one, err := c.Session(t.Context(), 0); err != nil || !slices.Equal(one.Lives, []int64{1}) {
		t.Errorf("%+v %v", one, err)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err = c.Status(t.Context()); err != nil || s.Life != nil {
		t.Errorf("%+v %v", s.Life, err)
	}
}

func checkOf(t *testing.T, c *lifecycle.Companion, name string) lifecycle.Check {
	t.Helper()
	all, err := c.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("there is no check %q", name)
	return lifecycle.Check{}
}

// A manifest is told with each of its faults, or with what would be born of it. A tool that
// needs a folder to work in lacks none because no life was born yet.
func TestManifestIsTold(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	r, err := c.Manifest(t.Context())
	if err != nil || len(r.Missing) > 0 || r.Default || r.Mission != "Look things up." || !slices.Equal(r.Tools, []string{"search"}) || r.Mind != "builtin" || r.Bounds.TTL == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if err := os.WriteFile(r.Path, []byte("mision = 1\n[life]\nttl = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = c.Manifest(t.Context())
	if err != nil || len(r.Missing) != 2 || r.ID != (lineage.Digest{}) || !strings.Contains(r.Missing[0].Mend, r.Path) {
		t.Errorf("%+v %v", r, err)
	}
	if err := os.Remove(r.Path); err != nil {
		t.Fatal(err)
	}
	if r, err = c.Manifest(t.Context()); err != nil || !r.Default || len(r.Missing) > 0 {
		t.Errorf("%+v %v", r, err)
	}
	if all, err := c.Lives(t.Context(), 10); err != nil || len(all) > 0 {
		t.Errorf("looking at the manifest bore %+v (%v)", all, err)
	}
}

func TestWhatIsAskedOfTheLineageIsChecked(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	if _, err := c.Invite(t.Context(), ""); !errors.Is(err, lifecycle.ErrNotInLineage) {
		t.Error(err)
	}
	if _, err := c.Life(t.Context(), 0); !errors.Is(err, lifecycle.ErrNoLife) {
		t.Error(err)
	}
	empty, err := c.RenderLineage(t.Context(), "")
	if err != nil || empty.Text != "" {
		t.Errorf("%+v %v", empty, err)
	}
	l := taught(t, w, c, "It begins.")
	k, err := c.Lineage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]lineage.Digest{"": k.Head, k.Head.String()[:8]: k.Head, empty.Version.String()[:8]: empty.Version, empty.Version.String(): empty.Version} {
		r, err := c.RenderLineage(t.Context(), version)
		if err != nil || r.Version != want || (r.Text == "") != (want == empty.Version) {
			t.Errorf("version %q: %+v %v", version, r, err)
		}
	}
	for _, version := range []string{k.Head.String()[:3], "ffffffff", strings.Repeat("f", 64), "../x"} {
		if _, err := c.RenderLineage(t.Context(), version); !errors.Is(err, lifecycle.ErrNotInLineage) {
			t.Errorf("version %q: %v", version, err)
		}
	}
	for _, hub := range []string{"hub", "mqtts://", "mqtts://me:pw@hub", "mqtts://me@hub", "mqtts://" + strings.Repeat("h", 600)} {
		if _, err := c.Invite(t.Context(), hub); !errors.Is(err, lifecycle.ErrQuery) || strings.Contains(err.Error(), "pw") {
			t.Errorf("hub %.40q: %v", hub, err)
		}
	}
	v, err := c.Invite(t.Context(), "mqtts://hub:8883")
	if err != nil {
		t.Fatal(err)
	}
	in, err := lineage.ParseInvitation(v.Text)
	if err != nil || in.Root != k.Root || in.Device != k.Device || in.Hub != "mqtts://hub:8883" || lineage.Identity(in.Base, in.Root) != k.Identity {
		t.Errorf("%+v %v", in, err)
	}
	for _, how := range []string{"", "free"} {
		if _, err := c.ReleaseLife(t.Context(), l.Sequence, how); !errors.Is(err, lifecycle.ErrQuery) {
			t.Errorf("%q: %v", how, err)
		}
	}
	if _, err := c.ReleaseLife(t.Context(), l.Sequence, "clear"); !errors.Is(err, lifecycle.ErrLifeState) {
		t.Error(err)
	}
}
