package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// namesNothing tells of a query that would take everything.
func (q ForgetQuery) namesNothing() bool {
	return len(q.Entries) == 0 && q.Source == "" && q.Session == 0 && !q.byDate() && !q.Undated && q.Match == ""
}

func (q ForgetQuery) byDate() bool { return q.From != "" || q.To != "" }

// chosen are the entries that a query names.
type chosen struct {
	entries []ForgetEntry
	// undated counts those that only its dates keep out, since they have none.
	undated int
}

// choose finds the entries that a query names.
func (c *Companion) choose(ctx context.Context, q ForgetQuery) (chosen, error) {
	out := chosen{entries: []ForgetEntry{}}
	if q.namesNothing() {
		return out, fmt.Errorf("%w: it names nothing to forget", ErrQuery)
	}
	for _, d := range []string{q.From, q.To} {
		if !partialDate(d) {
			return out, fmt.Errorf("%w: %q is not a date; write YYYY[-MM[-DD]], such as 2024 or 2024-05", ErrQuery, d)
		}
	}
	if q.Undated && q.byDate() {
		return out, fmt.Errorf("%w: entries without a date are of no day; name them alone", ErrQuery)
	}
	match := plain(q.Match)
	if q.Match != "" && match == "" {
		return out, fmt.Errorf("%w: the text to match is blank", ErrQuery)
	}
	hits := make([]int, len(q.Entries)) // how many entries each id fits
	for i, id := range q.Entries {
		var err error
		if q.Entries[i], err = partOfID(id); err != nil {
			return out, err
		}
	}
	if q.Source != "" {
		var err error
		if q.Source, err = c.sourceNamed(ctx, q.Source, q.SourceFile); err != nil {
			return out, err
		}
	}
	err := c.store.Experiences(ctx, func(x chitta.Experience) error {
		id := formatID(x.ID)
		if len(q.Entries) > 0 {
			fits := false
			for i, part := range q.Entries {
				if isPart(id, part) {
					hits[i]++
					fits = true
				}
			}
			if !fits {
				return nil
			}
		}
		if q.Source != "" && x.Source != q.Source || q.Session != 0 && int(x.Session) != q.Session {
			return nil
		}
		if q.Undated && x.Date != "" || x.Date != "" && (x.Date < q.From || q.To != "" && x.Date[:len(q.To)] > q.To) {
			return nil
		}
		t, err := c.store.TextOf(x.Sequence)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if match != "" && !strings.Contains(plain(t.Body), match) && !strings.Contains(plain(t.Label), match) {
			return nil
		}
		if x.Date == "" && q.byDate() {
			out.undated++
			return nil
		}
		out.entries = append(out.entries, ForgetEntry{ID: id, Date: x.Date, Source: x.Source, Session: int(x.Session), Excerpt: excerpt(t.Body, match), seq: x.Sequence})
		return nil
	})
	if err != nil {
		return out, err
	}
	for i, n := range hits {
		switch {
		case n == 0:
			return out, unknownID(q.Entries[i])
		case n > 1 && len(q.Entries[i]) < len(formatID(fold.ID{})):
			return out, ambiguousID(q.Entries[i])
		}
	}
	return out, nil
}

// partOfID is an id, or the beginning or the end of one, as it was typed.
func partOfID(typed string) (string, error) {
	const shortest = 4
	id := strings.ToLower(strings.TrimSpace(typed))
	if len(id) < shortest {
		return id, fmt.Errorf("%w: %q is too short for an id; give at least %d letters of it", ErrQuery, id, shortest)
	}
	return id, nil
}

func unknownID(part string) error {
	return fmt.Errorf("no entry has an id that begins or ends with %q: %w", part, ErrNotFound)
}

func ambiguousID(part string) error { return fmt.Errorf("%q: %w", part, ErrAmbiguous) }

// ambiguousSource is an ErrAmbiguous.
type ambiguousSource struct {
	name string
	fits []string
}

func (e *ambiguousSource) Error() string {
	return fmt.Sprintf("%q fits %d sources: %s; give one of them whole", e.name, len(e.fits), listed(e.fits))
}

func (e *ambiguousSource) Is(target error) bool { return target == ErrAmbiguous }

// sourceNamed finds the source of entries that a person means: the one of that
// name; what was imported under it; the one of the file, if that is not empty,
// which the name is a path of; or the only one whose path ends so.
func (c *Companion) sourceNamed(ctx context.Context, name, file string) (string, error) {
	const imported = "import:"
	there := map[string]bool{}
	err := c.store.Experiences(ctx, func(x chitta.Experience) error {
		if x.Source != "" {
			there[x.Source] = true
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, source := range []string{name, imported + name, file, imported + file} {
		if there[source] {
			return source, nil
		}
	}
	var all, fits []string
	end := "/" + strings.TrimPrefix(strings.TrimPrefix(name, imported), "./")
	for source := range there {
		all = append(all, source)
		if strings.HasSuffix("/"+strings.TrimPrefix(source, imported), end) {
			fits = append(fits, source)
		}
	}
	slices.Sort(all)
	slices.Sort(fits)
	switch {
	case len(fits) == 1:
		return fits[0], nil
	case len(fits) > 1:
		return "", &ambiguousSource{name, fits}
	case len(all) == 0:
		return "", fmt.Errorf("no entry came from %q: %w; no entry has a source", name, ErrNotFound)
	}
	return "", fmt.Errorf("no entry came from %q: %w; there are: %s", name, ErrNotFound, listed(all))
}

// listed names some of them.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
