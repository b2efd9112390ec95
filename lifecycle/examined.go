package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
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
// tendency by its id or a part of it, a tendency by a part of its name. Errors:
// ErrQuery for what cannot be any of these, ErrNotFound, ErrAmbiguous.
func (c *Companion) examine(state *fold.State, of string) (examined, error) {
	of = strings.TrimSpace(of)
	last := int(state.Session.Number)
	n, isNumber := sessionNumber(of)
	if isNumber && n <= last {
		out := examined{kind: kindSession, id: of, session: uint32(n)}
		if r, ok := c.record(n); ok {
			out.name = r.Date
		} else if n == last {
			out.name = state.Session.Date
		}
		return out, nil
	}
	if len([]rune(of)) < shortestPart {
		if isNumber {
			return examined{}, fmt.Errorf("session %s: %w; %s", of, ErrNotFound, sessionsOf(last))
		}
		return examined{}, fmt.Errorf("%w: %q is neither the number of a session nor enough of an id or a name: give at least %d letters of these, or a number; %s",
			ErrQuery, of, shortestPart, sessionsOf(last))
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
		return examined{}, fmt.Errorf("entry, session or tendency %q: %w; give how an id begins or ends, a part of the name of a tendency, or the number of a session; %s",
			of, ErrNotFound, sessionsOf(last))
	case 1:
		return found[0], nil
	}
	return examined{}, unclear{of, found}
}

// sessionNumber reads the number of a session, as it is written: from 1, without a
// sign and without zeros before it, which an id may begin with.
func sessionNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && s == strconv.Itoa(n)
}

// sessionsOf says which sessions there are.
func sessionsOf(last int) string {
	switch last {
	case 0:
		return "there is no session yet"
	case 1:
		return "there is 1 session"
	}
	return fmt.Sprintf("there are %d sessions", last)
}

// unclear is ErrAmbiguous: what was given fits more than one.
type unclear struct {
	of    string
	found []examined
}

// Error says how many it fits, and the ids of tendencies, since these are few.
func (u unclear) Error() string {
	const most = 5
	var ids []string
	for _, x := range u.found {
		if x.kind == kindTendency {
			ids = append(ids, x.id)
		}
	}
	var fits []string
	switch n := len(u.found) - len(ids); n {
	case 0:
	case 1:
		fits = append(fits, "1 entry")
	default:
		fits = append(fits, fmt.Sprintf("%d entries", n))
	}
	tendencies := ""
	switch n := len(ids); n {
	case 0:
	case 1:
		tendencies = "1 tendency"
	default:
		tendencies = fmt.Sprintf("%d tendencies", n)
	}
	if tendencies != "" {
		more := ""
		if len(ids) > most {
			more = ", …"
		}
		fits = append(fits, fmt.Sprintf("%s (%s%s)", tendencies, strings.Join(ids[:min(len(ids), most)], ", "), more))
	}
	what := "give more of it"
	if len(ids) == 0 {
		what = "give more of it, or the end of the id, since ids of one time begin alike"
	}
	return fmt.Sprintf("%q fits %s; %s", u.of, strings.Join(fits, " and "), what)
}

// Unwrap makes it ErrAmbiguous.
func (u unclear) Unwrap() error { return ErrAmbiguous }

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
	called, err := c.modelNames()
	if err != nil {
		return nil, nil, err
	}
	names := map[string]string{}
	rows := map[string][]uint32{}
	for _, v := range called.shown(state, now.vasanas) {
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
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		members := rows[id]
		if len(members) == 0 {
			continue // nothing is left of it
		}
		t := examined{kind: kindTendency, id: id, name: names[id]}
		for _, row := range members {
			t.sequences = append(t.sequences, state.Impressions[row].Sequence)
		}
		if isPart(id, of) || isPart(strings.TrimPrefix(id, "v-"), of) {
			if t.name == "" { // it is found no more
				named := []vasana.Vasana{{ID: id, Members: members}}
				c.apart().nameTendencies(state, named, nil)
				t.name = named[0].Name
			}
			byID = append(byID, t)
		} else if strings.Contains(plain(names[id]), plain(of)) {
			byName = append(byName, t)
		}
	}
	return byID, byName, nil
}
