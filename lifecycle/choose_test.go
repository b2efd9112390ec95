package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// A source is named by all of it, by the file that it is, or by how it ends.
func TestSourcesAreNamed(t *testing.T) {
	list := days(8)
	for i, source := range []string{"2017.md", "old/2017.md", "import:/home/me/old/2018.md", "import:/home/me/new/2018.md", "import:/home/me/letters.md", "import:notes.md", "my2019.md", ""} {
		list[i].Source = source
	}
	w := newWorld(t)
	c := imported(t, w, list)
	for _, k := range []struct{ name, file, want string }{
		{"2017.md", "", "2017.md"},
		{"old/2017.md", "", "old/2017.md"},
		{"notes.md", "", "import:notes.md"},
		{"import:notes.md", "", "import:notes.md"},
		{"/home/me/letters.md", "", "import:/home/me/letters.md"},
		{"letters.md", "", "import:/home/me/letters.md"},
		{"./me/letters.md", "", "import:/home/me/letters.md"},
		{"import:letters.md", "", "import:/home/me/letters.md"},
		{"old/2018.md", "", "import:/home/me/old/2018.md"},
		{"2018.md", "import:/home/me/new/2018.md", "import:/home/me/new/2018.md"},
		{"2018.md", "/home/me/new/2018.md", "import:/home/me/new/2018.md"},
		{"../2017.md", "2017.md", "2017.md"},
	} {
		plan, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Source: k.name, SourceFile: k.file})
		if err != nil || len(plan.Entries) != 1 || plan.Entries[0].Source != k.want {
			t.Errorf("%q %q: %+v, %v", k.name, k.file, plan.Entries, err)
		}
	}
	_, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Source: "2018.md"})
	if !errors.Is(err, lifecycle.ErrAmbiguous) || !strings.Contains(err.Error(), "import:/home/me/new/2018.md, import:/home/me/old/2018.md") {
		t.Errorf("two fit: %v", err)
	}
	for _, name := range []string{"2019.md", "etters.md", "me"} {
		_, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Source: name})
		if !errors.Is(err, lifecycle.ErrNotFound) || !strings.Contains(err.Error(), "2017.md, import:/home/me/letters.md") || !strings.Contains(err.Error(), "and 2 more") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Dates take no entry without one, and say so.
func TestEntriesWithoutADate(t *testing.T) {
	list := days(10)
	for i := range list {
		if i == 0 || i == 3 || i == 8 {
			list[i].Date = ""
		}
	}
	w := newWorld(t)
	c := imported(t, w, list)
	for name, k := range map[string]struct {
		q             lifecycle.ForgetQuery
		want, undated int
	}{
		"all days":          {lifecycle.ForgetQuery{To: "2000"}, 7, 3},
		"from a day":        {lifecycle.ForgetQuery{From: "1911"}, 7, 3},
		"days and words":    {lifecycle.ForgetQuery{To: "2000", Match: "zanzibarine"}, 0, 2},
		"no days":           {lifecycle.ForgetQuery{Source: "import:days"}, 10, 0},
		"without a date":    {lifecycle.ForgetQuery{Undated: true}, 3, 0},
		"and without words": {lifecycle.ForgetQuery{Undated: true, Match: "zanzibarine"}, 2, 0},
	} {
		plan, err := c.PlanForget(t.Context(), k.q)
		if err != nil || len(plan.Entries) != k.want || plan.Undated != k.undated {
			t.Errorf("%s: %d entries, %d undated, %v", name, len(plan.Entries), plan.Undated, err)
		}
		if k.q.Undated && slices.ContainsFunc(plan.Entries, func(e lifecycle.ForgetEntry) bool { return e.Date != "" }) {
			t.Errorf("%s: %+v", name, plan.Entries)
		}
	}
	if _, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Undated: true, From: "1911"}); !errors.Is(err, lifecycle.ErrQuery) {
		t.Errorf("both: %v", err)
	}
}

// The same mistake in an id gets the same answer from both verbs.
func TestMistakesInIDs(t *testing.T) {
	w := newWorld(t)
	c := imported(t, w, days(6))
	all, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{To: "2000"})
	if err != nil || len(all.Entries) < 2 {
		t.Fatal(err)
	}
	shared := all.Entries[0].ID[:4] // of the time at which they were made
	for part, want := range map[string]error{"018": lifecycle.ErrQuery, "ffff0000": lifecycle.ErrNotFound, shared: lifecycle.ErrAmbiguous} {
		_, byForget := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Entries: []string{part}})
		_, byShow := c.Show(t.Context(), part)
		if !errors.Is(byForget, want) || byShow == nil || byForget.Error() != byShow.Error() || !strings.Contains(byShow.Error(), part) {
			t.Errorf("%s: %v; %v", part, byForget, byShow)
		}
	}
}
