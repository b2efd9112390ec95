package lifecycle_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

const secret = "Elm Street nine"

// put writes a file, with the folders that it needs, and returns its path.
func put(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t testing.TB, to, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// Every file that the program writes is looked into, wherever it is.
func TestAbsentLooksEverywhere(t *testing.T) {
	for name, c := range map[string]struct {
		// make puts the words somewhere and says where they are to be found.
		make                 func(t *testing.T, dir, out string, at *lifecycle.Places)
		found, yours, passed []string // $DIR and $OUT stand for the folders
		missing, places      []string
		files                int
	}{
		"nothing": {make: func(*testing.T, string, string, *lifecycle.Places) {}},
		"in the data folder": {
			make: func(t *testing.T, dir, _ string, _ *lifecycle.Places) {
				put(t, filepath.Join(dir, "soul", "archive", "000001-undated.md"), "> Elm\n> street nine")
			},
			found: []string{"soul/archive/000001-undated.md"}, files: 1,
		},
		"in SOUL.md elsewhere, and in what is beside it": {
			make: func(t *testing.T, _, out string, at *lifecycle.Places) {
				at.Soul = put(t, filepath.Join(out, "SOUL.md"), secret)
				put(t, filepath.Join(out, "given.md"), secret)
				put(t, filepath.Join(out, ".SOUL.md.1873.tmp"), secret)
				put(t, filepath.Join(out, ".given.md.12.tmp"), secret)
				put(t, filepath.Join(out, ".SOUL.md.mine.tmp"), secret)
				put(t, filepath.Join(out, "notes.md"), secret)
			},
			found: []string{"$OUT/.SOUL.md.1873.tmp", "$OUT/.given.md.12.tmp", "$OUT/SOUL.md", "$OUT/given.md"}, files: 4,
			places: []string{"$OUT/SOUL.md", "$OUT/given.md"},
		},
		"in what is left of a SOUL.md that never came to be": {
			make: func(t *testing.T, dir, out string, _ *lifecycle.Places) {
				link(t, filepath.Join(out, "agent.md"), filepath.Join(dir, "SOUL.md"))
				put(t, filepath.Join(out, ".agent.md.7.tmp"), secret)
			},
			found: []string{"$OUT/.agent.md.7.tmp"}, files: 1,
		},
		"in SOUL.md behind a link": {
			make: func(t *testing.T, dir, out string, _ *lifecycle.Places) {
				put(t, filepath.Join(out, "agent.md"), secret)
				link(t, filepath.Join(out, "agent.md"), filepath.Join(dir, "SOUL.md"))
				put(t, filepath.Join(out, "given.md"), secret)
			},
			found: []string{"SOUL.md"}, files: 1, places: []string{"$OUT/agent.md"},
		},
		"in SOUL.md that is in the diary": {
			make: func(t *testing.T, dir, _ string, at *lifecycle.Places) {
				at.Soul = put(t, filepath.Join(dir, "diary", "SOUL.md"), secret)
				put(t, filepath.Join(dir, "diary", "2024.md"), secret)
			},
			found: []string{"diary/SOUL.md"}, yours: []string{"diary/2024.md"}, files: 2,
		},
		"in backups elsewhere": {
			make: func(t *testing.T, _, out string, at *lifecycle.Places) {
				at.Backups = filepath.Join(out, "backups")
				for _, name := range []string{"jivad-20240501T000000Z-000000003.db", "mine.db", ".jivad-0a1b2c3d4e5f-77.tmp", "letters.txt", "sub/deep.db"} {
					put(t, filepath.Join(at.Backups, name), secret)
				}
			},
			found: []string{"$OUT/backups/.jivad-0a1b2c3d4e5f-77.tmp", "$OUT/backups/jivad-20240501T000000Z-000000003.db", "$OUT/backups/mine.db"},
			files: 3, places: []string{"$OUT/backups"},
		},
		"in backups behind a link": {
			make: func(t *testing.T, dir, out string, _ *lifecycle.Places) {
				put(t, filepath.Join(out, "disk", "mine.db"), secret)
				put(t, filepath.Join(out, "disk", "letters.txt"), secret)
				link(t, filepath.Join(out, "disk"), filepath.Join(dir, "backups"))
			},
			found: []string{"backups/mine.db"}, files: 1, places: []string{"$OUT/disk"},
		},
		"in backups of before they went elsewhere": {
			make: func(t *testing.T, dir, out string, at *lifecycle.Places) {
				at.Backups = filepath.Join(out, "gone")
				put(t, filepath.Join(out, "disk", "mine.db"), secret)
				link(t, filepath.Join(out, "disk"), filepath.Join(dir, "backups"))
			},
			found: []string{"backups/mine.db"}, files: 1, missing: []string{"$OUT/gone"}, places: []string{"$OUT/disk"},
		},
		"in a data folder behind a link": {
			make: func(t *testing.T, dir, out string, at *lifecycle.Places) {
				put(t, filepath.Join(dir, "chitta.db"), secret)
				put(t, filepath.Join(dir, "diary", "a.md"), secret)
				put(t, filepath.Join(dir, "SOUL.md"), secret)
				at.Dir = filepath.Join(out, "data")
				at.Diary = filepath.Join(at.Dir, "diary")
				link(t, dir, at.Dir)
			},
			found: []string{"SOUL.md", "chitta.db"}, yours: []string{"diary/a.md"}, files: 3,
		},
		"in a file behind a link": {
			make: func(t *testing.T, dir, out string, _ *lifecycle.Places) {
				put(t, filepath.Join(out, "store.db"), secret)
				link(t, filepath.Join(out, "store.db"), filepath.Join(dir, "chitta.db"))
			},
			found: []string{"chitta.db"}, files: 1,
		},
		"in a diary behind a link": {
			make: func(t *testing.T, dir, out string, _ *lifecycle.Places) {
				put(t, filepath.Join(out, "notes", "2024.md"), secret)
				link(t, filepath.Join(out, "notes"), filepath.Join(dir, "diary"))
			},
			yours: []string{"diary/2024.md"}, files: 1, places: []string{"$OUT/notes"},
		},
		"in a diary that the data folder is in": {
			make: func(t *testing.T, dir, _ string, at *lifecycle.Places) {
				at.Diary = filepath.Dir(dir)
				put(t, filepath.Join(dir, "chitta.db"), secret)
			},
			found: []string{"chitta.db"}, files: 1,
		},
		"behind links in circles, and to nothing": {
			make: func(t *testing.T, dir, out string, _ *lifecycle.Places) {
				link(t, dir, filepath.Join(dir, "soul", "again"))
				link(t, "round", filepath.Join(dir, "round"))
				link(t, filepath.Join(out, "nothing"), filepath.Join(dir, "nowhere"))
				put(t, filepath.Join(out, "photos", "a.txt"), secret)
				link(t, filepath.Join(out, "photos"), filepath.Join(dir, "photos"))
				put(t, filepath.Join(dir, "given.md"), secret)
			},
			found: []string{"given.md"}, passed: []string{"photos"}, files: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), t.TempDir()
			at := lifecycle.Places{Dir: dir, Diary: filepath.Join(dir, "diary")}
			c.make(t, dir, out, &at)
			r, err := lifecycle.Absent(t.Context(), at, secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := func(paths []string) []string {
				full := []string{}
				for _, p := range paths {
					full = append(full, strings.NewReplacer("$DIR", dir, "$OUT", out).Replace(p))
				}
				return full
			}
			slices.Sort(r.Found)
			if !slices.Equal(r.Found, want(c.found)) || !slices.Equal(r.Yours, want(c.yours)) || r.Files != c.files || r.Absent != (len(c.found) == 0) {
				t.Errorf("%+v; found should be %v, yours %v, in %d files", r, want(c.found), want(c.yours), c.files)
			}
			if !slices.Equal(r.Missing, want(c.missing)) || !slices.Equal(r.NotFollowed, want(c.passed)) || !slices.Equal(r.Places, append([]string{at.Dir}, want(c.places)...)) || len(r.Unread) > 0 {
				t.Errorf("%+v; missing should be %v, places %v", r, want(c.missing), want(c.places))
			}
		})
	}
}

// What cannot be read is named, and the rest is looked into.
func TestAbsentNamesWhatItCannotRead(t *testing.T) {
	const unreadable = "/proc/self/mem" // also for root
	if _, err := os.ReadFile(unreadable); err == nil || os.IsNotExist(err) {
		t.Skip("no file here that cannot be read")
	}
	dir := t.TempDir()
	link(t, unreadable, filepath.Join(dir, "chitta.db"))
	put(t, filepath.Join(dir, "given.md"), "nothing of it")
	r, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: dir}, secret, nil)
	if err != nil || r.Absent || len(r.Unread) != 1 || !strings.HasPrefix(r.Unread[0], "chitta.db (") || r.Files != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: filepath.Join(dir, "none")}, secret, nil); err == nil {
		t.Error("a data folder that is not there holds nothing")
	}
}

// In a folder of backups that companions share, those of others are told apart.
func TestAbsentTellsOthersApart(t *testing.T) {
	w, another := newWorld(t), newWorld(t)
	folder := filepath.Join(t.TempDir(), "backups")
	w.opts.Backups.Dir, another.opts.Backups.Dir = folder, folder
	mine, theirs := w.live(t), another.live(t)
	another.write(t, theirs, "At "+secret+".")
	backup, err := theirs.Backup(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	look := func() lifecycle.AbsentReport {
		t.Helper()
		r, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: w.dir, Backups: folder}, "ELM STREET  nine", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := look(); !r.Absent || len(r.Found) > 0 || !slices.Equal(r.Others, []string{backup.Path}) {
		t.Errorf("while it runs: %+v", r)
	}
	w.end(t, mine)
	if r := look(); !r.Absent || !slices.Equal(r.Others, []string{backup.Path}) {
		t.Errorf("at rest: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(folder, "torn.db"), []byte("at elm street nine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := look(); r.Absent || !slices.Equal(r.Found, []string{filepath.Join(folder, "torn.db")}) {
		t.Errorf("of whom it is cannot be told: %+v", r)
	}
}

// A whole entry is found where SOUL.md quotes no more than its beginning.
func TestAbsentFindsQuotesThatAreCut(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	text := "Zanzibarine lane *nine*, " + strings.Repeat("and then some more of the same day, ", 20) + "the end."
	w.write(t, c, text)
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: w.dir}, text, nil)
	if err != nil || !slices.Contains(r.Found, "SOUL.md") || !slices.Contains(r.Found, "chitta.db") {
		t.Errorf("%+v, %v", r, err)
	}
}

// The receipt of a forgetting looks at the same places, and for the words in any form.
func TestReceiptLooksEverywhere(t *testing.T) {
	w := newWorld(t)
	out := t.TempDir()
	w.opts.SoulPath, w.opts.Backups.Dir = filepath.Join(out, "SOUL.md"), filepath.Join(out, "backups")
	c := w.live(t)
	w.write(t, c, "Her new address is Elm Street nine.")
	w.write(t, c, "Rain, and tea by the window.")
	w.write(t, c, "RAIN, and  tea\nby the window.")
	left := put(t, filepath.Join(out, "backups", "copy.db"), "HER NEW address\nis Elm Street nine.")
	r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "elm street"}, nil)
	if err != nil || r.Forgotten != 1 || !slices.Equal(r.Left.Files, []string{left}) || r.Elsewhere != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	given := put(t, filepath.Join(w.dir, "spare.txt"), "rain, and tea by the window")
	hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "tea by the window", Limit: 1})
	if err != nil || len(hits) != 1 {
		t.Fatal(err)
	}
	// Another entry has the same words otherwise written, so that no file tells.
	r, err = c.Forget(t.Context(), lifecycle.ForgetQuery{Entries: []string{hits[0].Impression.ID}}, nil)
	if err != nil || r.Forgotten != 1 || len(r.Left.Files) > 0 || r.Elsewhere != 1 {
		t.Errorf("%s: %+v, %v", given, r, err)
	}
}
