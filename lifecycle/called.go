package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/soul"
)

// Every tendency is named by words of its entries when a session ends. That name is
// handed on, and the identity is measured by it, so that no figure depends on whether
// a model was there. What a model calls a tendency is kept beside it and laid over it
// wherever a name is shown: the record of a session is never rewritten.
//
// A model's name belongs to the tendency's id and to its members. It is shown while
//
//   - the tendency of that id is found,
//   - four fifths or more of the members that it was given for still belong to it,
//   - it has at most twice as many members as then, and
//   - every entry that it was made from is there with its words: not forgotten, not
//     buried, not edited.
//
// Else it is gone, the built-in name is shown, and another one is owed. Where the
// first or second ceases is seen at the end of a session, which removes the name in
// its own transaction; so do an edit and a forgetting.

// prefixName is before the id of a tendency that a model named, or was asked to.
const prefixName = "model/name/"

// mostNamed bounds the members that are kept with a name: of more, the strongest.
const mostNamed = 256

// modelName is what is kept under the id of a tendency.
type modelName struct {
	// Name is empty where no answer could be used yet.
	Name string `json:"name,omitempty"`
	// By is the model that gave it, or was asked last.
	By string `json:"by"`
	// Members are the ids of the members of then, sixteen bytes each, Count how many
	// there were; Sources are the ids of the entries whose words were sent.
	Members []byte `json:"members"`
	Count   int    `json:"count"`
	Sources []byte `json:"sources,omitempty"`
	// Tries are those that failed by the answer, Next is when it is asked again,
	// Unix seconds.
	Tries int   `json:"tries,omitempty"`
	Next  int64 `json:"next,omitempty"`
}

// modelNames are the names that models gave, by the ids of tendencies.
type modelNames map[string]modelName

// modelNames reads them.
func (c *Companion) modelNames() (modelNames, error) {
	out := modelNames{}
	err := c.store.Values(prefixName, func(name string, data []byte) error { return out.read(name, data) })
	return out, err
}

// namesAmong are those among the records of a store.
func namesAmong(values []chitta.Value) (modelNames, error) {
	out := modelNames{}
	for _, v := range values {
		if strings.HasPrefix(v.Name, prefixName) {
			if err := out.read(v.Name, v.Data); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (m modelNames) read(name string, data []byte) error {
	var n modelName
	if err := unmarshal(name, data, &n); err != nil {
		return err
	}
	if len(n.Members)%16+len(n.Sources)%16 != 0 {
		return fmt.Errorf("%w: record %s", chitta.ErrDamaged, name)
	}
	m[strings.TrimPrefix(name, prefixName)] = n
	return nil
}

func (n modelName) value(id string) (chitta.Value, error) {
	data, err := json.Marshal(n)
	return chitta.Value{Name: prefixName + id, Data: data}, err
}

// fits tells whether the members of a tendency are those of then, but for a few.
func (n modelName) fits(keys [][16]byte) bool {
	now := make(map[[16]byte]bool, len(keys))
	for _, k := range keys {
		now[k] = true
	}
	there, all := 0, 0
	for k := range slices.Chunk(n.Members, 16) {
		all++
		if now[[16]byte(k)] {
			there++
		}
	}
	return all > 0 && 5*there >= 4*all && len(keys) <= 2*n.Count
}

// has tells whether an id is among ids that are kept one behind the other.
func has(ids []byte, id fold.ID) bool {
	for k := range slices.Chunk(ids, 16) {
		if [16]byte(k) == id {
			return true
		}
	}
	return false
}

// forget leaves out every name that had something of what goes among its members.
func (m modelNames) forget(x chitta.Excised) {
	for id, n := range m {
		if slices.ContainsFunc(x.Events, func(e chitta.ExcisedEvent) bool { return has(n.Members, e.ID) || has(n.Sources, e.ID) }) {
			delete(m, id)
		}
	}
}

// holding are those that fit tendencies that were found, and whose sources have their
// words in a state.
func (m modelNames) holding(state *fold.State, found []vasana.Vasana) modelNames {
	if len(m) == 0 {
		return nil
	}
	out := modelNames{}
	missing := map[fold.ID]bool{}
	for _, v := range found {
		n, ok := m[v.ID]
		if !ok || !n.fits(v.Keys) {
			continue
		}
		out[v.ID] = n
		for k := range slices.Chunk(n.Sources, 16) {
			missing[fold.ID(k)] = true
		}
	}
	for i := range state.Impressions {
		if s := &state.Impressions[i]; !s.Buried && missing[s.ID] {
			missing[s.ID] = false
		}
	}
	for id, n := range out {
		for k := range slices.Chunk(n.Sources, 16) {
			if missing[fold.ID(k)] {
				delete(out, id)
				break
			}
		}
	}
	return out
}

// onto writes the names into a summary, whose tendencies are those that were found.
func (m modelNames) onto(s *soul.Summary, state *fold.State, found []vasana.Vasana) {
	names := m.holding(state, found)
	for i := range s.Tendencies {
		if n := names[s.Tendencies[i].ID]; n.Name != "" {
			s.Tendencies[i].Called, s.Tendencies[i].CalledBy = n.Name, n.By
		}
	}
}

// shownTendency is a tendency under the name that is shown; by is the model that gave
// it, empty for a built-in one.
type shownTendency struct {
	vasana.Vasana
	by string
}

// shown are tendencies under the names that are shown.
func (m modelNames) shown(state *fold.State, found []vasana.Vasana) []shownTendency {
	names := m.holding(state, found)
	out := make([]shownTendency, len(found))
	for i, v := range found {
		out[i].Vasana = v
		if n := names[v.ID]; n.Name != "" {
			out[i].Name, out[i].by = n.Name, n.By
		}
	}
	return out
}

// shownTendencies are those that session n left, under the names that are shown.
func (c *Companion) shownTendencies(n int) (out []shownTendency, err error) {
	found, err := c.tendenciesOf(n)
	if err != nil {
		return nil, err
	}
	names, err := c.modelNames()
	if err != nil {
		return nil, err
	}
	err = c.store.View(func(state *fold.State) error { out = names.shown(state, found); return nil })
	return out, err
}

// withKeys gives tendencies that only know their rows the ids of these.
func withKeys(state *fold.State, list []vasana.Vasana) []vasana.Vasana {
	for i := range list {
		list[i].Keys = make([][16]byte, len(list[i].Members))
		for k, row := range list[i].Members {
			list[i].Keys[k] = state.Impressions[row].ID
		}
	}
	return list
}

// outdated removes the names that hold no longer.
func (m modelNames) outdated(state *fold.State, found []vasana.Vasana) (out []chitta.Value) {
	holding := m.holding(state, found)
	for id := range m {
		if _, ok := holding[id]; !ok {
			out = append(out, chitta.Value{Name: prefixName + id})
		}
	}
	slices.SortFunc(out, func(a, b chitta.Value) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// namesFrom removes the names that were made from the entry at seq.
func (c *Companion) namesFrom(seq uint64) ([]chitta.Value, error) {
	names, err := c.modelNames()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	e, err := c.store.EventAt(seq)
	if err != nil {
		return nil, err
	}
	x, ok := e.Body.(fold.Experienced)
	var out []chitta.Value
	for id, n := range names {
		if ok && has(n.Sources, x.ID) {
			out = append(out, chitta.Value{Name: prefixName + id})
		}
	}
	return out, nil
}

// forgetNames has the names of tendencies read again where they are shown.
func (c *Companion) forgetNames() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tendencyNames = nil
}
