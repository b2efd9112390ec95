package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// The deeds that make copies of a companion, or put one in its place.

// isThere tells whether a path is there.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// copyFile is where a round's backup goes.
func (r *round) copyFile() string { return filepath.Join(r.dir, "copy.db") }

// backup makes a copy, unless it is there.
func backup(ctx context.Context, r *round) error {
	if isThere(r.copyFile()) {
		return nil
	}
	// A daemon that started just now may be making one of its own.
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	err := r.asClient(ctx, "backup", r.copyFile())
	for tries := 0; err != nil && tries < 50 && strings.Contains(r.complaint, "already"); tries++ {
		<-again.C
		err = r.asClient(ctx, "backup", r.copyFile())
	}
	if err != nil {
		return err
	}
	r.acknowledged("backup", func() { r.made = true })
	return nil
}

// lookAtBackup: a copy that was acknowledged is there, and one that is there is
// whole.
func lookAtBackup(ctx context.Context, r *round) error {
	if !isThere(r.copyFile()) {
		if r.made {
			r.fail(kindLost, "the backup was acknowledged, and is not there")
		}
		return nil
	}
	other := filepath.Join(r.dir, "restored")
	if err := r.lab.inTurn(ctx, other, []string{"restore", r.copyFile()}, []string{"init", "--yes"}); err != nil {
		r.fail(kindLost, "the backup is there, and cannot be restored: %v", err)
		return nil
	}
	return r.sameAsBase(ctx, other)
}

// sameAsBase holds another folder against what the round began from.
func (r *round) sameAsBase(ctx context.Context, folder string) error {
	p, err := start(spec{program: r.program, args: []string{"--data", folder, "--json", "verify"}, environ: r.lab.environ()})
	if err != nil {
		return err
	}
	if err := p.wait(ctx); err != nil {
		return err
	}
	b, err := r.lab.base(ctx, r.deed.base)
	if err != nil {
		return err
	}
	var report lifecycle.VerifyReport
	if err := json.Unmarshal([]byte(p.stdout.String()), &report); err != nil || p.code() != 0 {
		r.fail(kindVerify, "the copy: exit code %d: %s%s", p.code(), failed(report.Checks), firstLines(p.stderr.String()))
	} else if report.StateDigest != b.digest && !r.overnight() && r.clock == [2]string{} { // a wrong clock ends the session of today
		r.fail(kindState, "the copy has state %.12s, what was copied %.12s", report.StateDigest, b.digest)
	}
	return nil
}

// savedFile is the backup that the base "saved" has.
func (r *round) savedFile() string { return filepath.Join(r.data, "saved.db") }

func restore(ctx context.Context, r *round) error {
	return r.verb(ctx, nil, "restore", r.savedFile())
}

// savedBefore is a backup of what the base "regretted" has forgotten since.
func (l *lab) savedBefore() string { return filepath.Join(l.root, "material", "before.db") }

// exported is where a round's export goes.
func (r *round) exported() string { return filepath.Join(r.dir, "out") }

// export writes one, unless it is there.
func export(ctx context.Context, r *round) error {
	if isThere(r.exported()) {
		return nil
	}
	if err := r.verb(ctx, nil, "export", r.exported()); err != nil {
		return err
	}
	r.acknowledged("export", func() { r.made = true })
	return nil
}

// lookAtExport: an export that was acknowledged is there, and one that is there
// becomes the same companion.
func lookAtExport(ctx context.Context, r *round) error {
	if !isThere(r.exported()) {
		if r.made {
			r.fail(kindLost, "the export was acknowledged, and is not there")
		}
		return nil
	}
	other := filepath.Join(r.dir, "imported")
	if err := r.lab.inTurn(ctx, other, []string{"init", "--yes"}, []string{"import", r.exported()}); err != nil {
		r.fail(kindLost, "the export is there, and cannot be imported: %v", err)
		return nil
	}
	return r.sameAsBase(ctx, other)
}

// importExport makes the companion of an export; one that is there already is not
// made again.
func importExport(ctx context.Context, r *round) error {
	err := r.verb(ctx, nil, "import", r.lab.exportFolder())
	if r.again && err != nil && strings.Contains(r.complaint, "not empty") {
		return nil
	}
	if err == nil {
		r.acknowledgeCount(historyEntries)
	}
	return err
}

func (l *lab) exportFolder() string { return filepath.Join(l.root, "material", "export") }

// otherEmbedder is the program with an embedder of another name.
func otherEmbedder() variant {
	return variant{
		name: "embedder", file: filepath.Join("internal", "builtin", "embed.go"),
		swaps: [][2]string{{"const embedderID = \"builtin-use-gram/1\"", "const embedderID = \"builtin-use-gram/0\""}},
	}
}

// copyBases are the folders that such deeds begin from.
func copyBases() map[string]ground {
	return map[string]ground{
		// saved has a backup of a time when it lacked some of what it has now.
		"saved": {make: func(ctx context.Context, l *lab, folder string) error {
			return l.inTurn(ctx, folder, []string{"init", "--yes"}, []string{"import", l.material.without},
				[]string{"backup", filepath.Join(folder, "saved.db")}, []string{"import", l.material.file})
		}},
		// regretted has forgotten what a backup elsewhere still holds.
		"regretted": {make: func(ctx context.Context, l *lab, folder string) error {
			err := l.inTurn(ctx, folder, []string{"init", "--yes"}, []string{"import", l.material.file}, []string{"backup", l.savedBefore()})
			if err != nil {
				return err
			}
			if err := os.Chmod(l.savedBefore(), 0o644); err != nil { //nolint:gosec // programs of another user read it too
				return err
			}
			for _, i := range l.material.doomed {
				if err := l.verb(ctx, folder, "forget", "--yes", "--match", l.material.history[i].Text); err != nil {
					return err
				}
			}
			return nil
		}},
		// foreign has the vectors of another embedder.
		"foreign": {variant: otherEmbedder, make: func(ctx context.Context, l *lab, folder string) error {
			program, err := l.variant(ctx, otherEmbedder())
			if err != nil {
				return err
			}
			for _, args := range [][]string{{"init", "--yes"}, {"import", l.material.file}} {
				if err := l.verbOf(ctx, program, folder, args...); err != nil {
					return err
				}
			}
			return nil
		}},
		// moving is a new one, beside an export of another.
		"moving": {make: func(ctx context.Context, l *lab, folder string) error {
			b, err := l.base(ctx, "diary")
			if err != nil {
				return err
			}
			aside := filepath.Join(l.root, "exporting")
			if err := copyFolder(b.folder, aside); err != nil {
				return err
			}
			if err := l.verb(ctx, aside, "export", l.exportFolder()); err != nil {
				return err
			}
			// Programs of another user read it too.
			err = filepath.WalkDir(l.exportFolder(), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				mode := os.FileMode(0o644)
				if d.IsDir() {
					mode = 0o755
				}
				return os.Chmod(path, mode)
			})
			if err := errors.Join(err, os.RemoveAll(aside)); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			return l.verb(ctx, folder, "init", "--yes")
		}},
	}
}
