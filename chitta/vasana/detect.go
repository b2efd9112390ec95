package vasana

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/reactivation"
)

// Point is what detection needs to know of the impression in one row.
type Point struct {
	// ID names the impression for ever.
	ID [16]byte
	// Live impressions take part; of the others nothing else is read.
	Live bool
	// Influence is the depth now, the weight in sums; finite, ≥ 0.
	Influence float64
	// Depth weighs the hardness; finite, ≥ 0.
	Depth float64
	// Hardness is H_d, the resistance of the dormant groove; finite, ≥ 0.
	Hardness float64
	// Guna is the character: unit length, positive octant.
	Guna reactivation.Guna
	// FirstSession and LastSession are the sessions of creation and of the
	// last activation.
	FirstSession, LastSession int
}

// Vasana is a tendency: a cluster of impressions near in meaning and alike in
// character.
type Vasana struct {
	// ID lasts across sessions, e.g. "v-3f9a2c".
	ID string
	// Name is left empty by Detect; see [Name].
	Name string
	// Members are the rows, ascending; Keys their IDs in the same order.
	Members []uint32
	Keys    [][16]byte
	// Guna is the common character, weighted by influence.
	Guna reactivation.Guna
	// Coherence is the least guna resonance of two members, in [0,1].
	Coherence float64
	// Hardness is the members' mean hardness, weighted by depth.
	Hardness float64
	// Influence is the members' sum.
	Influence float64
	// FirstSession is when the first member came to be, LastSession when a
	// member was last activated.
	FirstSession, LastSession int
}

// Detect clusters the live points and gives each cluster an id: that of the
// most similar tendency in previous, or a new one made from session and
// members. Points are in row order, and the graph covers exactly their rows.
// The result is ordered by influence, greatest first, then by ID. Previous may
// hold tendencies of any earlier session: one that had faded and whose members
// are live again gets its id back.
//
// DBSCAN: neighbours are near in the graph and resonate by GunaCoherence or
// more; a core has MinPoints neighbours, itself counted; cores are visited in
// row order and a border point stays with the first cluster that reaches it. A
// cluster that lost so many border points to earlier ones that fewer than
// MinPoints are left is noise (with MinPoints 3 that cannot happen, and the
// partition does not depend on the order).
//
// Errors: ErrParams, ErrBehind, ErrPoint, ErrNotFinite.
func Detect(g *Graph, points []Point, previous []Vasana, session int) ([]Vasana, error) {
	if err := checkDetect(g, points); err != nil {
		return nil, err
	}
	clusters := cluster(g, points)
	found := make([]Vasana, 0, len(clusters))
	for _, members := range clusters {
		v, err := describe(points, members)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	if err := identify(found, previous, session); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Vasana) int {
		return cmp.Or(cmp.Compare(b.Influence, a.Influence), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

func checkDetect(g *Graph, points []Point) error {
	if err := g.params.Validate(); err != nil {
		return err
	}
	if g.Len() != len(points) || g.loaded {
		return &Error{
			Op:   "detect tendencies",
			What: fmt.Sprintf("graph of %d, %d points", g.Len(), len(points)),
			Hint: "update the graph first, and hand in one point for each row",
			Err:  ErrBehind,
		}
	}
	for i := range points {
		if err := checkPoint(i, &points[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkPoint(i int, p *Point) error {
	if !p.Live {
		return nil
	}
	fail := func(what string, err error) error {
		return &Error{Op: "detect tendencies", What: fmt.Sprintf("impression %s in row %d: %s", hex.EncodeToString(p.ID[:]), i, what), Err: err}
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"influence", p.Influence}, {"depth", p.Depth}, {"hardness", p.Hardness}} {
		switch {
		case math.IsNaN(f.value) || math.IsInf(f.value, 0):
			return fail(f.name+" is not finite", ErrNotFinite)
		case f.value < 0:
			return fail(fmt.Sprintf("%s is %v, less than 0", f.name, f.value), ErrPoint)
		}
	}
	if err := p.Guna.Check(); err != nil {
		if sum := p.Guna.Tamas + p.Guna.Rajas + p.Guna.Sattva; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fail(err.Error(), ErrNotFinite)
		}
		return fail(err.Error(), ErrPoint)
	}
	return nil
}

// describe measures one cluster. Sums run in row order.
func describe(points []Point, members []uint32) (Vasana, error) {
	v := Vasana{Members: members, Keys: make([][16]byte, len(members)), FirstSession: math.MaxInt, LastSession: math.MinInt}
	gunas, influences := make([]reactivation.Guna, len(members)), make([]float64, len(members))
	var depth, weighted, hardness float64
	for k, m := range members {
		p := &points[m]
		v.Keys[k] = p.ID
		v.Influence += p.Influence
		v.FirstSession = min(v.FirstSession, p.FirstSession)
		v.LastSession = max(v.LastSession, p.LastSession)
		depth += p.Depth
		weighted += float64(p.Depth * p.Hardness)
		hardness += p.Hardness
		gunas[k], influences[k] = p.Guna, p.Influence
	}
	// Where nothing has weight, all members weigh the same.
	v.Hardness = hardness / float64(len(members))
	if depth > 0 {
		v.Hardness = weighted / depth
	}
	mean, ok, err := reactivation.MeanGuna(gunas, influences)
	if err == nil && !ok {
		for k := range influences {
			influences[k] = 1
		}
		mean, _, err = reactivation.MeanGuna(gunas, influences)
	}
	if err != nil {
		return Vasana{}, &Error{Op: "detect tendencies", What: err.Error(), Err: ErrPoint}
	}
	v.Guna = mean
	v.Coherence = leastResonance(gunas)
	return v, nil
}

// Centroid is the direction of the mean of the members' rows, of unit length.
// Where they cancel, which members near each other do not, it is the first
// one's row.
func (v Vasana) Centroid(rows Rows) []float32 {
	sum := make([]float64, rows.Dim())
	for _, m := range v.Members {
		for k, x := range rows.Row(int(m)) {
			sum[k] += float64(x)
		}
	}
	var square float64
	for _, x := range sum {
		square += float64(x * x)
	}
	if square == 0 {
		return slices.Clone(rows.Row(int(v.Members[0])))
	}
	length := math.Sqrt(square)
	unit := make([]float32, len(sum))
	for k := range sum {
		unit[k] = float32(sum[k] / length)
	}
	return unit
}
