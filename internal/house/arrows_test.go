package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// arrows is the picture in docs/architecture.md as a table: what a package may import of ours.
// A package without a row fails the test, so that a new room is drawn before it is built.
var arrows = map[string][]string{
	"reactivation":        {},
	"gate":                {},
	"gate/evidence":       {},
	"boards":              {},
	"internal/atomicfile": {},
	"internal/faults":     {},
	"internal/testport":   {},
	"internal/ledger":     {},
	"internal/sample":     {},
	"internal/house":      {},
	"lifecycle/consent":   {"soul/lineage"},
	"lifecycle/claims":    {"gate/evidence", "internal/ledger"},
	"lifecycle/diary":     {},
	"lifecycle/prompt":    {},
	"lifecycle/export":    {"chitta/fold", "reactivation", "internal/atomicfile"},
	"lifecycle/distil":    {"soul/lineage", "soul/detail", "internal/atomicfile"},
	"lifecycle/tools":     {},
	"lifecycle/lives":     {"soul/lineage"},
	"lifecycle/manifest":  {"soul/lineage", "lifecycle/consent", "lifecycle/distil", "lifecycle/tools", "internal/faults"},
	"lifecycle/projection": {
		"soul/lineage", "soul/detail", "lifecycle/consent", "lifecycle/distil", "lifecycle/tools", "lifecycle/lives", "lifecycle/manifest", "internal/atomicfile",
	},
	"chitta/fold":      {"reactivation", "gate"},
	"chitta/neighbour": {"chitta/fold"},
	"chitta/vasana":    {"reactivation"},
	"chitta":           {"chitta/fold", "reactivation", "gate", "internal/ledger", "internal/atomicfile"},
	"soul/detail":      {},
	"soul/lineage":     {"soul/detail"},
	"soul":             {"reactivation", "internal/atomicfile"},
	"lifecycle": {
		"reactivation", "gate", "gate/evidence", "boards", "internal/atomicfile", "internal/ledger",
		"lifecycle/claims", "lifecycle/diary", "lifecycle/export", "lifecycle/prompt", "lifecycle/consent", "lifecycle/distil", "lifecycle/tools", "lifecycle/lives",
		"lifecycle/manifest", "lifecycle/projection", "chitta", "chitta/fold", "chitta/neighbour", "chitta/vasana", "soul", "soul/lineage",
	},
	"sync":                     {"soul/lineage"},
	"sync/hub":                 {"sync", "soul/lineage"},
	"internal/builtin":         {"chitta/fold", "reactivation", "gate", "lifecycle"},
	"internal/builtin/usepack": {},                                                               // packs the weights that internal/builtin embeds
	"internal/builtin/train":   {"internal/builtin", "chitta/fold", "reactivation", "lifecycle"}, // fits its tables
	"internal/ollama":          {"chitta/fold", "reactivation", "gate", "lifecycle", "lifecycle/prompt", "lifecycle/tools", "lifecycle/distil"},
	"internal/api":             {"lifecycle", "soul"},
	"internal/broker":          {"lifecycle/tools"},
	"internal/door":            {"lifecycle", "lifecycle/prompt", "lifecycle/tools"},
	"internal/config":          {"boards", "gate", "reactivation", "internal/faults"},
	"internal/torture":         {"internal/api", "internal/sample", "lifecycle", "soul"}, // takes the program apart, is no part of it
	"cmd/jivad":                {"*"},                                                    // the only place that wires
}

// pure packages take values and return values. Whatever could make a second fold of the same events
// differ from the first is out of their reach.
var pure = []string{"reactivation", "gate", "gate/evidence", "chitta/fold"}

// impure are the standard packages that bring in a clock, chance, the machine or other goroutines.
// A trailing slash covers everything below.
var impure = []string{
	"time", "os", "os/", "math/rand", "math/rand/", "crypto/rand", "net", "net/", "sync", "sync/",
	"io/fs", "path/filepath", "log", "log/", "runtime", "runtime/", "syscall", "unsafe", "context", "database/",
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, p := range packages(t) {
		allowed, known := arrows[p.room()]
		if !known {
			t.Errorf("package %s has no row in the table of arrows: draw it in docs/architecture.md and add the row", p.room())
			continue
		}
		for _, imp := range p.Imports {
			if target, ours := ownRoom(imp); ours && !slices.Contains(allowed, "*") && !slices.Contains(allowed, target) {
				t.Errorf("%s imports %s, but may only import %v", p.room(), target, allowed)
			}
		}
		if slices.Contains(pure, p.room()) {
			checkPure(t, p)
		}
	}
}

// excused are the impure imports of single files of pure packages, each with its reason.
var excused = map[string]string{
	"chitta/fold/nearest.go sync": "an exact scan is shared out and joined again; its answer does not depend on how",

	"gate/evidence/canonicalweb.go net/url":                     "it takes the text of an address apart, and connects to nothing",
	"gate/evidence/canonicalweb.go golang.org/x/net/idna":       "tables of Unicode: names of hosts in their one form",
	"gate/evidence/canonical.go golang.org/x/text/unicode/norm": "tables of Unicode: one form of each letter",
}

// checkPure looks at a pure package file by file.
func checkPure(t *testing.T, p pkg) {
	t.Helper()
	for _, file := range p.GoFiles {
		name := p.room() + "/" + file
		tree, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, spec := range tree.Imports {
			imp := strings.Trim(spec.Path.Value, `"`)
			if why := notPure(imp); why != "" && excused[name+" "+imp] == "" {
				t.Errorf("%s is in a pure package and may not import %s: %s", name, imp, why)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt:
				t.Errorf("%s starts or waits for a goroutine, and is in a pure package", name)
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s has an init function, and is in a pure package", name)
				}
			}
			return true
		})
	}
}

// ownRoom tells whether an import is ours, and its room.
func ownRoom(imp string) (string, bool) {
	return strings.CutPrefix(imp, module+"/")
}

// notPure gives the reason why a pure package may not have this import, or "".
func notPure(imp string) string {
	if _, ours := ownRoom(imp); ours {
		return "" // held by the arrows
	}
	if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") {
		return "it is not of the standard library"
	}
	for _, ban := range impure {
		if imp == ban || strings.HasSuffix(ban, "/") && strings.HasPrefix(imp, ban) {
			return "it brings in a clock, chance, the machine or other goroutines"
		}
	}
	return ""
}

func TestPureBanKnowsItsTargets(t *testing.T) {
	for _, imp := range []string{"time", "os", "os/exec", "math/rand/v2", "net/http", "sync/atomic", "go.etcd.io/bbolt"} {
		if notPure(imp) == "" {
			t.Errorf("%s would be let into a pure package", imp)
		}
	}
	for _, imp := range []string{"math", "errors", "slices", "encoding/binary", "hash/crc32", module + "/gate"} {
		if why := notPure(imp); why != "" {
			t.Errorf("%s would be refused: %s", imp, why)
		}
	}
}

// The compiler forbids cycles between packages; this forbids drawing one, before there is code.
func TestArrowsHaveNoCycle(t *testing.T) {
	done := map[string]bool{}
	var visit func(room string, path []string)
	visit = func(room string, path []string) {
		if i := slices.Index(path, room); i >= 0 {
			t.Errorf("cycle: %s", strings.Join(append(path[i:], room), " → "))
			return
		}
		if done[room] {
			return
		}
		for _, to := range arrows[room] {
			if _, known := arrows[to]; !known && to != "*" {
				t.Errorf("%s has an arrow to %s, which has no row", room, to)
			}
			visit(to, append(slices.Clone(path), room))
		}
		done[room] = true
	}
	for _, room := range slices.Sorted(maps.Keys(arrows)) {
		visit(room, nil)
	}
}
