package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/diary"
	"github.com/jivad/jivad/lifecycle/export"
)

// importReport is what an import did, with what the reader has to tell.
type importReport struct {
	lifecycle.ImportReport
	Files  int      `json:"files"`
	DryRun bool     `json:"dry_run,omitempty"`
	Notes  []string `json:"notes,omitempty"`
	// Failed are the files that could not be read, each with its reason.
	Failed []string `json:"failed,omitempty"`
}

func (a *app) importVerb() *cobra.Command {
	var split string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Remember what was written so far",
		Long: `Reads files and folders (.md .markdown .txt .org .jsonl) and remembers their entries,
each day as one session, oldest first. The files are only read. What is remembered
already is passed over, so an import that was interrupted is simply run again. What
cannot be read is named and does not keep the rest out; the exit code is then 1.
Links in a folder are not followed.

A folder that jivad export wrote becomes the companion that it is of, with the same
state to the last bit: in a fresh data folder, while no daemon runs.`,
		Example: "  jivad import ~/diary\n  jivad import --dry-run old.txt\n  jivad import --split heading notes.md\n  jivad import entries.jsonl    # {\"date\": \"2024-05-01\", \"text\": \"…\"}",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes the files or folders to read", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			how := diary.Split(split)
			if !slices.Contains([]diary.Split{diary.SplitAuto, diary.SplitDate, diary.SplitHeading, diary.SplitNone}, how) {
				return usage("--split %q: it must be auto, date, heading or none", split)
			}
			for _, path := range args {
				switch {
				case !export.Is(path):
				case len(args) > 1:
					return usage("%s is an export of a companion: import it alone", path)
				default:
					return a.importExport(cmd.Context(), path, dryRun)
				}
			}
			return a.importPaths(cmd.Context(), args, how, dryRun)
		},
	}
	cmd.Flags().StringVar(&split, "split", "auto", "divide files into entries by: auto, date, heading or none")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "read and report, remember nothing")
	return cmd
}

func (a *app) importPaths(ctx context.Context, paths []string, split diary.Split, dryRun bool) error {
	_, at, err := a.find()
	if !dryRun { // what is missing is told before a long reading
		if at.data == "" {
			return err
		}
		if err := a.missing(at); err != nil && !a.running(ctx, at) {
			return err
		}
	}
	notes, report, err := readNotes(paths, split, at.diary)
	if err != nil {
		return err
	}
	if len(notes) == 0 && !dryRun {
		if len(report.Failed) > 0 {
			return fmt.Errorf("nothing was imported:\n  %s", strings.Join(report.Failed, "\n  "))
		}
		return fmt.Errorf("nothing to import: no entries in %s", strings.Join(paths, ", "))
	}
	if dryRun {
		report.DryRun = true
		report.Entries = len(notes)
		err := a.answer(report, func(p *printer) { tellImport(p, report, a.flags.quiet) })
		return errors.Join(err, report.failure("; all others can be"))
	}
	return a.with(ctx, func(ctx context.Context, c companion) error {
		bar := a.progress("entries", len(notes))
		done, err := c.Import(ctx, notes, bar.show)
		bar.end()
		report.ImportReport = done
		if errors.Is(err, lifecycle.ErrStopping) || errors.Is(err, lifecycle.ErrClosed) || errors.Is(err, api.ErrUnreachable) {
			return fmt.Errorf("%w; run the import again: what was remembered is passed over", err)
		}
		if err != nil {
			if done.New+done.Edited > 0 { // what was done is told all the same
				err = errors.Join(err, a.answer(report, func(p *printer) { tellImport(p, report, a.flags.quiet) }))
			}
			return errors.Join(err, report.failure(""))
		}
		err = a.answer(report, func(p *printer) { tellImport(p, report, a.flags.quiet) })
		return errors.Join(err, report.failure("; all others were imported"))
	})
}

// failure is the error of an import that could not read everything, or nil;
// rest says what became of the others.
func (r importReport) failure(rest string) error {
	if len(r.Failed) == 0 {
		return nil
	}
	if rest != "" {
		rest += fmt.Sprintf(" (%s in %s)", count(r.Entries, "entry", "entries"), count(r.Files, "file", "files"))
	}
	return fmt.Errorf("%s could not be read%s:\n  %s", count(len(r.Failed), "path", "paths"), rest, strings.Join(r.Failed, "\n  "))
}

// running tells whether a daemon answers.
func (a *app) running(ctx context.Context, at place) bool {
	c, err := api.Dial(ctx, at.socket)
	if err != nil {
		return false
	}
	_ = c.Close(ctx)
	return true
}

// readNotes reads all files before anything is remembered. A path that is not
// there ends it, since it was probably mistyped; what is there and cannot be
// read does not keep the others out.
func readNotes(paths []string, split diary.Split, watched string) ([]lifecycle.Note, importReport, error) {
	var notes []lifecycle.Note
	var report importReport
	for _, path := range paths {
		files, err := diary.Read(path, diary.Options{Split: split})
		var unread diary.Unread
		switch {
		case errors.As(err, &unread):
			for _, err := range unread {
				report.Failed = append(report.Failed, err.Error())
			}
		case errors.Is(err, fs.ErrNotExist):
			return nil, report, err
		case err != nil:
			report.Failed = append(report.Failed, err.Error())
		}
		for _, f := range files {
			if f.Split != "" { // not what is only told of the folder
				report.Files++
			}
			for _, n := range f.Notes {
				place := f.Name
				if n.Line > 0 {
					place += fmt.Sprintf(" line %d", n.Line)
				}
				report.Notes = append(report.Notes, place+": "+n.Text)
			}
			source := sourceOf(path, f.Name, watched)
			for _, e := range f.Entries {
				notes = append(notes, lifecycle.Note{Text: e.Text, Date: e.Date, Label: e.Label, Category: e.Category, Source: source})
			}
		}
	}
	return notes, report, nil
}

// sourceOf names a file for as long as it stays where it is, so that an edit is
// known for one; a file of the watched folder has the name that the daemon gives it.
func sourceOf(path, name, watched string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, filepath.FromSlash(name))
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if watched != "" {
		if rel, err := filepath.Rel(watched, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return "import:" + filepath.ToSlash(path)
}

func tellImport(p *printer, r importReport, quiet bool) {
	if quiet {
		return
	}
	for _, n := range r.Notes {
		p.line("%s", p.dim(oneLine(n)))
	}
	for _, w := range r.Warnings {
		p.line("%s", oneLine(w))
	}
	if r.DryRun {
		p.line("%s in %s; nothing was remembered.", count(r.Entries, "entry", "entries"), count(r.Files, "file", "files"))
		return
	}
	edited := ""
	if r.Edited > 0 {
		edited = fmt.Sprintf(" %d edited,", r.Edited)
	}
	if r.Forgotten > 0 {
		edited += fmt.Sprintf(" %d forgotten before and left out,", r.Forgotten)
	}
	p.line("%s: %d new,%s %d remembered already, %s.", count(r.Entries, "entry", "entries"), r.New, edited, r.Duplicates, count(r.Sessions, "session", "sessions"))
	for _, kind := range slices.Sorted(maps.Keys(r.Withheld)) {
		p.line("Of %s no text is kept, only the impression: you have not allowed to store what is about %s. To have such texts kept from now on: jivad consent set %s.storage=allow %s.access=allow",
			count(r.Withheld[kind], "entry", "entries"), kind, kind, kind)
	}
	if r.New > 0 && r.PerMinute > 0 {
		p.line("%s, %.0f entries a minute.", time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond), r.PerMinute)
	}
}
