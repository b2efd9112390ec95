package distil_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

// written are weights as the principal writes them.
func written(t *testing.T, text string) distil.Weights {
	t.Helper()
	var w distil.Weights
	meta, err := toml.Decode(text, &w)
	if err != nil || len(meta.Undecoded()) > 0 {
		t.Fatal(err, meta.Undecoded())
	}
	return w
}

func models(t *testing.T, texts ...string) (ms distil.Models) {
	t.Helper()
	for _, text := range texts {
		var err error
		if ms, err = ms.Append(written(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	return ms
}

const someWeights = `
implicit = true
judgement_window = "12h"
[signals]
"said.helped" = 1.0
"task.done" = 0.5
"said.too_long" = -0.5
"seen.asked_again" = -1.0
"seen.stayed" = 0.25
`

func TestJudge(t *testing.T) {
	const m = lineage.Million
	rating := func(v int64) *int64 { return &v }
	some := models(t, someWeights)
	off := models(t, strings.Replace(someWeights, "true", "false", 1))
	for name, c := range map[string]struct {
		models              distil.Models
		signals             distil.Signals
		valence, confidence int64
		source              string
		err                 error
	}{
		"nothing":               {some, distil.Signals{}, 0, 0, lineage.Explicit, nil},
		"no model":              {nil, distil.Signals{Values: map[string]int64{"said.helped": m}}, 0, 0, lineage.Explicit, nil},
		"a rating alone counts": {some, distil.Signals{Rating: rating(-300_000), Values: map[string]int64{"said.helped": m}}, -300_000, m, lineage.Explicit, nil},
		"a rating of nothing":   {some, distil.Signals{Rating: rating(0), Values: map[string]int64{"said.helped": m}}, 0, m, lineage.Explicit, nil},
		"a rating in time":      {some, distil.Signals{Rating: rating(1), After: 12 * time.Hour}, 1, m, lineage.Explicit, nil},
		"a rating too late":     {some, distil.Signals{Rating: rating(1), After: 12*time.Hour + 1}, 0, 0, lineage.Explicit, distil.ErrLate},
		"too late, but signals": {some, distil.Signals{Rating: rating(1), After: 24 * time.Hour, Values: map[string]int64{"said.helped": m}}, m, 500_000, lineage.Explicit, distil.ErrLate},
		"a day without a model": {nil, distil.Signals{Rating: rating(1), After: 24 * time.Hour}, 1, m, lineage.Explicit, nil},
		"a clock that was set":  {some, distil.Signals{Rating: rating(1), After: -time.Hour}, 1, m, lineage.Explicit, nil},
		"all that was spoken":   {some, distil.Signals{Values: map[string]int64{"said.helped": m, "task.done": m, "said.too_long": 0}}, 750_000, m, lineage.Explicit, nil},
		"a complaint":           {some, distil.Signals{Values: map[string]int64{"said.too_long": m}}, -m, 250_000, lineage.Explicit, nil},
		"rounded":               {some, distil.Signals{Values: map[string]int64{"said.helped": 1, "task.done": 0}}, 1, 750_000, lineage.Explicit, nil},  // 2/3
		"rounded, below":        {some, distil.Signals{Values: map[string]int64{"said.helped": -1, "task.done": 1}}, 0, 750_000, lineage.Explicit, nil}, // −1/3
		"spoken before seen":    {some, distil.Signals{Values: map[string]int64{"task.done": m, "seen.asked_again": m}}, m, 250_000, lineage.Explicit, nil},
		"seen":                  {some, distil.Signals{Values: map[string]int64{"seen.asked_again": m, "seen.stayed": m}}, -600_000, 300_000, lineage.Implicit, nil},
		"seen, in part":         {some, distil.Signals{Values: map[string]int64{"seen.stayed": m}}, m, 60_000, lineage.Implicit, nil},
		"seen, not switched on": {off, distil.Signals{Values: map[string]int64{"seen.asked_again": m}}, 0, 0, lineage.Explicit, nil},
		"not of the model":      {some, distil.Signals{Values: map[string]int64{"said.other": m}}, 0, 0, lineage.Explicit, nil},
	} {
		got, err := distil.Judge(c.models, c.signals)
		if got.Valence != c.valence || got.Confidence != c.confidence || got.Source != c.source || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err := got.Check(); c.confidence > 0 && err != nil || c.confidence == 0 && !errors.Is(err, lineage.ErrNoSignal) {
			t.Errorf("%s: %+v is no satisfaction: %v", name, got, err)
		}
		if rated := c.signals.Rating != nil && err == nil; len(c.models) > 0 && !rated && got.Model != c.models[0].Name() || rated && got.Model != "" {
			t.Errorf("%s: by the model %q", name, got.Model)
		}
	}
	for _, s := range []distil.Signals{
		{Rating: rating(m + 1)}, {Rating: rating(-m - 1)}, {Rating: rating(math.MinInt64)}, {Values: map[string]int64{"said.helped": m + 1}}, {Values: map[string]int64{"x": math.MinInt64}},
	} {
		if got, err := distil.Judge(some, s); !errors.Is(err, distil.ErrSignal) || got != (lineage.Satisfaction{}) {
			t.Errorf("%+v: %+v, %v", s, got, err)
		}
	}
}

// Whatever the signals, a judgement is one, and an implicit one counts for 0.3 at most.
func TestJudgementsAreSatisfactions(t *testing.T) {
	names := []string{"said.a", "said.b", "task.c", "seen.d", "seen.e"}
	seed := rand.Uint64()
	implicit := 0
	for i := range 3000 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		w := distil.Weights{Implicit: rng.IntN(2) == 0, Signals: map[string]float64{}}
		s := distil.Signals{Values: map[string]int64{}}
		for _, name := range names {
			if rng.IntN(3) > 0 {
				w.Signals[name] = 2*rng.Float64() - 1
			}
			if rng.IntN(3) == 0 {
				s.Values[name] = rng.Int64N(2*lineage.Million+1) - lineage.Million
			}
		}
		ms, err := distil.Models(nil).Append(w)
		if err != nil {
			t.Fatal(err)
		}
		got, err := distil.Judge(ms, s)
		if err != nil {
			t.Fatalf("case %d of seed %d: %v", i, seed, err)
		}
		if err := got.Check(); err != nil && !errors.Is(err, lineage.ErrNoSignal) {
			t.Fatalf("case %d of seed %d: %+v of %+v: %v", i, seed, got, s, err)
		}
		if got.Source == lineage.Implicit && got.Confidence > 0 {
			if implicit++; !w.Implicit {
				t.Fatalf("case %d of seed %d: implicit, and not switched on", i, seed)
			}
		}
	}
	if implicit == 0 {
		t.Error("no implicit judgement was met")
	}
}

func TestModels(t *testing.T) {
	ms := models(t, someWeights, someWeights, "implicit = false", someWeights)
	if len(ms) != 3 || ms.Check() != nil || ms[2].Previous != ms[1].Digest() || ms[0].Window != 12*3600 || ms[1].Window != 24*3600 {
		t.Fatalf("%+v, %v", ms, ms.Check())
	}
	if ms[0].Name() == ms[2].Name() || ms[0].Name() != models(t, someWeights)[0].Name() {
		t.Error("the name of a version is not of what it is")
	}
	// A change to any version that another one follows breaks the chain.
	for name, forge := range map[string]func(distil.Models){
		"implicit": func(ms distil.Models) { ms[0].Implicit = false },
		"weight":   func(ms distil.Models) { ms[0].Signals[1].Weight++ },
		"name":     func(ms distil.Models) { ms[0].Signals[1].Name += "x" },
		"window":   func(ms distil.Models) { ms[1].Window++ },
		"version":  func(ms distil.Models) { ms[2].Version++ },
		"previous": func(ms distil.Models) { ms[2].Previous[0] ^= 1 },
		"order":    func(ms distil.Models) { ms[0], ms[1] = ms[1], ms[0] },
		"range":    func(ms distil.Models) { ms[2].Signals[0].Weight = lineage.Million + 1 },
		"twice":    func(ms distil.Models) { ms[2].Signals[1] = ms[2].Signals[0] },
	} {
		forged := models(t, someWeights, "implicit = false", someWeights)
		forge(forged)
		if err := forged.Check(); !errors.Is(err, distil.ErrModel) {
			t.Errorf("%s forged: %v", name, err)
		}
	}
	if err := ms[1:].Check(); !errors.Is(err, distil.ErrModel) {
		t.Errorf("without the first: %v", err)
	}
	// Appending leaves what is there alone.
	before := slices.Clone(ms)
	if _, err := ms[:1].Append(written(t, `judgement_window = "1h"`)); err != nil || ms[1].Digest() != before[1].Digest() {
		t.Errorf("the second version was written over: %v", err)
	}
	for _, bad := range []distil.Weights{
		{Signals: map[string]float64{"said.a": 1.01}}, {Signals: map[string]float64{"said.a": -2}}, {Signals: map[string]float64{"said.a": math.NaN()}},
		{Signals: map[string]float64{"heart.rate": 1}}, {Signals: map[string]float64{"said.": 1}}, {Signals: map[string]float64{"said.A": 1}}, {Signals: map[string]float64{"saidx": 1}},
		{Window: -time.Hour}, {Window: 31 * 24 * time.Hour}, {Window: time.Millisecond},
	} {
		if got, err := ms.Append(bad); !errors.Is(err, distil.ErrModel) || got != nil {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
