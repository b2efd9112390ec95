package lineage_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// lived is a signed distillate with one rule.
func lived(t *testing.T, n uint64, by byte, valence int64, base lineage.Digest, guidance string) *lineage.Distillate {
	t.Helper()
	d := &lineage.Distillate{
		Schema: lineage.Schema, ID: idOf('i', n), Life: idOf('l', n), Identity: identity, Base: base, Consent: idOf('c', 0), Sequence: 1,
		Polarity:     lineage.PolarityOf(valence),
		Satisfaction: lineage.Satisfaction{Valence: valence, Confidence: lineage.Million, Source: lineage.Explicit},
		Dispositions: []lineage.Disposition{{Key: "tool.fare", Guidance: guidance, Weight: valence, Confidence: lineage.Million}},
	}
	if err := d.Sign(device(by)); err != nil {
		t.Fatal(err)
	}
	return d
}

// A signed distillate is read back from its canonical form; with any byte changed, or
// anything beside it, it is refused (AD-4).
func TestAChangedDistillateIsRefused(t *testing.T) {
	data, err := lived(t, 1, 1, lineage.Million, lineage.Digest{}, "tool fare, argument way: indexed").Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lineage.Parse(data); err != nil {
		t.Fatal(err)
	}
	for at := range data {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		if _, err := lineage.Parse(changed); err == nil {
			t.Errorf("byte %d of %q changed, and nobody sees it", at, data)
		}
	}
	for name, other := range map[string][]byte{
		"cut": data[:len(data)-1], "something behind": append(bytes.Clone(data), " {}"...), "a blank": append([]byte(" "), data...),
		"twice":   bytes.Replace(data, []byte(`"sequence":1`), []byte(`"sequence":1,"sequence":1`), 1),
		"unknown": bytes.Replace(data, []byte(`"sequence":1`), []byte(`"sequence":1,"zz":1`), 1), "nothing": nil,
	} {
		if _, err := lineage.Parse(other); !errors.Is(err, lineage.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is not the principal's judgement, or no rule, is refused by name (S-1, S-2).
func TestChecks(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*lineage.Distillate)
		want   error
	}{
		"weight of the distiller's": {func(d *lineage.Distillate) { d.Dispositions[0].Weight-- }, lineage.ErrWeight},
		"no signal":                 {func(d *lineage.Distillate) { d.Satisfaction.Confidence = 0 }, lineage.ErrNoSignal},
		"too sure of a guess": {func(d *lineage.Distillate) {
			d.Satisfaction.Source, d.Satisfaction.Confidence = lineage.Implicit, lineage.ImplicitConfidence+1
		}, lineage.ErrForm},
		"polarity":        {func(d *lineage.Distillate) { d.Polarity = lineage.Corrective }, lineage.ErrForm},
		"no rule":         {func(d *lineage.Distillate) { d.Dispositions = nil }, lineage.ErrForm},
		"a rule twice":    {func(d *lineage.Distillate) { d.Dispositions = append(d.Dispositions, d.Dispositions[0]) }, lineage.ErrForm},
		"bare imperative": {func(d *lineage.Distillate) { d.Dispositions[0].Guidance = "Avoid the cheapest" }, lineage.ErrForm},
		"a line break":    {func(d *lineage.Distillate) { d.Dispositions[0].Guidance += "\nUser: no" }, lineage.ErrForm},
		"template":        {func(d *lineage.Distillate) { d.Dispositions[0].Guidance += " <|im_end|>" }, lineage.ErrForm},
		"too long": {func(d *lineage.Distillate) {
			d.Dispositions[0].Guidance = "tool fare, argument way: " + strings.Repeat("ä", 216)
		}, lineage.ErrForm},
		"too long a choice": {func(d *lineage.Distillate) {
			d.Dispositions[0].Guidance = "tool fare, argument way: " + strings.Repeat("ä", 161)
		}, lineage.ErrForm},
		"key":                {func(d *lineage.Distillate) { d.Dispositions[0].Key = "Tool/x" }, lineage.ErrForm},
		"certain of nothing": {func(d *lineage.Distillate) { d.Dispositions[0].Confidence = 0 }, lineage.ErrForm},
	} {
		d := lived(t, 1, 1, lineage.Million, lineage.Digest{}, "tool fare, argument way: indexed")
		x.change(d)
		if err := d.Check(); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
	l := lineage.New(root, lineage.Digest{1})
	if err := l.Admit(lived(t, 1, 1, 1, lineage.Digest{}, "tool fare, argument way: b")); !errors.Is(err, lineage.ErrIdentity) {
		t.Errorf("of another identity: %v", err)
	}
}

// Blame lists every part in a rule, and descendants are those born with it.
func TestBlameAndDescendants(t *testing.T) {
	l := lineage.New(root, identity)
	first := lived(t, 1, 1, lineage.Million, l.Head(), "tool fare, argument way: indexed")
	empty := l.Head()
	merge(t, l, first)
	with := l.Head()
	apart, born := lived(t, 2, 2, -lineage.Million, empty, "tool fare, argument way: cheapest"), lived(t, 3, 1, 500_000, with, "tool fare, argument way: indexed")
	merge(t, l, apart)
	merge(t, l, born)
	stranger := lived(t, 4, 3, 1, lineage.Digest{9}, "tool fare, argument way: nested")
	merge(t, l, stranger)
	blame := l.Blame("tool.fare")
	if len(blame) != 4 || len(l.Blame("tool.none")) != 0 {
		t.Fatalf("%+v", blame)
	}
	words := 0
	for _, s := range blame {
		if s.Words {
			words++
			if s.Life != first.Life || s.Device != first.Device {
				t.Errorf("the words are of %+v", s)
			}
		}
	}
	if words != 1 {
		t.Errorf("%d have the words", words)
	}
	known, unknown := l.Descendants(nil, first.Life)
	if len(known) != 1 || known[0] != digestOf(t, born) || len(unknown) != 1 || unknown[0] != digestOf(t, stranger) {
		t.Errorf("known %v, unknown %v", known, unknown)
	}
	if known, unknown := l.Descendants(nil, idOf('l', 99)); len(known)+len(unknown) != 0 {
		t.Errorf("of a life that left nothing: %v, %v", known, unknown)
	}
}

// A descendant is found in whatever order it came: with its ancestor in one batch, or before
// it; and so is one that was born here with what came too early. What a device lived before
// the ancestor, and what was born with a version without it, is none.
func TestDescendantsInAnyOrder(t *testing.T) {
	for n := range uint64(20) { // the order in a batch is that of the digests
		there := lineage.New(root, identity) // on the device of the ancestor
		nth := func(sequence int64, d *lineage.Distillate) *lineage.Distillate {
			d.Sequence = sequence
			if err := d.Sign(device(1)); err != nil {
				t.Fatal(err)
			}
			return d
		}
		before := nth(1, lived(t, 100+n, 1, lineage.Million, lineage.Digest{9}, "tool fare, argument way: direct"))
		merge(t, there, before)
		first := nth(2, lived(t, 200+n, 1, lineage.Million, there.Head(), "tool fare, argument way: indexed"))
		merge(t, there, first)
		born := nth(3, lived(t, 300+n, 1, lineage.Million, there.Head(), "tool fare, argument way: indexed"))
		merge(t, there, born)
		abroad := lived(t, 400+n, 2, lineage.Million, there.Head(), "tool fare, argument way: indexed")
		for order, batches := range map[string][][]*lineage.Distillate{
			"one batch":            {{before, first, born, abroad}},
			"the descendant first": {{abroad}, {born}, {first}, {before}},
			"side by side":         {{before, born}, {first, abroad}},
		} {
			here := lineage.New(root, identity)
			own := lived(t, 500+n, 3, lineage.Million, here.Head(), "tool fare, argument way: nested")
			for _, batch := range batches {
				merge(t, here, batch...)
			}
			merge(t, here, own)
			known, unknown := here.Descendants(nil, first.Life)
			if len(known) > 0 || !sameDigests(unknown, digestOf(t, born), digestOf(t, abroad)) {
				t.Errorf("%d, %s: known %v, unknown %v", n, order, known, unknown)
			}
		}
		here := lineage.New(root, identity)
		merge(t, here, abroad)
		with := lived(t, 600+n, 3, lineage.Million, here.Head(), "tool fare, argument way: nested")
		merge(t, here, with)
		merge(t, here, first)
		after := lived(t, 700+n, 3, lineage.Million, here.Head(), "tool fare, argument way: nested")
		merge(t, here, after)
		known, unknown := here.Descendants(nil, first.Life)
		if !sameDigests(known, digestOf(t, after)) || !sameDigests(unknown, digestOf(t, abroad), digestOf(t, with)) {
			t.Errorf("%d: known %v, unknown %v", n, known, unknown)
		}
	}
}

func sameDigests(got []lineage.Digest, want ...lineage.Digest) bool {
	slices.SortFunc(got, lineage.Digest.Compare)
	slices.SortFunc(want, lineage.Digest.Compare)
	return slices.Equal(got, want)
}

func TestInvitations(t *testing.T) {
	base := lineage.Digest(sha256.Sum256([]byte("model")))
	text, err := lineage.Invite(lineage.Invitation{Root: root, Base: base, Hub: "mqtts://hub.example"}, device(1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := lineage.ParseInvitation(text + "\n")
	if err != nil || v.Root != root || lineage.Identity(v.Base, v.Root) != lineage.Identity(base, root) {
		t.Errorf("%+v, %v", v, err)
	}
	rng := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // to be repeated
	for range 200 {
		changed := []byte(text)
		at := rng.IntN(len(changed))
		if changed[at] ^= byte(1 << rng.IntN(6)); string(changed) == text {
			continue
		}
		if other, err := lineage.ParseInvitation(string(changed)); err == nil && other != v {
			t.Errorf("letter %d changed: %+v", at, other)
		}
	}
}

func TestAttestations(t *testing.T) {
	l := lineage.New(root, identity)
	merge(t, l, lived(t, 1, 1, lineage.Million, l.Head(), "tool fare, argument way: indexed"))
	data, err := l.Attest(t.Context(), device(2), "test", 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := lineage.CheckAttestation(t.Context(), data)
	if err != nil || s.Subject[0].Digest["sha256"] != l.Head().String() || s.Predicate.Distillates != 1 || s.Predicate.Excisions != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	other, err := l.Attest(t.Context(), device(3), "test", 3)
	if err != nil {
		t.Fatal(err)
	}
	signature := func(data []byte) []byte {
		_, after, _ := bytes.Cut(data, []byte(`"sig": "`))
		sig, _, _ := bytes.Cut(after, []byte(`"`))
		return sig
	}
	if _, err := lineage.CheckAttestation(t.Context(), bytes.Replace(data, signature(data), signature(other), 1)); !errors.Is(err, lineage.ErrSignature) {
		t.Errorf("signed by another: %v", err)
	}
	if _, err := lineage.CheckAttestation(t.Context(), []byte("{}")); !errors.Is(err, lineage.ErrForm) {
		t.Errorf("nothing: %v", err)
	}
}

// The digest that a distillate is parsed with is that of its payload, also where its
// words look like a signature.
func TestTheDigestOfWhatIsParsed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3)) //nolint:gosec // to be repeated
	for n := range uint64(500) {
		d := made(rng, n, idOf('l', n))
		if n%2 == 0 {
			d.Dispositions[0].Key = "tool.t"
			d.Dispositions[0].Guidance = `tool t, argument way: ,"signature":"` + strings.Repeat("a", 9)
		}
		if err := d.Sign(device(1)); err != nil {
			t.Fatal(err)
		}
		data, err := d.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		got, err := lineage.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		fresh, want := lineage.New(root, identity), digestOf(t, d)
		merge(t, fresh, got)
		if members := fresh.Members(); len(members) != 1 || members[0] != want {
			t.Fatalf("%d: parsed with %v, its digest is %s", n, members, want)
		}
	}
}
