package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/lifecycle/prompt"
	"github.com/jivad/jivad/soul"
)

const (
	// calledByModel is how many tendencies, the strongest, a model is asked to name.
	calledByModel = 12
	// mostCallings is how often it is asked for one name, before the built-in stays.
	mostCallings = 3
	// calledFrom is how many entries of a tendency, the strongest, its key words are
	// from; sentWords and sentExcerpts are how many words, and beginnings of entries of
	// at most sentLetters each, are sent of it.
	calledFrom   = namedBy
	sentWords    = 24
	sentExcerpts = 6
	sentLetters  = 160
)

// unnamed is a tendency that a model is to name, with what it is sent.
type unnamed struct {
	id string
	modelName
	words, excerpts []string
	// entries are those whose words are sent.
	entries []sentEntry
}

// sentEntry is an entry by its place in the log and the key of its wording.
type sentEntry struct {
	seq uint64
	key fold.Key
}

// nameSome asks the model, one question after the other, for the names that the
// strongest tendencies of the last session lack, and writes them. It waits while
// anything else is to be done, and rests as long as each answer took, within bounds. It
// returns how many names were given. An error is of the store.
func (c *Companion) nameSome(ctx context.Context) (given int, err error) {
	// Whose tries count is not known before it is known which model it is.
	if m := c.opts.Model.State(); m.Away != "" || m.Digest == "" || c.atLeisure(ctx) != nil {
		return 0, nil
	}
	may, generation, session := c.readNow(), c.store.Meta().Generation, c.lastClosed()
	list, err := c.toName(session)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	began := time.Now()
	var done []unnamed
	for _, u := range list {
		if time.Since(began) > gathering && len(done) > 0 || c.atLeisure(ctx) != nil ||
			c.lastClosed() != session || c.opts.Model.State().Away != "" {
			break
		}
		asked := time.Now()
		name, err := c.call(ctx, u, func() bool { same, err := c.asTheyWere(u.entries); return err == nil && same && may() })
		if errors.Is(err, errGaveWay) || errors.Is(err, errTakenBack) { // the list is made anew
			c.reassessSoon()
			break
		}
		if elsewhere(err) || ctx.Err() != nil {
			break
		}
		u.By = c.modelID()
		if u.Name = name; err != nil {
			c.log.Info("a tendency keeps its built-in name for now", "tendency", u.id, "why", err)
			u.modelName = u.refused(c.opts.Now)
		}
		done = append(done, u)
		c.rest(ctx, time.Since(asked))
	}
	if len(done) == 0 {
		return 0, nil
	}
	// What was answered is written also when the daemon is about to end.
	err = c.do(context.WithoutCancel(ctx), backlog, func(ctx context.Context) (err error) {
		given, err = c.settleNames(ctx, done, generation)
		return err
	})
	return given, err
}

// refused is what is kept where an answer cannot be used.
func (n modelName) refused(clock func() (time.Time, bool)) modelName {
	now, _ := clock()
	n.Name, n.Sources = "", nil
	n.Tries++
	n.Next = now.Add(firstPause << n.Tries).Unix()
	return n
}

// call asks for one name and holds it against what was sent.
func (c *Companion) call(ctx context.Context, u unnamed, may func() bool) (string, error) {
	var name string
	err := c.leisurely(ctx, may, func(asking context.Context) (err error) {
		name, err = c.opts.Model.Name(asking, u.words, u.excerpts)
		return err
	})
	if err := c.ended(ctx, err); err != nil {
		return "", err
	}
	name = strings.TrimSpace(name)
	words, excerpts := prompt.NameSources(u.words, u.excerpts)
	return name, prompt.CheckName(name, words, excerpts)
}

// toName are the strongest tendencies of a session that lack a model's name and whose
// turn it is, the strongest first. Another model than the one that failed is asked anew.
func (c *Companion) toName(session int) ([]unnamed, error) {
	if session == 0 {
		return nil, nil
	}
	data, err := c.store.Value(heritageName(session))
	if errors.Is(err, chitta.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state := c.store.Snapshot()
	h, err := decodeHeritage(heritageName(session), data, state)
	if err != nil {
		return nil, err
	}
	names, err := c.modelNames()
	if err != nil {
		return nil, err
	}
	found := h.vasanas[:min(len(h.vasanas), calledByModel)]
	holding := names.holding(state, found)
	now, _ := c.opts.Now()
	by := c.modelID()
	var list []unnamed
	for _, v := range found {
		n, ok := holding[v.ID]
		switch {
		case ok && n.Name != "":
			continue
		case ok && n.By == by && n.Tries >= mostCallings:
			continue
		case ok && n.By == by && n.Next > now.Unix() && n.Next-now.Unix() <= int64((firstPause<<mostCallings).Seconds()):
			continue // a clock that was put back makes nothing wait for years
		case !ok || n.By != by:
			n = modelName{}
		}
		n.Members, n.Sources, n.Count = nil, nil, len(v.Keys)
		for _, row := range strongest(state, v.Members, mostNamed) {
			id := state.Impressions[row].ID
			n.Members = append(n.Members, id[:]...)
		}
		list = append(list, unnamed{id: v.ID, modelName: n})
	}
	if len(list) == 0 {
		return nil, nil
	}
	return c.withWords(state, found, list)
}

// withWords adds what the model is sent of each; those of which no words are kept
// are left out. found are the tendencies that their words are compared with.
func (c *Companion) withWords(state *fold.State, found []vasana.Vasana, list []unnamed) ([]unnamed, error) {
	apart := c.apart()
	speaking := map[uint32][]vasana.Term{}
	counts := frequencies{having: map[string]int{}}
	for _, v := range found {
		for _, row := range strongest(state, v.Members, calledFrom) {
			speaking[row] = apart.termsOf(state, row)
			counts.entries++
			for _, t := range speaking[row] {
				counts.having[t.Word]++
			}
		}
	}
	of := byID(found)
	var out []unnamed
	for _, u := range list {
		rows := strongest(state, of[u.id].Members, calledFrom)
		words := vasana.KeyTerms(rows, func(row uint32) []vasana.Term { return speaking[row] }, counts)
		u.words = words[:min(len(words), sentWords)]
		for _, row := range strongestFirst(state, rows) {
			m := &state.Impressions[row]
			if m.Buried {
				continue
			}
			x, t, err := c.wordingOf(m.Sequence)
			if errors.Is(err, ErrNotFound) {
				continue // no text is kept
			}
			if err != nil {
				return nil, err
			}
			if !c.mayRead(m.Sequence, x, t) {
				continue
			}
			if e := sentOf(t); e != "" && len(u.excerpts) < sentExcerpts {
				u.excerpts = append(u.excerpts, e)
			}
			u.entries = append(u.entries, sentEntry{m.Sequence, x.Key})
			u.Sources = append(u.Sources, m.ID[:]...)
		}
		if len(u.words)+len(u.excerpts) > 0 {
			out = append(out, u)
		}
	}
	return out, nil
}

// sentOf is what is sent of an entry for a name: the beginning of its gist, which has no
// details that lead to somebody, nor what stands for them.
func sentOf(t chitta.Text) string {
	body := t.Body
	if !t.Gist {
		body = Gist(body)
	}
	short, _ := prompt.Clip(strings.Join(strings.Fields(unmasked(body)), " "), sentLetters)
	return short
}

// settleNames writes what came of questions of one generation of the store, and
// SOUL.md with it. What is no longer as it was when the model was asked is left; it
// is owed again. It runs on the worker, so nothing is edited or forgotten meanwhile.
func (c *Companion) settleNames(ctx context.Context, done []unnamed, generation uint64) (given int, err error) {
	if c.store.Meta().Generation != generation {
		return 0, nil // places in the log are not those of then
	}
	found, err := c.shownTendencies(c.lastClosed())
	if err != nil {
		return 0, err
	}
	names, err := c.modelNames()
	if err != nil {
		return 0, err
	}
	var values []chitta.Value
	for _, u := range done {
		at := slices.IndexFunc(found, func(v shownTendency) bool { return v.ID == u.id })
		if at < 0 || !u.fits(found[at].Keys) {
			continue
		}
		if same, err := c.asTheyWere(u.entries); err != nil {
			return 0, err
		} else if !same {
			continue
		}
		taken := slices.ContainsFunc(found, func(v shownTendency) bool { return v.ID != u.id && strings.EqualFold(v.Name, u.Name) })
		if u.Name != "" && taken {
			u.modelName = u.refused(c.opts.Now) // no two are called alike
		}
		if u.Name == "" {
			c.counts.unnamed.Add(1)
		} else {
			u.Tries, u.Next = 0, 0
			found[at].Name = u.Name
			given++
		}
		v, err := u.value(u.id)
		if err != nil {
			return 0, err
		}
		names[u.id] = u.modelName
		values = append(values, v)
	}
	if len(values) == 0 {
		return 0, nil
	}
	return given, c.writeNames(ctx, values, names, given > 0)
}

// asTheyWere tells whether entries still have the wording that was sent.
func (c *Companion) asTheyWere(entries []sentEntry) (bool, error) {
	for _, e := range entries {
		x, _, err := c.wordingOf(e.seq)
		if errors.Is(err, ErrNotFound) || err == nil && x.Key != e.key {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// writeNames writes names in one transaction with the SOUL.md that shows them. While a
// session is open SOUL.md waits for its end.
func (c *Companion) writeNames(ctx context.Context, values []chitta.Value, names modelNames, shown bool) error {
	var doc []byte
	last, err := c.lastWritten()
	if err == nil && shown {
		var more []chitta.Value
		if doc, more, err = c.soulWith(names, last); errors.Is(err, errNotNow) {
			doc, err = nil, nil
		}
		values = append(values, more...)
	}
	if err != nil {
		return err
	}
	if _, err := c.store.Append(ctx, chitta.Batch{Values: values}); err != nil {
		return err
	}
	c.forgetNames()
	if doc != nil {
		c.writeAgain(doc, last)
	}
	return nil
}

// soulWith is the SOUL.md of the last session with these names, and what is written
// with it. The model's words of the session stay where they say nothing that it does
// not; else they are owed again. Errors: errNotNow.
func (c *Companion) soulWith(names modelNames, last []byte) (doc []byte, values []chitta.Value, err error) {
	s, err := c.lastSummaryWith(names)
	if err != nil {
		return nil, nil, err
	}
	return c.soulOf(s, last)
}

// soulOf is the SOUL.md of a summary of the last session, and what is written with it, as
// for soulWith.
func (c *Companion) soulOf(s soul.Summary, last []byte) (doc []byte, values []chitta.Value, err error) {
	if s.Voice != "" && soul.CheckVoice(s, s.Voice) != nil {
		s.Voice, s.VoiceBy = "", ""
		values = append(values, chitta.Value{Name: valueVoice})
	}
	if h, err := soul.ParseHeader(last); err == nil && h.Session == s.Session && h.Voice != "" && s.Voice == "" {
		note, err := json.Marshal(toNarrate{Session: s.Session})
		if err != nil {
			return nil, nil, err
		}
		values = append(values, chitta.Value{Name: valueNarrate, Data: note})
	}
	if doc, err = soul.Render(s, c.opts.SoulBytes); err != nil {
		return nil, nil, fmt.Errorf("SOUL.md once more: %w", err)
	}
	return doc, append(values, chitta.Value{Name: valueCurrent, Data: doc}), nil
}
