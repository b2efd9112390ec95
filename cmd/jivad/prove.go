package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul/lineage"
)

// proofChecked is what a check of a proof found.
type proofChecked struct {
	Present bool           `json:"present"`
	Digest  lineage.Digest `json:"digest"`
	Version lineage.Digest `json:"version"`
	Genesis lineage.ID     `json:"genesis"`
	Size    uint64         `json:"size"`
	// Compared is true where the version was held against one that was given.
	Compared bool `json:"version_compared"`
}

func (a *app) lineageProve() *cobra.Command {
	var out, check, version string
	cmd := &cobra.Command{
		Use:   "prove ID | prove --check FILE",
		Short: "Prove that a distillate is in the lineage, or is not",
		Long: `Prints a proof that what a life was distilled to is in the lineage as it is now, or, for the
whole digest of one that went, that it is not. ID is a digest, or the beginning of one, or
the number of a life. Whoever knows the version and the digest can check a proof with
--check, without this companion: no store and no daemon is needed for that.`,
		Example: "  jivad lineage prove 12 --out proof.json\n  jivad lineage prove --check proof.json --version 3f0c9a2b",
		Args:    atMostOne("one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			checking := check != ""
			switch {
			case checking && (len(args) > 0 || out != ""):
				return usage("--check looks at a file that is there: give it without an ID and without --out")
			case !checking && len(args) == 0:
				return usage("give the digest of a distillate or the number of a life, or --check FILE")
			case !checking && version != "":
				return usage("--version is what --check compares with; a proof is of the head")
			case checking:
				return a.checkProof(check, version)
			}
			if err := free(out); err != nil {
				return err
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				proof, err := c.Prove(ctx, args[0])
				if err != nil {
					return err
				}
				return a.deliver(out, proof, func(p *printer) { p.line("%s. Proof in %s.", proofSays(proof), out) })
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the proof to `FILE`")
	cmd.Flags().StringVar(&check, "check", "", "check the proof in `FILE` (- for standard input)")
	cmd.Flags().StringVar(&version, "version", "", "with --check: `VERSION` that it must be about, or the beginning of one")
	return cmd
}

func proofSays(p lifecycle.LineageProof) string {
	is := "is in"
	if !p.Present {
		is = "is not in"
	}
	return fmt.Sprintf("Distillate %s %s version %s", p.Digest, is, p.Version)
}

// deliver prints a document as JSON, or writes it to a new file and tells of it.
func (a *app) deliver(file string, document any, tell func(p *printer)) error {
	if file == "" || file == "-" {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(document)
	}
	data, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(file, append(data, '\n')); err != nil {
		return err
	}
	if a.flags.quiet && !a.flags.json {
		return nil
	}
	return a.answer(document, tell)
}

// checkProof holds a proof against itself, and against a version that the person knows.
func (a *app) checkProof(file, version string) error {
	data, err := a.readDocument(file)
	if err != nil {
		return err
	}
	proof, err := lineage.ParseProof(data)
	if err == nil {
		err = proof.Check()
	}
	if err == nil && version != "" && !beginsSo(proof.Version, version) {
		err = fmt.Errorf("%w: it is about version %s, not %s", lineage.ErrProof, proof.Version, oneLine(version))
	}
	if err != nil {
		return err
	}
	out := proofChecked{proof.Present, proof.Digest, proof.Version, proof.Root, proof.Size, version != ""}
	return a.answer(out, func(p *printer) {
		p.line("%s  %s.", p.good("ok  "), proofSays(proof))
		if version == "" {
			p.line("      Whether that is the version that you rely on, compare yourself, or give --version.")
		}
	})
}

// beginsSo tells whether a digest begins with a text that is long enough to say so.
func beginsSo(d lineage.Digest, text string) bool {
	const least = 8
	return len(text) >= least && strings.HasPrefix(d.String(), strings.ToLower(text))
}

// readDocument reads a small file, or standard input for -.
func (a *app) readDocument(file string) ([]byte, error) {
	const most = 1 << 20
	from := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", file, bare(err))
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, bare(err))
	}
	if len(data) > most {
		return nil, errors.New(file + " is too large to be one")
	}
	return data, nil
}
