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
	forgotten, again := map[string]bool{}, false
	best, newest := claimValues(own.Values), ""
	if len(best) > 0 {
		newest = best[len(best)-1].Name
	}
	mine := best
	for _, h := range append([]chitta.Held{own}, others...) {
		for _, v := range h.Values {
			if v.Name != claims.NameForgotten {
				continue
			}
			ids, err := claims.Forgotten(v.Data)
			if err != nil {
				return nil, fmt.Errorf("%w: record %s: %w", chitta.ErrDamaged, v.Name, err)
			}
			for id := range ids {
				again = again || !forgotten[id]
				forgotten[id] = true
			}
		}
	}
	for _, h := range others {
		if theirs := claimValues(h.Values); len(theirs) > 0 && theirs[len(theirs)-1].Name > newest {
			best, newest = theirs, theirs[len(theirs)-1].Name
		}
	}
	if newest != "" && !slices.EqualFunc(best, mine, func(a, b claims.Value) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) }) {
		there := map[string]bool{}
		for _, e := range own.Entries {
			there[formatID(e.ID)] = true
		}
		lost, err := claims.FromOthers(best, func(from string) bool { return !there[from] })
		if err != nil {
			return nil, err
		}
		kept, _, err := claims.Without(best, claims.Goes{From: lost, Claims: forgotten})
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
	if len(forgotten) > 0 {
		list, err := claims.EncodeForgotten(forgotten)
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

func claimValues(values []chitta.Value) (out []claims.Value) {
	for _, v := range values {
		if strings.HasPrefix(v.Name, claims.Prefix) {
			out = append(out, claims.Value(v))
		}
	}
	return out
}
