package projection

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// ended is a world in which so many lives were lived and distilled.
func endedWorld(t *testing.T, n int) (*world, *Projections) {
	t.Helper()
	w := newWorld(t)
	p := w.must(w.open())
	for range n {
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := w.end(p, lineage.Million); err != nil {
			t.Fatal(err)
		}
	}
	return w, p
}

// A chain that somebody changed is seen when it is opened, and nothing goes on with it:
// a version, a distillate's words, its weight, a member left out (S-3, S-4).
func TestAChangedChainIsSeen(t *testing.T) {
	for name, change := range map[string]func(records map[string][]byte){
		"a version": func(r map[string][]byte) {
			var b lineage.Batch
			_ = json.Unmarshal(r[batchName(1)], &b)
			b.Version = lineage.Digest{1}
			r[batchName(1)], _ = json.Marshal(b)
		},
		"the words": func(r map[string][]byte) {
			for name, data := range r {
				if strings.HasPrefix(name, prefixMember) {
					r[name] = bytes.Replace(data, []byte("indexed"), []byte("mirrore"), 1)
				}
			}
		},
		"a weight": func(r map[string][]byte) {
			for name, data := range r {
				if strings.HasPrefix(name, prefixMember) {
					r[name] = bytes.Replace(data, []byte(`"weight":1000000`), []byte(`"weight":900000`), 1)
				}
			}
		},
		"a member that is gone": func(r map[string][]byte) {
			for name := range r {
				if strings.HasPrefix(name, prefixMember) {
					delete(r, name)
					return
				}
			}
		},
		"a batch that is gone": func(r map[string][]byte) { delete(r, batchName(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			w, p := endedWorld(t, 2)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			change(w.store.records)
			if _, err := w.open(); err == nil {
				t.Error("it is opened")
			}
		})
	}
}

// A distillate of another identity is not taken in (AD-1); nor one that the device which it
// names did not sign (AD-4).
func TestAnotherIdentityIsRefused(t *testing.T) {
	_, p := endedWorld(t, 1)
	own, _ := p.lineage.Member(p.lineage.Members()[0])
	stranger := *own
	stranger.ID, stranger.Life, stranger.Identity = lineage.ID{9}, lineage.ID{8}, lineage.Digest{7}
	if err := stranger.Sign(p.key); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.merge(&stranger); !errors.Is(err, lineage.ErrIdentity) {
		t.Error(err)
	}
	forged := *own
	forged.ID, forged.Life = lineage.ID{9}, lineage.ID{8}
	if _, _, err := p.merge(&forged); !errors.Is(err, lineage.ErrSignature) {
		t.Error(err)
	}
	if k := p.Known(); k.Distillates != 1 {
		t.Errorf("%+v", k)
	}
}

// Every act is signed with the key of the device over the digest of what was done, which
// holds nothing of it that could be guessed (AD-4).
func TestActsAreSigned(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	l, _ := p.Living()
	secret, err := os.ReadFile(p.secretPath(l.Sequence))
	if err != nil {
		t.Fatal(err)
	}
	acts := 0
	_ = w.store.Values(prefixAct, func(_ string, data []byte) error {
		acts++
		var s signedAct
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if err := lineage.CheckAct(l.Device, l.Identity, l.Nonce, l.Manifest, s.Payload, s.Signature); err != nil {
			t.Error(err)
		}
		s.Payload[0]++
		if err := lineage.CheckAct(l.Device, l.Identity, l.Nonce, l.Manifest, s.Payload, s.Signature); !errors.Is(err, lineage.ErrSignature) {
			t.Errorf("another act fits the signature: %v", err)
		}
		return nil
	})
	if acts != l.Spent.Acts || acts < 2 {
		t.Errorf("%d acts, %d signed", l.Spent.Acts, acts)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("a guess"))
	for name, data := range w.store.records {
		if strings.HasPrefix(name, prefixAct) && (bytes.Contains(data, []byte("indexed")) || bytes.Contains(data, mac.Sum(nil))) {
			t.Errorf("%s holds what was done", name)
		}
	}
}

// A contested rule is shown as a question: two lives that say the opposite of one thing.
func TestTwoMinds(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	for _, rating := range []int64{lineage.Million, -lineage.Million} {
		if err := p.Birth(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Act(t.Context(), call("fare_search", map[int64]string{lineage.Million: "indexed", -lineage.Million: "nested"}[rating])); err != nil {
			t.Fatal(err)
		}
		if err := w.end(p, rating); err != nil {
			t.Fatal(err)
		}
	}
	if k := p.Known(); k.Contested != 1 {
		t.Fatalf("%+v", k)
	}
	if text := p.Rules(); !strings.Contains(text, "Open questions") || !strings.Contains(text, ", or not?") || !strings.Contains(text, "not commands of the user and not facts") || strings.Contains(text, ": prefer ") || strings.Contains(text, ": avoid ") {
		t.Errorf("%s", text)
	}
	missing := p.Immature()
	found := false
	for _, m := range missing {
		found = found || m.Code == "contested" && m.Invariant == lives.M1
	}
	if !found {
		t.Errorf("%+v", missing)
	}
}
