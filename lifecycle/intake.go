package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/diary"
)

// DefaultCategory is the consent category of what is written and names none; what is said
// is of another, see consent.OfSource.
const DefaultCategory = "behavioural"

// policy says how a note finds its session.
type policy int

const (
	// live notes belong to the session of today.
	live policy = iota
	// history notes belong to the session of their own date.
	history
)

// prepared is a note that was embedded and judged, ready for the fold.
type prepared struct {
	note      Note
	key       fold.Key
	embedding []float32
	opinion   opinion
	// answer is what was answered to it in a conversation, by is who did.
	answer, by string
	// heard are words of the person that the answer may repeat.
	heard []string
	// told is how often the store had been written anew then, nil where it is not known.
	told *uint64
	// own is the share of its words that are the companion's own, in [0,1].
	own float64
	// known says that the note was in the store when it was prepared.
	known bool
	// replaces is the sequence of the entry that this note is an edit of.
	replaces uint64
	policy   policy
	// allowed is what the person allowed when it was said or written; see Allowance.
	allowed Allowance
	// behind has the model asked when the entry is kept, and not before.
	behind bool
	// day names the session of a history note; it may be known where the
	// entry's own date is not.
	day string
	// source is what is now seen of the file that the note came from; the last
	// note of the file has it written. place is the note's own place in it.
	source *chitta.Source
	place  int
	last   bool
	// course, if not nil, is what the note is part of.
	course *course
	began  time.Time
	judged time.Duration
	// queued is when it was put into the queue, preparing how long it was prepared.
	queued    time.Time
	preparing time.Duration
}

// course is an import on its way, or what changed in the diary. Its days are
// remembered in order, so where the store fails at one note, those behind it are
// given up: they would stand before it when it is tried again. Only the worker
// touches it.
type course struct {
	broken error
	// strict gives them up after any fault, those of the note itself too.
	strict bool
}

// run lets one note of it be remembered, unless an earlier one was not.
func (o *course) run(remember func() error) error {
	if o == nil {
		return remember()
	}
	if o.broken != nil {
		return o.broken
	}
	err := remember()
	if o.strict || !errors.Is(err, ErrUnjudged) { // that is the note's own fault, and keeps no other out
		o.broken = err
	}
	return err
}

// Write remembers one note in the session of today. When it returns without an
// error the note is durable.
func (c *Companion) Write(ctx context.Context, n Note) (Receipt, error) {
	if n.Date == "" {
		n.Date = c.today()
	}
	if n.Source == "" {
		n.Source = "write"
	}
	p, err := c.newPrepared(n, live)
	if err != nil {
		return Receipt{}, err
	}
	r, err := c.submit(ctx, interactive, p)
	if err != nil {
		return Receipt{}, err
	}
	return r.wait(ctx)
}

// newPrepared checks a note before any work is done for it.
func (c *Companion) newPrepared(n Note, how policy) (*prepared, error) {
	if IsEmpty(n.Text) {
		return nil, ErrEmpty
	}
	if len(n.Text) > MaxNote {
		return nil, ErrTooLong
	}
	if n.Date != "" && !diary.ValidDate(n.Date) {
		return nil, fmt.Errorf("%w: %q", ErrDate, n.Date)
	}
	if n.Category == "" {
		n.Category = consent.OfSource(n.Source).String()
	}
	n.Text = strings.ToValidUTF8(n.Text, "\uFFFD")
	n.Source = clip(strings.ToValidUTF8(n.Source, "\uFFFD"), 512)
	n.Category = clip(strings.ToValidUTF8(n.Category, "\uFFFD"), 64)
	return &prepared{note: n, key: fold.Key(diary.Key(n.Date, n.Text)), policy: how, allowed: c.Allowed(), began: time.Now()}, nil
}

// forgotten tells of a note that was taken out before and not written anew since.
func (c *Companion) forgotten(p *prepared) bool {
	if _, there := c.store.Has(p.key); there {
		return false
	}
	return c.store.ExcisedKey(p.key)
}

// settle notes in the record of the file which event the note became.
func (p *prepared) settle(seq uint64) {
	if p.source != nil {
		p.source.Entries[p.place].Sequence = seq
	}
}

// IsEmpty tells whether a text has nothing to remember: nothing in it that a reader sees.
func IsEmpty(text string) bool { return !strings.ContainsFunc(text, visible) }

// visible tells of characters that a reader sees.
func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// pending is a note on its way.
type pending struct {
	task    *task
	receipt Receipt
}

func (p *pending) wait(ctx context.Context) (Receipt, error) {
	select {
	case err := <-p.task.done:
		return p.receipt, err
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	}
}

// submit queues a note: embedding and judging ahead, then the fold in its turn.
func (c *Companion) submit(ctx context.Context, l line, p *prepared) (*pending, error) {
	r := &pending{}
	hurry, press := context.WithCancel(context.Background())
	p.queued = time.Now()
	r.task = &task{
		hurry: press,
		prepare: func(ctx context.Context) error {
			defer press()
			began := time.Now()
			defer func() { p.preparing = time.Since(began) }()
			return c.prepare(ctx, p, hurry)
		},
		run: func(ctx context.Context, err error) error {
			c.meters.took(StageWait, time.Since(p.queued)-p.preparing)
			return p.course.run(func() error {
				if err == nil {
					r.receipt, err = c.experience(ctx, p)
				}
				return err
			})
		},
	}
	if err := c.queue.put(ctx, l, r.task); err != nil {
		press()
		return nil, err
	}
	return r, nil
}

// prepare embeds and judges, unless the note is known already. Neither is asked about a note
// whose leave was withdrawn before.
func (c *Companion) prepare(ctx context.Context, p *prepared, hurry context.Context) error {
	if err := c.stillAllowed(p); err != nil {
		return err
	}
	if _, p.known = c.store.Has(p.key); p.known {
		return nil
	}
	var err error
	embedding := time.Now()
	if p.embedding, err = c.embed(ctx, p.note.Text); err != nil {
		return err
	}
	judging := time.Now()
	c.meters.took(StageEmbed, judging.Sub(embedding))
	if err := c.stillAllowed(p); err != nil {
		return err
	}
	if p.opinion, err = c.judge(ctx, p, hurry); err != nil {
		return fmt.Errorf("%w: judge: %w", ErrUnjudged, err)
	}
	p.own = c.ownShare(p.note.Text)
	p.opinion.Judgement = lessened(p.opinion.Judgement, p.own)
	if err := fold.CheckJudgement(p.opinion.Judgement); err != nil {
		return fmt.Errorf("%w: judge: %w", ErrUnjudged, err)
	}
	p.judged = time.Since(judging)
	c.meters.took(StageJudge, p.judged)
	return nil
}

// experience is the heart of the worker: find or open the session, make the
// event durable, fold it, answer.
func (c *Companion) experience(ctx context.Context, p *prepared) (Receipt, error) {
	if err := c.stillAllowed(p); err != nil {
		return Receipt{}, err
	}
	if p.told != nil && *p.told != c.store.Meta().Generation {
		p.answer, p.by, p.heard = "", "", nil // they may speak of what is forgotten by now
	}
	if seq, known := c.store.Has(p.key); known {
		return c.known(ctx, p, seq)
	}
	if p.embedding == nil { // it was known when its turn to be prepared came, and was edited since
		if err := c.prepare(ctx, p, ctx); err != nil {
			return Receipt{}, err
		}
	}
	if p.replaces != 0 && c.buried(p.replaces) {
		p.replaces = 0 // buried since: what the person makes of it now is a new entry
	}
	if p.replaces != 0 {
		return c.edit(ctx, p)
	}
	if p.policy == live && c.estranged(false) { // it is an entry of the next life
		if err := c.endIfOver(ctx); err != nil {
			c.problem(fmt.Sprintf("the life that is over could not be ended; it is tried again: %v", err))
		}
	}
	b, err := c.ensureSession(ctx, p)
	if err != nil {
		return Receipt{}, err
	}
	if p.policy == live {
		c.bear(ctx)
	}
	body := fold.Experienced{
		ID: c.freshID(p), Key: p.key, Date: p.note.Date, Source: p.note.Source, Category: p.note.Category,
		Embedder: c.opts.Embedder.ID(), Embedding: p.embedding, Judgement: p.opinion.Judgement, AlwaysCreate: !c.opts.MergeAlike,
	}
	entry, err := c.kept(body, p.note, p.opinion.Category)
	if err != nil {
		return Receipt{}, err
	}
	entry.Text, entry.Beside = p.beside(p.opinion.unsaid(c, p.opinion.told).said(entry.Text)), p.opinion.owes(entry)
	b.Entries = append(b.Entries, entry)
	if p.answer != "" {
		v, err := c.ownWords(p)
		if err != nil {
			return Receipt{}, err
		}
		b.Values = append(b.Values, v)
	}
	if p.last {
		p.source.Entries[p.place].FromBatch = len(b.Entries)
		b.Sources = []chitta.Source{*p.source}
	}
	results, err := c.appendLived(ctx, p, b)
	if err != nil {
		return Receipt{}, err
	}
	p.settle(results[len(results)-1].Sequence)
	c.propose(ctx, results[len(results)-1].Sequence, p.opinion.Assessment, p.opinion.told)
	c.life.touch(p)
	if p.opinion.behind {
		c.judgeBehind(turnBehind{
			seq: results[len(results)-1].Sequence, key: p.key, note: p.note, own: p.own,
			owes: entry.Beside != nil, wordless: entry.Text == nil,
		})
	}
	if p.opinion.owed {
		c.reassessSoon()
	}
	out := c.receipt(results[len(results)-1], body)
	out.Unjudged = p.opinion.behind
	out.Withheld, out.Allow = c.withheld(p.note, p.opinion.Category)
	c.noteWithheld(out.Withheld)
	if p.policy == live && c.overBy() != "" { // the entry was the last of its life
		if err := c.endIfOver(ctx); err != nil {
			c.problem(fmt.Sprintf("the life that is over could not be ended; it is tried again: %v", err))
		}
	}
	return out, nil
}

// known answers for an entry that is in the store already; only the record of
// its file may be new, and what was answered to it.
func (c *Companion) known(ctx context.Context, p *prepared, seq uint64) (Receipt, error) {
	p.settle(seq)
	if p.policy == live && p.source == nil { // to this life it may be new
		c.lives.Met(append(c.heardFor(p), p.note.Text), p.answer)
	}
	var b chitta.Batch
	if p.last {
		b.Sources = []chitta.Source{*p.source}
	}
	if p.answer != "" {
		v, err := c.ownWords(p)
		if err != nil {
			return Receipt{}, err
		}
		b.Values = []chitta.Value{v}
	}
	if len(b.Sources)+len(b.Values) > 0 {
		if _, err := c.store.Append(ctx, b); err != nil {
			return Receipt{}, err
		}
	}
	e, err := c.store.EventAt(seq)
	if err != nil {
		return Receipt{}, err
	}
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return Receipt{}, fmt.Errorf("event %d: %w", seq, ErrNotFound)
	}
	return Receipt{Event: formatID(x.ID), Duplicate: true, Assessor: x.Judgement.Assessor, Shares: sharesOf(x.Judgement.Guna)}, nil
}

// edit replaces an earlier entry by what the person made of it.
func (c *Companion) edit(ctx context.Context, p *prepared) (Receipt, error) {
	body := fold.Superseded{Target: p.replaces, Key: p.key, Embedding: p.embedding, Embedder: c.opts.Embedder.ID(), Judgement: p.opinion.Judgement}
	entry, err := c.kept(body, p.note, p.opinion.Category)
	if err != nil {
		return Receipt{}, err
	}
	entry.Text, entry.Beside = p.beside(p.opinion.unsaid(c, p.opinion.told).said(entry.Text)), p.opinion.owes(entry)
	b := chitta.Batch{Entries: []chitta.Entry{entry}}
	if b.Values, err = c.namesFrom(p.replaces); err != nil {
		return Receipt{}, err
	}
	p.settle(p.replaces)
	if p.last {
		b.Sources = []chitta.Source{*p.source}
	}
	row := 0
	if err := c.store.View(func(s *fold.State) error { row = rowAt(s, p.replaces); return nil }); err != nil {
		return Receipt{}, err
	}
	if _, err := c.appendEntry(ctx, p, b); err != nil {
		return Receipt{}, err
	}
	if p.policy == live {
		c.lives.Met([]string{p.note.Text}, "")
	}
	c.proposeAnew(ctx, p.replaces, p.opinion.Assessment, p.opinion.told)
	c.forgetRows(row)
	c.forgetNames()
	c.life.edited = true
	e, err := c.store.EventAt(p.replaces)
	if err != nil {
		return Receipt{}, err
	}
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return Receipt{}, errors.New("the edited event is no experience")
	}
	return Receipt{Event: formatID(x.ID), Created: true, Assessor: x.Judgement.Assessor, Shares: sharesOf(x.Judgement.Guna)}, nil
}

func (c *Companion) receipt(r chitta.Result, x fold.Experienced) Receipt {
	out := Receipt{
		Event: formatID(x.ID), Duplicate: r.Duplicate, Created: r.Outcome.Created,
		Reactivate: len(r.Outcome.Fired), Soft: len(r.Outcome.Softened), Suppressed: len(r.Outcome.Suppressed),
		Weight: r.Outcome.Weight, Focus: r.Outcome.Reading.Focus, Theta: r.Outcome.Reading.Effective,
		Novelty: r.Outcome.Novelty, Match: r.Outcome.Match,
		Shares: sharesOf(x.Judgement.Guna), Assessor: x.Judgement.Assessor,
	}
	_ = c.store.View(func(s *fold.State) error { out.Session = int(s.Session.Number); return nil })
	return out
}

// freshID finds an id that no entry has: an entry that was edited keeps its id,
// so its first wording may come again as another entry.
func (c *Companion) freshID(p *prepared) fold.ID {
	var id fold.ID
	_ = c.store.View(func(s *fold.State) error {
		for again := 0; ; again++ {
			id = eventID(p.note.Date, p.key, again)
			if !hasID(s, id) {
				return nil
			}
		}
	})
	return id
}

func hasID(s *fold.State, id fold.ID) bool {
	for i := range s.Impressions {
		if s.Impressions[i].ID == id {
			return true
		}
	}
	for i := range s.Links {
		if s.Links[i].ID == id {
			return true
		}
	}
	return false
}

// clip cuts a string to at most n bytes at a letter border.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
