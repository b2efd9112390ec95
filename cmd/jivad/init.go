package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/internal/sample"
)

// initReport is what init made.
type initReport struct {
	Config string `json:"config"`
	// Created is false when the configuration was there already.
	Created bool   `json:"config_created"`
	Data    string `json:"data_dir"`
	Diary   string `json:"diary"`
	// DiaryMade is true when the diary folder was not there.
	DiaryMade bool   `json:"diary_created"`
	Soul      string `json:"soul"`
	// Manifest is what lives are born with; ManifestMade is true when it was not there.
	Manifest     string `json:"manifest"`
	ManifestMade bool   `json:"manifest_created"`
	Policy       string `json:"policy"`
	PolicyMade   bool   `json:"policy_created"`
	Sample       bool   `json:"sample"`
	// Health is what consent says of storing texts about health: allow, ask or deny.
	Health string `json:"health_storage"`
}

func (a *app) initVerb() *cobra.Command {
	var yes, withSample bool
	var diary string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a data folder, a configuration and the first SOUL.md",
		Long: `Makes what is missing and leaves what is there: the data folder, the configuration
with every key explained, the manifest that lives are born with, the policy of evidence,
the diary folder, the store and the first SOUL.md. It asks once whether texts about health may be kept; with
--yes none are, until you say so with jivad consent set.`,
		Example: "  jivad init\n  jivad init --yes --diary ~/diary\n  jivad init --data /tmp/try --yes --sample",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.initialise(cmd.Context(), yes, withSample, diary)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing")
	cmd.Flags().BoolVar(&withSample, "sample", false, "write an invented diary of four months into the diary folder")
	cmd.Flags().StringVar(&diary, "diary", "", "`DIR` that you write in (default: diary in the data folder)")
	return cmd
}

func (a *app) initialise(ctx context.Context, yes, withSample bool, diary string) (failure error) {
	report, err := a.initPlaces(diary)
	if err != nil {
		return err
	}
	if report.Created && !yes && diary == "" && isTerminal(a.stdin) && isTerminal(a.stdout) {
		if report.Diary, err = a.askDiary(report.Diary); err != nil {
			return err
		}
	}
	if report.Created {
		anew := place{config: report.Config, data: report.Data, diary: report.Diary}
		if err := cmp.Or(anew.places().Check(), a.lost(ctx, anew)); err != nil {
			return err
		}
		// What the configuration will name is made first, so that it never names
		// what cannot be.
		made := missingFolders(report.Data, report.Diary)
		defer func() {
			for _, dir := range made {
				if failure != nil {
					_ = os.Remove(dir) // only where it is empty
				}
			}
		}()
		if err := os.MkdirAll(report.Data, 0o700); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		if report.DiaryMade, err = makeDiary(report.Diary); err != nil {
			return err
		}
		written, err := writeConfig(report)
		defer func() {
			if written && failure != nil {
				_ = os.Remove(report.Config) // the next try begins anew
			}
		}()
		if err != nil {
			return err
		}
	}
	// What an init that was killed left beside it; one that runs just now sees that
	// the configuration is there. It holds settings only: where it has to stay, it may.
	_ = atomicfile.RemoveLeftovers(report.Config)
	// From here on the configuration is read like by any other verb.
	a.flags.config = report.Config
	settings, at, err := a.find()
	if err != nil {
		return err
	}
	if err := a.lost(ctx, at); err != nil {
		return err
	}
	if err := a.embedderThere(ctx, settings, at); err != nil {
		return err
	}
	report.Data, report.Diary, report.Sample = at.data, at.diary, withSample
	made, err := makeDiary(at.diary)
	if err != nil {
		return err
	}
	report.DiaryMade = report.DiaryMade || made
	if withSample {
		if err := sample.Write(at.diary); err != nil {
			return err
		}
	}
	c, err := a.connect(ctx, settings, at, nil, found)
	if err != nil {
		return err
	}
	if report.Manifest, report.ManifestMade, err = writeManifest(at.data); err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	if report.Policy, report.PolicyMade, err = writePolicy(at.data); err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	doc, err := c.Soul(ctx, 0)
	report.Soul = doc.Path
	if err == nil {
		report.Health, err = a.settleHealth(ctx, c, yes)
	}
	if err := errors.Join(err, c.Close(ctx)); err != nil {
		return err
	}
	if a.flags.quiet && !a.flags.json {
		return nil
	}
	return a.answer(report, func(p *printer) { tellInit(p, report, a.flags.data) })
}

// embedderThere asks the server for the embedder of a new store, before anything is made
// that would be left behind where it is not there.
func (a *app) embedderThere(ctx context.Context, settings config.Config, at place) error {
	if _, err := os.Stat(filepath.Join(at.data, chitta.FileName)); !errors.Is(err, fs.ErrNotExist) {
		return nil // it records its own
	}
	o, err := a.optionsFor(settings, at)
	if err != nil {
		return err
	}
	return embedderNow(ctx, &o)
}

// initPlaces says where things will be. A configuration that is there is used.
func (a *app) initPlaces(diary string) (initReport, error) {
	file, err := a.configFile()
	var none noConfigError
	switch {
	case err == nil && (a.flags.data == "" || a.flags.config != "" || filepath.Dir(file) == absolute(a.flags.data)):
		if _, statErr := os.Stat(file); statErr == nil {
			if diary != "" {
				return initReport{}, usage("%s is there already and is yours to edit: set diary.path in it", file)
			}
			return initReport{Config: file}, nil
		}
	case err != nil && !errors.As(err, &none):
		return initReport{}, err
	}
	// A new one: in the data folder that was named, else the person's own.
	switch {
	case a.flags.config != "":
		file = absolute(a.flags.config)
	case a.flags.data != "":
		file = filepath.Join(absolute(a.flags.data), configName)
	default:
		if file, err = a.userConfig(); err != nil {
			return initReport{}, err
		}
	}
	at, err := a.placeOf(config.Default(), file)
	if err != nil {
		return initReport{}, err
	}
	if diary != "" {
		at.diary = absolute(diary)
	}
	return initReport{Config: file, Created: true, Data: at.data, Diary: at.diary}, nil
}

// missingFolders are those of some folders, and above them, that are not there, the
// innermost first.
func missingFolders(folders ...string) (missing []string) {
	for _, dir := range folders {
		for ; ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			missing = append(missing, dir)
		}
	}
	slices.SortStableFunc(missing, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return missing
}

// makeDiary makes the diary folder where it is not there, and sees that it can
// be read.
func makeDiary(diary string) (made bool, err error) {
	if _, err := os.Stat(diary); errors.Is(err, fs.ErrNotExist) {
		made = true
	}
	if err := os.MkdirAll(diary, 0o700); err != nil {
		return false, fmt.Errorf("diary folder %s: %w", diary, bare(err))
	}
	if _, err := os.ReadDir(diary); err != nil {
		return false, fmt.Errorf("diary folder %s: %w", diary, bare(err))
	}
	return made, nil
}

// askDiary asks where the person writes.
func (a *app) askDiary(usual string) (string, error) {
	fmt.Fprintf(a.stdout, "Which folder do you write in? It is only read. [%s] ", usual)
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && line == "" {
		return "", usage("no answer; jivad init --yes takes the usual one")
	}
	answer := strings.TrimSpace(line)
	if answer == "" {
		return usual, nil
	}
	if rest, ok := strings.CutPrefix(answer, "~/"); ok {
		answer = filepath.Join(a.getenv("HOME"), rest)
	}
	return absolute(answer), nil
}

// writeConfig writes a new configuration. The keys that are not as by default
// are written out; a file that is there is never touched.
func writeConfig(r initReport) (written bool, err error) {
	set := map[string]string{}
	if filepath.Dir(r.Config) != r.Data {
		set["data"] = r.Data
	}
	if r.Diary != filepath.Join(r.Data, "diary") {
		set["diary.path"] = r.Diary
	}
	if err := os.MkdirAll(filepath.Dir(r.Config), 0o700); err != nil {
		return false, err
	}
	return writeNew(r.Config, []byte(config.Generate(set)))
}

// writeNew makes a file that is not there yet, whole or not at all: half a
// configuration would be taken for the person's.
func writeNew(path string, data []byte) (written bool, err error) {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return false, err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // gone already where it was renamed
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return false, err
	}
	// Link, unlike rename, leaves a file that is there; not every file system has it.
	if err := os.Link(temp.Name(), path); err != nil {
		if _, there := os.Lstat(path); there == nil {
			return false, nil // somebody was quicker; theirs counts
		}
		if err := os.Rename(temp.Name(), path); err != nil {
			return false, err
		}
	}
	return true, atomicfile.SyncDir(dir)
}

func tellInit(p *printer, r initReport, data string) {
	p.row("health", "%s", healthWords[r.Health]) // first: it is what one may not expect
	state := "made"
	if !r.Created {
		state = "was there, left as it is"
	}
	p.row("configuration", "%s (%s)", r.Config, state)
	p.row("data", "%s", r.Data)
	about := ""
	switch {
	case r.DiaryMade && r.Sample:
		about = " (made, with the sample)"
	case r.DiaryMade:
		about = " (made)"
	case r.Sample:
		about = " (with the sample)"
	}
	p.row("diary", "%s%s", r.Diary, about)
	p.row("identity", "%s", r.Soul)
	state = "made"
	if !r.ManifestMade {
		state = "was there, left as it is"
	}
	p.row("manifest", "%s (%s)", r.Manifest, state)
	state = "made"
	if !r.PolicyMade {
		state = "was there, left as it is"
	}
	p.row("evidence", "%s (%s)", r.Policy, state)
	flag := ""
	if data != "" {
		flag = " --data " + quoted(data)
	}
	p.line("")
	p.line("Next: jivad%s import PATH for what you have written so far, then jivad%s run.", flag, flag)
}

// absolute makes a path absolute; one that cannot be stays as it is.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
