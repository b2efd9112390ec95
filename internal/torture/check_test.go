package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// kinds are those of a round's failures.
func (r *round) kinds() (out []string) {
	for _, f := range r.Failures {
		out = append(out, f.Kind)
	}
	return out
}

func held(ids ...string) contents {
	var c contents
	for _, id := range ids {
		c.entries = append(c.entries, remembered{id: id, date: "2024-01-01", text: "text of " + id})
	}
	return c
}

// Everything that may be wrong is told by its kind, and what is right is not.
func TestChecksOfEntries(t *testing.T) {
	base, done := held("a", "b", "c", "d"), held("a", "b", "e", "f") // c and d are forgotten, e and f written
	for _, x := range []struct {
		name string
		now  contents
		with func(*round)
		want []string
	}{
		{"nothing done yet", base, nil, nil},
		{"all done", done, func(r *round) { r.acked = map[string]bool{"e": true, "f": true}; r.forgot = true }, nil},
		{"one written", held("a", "b", "c", "d", "e"), func(r *round) { r.acked = map[string]bool{"e": true} }, nil},
		{"an old one lost", held("a", "c", "d"), nil, []string{kindLost}},
		{"an acknowledged one lost", base, func(r *round) { r.acked = map[string]bool{"e": true} }, []string{kindLost}},
		{"fewer than were counted", held("a", "b", "c", "d", "e"), func(r *round) { r.count = 4 }, []string{kindLost}},
		{"half forgotten", held("a", "b", "c"), nil, []string{kindLost}},
		{"forgotten and back", base, func(r *round) { r.forgot = true }, []string{kindBack}},
		{"a strange one", held("a", "b", "c", "d", "z"), nil, []string{kindStrange}},
		{"one cut short", contents{entries: append(held("b", "c", "d").entries, remembered{"a", "2024-01-01", "text"})}, nil, []string{kindLost}},
		{"one twice", contents{entries: append(held("a", "b", "c", "d").entries, remembered{"e", "2024-01-01", "text of a"})}, nil, []string{kindTwice, kindLost}},
	} {
		r := &round{deed: &deed{}}
		if x.with != nil {
			x.with(r)
		}
		r.checkEntries(base, done, x.now)
		if got := r.kinds(); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v (%v)", x.name, got, x.want, r.Failures)
		}
	}
}

func TestComparingTheEnd(t *testing.T) {
	want := held("a", "b")
	want.digest = "1234567890abcdef"
	other := held("a", "b")
	other.digest = "abcdef1234567890"
	more := held("a", "b", "c")
	more.digest = want.digest
	for _, x := range []struct {
		got  contents
		deed deed
		want []string
	}{
		{want, deed{}, nil},
		{other, deed{}, []string{kindState}},
		{other, deed{free: true}, nil},
		{more, deed{}, []string{kindTwice}},
		{contents{entries: want.entries[:1], digest: want.digest}, deed{}, []string{kindLost, kindTwice}},
	} {
		r := &round{deed: &x.deed, lab: &lab{day: today()}}
		r.compare(want, x.got)
		if got := r.kinds(); !slices.Equal(got, x.want) {
			t.Errorf("%v, want %v", r.Failures, x.want)
		}
	}
}

// on are entries with these words, as a deed left them whose day is the clock's.
func on(day string, texts ...string) contents {
	var c contents
	for _, text := range texts {
		c.entries = append(c.entries, remembered{day + " " + text, day, text})
	}
	return c
}

// A run that goes over midnight is held against an undisturbed one of the day before by the
// words, where the day is the clock's; where the deed gives it, by the day too.
func TestTheDayOfTheClock(t *testing.T) {
	const before, after = "2026-11-30", "2026-12-01"
	both := on(before, "said", "answered")
	for _, x := range []struct {
		name  string
		dated bool
		acked []string
		now   contents
		end   contents
		want  []string
	}{
		{"all after midnight", true, []string{after + " said", after + " answered"}, on(after, "said", "answered"), on(after, "said", "answered"), nil},
		{"midnight between", true, []string{before + " said"}, on(before, "said"), contents{entries: append(on(before, "said").entries, on(after, "answered").entries...)}, nil},
		{"acknowledged and lost", true, []string{after + " said"}, contents{}, both, []string{kindLost}},
		{"lost at the end", true, nil, both, on(after, "said"), []string{kindLost, kindTwice}},
		{"another's words", true, nil, on(after, "whispered"), both, []string{kindStrange}},
		{"said on both days", true, nil, contents{entries: append(on(before, "said").entries, on(after, "said").entries...)}, both, []string{kindTwice}},
		{"another day than was given", false, nil, on(after, "said"), on(after, "said", "answered"), []string{kindStrange, kindLost, kindLost}},
	} {
		r := &round{deed: &deed{dated: x.dated, free: true}, lab: &lab{day: before}, acked: map[string]bool{}}
		for _, id := range x.acked {
			r.acked[id] = true
		}
		r.checkEntries(contents{}, both, x.now)
		r.compare(both, x.end)
		if got := r.kinds(); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v (%v)", x.name, got, x.want, r.Failures)
		}
	}
}

// The state hangs on the day where a session of today is written in; only then is it held
// against nothing once that day is over.
func TestStatesOverMidnight(t *testing.T) {
	want, got := held("a"), held("a")
	want.digest, got.digest = "1234567890abcdef", "abcdef1234567890"
	for name, x := range map[string]struct {
		deed deed
		day  string
		tell bool
	}{
		"the same day":          {deed{live: true}, today(), true},
		"a session of then":     {deed{live: true}, "2024-01-01", false},
		"one that it goes on":   {deed{base: "today"}, "2024-01-01", false},
		"a history of any time": {deed{base: "diary"}, "2024-01-01", true},
	} {
		r := &round{deed: &x.deed, lab: &lab{day: x.day}}
		if r.compare(want, got); slices.Contains(r.kinds(), kindState) != x.tell {
			t.Errorf("%s: %v", name, r.Failures)
		}
	}
}

func TestChecksOfFiles(t *testing.T) {
	r := &round{data: t.TempDir(), deed: &deed{}}
	r.checkSoulFile() // none yet
	if err := r.nothingLeft(t.Context()); err != nil || len(r.Failures) > 0 {
		t.Fatal(err, r.Failures)
	}
	for _, doc := range []string{"", "---\nschema: jivad/soul/1\n", "---\nschema: other\n---\n"} {
		r.Failures = nil
		if err := os.WriteFile(filepath.Join(r.data, "SOUL.md"), []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		if r.checkSoulFile(); !slices.Equal(r.kinds(), []string{kindSoul}) {
			t.Errorf("SOUL.md %q: %v", doc, r.Failures)
		}
	}
	for _, name := range []string{"chitta.db.rewrite", "chitta.db.new-7", ".SOUL.md.12.tmp"} {
		path := filepath.Join(r.data, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if r.nothingLeft(t.Context()) == nil {
			t.Errorf("%s is not seen", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMaterialOfTheSample(t *testing.T) {
	t.Setenv("JIVAD_SHARED", t.TempDir())
	m, err := gather(t.TempDir(), 3)
	if err != nil || m.from != "the sample diary" {
		t.Errorf("from %q, %v", m.from, err)
	}
}

func TestMaterial(t *testing.T) {
	m, err := gather(t.TempDir(), 7)
	if err != nil {
		t.Fatal(err)
	}
	again, err := gather(t.TempDir(), 7)
	if err != nil || !slices.EqualFunc(m.history, again.history, func(a, b lifecycle.Note) bool { return a == b }) {
		t.Errorf("the same seed gives other texts: %v", err)
	}
	texts := map[string]bool{}
	for _, n := range slices.Concat(m.history, m.more) {
		texts[n.Text] = true
	}
	for _, text := range append(slices.Clone(m.live), m.edited) {
		texts[text] = true
	}
	if len(texts) != historyEntries+moreEntries+liveEntries+1 {
		t.Errorf("%d texts differ", len(texts))
	}
	if m.history[m.doomed[0]].Date != m.history[m.doomed[0]+1].Date || m.history[m.doomed[1]].Date == m.history[m.doomed[1]+1].Date || m.history[m.doomed[1]].Date == m.history[m.doomed[1]-1].Date {
		t.Error("one to forget must share its day, one be alone on it")
	}
}
