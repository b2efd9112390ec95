package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/soul"
)

// valueTraces is there while something is left to remove that was generated from
// forgotten entries. It is written with the new database, so that a crash
// between the two only delays the rest.
const valueTraces = "forget/traces"

// traces says what is left to remove.
type traces struct {
	// FirstSession is the first session whose SOUL.md could know of them, 0 for none.
	FirstSession int `json:"first_session"`
	// FirstAnswers is the first session in which rules that go may have been told, 0 where
	// none go.
	FirstAnswers int `json:"first_answers,omitempty"`
}

// rewriting works out, during an excision, the records that the new store
// begins with. It composes with a companion of its own, which has the life of the
// new store; the texts are those of the present one, at the same places.
type rewriting struct {
	c      *Companion
	shadow *Companion
	plan   chitta.Excised
	// records are those of all sessions that stay, by their new numbers.
	records []sessionRecord
	// left are the last two sessions as they leave things now, by new number.
	left map[int]legacy
	// embedder made the vectors of the graph.
	embedder string
	// goes are the claims that go, with what they were taken from; leaving is what that is.
	goes    claims.Goes
	leaving claims.Leaving
	// same says that no session loses anything, so that all counts stay as they are.
	same bool
	// ofLives says what becomes of each record of lives, owed is put beside them.
	ofLives func(projection.Value) (projection.Value, bool, error)
	owed    []projection.Value
}

func (c *Companion) rewriting(ctx context.Context, plan chitta.Excised, goes claims.Goes) (*rewriting, error) {
	shadow := &Companion{opts: c.opts, store: c.store, files: c.files, log: c.log, lives: c.lives, leave: c.leave}
	shadow.life.graph = c.graphBefore(plan)
	w := &rewriting{c: c, shadow: shadow, plan: plan, goes: goes, left: map[int]legacy{}}
	var err error
	if shadow.claims, w.leaving, err = c.claims.Apart(ctx, goes); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, r := range c.records {
		if n, stays := w.number(r.Session); stays {
			r.Session = n
			w.records = append(w.records, r)
		}
	}
	return w, nil
}

// graphBefore is the graph as far as nothing goes; making it whole takes seconds.
func (c *Companion) graphBefore(plan chitta.Excised) *vasana.Graph {
	graph := vasana.NewGraph(c.opts.Vasana)
	data, err := c.life.graph.MarshalBinary()
	if err == nil {
		err = graph.UnmarshalBinary(data)
	}
	if err != nil || len(plan.Events) == 0 {
		return vasana.NewGraph(c.opts.Vasana)
	}
	_ = c.store.View(func(s *fold.State) error { graph.Truncate(rowAt(s, plan.Events[0].Sequence)); return nil })
	return graph
}

// number is what session n is called from now on, or false where it goes.
func (w *rewriting) number(n int) (int, bool) {
	if slices.Contains(w.plan.Sessions, uint32(n)) {
		return 0, false
	}
	if to, ok := w.plan.Renumbered[uint32(n)]; ok {
		return int(to), true
	}
	return n, true
}

// lost tells whether a session, by its number of before, loses an entry.
func (w *rewriting) lost(n int) bool {
	return slices.ContainsFunc(w.plan.Events, func(e chitta.ExcisedEvent) bool { return int(e.Session) == n })
}

// called is number, with 0 for a session that goes.
func (w *rewriting) called(n int) int {
	n, _ = w.number(n)
	return n
}

// ended is told each session that lost something, and the last two.
func (w *rewriting) ended(ctx context.Context, e chitta.EndedSession) error {
	at, ok := slices.BinarySearchFunc(w.records, int(e.Number), func(r sessionRecord, n int) int { return r.Session - n })
	if !ok {
		return nil // it was never withdrawn
	}
	state := e.State.Clone()
	state.End()
	if e.Lost > 0 {
		w.records[at] = counted(w.records[at], state)
	}
	if !e.Last {
		return nil
	}
	return w.compose(ctx, at, int(e.Before), state)
}

// counted is the record of a session that lost something: what it counts is
// counted again. Its gap was measured against what is gone, so it is unknown now.
func counted(r sessionRecord, state *fold.State) sessionRecord {
	s := &state.Session
	r.Events, r.New, r.Reactivated, r.Soft, r.Suppressed = int(s.Events), int(s.Created), int(s.Reactivated), int(s.Soft), int(s.Suppressed)
	r.MeanFocus, r.MeanTheta, r.Valence = mean(s.Focus, s.Gated), mean(s.Theta, s.Gated), mean(s.Valence, s.Events)
	r.LoadTamas, r.LoadRajas, r.WitnessGap = 0, 0, nil
	if x := mean(s.Inertia, s.Gated); x != nil {
		r.LoadTamas = *x
	}
	if x := mean(s.Reactivity, s.Gated); x != nil {
		r.LoadRajas = *x
	}
	r.Impressions = len(state.Impressions)
	return r
}

// compose makes anew what one of the last two sessions leaves. Its tendencies
// keep the ids that they had, by their members; their names are made of entries'
// words, so they come from those that are left.
func (w *rewriting) compose(ctx context.Context, at, before int, state *fold.State) error {
	old := w.records[at]
	var past heritage
	own, err := w.c.keptHeritage(before)
	if err != nil {
		return err
	}
	past.peaks = own.peaks
	for _, v := range own.vasanas {
		v.Name = ""
		past.vasanas = append(past.vasanas, v)
	}
	earlier := w.left[old.Session-1]
	if !w.same {
		past.narrative = earlier.narrative
	}
	w.shadow.records = slices.Clone(w.records[:at])
	names, err := w.c.modelNames()
	if err != nil {
		return err
	}
	names.forget(w.plan)
	left, err := w.shadow.compose(ctx, state, past, earlier.vasanas, names, &old)
	if err != nil {
		return err
	}
	w.left[old.Session], w.embedder = left, state.Embedder
	if !w.same {
		w.records[at] = left.record
	}
	return nil
}

// values are the records of the new store: those of sessions renumbered and
// counted again, the last heritages and SOUL.md made anew, and what else there
// is as it was. What a model said goes: its words of the session, and every name
// of a tendency that had one of the forgotten among its members. Nothing is owed to
// the model any more of what went.
func (w *rewriting) values(_ context.Context, x chitta.Excised, old []chitta.Value) ([]chitta.Value, error) {
	var out []chitta.Value
	names, err := namesAmong(old)
	if err != nil {
		return nil, err
	}
	names.forget(x)
	if old, err = valuesWithout(old, w.goes); err != nil {
		return nil, err
	}
	for _, v := range old {
		if !strings.HasPrefix(v.Name, prefixRecord) && !strings.HasPrefix(v.Name, prefixHeritage) && !slices.Contains([]string{valueCurrent, valueOwnWords, valueOwnSoul, valueVoice, valueNarrate}, v.Name) {
			v, stays, err := seenWithout(v, x)
			if err != nil {
				return nil, err
			}
			if stays && strings.HasPrefix(v.Name, prefixName) {
				_, stays = names[strings.TrimPrefix(v.Name, prefixName)]
			}
			if stays && strings.HasPrefix(v.Name, prefixOwed) {
				stays = !slices.ContainsFunc(x.Events, func(e chitta.ExcisedEvent) bool { return owedName(e.Sequence) == v.Name })
			}
			if stays {
				v, stays, err := w.ofLives(projection.Value(v))
				if err != nil {
					return nil, err
				}
				if stays {
					out = append(out, chitta.Value(v))
				}
			}
		}
	}
	for _, r := range w.records {
		data, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("session record: %w", err)
		}
		out = append(out, chitta.Value{Name: recordName(r.Session), Data: data})
	}
	var document []byte
	for n, l := range w.left {
		data, err := l.heritage.encode()
		if err != nil {
			return nil, fmt.Errorf("heritage: %w", err)
		}
		out = append(out, chitta.Value{Name: heritageName(n), Data: data})
		if n == w.records[len(w.records)-1].Session {
			document = l.document
		}
	}
	if document == nil { // no session is left that ended
		var err error
		if document, err = w.c.newborn(); err != nil {
			return nil, err
		}
	}
	mark, err := json.Marshal(traces{FirstSession: w.leaving.Since(firstSession(x))})
	if err != nil {
		return nil, err
	}
	out = append(out, valuesOf(w.owed)...)
	out, err = withForgottenClaims(out, w.leaving)
	return append(out, chitta.Value{Name: valueCurrent, Data: document}, chitta.Value{Name: valueTraces, Data: mark}), err
}

// newborn is the SOUL.md of a companion that has lived nothing.
func (c *Companion) newborn() ([]byte, error) {
	given, err := c.given()
	if err != nil {
		return nil, err
	}
	return soul.Render(c.unborn(given), c.opts.SoulBytes)
}

// goOnWith takes the new store for the companion's own.
func (c *Companion) goOnWith(w *rewriting) {
	c.mu.Lock()
	c.records = w.records
	c.digest, c.digestAt = "", 0
	c.mu.Unlock()
	c.forgetRows(0)
	c.life.graph, c.life.lines, c.life.left = w.shadow.life.graph, nil, handedOn{}
	if c.store.Snapshot().Embedder != w.embedder { // it changed since the last session
		c.life.graph = vasana.NewGraph(c.opts.Vasana)
	}
	c.life.ageing, c.life.digester = fold.Ageing{}, fold.Digester{}
}

// clearTraces removes what was generated from forgotten entries, or holds them,
// and writes SOUL.md from the new store. It can be done again at any time. It returns
// how many copies of SOUL.md were removed.
func (c *Companion) clearTraces(ctx context.Context) (versions int, err error) {
	data, err := c.store.Value(valueTraces)
	if errors.Is(err, chitta.ErrNotFound) {
		return versions, nil
	}
	if err != nil {
		return versions, err
	}
	var t traces
	if err := unmarshal(valueTraces, data, &t); err != nil {
		return versions, err
	}
	document, err := c.lastWritten()
	if err != nil {
		return versions, err
	}
	if err := c.files.Write(document); err != nil {
		return versions, err
	}
	if t.FirstSession > 0 {
		if versions, err = c.files.DropFrom(t.FirstSession); err != nil {
			return versions, err
		}
	}
	_, err = c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{{Name: valueTraces}}})
	return versions, err
}
