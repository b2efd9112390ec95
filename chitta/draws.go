package chitta

import (
	"crypto/sha256"
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

// Draws gives n sets of other experiences, chosen at random, to compare the given
// ones with: always the same for one store and the same experiences. Each has as
// many, and empties as many sessions of the same sizes as far as the store has
// them: a session that would not have been makes everything before it younger, so
// one that stays is no match for it. The result is shorter, or empty, where the
// store has too few others.
func (r *Retracing) Draws(sequences []uint64, n int) [][]uint64 {
	d := r.deck(sequences)
	var out [][]uint64
	for range n {
		set, ok := d.draw()
		if !ok {
			break
		}
		out = append(out, set)
	}
	return out
}

// deck is what the draws are made from.
type deck struct {
	random *rand.Rand
	// others are the experiences that are not examined, by place in told.
	others []lived
	// sizes counts the experiences of each session; free are the sessions without
	// an examined one, in order.
	sizes map[uint32]int
	free  []uint32
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
		}
	}
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

// draw chooses one set, rising.
func (d *deck) draw() ([]uint64, bool) {
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
	return out, single == 0
}
