package house

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every module that our own code imports is named in docs/architecture.md with its reason, and nothing
// is named there that the code does not use.
func TestDependenciesHaveAReason(t *testing.T) {
	var imports []string
	for _, p := range packages(t) {
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			first, _, _ := strings.Cut(imp, "/")
			if _, ours := ownRoom(imp); !ours && imp != module && strings.Contains(first, ".") {
				imports = append(imports, imp)
			}
		}
	}
	slices.Sort(imports)
	imports = slices.Compact(imports)
	if len(imports) == 0 {
		t.Fatal("no package imports anything: the list is not right")
	}
	args := append([]string{"list", "-e", "-f", "{{with .Module}}{{.Path}}{{end}}"}, imports...)
	used := strings.Fields(string(run(t, "go", args...)))
	slices.Sort(used)
	used = slices.Compact(used)

	_, section, found := strings.Cut(read(t, "docs/architecture.md"), "## Dependencies")
	if !found {
		t.Fatal("docs/architecture.md has no section on dependencies")
	}
	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\| `+"`"+`.*$`).FindAllString(section, -1) {
		cell, _, _ := strings.Cut(row[2:], "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			named = append(named, m[1])
		}
	}
	for _, path := range used {
		if !slices.Contains(named, path) {
			t.Errorf("%s is imported, but docs/architecture.md does not say why", path)
		}
	}
	for _, path := range named {
		if !slices.Contains(used, path) {
			t.Errorf("docs/architecture.md gives a reason for %s, which nothing imports", path)
		}
	}
}
