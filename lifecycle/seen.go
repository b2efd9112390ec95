package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
)

// A tendency that is found is handed from session to session. One that is found
// no more is kept here, so that its members can be looked at when they have faded.

// prefixSeen is before the id of a tendency that is found no more.
const prefixSeen = "vasanas/seen/"

// seenTendency is what is kept of it. Its name is not, because names are words of
// entries: it is made from the texts that are there when somebody asks.
type seenTendency struct {
	// Members are the ids of its impressions, sixteen bytes each.
	Members []byte `json:"members"`
	Peak    peak   `json:"peak"`
	// FirstSession made its first member, FoundIn is the last that found it.
	FirstSession int `json:"first_session"`
	FoundIn      int `json:"found_in"`
}

func (s seenTendency) keys() [][16]byte {
	var out [][16]byte
	for k := range slices.Chunk(s.Members, 16) {
		if len(k) == 16 {
			out = append(out, [16]byte(k))
		}
	}
	return out
}

// peak is how strong a tendency has been at the end of any session: the greatest
// influence, and the greatest depth of a member.
type peak struct {
	Influence float64 `json:"influence"`
	Depth     float64 `json:"depth"`
}

// peaksAfter are those of the tendencies found now.
func (h heritage) peaksAfter(found []vasana.Vasana, depths []float64) map[string]peak {
	out := make(map[string]peak, len(found))
	for _, v := range found {
		p := h.peaks[v.ID]
		p.Influence = max(p.Influence, v.Influence)
		for _, row := range v.Members {
			p.Depth = max(p.Depth, depths[row])
		}
		out[v.ID] = p
	}
	return out
}

// vanished are the records of what the session before handed on and this one,
// number, does not find; what it finds again is no longer kept apart.
func (c *Companion) vanished(past heritage, found []vasana.Vasana, number int) ([]chitta.Value, error) {
	var out []chitta.Value
	for _, v := range past.vasanas {
		if slices.ContainsFunc(found, func(f vasana.Vasana) bool { return f.ID == v.ID }) {
			continue
		}
		data, err := json.Marshal(seenOf(v, past, number-1))
		if err != nil {
			return nil, fmt.Errorf("tendency %s: %w", v.ID, err)
		}
		out = append(out, chitta.Value{Name: prefixSeen + v.ID, Data: data})
	}
	for _, v := range found {
		switch _, err := c.store.Value(prefixSeen + v.ID); {
		case err == nil:
			out = append(out, chitta.Value{Name: prefixSeen + v.ID})
		case !errors.Is(err, chitta.ErrNotFound):
			return nil, err
		}
	}
	return out, nil
}

// seenOf is what is kept of a tendency that session number handed on.
func seenOf(v vasana.Vasana, h heritage, number int) seenTendency {
	s := seenTendency{Peak: h.peaks[v.ID], FirstSession: v.FirstSession, FoundIn: number}
	for _, k := range v.Keys {
		s.Members = append(s.Members, k[:]...)
	}
	return s
}

// seen are the tendencies that were found once and are no more, by id.
func (c *Companion) seen() (map[string]seenTendency, error) {
	out := map[string]seenTendency{}
	err := c.store.Values(prefixSeen, func(name string, data []byte) error {
		var s seenTendency
		if err := unmarshal(name, data, &s); err != nil {
			return err
		}
		out[name[len(prefixSeen):]] = s
		return nil
	})
	return out, err
}

// seenWithout is a record of such a tendency as it is once entries are gone: their
// ids are no longer in it, and it counts sessions as they count then. The second
// answer is false where nothing is left of it. Values of other names are returned
// as they are.
func seenWithout(v chitta.Value, x chitta.Excised) (chitta.Value, bool, error) {
	if len(v.Name) <= len(prefixSeen) || v.Name[:len(prefixSeen)] != prefixSeen {
		return v, true, nil
	}
	var s seenTendency
	if err := unmarshal(v.Name, v.Data, &s); err != nil {
		return v, true, err
	}
	keys := slices.DeleteFunc(s.keys(), func(k [16]byte) bool {
		return slices.ContainsFunc(x.Events, func(e chitta.ExcisedEvent) bool { return e.ID == fold.ID(k) })
	})
	if len(keys) == 0 {
		return v, false, nil
	}
	s.Members = nil
	for _, k := range keys {
		s.Members = append(s.Members, k[:]...)
	}
	s.FirstSession, s.FoundIn = renumbered(s.FirstSession, x), renumbered(s.FoundIn, x)
	data, err := json.Marshal(s)
	return chitta.Value{Name: v.Name, Data: data}, true, err
}

// renumbered is the number of a session once some are gone; of one that is gone
// the one before it.
func renumbered(n int, x chitta.Excised) int {
	if to, ok := x.Renumbered[uint32(n)]; ok {
		return int(to)
	}
	out := n
	for _, gone := range x.Sessions {
		if int(gone) <= n {
			out--
		}
	}
	return max(out, min(n, 1))
}
