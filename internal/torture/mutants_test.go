package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMutantsAreFound builds programs that each keep one promise less, and sees
// that the harness finds them out. make mutants runs it.
func TestMutantsAreFound(t *testing.T) {
	if os.Getenv("TORTURE_MUTANTS") == "" {
		t.Skip("skipped: it builds the program several times; make mutants runs it")
	}
	if err := trapsWork(); err != nil {
		t.Skip("skipped: programs cannot be stopped at their system calls here:", err)
	}
	for _, m := range []struct {
		variant
		deeds, faults string
		kinds         []string
		long          bool
	}{
		{
			variant: variant{name: "acknowledges-first", file: filepath.Join("lifecycle", "intake.go"), swaps: [][2]string{
				{"	return r.wait(ctx)\n", "	_ = r\n	return Receipt{Event: formatID(eventID(p.note.Date, p.key, 0))}, nil\n"},
			}},
			deeds: "write", faults: "kill-call", kinds: []string{kindLost},
		},
		{
			variant: variant{name: "never-syncs", file: filepath.Join("chitta", "schema.go"), swaps: [][2]string{
				{"	o := &bolt.Options{Timeout: lockTimeout,", "	o := &bolt.Options{NoSync: true, Timeout: lockTimeout,"},
			}},
			deeds: "write", faults: "power", kinds: []string{kindLost, kindVerify, kindFailed},
		},
		{
			variant: variant{name: "renames-unsynced", file: filepath.Join("internal", "atomicfile", "atomicfile.go"), swaps: [][2]string{
				{"if err := w.temp.Sync(); err != nil {", "if err := error(nil); err != nil {"},
			}},
			deeds: "session-end", faults: "power", kinds: []string{kindSoul},
		},
		{
			variant: variant{name: "removes-before-renaming", file: filepath.Join("chitta", "rewrite.go"), swaps: [][2]string{
				{"func() error { return os.Rename(filepath.Join(s.opts.Dir, rewriteName), path) }", "func() error { _ = os.Remove(path); return os.Rename(filepath.Join(s.opts.Dir, rewriteName), path) }"},
			}},
			deeds: "forget", faults: "kill-call", kinds: []string{kindLost, kindFailed}, // no daemon, whose backups come between
		},
		{
			variant: variant{name: "lives-on", file: filepath.Join("lifecycle", "projection", "projection.go"), swaps: [][2]string{
				{"			if err := l.Withdraw(lives.ByCrash, p.stamp()); err != nil {\n				return err\n			}\n", "			continue\n"},
			}},
			deeds: "live", faults: "kill-call", kinds: []string{kindLife},
		},
		{
			variant: variant{name: "merges-apart", file: filepath.Join("lifecycle", "projection", "ending.go"), swaps: [][2]string{
				{"	if err := p.put(ctx, &next, values...); err != nil {\n		return err\n	}\n	if merged", "	if err := errors.Join(p.o.Store.Put(ctx, values...), p.put(ctx, &next)); err != nil {\n		return err\n	}\n	if merged"},
			}},
			deeds: "live", faults: "kill-call", kinds: []string{kindLife, kindHang, kindVerify}, long: true,
		},
	} {
		t.Run(m.name, func(t *testing.T) {
			if m.long && os.Getenv("TORTURE_MUTANTS") != "all" {
				t.Skip("skipped: it takes more than a minute to be found; TORTURE_MUTANTS=all tries it")
			}
			l, err := newLab(t.Context(), shortDir(t), "", 1)
			if err != nil {
				t.Fatal(err)
			}
			if l.binary, err = l.variant(t.Context(), m.variant); err != nil {
				t.Fatal(err)
			}
			p := plan{told: func(o outcome) {}}
			if p.deeds, err = chosen(deeds(), m.deeds, func(d deed) string { return d.name }); err != nil {
				t.Fatal(err)
			}
			if p.faults, err = chosen(faults(), m.faults, func(f fault) string { return f.name }); err != nil {
				t.Fatal(err)
			}
			// As many rounds as there are calls, and more for what chance decides.
			const rounds = 160
			for p.from = 0; p.from < rounds; p.from++ {
				p.rounds = 1
				all, err := l.run(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range all[0].Failures {
					if slices.Contains(m.kinds, f.Kind) {
						t.Logf("found in round %d: %s, %s: %s", p.from, all[0].How, f.Kind, f.What)
						return
					}
					t.Logf("round %d: %s: %s", p.from, f.Kind, f.What)
				}
			}
			t.Errorf("not found in %d rounds", rounds)
		})
	}
}
