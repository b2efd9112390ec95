package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatrixIsQuantisedByRow(t *testing.T) {
	p := &packer{tensors: map[string]tensor{"w": {shape: []int{1, 1, 2, 3}, values: []float32{1, -2, 0, 0.5, 1, 0}}}}
	p.matrix("w", true) // outputs: (1, 0.5), (-2, 1), (0, 0)
	if p.err != nil {
		t.Fatal(p.err)
	}
	want := []int8{127, 64, -127, 64, 0, 0} // 63.5 rounds to the even 64
	got := p.out[8+3*4:]
	for i, w := range want {
		if int8(got[i]) != w {
			t.Errorf("weight %d is %d, want %d", i, int8(got[i]), w)
		}
	}
}

func TestFaultsAreNamed(t *testing.T) {
	if _, err := pack(nil, nil); err == nil || !strings.Contains(err.Error(), "Embeddings_en") {
		t.Errorf("a model without weights: %v", err)
	}
	dir := t.TempDir()
	model := `{"weightsManifest":[{"paths":["a"],"weights":[{"name":"w","shape":[2,2],"dtype":"float32"}]}]}`
	for name, data := range map[string]string{"model.json": model, "a": "short"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(dir, filepath.Join(dir, "out")); err == nil || !strings.Contains(err.Error(), "shards end before") {
		t.Errorf("a cut shard: %v", err)
	}
}
