package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/claims"
)

// claimsCarried are records of claims that a copy takes over from the stores that it
// replaces: what was found out since, what was rejected or put into quarantine say, holds,
// whatever the copy knew. Claims that were taken from entries which the copy lacks do not
// come with it. What was forgotten is taken out again at the next start, in whatever copy it
// is: a record says so, with ids and nothing else.
func claimsCarried(own chitta.Held, others []chitta.Held) (out []chitta.Value, err error) {
	forgotten, again := claims.Forgotten{IDs: map[string]bool{}}, false
	mine := claimValues(own.Values)
	best, newest := mine, lastOf(mine)
	for i, h := range append([]chitta.Held{own}, others...) {
		reached := lastOf(claimValues(h.Values))
		for _, v := range h.Values {
			if v.Name != claims.NameForgotten {
				continue
			}
			f, err := claims.ReadForgotten(v.Data)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", chitta.ErrDamaged, err)
			}
			reached = max(reached, f.Last)
			again = again || len(f.IDs) > 0
			forgotten.Add(f)
		}
		theirs := claimValues(h.Values)
		if i == 0 {
			newest = reached
		} else if reached > newest && claims.Readable(theirs) {
			best, newest = theirs, reached
		}
	}
	if !slices.EqualFunc(best, mine, func(a, b claims.Value) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) }) {
		there := map[string]bool{}
		for _, e := range own.Entries {
			there[formatID(e.ID)] = true
		}
		lost, err := claims.FromOthers(best, func(from string) bool { return !there[from] })
		if err != nil {
			return nil, err
		}
		kept, _, err := claims.Without(best, claims.Goes{From: lost, Claims: forgotten.IDs})
		if err != nil {
			return nil, err
		}
		stays := map[string]bool{}
		for _, v := range kept {
			stays[v.Name] = true
			out = append(out, chitta.Value(v))
		}
		for _, v := range mine {
			if !stays[v.Name] {
				again = true // its bytes may still be in a page that is free
				out = append(out, chitta.Value{Name: v.Name})
			}
		}
	}
	forgotten.Last = max(forgotten.Last, newest)
	if len(forgotten.IDs) > 0 || again {
		list, err := forgotten.Encode()
		if err != nil {
			return nil, err
		}
		out = append(out, chitta.Value{Name: claims.NameForgotten, Data: list})
	}
	if again {
		out = append(out, chitta.Value{Name: valueToForgetClaims, Data: []byte("1")})
	}
	return out, nil
}

// lastOf is the highest number of records of claims.
func lastOf(values []claims.Value) uint64 {
	if len(values) == 0 {
		return 0
	}
	n, _ := claims.Number(values[len(values)-1].Name)
	return n
}

func claimValues(values []chitta.Value) (out []claims.Value) {
	for _, v := range values {
		if strings.HasPrefix(v.Name, claims.Prefix) {
			out = append(out, claims.Value(v))
		}
	}
	return out
}
