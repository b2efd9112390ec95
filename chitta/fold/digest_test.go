package fold_test

import (
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
)

// However the store changed since the time before, a digester gives the digest
// that the state has for one who never saw it.
func TestDigesterGivesTheDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d fold.Digester
		s := fold.NewState()
		zero := math.Copysign(0, -1)
		for range 8 {
			n := rapid.IntRange(0, 70).Draw(t, "impressions")
			s.Impressions = append(s.Impressions[:min(n, len(s.Impressions))], make([]fold.Samskara, max(0, n-len(s.Impressions)))...)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				if n == 0 {
					break
				}
				m := &s.Impressions[rapid.IntRange(0, n-1).Draw(t, "which")]
				switch x := rapid.SampledFrom([]float64{0, zero, 1, 2, math.NaN()}).Draw(t, "value"); rapid.IntRange(0, 4).Draw(t, "what") {
				case 0:
					m.Reinforcement = x
				case 1:
					m.Peak = x
				case 2:
					m.Guna.Sattva = x
				case 3:
					m.Key[3]++
				case 4:
					m.Last++
				}
			}
			k := rapid.IntRange(0, 40).Draw(t, "links")
			s.Links = append(s.Links[:min(k, len(s.Links))], make([]fold.Link, max(0, k-len(s.Links)))...)
			if k > 0 {
				l := &s.Links[rapid.IntRange(0, k-1).Draw(t, "which link")]
				l.Acted = append([]uint32{uint32(k)}, l.Acted...)
			}
			s.Session.Number++
			if d.Of(s.Clone()) != s.Digest() {
				t.Fatalf("with %d impressions and %d links the digest is another", n, k)
			}
		}
	})
}

// No field may change without the digest, the place in the log excepted. A new
// field fails here until it is written, and compared, too.
func TestEveryFieldIsInTheDigest(t *testing.T) {
	s := fold.NewState()
	s.Impressions, s.Links = make([]fold.Samskara, 40), make([]fold.Link, 40)
	var d fold.Digester
	before := d.Of(s)
	check := func(name string, counts bool) {
		t.Helper()
		after := d.Of(s)
		if after != s.Digest() {
			t.Errorf("%s: the digest that was kept is not the state's", name)
		}
		if (after != before) != counts {
			t.Errorf("%s: whether the digest changed is %v, want %v", name, after != before, counts)
		}
		before = after
	}
	for _, item := range []any{&s.Impressions[20], &s.Links[20]} {
		v := reflect.ValueOf(item).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			for _, leaf := range leaves(v.Field(i)) {
				change(t, leaf)
				check(v.Type().Name()+"."+name, name != "Sequence")
			}
		}
	}
}

// The digest of one small state, on every machine. It changes only with what a
// digest is, and then that of every store does.
func TestTheDigestIsWhatItWas(t *testing.T) {
	s := fold.NewState()
	s.Embedder, s.Dim, s.Params = "test/1", 2, fold.Params{}
	for i := range 40 {
		m := fold.Samskara{Reinforcement: 1 + float64(i)/8, Peak: float64(i) / 64, Born: uint32(i), Last: uint32(2 * i), Sequence: uint64(i)}
		m.ID[0], m.Key[15], m.Guna.Rajas = byte(i), byte(i), 1
		s.Impressions = append(s.Impressions, m)
	}
	s.Links = []fold.Link{{Acted: []uint32{3, 4}}}
	d := s.Digest()
	const want = "ddaa5575ff8402ff"
	if got := hex.EncodeToString(d[:8]); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

// leaves are the parts of a value that hold no others.
func leaves(v reflect.Value) (out []reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, leaves(v.Field(i))...)
		}
		return out
	case reflect.Array:
		return leaves(v.Index(v.Len() - 1))
	}
	return []reflect.Value{v}
}

func change(t *testing.T, v reflect.Value) {
	switch {
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	default:
		t.Fatalf("a field of kind %v: say here how it changes", v.Kind())
	}
}
