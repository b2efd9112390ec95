// Command torture takes the real program apart while it works, and looks whether
// anything that it acknowledged is lost.
//
// A round is one deed (import, live entries, the end of a session, forgetting …)
// under one fault (kill -9 at any time, before every system call that changes the
// disk, in the midst of a write; a power cut that loses what was not synced; a disk
// that is full, fails or becomes read-only; few open files; a wrong clock).
// Afterwards the store must verify, every acknowledged entry be there once, a
// forgotten text be whole or in no byte, SOUL.md be of the last session, and the
// deed, done again, lead to the state of an undisturbed run.
//
// The program is the shipped one, without a hook in it: the kernel (seccomp, user
// notification) stops it at its system calls, and this program decides what becomes
// of each. deeds.go and faults.go are the tables; round.go is the way of a round.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	launched()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := torture(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
	}
	os.Exit(code)
}

// torture runs what the arguments say; the code is 0 where nothing was lost, 1
// where something was not as it must be, 2 where it could not be tried.
func torture(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	f := flag.NewFlagSet("torture", flag.ContinueOnError)
	f.SetOutput(stderr)
	var p plan
	f.IntVar(&p.rounds, "rounds", 0, "how many rounds; 0 means as many as there is time for")
	f.Float64Var(&p.minutes, "minutes", 10, "how long, where -rounds is 0")
	f.IntVar(&p.from, "round", 0, "number of the first round; alone, it is the only one")
	f.BoolVar(&p.sweep, "sweep", false, "instead, kill every deed before each of its durable calls, once")
	seed := f.Uint64("seed", 0, "what chance begins with; 0 means the time")
	deedNames := f.String("deeds", "", "only these deeds, by commas")
	faultNames := f.String("faults", "", "only these faults, by commas")
	binary := f.String("binary", "", "the program; empty builds it")
	parent := f.String("dir", "", "where the folders are made; empty means the usual place")
	verbose := f.Bool("verbose", false, "a line for every round")
	asJSON := f.Bool("json", false, "the report as JSON")
	list := f.Bool("list", false, "list the deeds and faults")
	if err := f.Parse(args); err != nil {
		return 2, nil //nolint:nilerr // it was told
	}
	if p.from > 0 && p.rounds == 0 {
		p.rounds = 1
	}
	var err error
	if p.deeds, err = chosen(deeds(), *deedNames, func(d deed) string { return d.name }); err != nil {
		return 2, err
	}
	if p.faults, err = chosen(faults(), *faultNames, func(f fault) string { return f.name }); err != nil {
		return 2, err
	}
	if *list {
		for _, d := range p.deeds {
			fmt.Fprintln(stdout, "deed ", d.name)
		}
		for _, f := range p.faults {
			fmt.Fprintln(stdout, "fault", f.name)
		}
		return 0, nil
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1e9
	}
	var again []string
	if *deedNames != "" {
		again = append(again, "-deeds "+*deedNames)
	}
	if *faultNames != "" {
		again = append(again, "-faults "+*faultNames)
	}
	if p.sweep {
		again = append(again, "-sweep")
	}
	began := time.Now()
	l, err := newLab(ctx, *parent, *binary, *seed)
	if err != nil {
		return 2, err
	}
	fmt.Fprintf(stderr, "seed %d, texts from %s, folders in %s; %s\n", l.seed, l.material.from, l.root, p.length())
	p.told = func(o outcome) {
		if *verbose || len(o.Failures) > 0 {
			fmt.Fprintln(stderr, o.line())
		}
		if len(o.Failures) > 0 {
			fmt.Fprint(stderr, o.explain(l.seed, again))
		}
	}
	all, err := l.run(ctx, p)
	out := l.report(p, all, time.Since(began).Seconds())
	if *asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = errors.Join(err, e.Encode(out))
	} else {
		err = errors.Join(err, out.tell(stdout))
	}
	switch {
	case err != nil:
		return 2, err
	case out.bad():
		fmt.Fprintf(stderr, "%d rounds failed; their folders are in %s\n", len(out.Failed), l.root)
		return 1, nil
	}
	return 0, os.RemoveAll(l.root)
}

// length says how long it will be.
func (p plan) length() string {
	if p.sweep {
		return "every durable call"
	}
	if p.rounds > 0 {
		return fmt.Sprintf("%d rounds", p.rounds)
	}
	return fmt.Sprintf("%g minutes", p.minutes)
}

// chosen are the rows of a table whose names are in a list; an empty one names all.
func chosen[T any](all []T, list string, name func(T) string) ([]T, error) {
	if list == "" {
		return all, nil
	}
	var out []T
	for want := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(t T) bool { return name(t) == want })
		if i < 0 {
			return nil, fmt.Errorf("there is no %q; -list names all", want)
		}
		out = append(out, all[i])
	}
	return out, nil
}
