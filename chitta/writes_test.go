package chitta_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What stands beside the log is sealed when it is written, and noted for a copy that
// is being made. So it is written in one place, by Store.put and Store.remove; else
// a backup would now and then miss a change, and verify call it damaged.
func TestWhatStandsBesideTheLogIsWrittenInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"seal.go",
		"schema.go",  // the record of the store itself, which every copy reads last
		"migrate.go", // when nobody else is there
		"rewrite.go", // a new file, which counts when it is whole
	}
	write := regexp.MustCompile(`\.(Put|Delete)\(`)
	found := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || !write.Match(data) {
			continue
		}
		if found++; !slices.Contains(allowed, name) {
			t.Errorf("%s writes to a bucket by itself; let it use Store.put or Store.remove", name)
		}
	}
	if found != len(allowed) {
		t.Errorf("%d files write, %d are named here", found, len(allowed))
	}
}
