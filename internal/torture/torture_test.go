package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	launched()
	if os.Getenv(victimEnv) != "" {
		victim()
		return
	}
	os.Exit(m.Run())
}

// shortDir is a folder that is gone after the test, with a short path: that of a
// socket has its bounds.
func shortDir(t *testing.T) string {
	t.Helper()
	parent := "" // where other users go through, if it is there
	if info, err := os.Stat("/tmp"); err == nil && info.Mode()&os.ModeSticky != 0 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "jt-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // programs of another user go through
		t.Fatal(err)
	}
	return dir
}

// TestTortureShort takes the real program apart for some seconds. `make torture`
// does it for longer, with more deeds.
func TestTortureShort(t *testing.T) {
	rounds := 48
	if testing.Short() {
		rounds = 10
	}
	seed := uint64(time.Now().UnixNano()) % 1e9
	l, err := newLab(t.Context(), shortDir(t), "", seed)
	if err != nil {
		t.Fatal(err)
	}
	p := plan{rounds: rounds, told: func(o outcome) {
		t.Log(o.line())
		if len(o.Failures) > 0 {
			t.Errorf("%s", o.explain(l.seed, nil))
		}
	}}
	p.deeds, p.faults = deeds(), faults()
	if l.noTraps != nil {
		t.Logf("programs cannot be stopped at their system calls here: %v", l.noTraps)
	}
	all, err := l.run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != rounds {
		t.Errorf("%d of %d rounds", len(all), rounds)
	}
	r := l.report(p, all, 0)
	var table strings.Builder
	if err := r.tell(&table); err != nil {
		t.Fatal(err)
	}
	t.Log(table.String())
	if r.Total.Kills == 0 {
		t.Error("nothing was killed")
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-deeds", "nap"}, {"-faults", "rain"}, {"-rounds", "x"}, {"-binary", "/bin/true", "-rounds", "1", "-dir", t.TempDir()}} {
		if code, _ := torture(t.Context(), args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%v: code %d", args, code)
		}
	}
	var out strings.Builder
	if code, err := torture(t.Context(), []string{"-list"}, &out, io.Discard); code != 0 || err != nil || !strings.Contains(out.String(), "fault power") {
		t.Errorf("code %d, %v\n%s", code, err, out.String())
	}
}

// The same seed deals the same rounds, and every pair has its turn.
func TestDealing(t *testing.T) {
	p := plan{deeds: deeds(), faults: faults()}
	deal := func(seed uint64, n int) (out []string) {
		l := &lab{seed: seed, verbs: map[string]bool{}}
		for i := range n {
			pair, err := l.pair(p, i)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, pair.deed.name+" "+pair.fault.name)
		}
		return out
	}
	l := &lab{verbs: map[string]bool{}}
	deck := l.deck(p)
	a, b, c := deal(1, 2*len(deck)), deal(1, 2*len(deck)), deal(2, 2*len(deck))
	if strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Error("the same seed deals otherwise")
	}
	if strings.Join(a, "\n") == strings.Join(c, "\n") {
		t.Error("another seed deals the same")
	}
	seen := map[string]int{}
	for _, name := range a {
		seen[name]++
	}
	for _, pair := range deck {
		name := pair.deed.name + " " + pair.fault.name
		if seen[name] == 0 {
			t.Errorf("%s has no turn", name)
		}
		if pair.deed.verb != "" {
			t.Errorf("%s needs a verb that the program has not", name)
		}
	}
	order := l.order("import", 0, 40)
	met := map[int]bool{}
	for _, n := range order {
		met[n] = true
	}
	if len(met) != 40 || l.order("import", 1, 40)[0] == order[0] && l.order("import", 1, 40)[1] == order[1] {
		t.Error("a sweep does not meet every call once")
	}
}

func TestCopyKeepsModesAndLeavesSockets(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, name := range []string{"one", "two/three"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyFolder(from, to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(to, "two", "three"))
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() != int64(len("two/three")) {
		t.Errorf("%v, %v", info, err)
	}
}
