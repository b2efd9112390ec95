package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topLevel is everything that may lie in the root folder.
var topLevel = []string{
	".ci", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
	"boards", "chitta", "cmd", "docs", "gate", "go.mod", "go.sum", "internal", "lifecycle",
	"reactivation", "scripts", "soul", "sync", "systemd",
}

func TestTopLevelIsFixed(t *testing.T) {
	there := map[string]bool{}
	for _, f := range tracked(t) {
		top, _, _ := strings.Cut(f, "/")
		there[top] = true
		if !slices.Contains(topLevel, top) {
			t.Errorf("%s: nothing else may lie at the top level; find it a room in internal/ or docs/", f)
		}
		if rest, in := strings.CutPrefix(f, "cmd/"); in && !strings.HasPrefix(rest, "jivad/") {
			t.Errorf("%s: jivad is the only command", f)
		}
	}
	for _, name := range topLevel {
		if !there[name] {
			t.Errorf("%s is missing at the top level", name)
		}
	}
}

func TestEveryPackageIntroducesItself(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue // nothing but tests or files for other systems yet
		}
		want := regexp.MustCompile(`^Package ` + regexp.QuoteMeta(p.Name) + ` [a-z]+s?[,:]? `)
		if p.Name == "main" {
			want = regexp.MustCompile(`^(Command )?` + path.Base(p.ImportPath) + ` (is|[a-z]+s) |^Command jivad `)
		}
		if !want.MatchString(strings.Join(strings.Fields(p.Doc), " ")) {
			t.Errorf("%s: the package doc must begin like %q and say in one sentence what it is; it begins %q",
				p.room(), "Package "+p.Name+" is …", p.Doc)
		}
	}
}

const (
	longFile    = 600 // lines from which a Go file is listed
	tooLongFile = 700 // lines over which the test fails
)

func TestFilesStayShort(t *testing.T) {
	for _, f := range tracked(t) {
		if path.Ext(f) != ".go" {
			continue
		}
		switch n := strings.Count(read(t, f), "\n"); {
		case n > tooLongFile:
			t.Errorf("%s has %d lines; %d is the limit: one idea per file", f, n, tooLongFile)
		case n > longFile:
			t.Logf("%s has %d lines and wants to be two files", f, n)
		}
	}
}

// foreign are marks of the machine that something was made on. They are put together from pieces so
// that this file does not find itself.
var foreign = []string{
	"/wor" + "k/", "/roo" + "t/", "bash" + "_jobs", // somebody's folders
	"proxy.gol" + "ang", "registry.np" + "mjs", "deb.deb" + "ian", "sum.gol" + "ang", // package hosts
	"<<<<" + "<<< ", ">>>>" + ">>> ", "BEGIN " + "PRIVATE KEY",
}

func TestNoMarksOfAnyMachine(t *testing.T) {
	for _, f := range tracked(t) {
		text := read(t, f)
		for _, mark := range foreign {
			if strings.Contains(text, mark) {
				t.Errorf("%s contains %q, which belongs to one machine and not to the project", f, mark)
			}
		}
	}
}
