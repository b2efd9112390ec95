package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitRefused     = 4
)

// app is one call of the command: what it was given and where it answers.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	version        string
	flags          flags
	// began is true once the arguments were understood.
	began bool
}

// flags are the global ones.
type flags struct {
	config, data, socket string
	json, quiet, noColor bool
}

// run does what the arguments say and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(negativesLast(args))
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !a.began {
		err = usage("%w", err)
	}
	code := exitCode(err)
	a.complain(err, code)
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "jivad",
		Short:         "The long-lived character of a companion",
		Long:          "jivad reads what you write, keeps the impression that each entry leaves,\nand writes down who it has become, in SOUL.md.",
		Example:       "  jivad init            # a folder, a configuration, the first SOUL.md\n  jivad import ~/diary  # what you have written so far\n  jivad run             # the daemon: watches the diary from here on",
		Version:       a.version,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.began = true
			if err := nothingEmpty(cmd, args); err != nil {
				return err
			}
			return a.fromEnvironment(cmd)
		},
	}
	root.AddCommand(
		a.initVerb(), a.runVerb(), a.statusVerb(), a.doctorVerb(), a.writeVerb(), a.talkVerb(), a.consentVerb(), a.importVerb(), a.sessionVerb(),
		a.recallVerb(), a.showVerb(), a.soulVerb(), a.vasanasVerb(), a.ghostsVerb(), a.trendVerb(), a.verifyVerb(), a.forgetVerb(), a.exportVerb(),
		a.reembedVerb(), a.backupVerb(), a.restoreVerb(),
		a.livesVerb(), a.rateVerb(), a.lineageVerb(), a.exciseVerb(), a.attestVerb(), a.absorbVerb(), a.manifestVerb(), a.claimsVerb(), a.inviteVerb(), a.versionVerb(),
	)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return err
		}
		var names []string
		add := func(f *pflag.Flag) { names = append(names, f.Name) }
		cmd.Flags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		if n := faults.Nearest(unknown.GetSpecifiedName(), names); n != "" {
			return fmt.Errorf("%w; did you mean --%s?", err, n)
		}
		return err
	})
	f := root.PersistentFlags()
	f.StringVar(&a.flags.config, "config", "", "configuration `FILE` (JIVAD_CONFIG)")
	f.StringVar(&a.flags.data, "data", "", "data `DIR` of the companion (JIVAD_DATA)")
	f.StringVar(&a.flags.socket, "socket", "", "`PATH` of the daemon's socket (JIVAD_SOCKET)")
	f.BoolVar(&a.flags.json, "json", false, "answer in JSON (JIVAD_JSON)")
	f.BoolVar(&a.flags.quiet, "quiet", false, "no progress and no remarks (JIVAD_QUIET)")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours on a terminal (JIVAD_NO_COLOR, NO_COLOR)")
	return root
}

// fromEnvironment fills the global flags that were not given.
func (a *app) fromEnvironment(cmd *cobra.Command) error {
	for name, variable := range map[string]string{
		"config": "JIVAD_CONFIG", "data": "JIVAD_DATA", "socket": "JIVAD_SOCKET",
		"json": "JIVAD_JSON", "quiet": "JIVAD_QUIET", "no-color": "JIVAD_NO_COLOR",
	} {
		value := a.getenv(variable)
		if value == "" || cmd.Flags().Changed(name) {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return usage("%s=%q: it must be true or false", variable, value)
		}
	}
	if a.getenv("NO_COLOR") != "" {
		a.flags.noColor = true
	}
	return nil
}

func (a *app) getenv(name string) string {
	for _, pair := range slices.Backward(a.environ) {
		if n, value, ok := strings.Cut(pair, "="); ok && n == name {
			return value
		}
	}
	return ""
}

// usageError is a call that makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode is the code for an error.
func exitCode(err error) int {
	var wrong usageError
	var settings *config.Error
	var misplaced *lifecycle.PlaceError
	switch {
	case errors.As(err, &wrong), errors.As(err, &settings), errors.As(err, &misplaced), errors.Is(err, lifecycle.ErrMissing):
		return exitUsage
	case errors.Is(err, lifecycle.ErrQuery), errors.Is(err, lifecycle.ErrDate), errors.Is(err, lifecycle.ErrEmpty), errors.Is(err, lifecycle.ErrTooLong), errors.Is(err, lifecycle.ErrCategory), errors.Is(err, lifecycle.ErrConsent):
		return exitUsage
	case errors.Is(err, lifecycle.ErrSettled), errors.Is(err, lifecycle.ErrLifeState), errors.Is(err, lifecycle.ErrImmature), errors.Is(err, lifecycle.ErrRefused):
		return exitRefused
	case errors.Is(err, errDaemonFailed):
		return exitFailed
	case errors.Is(err, api.ErrUnreachable), errors.Is(err, chitta.ErrLocked), errors.Is(err, lifecycle.ErrStopping), errors.Is(err, lifecycle.ErrEmbedderAway):
		return exitUnreachable
	}
	return exitFailed
}

// complain tells the error on standard error.
func (a *app) complain(err error, code int) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; what was remembered stays remembered")
	}
	if a.flags.json {
		_ = json.NewEncoder(a.stderr).Encode(map[string]any{"error": err.Error(), "exit": code})
		return
	}
	var asked interface{ Hint() string }
	fmt.Fprintf(a.stderr, "jivad: %s\n", harmless(inLines(err)))
	if errors.As(err, &asked) {
		fmt.Fprintln(a.stderr, asked.Hint())
	} else if !a.began {
		fmt.Fprintln(a.stderr, "See jivad --help.")
	}
}

// inLines is what an error says. Where that is long, what to do about it has lines
// of its own, and so has a command that is to be copied.
func inLines(err error) string {
	const long = 160
	text := err.Error()
	var told *chitta.Error
	if !errors.As(err, &told) || told.Hint == "" || len(text) <= long {
		return text
	}
	cause, ok := strings.CutSuffix(text, " "+told.Hint)
	if !ok {
		return text
	}
	hint := strings.ReplaceAll(told.Hint, ": jivad ", ":\n  jivad ")
	for _, begin := range []string{"The newest", "To mend", "Put it", "Put a", "There is", "Or else"} {
		hint = strings.ReplaceAll(hint, " "+begin, "\n"+begin)
	}
	return cause + "\n" + hint
}

// answer prints a value as JSON where that was asked for, else as text.
func (a *app) answer(value any, text func(p *printer)) error {
	if a.flags.json {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(value)
	}
	p := a.printer()
	text(p)
	return p.flush()
}

// isTerminal tells whether a person looks at w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// exactArgs, atMost and noArgs say in plain words how a verb is called.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, but was given %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// nothingEmpty refuses a flag or an argument that was given and is empty: where it
// comes from a variable of a script that is not set, what is left of the call would
// do something else, and to more than was meant. A zero given to a flag whose usual
// value it is asks for nothing either, where 0 has no meaning of its own.
func nothingEmpty(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, counts := f.Annotations[countsFromOne]
		switch {
		case err != nil:
		case f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "":
			err = usage("--%s was given without a value: give it one, or leave it out", f.Name)
		case counts && f.Value.String() == "0":
			err = usage("--%s 0: sessions are counted from 1", f.Name)
		}
	})
	for _, arg := range args {
		if err == nil && strings.TrimSpace(arg) == "" {
			err = usage("%s was given an argument that is empty", cmd.CommandPath())
		}
	}
	return err
}

// countsFromOne marks a flag for which 0 is no number.
const countsFromOne = "counts from one"

// fromOne marks one.
func fromOne(flags *pflag.FlagSet, name string) {
	_ = flags.SetAnnotation(name, countsFromOne, nil) // it fails for a flag that is not there only
}
