package lifecycle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/lifecycle/export"
)

// heritageNumber is the session whose heritage stands under a name.
func heritageNumber(name string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, prefixHeritage))
	if err != nil || heritageName(n) != name {
		return 0, fmt.Errorf("%w: record %s", chitta.ErrDamaged, name)
	}
	return n, nil
}

// exportHeritage is a heritage in open form.
func exportHeritage(session int, h heritage) export.Heritage {
	out := export.Heritage{Session: session, Identity: export.Floats(h.narrative), Tendencies: []export.Tendency{}}
	for _, v := range h.vasanas {
		t := export.Tendency{
			ID: v.ID, Name: v.Name, Members: []string{}, Guna: export.Guna(v.Guna), Coherence: v.Coherence, Hardness: v.Hardness,
			Influence: v.Influence, FirstSession: v.FirstSession, LastSession: v.LastSession,
			Peak: export.Peak(h.peaks[v.ID]),
		}
		for _, id := range v.Keys {
			t.Members = append(t.Members, export.ID(id))
		}
		out.Tendencies = append(out.Tendencies, t)
	}
	return out
}

// importHeritage is what [exportHeritage] took out; rows are those of the impressions.
func importHeritage(x export.Heritage, rows map[string]uint32) (h heritage, err error) {
	if h.narrative, err = export.ParseFloats(x.Identity); err != nil {
		return h, err
	}
	h.peaks = map[string]peak{}
	for _, t := range x.Tendencies {
		h.peaks[t.ID] = peak(t.Peak)
		v := vasana.Vasana{
			ID: t.ID, Name: t.Name, Guna: t.Guna.Vector(), Coherence: t.Coherence, Hardness: t.Hardness,
			Influence: t.Influence, FirstSession: t.FirstSession, LastSession: t.LastSession,
		}
		for _, id := range t.Members {
			row, ok := rows[id]
			if !ok || len(v.Members) > 0 && row <= v.Members[len(v.Members)-1] {
				return h, fmt.Errorf("%w: a member of a tendency is no impression, or not in its place", export.ErrDamaged)
			}
			v.Members = append(v.Members, row)
		}
		h.vasanas = append(h.vasanas, v)
	}
	return h, nil
}
