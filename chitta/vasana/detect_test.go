package vasana

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/reactivation"
	"pgregory.net/rapid"
)

// id is the n-th impression of a test, in no telling order.
func id(n int) (key [16]byte) {
	binary.BigEndian.PutUint64(key[:], uint64(n+1)*0x9E3779B97F4A7C15)
	binary.BigEndian.PutUint64(key[8:], uint64(n))
	return key
}

// lived makes points of mixed character for n rows.
func lived(t interface{ Fatal(...any) }, n int, seed uint64) []Point {
	r := rand.New(rand.NewPCG(seed, 2))
	points := make([]Point, n)
	for i := range points {
		g, err := reactivation.NewGuna(0.2+r.Float64(), 0.2+r.Float64(), 0.2+r.Float64())
		if err != nil {
			t.Fatal(err)
		}
		points[i] = Point{
			ID: id(i), Live: r.IntN(10) > 0, Influence: r.Float64(), Depth: r.Float64(), Hardness: 1 + r.Float64(),
			Guna: g, FirstSession: i/3 + 1, LastSession: i/3 + 1 + r.IntN(5),
		}
	}
	return points
}

func detected(t testing.TB, p Params, rows Rows, points []Point, previous []Vasana, session int) []Vasana {
	t.Helper()
	found, err := Detect(updated(t, p, rows), points, previous, session)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// plainDBSCAN is the definition read aloud: components of cores by growing
// labels until nothing changes, then each border point to the component with
// the lowest first core, then clusters that are too small are dropped.
func plainDBSCAN(g *Graph, points []Point) [][]uint32 {
	n := len(points)
	near := make([][]bool, n)
	for i := range near {
		near[i] = make([]bool, n)
	}
	for i, j := range g.Near {
		a, b := points[i], points[j]
		dot := a.Guna.Tamas*b.Guna.Tamas + a.Guna.Rajas*b.Guna.Rajas + a.Guna.Sattva*b.Guna.Sattva
		near[i][j] = a.Live && b.Live && dot >= g.params.GunaCoherence
		near[j][i] = near[i][j]
	}
	label := make([]int, n)
	core := make([]bool, n)
	for i := range n {
		label[i] = n
		count := 1
		for j := range n {
			if near[i][j] {
				count++
			}
		}
		if core[i] = points[i].Live && count >= g.params.MinPoints; core[i] {
			label[i] = i
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range n {
			for j := range n {
				if near[i][j] && core[i] && core[j] && label[j] < label[i] {
					label[i], changed = label[j], true
				}
			}
		}
	}
	for i := range n {
		for j := range n {
			if !core[i] && core[j] && near[i][j] {
				label[i] = min(label[i], label[j])
			}
		}
	}
	var clusters [][]uint32
	for c := range n {
		var members []uint32
		for i := range n {
			if label[i] == c {
				members = append(members, uint32(i))
			}
		}
		if len(members) >= g.params.MinPoints {
			clusters = append(clusters, members)
		}
	}
	return clusters
}

func TestClustersFollowTheDefinition(t *testing.T) {
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "rows")
		rows := life(n, 6, 5, rapid.Uint64().Draw(t, "seed"))
		points := lived(t, n, rapid.Uint64().Draw(t, "lives"))
		p := DefaultParams()
		p.Semantic = rapid.Float64Range(0.3, 0.9).Draw(t, "threshold")
		p.MinPoints = rapid.IntRange(2, 6).Draw(t, "min points")
		p.GunaCoherence = rapid.Float64Range(0.5, 0.98).Draw(t, "coherence")
		g := NewGraph(p)
		if err := g.Update(context.Background(), rows); err != nil {
			t.Fatal(err)
		}
		want := plainDBSCAN(g, points)
		if got := cluster(g, points); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("clusters %v, want %v", got, want)
		}
		some += len(want)
		found, err := Detect(g, points, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		owner := map[uint32]bool{}
		for k, v := range found {
			if len(v.Members) < p.MinPoints || !slices.IsSorted(v.Members) || len(v.Keys) != len(v.Members) {
				t.Fatalf("tendency of %d members, %d keys", len(v.Members), len(v.Keys))
			}
			if k > 0 && found[k-1].Influence < v.Influence {
				t.Fatal("not ordered by influence")
			}
			for at, m := range v.Members {
				if owner[m] || !points[m].Live || v.Keys[at] != points[m].ID {
					t.Fatalf("row %d: twice, not live, or under another key", m)
				}
				owner[m] = true
			}
		}
	})
	if some == 0 {
		t.Error("no cluster in any case: the property was never put to the test")
	}
}

// With three points a border point has one core only, so the order of the
// store decides nothing.
func TestOrderOfTheStoreLeavesThePartition(t *testing.T) {
	partition := func(found []Vasana) []string {
		var sets []string
		for _, v := range found {
			keys := slices.SortedFunc(slices.Values(v.Keys), compareKeys)
			var b strings.Builder
			for _, key := range keys {
				b.Write(key[:])
			}
			sets = append(sets, v.ID+b.String())
		}
		slices.Sort(sets)
		return sets
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 70).Draw(t, "rows")
		rows := life(n, 6, 5, rapid.Uint64().Draw(t, "seed"))
		points := lived(t, n, rapid.Uint64().Draw(t, "lives"))
		p := DefaultParams()
		p.Semantic = 0.6
		if edgy(rows, p.Semantic) {
			t.Skip("a pair lies on the threshold within rounding")
		}
		order := rapid.Permutation(sequence(n)).Draw(t, "order")
		mixed, mixedPoints := matrix{dim: 6}, []Point(nil)
		for _, i := range order {
			mixed.rows = append(mixed.rows, rows.rows[i])
			mixedPoints = append(mixedPoints, points[i])
		}
		g, h := NewGraph(p), NewGraph(p)
		if err := errors.Join(g.Update(context.Background(), rows), h.Update(context.Background(), mixed)); err != nil {
			t.Fatal(err)
		}
		a, errA := Detect(g, points, nil, 7)
		b, errB := Detect(h, mixedPoints, nil, 7)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !slices.Equal(partition(a), partition(b)) {
			t.Fatalf("another order gives other tendencies or other ids")
		}
	})
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// edgy says whether a pair is so near the threshold that the last bits of the
// mean, which depend on the order of its sum, could decide.
func edgy(m matrix, threshold float64) bool {
	centred, _ := centreAll(m, m.Len(), meanOf(m, m.Len()))
	width := m.dim
	for i := range m.Len() {
		for j := range i {
			if math.Abs(float64(dot(centred[i*width:(i+1)*width], centred[j*width:(j+1)*width]))-threshold) < 1e-5 {
				return true
			}
		}
	}
	return false
}

func TestDetectIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	rows := life(600, 24, 8, 3)
	points := lived(t, 600, 3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := detected(t, DefaultParams(), rows, points, nil, 5)
	runtime.GOMAXPROCS(4)
	if four := detected(t, DefaultParams(), rows, points, nil, 5); !reflect.DeepEqual(one, four) || len(one) == 0 {
		t.Fatalf("one processor finds %d tendencies, four find others (%d)", len(one), len(four))
	}
}

func TestIDsStayWhenLittleChanges(t *testing.T) {
	rows := life(420, 24, 6, 9)
	points := lived(t, 420, 9)
	for i := range points {
		points[i].Guna = reactivation.Sattva() // clusters by meaning alone
	}
	g := NewGraph(DefaultParams())
	var before []Vasana
	kept, all := 0, 0
	for session := 300; session <= 420; session++ {
		now := rows.first(session)
		if err := g.Update(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		found, err := Detect(g, points[:session], before, session)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, v := range found {
			if ids[v.ID] || len(v.ID) < 8 || !strings.HasPrefix(v.ID, "v-") {
				t.Fatalf("session %d: id %q twice or malformed", session, v.ID)
			}
			ids[v.ID] = true
		}
		for _, v := range before {
			all++
			if ids[v.ID] {
				kept++
			}
		}
		before = found
	}
	if all == 0 || float64(kept) < 0.95*float64(all) {
		t.Errorf("%d of %d ids lasted from one session to the next, want 95 %%", kept, all)
	}
}

func TestIdentityIsOneToOneByBestOverlap(t *testing.T) {
	keys := func(ns ...int) (list [][16]byte) {
		for _, n := range ns {
			list = append(list, id(n))
		}
		return list
	}
	previous := []Vasana{
		{ID: "v-bbbbbb", Keys: keys(1, 2, 3, 4, 5, 6)},
		{ID: "v-aaaaaa", Keys: keys(10, 11, 12)},
		{ID: "v-cccccc", Keys: keys(20, 21, 22, 23, 24, 25, 26, 27, 28, 29)},
	}
	found := []Vasana{
		{Keys: keys(1, 2, 3, 7)},     // 3 of 7: the lesser part of a split
		{Keys: keys(4, 5, 6)},        // 3 of 6: the better part keeps the id
		{Keys: keys(10, 11, 12)},     // unchanged
		{Keys: keys(20, 21, 30, 31)}, // 2 of 12: another tendency
		{Keys: keys(40, 41, 42, 43)}, // never seen
	}
	if err := identify(found, previous, 3); err != nil {
		t.Fatal(err)
	}
	if found[1].ID != "v-bbbbbb" || found[2].ID != "v-aaaaaa" {
		t.Errorf("ids %q and %q, want v-bbbbbb and v-aaaaaa", found[1].ID, found[2].ID)
	}
	seen := map[string]bool{"v-aaaaaa": true, "v-bbbbbb": true, "v-cccccc": true}
	for _, f := range []int{0, 3, 4} {
		if seen[found[f].ID] || len(found[f].ID) != 8 {
			t.Errorf("cluster %d has id %q, want a new one", f, found[f].ID)
		}
		seen[found[f].ID] = true
	}
	if found[4].ID == found[3].ID {
		t.Error("ids of different members are alike")
	}
	// Exactly 0.3 counts: 3 of 10.
	exactly := []Vasana{{Keys: keys(1, 2, 3, 50, 51, 52, 53)}}
	if err := identify(exactly, previous[:1], 3); err != nil || exactly[0].ID != "v-bbbbbb" {
		t.Errorf("an overlap of 0.3 gives id %q (%v)", exactly[0].ID, err)
	}
}

func TestNewIDsGrowUntilUnique(t *testing.T) {
	first := []Vasana{{Keys: [][16]byte{id(1), id(2), id(3)}}}
	if err := christen(first, map[string]bool{}, 4); err != nil {
		t.Fatal(err)
	}
	again := []Vasana{{Keys: [][16]byte{id(1), id(2), id(3)}}}
	if err := christen(again, map[string]bool{first[0].ID: true}, 4); err != nil {
		t.Fatal(err)
	}
	if len(again[0].ID) != 9 || !strings.HasPrefix(again[0].ID, first[0].ID) {
		t.Errorf("id %q where %q is taken, want one digit more", again[0].ID, first[0].ID)
	}
}

func TestMeasuresOfATendency(t *testing.T) {
	rows := matrix{2, [][]float32{{1, 0}, {0, 1}, {-1, 0}, unit([]float64{1, 1})}}
	points := []Point{
		{ID: id(0), Live: true, Influence: 3, Depth: 0.5, Hardness: 1, Guna: reactivation.Guna{Tamas: 0.6, Sattva: 0.8}, FirstSession: 4, LastSession: 9},
		{ID: id(1), Live: true, Influence: 1, Depth: 0.25, Hardness: 4, Guna: reactivation.Sattva(), FirstSession: 2, LastSession: 3},
		{ID: id(2), Live: true, Influence: 0, Depth: 0, Hardness: 100, Guna: reactivation.Guna{Rajas: 0.8, Sattva: 0.6}, FirstSession: 5, LastSession: 12},
	}
	v, err := describe(points, []uint32{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("influence", v.Influence, 4)
	near("hardness", v.Hardness, (0.5*1+0.25*4)/0.75)
	near("coherence", v.Coherence, 0.48) // the first and the third
	length := math.Hypot(3*0.6, 3*0.8+1)
	near("tamas", v.Guna.Tamas, 1.8/length)
	near("sattva", v.Guna.Sattva, 3.4/length)
	if v.FirstSession != 2 || v.LastSession != 12 {
		t.Errorf("sessions %d to %d, want 2 to 12", v.FirstSession, v.LastSession)
	}
	if c, want := v.Centroid(rows), []float32{0, 1}; !slices.Equal(c, want) {
		t.Errorf("centroid %v, want %v", c, want)
	}
	// Nothing has weight: all members weigh the same.
	for i := range points {
		points[i].Influence, points[i].Depth = 0, 0
	}
	v, err = describe(points, []uint32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	near("hardness without depth", v.Hardness, 2.5)
	near("tamas without influence", v.Guna.Tamas, 0.6/math.Hypot(0.6, 1.8))
}

// Looking at the corners alone finds what looking at every pair finds.
func TestCoherenceIsTheLeastOfAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		wide := rapid.OneOf(rapid.Just(0.0), rapid.Just(1e-9), rapid.Float64Range(0.001, 2)).Draw(t, "spread")
		flat := rapid.Float64Range(0, 1).Draw(t, "flatness") // at 1 all lie on one line
		kinds := rapid.IntRange(1, 60).Draw(t, "kinds")
		gs := make([]reactivation.Guna, rapid.IntRange(0, 120).Draw(t, "members"))
		for i := range gs {
			if i >= kinds {
				gs[i] = gs[r.IntN(kinds)]
				continue
			}
			x := wide * r.Float64()
			g, err := reactivation.NewGuna(0.1+x, 0.2+wide*(1-flat)*r.Float64(), rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "sattva")+x)
			if err != nil {
				t.Fatal(err)
			}
			gs[i] = g
		}
		exact := 1.0
		for i := range gs {
			for j := range i {
				exact = min(exact, gs[i].Resonance(gs[j]))
			}
		}
		if got := leastResonance(corners(gs)); math.Abs(got-exact) > 1e-14 || math.Abs(leastResonance(gs)-exact) > 1e-14 {
			t.Fatalf("coherence %v, over all pairs %v", got, exact)
		}
	})
}

func TestInvalidPointsAreRefused(t *testing.T) {
	rows := life(12, 4, 1, 1)
	g := updated(t, DefaultParams(), rows)
	for name, c := range map[string]struct {
		change func(*Point)
		want   error
	}{
		"influence NaN":      {func(p *Point) { p.Influence = math.NaN() }, ErrNotFinite},
		"depth infinite":     {func(p *Point) { p.Depth = math.Inf(1) }, ErrNotFinite},
		"hardness NaN":       {func(p *Point) { p.Hardness = math.NaN() }, ErrNotFinite},
		"guna NaN":           {func(p *Point) { p.Guna.Rajas = math.NaN() }, ErrNotFinite},
		"influence negative": {func(p *Point) { p.Influence = -1 }, ErrPoint},
		"depth negative":     {func(p *Point) { p.Depth = -1 }, ErrPoint},
		"guna zero":          {func(p *Point) { p.Guna = reactivation.Guna{} }, ErrPoint},
		"guna not unit":      {func(p *Point) { p.Guna = reactivation.Guna{Tamas: 2} }, ErrPoint},
	} {
		t.Run(name, func(t *testing.T) {
			points := lived(t, 12, 1)
			points[7].Live = true
			c.change(&points[7])
			if _, err := Detect(g, points, nil, 1); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			points[7].Live = false // nothing else is read of it
			if _, err := Detect(g, points, nil, 1); err != nil {
				t.Errorf("an impression that is not live is looked at: %v", err)
			}
		})
	}
	points := lived(t, 12, 1)
	if _, err := Detect(g, points[:11], nil, 1); !errors.Is(err, ErrBehind) {
		t.Errorf("a point missing: %v, want ErrBehind", err)
	}
	if _, err := Detect(g, append(points, points[0]), nil, 1); !errors.Is(err, ErrBehind) {
		t.Errorf("a point too many: %v, want ErrBehind", err)
	}
	same := []Vasana{{Keys: [][16]byte{id(1), id(2), id(1)}}}
	if err := identify(same, nil, 1); !errors.Is(err, ErrPoint) {
		t.Errorf("an ID twice: %v, want ErrPoint", err)
	}
}

func TestEmptyStore(t *testing.T) {
	rows := matrix{dim: 4}
	if found := detected(t, DefaultParams(), rows, nil, nil, 1); len(found) != 0 {
		t.Errorf("%d tendencies in an empty store", len(found))
	}
}

func TestJSON(t *testing.T) {
	rows := life(300, 16, 4, 2)
	found := detected(t, DefaultParams(), rows, lived(t, 300, 2), nil, 3)
	if len(found) == 0 {
		t.Fatal("nothing to write")
	}
	data, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"id":"v-`, `"keys":["`, `"guna":{"tamas":`, `"first_session":`} {
		if !bytes.Contains(data, []byte(field)) {
			t.Errorf("%s is not in the JSON", field)
		}
	}
	var back []Vasana
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(found, back) {
		t.Error("read back it differs")
	}
}
