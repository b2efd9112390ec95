package chitta

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
)

// ExperiencesOf are the places in the log of a session's experiences.
func (r *Retracing) ExperiencesOf(session uint32) []uint64 {
	var out []uint64
	for _, t := range r.told {
		if t.session == session {
			out = append(out, t.sequence)
		}
	}
	return out
}

// Draws are sets of other experiences to compare some with.
type Draws struct {
	// Sets differ from each other; each is rising.
	Sets [][]uint64
	// All says that there are no other such sets: every one was taken, once.
	All bool
}

// Draws gives n sets of other experiences, chosen at random, to compare the given
// ones with: always the same for one store and the same experiences. Each has as
// many, and empties as many sessions of the same sizes as far as the store has
// them, and no more than it must: a session that would not have been makes
// everything before it younger, so one that stays is no match for it. Where the
// store has n such sets or fewer the result is all of them, none where there are
// too few others.
func (r *Retracing) Draws(sequences []uint64, n int) Draws {
	if n <= 0 {
		return Draws{}
	}
	d := r.deck(sequences)
	// Where little more than n can be drawn, drawing would often give the same again.
	if sets := d.first(2*n + 1); len(sets) <= 2*n {
		out := Draws{Sets: sets, All: len(sets) <= n}
		if !out.All {
			d.random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
			out.Sets = sets[:n]
		}
		return out
	}
	var out Draws
	drawn := map[string]bool{}
	for len(out.Sets) < n {
		set := d.draw()
		key := make([]byte, 0, 8*len(set))
		for _, seq := range set {
			key = binary.BigEndian.AppendUint64(key, seq)
		}
		if !drawn[string(key)] {
			drawn[string(key)] = true
			out.Sets = append(out.Sets, set)
		}
	}
	return out
}

// deck is what the draws are made from.
type deck struct {
	random *rand.Rand
	// total is how many experiences are examined.
	total int
	// others are the experiences that are not examined, by place in told.
	others []lived
	// sizes counts the experiences of each session; free are the sessions without
	// an examined one, in order, and beside are those with some examined and some
	// not.
	sizes        map[uint32]int
	free, beside []uint32
	// emptied are the sizes of the sessions of which all is examined, single is
	// how many examined ones lie in others.
	emptied []int
	single  int
}

func (r *Retracing) deck(sequences []uint64) *deck {
	d := &deck{sizes: map[uint32]int{}}
	examined := map[uint64]bool{}
	for _, seq := range sequences {
		examined[seq] = true
	}
	taken := map[uint32]int{}
	var ids []fold.ID
	var order []uint32
	for _, t := range r.told {
		if d.sizes[t.session] == 0 {
			order = append(order, t.session)
		}
		d.sizes[t.session]++
		if examined[t.sequence] {
			taken[t.session]++
			ids = append(ids, t.id)
		} else {
			d.others = append(d.others, t)
		}
	}
	for _, s := range order {
		switch taken[s] {
		case 0:
			d.free = append(d.free, s)
		case d.sizes[s]:
			d.emptied = append(d.emptied, taken[s])
		default:
			d.single += taken[s]
			d.beside = append(d.beside, s)
		}
	}
	d.total = len(ids)
	d.random = rand.New(rand.NewChaCha8(seedOf(r.look.meta.ID, ids)))
	return d
}

func seedOf(store string, ids []fold.ID) [32]byte {
	slices.SortFunc(ids, func(a, b fold.ID) int { return slices.Compare(a[:], b[:]) })
	text := append([]byte("jivad draws 1\n"), store...)
	for _, id := range ids {
		text = append(text, id[:]...)
	}
	return sha256.Sum256(text)
}

// draw chooses one set, rising; there must be one.
func (d *deck) draw() []uint64 {
	single := d.single
	chosen := map[uint32]bool{}
	sessions := slices.Clone(d.free)
	d.random.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
	for _, size := range d.emptied {
		at := slices.IndexFunc(sessions, func(s uint32) bool { return d.sizes[s] == size && !chosen[s] })
		if at < 0 {
			single += size // none like it: so many from sessions that stay
			continue
		}
		chosen[sessions[at]] = true
	}
	var out []uint64
	var rest []lived
	for _, t := range d.others {
		if chosen[t.session] {
			out = append(out, t.sequence)
		} else {
			rest = append(rest, t)
		}
	}
	d.random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	left := maps.Clone(d.sizes)
	// First such that no session is emptied, then, where that is not enough, any.
	for _, spare := range []int{1, 0} {
		rest = slices.DeleteFunc(rest, func(t lived) bool {
			if single == 0 || left[t.session] <= spare {
				return false
			}
			single--
			left[t.session]--
			out = append(out, t.sequence)
			return true
		})
	}
	slices.Sort(out)
	return out
}

// first gives sets that draw could choose, at most so many, always the same; each is
// rising.
func (d *deck) first(most int) [][]uint64 {
	if d.total == 0 || d.total > len(d.others) {
		return nil
	}
	w := d.walk(most)
	w.session(0, w.total)
	for _, set := range w.out {
		slices.Sort(set)
	}
	return w.out
}

// walk goes through the sets that a deck has, session by session. It turns back
// as soon as no set is ahead, so that it is done soon also in large stores.
type walk struct {
	pools []pool
	// room is how many experiences the pools from each on give where none of
	// them is emptied; whole is how many of these could be.
	room, whole []int
	// empty is how many sessions are still to be emptied, wanted how many of them
	// of each size, owed their number, and owedSize what they hold together.
	empty, owed, owedSize int
	wanted, ahead         map[int]int
	total, most           int
	set                   []uint64
	out                   [][]uint64
}

// pool is what a session has that is not examined.
type pool struct {
	sequences []uint64
	// stays says that something of the session is examined, so that it is not
	// emptied in a draw.
	stays bool
}

func (d *deck) walk(most int) *walk {
	w := &walk{wanted: map[int]int{}, ahead: map[int]int{}, total: d.total, most: most}
	of := map[uint32][]uint64{}
	for _, t := range d.others {
		of[t.session] = append(of[t.session], t.sequence)
	}
	for _, s := range d.free {
		w.pools = append(w.pools, pool{sequences: of[s]})
		w.ahead[d.sizes[s]]++
	}
	for _, s := range d.beside {
		w.pools = append(w.pools, pool{sequences: of[s], stays: true})
	}
	for _, size := range d.emptied {
		if w.wanted[size] < w.ahead[size] {
			w.wanted[size]++
			w.owed++
			w.owedSize += size
		}
	}
	w.room, w.whole = make([]int, len(w.pools)+1), make([]int, len(w.pools)+1)
	for i, p := range slices.Backward(w.pools) {
		w.room[i], w.whole[i] = w.room[i+1]+len(p.sequences), w.whole[i+1]
		if !p.stays {
			w.room[i]--
			w.whole[i]++
		}
	}
	// Each session that is emptied gives one more; so many must be.
	w.empty = max(w.owed, d.total-w.room[0])
	return w
}

// possible tells whether the sessions from i on can give so many more. Where more
// is emptied than is owed, each must give all it can from the beginning on, so that
// it does not matter which ones are.
func (w *walk) possible(i, more int) bool {
	if w.empty < w.owed || w.empty > w.whole[i] || more > w.room[i]+w.empty {
		return false
	}
	for size, n := range w.wanted {
		if n > w.ahead[size] {
			return false
		}
	}
	return more >= w.owedSize
}

// session takes so many more from the sessions from i on, in every way. It is
// false when there are enough sets.
func (w *walk) session(i, more int) bool {
	if more == 0 {
		w.out = append(w.out, slices.Clone(w.set))
		return len(w.out) < w.most
	}
	p, size := w.pools[i], len(w.pools[i].sequences)
	most := size
	if !p.stays {
		w.ahead[size]--
		defer func() { w.ahead[size]++ }()
		most--
		if !w.emptied(i, more) {
			return false
		}
	}
	for take := min(most, more); take >= 0; take-- {
		if w.possible(i+1, more-take) && !w.choose(p.sequences, take, func() bool { return w.session(i+1, more-take) }) {
			return false
		}
	}
	return true
}

// emptied goes on with all of a session taken.
func (w *walk) emptied(i, more int) bool {
	all := w.pools[i].sequences
	size := len(all)
	if w.empty == 0 || size > more {
		return true
	}
	w.empty--
	owed := w.wanted[size] > 0
	if owed {
		w.wanted[size]--
		w.owed--
		w.owedSize -= size
	}
	goOn := !w.possible(i+1, more-size) || w.choose(all, size, func() bool { return w.session(i+1, more-size) })
	w.empty++
	if owed {
		w.wanted[size]++
		w.owed++
		w.owedSize += size
	}
	return goOn
}

// choose adds so many of some experiences to the set, in every way, and calls
// then with each, until it is false.
func (w *walk) choose(from []uint64, take int, then func() bool) bool {
	before := len(w.set)
	defer func() { w.set = w.set[:before] }()
	at := make([]int, take)
	for i := range at {
		at[i] = i
	}
	for {
		w.set = w.set[:before]
		for _, k := range at {
			w.set = append(w.set, from[k])
		}
		if !then() {
			return false
		}
		// The last that can move on does, and those after it follow it.
		i := take - 1
		for i >= 0 && at[i] == len(from)-take+i {
			i--
		}
		if i < 0 {
			return true
		}
		at[i]++
		for k := i + 1; k < take; k++ {
			at[k] = at[k-1] + 1
		}
	}
}
