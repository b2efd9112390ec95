package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Output that goes into a pipe is plain: no colour, no codes that move a cursor,
// no bar that is drawn over itself, and with --json nothing beside the JSON.
func TestPipedOutputIsPlain(t *testing.T) {
	if underRace {
		t.Skip("skipped: slow under the race detector, and one goroutine at a time")
	}
	dir := t.TempDir()
	diary := filepath.Join(dir, "history.md")
	text := "# 2024-05-01\nWalked by the river.\n# 2024-05-02\nThe lamp was brought.\n# 2024-05-03\nToothache.\n"
	if err := os.WriteFile(diary, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	call := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, version: "test", environ: []string{"HOME=" + dir, "TERM=xterm-256color"}}
		if code := a.run(t.Context(), append([]string{"--data", data}, args...)); code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
		}
		for name, b := range map[string]*bytes.Buffer{"output": &out, "error output": &errs} {
			if strings.ContainsAny(b.String(), "\x1b\r\b\a") {
				t.Errorf("%v: %s holds codes for a terminal: %q", args, name, b.String())
			}
		}
		if out.Len() == 0 {
			t.Errorf("%v says nothing", args)
		}
		if first := out.String()[:min(1, out.Len())]; slices.Contains(args, "--json") && first != "{" && first != "[" {
			t.Errorf("%v begins with something else than JSON: %q", args, out.String())
		}
	}
	for _, verb := range [][]string{
		{"init", "--yes"}, {"import", diary}, {"write", "A letter from home."}, {"status"}, {"session", "list"}, {"session", "show"},
		{"session", "end"}, {"recall", "lamp"}, {"soul"}, {"soul", "--versions"}, {"vasanas"}, {"trend"}, {"verify"}, {"doctor"}, {"version"},
	} {
		call(verb...)
		if verb[0] != "session" || verb[1] != "end" {
			call(append(slices.Clone(verb), "--json")...)
		}
	}
	call("trend", "--csv")
	call("--help")
}
