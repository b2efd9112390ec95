package lifecycle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jivad/jivad/chitta/fold"
)

// The kinds of what can be asked about.
const (
	kindEntry    = "entry"
	kindSession  = "session"
	kindTendency = "tendency"
)

// examined is what a question is about.
type examined struct {
	kind, id, name string
	// sequences are the entries of an entry or a tendency.
	sequences []uint64
	session   uint32
}

// shortestPart is how much of an id must be given.
const shortestPart = 4

// examine finds what somebody means: a session by its number, an entry or a
// tendency by its id or a part of it, a tendency by a part of its name.
func (c *Companion) examine(state *fold.State, of string) (examined, error) {
	of = strings.TrimSpace(of)
	if n, err := strconv.Atoi(of); err == nil && n >= 1 && n <= int(state.Session.Number) {
		out := examined{kind: kindSession, id: of, session: uint32(n)}
		if r, ok := c.record(n); ok {
			out.name = r.Date
		} else if n == int(state.Session.Number) {
			out.name = state.Session.Date
		}
		return out, nil
	}
	if len([]rune(of)) < shortestPart {
		return examined{}, fmt.Errorf("%w: give the number of a session, or at least %d letters of an id or of the name of a tendency", ErrQuery, shortestPart)
	}
	byID, byName, err := c.tendenciesLike(state, of)
	if err != nil {
		return examined{}, err
	}
	found := append(entriesLike(state, of), byID...)
	if len(found) == 0 {
		found = byName
	}
	switch len(found) {
	case 0:
		return examined{}, fmt.Errorf("entry, session or tendency %q: %w", of, ErrNotFound)
	case 1:
		return found[0], nil
	}
	return examined{}, fmt.Errorf("%q: %w", of, ErrAmbiguous)
}

// isPart tells whether an id begins or ends with what was given.
func isPart(id, given string) bool {
	given = strings.ToLower(given)
	return strings.HasPrefix(id, given) || strings.HasSuffix(id, given)
}

func entriesLike(state *fold.State, of string) (out []examined) {
	consider := func(id fold.ID, seq uint64) {
		if full := formatID(id); isPart(full, of) {
			out = append(out, examined{kind: kindEntry, id: full, sequences: []uint64{seq}})
		}
	}
	for i := range state.Impressions {
		consider(state.Impressions[i].ID, state.Impressions[i].Sequence)
	}
	for _, l := range state.Links {
		consider(l.ID, l.Sequence)
	}
	return out
}

// tendenciesLike are those that were ever found whose id fits, and those found
// now, or ghosts, whose name has such a part.
func (c *Companion) tendenciesLike(state *fold.State, of string) (byID, byName []examined, err error) {
	now, seen, err := c.tendenciesEver(state)
	if err != nil {
		return nil, nil, err
	}
	names := map[string]string{}
	rows := map[string][]uint32{}
	for _, v := range now.vasanas {
		names[v.ID], rows[v.ID] = v.Name, v.Members
	}
	depths, err := depthsOf(state)
	if err != nil {
		return nil, nil, err
	}
	ghosts, err := c.fadedNow(state, depths)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range ghosts {
		names[g.id], rows[g.id] = g.name, g.rows
	}
	at := rowsOf(state, seen)
	for id, s := range seen {
		if _, known := rows[id]; known {
			continue
		}
		for _, k := range s.keys() {
			if row, ok := at[k]; ok {
				rows[id] = append(rows[id], row)
			}
		}
	}
	for id, members := range rows {
		if len(members) == 0 {
			continue // nothing is left of it
		}
		t := examined{kind: kindTendency, id: id, name: names[id]}
		for _, row := range members {
			t.sequences = append(t.sequences, state.Impressions[row].Sequence)
		}
		if isPart(id, of) || isPart(strings.TrimPrefix(id, "v-"), of) {
			byID = append(byID, t)
		} else if strings.Contains(plain(names[id]), plain(of)) {
			byName = append(byName, t)
		}
	}
	return byID, byName, nil
}
