package neighbour

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jivad/jivad/chitta/fold"
)

var smallOptions = Options{MinRows: 256, Cells: 5, Mode: ModeHNSW, Seed: 3, StoreKey: "store-1"}

func savedSmall(t testing.TB) (m *fold.Matrix, saved []byte) {
	t.Helper()
	x := trained(t, mixture(1, 300, 4, 5, 0.2), smallOptions)
	var file bytes.Buffer
	if err := x.Save(&file); err != nil {
		t.Fatal(err)
	}
	return x.view.Load().rows, file.Bytes()
}

func TestSavedIndexIsTheSame(t *testing.T) {
	rows := mixture(9, 2_000, 16, 12, 0.3)
	o := Options{MinRows: 256, Mode: ModeHNSW, Seed: 3, StoreKey: "store-1"}
	x := trained(t, rows, o)
	x.Remove(11)
	var file, again bytes.Buffer
	if err := x.Save(&file); err != nil {
		t.Fatal(err)
	}
	m := matrixOf(t, append(slices.Clone(rows), mixture(10, 50, 16, 12, 0.3)...))
	y := New(m, o)
	y.Remove(11)
	y.Remove(2_020)
	if err := y.Load(iotest.OneByteReader(bytes.NewReader(file.Bytes())), m.Prefix(2_000)); err != nil {
		t.Fatal(err)
	}
	if err := y.Save(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Fatalf("saved again it differs (error %v)", err)
	}
	y = New(m, o)
	y.Remove(11)
	y.Remove(2_020)
	if err := y.Load(&file, m); err != nil {
		t.Fatal(err)
	}
	checkIndex(t, y)
	if r := y.Report(); r.Rows != 2_050 || r.Removed != 2 || r.TrainedOn != 2_000 || r.Serving != servedTwoLevel {
		t.Fatalf("%+v", r)
	}
}

func TestNothingToSave(t *testing.T) {
	x := New(fold.NewMatrix(4), Options{})
	if err := x.Save(io.Discard); !errors.Is(err, ErrNothingToMeasure) {
		t.Fatal(err)
	}
	if _, err := x.Guard(context.Background(), 5); !errors.Is(err, ErrNothingToMeasure) {
		t.Fatal(err)
	}
	o := smallOptions
	o.StoreKey = strings.Repeat("k", maxKey+1)
	y := trained(t, mixture(1, 300, 4, 5, 0.2), o)
	if err := y.Save(io.Discard); err == nil {
		t.Fatal("a store key that is too long was saved")
	}
}

func TestEveryDamageIsFound(t *testing.T) {
	m, saved := savedSmall(t)
	load := func(raw []byte) error { return New(m, smallOptions).Load(bytes.NewReader(raw), m) }
	if err := load(saved); err != nil {
		t.Fatal(err)
	}
	for i := range saved {
		for _, bit := range []byte{1, 0x80} {
			damaged := slices.Clone(saved)
			damaged[i] ^= bit
			if err := load(damaged); !errors.Is(err, ErrCache) {
				t.Fatalf("byte %d with %#x flipped: %v", i, bit, err)
			}
		}
		if err := load(saved[:i]); !errors.Is(err, ErrCache) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
	if err := load(append(slices.Clone(saved), 0)); !errors.Is(err, ErrCache) {
		t.Fatalf("a byte too many: %v", err)
	}
	if err := load(append(slices.Clone(saved), make([]byte, 1<<16)...)); !errors.Is(err, ErrCache) {
		t.Fatalf("many bytes too many: %v", err)
	}
	broken := iotest.ErrReader(errors.New("disk gone"))
	if err := New(m, smallOptions).Load(broken, m); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "disk gone") {
		t.Fatalf("a reader that fails: %v", err)
	}
}

func TestAnotherStoreIsRefused(t *testing.T) {
	m, saved := savedSmall(t)
	rows := mixture(1, 300, 4, 5, 0.2)
	swapped := slices.Clone(rows)
	swapped[17], swapped[18] = swapped[18], swapped[17]
	for name, c := range map[string]struct {
		m      *fold.Matrix
		change func(*Options)
	}{
		"key":         {m, func(o *Options) { o.StoreKey = "store-2" }},
		"no key":      {m, func(o *Options) { o.StoreKey = "" }},
		"seed":        {m, func(o *Options) { o.Seed = 4 }},
		"fewer rows":  {m.Prefix(299), func(*Options) {}},
		"other rows":  {matrixOf(t, swapped), func(*Options) {}},
		"dimension":   {matrixOf(t, mixture(1, 300, 5, 5, 0.2)), func(*Options) {}},
		"empty store": {fold.NewMatrix(4), func(*Options) {}},
	} {
		o := smallOptions
		c.change(&o)
		x := New(c.m, o)
		before := x.view.Load()
		if err := x.Load(bytes.NewReader(saved), c.m); !errors.Is(err, ErrCache) {
			t.Errorf("%s: %v", name, err)
		}
		if x.view.Load() != before {
			t.Errorf("%s: a refused file changed the index", name)
		}
	}
	x := New(m, smallOptions)
	if err := x.Load(bytes.NewReader(saved), fold.NewMatrix(9)); !errors.Is(err, ErrCache) {
		t.Errorf("matrix of another dimension: %v", err)
	}
}

// Load never panics, and whatever it accepts is a sound index. The checksum is
// put right first, or the fuzzer would never pass it.
func FuzzLoad(f *testing.F) {
	m, saved := savedSmall(f)
	f.Add(saved)
	f.Add(saved[:60])
	f.Add([]byte(cacheMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if n := len(raw) - 4; n >= 0 {
			raw = binary.LittleEndian.AppendUint32(slices.Clone(raw[:n]), crc32.Checksum(raw[:n], castagnoli))
		}
		x := New(m, smallOptions)
		if err := x.Load(bytes.NewReader(raw), m); err != nil {
			if !errors.Is(err, ErrCache) {
				t.Fatalf("error %v", err)
			}
			return
		}
		v := x.view.Load()
		for i := range v.cells.centroids.Len() {
			if err := fold.CheckVector(v.cells.centroids.Row(i), 4); err != nil {
				t.Fatalf("centroid %d: %v", i, err)
			}
		}
		if found, _ := x.Nearest(m.Row(0), 5); len(found) > 5 {
			t.Fatalf("%d neighbours", len(found))
		}
		if _, err := x.Guard(context.Background(), 3); err != nil {
			t.Fatal(err)
		}
	})
}
