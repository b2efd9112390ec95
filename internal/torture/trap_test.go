package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// victimEnv names the folder in which this test program writes as a program that
// is to be stopped.
const victimEnv = "TORTURE_VICTIM"

// victim makes a file that it syncs and one that it does not, each written twice,
// and renames the first with its folder synced, the second without.
func victim() {
	folder := os.Getenv(victimEnv)
	complain := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
	}
	write := func(name string, sync bool) {
		f, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR|os.O_CREATE, 0o600)
		complain(err)
		_, err = f.WriteString(strings.Repeat("a", 2000))
		complain(err)
		_, err = f.WriteAt([]byte(strings.Repeat("b", 1000)), 1500)
		complain(err)
		if sync {
			complain(f.Sync())
		}
		complain(f.Close())
		complain(os.Rename(filepath.Join(folder, name), filepath.Join(folder, name+".done")))
		if sync {
			d, err := os.Open(folder)
			complain(err)
			complain(d.Sync())
			complain(d.Close())
		}
	}
	write("safe", true)
	write("loose", false)
	complain(os.WriteFile(filepath.Join(folder, "last"), []byte("end"), 0o600))
}

// victimised runs the victim under a trap, and returns what it left.
func victimised(t *testing.T, decide func(call) verdict, j *journal) (*process, string, []call) {
	t.Helper()
	if err := trapsWork(); err != nil {
		t.Skip("skipped: programs cannot be stopped at their system calls here:", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	tr := &trap{dir: folder, armed: true, decide: decide, journal: j}
	p, err := start(spec{program: self, environ: []string{victimEnv + "=" + folder}, trap: tr})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tr.fault != nil {
		t.Fatal(tr.fault)
	}
	return p, folder, tr.seen()
}

func TestTrapSeesEveryDurableCall(t *testing.T) {
	p, folder, calls := victimised(t, nil, nil)
	if p.code() != 0 {
		t.Fatalf("code %d: %s", p.code(), p.stderr)
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.String())
	}
	want := []string{
		"create safe", "write safe (2000 bytes)", "pwrite64 safe (1000 bytes)", "fsync safe", "rename safe → safe.done", "fsync .",
		"create loose", "write loose (2000 bytes)", "pwrite64 loose (1000 bytes)", "rename loose → loose.done",
		"create last", "write last (3 bytes)",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("seen:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if data, err := os.ReadFile(filepath.Join(folder, "safe.done")); err != nil || len(data) != 2500 {
		t.Errorf("the program did not do what it does untrapped: %d bytes, %v", len(data), err)
	}
}

// Killed before a call, the program has done what came before and not the call.
func TestTrapKillsBeforeTheCall(t *testing.T) {
	_, _, calls := victimised(t, nil, nil)
	for n := range calls {
		p, folder, seen := victimised(t, func(c call) verdict { return verdict{kill: c.Number == n+1} }, nil)
		if !p.killed() || len(seen) != n+1 {
			t.Fatalf("call %d: killed %v, %d calls seen", n+1, p.killed(), len(seen))
		}
		_, loose := os.Stat(filepath.Join(folder, "loose"))
		_, done := os.Stat(filepath.Join(folder, "loose.done"))
		if (loose == nil) != (n > 6 && n <= 9) || (done == nil) != (n > 9) {
			t.Errorf("killed before call %d: loose %v, done %v", n+1, loose, done)
		}
	}
}

func TestTrapTearsAndFails(t *testing.T) {
	p, folder, _ := victimised(t, func(c call) verdict { return verdict{kill: c.Number == 3, part: 700} }, nil)
	data, err := os.ReadFile(filepath.Join(folder, "safe"))
	if want := strings.Repeat("a", 1500) + strings.Repeat("b", 700); err != nil || !p.killed() || string(data) != want {
		t.Errorf("torn: killed %v, %d bytes, %v", p.killed(), len(data), err)
	}
	p, folder, _ = victimised(t, failing(2, syscall.ENOSPC, "write"), nil)
	if p.code() != 9 || !strings.Contains(p.stderr.String(), "no space left") {
		t.Errorf("full: code %d, %s", p.code(), p.stderr)
	}
	if info, err := os.Stat(filepath.Join(folder, "safe")); err != nil || info.Size() != 0 {
		t.Errorf("full: %v, %v", info, err)
	}
}

// What was synced is there after every power cut; what was not is lost in some.
func TestPowerCutLosesWhatWasNotSynced(t *testing.T) {
	whole := strings.Repeat("a", 1500) + strings.Repeat("b", 1000)
	lost, kept, undone := 0, 0, 0
	for seed := uint64(0); seed < 100 && (lost == 0 || kept == 0 || undone == 0); seed++ {
		j := newJournal(t.TempDir())
		_, folder, _ := victimised(t, nil, j)
		if _, err := j.cut(rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(folder, "safe.done")); err != nil || string(data) != whole {
			t.Fatalf("what was synced has %d bytes, %v", len(data), err)
		}
		data, err := os.ReadFile(filepath.Join(folder, "loose.done"))
		switch {
		case errors.Is(err, os.ErrNotExist):
			undone++
		case string(data) == whole:
			kept++
		default:
			lost++
		}
	}
	if lost == 0 || kept == 0 || undone == 0 {
		t.Errorf("of what was not synced: %d times bytes lost, %d times kept, %d times without its name", lost, kept, undone)
	}
}

func TestFewFiles(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	p, err := start(spec{program: self, environ: []string{victimEnv + "=" + folder}, files: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.wait(context.Background()); err != nil || p.code() == 0 {
		t.Errorf("code %d with no file to open: %v", p.code(), err)
	}
}
