package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/jivad/jivad"

// root is the folder of go.mod, found by walking up.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod in any parent folder")
		}
		dir = up
	}
}

// run returns what a command prints, started in the root folder.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out
}

// pkg is the part of `go list -json` that the tests look at.
type pkg struct {
	Dir        string
	ImportPath string
	Name       string
	Doc        string
	GoFiles    []string
	Imports    []string

	TestImports, XTestImports []string
}

// room is the import path without the module, such as "chitta/fold".
func (p pkg) room() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// packages lists every package of the module. -e: a package that does not compile still has imports.
func packages(t *testing.T) []pkg {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(run(t, "go", "list", "-e", "-json=Dir,ImportPath,Name,Doc,Imports,GoFiles,TestImports,XTestImports", "./...")))
	var all []pkg
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		// Looking into the folder makes a cached result of this test void when a file there changes;
		// what a command reads, go test does not know of.
		if _, err := os.ReadDir(p.Dir); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatal("go list found no package")
	}
	return all
}

// tracked lists the files under version control, relative to the root.
func tracked(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: tracked files are not known")
	}
	if _, err := os.Stat(filepath.Join(root(t), ".git")); err != nil {
		t.Skip("not a git checkout: tracked files are not known")
	}
	var files []string
	for _, f := range strings.Split(string(run(t, "git", "ls-files", "-z")), "\x00") {
		if f == "" {
			continue
		}
		// A file deleted but not yet committed is still listed.
		if _, err := os.Lstat(filepath.Join(root(t), f)); err == nil {
			files = append(files, f)
		}
	}
	return files
}

// read returns a file of the tree.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
