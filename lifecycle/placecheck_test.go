package lifecycle_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// Paths that would have one thing written over another are refused, links followed,
// before anything is opened; all others are taken.
func TestPlacesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, folder := range []string{"D/diary", "D/cache", "D/soul/archive", "D/backups", "agent", "disk"} {
		if err := os.MkdirAll(at(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"to-store.md": "D/chitta.db", "to-diary": "D/diary", "to-data": "D", "round.md": "round.md", "to-cache": "D/cache", "free.md": "agent/new.md"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	usual := lifecycle.Places{Dir: at("D"), Diary: at("D/diary"), Config: at("D/jivad.toml")}
	for _, try := range []struct {
		key, path string
		refused   bool
	}{
		{"soul.path", "", false},
		{"soul.path", "agent/SOUL.md", false},
		{"soul.path", "agent/not/there/yet/SOUL.MARKDOWN", false},
		{"soul.path", "D/me.md", false},
		{"soul.path", "free.md", false},
		{"soul.path", "round.md", false}, // the system tells what is wrong with that
		{"soul.path", "to-data/me.md", false},
		{"soul.path", "D/chitta.db", true},
		{"soul.path", "to-data/chitta.db", true},
		{"soul.path", "to-store.md", true},
		{"soul.path", "D/jivad.toml", true},
		{"soul.path", "D/owner.json", true},
		{"soul.path", "D/given.md", true},
		{"soul.path", "agent/given.md", true},
		{"soul.path", "agent/SOUL", true},
		{"soul.path", "agent/notes.txt", true},
		{"soul.path", "D/diary/2024.md", true},
		{"soul.path", "to-diary/deep/2024.md", true},
		{"soul.path", "D/cache/x.md", true},
		{"soul.path", "to-cache/x.md", true},
		{"soul.path", "D/soul/archive/000001-2024-01-01.md", true},
		{"soul.path", "D/backups/x.md", true},
		{"backups.path", "disk", false},
		{"backups.path", "D/kept", false},
		{"backups.path", "not/there/yet", false},
		{"backups.path", "D", true},
		{"backups.path", "to-data", true},
		{"backups.path", "D/cache/x", true},
		{"backups.path", "to-cache", true},
		{"backups.path", "D/soul", true},
		{"backups.path", "D/diary", true},
		{"backups.path", "to-diary/x", true},
		{"diary.path", "agent", false},
		{"diary.path", "not/there/yet", false},
		{"diary.path", "", false},
		{"diary.path", "D", true},
		{"diary.path", "to-data", true},
		{"diary.path", "D/cache", true},
		{"diary.path", "to-cache/x", true},
		{"diary.path", "D/backups", true},
		{"diary.path", "D/soul/archive", true},
	} {
		t.Run(try.key+" "+try.path, func(t *testing.T) {
			p := usual
			path := ""
			if try.path != "" {
				path = at(try.path)
			}
			switch try.key {
			case "soul.path":
				p.Soul = path
			case "backups.path":
				p.Backups = path
			case "diary.path":
				p.Diary = path
			}
			err := p.Check()
			var fault *lifecycle.PlaceError
			switch {
			case !try.refused && err != nil:
				t.Error(err)
			case try.refused && (!errors.As(err, &fault) || fault.Key != try.key || fault.Path != path || fault.Why == "" || fault.Hint == ""):
				t.Errorf("%v", err)
			}
		})
	}
	// In a folder of backups that is elsewhere.
	p := usual
	p.Backups, p.Soul = at("disk"), at("disk/SOUL.md")
	if p.Check() == nil {
		t.Error("SOUL.md among the backups")
	}
	// A data folder within the diary, or within a folder that has backups in it.
	for _, p := range []lifecycle.Places{
		{Dir: at("D"), Diary: dir},
		{Dir: at("D"), Diary: dir, Backups: at("D/kept")},
		{Dir: at("D"), Diary: at("D/diary"), Backups: dir},
	} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
	p = lifecycle.Places{Dir: at("D"), Diary: dir, Soul: at("agent/SOUL.md")}
	if p.Check() == nil {
		t.Error("SOUL.md in the diary, beside the data folder")
	}
}

// Open refuses such paths by itself, and a companion in the place of one that is lost.
func TestOpenWritesOverNothing(t *testing.T) {
	w := newWorld(t)
	w.opts.SoulPath = filepath.Join(w.opts.Dir, "chitta.db")
	var fault *lifecycle.PlaceError
	if _, err := lifecycle.Open(t.Context(), w.opts); !errors.As(err, &fault) {
		t.Fatalf("%v", err)
	}
	w.opts.SoulPath = filepath.Join(w.opts.Dir, "jivad.md")
	w.opts.Config = w.opts.SoulPath
	if _, err := lifecycle.Open(t.Context(), w.opts); !errors.As(err, &fault) {
		t.Fatalf("%v", err)
	}
	w.opts.SoulPath = ""
	w.end(t, w.live(t))
	store := filepath.Join(w.opts.Dir, "chitta.db")
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	if _, err := lifecycle.Open(t.Context(), w.opts); !errors.Is(err, lifecycle.ErrMissing) || !errors.Is(err, lifecycle.ErrDamaged) {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(store); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a new one was begun")
	}
	if err := os.Remove(filepath.Join(w.opts.Dir, "SOUL.md")); err != nil {
		t.Fatal(err)
	}
	w.end(t, w.live(t))
}
