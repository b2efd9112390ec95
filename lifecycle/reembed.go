package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// ReembedReport tells what a change of embedder did.
type ReembedReport struct {
	// From and FromDim name the embedder of before, Embedder and Dim the one in
	// force now. Where they are the same there was nothing to do.
	From     string `json:"from"`
	FromDim  int    `json:"from_dim"`
	Embedder string `json:"embedder"`
	Dim      int    `json:"dim"`
	// Impressions are in the store. Entries that only acted on others have new
	// vectors too, for the case that they become impressions when others are
	// forgotten.
	Impressions int `json:"impressions"`
	// Embedded vectors were computed now, Resumed ones by a run that was ended.
	Embedded int `json:"embedded"`
	Resumed  int `json:"resumed"`
	// Unplaced impressions have no vector any more: their text is not kept.
	// LeftOut counts the entries that the embedder could not read.
	Unplaced int     `json:"unplaced"`
	LeftOut  int     `json:"left_out,omitempty"`
	Seconds  float64 `json:"seconds"`
	// PerMinute is the rate of those that were computed now.
	PerMinute float64 `json:"per_minute,omitempty"`
}

// ReembedOptions say how to change the embedder.
type ReembedOptions struct {
	// LeaveOut leaves entries that the embedder cannot read without a place,
	// instead of changing nothing for their sake.
	LeaveOut bool
	Progress func(Progress)
}

// mostUnread is after how many entries that it cannot read an embedder is not
// asked for more: with LeaveOut in a row, since it may be gone, else in all.
const mostUnread = 20

// Reembed computes the vectors of a store anew by the configured embedder and
// puts it in force. Depths and characters stay as they are. It opens the folder
// itself, so no other process may have it. An open session is ended first.
//
// What was computed is kept when ctx ends it or the process dies: the next call
// goes on from there. The change itself is one rename; until then the store is
// the old one. Errors: chitta.ErrLocked, ErrUnread with the embedder's own error
// or the *fold.VectorError.
func Reembed(ctx context.Context, o Options, how ReembedOptions) (ReembedReport, error) {
	o.LookOnly = true
	c, err := Open(ctx, o)
	if err != nil {
		return ReembedReport{}, err
	}
	r, err := c.reembed(ctx, o.Embedder, how)
	return r, errors.Join(err, c.Close(context.WithoutCancel(ctx)))
}

func (c *Companion) reembed(ctx context.Context, e Embedder, how ReembedOptions) (r ReembedReport, err error) {
	began := time.Now()
	state := c.store.Snapshot()
	r = ReembedReport{
		From: state.Embedder, FromDim: state.Dim, Embedder: e.ID(), Dim: e.Dim(),
		Impressions: len(state.Impressions), Unplaced: state.Vectors.Len() - state.Vectors.Placed(),
	}
	if r.From == r.Embedder && r.FromDim == r.Dim {
		return r, nil
	}
	if state.Session.Open {
		err := c.do(ctx, interactive, func(ctx context.Context) error { return c.closeSession(ctx, reasonReembed) })
		if err != nil {
			return r, fmt.Errorf("end the open session: %w", err)
		}
	}
	sum := sha256.Sum256([]byte(e.ID()))
	// Beside the other caches: they go when the store is written anew, after a
	// forgetting too.
	path := filepath.Join(c.store.CacheDir(), fmt.Sprintf("reembed-%x", sum[:4]))
	cache, err := openRowCache(path, c.store.Meta().ID, e)
	if err != nil {
		return r, fmt.Errorf("keep what is computed: %w", err)
	}
	defer func() { err = errors.Join(err, cache.close()) }()
	w := &reembedding{c: c, embedder: e, cache: cache, how: how, began: began}
	if err := w.list(ctx, state); err != nil {
		return r, err
	}
	r.Resumed = w.resumed
	err = w.embedAll(ctx)
	r.Embedded, r.LeftOut = w.embedded, len(w.unread)
	if err != nil {
		return r, err
	}
	if r.PerMinute = 60 * float64(r.Embedded) / time.Since(w.working).Seconds(); r.Embedded == 0 {
		r.PerMinute = 0
	}
	values, err := c.heritageBy(ctx, e)
	if err != nil {
		return r, err
	}
	done, err := c.store.Reembed(ctx, chitta.Reembedding{
		Embedder: e.ID(), Dim: e.Dim(), Vector: w.vector, Values: values,
		Progress: func(stage string, done, total uint64) {
			w.tell(Progress{Done: int(done), Total: int(total), Stage: stage})
		},
	})
	r.Unplaced, r.Seconds = done.Unplaced, time.Since(began).Seconds()
	return r, err
}

// reembedding is the work of one call.
type reembedding struct {
	c        *Companion
	embedder Embedder
	cache    *rowCache
	how      ReembedOptions
	began    time.Time
	// keys are those of the entries that have text, by their place in the log;
	// order lists the places whose vectors are still to be computed.
	keys    map[uint64]rowKey
	order   []uint64
	total   int
	resumed int
	working time.Time // when the computing began

	mu       sync.Mutex // guards what follows, and the telling
	embedded int
	unread   map[uint64]error
	first    uint64 // the earliest of them
	inARow   int
}

func (w *reembedding) tell(p Progress) {
	if w.how.Progress != nil {
		p.Elapsed = time.Since(w.began)
		w.how.Progress(p)
	}
}

// list finds the entries that have text, and which of them were embedded before.
func (w *reembedding) list(ctx context.Context, state *fold.State) error {
	w.keys, w.unread = map[uint64]rowKey{}, map[uint64]error{}
	impressions, links := state.Impressions, state.Links
	for len(impressions)+len(links) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		var seq uint64
		var key rowKey
		if len(links) == 0 || len(impressions) > 0 && impressions[0].Sequence < links[0].Sequence {
			seq, key.id, impressions = impressions[0].Sequence, impressions[0].ID, impressions[1:]
		} else {
			seq, key.id, links = links[0].Sequence, links[0].ID, links[1:]
		}
		t, err := w.c.store.TextOf(seq)
		if errors.Is(err, chitta.ErrNotFound) || err == nil && t.Body == "" {
			continue
		}
		if err != nil {
			return err
		}
		key.text = sha256.Sum256([]byte(t.Body))
		w.keys[seq] = key
		if w.cache.has(key) {
			w.resumed++
			continue
		}
		w.order = append(w.order, seq)
	}
	w.total = w.resumed + len(w.order)
	return nil
}

// embedAll computes what is missing, several at a time, and keeps each vector as
// soon as it is there.
func (w *reembedding) embedAll(ctx context.Context) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.working = time.Now()
	w.tell(Progress{Done: w.resumed, Total: w.total, Stage: stageEmbed})
	jobs := make(chan uint64)
	var workers sync.WaitGroup
	for range w.c.opts.Workers {
		workers.Go(func() {
			for seq := range jobs {
				if err := w.embed(working, seq); err != nil {
					stop(err)
				}
			}
		})
	}
feed:
	for _, seq := range w.order {
		select {
		case jobs <- seq:
		case <-working.Done():
			break feed
		}
	}
	close(jobs)
	workers.Wait()
	if err := context.Cause(working); err != nil {
		return err
	}
	if len(w.unread) > 0 && !w.how.LeaveOut {
		return w.unreadError()
	}
	return nil
}

const stageEmbed = "embed"

// embed computes one vector. What the embedder cannot read is noted; an error ends
// the work.
func (w *reembedding) embed(ctx context.Context, seq uint64) error {
	if ctx.Err() != nil {
		return nil
	}
	t, err := w.c.store.TextOf(seq)
	if err != nil {
		return err
	}
	v, err := w.try(ctx, t.Body)
	if err != nil && ctx.Err() == nil { // once more: a server may have stumbled
		v, err = w.try(ctx, t.Body)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return w.note(seq, err)
	}
	if err := w.cache.put(w.keys[seq], v); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.embedded++
	w.inARow = 0
	w.tell(Progress{
		Done: w.resumed + w.embedded + len(w.unread), Total: w.total, Stage: stageEmbed,
		PerMinute: 60 * float64(w.embedded) / time.Since(w.working).Seconds(),
	})
	return nil
}

func (w *reembedding) try(ctx context.Context, text string) ([]float32, error) {
	v, err := w.embedder.Embed(ctx, text)
	if err != nil {
		return nil, err
	}
	return v, fold.CheckVector(v, w.embedder.Dim())
}

// note counts an entry that the embedder cannot read. A vector of another
// dimension says that the embedder is not the one that it says it is.
func (w *reembedding) note(seq uint64, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread[seq] = err
	w.inARow++
	if w.first == 0 || seq < w.first {
		w.first = seq
	}
	many := len(w.unread)
	if w.how.LeaveOut {
		many = w.inARow
	}
	if errors.Is(err, fold.ErrDimension) || many > mostUnread {
		return w.unreadError()
	}
	return nil
}

func (w *reembedding) unreadError() error {
	return fmt.Errorf("%w: %d of %d entries, the first is %s: %w; nothing has changed, and what was computed is kept for the next try",
		ErrUnread, len(w.unread), w.total, formatID(w.keys[w.first].id), w.unread[w.first])
}

// vector is the new vector of the entry at seq, nil where it has none.
func (w *reembedding) vector(_ context.Context, seq uint64) ([]float32, error) {
	key, ok := w.keys[seq]
	if !ok || w.unread[seq] != nil {
		return nil, nil
	}
	return w.cache.get(key)
}

// heritageBy are the records of what the last sessions handed on, for a store
// under another embedder: the words of the last identity are embedded by it. What
// the session before that had to say is measured against nothing any more.
func (c *Companion) heritageBy(ctx context.Context, e Embedder) ([]chitta.Value, error) {
	n := c.lastClosed()
	var narrative []float32
	summary, err := c.lastSummary()
	if err == nil {
		narrative, err = identityBy(ctx, e, summary, map[string]embedded{}, 0)
	}
	if err != nil && !errors.Is(err, errNotNow) {
		return nil, fmt.Errorf("embed the identity: %w", err)
	}
	var out []chitta.Value
	for _, session := range []int{n - 1, n} {
		name := heritageName(session)
		data, err := c.store.Value(name)
		if errors.Is(err, chitta.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var h handed
		if err := unmarshal(name, data, &h); err != nil {
			return nil, err
		}
		h.Narrative = nil
		if session == n {
			for _, x := range narrative {
				h.Narrative = binary.LittleEndian.AppendUint32(h.Narrative, math.Float32bits(x))
			}
		}
		if data, err = json.Marshal(h); err != nil {
			return nil, fmt.Errorf("heritage: %w", err)
		}
		out = append(out, chitta.Value{Name: name, Data: data})
	}
	return out, nil
}
