package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/export"
)

func (a *app) exportVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write everything that is remembered in open formats",
		Long: `Makes a new folder with all texts as Markdown, and all entries, sessions and
parameters as JSON, with every number to its last bit; README.txt in it says what
each file is. Nothing of the companion is changed. jivad import FOLDER makes the
companion of it again, in a fresh data folder. The folder holds your diary in plain
text; only you can read it.`,
		Example: "  jivad export ~/jivad-2026-05-01\n  jivad export --json /media/stick/jivad",
		Args:    exactArgs(1, "the new folder to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exportTo(cmd.Context(), args[0])
		},
	}
}

func (a *app) exportTo(ctx context.Context, folder string) error {
	_, at, err := a.find()
	if at.data == "" {
		return err
	}
	if err := a.elsewhere(folder, at); err != nil {
		return err
	}
	return a.looking(ctx, func(ctx context.Context, c companion) (err error) {
		w, err := export.Create(folder)
		if errors.Is(err, export.ErrFolder) {
			return usageError{err}
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		bar := a.progress("entries", 1)
		report, err := c.Export(ctx, bar.show, w.Put)
		bar.end()
		if err != nil {
			return err
		}
		if _, err := w.Commit(); err != nil {
			return err
		}
		report.Folder = w.Path()
		if a.flags.quiet && !a.flags.json {
			return nil
		}
		return a.answer(report, func(p *printer) { tellExport(p, report) })
	})
}

// elsewhere refuses a folder for an export where what is in it would be taken for
// the companion's own, or for entries.
func (a *app) elsewhere(folder string, at place) error {
	for _, in := range []struct{ name, path string }{{"data folder", at.data}, {"diary", at.diary}} {
		if inside(folder, in.path) {
			return usage("%s is in the %s %s: export to a folder outside of it", folder, in.name, in.path)
		}
	}
	return nil
}

// inside tells whether a path is a folder or lies in it, links followed as far as
// they are there.
func inside(path, folder string) bool {
	rel, err := filepath.Rel(followed(absolute(folder)), followed(absolute(path)))
	return err == nil && filepath.IsLocal(rel)
}

func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
		return real
	}
	return filepath.Join(followed(filepath.Dir(path)), filepath.Base(path))
}

func tellExport(p *printer, r lifecycle.ExportReport) {
	p.line("Written: %s", r.Folder)
	p.line("%s in %s, %s, %s.", count(r.Entries, "entry", "entries"), count(r.Sessions, "session", "sessions"),
		count(r.Impressions, "impression", "impressions"), count(r.Texts, "entry with its text", "entries with their text"))
	if r.Altered > 0 {
		p.line("%s", p.dim(count(r.Altered, "entry has", "entries have")+" a backslash more in the diary; impressions.jsonl has what you wrote."))
	}
	if r.Consent > 0 {
		p.line("What you said about consent goes along: %s.", count(r.Consent, "record", "records"))
	}
	if r.Lessons > 0 {
		p.line("What lives have taught (%s) is not in it; jivad backup takes it along.", count(r.Lessons, "distillate", "distillates"))
	}
	p.line("%s", p.dim("state "+r.StateDigest[:min(12, len(r.StateDigest))]))
}

// Export ends with the daemon.
func (s *served) Export(ctx context.Context, progress func(lifecycle.Progress), put func(lifecycle.ExportPart) error) (lifecycle.ExportReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	r, err := s.Companion.Export(ctx, progress, put)
	if err != nil && s.stopping.Err() != nil {
		err = lifecycle.ErrStopping
	}
	return r, err
}

// importExport makes the companion of an export anew.
func (a *app) importExport(ctx context.Context, folder string, dryRun bool) error {
	settings, at, err := a.find()
	if err != nil {
		return err
	}
	if !dryRun {
		if err := a.missing(at); err != nil {
			return err
		}
	}
	x, err := export.Open(ctx, folder)
	if err != nil {
		return named(folder, err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	bar := a.progress("entries", x.Manifest.Counts.Experiences)
	defer bar.end()
	if dryRun {
		if err := x.Records(ctx, func(export.Record) error { return nil }); err != nil {
			return named(folder, err)
		}
		bar.end()
		refusal := a.wouldRefuse(ctx, settings, at, x)
		err := a.answer(x.Manifest, func(p *printer) {
			p.line("An export of %s with %s, whole; nothing was remembered.", x.Manifest.Exported.Format("2006-01-02"), count(x.Manifest.Counts.Experiences, "entry", "entries"))
		})
		return errors.Join(err, refusal)
	}
	if a.running(ctx, at) {
		return usage("a daemon holds %s: an export becomes a companion while none runs; stop it first", at.data)
	}
	o, err := a.optionsFor(settings, at)
	if err != nil {
		return err
	}
	report, err := lifecycle.Rebuild(ctx, o, x, bar.show)
	bar.end()
	if err != nil {
		return named(folder, err)
	}
	if !a.flags.quiet || a.flags.json {
		err = a.answer(report, func(p *printer) { tellRebuild(p, report) })
	}
	if err != nil || !report.Owes() {
		return err
	}
	// The start does it.
	err = a.with(ctx, func(ctx context.Context, c companion) error { _, err := c.Status(ctx); return err })
	if err != nil {
		return fmt.Errorf("the export is imported, but texts that this companion was told not to keep are in it, until the next start takes them out: %w", err)
	}
	return nil
}

// wouldRefuse says why an export would not become the companion of a place, or nil.
func (a *app) wouldRefuse(ctx context.Context, settings config.Config, at place, x *export.Folder) error {
	err := a.missing(at)
	if err == nil && a.running(ctx, at) {
		err = fmt.Errorf("a daemon holds %s; stop it first", at.data)
	}
	if err == nil {
		var o lifecycle.Options
		if o, err = a.optionsFor(settings, at); err != nil {
			return err
		}
		err = lifecycle.CanRebuild(ctx, o, x)
	}
	if err != nil {
		return fmt.Errorf("the import would be refused: %v", err) //nolint:errorlint // the export is as it should be; only this failed
	}
	return nil
}

// named names the folder of a file that an error is of.
func named(folder string, err error) error {
	var at *export.Error
	if errors.As(err, &at) && !strings.Contains(at.File, string(filepath.Separator)) {
		at.File = filepath.Join(folder, at.File)
	}
	return err
}

func tellRebuild(p *printer, r lifecycle.RebuildReport) {
	for _, n := range r.Notes {
		p.line("%s", oneLine(n))
	}
	p.line("The companion is there again: %s in %s, %s.", count(r.Entries, "entry", "entries"), count(r.Sessions, "session", "sessions"), count(r.Impressions, "impression", "impressions"))
	if n := r.ConsentRecords; n > 0 {
		p.line("What was said about consent came along (%s); where this companion was told otherwise before, whichever allows less holds: jivad consent show.", count(n, "record", "records"))
	}
	if n := r.ToWithdraw; n > 0 {
		p.line("%s of what this companion was told to keep nothing of (%s): destroyed now.", count(n, "text", "texts"), namesOf(r.Withdrawn))
	}
	p.line("Rules that lives left do not come with an export; this companion begins a lineage of its own.")
	p.line("Folded anew, its state agrees with the one that was exported %s (%.12s).", r.Agrees, r.StateDigest)
}

func namesOf(categories []consent.Category) string {
	var out []string
	for _, k := range categories {
		out = append(out, k.String())
	}
	return strings.Join(out, ", ")
}
