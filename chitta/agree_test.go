package chitta_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// What a caller puts in force it may say once it knows what the store records; what
// it then says is held to the same rules.
func TestAgreeingOnceTheStoreIsKnown(t *testing.T) {
	dir := t.TempDir()
	params := fold.DefaultParams()
	params.Profile = "agreed"
	var told []any
	say := func(a chitta.Agreement, err error) func(*chitta.Options) {
		return func(o *chitta.Options) {
			o.Embedder, o.Dim, o.Params = "", 0, nil
			o.Agree = func(embedder string, dim, impressions int) (chitta.Agreement, error) {
				told = []any{embedder, dim, impressions}
				return a, err
			}
		}
	}
	s := open(t, dir, say(chitta.Agreement{Embedder: "test/1", Dim: dim, Params: &params}, nil))
	if told[0] != "" || told[1] != 0 || told[2] != 0 {
		t.Errorf("of a new store it is told %v", told)
	}
	if state := s.Snapshot(); state.Embedder != "test/1" || state.Dim != dim || state.Params.Profile != "agreed" {
		t.Errorf("%s, %d, %s", state.Embedder, state.Dim, state.Params.Profile)
	}
	if _, err := s.Append(t.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionOpened{Number: 1}}, {Body: experience(1)}}}); err != nil {
		t.Fatal(err)
	}
	events := s.Snapshot().Sequence
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, say(chitta.Agreement{}, nil)) // nothing is put in force
	if told[0] != "test/1" || told[1] != dim || told[2] != 1 || s.Snapshot().Sequence != events {
		t.Errorf("it is told %v; %d events, before %d", told, s.Snapshot().Sequence, events)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		a    chitta.Agreement
		err  error
		want error
		says string
	}{
		"another":                   {chitta.Agreement{Embedder: "other/1", Dim: 5}, nil, chitta.ErrEmbedder, "the configured embedder is other/1 (5 dimensions). Run jivad reembed"},
		"another of no known width": {chitta.Agreement{Embedder: "other/1"}, nil, chitta.ErrEmbedder, "the configured embedder is other/1. Run jivad reembed"},
		"nobody can say":            {chitta.Agreement{}, errStop, errStop, dir},
	} {
		o := chitta.Options{Dir: dir}
		say(x.a, x.err)(&o)
		if _, err := chitta.Open(t.Context(), o); !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errStop = errors.New("it cannot be said")
