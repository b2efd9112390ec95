package lineage_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// vector is one of the published ones: scripts/lineage-vectors.py says what it holds,
// and computes it without this package.
type vector struct {
	About    string            `json:"about"`
	Genesis  lineage.ID        `json:"genesis"`
	Identity lineage.Digest    `json:"identity"`
	Batches  [][]string        `json:"batches"`
	Expected outcome           `json:"expected"`
	Proofs   []json.RawMessage `json:"proofs"`
	Excise   []lineage.ID      `json:"excise"`
	Excised  outcome           `json:"excised"`
}

type outcome struct {
	Head    lineage.Digest  `json:"head"`
	Batches []expectedBatch `json:"batches"`
	Rules   []lineage.Rule  `json:"rules"`
	Render  string          `json:"render"`
}

type expectedBatch struct {
	lineage.Batch
	Tree lineage.Digest `json:"tree"`
}

func (o outcome) compare(t *testing.T, l *lineage.Lineage) {
	t.Helper()
	if l.Head() != o.Head || l.Batches() != len(o.Batches) {
		t.Errorf("head %s after %d batches, not %s after %d", l.Head(), l.Batches(), o.Head, len(o.Batches))
		return
	}
	for i, want := range o.Batches {
		if got := l.Batch(i); !reflect.DeepEqual(got, want.Batch) {
			t.Errorf("batch %d: %+v, not %+v", i, got, want.Batch)
		}
		if lineage.Version(l.Root(), want.Tree) != want.Version {
			t.Errorf("batch %d: the version is not that of its tree", i)
		}
	}
	if got := l.Rules(); !reflect.DeepEqual(got, o.Rules) {
		t.Errorf("rules %+v, not %+v", got, o.Rules)
	}
	if got := lineage.Render(l.Rules()); got != o.Render {
		t.Errorf("rendered\n%s\nnot\n%s", got, o.Render)
	}
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/lineage/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			l := lineage.New(v.Genesis, v.Identity)
			for _, batch := range v.Batches {
				var ds []*lineage.Distillate
				for _, text := range batch {
					d, err := lineage.Parse([]byte(text))
					if err != nil {
						t.Fatal(err)
					}
					if err := l.Admit(d); err != nil {
						t.Fatal(err)
					}
					ds = append(ds, d)
				}
				merge(t, l, ds...)
			}
			v.Expected.compare(t, l)
			v.Excised.compare(t, l.Without(v.Excise...))
			for i, raw := range v.Proofs {
				want, err := lineage.ParseProof(raw)
				if err != nil {
					t.Fatal(err)
				}
				if got := l.Prove(want.Digest); !reflect.DeepEqual(got, want) {
					t.Errorf("proof %d: %+v, not %+v", i, got, want)
				}
				if err := want.Check(); err != nil {
					t.Errorf("proof %d: %v", i, err)
				}
			}
		})
	}
}

// The files are what the script computes.
func TestVectorsAreTheScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("the script is the same on every machine")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to compute the vectors with")
	}
	out, err := exec.CommandContext(t.Context(), python, "../../scripts/lineage-vectors.py", "--check").CombinedOutput() //nolint:gosec // our own script
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
