package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/soul/lineage"
)

func (a *app) manifestVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manifest",
		Short: "Show what the next life is born with, or check whether it can be",
		Long: `The manifest, manifest.toml in the data folder, says what the next life is born with: its
mission, models, tools and bounds. It is read at each birth; a life that has begun is not
changed by it. jivad init writes one with every key explained.`,
		Example: "  jivad manifest show\n  jivad manifest check",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "it takes show or check"
			if n := faults.Nearest(args[0], []string{"show", "check"}); n != "" {
				hint = "did you mean " + n + "?"
			}
			return fmt.Errorf("unknown command %q for %s; %s", args[0], cmd.CommandPath(), hint)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("manifest takes show or check; see jivad manifest --help")
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "show",
		Short:   "Show the manifest's path and id, and what the next life is born with",
		Example: "  jivad manifest show",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.manifest(cmd.Context(), tellManifest)
		},
	}, &cobra.Command{
		Use:     "check",
		Short:   "Check whether the next life can be born; all that is missing, and what mends it",
		Example: "  jivad manifest check",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.manifest(cmd.Context(), func(p *printer, r lifecycle.ManifestReport) { tellCheckedManifest(p, r) }, failing)
		},
	})
	return cmd
}

// failing has a report with something missing end the verb with an error.
func failing(r lifecycle.ManifestReport) error {
	if len(r.Missing) > 0 {
		return errFoundFaults
	}
	return nil
}

func (a *app) manifest(ctx context.Context, tell func(*printer, lifecycle.ManifestReport), then ...func(lifecycle.ManifestReport) error) error {
	return a.looking(ctx, func(ctx context.Context, c companion) error {
		r, err := c.Manifest(ctx)
		if err != nil {
			return err
		}
		if err := a.answer(r, func(p *printer) { tell(p, r) }); err != nil {
			return err
		}
		for _, f := range then {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func tellManifest(p *printer, r lifecycle.ManifestReport) {
	where := r.Path
	if r.Default {
		where += " (not there: all is as by default; jivad init writes it)"
	}
	p.row("manifest", "%s", where)
	if r.ID != (lineage.Digest{}) {
		p.row("id", "%s", r.ID)
		p.long("mission", oneLine(r.Mission))
		p.long("tools", dash(oneLine(strings.Join(r.Tools, ", "))))
		p.long("bounds", boundsLine(r.Bounds))
	}
	if r.Mind != "" {
		p.long("mind", oneLine(r.Mind))
		p.row("born from", "version %s", r.Base)
	}
	for _, m := range r.Missing {
		tellLack(p, m.What, m.Mend)
	}
}

func tellCheckedManifest(p *printer, r lifecycle.ManifestReport) {
	if len(r.Missing) == 0 {
		p.line("%s  nothing is missing: the next life can be born from %s", p.good("ok  "), r.Path)
		p.line("%s", p.dim("id "+r.ID.String()))
		return
	}
	for _, m := range r.Missing {
		p.line("%s  %s", p.bad("FAIL"), oneLine(m.What))
		p.line("      %s", oneLine(m.Mend))
	}
	p.line("%s", count(len(r.Missing), "thing is", "things are")+" missing for the next life. What you write is remembered all the same.")
}

// writeManifest writes the manifest of a new companion where there is none.
func writeManifest(data string) (path string, made bool, err error) {
	path = filepath.Join(data, lifecycle.ManifestFile)
	_ = atomicfile.RemoveLeftovers(path) // of an init that was killed
	made, err = writeNew(path, []byte(manifest.Generate()))
	return path, made, err
}

// writePolicy writes the policy of evidence of a new companion where there is none.
func writePolicy(data string) (path string, made bool, err error) {
	path = filepath.Join(data, lifecycle.PolicyFile)
	_ = atomicfile.RemoveLeftovers(path)
	made, err = writeNew(path, []byte(claims.PolicyText))
	return path, made, err
}
