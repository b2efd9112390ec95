package lifecycle_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/export"
)

// What the person said of consent goes with an export, and holds: with its history, and
// for what comes. The state is the same to the last bit.
func TestConsentGoesWithAnExport(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	w.says(t, c, "location.storage=allow", "*.training=ask")
	w.says(t, c, "health.access=deny")
	folder, report := exported(t, c)
	if report.Consent != 3 {
		t.Errorf("%+v", report)
	}
	want, err := c.Consent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, r := rebuilt(t, w, folder)
	if r.StateDigest != report.StateDigest || r.ConsentRecords != 3 || r.Owes() {
		t.Errorf("%+v", r)
	}
	d := other.live(t)
	got, err := d.Consent(t.Context())
	if err != nil || got.Head != want.Head || got.Table.Text() != want.Table.Text() || len(got.Records) != 3 {
		t.Errorf("%+v, was %+v, %v", got, want, err)
	}
	if hits, err := d.Recall(t.Context(), lifecycle.RecallQuery{Text: "quincunxed tooth"}); err != nil || slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool { return strings.Contains(h.Impression.Text, "uincunxed") }) {
		t.Errorf("what rests is read: %v", err)
	}
	again, _ := exported(t, d)
	sameFiles(t, folder, again)
	if m, err := d.Show(t.Context(), ids[0]); err != nil || m.Kept != lifecycle.KeepFull {
		t.Errorf("%+v, %v", m, err)
	}
}

// Where the companion that an export becomes was told otherwise before, whichever allows
// less holds; of what it was told to keep nothing of, no text is left anywhere.
func TestTheStricterOfTwoHolds(t *testing.T) {
	w := newWorld(t)
	c, ids := canaries(t, w)
	w.says(t, c, "location.storage=allow", "financial.storage=allow")
	folder, report := exported(t, c)
	digest := digestOf(t, c)
	other := newWorld(t)
	other.opts.Retention = w.opts.Retention
	other.clock.set(w.clock.now)
	fresh := other.live(t)
	other.says(t, fresh, "health.storage=deny", "location.storage=ask", "biometric.storage=allow")
	other.end(t, fresh)
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	r, err := lifecycle.Rebuild(t.Context(), other.opts, x, nil)
	if err != nil || r.StateDigest != report.StateDigest || r.ToWithdraw != len(ids) || !slices.Equal(r.Withdrawn, []consent.Category{consent.Health}) || !r.Owes() {
		t.Fatalf("%+v, %v", r, err)
	}
	d := other.live(t)
	defer other.end(t, d)
	withoutCanaries(t, other)
	if got := digestOf(t, d); got != digest {
		t.Errorf("the state is %s, was %s", got, digest)
	}
	view, err := d.Consent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for cell, want := range map[string]string{"health.storage": "deny", "location.storage": "ask", "financial.storage": "allow", "biometric.storage": "deny", "behavioural.storage": "allow"} {
		part, err := consent.ParseSelector(cell)
		if err != nil {
			t.Fatal(err)
		}
		if got := view.Table.Only(part).Rows[0].Answers[0].Answer.String(); got != want {
			t.Errorf("%s is %s, want %s", cell, got, want)
		}
	}
	if len(view.Unfinished) != 0 || len(view.Withdrawals) != 1 || view.Withdrawals[0].Done[0].Texts != len(ids) {
		t.Errorf("%+v", view)
	}
	if v, err := d.Verify(t.Context(), true, nil); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}

// A record that was changed, left out or put in another place is seen, with checksums that
// match; nothing is imported then.
func TestAChangedChainOfAnExportIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "Sat by the river.")
	w.says(t, c, "health.storage=deny")
	w.says(t, c, "location.storage=deny")
	folder, _ := exported(t, c)
	data, err := os.ReadFile(filepath.Join(folder, export.FileConsent))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for what, changed := range map[string]string{"left out": lines[1], "exchanged": lines[1] + lines[0]} {
		t.Run(what, func(t *testing.T) {
			bad := t.TempDir()
			if err := os.CopyFS(bad, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			resum(t, bad, export.FileConsent, []byte(changed))
			other := newWorld(t)
			x, err := export.Open(t.Context(), bad)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close() //nolint:errcheck // opened for reading
			var at *export.Error
			if _, err := lifecycle.Rebuild(t.Context(), other.opts, x, nil); !errors.As(err, &at) || at.File != export.FileConsent || !errors.Is(err, consent.ErrChain) {
				t.Errorf("%v", err)
			}
			if d := other.live(t); d.Impressions() != 0 {
				t.Error("half of it is there")
			}
		})
	}
}

// An export says plainly that what lives taught is not in it.
func TestAnExportSaysWhatItLeavesOut(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	livedThrough(t, w, c, "zigzagwise", 1)
	folder, report := exported(t, c)
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	readme, err := os.ReadFile(filepath.Join(folder, export.FileReadme))
	if err != nil || report.Lessons != 1 || len(x.Manifest.LeftOut) != 2 || !strings.Contains(x.Manifest.LeftOut[0], "lineage") || !strings.Contains(x.Manifest.LeftOut[1], "claims") || !strings.Contains(string(readme), "lineage") {
		t.Errorf("%+v, %q, %v", report, x.Manifest.LeftOut, err)
	}
}
