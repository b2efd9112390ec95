package lifecycle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
)

// PlaceError: a path of the settings is one where the program would write over
// something else, or take what it writes for entries.
type PlaceError struct {
	// Key is the key of the settings, Path what it names.
	Key, Path string
	// Why says what is wrong with it, Hint what to do.
	Why, Hint string
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("%s = %s: %s. %s", e.Key, e.Path, e.Why, e.Hint)
}

// Check sees that nothing is written where something else is: that SOUL.md, the
// backups and the diary each have a place of their own, links followed. Nothing needs
// to be there. Its error is a [*PlaceError], of the first path that has a fault.
func (p Places) Check() error {
	c := placeCheck{dir: landing(p.Dir)}
	if p.Diary != "" {
		c.diary = landing(p.Diary)
		if err := c.checkDiary(p.Diary); err != nil {
			return err
		}
	}
	backups := p.Backups
	if backups == "" {
		backups = filepath.Join(p.Dir, backupsDir)
	}
	c.backups = landing(backups)
	if err := c.checkBackups(backups); err != nil {
		return err
	}
	path := p.Soul
	if path == "" {
		path = filepath.Join(p.Dir, soulName)
	}
	return c.checkSoul(path, p.Config)
}

// placeCheck holds folders against each other, with all links followed.
type placeCheck struct{ dir, diary, backups string }

// own are the folders of the data folder that only the program writes to.
func (c placeCheck) own(names ...string) []string {
	var out []string
	for _, name := range names {
		out = append(out, landing(filepath.Join(c.dir, name)))
	}
	return out
}

// holding is the first of some folders that a path lies in, or empty. Where one of
// them holds the data folder itself, what lies in that is not meant.
func (c placeCheck) holding(path string, folders ...string) string {
	for _, folder := range folders {
		if within(path, folder) && !(within(c.dir, folder) && within(path, c.dir)) {
			return folder
		}
	}
	return ""
}

func (c placeCheck) checkDiary(named string) error {
	fault := &PlaceError{Key: "diary.path", Path: named, Hint: "Name the folder that you write in."}
	if c.diary == c.dir {
		fault.Why = fmt.Sprintf("the diary cannot be the data folder %s: SOUL.md would be taken for an entry", c.dir)
		return fault
	}
	if in := c.holding(c.diary, c.own("cache", "soul", backupsDir)...); in != "" {
		fault.Why = "it is in " + in + ", which the program writes to"
		return fault
	}
	return nil
}

func (c placeCheck) checkBackups(named string) error {
	fault := &PlaceError{Key: "backups.path", Path: named, Hint: "Name a folder for backups alone, best on another disk."}
	if c.backups == c.dir {
		fault.Why = "backups cannot lie among the files of the data folder itself"
		return fault
	}
	if in := c.holding(c.backups, append(c.own("cache", "soul"), c.diary)...); in != "" {
		fault.Why = "it is in " + in + ", which is for something else"
		return fault
	}
	return nil
}

func (c placeCheck) checkSoul(named, config string) error {
	fault := &PlaceError{Key: "soul.path", Path: named, Hint: "Name a Markdown file that is for SOUL.md alone, such as SOUL.md in a folder of its own."}
	path := landing(named)
	switch in := c.holding(path, append(c.own("cache", "soul", backupsDir), c.backups, c.diary)...); {
	case same(path, filepath.Join(c.dir, chitta.FileName)):
		fault.Why = "that is the store, which would be written over"
	case config != "" && same(path, landing(config)):
		fault.Why = "that is the file of the settings, which would be written over"
	case in != "":
		fault.Why = "it is in " + in + ", where nothing is to be written over"
	case !markdown(named) || !markdown(path):
		fault.Why = "its name does not end in .md or .markdown, and what is there would be written over"
	case filepath.Base(path) == givenName:
		fault.Why = "that is the name of the file which keeps all of Given, beside SOUL.md"
	default:
		return nil
	}
	return fault
}

func markdown(path string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(filepath.Ext(path)))
}

// same tells whether two paths name one file, by whatever name.
func same(a, b string) bool {
	if a == b {
		return true
	}
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

// landing is where a path leads to, links followed as far as they are there.
func landing(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	path = target(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(landing(dir), filepath.Base(path))
	}
	return path
}
