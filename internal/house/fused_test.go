package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exact are the packages whose results are folded, hashed or compared between machines.
var exact = []string{"reactivation", "gate", "chitta/fold", "chitta/vasana", "soul"}

// fused is a multiplication and an addition in one instruction, with the source line before it.
var fused = regexp.MustCompile(`\(([^()\s]+\.go:\d+)\)\s+(FN?M(?:ADD|SUB)[DS])\b`)

// exactAnyway are the places where it does not matter whether there is one rounding or two: file, text
// of the line (empty for all of them), reason.
var exactAnyway = [][3]string{
	{"gate/gate.go", "(r.Effective-r.Mean)/2", "a half is exact"},
	{"soul/trendsvg.go", "", "pictures are rounded to what the eye sees"},
	{"soul/trendpanels.go", "", "as above"},
	{"soul/trendtext.go", "", "as above"},
	{"chitta/vasana/kernel.go", " += float64(", "the square of a float32 is exact in float64"},
}

func isExactAnyway(file, line string) bool {
	return slices.ContainsFunc(exactAnyway, func(e [3]string) bool { return e[0] == file && strings.Contains(line, e[1]) })
}

// On arm64 the compiler may compute a*b+c with one rounding instead of two, also across statements;
// on amd64 it does not. So the machine code is asked, not the source: there may be no such instruction.
// The cure is an explicit conversion: float64(a*b) + c.
func TestNothingIsFusedOnARM(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another architecture")
	}
	for _, room := range exact {
		cmd := exec.Command("go", "build", "-gcflags=-S", "./"+room)
		cmd.Dir = root(t)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s does not compile for arm64: %v", room, err)
			continue
		}
		if !strings.Contains(string(out), "STEXT") {
			t.Errorf("%s: the compiler printed no machine code", room)
		}
		seen := map[string]bool{}
		for _, m := range fused.FindAllStringSubmatch(string(out), -1) {
			if seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			name, number, _ := strings.Cut(strings.TrimPrefix(m[1], root(t)+"/"), ":")
			if line := sourceLine(t, name, number); !isExactAnyway(name, line) {
				t.Errorf("%s:%s is fused (%s) on arm64: write float64(a*b) + c\n\t%s", name, number, m[2], line)
			}
		}
	}
}

// sourceLine is a line of our source, or "" where the code was inlined from elsewhere.
func sourceLine(t *testing.T, name, number string) string {
	t.Helper()
	n, err := strconv.Atoi(number)
	if err != nil || filepath.IsAbs(name) {
		return ""
	}
	lines := strings.Split(read(t, name), "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[n-1])
}

func TestFusedKnowsItsInstructions(t *testing.T) {
	const listing = "\t0x071c 01820 (/src/gate/gate.go:140)\tFMADDD\tF12, F11, F10, F10\n" +
		"\t0x0720 01824 (/src/gate/gate.go:141)\tFNMSUBS\tF1, F2, F3, F4\n" +
		"\t0x0724 01828 (/src/gate/gate.go:142)\tFMULD\tF1, F2, F3\n"
	if n := len(fused.FindAllString(listing, -1)); n != 2 {
		t.Errorf("found %d fused instructions in the listing, want 2", n)
	}
}
