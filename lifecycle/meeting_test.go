package lifecycle_test

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul/lineage"
)

// late is a model whose server takes a while to say which one it is, and what it says.
type late struct {
	wise
	takes  time.Duration
	digest string
	met    bool
	looks  int
}

func (l *late) Look(ctx context.Context) (lifecycle.ModelState, string) {
	l.mu.Lock()
	l.looks++
	l.mu.Unlock()
	select {
	case <-time.After(l.takes):
		l.mu.Lock()
		l.wise.digest, l.met = l.digest, true
		l.mu.Unlock()
	case <-ctx.Done():
	}
	return l.State(), ""
}

func (l *late) State() lifecycle.ModelState {
	s := l.wise.State()
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Met, s.Server = l.met, "http://pi.lan:11434"
	return s
}

// A life is born with the model that is there, by its digest, also where it is born before
// the server said which one that is; and where it does not say it, nothing stands for it: no
// bare name, neither as who thinks in the life nor in the identity, and in the identity, which
// is made once, not the built-in model either, whatever the manifest lets think (AD-1, J-1).
func TestNobodyIsBornByABareName(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for name, c := range map[string]struct {
		model   *late
		builtin bool
		mind    string
		base    string // the text of a base that has no digest
	}{
		"it says it in time":         {&late{takes: 1200 * time.Millisecond, digest: digest}, true, "wise:1@" + digest, ""},
		"it is late":                 {&late{takes: time.Minute, digest: digest}, true, "", ""},
		"it is late, and has to":     {&late{takes: time.Minute, digest: digest}, false, "", ""},
		"its server tells no digest": {&late{takes: time.Millisecond}, true, "wise:1", "wise:1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.opts.Model, w.opts.Lives = c.model, true
				if !c.builtin {
					text := "[substrate]\nbuiltin = false\n"
					if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				companion := w.live(t)
				began := time.Now()
				companion.Offers(t.Context())
				companion.Offers(t.Context())
				if took := time.Since(began); took > 5*time.Second || c.model.looks != 1 {
					t.Errorf("%d looks took %v", c.model.looks, took)
				}
				k, err := companion.Lineage(t.Context())
				all, e := companion.Lives(t.Context(), 9)
				if err != nil || e != nil || len(all) != 1 || all[0].Mind != c.mind {
					t.Fatalf("%+v %+v %v %v", k, all, err, e)
				}
				if c.mind == "" {
					w.write(t, companion, "Kept all the same.")
					if k.Identity != (lineage.Digest{}) {
						t.Errorf("the identity is %s", k.Identity)
					}
					if s, err := companion.Status(t.Context()); err != nil || s.Entries != 1 || !strings.Contains(strings.Join(s.Problems, " "), "the chat model wise:1 cannot be asked for: http://pi.lan:11434: its server has not said yet") {
						t.Errorf("%+v %v", s, err)
					}
					if len(k.Missing) != 1 || !strings.Contains(k.Missing[0].What, "has not said yet which model it has") {
						t.Errorf("%+v", k)
					}
					time.Sleep(time.Minute)
					c.model.takes = 0
					companion.Offers(t.Context())
					all, err := companion.Lives(t.Context(), 9)
					if err != nil || len(all) != 1 || all[0].Mind != "wise:1@"+digest {
						t.Fatalf("once it said it: %+v %v", all, err)
					}
					if s, err := companion.Status(t.Context()); err != nil || len(s.Problems) > 0 {
						t.Errorf("once it is born: %q %v", s.Problems, err)
					}
					if k, err = companion.Lineage(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				want := lineage.Identity(sha256.Sum256([]byte("jivad/base/1\x00"+c.base)), k.Root)
				if c.base == "" {
					d, err := lineage.DigestOf(digest)
					if err != nil {
						t.Fatal(err)
					}
					want = lineage.Identity(d, k.Root)
				}
				if k.Identity != want {
					t.Errorf("the identity is %s, want %s", k.Identity, want)
				}
			})
		})
	}
}
