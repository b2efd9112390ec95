package soul

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/jivad/jivad/internal/atomicfile"
)

const (
	filePerm   = 0o600
	folderPerm = 0o700
)

// Files is where SOUL.md and its earlier versions are. SoulPath may be a
// symbolic link or lie in another agent's workspace.
type Files struct {
	SoulPath   string
	ArchiveDir string
	// GivenPath keeps the whole Given; empty means given.md beside SoulPath.
	GivenPath string
}

// Version is one file of the archive.
type Version struct {
	Session int
	// Date is YYYY-MM-DD, or empty.
	Date string
	Path string
	// Edited marks a copy of a SOUL.md that somebody had edited outside Given.
	Edited bool
}

// ErrNoVersion: the archive holds no SOUL.md of that session.
var ErrNoVersion = errors.New("no such version")

// Current reads SOUL.md; nil when there is none yet.
func (f Files) Current() ([]byte, error) {
	doc, err := os.ReadFile(f.SoulPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("soul: SOUL.md cannot be read: %w; check its permissions, or correct soul.path", err)
	}
	return doc, nil
}

// Write replaces SOUL.md. A file that is there keeps its permissions, so that a
// person may open it to another agent; a new one is for its owner only.
func (f Files) Write(doc []byte) error { return replace(f.SoulPath, doc) }

// Renew archives the SOUL.md that is there and writes doc in its place.
// lastWritten is what was written last, or nil: a SOUL.md that was edited
// outside Given since then is archived as an edited copy too.
func (f Files) Renew(doc, lastWritten []byte) error {
	old, err := f.Current()
	if err != nil {
		return err
	}
	if len(old) > 0 && !bytes.Equal(old, doc) {
		if err := f.retire(old, lastWritten); err != nil {
			return err
		}
	}
	return f.Write(doc)
}

func (f Files) retire(old, lastWritten []byte) error {
	session, date := 0, ""
	h, err := ParseHeader(old)
	foreign := err != nil
	if foreign && lastWritten != nil {
		h, err = ParseHeader(lastWritten) // the edit took the front matter away
	}
	if err == nil {
		session = h.Session
		if h.GeneratedAt != nil {
			date = h.GeneratedAt.Format("2006-01-02")
		}
	}
	if foreign || EditedElsewhere(old, lastWritten) {
		if err := f.archive(session, date, old, true); err != nil {
			return err
		}
		if lastWritten == nil {
			return nil
		}
		old = lastWritten
	}
	return f.archive(session, date, old, false)
}

// Archive keeps doc as the SOUL.md of a session: NNNNNN-<date>.md, for the owner
// only. A session that was closed again replaces its own number; nothing else
// is ever written over. A date that is none becomes "undated".
func (f Files) Archive(session int, date string, doc []byte) error {
	return f.archive(session, date, doc, false)
}

func (f Files) archive(session int, date string, doc []byte, edited bool) error {
	if session < 0 {
		return fmt.Errorf("soul: session %d cannot be archived; sessions count from 0", session)
	}
	if err := atomicfile.MkdirAll(f.ArchiveDir, folderPerm); err != nil {
		return err
	}
	date = day(date)
	stamp := date
	if stamp == "" {
		stamp = "undated"
	}
	name := fmt.Sprintf("%06d-%s", session, stamp)
	if edited {
		// Every edit is kept: its content is part of the name.
		name += fmt.Sprintf("-edited-%x", sha256.Sum256(doc))[:len("-edited-")+8]
	}
	path := filepath.Join(f.ArchiveDir, name+".md")
	if err := atomicfile.Write(path, doc, filePerm); err != nil {
		return err
	}
	if edited {
		return nil
	}
	// The same session under another day is the same version.
	all, err := f.versions()
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Session == session && !v.Edited && v.Path != path {
			if err := f.remove(v); err != nil {
				return err
			}
		}
	}
	return nil
}

var versionName = regexp.MustCompile(`^(\d{6,9})-(undated|\d{4}-\d{2}-\d{2})(-edited-[0-9a-f]{8})?\.md$`)

// List is the archive by session; an edited copy comes after its original.
func (f Files) List() ([]Version, error) { return f.versions() }

func (f Files) versions() ([]Version, error) {
	entries, err := os.ReadDir(f.ArchiveDir) // by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("soul: the archive cannot be read: %w; check the folder's permissions", err)
	}
	var out []Version
	for _, e := range entries {
		m := versionName.FindStringSubmatch(e.Name())
		if m == nil || !e.Type().IsRegular() {
			continue
		}
		session, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		out = append(out, Version{session, day(m[2]), filepath.Join(f.ArchiveDir, e.Name()), m[3] != ""})
	}
	slices.SortStableFunc(out, func(a, b Version) int {
		switch {
		case a.Session != b.Session:
			return a.Session - b.Session
		case a.Edited == b.Edited:
			return 0
		case b.Edited:
			return -1
		}
		return 1
	})
	return out, nil
}

// Read gives the archived SOUL.md of a session; ErrNoVersion when there is none.
func (f Files) Read(session int) ([]byte, error) {
	all, err := f.versions()
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if v.Session == session && !v.Edited {
			doc, err := os.ReadFile(v.Path)
			if err != nil {
				return nil, fmt.Errorf("soul: version %d cannot be read: %w; check its permissions", session, err)
			}
			return doc, nil
		}
	}
	return nil, fmt.Errorf("soul: session %d: %w in the archive; list the versions to see which there are", session, ErrNoVersion)
}

// DropFrom removes the versions of a session and of all later ones, edited
// copies too: they were generated from what is forgotten. It gives their number.
func (f Files) DropFrom(session int) (int, error) {
	all, err := f.versions()
	if err != nil {
		return 0, err
	}
	dropped := 0
	for _, v := range all {
		if v.Session < session {
			continue
		}
		if err := f.remove(v); err != nil {
			return dropped, err
		}
		dropped++
	}
	if dropped > 0 {
		if err := atomicfile.SyncDir(f.ArchiveDir); err != nil {
			return dropped, fmt.Errorf("soul: the archive's folder cannot be synced: %w; check the disk and forget again", err)
		}
	}
	return dropped, nil
}

func (f Files) remove(v Version) error {
	if err := os.Remove(v.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("soul: version %d cannot be removed: %w; check the folder's permissions", v.Session, err)
	}
	return nil
}

// WriteGiven keeps the whole Given.
func (f Files) WriteGiven(given string) error { return replace(f.givenPath(), []byte(given)) }

// ReadGiven is the whole Given as it was kept; the bool is false when there is none.
func (f Files) ReadGiven() (string, bool, error) {
	data, err := os.ReadFile(f.givenPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("soul: given.md cannot be read: %w; check its permissions", err)
	}
	return string(data), true, nil
}

func (f Files) givenPath() string {
	if f.GivenPath != "" {
		return f.GivenPath
	}
	return filepath.Join(filepath.Dir(f.SoulPath), "given.md")
}

// replace writes a file of which the folder may be missing.
func replace(path string, data []byte) error {
	perm := fs.FileMode(filePerm)
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	} else if err := atomicfile.MkdirAll(filepath.Dir(path), folderPerm); err != nil {
		return err
	}
	return atomicfile.Write(path, data, perm)
}

// RemoveLeftovers removes what a crash left beside SOUL.md and given.md and in
// the archive, where a half-written version may hold what is forgotten later; for
// start-up, before anything writes.
func (f Files) RemoveLeftovers() error {
	return errors.Join(atomicfile.RemoveLeftovers(f.SoulPath), atomicfile.RemoveLeftovers(f.givenPath()), f.clearArchive())
}

// leftoverName is a version that was being written.
var leftoverName = regexp.MustCompile(`^\.\d{6,9}-[-0-9a-z]+\.md\.\d+\.tmp$`)

func (f Files) clearArchive() error {
	entries, err := os.ReadDir(f.ArchiveDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("soul: the archive cannot be read: %w; check the folder's permissions", err)
	}
	var faults []error
	for _, entry := range entries {
		if !leftoverName.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(f.ArchiveDir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("soul: what a crash left in the archive cannot be removed: %w; check the folder's permissions", err))
		}
	}
	return errors.Join(faults...)
}
