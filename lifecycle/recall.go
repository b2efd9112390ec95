package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/diary"
)

// Recall finds entries by meaning and by words. An entry that holds the query
// letter for letter comes first; the others are ordered by the mean of their
// cosine and of the share of the query's words that they hold, where a rare
// word counts more than a common one.
func (c *Companion) Recall(ctx context.Context, q RecallQuery) ([]Recalled, error) {
	q, err := checked(q)
	if err != nil {
		return nil, err
	}
	if q.Reminded {
		return c.reminded(ctx, q)
	}
	state, hits, err := c.ranked(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	return c.answer(state, hits, q)
}

// ranked are the entries that a text finds by meaning and by words, the best first.
func (c *Companion) ranked(ctx context.Context, text string) (*fold.State, []*hit, error) {
	state, err := c.indexed(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, err := c.byWords(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	if err := c.byMeaning(ctx, state, text, found); err != nil {
		return nil, nil, err
	}
	hits := make([]*hit, 0, len(found))
	for _, h := range found {
		h.score = (max(0, h.similarity) + h.lexical) / 2
		if h.phrase {
			h.score++
		}
		if h.score > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b *hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq))
	})
	usual := usualSimilarity(state)
	for _, h := range hits {
		h.close = h.phrase || h.lexical >= enoughWords || h.similarity >= usual
	}
	return state, hits, nil
}

// reminded are the impressions that a text brings to mind, in that order: as
// many as the context of a life holds. Every row is looked at, so no index is waited
// for.
func (c *Companion) reminded(ctx context.Context, q RecallQuery) ([]Recalled, error) {
	var state *fold.State
	var taken sync.WaitGroup
	taken.Go(func() { state = c.store.Snapshot() }) // which needs nothing of the vector
	v, err := c.opts.Embedder.Embed(ctx, q.Text)
	taken.Wait()
	switch {
	case errors.Is(err, ErrModelAway), errors.Is(err, ErrModelAnswer):
		return nil, fmt.Errorf("%w: %w", ErrEmbedderAway, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	top, err := state.TopFor(v, state.Params.Reactivation.Context)
	if err != nil {
		return nil, err
	}
	hits := make([]*hit, len(top))
	for i, r := range top {
		hits[i] = &hit{
			seq: state.Impressions[r.Index].Sequence, similarity: dot(state.Vectors.Row(r.Index), v), score: r.Influence, close: true,
		}
	}
	return c.answer(state, hits, q)
}

const (
	// enoughWords is the share of a query's words, rare ones counting more, that
	// is more than the common words which every entry holds.
	enoughWords = 0.25
	// fewEntries is how many are too few to say what is usual among them.
	fewEntries = 8
)

// usualSimilarity is the mean cosine of two different entries, 0 for a store of
// few. It follows from the length of their sum, so it takes one look at each.
func usualSimilarity(state *fold.State) float64 {
	n := state.Vectors.Placed()
	if n < fewEntries {
		return 0
	}
	sum := make([]float64, state.Dim)
	for i := range state.Impressions {
		for j, x := range state.Vectors.Row(i) {
			sum[j] += float64(x)
		}
	}
	var square float64
	for _, x := range sum {
		square += float64(x * x)
	}
	return (square - float64(n)) / float64(n*(n-1))
}

func checked(q RecallQuery) (RecallQuery, error) {
	if strings.TrimSpace(q.Text) == "" {
		return q, fmt.Errorf("%w: it is empty", ErrQuery)
	}
	const longest = 8 << 10
	if len(q.Text) > longest {
		return q, fmt.Errorf("%w: it is longer than %d bytes", ErrQuery, longest)
	}
	if q.Limit == 0 {
		q.Limit = 10
	}
	if q.Limit < 1 || q.Limit > 100 {
		return q, fmt.Errorf("%w: limit %d is not from 1 to 100", ErrQuery, q.Limit)
	}
	for _, d := range []string{q.From, q.To} {
		if !partialDate(d) {
			return q, fmt.Errorf("%w: %q is not a date; write YYYY[-MM[-DD]], such as 2024 or 2024-05", ErrQuery, d)
		}
	}
	if n := min(len(q.From), len(q.To)); q.From[:n] > q.To[:n] {
		return q, fmt.Errorf("%w: from %s to %s is no span of time", ErrQuery, q.From, q.To)
	}
	return q, nil
}

// partialDate accepts YYYY, YYYY-MM, YYYY-MM-DD and nothing.
func partialDate(d string) bool {
	const whole = "0000-01-01"
	return d == "" || (len(d) == 4 || len(d) == 7 || len(d) == 10) && diary.ValidDate(d+whole[len(d):])
}

// maxWords bounds the words of a query, so that one mask holds them.
const maxWords = 64

// hit is an entry that may answer a query.
type hit struct {
	seq        uint64
	similarity float64
	lexical    float64
	phrase     bool
	close      bool
	score      float64
	words      uint64 // a bit for each word of the query that it holds
}

// byWords reads every text once and keeps the entries that hold any word.
func (c *Companion) byWords(ctx context.Context, query string) (map[uint64]*hit, error) {
	phrase := plain(query)
	words := wordsOf(phrase, maxWords)
	found := map[uint64]*hit{}
	having := make([]int, len(words))
	entries := 0
	err := c.store.Texts(0, func(seq uint64, t chitta.Text) error {
		entries++
		text := plain(t.Body)
		h := hit{seq: seq, phrase: strings.Contains(text, phrase)}
		for i, w := range words {
			if holds(text, w) {
				h.words |= 1 << i
				having[i]++
			}
		}
		if h.words != 0 || h.phrase {
			found[seq] = &h
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	var total float64
	rarity := make([]float64, len(words))
	for i, n := range having {
		rarity[i] = math.Log1p(float64(entries) / float64(1+n))
		total += rarity[i]
	}
	for _, h := range found {
		for i, r := range rarity {
			if h.words&(1<<i) != 0 {
				h.lexical += r / total
			}
		}
	}
	return found, nil
}

// indexed brings the index to the state of now, which it returns. One query
// does so at a time, and none while rows change: an older state would bring
// back what an edit has changed.
func (c *Companion) indexed(ctx context.Context) (*fold.State, error) {
	c.indexing.Lock()
	defer c.indexing.Unlock()
	state := c.store.Snapshot()
	return state, c.index.Update(ctx, state.Vectors)
}

// byMeaning adds the nearest impressions and measures those found by words.
func (c *Companion) byMeaning(ctx context.Context, state *fold.State, query string, found map[uint64]*hit) error {
	v, err := c.opts.Embedder.Embed(ctx, query)
	if err != nil {
		c.log.Debug("query without meaning, by words only", "error", err)
		return nil
	}
	const nearest = 100
	near, _ := c.index.Nearest(v, nearest)
	for _, n := range near {
		if n.Index >= len(state.Impressions) {
			continue // it came in since, with another query
		}
		seq := state.Impressions[n.Index].Sequence
		if found[seq] == nil {
			found[seq] = &hit{seq: seq}
		}
	}
	for seq, h := range found {
		if row, ok := rowOf(state, seq); ok {
			h.similarity = dot(state.Vectors.Row(row), v)
		}
	}
	return nil
}

// answer shows the best hits that lie within the dates asked for.
func (c *Companion) answer(state *fold.State, hits []*hit, q RecallQuery) ([]Recalled, error) {
	out := []Recalled{}
	for _, h := range hits {
		if len(out) == q.Limit {
			break
		}
		rests, err := c.closed(h.seq)
		if rests {
			continue
		}
		if err != nil && !errors.Is(err, chitta.ErrNotFound) {
			return nil, err
		}
		m, err := c.show(state, h.seq)
		if errors.Is(err, chitta.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if q.From != "" && (m.Date == "" || m.Date < q.From) || q.To != "" && (m.Date == "" || m.Date[:len(q.To)] > q.To) {
			continue
		}
		m.Excerpt = excerpt(m.Text, plain(q.Text))
		out = append(out, Recalled{Rank: len(out) + 1, Score: h.score, Similarity: h.similarity, Lexical: h.lexical, Phrase: h.phrase, Close: h.close, Impression: m})
	}
	return out, nil
}

// excerpt shows a text round the first place that holds a word of the query.
func excerpt(text, query string) string {
	const letters = 200
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= letters {
		return string(line)
	}
	lower := []rune(strings.ToLower(string(line)))
	at := 0
	if len(lower) == len(line) { // some letters change their length with their case
		for _, w := range append([]string{query}, longestFirst(wordsOf(query, maxWords))...) {
			if i := strings.Index(string(lower), w); i >= 0 {
				at = len([]rune(string(lower)[:i]))
				break
			}
		}
	}
	from := max(0, min(at-letters/4, len(line)-letters))
	out := string(line[from:min(len(line), from+letters)])
	if from > 0 {
		out = "…" + out
	}
	if from+letters < len(line) {
		out += "…"
	}
	return out
}

func longestFirst(words []string) []string {
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return words
}

func dot(a, b []float32) float64 {
	var s float64
	for i := range a {
		s += float64(float64(a[i]) * float64(b[i]))
	}
	return s
}
