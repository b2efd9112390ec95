package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
)

const (
	// retrievalFloor is the depth below which an impression is hardly brought to
	// mind: what was touched once (depth 0.095) lies below it after 13 sessions.
	retrievalFloor = 0.05
	// onceStrong is the depth that an impression must have had to be a ghost alone.
	onceStrong = 0.2
)

// faded is a tendency that once had a member above the floor and has none now.
type faded struct {
	id string
	// name is the one that it has while it is found, else empty.
	name    string
	rows    []uint32
	peak    peak
	first   int
	foundIn int
}

// fadedAmong are the ghosts among the tendencies that are found now, at the end
// of session number, and those that were seen before, the strongest once first. One
// that is found no more and shares most of its members with another is left out.
func fadedAmong(state *fold.State, depths []float64, now heritage, number int, seen map[string]seenTendency) []faded {
	ghost := func(rows []uint32, once peak) bool {
		return len(rows) > 0 && once.Depth >= retrievalFloor &&
			!slices.ContainsFunc(rows, func(r uint32) bool { return depths[r] >= retrievalFloor })
	}
	var out []faded
	taken := map[uint32]bool{}
	living := map[string]bool{}
	for _, v := range now.vasanas {
		living[v.ID] = true
		if once := now.peaks[v.ID]; ghost(v.Members, once) {
			out = append(out, faded{v.ID, v.Name, v.Members, once, v.FirstSession, number})
			for _, r := range v.Members {
				taken[r] = true
			}
		}
	}
	var before []faded
	rows := rowsOf(state, seen)
	for id, s := range seen {
		f := faded{id: id, peak: s.Peak, first: s.FirstSession, foundIn: s.FoundIn}
		for _, k := range s.keys() {
			if row, ok := rows[k]; ok {
				f.rows = append(f.rows, row)
			}
		}
		slices.Sort(f.rows)
		if !living[id] && ghost(f.rows, f.peak) {
			before = append(before, f)
		}
	}
	slices.SortFunc(before, strongestOnce)
	for _, f := range before {
		shared := 0
		for _, r := range f.rows {
			if taken[r] {
				shared++
			}
		}
		if 2*shared > len(f.rows) {
			continue
		}
		out = append(out, f)
		for _, r := range f.rows {
			taken[r] = true
		}
	}
	slices.SortFunc(out, strongestOnce)
	return out
}

func strongestOnce(a, b faded) int {
	return cmp.Or(cmp.Compare(b.peak.Influence, a.peak.Influence), cmp.Compare(a.id, b.id))
}

// rowsOf are the rows of the members of what was seen.
func rowsOf(state *fold.State, seen map[string]seenTendency) map[fold.ID]uint32 {
	wanted := map[fold.ID]bool{}
	for _, s := range seen {
		for _, k := range s.keys() {
			wanted[k] = true
		}
	}
	out := make(map[fold.ID]uint32, len(wanted))
	for i := range state.Impressions {
		if id := state.Impressions[i].ID; wanted[id] {
			out[id] = uint32(i)
		}
	}
	return out
}

// countGhosts is how many tendencies are ghosts at the end of a session.
func (c *Companion) countGhosts(state *fold.State, depths []float64, past heritage, found []vasana.Vasana) (int, error) {
	seen, err := c.seen()
	if err != nil {
		return 0, err
	}
	number := int(state.Session.Number)
	for _, v := range past.vasanas {
		if !slices.ContainsFunc(found, func(f vasana.Vasana) bool { return f.ID == v.ID }) {
			seen[v.ID] = seenOf(v, past, number-1)
		}
	}
	now := heritage{vasanas: found, peaks: past.peaksAfter(found, depths)}
	return len(fadedAmong(state, depths, now, number, seen)), nil
}

// Ghosts lists the tendencies that once were and whose members have all faded
// below recall, and the single impressions that were deep once and have.
func (c *Companion) Ghosts(ctx context.Context) (GhostReport, error) {
	state := c.store.Snapshot()
	depths, err := depthsOf(state)
	if err != nil {
		return GhostReport{}, err
	}
	out := GhostReport{Floor: retrievalFloor, Strong: onceStrong, Tendencies: []GhostTendency{}, Impressions: []Impression{}}
	list, err := c.fadedNow(state, depths)
	if err != nil {
		return out, err
	}
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		g := GhostTendency{ID: f.id, Name: f.name, Members: []string{}, Peak: f.peak.Influence, FirstSession: f.first, FoundIn: f.foundIn}
		for _, r := range f.rows {
			m := state.Impressions[r]
			g.Members = append(g.Members, formatID(m.ID))
			g.Influence += depths[r]
			g.Deepest = max(g.Deepest, depths[r])
			g.LastSession = max(g.LastSession, int(m.Last))
		}
		out.Tendencies = append(out.Tendencies, g)
	}
	var rows []int
	for i, m := range state.Impressions {
		if m.Peak >= onceStrong && depths[i] < retrievalFloor {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(state.Impressions[b].Peak, state.Impressions[a].Peak) })
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		m, err := c.show(state, state.Impressions[row].Sequence)
		if err != nil {
			return out, err
		}
		m.Excerpt, m.Text = excerpt(m.Text, ""), ""
		out.Impressions = append(out.Impressions, m)
	}
	return out, nil
}

// fadedNow are the ghosts of today, with names.
func (c *Companion) fadedNow(state *fold.State, depths []float64) ([]faded, error) {
	now, seen, err := c.tendenciesEver(state)
	if err != nil {
		return nil, err
	}
	list := fadedAmong(state, depths, now, c.lastClosed(), seen)
	named := make([]vasana.Vasana, len(list))
	for i, f := range list {
		named[i] = vasana.Vasana{ID: f.id, Name: f.name, Members: f.rows}
	}
	c.apart().nameTendencies(state, named, nil)
	names, err := c.modelNames()
	if err != nil {
		return nil, err
	}
	for i, v := range names.shown(state, withKeys(state, named)) {
		list[i].name = v.Name
	}
	return list, nil
}

// tendenciesEver are those that the last session found, and those seen before.
func (c *Companion) tendenciesEver(state *fold.State) (now heritage, seen map[string]seenTendency, err error) {
	seen, err = c.seen()
	if err != nil {
		return now, nil, err
	}
	name := heritageName(c.lastClosed())
	data, err := c.store.Value(name)
	if errors.Is(err, chitta.ErrNotFound) {
		return now, seen, nil
	}
	if err != nil {
		return now, nil, err
	}
	now, err = decodeHeritage(name, data, state)
	return now, seen, err
}

// apart is a companion that looks at the same store and thinks for itself: what
// the worker keeps between two sessions is the worker's.
func (c *Companion) apart() *Companion {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return &Companion{
		opts: c.opts, store: c.store, log: c.log, leave: c.leave,
		life: life{graph: vasana.NewGraph(c.opts.Vasana)}, records: slices.Clone(c.records),
	}
}
