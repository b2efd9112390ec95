package builtin

import (
	"errors"
	"testing"
)

// A damaged file is refused, whatever is cut off or overwritten in its frame; never a panic.
func TestDamagedModelIsRefused(t *testing.T) {
	for _, size := range []int{0, 3, 4, 8, 9, 50, 99419, 99420, 99428, 150000, 2_300_000, len(useBlob) - 1} {
		if _, err := parseUSE(useBlob[:size]); !errors.Is(err, errBlob) {
			t.Errorf("cut at %d: error %v", size, err)
		}
	}
	if _, err := parseUSE(useBlob + "x"); !errors.Is(err, errBlob) {
		t.Errorf("one byte more: error %v", err)
	}
	bad := []byte(useBlob)
	bad[99420] ^= 0xff // rows of the piece vectors
	if _, err := parseUSE(string(bad)); !errors.Is(err, errBlob) {
		t.Errorf("another shape: error %v", err)
	}
}
