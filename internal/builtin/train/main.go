// Command train makes heads.bin, the weights of the built-in assessor, and
// prints how good they are as the Markdown tables of docs/assessor.md. The same
// data and the same embedder give the same bytes.
//
//	go run ./internal/builtin/train -data ../shared/data/labelled -out internal/builtin/heads.bin
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/jivad/jivad/internal/builtin"
)

func main() {
	var o options
	flag.StringVar(&o.labelled, "data", "../shared/data/labelled", "folder of the labelled text")
	flag.StringVar(&o.diaries, "diaries", "", "folder of the diaries (default: diaries beside the labelled text)")
	flag.StringVar(&o.sentences, "sentences", "internal/builtin/testdata/gunas.tsv", "sentences to check the guna mapping on; no part of the training")
	flag.StringVar(&o.cache, "cache", "", "file that keeps sentence vectors between runs")
	out := flag.String("out", "", "file to write; empty only prints the report")
	flag.Parse()
	if o.diaries == "" {
		o.diaries = filepath.Join(filepath.Dir(filepath.Clean(o.labelled)), "diaries")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *out); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

type options struct {
	labelled, diaries, sentences, cache string
	// limit is how many lines of each file are read; 0 means all.
	limit int
}

func run(ctx context.Context, o options, out string) error {
	t, err := newTrainer(ctx, o)
	if err != nil {
		return err
	}
	heads := new(builtin.Heads)
	if err := t.fitAffect(heads); err != nil {
		return err
	}
	if err := t.fitEmotions(heads); err != nil {
		return err
	}
	// The mapping is measured on the heads as they will be read back, rounded.
	if heads, err = builtin.ParseHeads(string(heads.Pack())); err != nil {
		return err
	}
	if err := t.fitMapping(heads); err != nil {
		return err
	}
	packed := heads.Pack()
	if heads, err = builtin.ParseHeads(string(packed)); err != nil {
		return err
	}
	if err := t.report(heads); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	return os.WriteFile(out, packed, 0o644)
}
