package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Places are where the files of a companion may be.
type Places struct {
	// Dir is the data folder, Diary the folder that the person writes in; empty
	// means none.
	Dir, Diary string
	// Soul is where SOUL.md is written, Backups the folder of automatic backups;
	// empty means SOUL.md and backups in Dir.
	Soul, Backups string
	// Config is the file of the settings; empty means that it is not known.
	Config string
}

const (
	soulName   = "SOUL.md"
	givenName  = "given.md"
	backupsDir = "backups"
)

// kind says whose a file is.
type kind int

const (
	// own was written by the program.
	own kind = iota
	// yours is in the diary folder.
	yours
	// shared is in a folder of backups outside of the data folder, where those of
	// other companions may be.
	shared
)

// placeFile is one file to look into.
type placeFile struct {
	// path is where it is, name how a report calls it: relative to the data folder,
	// or absolute.
	path, name string
	kind       kind
	// err, if not nil, says why it cannot be looked into; it may be a folder then.
	err error
}

// round goes through the places once.
type round struct {
	at Places
	// dir and diary are the folders behind any links.
	dir, diary string
	visit      func(placeFile) error
	seen       map[string]bool
	// looked are the places, missing those that are not there, and passed the links
	// in the data folder to folders that the program does not write to.
	looked, missing, passed []string
}

// each calls f for every regular file of the places, and once for each: the data
// folder; SOUL.md and what is written beside it; the folder of backups. Links to
// files are followed, and those to folders that the program uses. What goes away
// meanwhile is passed over; what f returns ends it. Errors: of the data folder.
func (p Places) each(ctx context.Context, f func(placeFile) error) (*round, error) {
	r := &round{at: p, seen: map[string]bool{}}
	r.visit = func(file placeFile) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(file)
	}
	var err error
	if r.at.Dir, err = filepath.Abs(p.Dir); err != nil {
		return r, err
	}
	if r.dir, err = filepath.EvalSymlinks(r.at.Dir); err != nil {
		return r, err
	}
	r.at.Soul = cmp.Or(p.Soul, filepath.Join(r.at.Dir, soulName))
	r.at.Backups = cmp.Or(p.Backups, filepath.Join(r.at.Dir, backupsDir))
	if p.Diary != "" {
		r.diary = filepath.Clean(p.Diary)
		if real, err := filepath.EvalSymlinks(p.Diary); err == nil {
			r.diary = real
		}
	}
	r.looked = []string{r.at.Dir}
	// What the program wrote is known for it before the diary is come to.
	if err := r.soul(); err != nil {
		return r, err
	}
	if err := r.backups(r.at.Backups); err != nil {
		return r, err
	}
	return r, r.folder(r.dir, "")
}

// soul looks at SOUL.md, given.md beside it, and what a crash left of either.
func (r *round) soul() error {
	for _, path := range []string{r.at.Soul, filepath.Join(filepath.Dir(r.at.Soul), givenName)} {
		real := target(path)
		_, err := os.Stat(real)
		switch {
		case err == nil:
			if !within(real, r.dir) {
				r.looked = append(r.looked, r.placeOf(path, real))
			}
			err = r.file(real, r.nameOf(path), own)
		case !gone(err):
			err = r.visit(placeFile{path: real, name: r.nameOf(path), err: err})
		case path == r.at.Soul && !within(path, r.at.Dir):
			r.missing = append(r.missing, path)
			err = nil
		default:
			err = nil
		}
		if err == nil {
			err = r.temps(real)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// temps looks at the files that were to become one.
func (r *round) temps(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if gone(err) {
		return nil
	}
	if err != nil {
		return r.visit(placeFile{path: dir, name: r.nameOf(dir), err: err})
	}
	for _, e := range entries {
		if temp := filepath.Join(dir, e.Name()); e.Type().IsRegular() && isTemp(e.Name(), filepath.Base(path)) {
			if err := r.file(temp, r.nameOf(temp), own); err != nil {
				return err
			}
		}
	}
	return nil
}

// isTemp tells whether a name is that of a file that was being written.
func isTemp(name, of string) bool {
	const stem = 200 // of long names there is no more in it
	middle, begins := strings.CutPrefix(name, "."+of[:min(len(of), stem)])
	middle, ends := strings.CutSuffix(middle, ".tmp")
	return begins && ends && strings.HasPrefix(middle, ".") && strings.Trim(middle[1:], "0123456789") == ""
}

// backups looks at a folder of backups outside of the data folder: what the
// program made there, and what ends as its files do.
func (r *round) backups(folder string) error {
	real, err := behind(folder)
	switch {
	case gone(err):
		if !within(folder, r.at.Dir) {
			r.missing = append(r.missing, folder)
		}
		return nil
	case err != nil:
		return r.visit(placeFile{path: folder, name: r.nameOf(folder), err: err})
	case within(real, r.dir) || r.seen[real]:
		return nil // the data folder is read whole
	}
	r.seen[real] = true
	r.looked = append(r.looked, r.placeOf(folder, real))
	entries, err := os.ReadDir(real)
	if err != nil {
		return r.visit(placeFile{path: real, name: r.nameOf(folder), err: err})
	}
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != ".db" && !(strings.HasPrefix(name, ".jivad-") && filepath.Ext(name) == ".tmp") {
			continue
		}
		if err := r.entry(e, real, r.nameOf(filepath.Join(folder, name)), shared); err != nil {
			return err
		}
	}
	return nil
}

// folder goes through a folder; name is what it is called in reports.
func (r *round) folder(real, name string) error {
	if r.seen[real] {
		return nil
	}
	r.seen[real] = true
	entries, err := os.ReadDir(real)
	if gone(err) && name != "" {
		return nil
	}
	if err != nil {
		return r.visit(placeFile{path: real, name: cmp.Or(name, r.at.Dir), err: err})
	}
	for _, e := range entries {
		called := filepath.Join(name, e.Name())
		whose := own
		if r.isYours(filepath.Join(real, e.Name()), called) {
			whose = yours
		}
		if err := r.entry(e, real, called, whose); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at what is in a folder: a file, a folder, or a link to one.
func (r *round) entry(e fs.DirEntry, in, name string, whose kind) error {
	path := filepath.Join(in, e.Name())
	switch {
	case e.Type().IsRegular():
		return r.file(path, name, whose)
	case e.IsDir() && whose != shared:
		return r.folder(path, name)
	case e.Type()&fs.ModeSymlink == 0:
		return nil // a socket, say
	}
	real, err := behind(path)
	if gone(err) {
		return nil
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	switch {
	case gone(err):
		return nil
	case err != nil:
		return r.visit(placeFile{path: path, name: name, kind: whose, err: err})
	case info.Mode().IsRegular():
		return r.file(real, name, whose)
	case !info.IsDir() || whose == shared:
		return nil
	case name == backupsDir && !within(real, r.dir):
		return r.backups(filepath.Join(r.at.Dir, name))
	case r.uses(name):
		if !within(real, r.dir) {
			r.looked = append(r.looked, real)
		}
		return r.folder(real, name)
	}
	r.passed = append(r.passed, name)
	return nil
}

// uses tells whether a folder of the data folder is the diary, or one that the
// program writes to.
func (r *round) uses(name string) bool {
	first, _, _ := strings.Cut(name, string(filepath.Separator))
	return slices.Contains([]string{backupsDir, "cache", "soul"}, first) || r.at.Diary != "" && filepath.Join(r.at.Dir, name) == filepath.Clean(r.at.Diary)
}

func (r *round) file(path, name string, whose kind) error {
	if r.seen[path] {
		return nil
	}
	r.seen[path] = true
	return r.visit(placeFile{path: path, name: name, kind: whose})
}

// isYours tells whether something is in the diary folder, as it is or as it is
// called. Where the data folder lies in the diary, what is in it is not.
func (r *round) isYours(real, name string) bool {
	if r.diary == "" || within(r.dir, r.diary) {
		return false
	}
	return within(real, r.diary) || within(filepath.Join(r.at.Dir, name), filepath.Clean(r.at.Diary))
}

// nameOf is what reports call a path.
func (r *round) nameOf(path string) string {
	for _, dir := range []string{r.at.Dir, r.dir} {
		if rel, err := filepath.Rel(dir, path); err == nil && rel != "." && within(path, dir) {
			return rel
		}
	}
	return path
}

// placeOf is a place outside of the data folder: as it was named there, or where
// a link in the data folder leads to.
func (r *round) placeOf(named, real string) string {
	if within(named, r.at.Dir) {
		return real
	}
	return named
}

// target follows links to where writing to a path lands, which need not be there.
func target(path string) string {
	const most = 40 // as the kernel
	for range most {
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// behind follows links to what is there.
func behind(path string) (string, error) {
	if _, err := os.Stat(path); err != nil { // whose errors are typed, also in a circle of links
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// gone tells of what is not there, or is a circle of links.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR)
}

// within tells whether a path lies in a folder, or is it.
func within(path, folder string) bool {
	if folder == "" {
		return false
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
