package lifecycle_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/export"
	"github.com/jivad/jivad/soul"
)

// exported writes a companion's export into a new folder.
func exported(t testing.TB, c *lifecycle.Companion) (string, lifecycle.ExportReport) {
	t.Helper()
	w, err := export.Create(filepath.Join(t.TempDir(), "export"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // what matters is committed
	r, err := c.Export(t.Context(), nil, w.Put)
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if m.StateDigest != r.StateDigest || m.Counts.Experiences != r.Entries {
		t.Fatalf("%+v, and the manifest %+v", r, m)
	}
	return w.Path(), r
}

// rebuilt makes the companion of an export in a fresh world.
func rebuilt(t testing.TB, from *world, folder string) (*world, lifecycle.RebuildReport) {
	t.Helper()
	w := newWorld(t)
	w.opts.Embedder, w.opts.Assessor, w.opts.MergeAlike, w.opts.Params = from.opts.Embedder, from.opts.Assessor, from.opts.MergeAlike, from.opts.Params
	w.opts.SnapshotEvery, w.opts.Retention, w.opts.KeepOpen = from.opts.SnapshotEvery, from.opts.Retention, from.opts.KeepOpen
	w.clock.set(from.clock.now)
	w.end(t, w.live(t)) // as jivad init leaves it
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	r, err := lifecycle.Rebuild(t.Context(), w.opts, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w, r
}

// sameFiles sees that two exports hold the same, but for when they were made.
func sameFiles(t testing.TB, a, b string) {
	t.Helper()
	list, err := os.ReadDir(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadDir(b)
	if err != nil || len(other) != len(list) {
		t.Fatalf("%d files and %d, %v", len(list), len(other), err)
	}
	for _, f := range list {
		if f.Name() == export.FileManifest {
			continue
		}
		x, err := os.ReadFile(filepath.Join(a, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			t.Errorf("%s differs from byte %d on:\n%q\n%q", f.Name(), at, x[at:min(len(x), at+200)], y[at:min(len(y), at+200)])
		}
	}
}

// sameLife sees that two companions go on in the same way: the same entries leave
// the same state and, if both are to tell the same, the same SOUL.md, tendencies,
// ghosts and trend.
func sameLife(t testing.TB, a, b *lifecycle.Companion, told bool) {
	t.Helper()
	now := digestOf(t, a)[:8] // no text comes twice
	for _, c := range []*lifecycle.Companion{a, b} {
		for _, text := range []string{"The river was high and brown", "A letter came, and rain", "Walked to the mill with a friend"} {
			if _, err := c.Write(context.Background(), lifecycle.Note{Text: fmt.Sprintf("%s, %s.", text, now)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.EndSession(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := digestOf(t, a), digestOf(t, b); x != y {
		t.Errorf("after one session more the states are %s and %s", x, y)
	}
	if told {
		sameTold(t, a, b, true)
	}
}

// sameTold sees that two companions say the same of themselves, but for what is of
// the process or the machine. later says that sessions ended since one was made of
// the other: how quick they were, and when one began that was open, differs.
func sameTold(t testing.TB, a, b *lifecycle.Companion, later bool) {
	t.Helper()
	var told [2]map[string]any
	for i, c := range []*lifecycle.Companion{a, b} {
		s, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.Events, s.LastRecord = 0, 0 // an export has no amendments
		s.PID, s.DataDir, s.Diary, s.Uptime, s.StoreBytes, s.Backups, s.Problems, s.Withheld = 0, "", "", 0, 0, lifecycle.BackupStatus{}, nil, nil
		trend, err := c.Trend(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range trend {
			if later {
				trend[i].Latency, trend[i].Opened = soul.Record{}.Latency, time.Time{}
			}
		}
		if later && s.LastSession != nil {
			s.LastSession.Opened = time.Time{}
		}
		vasanas, err := c.Vasanas(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ghosts, err := c.Ghosts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen, err := c.Seen()
		if err != nil {
			t.Fatal(err)
		}
		told[i] = map[string]any{"status": s, "trend": trend, "vasanas": vasanas, "ghosts": ghosts, "seen": seen, "soul": soulText(t, c)}
	}
	for what := range told[0] {
		x, err := json.Marshal(told[0][what])
		if err != nil {
			t.Fatal(err)
		}
		y, err := json.Marshal(told[1][what])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s: one says\n%s\nthe other\n%s", what, x, y)
		}
	}
}

// defaultParams are those that a world lives with unless it says otherwise.
func defaultParams() fold.Params {
	p := fold.DefaultParams()
	p.Gate = p.Gate.Unscaled()
	return p
}

// resum puts other data into a file of an export, and what the manifest says of it.
func resum(t testing.TB, folder, name string, data []byte) {
	t.Helper()
	path := filepath.Join(folder, export.FileManifest)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m export.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	m.Files[name] = export.FileInfo{Bytes: int64(len(data)), Lines: bytes.Count(data, []byte("\n")), SHA256: hex.EncodeToString(sum[:])}
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{path: text, filepath.Join(folder, name): data} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
