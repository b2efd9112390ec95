package lifecycle

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/reactivation"
	"github.com/jivad/jivad/soul"
)

// heritage is what one session hands to the next: its tendencies and the words
// of its identity. Only those of the last two sessions are kept.
type heritage struct {
	vasanas []vasana.Vasana
	// peaks say how strong they have been, by id.
	peaks map[string]peak
	// narrative embeds the identity that this session wrote.
	narrative []float32
}

// handedOn is the heritage of a session that this process ended.
type handedOn struct {
	session  int
	heritage heritage
}

// handed is a heritage as it is written at the end of every session: members
// by their rows, two bytes each or so, since a large store has thousands.
type handed struct {
	Vasanas []handedVasana `json:"vasanas"`
	// Narrative holds little-endian float32 values.
	Narrative []byte `json:"narrative"`
}

type handedVasana struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Members are the gaps between rising rows, as varints.
	Members      []byte     `json:"members"`
	Guna         [3]float64 `json:"guna"`
	Coherence    float64    `json:"coherence"`
	Hardness     float64    `json:"hardness"`
	Influence    float64    `json:"influence"`
	Peak         peak       `json:"peak,omitzero"`
	FirstSession int        `json:"first_session"`
	LastSession  int        `json:"last_session"`
}

const prefixHeritage = "heritage/"

func heritageName(n int) string { return fmt.Sprintf(prefixHeritage+"%08d", n) }

func (h heritage) encode() ([]byte, error) {
	out := handed{Vasanas: make([]handedVasana, 0, len(h.vasanas)), Narrative: make([]byte, 0, 4*len(h.narrative))}
	for _, x := range h.narrative {
		out.Narrative = binary.LittleEndian.AppendUint32(out.Narrative, math.Float32bits(x))
	}
	for _, v := range h.vasanas {
		w := handedVasana{
			ID: v.ID, Name: v.Name, Guna: [3]float64{v.Guna.Tamas, v.Guna.Rajas, v.Guna.Sattva}, Coherence: v.Coherence,
			Hardness: v.Hardness, Influence: v.Influence, Peak: h.peaks[v.ID], FirstSession: v.FirstSession, LastSession: v.LastSession,
		}
		last := uint32(0)
		for _, row := range v.Members {
			w.Members = binary.AppendUvarint(w.Members, uint64(row-last))
			last = row
		}
		out.Vasanas = append(out.Vasanas, w)
	}
	return json.Marshal(out)
}

// decodeHeritage reads a heritage; the members' ids come from the state, whose
// rows keep their places.
func decodeHeritage(name string, data []byte, state *fold.State) (heritage, error) {
	var in handed
	if err := unmarshal(name, data, &in); err != nil {
		return heritage{}, err
	}
	h := heritage{peaks: map[string]peak{}} // without a narrative where its embedder was not at hand
	if n := len(in.Narrative) / 4; n > 0 {
		h.narrative = make([]float32, n)
	}
	for i := range h.narrative {
		h.narrative[i] = math.Float32frombits(binary.LittleEndian.Uint32(in.Narrative[4*i:]))
	}
	for _, w := range in.Vasanas {
		h.peaks[w.ID] = w.Peak
		v := vasana.Vasana{
			ID: w.ID, Name: w.Name, Guna: reactivation.Guna{Tamas: w.Guna[0], Rajas: w.Guna[1], Sattva: w.Guna[2]}, Coherence: w.Coherence,
			Hardness: w.Hardness, Influence: w.Influence, FirstSession: w.FirstSession, LastSession: w.LastSession,
		}
		row := uint64(0)
		for rest := w.Members; len(rest) > 0; {
			gap, n := binary.Uvarint(rest)
			if n <= 0 {
				return heritage{}, fmt.Errorf("%w: record %s: members of %s", chitta.ErrDamaged, name, w.ID)
			}
			rest, row = rest[n:], row+gap
			if row >= uint64(len(state.Impressions)) {
				break // fewer impressions than then: an edit let some go
			}
			v.Members = append(v.Members, uint32(row))
			v.Keys = append(v.Keys, state.Impressions[row].ID)
		}
		h.vasanas = append(h.vasanas, v)
	}
	return h, nil
}

// heritageOf is what session n handed on; that of session 0 is the identity
// before any experience. It is read from the store, unless this process wrote it
// last and no entry was edited since.
func (c *Companion) heritageOf(ctx context.Context, n int, state *fold.State) (heritage, error) {
	if c.life.left.session == n && n > 0 && !c.life.edited {
		return c.life.left.heritage, nil
	}
	name := heritageName(n)
	data, err := c.store.Value(name)
	if err == nil {
		return decodeHeritage(name, data, state)
	}
	if !errors.Is(err, chitta.ErrNotFound) {
		return heritage{}, err
	}
	if n > 0 {
		c.log.Warn("no heritage of the session before; tendencies get new ids", "session", n)
	}
	given, err := c.given()
	if err != nil {
		return heritage{}, err
	}
	narrative, err := c.identityVector(ctx, soul.Summary{Given: given})
	return heritage{narrative: narrative}, err
}

// tendenciesOf are those that session n left; none where they are not kept.
func (c *Companion) tendenciesOf(n int) ([]vasana.Vasana, error) {
	h, err := c.keptHeritage(n)
	return h.vasanas, err
}

// keptHeritage is what session n handed on, as the store has it; nothing where it
// is not kept.
func (c *Companion) keptHeritage(n int) (h heritage, err error) {
	name := heritageName(n)
	data, err := c.store.Value(name)
	if errors.Is(err, chitta.ErrNotFound) {
		return heritage{}, nil
	}
	if err != nil {
		return heritage{}, err
	}
	err = c.store.View(func(state *fold.State) error {
		h, err = decodeHeritage(name, data, state)
		return err
	})
	return h, err
}
