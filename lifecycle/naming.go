package lifecycle

import (
	"cmp"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
)

const (
	// namedBy is how many members of a tendency, the most influential, give it
	// its name, and heardOf how many tendencies, the strongest, its words are
	// compared with; they bound the work at the end of a session.
	namedBy = 16
	heardOf = 64
	// termsPerEntry are kept of one entry.
	termsPerEntry = 24
	// cachedTerms bounds the memory of the cache: some 600 bytes an entry.
	cachedTerms = 2048
)

// nameTendencies gives every tendency a name from its members' words. A
// tendency whose members are the same as before keeps its name, unless one of them
// is buried: its words may be in it, so the name is made of those that are there.
func (c *Companion) nameTendencies(state *fold.State, found, past []vasana.Vasana) {
	before := byID(past)
	for i := range found {
		buried := slices.ContainsFunc(found[i].Members, func(row uint32) bool { return state.Impressions[row].Buried })
		if p := before[found[i].ID]; p != nil && !buried && slices.Equal(p.Keys, found[i].Keys) {
			found[i].Name = p.Name
		}
	}
	if !slices.ContainsFunc(found, func(v vasana.Vasana) bool { return v.Name == "" }) {
		return
	}
	speaking := map[uint32][]vasana.Term{}
	counts := frequencies{having: map[string]int{}}
	for i, v := range found {
		if i >= heardOf && v.Name != "" {
			continue
		}
		for _, row := range strongest(state, v.Members, namedBy) {
			terms := c.termsOf(state, row)
			speaking[row] = terms
			counts.entries++
			for _, t := range terms {
				counts.having[t.Word]++
			}
		}
	}
	vasana.Name(found, func(row uint32) []vasana.Term { return speaking[row] }, counts)
}

// strongest are the n members of greatest reinforcement, ties by order of creation.
func strongest(state *fold.State, members []uint32, n int) []uint32 {
	if len(members) <= n {
		return members
	}
	return strongestFirst(state, members)[:n]
}

// strongestFirst are members by their reinforcement, ties by order of creation.
func strongestFirst(state *fold.State, members []uint32) []uint32 {
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b uint32) int {
		return cmp.Compare(state.Impressions[b].Reinforcement, state.Impressions[a].Reinforcement)
	})
	return sorted
}

func (c *Companion) termsOf(state *fold.State, row uint32) []vasana.Term {
	if state.Impressions[row].Buried {
		return nil // it has no words any more, or loses them with the end of this session
	}
	seq := state.Impressions[row].Sequence
	if terms, ok := c.life.terms[seq]; ok {
		return terms
	}
	t, err := c.readAgain(seq)
	if err != nil {
		return nil // no text is kept that may be read: the entry has no say in the name
	}
	if t.Gist {
		t.Body = unmasked(t.Body)
	}
	terms := vasana.ExtractTerms(t.Body, termsPerEntry)
	if len(c.life.terms) >= cachedTerms || c.life.terms == nil {
		c.life.terms = termCache{}
	}
	c.life.terms[seq] = terms
	return terms
}

// termCache keeps the key terms of entries by their place in the log.
type termCache map[uint64][]vasana.Term

// frequencies counts words over the entries that take part in naming.
type frequencies struct {
	entries int
	having  map[string]int
}

func (f frequencies) Entries() int           { return f.entries }
func (f frequencies) Having(word string) int { return f.having[word] }
