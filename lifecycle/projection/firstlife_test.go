package projection

import (
	"errors"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/soul/lineage"
)

// The identity is made of the model of the first life, once: where one is named that life
// waits for it, though the built-in one may think in any later life. Where none is named it
// is made of the built-in one.
func TestTheFirstLifeWaitsForItsModel(t *testing.T) {
	away, there := manifest.Chat{Configured: "m:1", Away: "nothing answers there"}, manifest.Chat{Configured: "m:1", Name: "m:1", Digest: digestOfA}
	for name, lacks := range map[string]manifest.Chat{"it is away": away, "the server has it not": {Configured: "m:1"}, "another has its name": {Configured: "m:1", Name: "n:1", Digest: digestOfA}} {
		t.Run(name, func(t *testing.T) {
			w, chat := newWorld(t), lacks
			w.around = func(f *manifest.Found) { f.Chat = chat }
			p := w.must(w.open())
			var unborn *UnbornError
			if err := p.Birth(t.Context()); !errors.As(err, &unborn) || len(unborn.Missing) != 1 || unborn.Missing[0].Code != string(Identity) {
				t.Fatal(err)
			}
			if x, err := p.Prospect(t.Context()); err != nil || len(x.Missing) != 1 || x.Missing[0].Code != Identity || x.Mind != "" {
				t.Errorf("%+v, %v", x, err)
			}
			if k := p.Known(); k.Identity != (lineage.Digest{}) || len(k.Missing) != 1 {
				t.Errorf("%+v", k)
			}
			chat = there
			if err := p.Birth(t.Context()); err != nil {
				t.Fatal(err)
			}
			base, err := lineage.DigestOf(digestOfA)
			if k := p.Known(); err != nil || k.Identity != lineage.Identity(base, root) || len(k.Missing) != 0 {
				t.Errorf("%+v, %v", k, err)
			}
			if err := p.Withdraw(lives.ByStop, func([]Value) error { return nil }); err != nil {
				t.Fatal(err)
			}
			chat = lacks
			if err := p.Birth(t.Context()); err != nil {
				t.Fatal(err)
			}
			if l, ok := p.Living(); !ok || l.Mind != Builtin {
				t.Errorf("a later life: %+v", l)
			}
		})
	}
	w := newWorld(t)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil || p.Known().Identity == (lineage.Digest{}) {
		t.Errorf("none is named: %v", err)
	}
}

var digestOfA = strings.Repeat("ab", 32)
