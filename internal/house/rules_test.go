package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// sources calls f for every Go file under version control.
func sources(t *testing.T, f func(name string, tree *ast.File)) {
	t.Helper()
	for _, name := range tracked(t) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f(name, tree)
	}
}

// Nothing happens because a package was imported: work starts where somebody calls it.
func TestNoInitFunctions(t *testing.T) {
	sources(t, func(name string, tree *ast.File) {
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function: give it a name and call it", name)
			}
		}
	})
}

// A test that sleeps is slow on a fast machine and wrong on a slow one. In a synctest bubble the clock
// is not real, and sleeping is how time passes.
func TestTestsDoNotSleep(t *testing.T) {
	sources(t, func(name string, tree *ast.File) {
		if !strings.HasSuffix(name, "_test.go") || imports(tree, "testing/synctest") {
			return
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isCall(call, "time", "Sleep") {
				t.Errorf("%s sleeps outside of testing/synctest: wait for what is to happen", name)
			}
			return true
		})
	})
}

// A skipped test says what it lacks.
func TestSkipsSayWhy(t *testing.T) {
	sources(t, func(name string, tree *ast.File) {
		if imports(tree, "pgregory.net/rapid") {
			return // there, Skip without a word gives up one draw and not the test
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && len(call.Args) == 0 && (isCall(call, "t", "Skip") || isCall(call, "b", "Skip") || isCall(call, "t", "SkipNow")) {
				t.Errorf("%s skips a test without a word", name)
			}
			return true
		})
	})
}

func imports(tree *ast.File, want string) bool {
	for _, spec := range tree.Imports {
		if strings.Trim(spec.Path.Value, `"`) == want {
			return true
		}
	}
	return false
}

func isCall(call *ast.CallExpr, on, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == on
}

// Scripts parse, can be started, and stop at the first fault.
func TestScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	seen := 0
	for _, name := range tracked(t) {
		if path.Ext(name) != ".sh" && name != ".ci/run" {
			continue
		}
		seen++
		if out, err := exec.Command(bash, "-n", filepath.Join(root(t), name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		text := read(t, name)
		if !strings.Contains(text, "set -eu") && !strings.Contains(text, `source "$(dirname "$0")/lib.sh"`) {
			t.Errorf("%s goes on after a fault: set -euo pipefail, or source lib.sh", name)
		}
		info, err := os.Stat(filepath.Join(root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		if library := strings.HasSuffix(name, "/lib.sh"); library == (info.Mode()&0o111 != 0) {
			t.Errorf("%s has mode %v: scripts are executable, lib.sh is not", name, info.Mode())
		}
	}
	if seen == 0 {
		t.Fatal("no script found")
	}
}
