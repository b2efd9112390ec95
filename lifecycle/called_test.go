package lifecycle

import (
	"encoding/json"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
)

// keysOf are made-up ids from a to b.
func keysOf(a, b int) (keys [][16]byte, all []byte) {
	for i := a; i < b; i++ {
		k := [16]byte{byte(i), byte(i >> 8), 1}
		keys, all = append(keys, k), append(all, k[:]...)
	}
	return keys, all
}

// A name stays while four fifths of those that it was given for are there and no more
// than as many again came.
func TestWhenANameFits(t *testing.T) {
	_, members := keysOf(0, 10)
	n := modelName{Members: members, Count: 10}
	for _, x := range []struct {
		from, to int
		want     bool
	}{{0, 10, true}, {2, 10, true}, {3, 10, false}, {0, 20, true}, {0, 21, false}, {2, 22, true}, {3, 13, false}, {10, 20, false}, {0, 0, false}} {
		if keys, _ := keysOf(x.from, x.to); n.fits(keys) != x.want {
			t.Errorf("%d to %d: %v", x.from, x.to, !x.want)
		}
	}
	if (modelName{}).fits(nil) {
		t.Error("no members fit")
	}
}

// A name whose source is gone, buried, or no impression is not shown.
func TestANameNeedsItsSources(t *testing.T) {
	keys, members := keysOf(0, 5)
	state := &fold.State{}
	for _, k := range keys {
		state.Impressions = append(state.Impressions, fold.Samskara{ID: fold.ID(k)})
	}
	found := []vasana.Vasana{{ID: "v-1", Name: "river", Keys: keys}, {ID: "v-2", Name: "noise", Keys: keys}}
	names := modelNames{"v-1": {Name: "walks", By: "m", Members: members, Count: 5, Sources: members[:32]}}
	shown := func() string { return names.shown(state, found)[0].Name }
	if got := names.shown(state, found); got[0].Name != "walks" || got[0].by != "m" || got[1].Name != "noise" || got[1].by != "" || found[0].Name != "river" {
		t.Errorf("%+v", got)
	}
	state.Impressions[4].Buried = true
	if shown() != "walks" {
		t.Error("a member that it was not made from was buried")
	}
	state.Impressions[1].Buried = true
	if shown() != "river" || len(names.outdated(state, found)) != 1 {
		t.Error("a source was buried")
	}
	state.Impressions[1].Buried = false
	state.Impressions = state.Impressions[1:]
	if shown() != "river" {
		t.Error("a source is gone")
	}
}

// Records that could not have been written are damage, not a crash.
func TestADamagedNameIsRefused(t *testing.T) {
	for _, n := range []modelName{{Members: make([]byte, 15)}, {Members: make([]byte, 16), Sources: make([]byte, 17)}} {
		data, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := (modelNames{}).read(prefixName+"v-1", data); err == nil {
			t.Errorf("%+v was read", n)
		}
	}
}
