package main

import (
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// editFile replaces a text in a file once, where it must be: edit FILE OLD NEW.
func editFile(ts *testscript.TestScript, _ bool, args []string) {
	old := ts.ReadFile(args[0])
	if !strings.Contains(old, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(old, args[1], args[2], 1)), 0o600))
}
