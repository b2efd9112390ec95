package consent_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/consent"
)

func TestParseSelector(t *testing.T) {
	for text, want := range map[string]string{
		"health.storage":                   "health.storage",
		"health.*":                         "health.*",
		"*.training":                       "*.training",
		"*.*":                              "*.*",
		"*":                                "*.*",
		"health":                           "health.*",
		"training":                         "*.training",
		" Health . STORAGE ":               "health.storage",
		"minor/dependent.third-party":      "minor_or_dependent.third_party_sharing",
		"minor or dependent.cross context": "minor_or_dependent.cross_context_use",
		"dependent.deletion/portability":   "minor_or_dependent.deletion_or_portability",
		"behavioral.third-party sharing":   "behavioural.third_party_sharing",
	} {
		if s, err := consent.ParseSelector(text); err != nil || s.String() != want {
			t.Errorf("%q is %s, %v", text, s, err)
		}
	}
	if n := len(consent.Selector{}.Cells()); n != 72 {
		t.Error(n)
	}
	row, column := consent.Selector{Category: consent.Health}, consent.Selector{Dimension: consent.Training}
	if len(row.Cells()) != 8 || len(column.Cells()) != 9 || row.Has(consent.Cell{Category: consent.Health}) {
		t.Error(row.Cells(), column.Cells())
	}
}

func TestMistypedIsToldWithWhatWasMeant(t *testing.T) {
	for text, want := range map[string]string{
		"helth.storage=deny":         `"helth" is no category of consent; did you mean health.storage=deny?`,
		"health.storrage=deny":       `"storrage" is no use of consent; did you mean health.storage=deny?`,
		"health.storage=dney":        `"dney" is no answer of consent; did you mean health.storage=deny?`,
		"health.storage=yes":         `"yes" is no answer of consent; did you mean health.storage=allow?`,
		"health.storage=no":          `"no" is no answer of consent; did you mean health.storage=deny?`,
		"helth.trainin=alow":         `did you mean health.training=allow?`,
		"*.trainign=ask":             `did you mean *.training=ask?`,
		"heatlh.*=ask":               `did you mean health.*=ask?`,
		"storage.health=deny":        `did you mean health.storage=deny?`,
		"*.health=deny":              `did you mean health.*=deny?`,
		"training.*=deny":            `did you mean *.training=deny?`,
		"health=deny":                `did you mean health.*=deny?`,
		"training=dny":               `did you mean *.training=deny?`,
		"*=allow":                    `did you mean *.*=allow?`,
		"bio.storage=ask":            `did you mean biometric.storage=ask?`,
		"finanse.storage=ask":        `did you mean financial.storage=ask?`,
		"wealth.storage=ask":         `did you mean health.storage=ask?`,
		"xyzzy.storage=deny":         `Known: identity, health, `,
		"health.xyzzy=deny":          `Known: storage, access, `,
		"health.storage=xyzzy":       `"xyzzy" is no answer of consent. Known: deny, ask, allow`,
		"health.storage":             `Known: CATEGORY.USE=allow, =ask or =deny`,
		"":                           `"" is no setting of consent`,
		"=":                          `"" is no category or use of consent`,
		".=deny":                     `"" is no category of consent`,
		"health.storage.access=deny": `"storage.access" is no use of consent`,
		"health.storage==deny":       `"=deny" is no answer of consent; did you mean health.storage=deny?`,
		"a\x1b[31m.storage=deny":     `"a\x1b[31m" is no category`,
		"health.storage=" + strings.Repeat(" ", 200) + "deny": `no setting`,
		strings.Repeat("health", 99) + ".storage=deny":        `…" is no setting`,
	} {
		s, err := consent.ParseSetting(text)
		var fault *consent.NameError
		if !errors.As(err, &fault) || !errors.Is(err, consent.ErrName) || !strings.Contains(err.Error(), want) || s != (consent.Setting{}) {
			t.Errorf("%q: %s, %v, not %s", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		"halth":   "did you mean health?",
		"trainin": "did you mean training?",
		"xyzzy":   "Known: identity, health",
	} {
		if s, err := consent.ParseSelector(text); !errors.Is(err, consent.ErrName) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v", text, s, err)
		}
	}
}

// One slip in a name is either still that name or told with it.
func TestOneSlipIsMended(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	eachCase(t, cases, func(t *testing.T, rng *rand.Rand) {
		cell := pick(rng, consent.Cells())
		want := consent.Setting{Selector: consent.Selector(cell), Answer: pick(rng, answers)}
		parts := []string{cell.Category.String(), cell.Dimension.String(), want.Answer.String()}
		which := rng.IntN(3)
		word := []byte(parts[which])
		at := rng.IntN(len(word))
		switch rng.IntN(4) {
		case 0:
			word[at] = letters[rng.IntN(26)]
		case 1:
			word = slices.Delete(word, at, at+1)
		case 2:
			word = slices.Insert(word, at, letters[rng.IntN(26)])
		default:
			next := (at + 1) % len(word)
			if next > at {
				word[at], word[next] = word[next], word[at]
			}
		}
		original := parts[which]
		parts[which] = string(word)
		text := parts[0] + "." + parts[1] + "=" + parts[2]
		got, err := consent.ParseSetting(text)
		var fault *consent.NameError
		switch {
		case err == nil && got == want:
		case errors.As(err, &fault) && slices.Contains(fault.Near, original) && fault.Whole != "":
			if mended, err := consent.ParseSetting(fault.Whole); err != nil || fault.Near[0] == original && mended != want {
				t.Errorf("%s is mended to %s", text, fault.Whole)
			}
		default:
			t.Errorf("%s for %s: %s, %v", text, want, got, err)
		}
	})
}

func TestParseSettings(t *testing.T) {
	g := asked(t, consent.Default(), "*.*=deny", "health.*=ask", "health.storage=allow", "*.training=deny", "health.training=deny")
	for _, c := range consent.Cells() {
		want := consent.Deny
		switch {
		case c.String() == "health.storage":
			want = consent.Allow
		case c.Category == consent.Health && c.Dimension != consent.Training:
			want = consent.Ask
		}
		if got := g.Answer(c.Category, c.Dimension); got != want {
			t.Errorf("%s is %s, not %s", c, got, want)
		}
	}
	for _, texts := range [][]string{
		{"health.*=deny", "*.training=allow"},
		{"health.storage=deny", "health.storage=allow"},
		{"*.*=deny", "*.*=ask"},
		{"*.training=allow", "*.*=deny", "*.training=ask"},
	} {
		var conflict *consent.ConflictError
		changes, err := consent.ParseSettings(texts...)
		if !errors.As(err, &conflict) || !errors.Is(err, consent.ErrConflict) || changes != nil {
			t.Errorf("%s: %v, %v", texts, changes, err)
		}
	}
	_, err := consent.ParseSettings("health.*=deny", "*.training=allow")
	if want := "health.*=deny and *.training=allow say different things of health.training; add the one that is meant: health.training=deny or health.training=allow"; err == nil || err.Error() != want {
		t.Error(err)
	}
	for _, texts := range [][]string{nil, slices.Repeat([]string{"*.*=deny"}, 1001)} {
		if _, err := consent.ParseSettings(texts...); !errors.Is(err, consent.ErrForm) {
			t.Errorf("%d: %v", len(texts), err)
		}
	}
	if changes, err := consent.ParseSettings("*.*=deny", "helth.storage=deny"); !errors.Is(err, consent.ErrName) || changes != nil {
		t.Error(changes, err)
	}
}

// Settings that are given together mean the same in any order, and a record takes them.
func TestSettingsHaveNoOrder(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		var texts []string
		for range 1 + rng.IntN(5) {
			s := consent.Setting{Answer: pick(rng, answers)}
			if rng.IntN(2) == 0 {
				s.Category = pick(rng, consent.Categories()[:3])
			}
			if rng.IntN(2) == 0 {
				s.Dimension = pick(rng, consent.Dimensions()[:3])
			}
			texts = append(texts, s.String())
		}
		changes, err := consent.ParseSettings(texts...)
		mixed := slices.Clone(texts)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		again, err2 := consent.ParseSettings(mixed...)
		if (err == nil) != (err2 == nil) || !slices.Equal(changes, again) {
			t.Errorf("%s: %v, %v; %s: %v, %v", texts, changes, err, mixed, again, err2)
		}
		if err != nil {
			if !errors.Is(err, consent.ErrConflict) {
				t.Errorf("%s: %v", texts, err)
			}
			return
		}
		r, err := mustFold(t, nil).Next(consent.Said{ID: idOf(1), Who: "Ida", When: someTime, Changes: changes})
		if err != nil || !slices.Equal(r.Changes, changes) {
			t.Errorf("%s: %v, %v", texts, r.Changes, err)
		}
	})
}

func FuzzParseSetting(f *testing.F) {
	for _, text := range []string{"health.storage=deny", "health.*", "*.training=ask", "*", "helth.storage=dney", "minor/dependent.third-party=allow", "=.=", "\xff.\x00=", "storage.health=ask", "İ.K=allow"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := consent.ParseSelector(text); err == nil {
			if again, err := consent.ParseSelector(s.String()); err != nil || again != s || len(s.Cells()) == 0 {
				t.Errorf("%s is read as %s, %v", s, again, err)
			}
		} else {
			checkFault(t, text, err)
		}
		s, err := consent.ParseSetting(text)
		if err != nil {
			checkFault(t, text, err)
			return
		}
		if again, err := consent.ParseSetting(s.String()); err != nil || again != s {
			t.Errorf("%s is read as %s, %v", s, again, err)
		}
	})
}

// checkFault holds an error to its promise: it says what it is of, is one short line
// without what could move a cursor, and what it mends can be read.
func checkFault(t *testing.T, text string, err error) {
	t.Helper()
	var fault *consent.NameError
	if !errors.As(err, &fault) {
		t.Fatalf("%q: %v", text, err)
	}
	said := err.Error()
	if len(said) > 1000 || strings.ContainsFunc(said, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("%q: %q", text, said)
	}
	if fault.Whole == "" {
		return
	}
	if _, err := consent.ParseSelector(fault.Whole); err == nil {
		return
	}
	if _, err := consent.ParseSetting(fault.Whole); err != nil {
		t.Errorf("%q is mended to %q: %v", text, fault.Whole, err)
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte(first + "\n"))
	f.Add([]byte(first))
	f.Add([]byte("\n"))
	f.Add([]byte(`{"a":[[[[`))
	c, err := consent.Fold(nil)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 3 {
		r, err := c.Next(consent.Said{ID: idOf(uint64(i)), Who: "Ida", When: someTime, Changes: []consent.Change{{Cell: consent.Cells()[i], Answer: consent.Ask}}}) //nolint:gosec // small
		if err != nil {
			f.Fatal(err)
		}
		if err := c.Append(r); err != nil {
			f.Fatal(err)
		}
	}
	log, err := c.Log()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(log)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := consent.ParseLog(data)
		if err != nil {
			if !errors.Is(err, consent.ErrChain) || c != nil {
				t.Fatalf("%v, %v", c, err)
			}
			return
		}
		if again, err := c.Log(); err != nil || string(again) != string(data) {
			t.Errorf("%q was read and is written as %q, %v", data, again, err)
		}
	})
}

func FuzzGrid(f *testing.F) {
	text, err := consent.Default().MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{}"))
	f.Add([]byte(strings.Repeat("[", 5000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var g consent.Grid
		if err := g.UnmarshalJSON(data); err != nil {
			if !errors.Is(err, consent.ErrForm) || g != (consent.Grid{}) {
				t.Fatalf("%v, %v", g, err)
			}
			return
		}
		again, err := g.MarshalJSON()
		var same consent.Grid
		if err != nil || same.UnmarshalJSON(again) != nil || same != g {
			t.Errorf("%q is written as %q, %v", data, again, err)
		}
	})
}
