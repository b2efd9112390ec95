package lineage

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
)

// Rule is what all distillates of a lineage say under one key.
type Rule struct {
	Key string `json:"key"`
	// Weight is Σc·w / Σc in [-Million, Million], rounded half away from zero once.
	Weight int64 `json:"weight"`
	// Guidance is that of the contribution of greatest c·|w|, of the latest of equals,
	// among those of the sign of Weight: what is preferred is in the words of those who
	// preferred it. From is its distillate; where two have that id, the digest decided.
	Guidance string `json:"guidance"`
	From     ID     `json:"from"`
	// Support counts the contributions, First and Last are the earliest and the latest
	// life among them.
	Support int `json:"support"`
	First   ID  `json:"first_life"`
	Last    ID  `json:"last_life"`
	// Dispersion is the standard deviation of the weights under the confidences, in
	// millionths, rounded down: 0 where all agree, Million where they are of two minds.
	Dispersion int64 `json:"dispersion"`
	// For and Against are the sums of the confidences of the contributions above and
	// below 0; the rule is Contested where each is at least a quarter of all.
	For       int64 `json:"for"`
	Against   int64 `json:"against"`
	Contested bool  `json:"contested"`
}

// Check tells whether the words of a rule would be taken in today: those of a lineage that was
// begun by an earlier form may not. Error: ErrForm.
func (r Rule) Check() error {
	if err := CheckRule(r.Key, r.Guidance); err != nil {
		return err
	}
	return Disposition{Guidance: r.Guidance}.checkDetails()
}

// contribution is one disposition with what it counts for.
type contribution struct {
	of     *Distillate
	digest Digest
	at     int
	// c is the confidence of the satisfaction times that of the disposition, in
	// millionths, rounded down, but never 0.
	c int64
}

func (c contribution) disposition() *Disposition { return &c.of.Dispositions[c.at] }

// force is c·|w|, which decides whose words are the rule's.
func (c contribution) force() int64 {
	w := c.disposition().Weight
	return c.c * max(w, -w)
}

// stronger tells whether c's words go before those of other: by force, then the latest, and
// of those that have one id, which a device can copy, by the digest.
func (c contribution) stronger(other contribution) bool {
	if order := cmp.Compare(c.force(), other.force()); order != 0 {
		return order > 0
	}
	if order := c.of.ID.Compare(other.of.ID); order != 0 {
		return order > 0
	}
	return c.digest.Compare(other.digest) > 0
}

func contributions(digest Digest, d *Distillate) []contribution {
	out := make([]contribution, len(d.Dispositions))
	for i := range d.Dispositions {
		c := d.Satisfaction.Confidence * d.Dispositions[i].Confidence / Million
		out[i] = contribution{of: d, digest: digest, at: i, c: max(1, c)}
	}
	return out
}

// maxMembers bounds a lineage, so that no sum can overflow.
const maxMembers = 1 << 22

// sum gathers the contributions of one key. All of it is whole numbers, so that it is
// the same in whatever order they come.
type sum struct {
	// cw is Σc·w, c is Σc; cw2 is Σc·w² in 128 bits, high and low.
	cw, c    int64
	cw2      [2]uint64
	up, down int64
	support  int
	// strongest are the foremost contributions below, at and above 0.
	strongest [3]contribution
	first     ID
	last      ID
}

func (s *sum) add(x contribution) {
	w := x.disposition().Weight
	s.cw += x.c * w
	s.c += x.c
	square := uint64(max(w, -w)) //nolint:gosec // not negative
	high, low := bits.Mul64(uint64(x.c), square*square)
	var carry uint64
	s.cw2[1], carry = bits.Add64(s.cw2[1], low, 0)
	s.cw2[0], _ = bits.Add64(s.cw2[0], high, carry)
	switch {
	case w > 0:
		s.up += x.c
	case w < 0:
		s.down += x.c
	}
	if best := &s.strongest[1+cmp.Compare(w, 0)]; best.of == nil || x.stronger(*best) {
		*best = x
	}
	if s.support == 0 || x.of.Life.Compare(s.first) < 0 {
		s.first = x.of.Life
	}
	if s.support == 0 || x.of.Life.Compare(s.last) > 0 {
		s.last = x.of.Life
	}
	s.support++
}

// weight is Σc·w / Σc.
func (s *sum) weight() int64 { return divide(s.cw, s.c) }

// divide rounds half away from zero; b is above 0.
func divide(a, b int64) int64 {
	q, r := a/b, a%b
	if r < 0 {
		r = -r
	}
	if r >= b-r { // 2r ≥ b, which might overflow
		if a < 0 {
			return q - 1
		}
		return q + 1
	}
	return q
}

// spokesman is the contribution whose words the rule has. Where the weight is 0 it is
// the foremost of all, those of no weight last.
func (s *sum) spokesman(weight int64) contribution {
	if best := s.strongest[1+cmp.Compare(weight, 0)]; weight != 0 {
		return best
	}
	var out contribution
	for _, x := range s.strongest {
		if x.of != nil && (out.of == nil || x.stronger(out)) {
			out = x
		}
	}
	return out
}

func (s *sum) rule() Rule {
	weight := s.weight()
	from := s.spokesman(weight)
	p := from.disposition()
	return Rule{
		Key: p.Key, Weight: weight, Guidance: p.Guidance, From: from.of.ID,
		Support: s.support, First: s.first, Last: s.last, Dispersion: s.dispersion(),
		For: s.up, Against: s.down, Contested: 4*s.up >= s.c && 4*s.down >= s.c,
	}
}

// dispersion is √(Σc·Σcw² − (Σcw)²) / Σc.
func (s *sum) dispersion() int64 {
	squares := new(big.Int).Lsh(new(big.Int).SetUint64(s.cw2[0]), 64)
	squares.Or(squares, new(big.Int).SetUint64(s.cw2[1]))
	all, mean := big.NewInt(s.c), big.NewInt(s.cw)
	variance := squares.Mul(squares, all)
	variance.Sub(variance, mean.Mul(mean, mean))
	return variance.Sqrt(variance).Quo(variance, all).Int64()
}

// Fold gives the rules of a set of distillates, in the order of their keys. It is what
// every [Lineage] must equal; of several distillates of one device on one life the one of
// lowest digest counts.
func Fold(set map[Digest]*Distillate) []Rule {
	counted := map[lived]Digest{}
	for digest, d := range set {
		if other, ok := counted[livedBy(d)]; !ok || digest.Compare(other) < 0 {
			counted[livedBy(d)] = digest
		}
	}
	sums := map[string]*sum{}
	for _, digest := range counted {
		for _, x := range contributions(digest, set[digest]) {
			key := x.disposition().Key
			if sums[key] == nil {
				sums[key] = &sum{}
			}
			sums[key].add(x)
		}
	}
	return rulesOf(sums)
}

func rulesOf(sums map[string]*sum) []Rule {
	keys := make([]string, 0, len(sums))
	for key := range sums {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out := make([]Rule, len(keys))
	for i, key := range keys {
		out[i] = sums[key].rule()
	}
	return out
}
