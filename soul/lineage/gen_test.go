package lineage_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// root and identity are of the lineage of the tests.
var (
	root     = lineage.ID{0x01, 0x9a, 0, 0, 0, 0, 0x70, 1, 0x80, 0, 0, 0, 0, 0, 0, 1}
	identity = lineage.Digest(sha256.Sum256([]byte("identity")))
)

// device is a key of a device, of a seed.
func device(n byte) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte{'d', n})
	return ed25519.NewKeyFromSeed(seed[:])
}

func idOf(kind byte, n uint64) (id lineage.ID) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte{kind}, n))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

// made makes a valid distillate that is not signed: a law does not ask who signed.
func made(rng *rand.Rand, n uint64, life lineage.ID) *lineage.Distillate {
	choices := []int64{-lineage.Million, -400_001, -1, 0, 1, 250_000, 999_999, lineage.Million}
	valence := choices[rng.IntN(len(choices))]
	if rng.IntN(2) == 0 {
		valence = rng.Int64N(2*lineage.Million+1) - lineage.Million
	}
	d := &lineage.Distillate{
		Schema: lineage.Schema, ID: idOf('i', n), Life: life, Identity: identity, Nonce: lineage.Digest(sha256.Sum256([]byte{byte(n)})),
		Consent: idOf('c', 0), Sequence: int64(n) + 1, Polarity: lineage.PolarityOf(valence), //nolint:gosec // small
		Satisfaction: lineage.Satisfaction{Valence: valence, Confidence: 1 + rng.Int64N(lineage.Million), Source: lineage.Explicit},
	}
	if rng.IntN(3) == 0 {
		d.Satisfaction.Confidence = lineage.Million // so that ties are met
	}
	for key := range 4 {
		if rng.IntN(2) == 0 && (key < 3 || len(d.Dispositions) > 0) {
			continue
		}
		confidence := int64(lineage.Million)
		if rng.IntN(2) == 0 {
			confidence = 1 + rng.Int64N(lineage.Million)
		}
		d.Dispositions = append(d.Dispositions, lineage.Disposition{
			Key: fmt.Sprintf("tool.t%d", key), Guidance: fmt.Sprintf("tool t%d, argument way: w%d", key, rng.IntN(3)),
			Weight: valence, Confidence: confidence, Evidence: sha256.Sum256([]byte{byte(n), byte(key)}),
		})
	}
	if err := lineage.Seal(d); err != nil {
		panic(err)
	}
	return d
}

// set makes n distillates of three devices; now and then one names a life that another
// names already, of the same device or not, or has the id of another distillate.
func set(rng *rand.Rand, n int) []*lineage.Distillate {
	out := make([]*lineage.Distillate, n)
	for i := range out {
		life := idOf('l', uint64(i))
		if i > 0 && rng.IntN(4) == 0 {
			life = out[rng.IntN(i)].Life
		}
		out[i] = made(rng, uint64(i), life)
		out[i].Device = lineage.Key{byte(1 + rng.IntN(3))}
		if i > 0 && rng.IntN(4) == 0 {
			out[i].ID = out[rng.IntN(i)].ID
		}
		if err := lineage.Seal(out[i]); err != nil {
			panic(err)
		}
	}
	return out
}

func digestOf(t testing.TB, d *lineage.Distillate) lineage.Digest {
	t.Helper()
	digest, err := d.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// digests computes each once.
func digests(t testing.TB, ds []*lineage.Distillate) map[*lineage.Distillate]lineage.Digest {
	t.Helper()
	out := map[*lineage.Distillate]lineage.Digest{}
	for _, d := range ds {
		out[d] = digestOf(t, d)
	}
	return out
}

func merge(t testing.TB, l *lineage.Lineage, ds ...*lineage.Distillate) {
	t.Helper()
	if _, err := l.Merge(ds...); err != nil {
		t.Fatal(err)
	}
}
