package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// base is a data folder that rounds begin from.
type base struct {
	folder string
	contents
}

// reference is a deed that nothing disturbed.
type reference struct {
	contents
	// length is how long the deed took, calls its durable system calls, changes
	// how often something in the data folder was seen to change.
	length  time.Duration
	calls   []call
	changes int
	// bytes is how large the data folder became.
	bytes int64
	// swept are the calls that a program was killed before.
	swept map[int]bool
}

// base gives the folder of a name, made once.
func (l *lab) base(ctx context.Context, name string) (*base, error) {
	if b := l.bases[name]; b != nil {
		return b, nil
	}
	b := &base{folder: filepath.Join(l.root, "base-"+name)}
	g, known := bases()[name]
	if !known {
		return nil, fmt.Errorf("there is no base %q", name)
	}
	if err := g.make(ctx, l, b.folder); err != nil {
		return nil, fmt.Errorf("base %s: %w", name, err)
	}
	if name != "none" {
		copied := filepath.Join(l.root, "look-"+name)
		if err := copyFolder(b.folder, copied); err != nil {
			return nil, err
		}
		program := l.binary
		var err error
		if g.variant != nil {
			if program, err = l.variant(ctx, g.variant()); err != nil {
				return nil, err
			}
		}
		if b.contents, err = l.look(ctx, program, copied); err != nil {
			return nil, fmt.Errorf("base %s: %w", name, err)
		}
		if err := os.RemoveAll(copied); err != nil {
			return nil, err
		}
	}
	l.bases[name] = b
	return b, nil
}

// ground makes a folder that rounds begin from.
type ground struct {
	make func(ctx context.Context, l *lab, folder string) error
	// variant, if not nil, is the program that can read it.
	variant func() variant
}

// bases are all such folders.
func bases() map[string]ground {
	all := map[string]ground{
		// none is nothing at all.
		"none": {make: func(context.Context, *lab, string) error { return nil }},
		// new is a companion that lived nothing yet.
		"new": {make: func(ctx context.Context, l *lab, folder string) error {
			return l.verb(ctx, folder, "init", "--yes")
		}},
		// diary is one with a history.
		"diary": {make: func(ctx context.Context, l *lab, folder string) error {
			return l.inTurn(ctx, folder, []string{"init", "--yes"}, []string{"import", l.material.file})
		}},
		// never is one that never had what is forgotten.
		"never": {make: func(ctx context.Context, l *lab, folder string) error {
			return l.inTurn(ctx, folder, []string{"init", "--yes"}, []string{"import", l.material.without})
		}},
		// today is one with a history and an open session.
		"today": {make: func(ctx context.Context, l *lab, folder string) error {
			return l.inTurn(ctx, folder, []string{"init", "--yes"}, []string{"import", l.material.file},
				[]string{"write", "--date", l.day, l.material.live[0]}, []string{"write", "--date", l.day, l.material.live[1]})
		}},
		// folder is one whose history lies in its diary folder.
		"folder": {make: func(ctx context.Context, l *lab, folder string) error {
			if err := l.verb(ctx, folder, "init", "--yes"); err != nil {
				return err
			}
			if err := writeDays(filepath.Join(folder, "diary"), l.material.history); err != nil {
				return err
			}
			return l.verb(ctx, folder, "import", filepath.Join(folder, "diary"))
		}},
		// broken is one whose import was killed half way.
		"broken": {make: func(ctx context.Context, l *lab, folder string) error {
			if err := l.verb(ctx, folder, "init", "--yes"); err != nil {
				return err
			}
			return l.killAt(ctx, folder, historyEntries*2, func(c call) bool { return c.Name == "fdatasync" }, "import", l.material.file)
		}},
		// scarred is one that was killed while it made its store, and again while
		// it archived a SOUL.md: there is rubbish that holds what is forgotten later.
		"scarred": {make: func(ctx context.Context, l *lab, folder string) error {
			if err := l.killAt(ctx, folder, 1, func(c call) bool { return c.Name == "unlink" && strings.Contains(c.File, ".new-") }, "init", "--yes"); err != nil {
				return err
			}
			if err := l.verb(ctx, folder, "init", "--yes"); err != nil {
				return err
			}
			const late = 9 // sessions
			if err := l.killAt(ctx, folder, late, func(c call) bool { return c.Name == "rename" && strings.HasPrefix(c.File, "soul") }, "import", l.material.file); err != nil {
				return err
			}
			return l.verb(ctx, folder, "import", l.material.file)
		}},
	}
	maps.Copy(all, copyBases())
	maps.Copy(all, livesBases())
	return all
}

// killAt runs a verb that is killed before the n-th call that fits.
func (l *lab) killAt(ctx context.Context, folder string, n int, fits func(call) bool, args ...string) error {
	seen := 0
	t := &trap{dir: folder, armed: true, decide: func(c call) verdict {
		if fits(c) {
			seen++
		}
		return verdict{kill: seen == n}
	}}
	p, err := start(spec{program: l.binary, args: append([]string{"--data", folder}, args...), environ: l.environ(), trap: t})
	if err != nil {
		return err
	}
	if err := p.wait(ctx); err != nil {
		return err
	}
	if !p.killed() {
		return fmt.Errorf("jivad %s was to be killed, and ended with %d: %s", args[0], p.code(), p.stderr)
	}
	return nil
}

// verb runs one verb that nothing disturbs.
func (l *lab) verb(ctx context.Context, folder string, args ...string) error {
	return l.verbOf(ctx, l.binary, folder, args...)
}

func (l *lab) verbOf(ctx context.Context, program, folder string, args ...string) error {
	p, err := start(spec{program: program, args: append([]string{"--data", folder, "--json"}, args...), environ: l.environ()})
	if err != nil {
		return err
	}
	if err := p.wait(ctx); err != nil {
		return err
	}
	if p.code() != 0 {
		return fmt.Errorf("jivad %s: exit code %d: %s", args[0], p.code(), p.stderr)
	}
	return nil
}

func (l *lab) inTurn(ctx context.Context, folder string, calls ...[]string) error {
	for _, args := range calls {
		if err := l.verb(ctx, folder, args...); err != nil {
			return err
		}
	}
	return nil
}

// look starts a daemon on a folder that is thrown away afterwards, and asks it.
func (l *lab) look(ctx context.Context, program, folder string) (contents, error) {
	d, err := l.daemon(ctx, folder, spec{program: program, environ: l.environ()})
	if err != nil {
		return contents{}, err
	}
	c, err := contentsOf(ctx, d.client)
	d.kill()
	return c, err
}

// writeDays writes one file a month, with a heading for each entry.
func writeDays(folder string, notes []lifecycle.Note) error {
	months := map[string]*strings.Builder{}
	var names []string
	for _, n := range notes {
		month := n.Date[:7]
		if months[month] == nil {
			months[month] = &strings.Builder{}
			names = append(names, month)
		}
		fmt.Fprintf(months[month], "# %s\n\n%s\n\n", n.Date, n.Text)
	}
	for _, month := range names {
		path := filepath.Join(folder, month+".md")
		if err := os.WriteFile(path+"~", []byte(months[month].String()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+"~", path); err != nil {
			return err
		}
	}
	return nil
}
