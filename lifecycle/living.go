package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul"
	"github.com/jivad/jivad/soul/lineage"
)

// A life is lived beside a session of today: it is born with the first entry or word of
// one, and ends with it. What is imported from history, and what a verb writes while no
// daemon runs, is remembered and is no part of a life. Where a birth lacks something the
// person's entries are taken in all the same; nothing is acted then.

// ManifestFile is the manifest's name in the data folder.
const ManifestFile = "manifest.toml"

// records is the store as a projection keeps its records in it.
type records struct{ c *Companion }

func (r records) Value(name string) ([]byte, error) {
	data, err := r.c.store.Value(name)
	if errors.Is(err, chitta.ErrNotFound) {
		err = fmt.Errorf("%w: %w", projection.ErrNotFound, err)
	}
	return data, err
}

func (r records) Values(prefix string, f func(name string, data []byte) error) error {
	return r.c.store.Values(prefix, f)
}

func (r records) Put(ctx context.Context, values ...projection.Value) error {
	_, err := r.c.store.Append(ctx, chitta.Batch{Values: valuesOf(values)})
	return err
}

func valuesOf(values []projection.Value) []chitta.Value {
	out := make([]chitta.Value, len(values))
	for i, v := range values {
		out[i] = chitta.Value(v)
	}
	return out
}

// valueCopies is there while copies of the store are to be removed that hold what was
// excised.
const valueCopies = "lineage/copies"

// Rewrite writes the store anew. That copies of before are to go is written with it. Where
// more notes that SOUL.md is cleared of rules, what was said by who knew them goes too.
func (r records) Rewrite(ctx context.Context, f func(projection.Value) ([]byte, error), more ...projection.Value) error {
	since, err := r.c.saidWithRules(ctx, more)
	if err != nil {
		return err
	}
	return r.c.store.RewriteUnsaid(ctx, since, func(old []chitta.Value) ([]chitta.Value, error) {
		fresh := map[string]bool{valueCopies: true}
		for _, v := range more {
			fresh[v.Name] = true
		}
		var out []chitta.Value
		for _, v := range old {
			data, err := f(projection.Value(v))
			if err != nil {
				return nil, err
			}
			if data != nil && !fresh[v.Name] {
				out = append(out, chitta.Value{Name: v.Name, Data: data})
			}
		}
		for _, v := range more {
			if v.Data != nil {
				out = append(out, chitta.Value(v))
			}
		}
		return append(out, chitta.Value{Name: valueCopies, Data: []byte("1")}), nil
	})
}

// openLives reads the lives and the lineage of the companion. Where lives are lived here,
// one that a crash broke off is withdrawn and distilled first.
func (c *Companion) openLives(ctx context.Context) error {
	root, err := uuid.Parse(c.store.Meta().ID)
	if err != nil {
		return fmt.Errorf("the id of the store: %w", err)
	}
	c.lives, err = projection.Open(ctx, projection.Options{
		Dir: c.opts.Dir, Store: records{c}, Root: lineage.ID(root), Manifest: c.readManifest, Found: c.found, Idle: c.opts.Idle,
		Seen: c.seenIn, Gate: c.gated, Ask: c.ask, Publisher: c.opts.Publisher, Now: c.opts.Now, Log: c.log,
		LookOnly: !c.opts.Lives || c.opts.LookOnly,
	})
	if err != nil || !c.opts.Lives {
		return err
	}
	if err := c.dropCopies(ctx); err != nil {
		return err
	}
	if _, err := c.lives.Distil(ctx, nil); err != nil {
		c.problem(fmt.Sprintf("a life of before could not be distilled; it is tried again: %v", err))
	}
	return nil
}

// dropCopies removes copies of the store that hold what was excised.
func (c *Companion) dropCopies(ctx context.Context) error {
	if _, err := c.store.Value(valueCopies); errors.Is(err, chitta.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	if _, left := c.store.DropCopies(); len(left) > 0 {
		c.problem("these copies may hold what was excised, and could not be removed: " + strings.Join(left, ", "))
		return nil
	}
	_, err := c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{{Name: valueCopies}}})
	return err
}

// readManifest reads what the next life is to be born with; where there is no file, that
// of a new companion.
func (c *Companion) readManifest() (manifest.Manifest, error) {
	path := c.opts.Manifest
	if path == "" {
		path = filepath.Join(c.opts.Dir, ManifestFile)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest.Default(), nil
	}
	if err != nil {
		return manifest.Manifest{}, err
	}
	return manifest.Parse(path, string(data))
}

// found tells what of a manifest is there.
func (c *Companion) found(_ context.Context, m manifest.Manifest) manifest.Found {
	f := manifest.Found{Embedder: manifest.Model{ID: c.opts.Embedder.ID()}}
	_ = c.store.View(func(s *fold.State) error { f.StoreEmbedder.ID = s.Embedder; return nil })
	f.Chat = c.chatFor(m)
	set, err := tools.Resolve(m.Tools, tools.Surroundings{Workplace: filepath.Join(c.opts.Dir, "life"), Broker: c.opts.Publisher != nil})
	f.Tools = set
	if !errors.As(err, &f.ToolFaults) && err != nil {
		f.ToolFaults = tools.Faults{{What: err.Error()}}
	}
	return f
}

// chatFor is the chat model as it is now, for a manifest.
func (c *Companion) chatFor(m manifest.Manifest) manifest.Chat {
	if c.opts.Model == nil {
		return manifest.Chat{}
	}
	s := c.opts.Model.State()
	out := manifest.Chat{Configured: s.Name, Digest: s.Digest, Away: s.Away}
	if unmet(s) {
		out.Away = "its server has not said yet which model it has"
	}
	if out.Away != "" && s.Server != "" {
		out.Away = s.Server + ": " + out.Away
	}
	if out.Away == "" && (m.Substrate.Chat == "" || m.Substrate.Chat == s.Name) {
		out.Name = s.Name
	}
	return out
}

// seenIn are the texts of a session, and among them what was said to the companion: no
// rule of its life may repeat them.
func (c *Companion) seenIn(session int) (seen, said []string, err error) {
	err = c.store.Experiences(context.Background(), func(x chitta.Experience) error {
		if int(x.Session) != session {
			return nil
		}
		t, _, err := c.textOf(x.Sequence)
		if errors.Is(err, chitta.ErrNotFound) || err == nil && t.Body == "" {
			return nil
		}
		if strings.HasPrefix(x.Source, sourceChat) {
			said = append(said, t.Body)
		} else {
			seen = append(seen, t.Body)
		}
		return err
	})
	return seen, said, err
}

// bear sees that a life is lived, where lives are. What a birth lacks is told in status
// and keeps nothing from being remembered.
func (c *Companion) bear(ctx context.Context) {
	if !c.opts.Lives {
		return
	}
	if _, ok := c.lives.Living(); ok {
		return
	}
	c.meetModel(ctx)
	c.days.bornNow(c.readClock())
	if err := c.lives.Birth(ctx); err != nil && ctx.Err() == nil {
		c.problem(err.Error())
	}
}

// appendLived writes an entry, and in the same transaction that the life has it.
func (c *Companion) appendLived(ctx context.Context, p *prepared, b chitta.Batch) (results []chitta.Result, err error) {
	if p.policy != live {
		return c.appendEntry(ctx, p, b)
	}
	number := int(c.session().Number)
	for _, e := range b.Entries {
		if opened, ok := e.Body.(fold.SessionOpened); ok {
			number = int(opened.Number)
		}
	}
	said := strings.HasPrefix(p.note.Source, sourceChat)
	err = c.lives.Entry(number, p.note.Text, said, func(life []projection.Value) error {
		b.Values = append(b.Values, valuesOf(life)...)
		results, err = c.appendEntry(ctx, p, b)
		return err
	})
	if err != nil {
		return results, err
	}
	if said {
		c.lives.Met(c.heardFor(p), p.answer)
	}
	c.measureGap(ctx, number)
	return results, nil
}

// heardFor is what an answer could know of: what was recalled for it, and of the person's
// words what SOUL.md quotes.
func (c *Companion) heardFor(p *prepared) []string {
	doc, err := c.lastWritten()
	if err != nil {
		return p.heard
	}
	_, quoted := partsOf(string(doc))
	return append([]string{quoted}, p.heard...)
}

// Act does what a model asks for with a tool, where the life may (J-2): see
// projection.Projections.Act. What a tool gave that reads an instrument becomes evidence.
// Where a bound of the life is reached by it, the life ends.
func (c *Companion) Act(ctx context.Context, call tools.Call) (projection.Acted, error) {
	return c.acted(ctx, call, func() (projection.Acted, error) { return c.lives.Act(ctx, call) })
}

func (c *Companion) acted(ctx context.Context, call tools.Call, act func() (projection.Acted, error)) (projection.Acted, error) {
	c.bear(ctx)
	out, err := act()
	if err == nil {
		c.resulted(context.WithoutCancel(ctx), call.Tool, out)
	}
	if err == nil && c.lives.Over(false) != "" {
		err = c.do(context.WithoutCancel(ctx), interactive, c.endIfOver)
	}
	return out, err
}

// Offers are the tools that the life may use, whoever thinks in it.
func (c *Companion) Offers(ctx context.Context) []tools.Offer {
	c.bear(ctx)
	return c.lives.Offers()
}

// measureGap tells the life how far its session is from the identity, where it has a
// bound for that.
func (c *Companion) measureGap(ctx context.Context, number int) {
	l, ok := c.lives.Living()
	if !ok || l.Bounds.WitnessGap == 0 {
		return
	}
	state := c.store.Snapshot()
	past, err := c.heritageOf(ctx, number-1, state)
	if err != nil {
		return
	}
	if gap, err := c.witnessGap(state, past.narrative); err == nil && gap != nil {
		c.lives.Gap(*gap)
	}
}

// endLife ends a life that has no session of its own.
func (c *Companion) endLife(ctx context.Context, reason string) error {
	if _, ok := c.lives.Living(); !ok {
		return nil
	}
	defer c.distilEnded(ctx)
	return c.lives.Withdraw(reason, func(values []projection.Value) error { return records{c}.Put(ctx, values...) })
}

// livesIn tells whether the life that is lived ends with a session.
func (c *Companion) livesIn(session int) bool {
	l, ok := c.lives.Living()
	return ok && l.Session == session
}

// overBy tells why the life is to end, by its own bounds; empty while it is not.
func (c *Companion) overBy() string {
	l, ok := c.lives.Living()
	if !ok {
		return ""
	}
	var nextDay bool
	if s := c.session(); s.Open && int(s.Number) == l.Session {
		nextDay = c.sessionDay(s) != c.today()
	} else { // it has no session
		nextDay = c.lifeDay(l, c.opts.DayStartsAt) != c.today()
	}
	if at, ok := c.lives.RollAt(); ok {
		now, _ := c.opts.Now()
		nextDay = nextDay || c.lifeDay(l, at) != localDay(now, c.opts.Location, at)
	}
	if over := c.lives.Over(nextDay); over != "" {
		return over
	}
	if c.estranged(false) {
		return lives.ByMind
	}
	return ""
}

// distilEnded distils a life that has ended: at once by rules; where a model is to word
// them, as soon as that has time.
func (c *Companion) distilEnded(ctx context.Context) {
	if c.ruleWriter() != nil {
		c.distilSoon()
		return
	}
	defer c.soulMoved(context.WithoutCancel(ctx))
	if _, err := c.lives.Distil(context.WithoutCancel(ctx), nil); err != nil {
		c.problem(fmt.Sprintf("a life could not be distilled; it is tried again: %v", err))
	}
}

// distilSoon has what lives left be distilled.
func (c *Companion) distilSoon() {
	select {
	case c.distilling <- struct{}{}:
	default:
	}
}

// distilAll distils what lives left, as it comes due, until ctx ends.
func (c *Companion) distilAll(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	saved := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-c.distilling:
		}
		if _, err := c.lives.Distil(ctx, c.ruleWriter()); err != nil && ctx.Err() == nil {
			c.problem(fmt.Sprintf("a life could not be distilled: %v", err))
		}
		c.soulMovedSoon(ctx, backlog)
		const often = 10 * time.Minute
		if time.Since(saved) >= often {
			saved = time.Now()
			if err := c.lives.Save(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("how long the life has run was not written", "error", err)
			}
		}
	}
}

// settleLives does at a stop what can be done without a model.
func (c *Companion) settleLives(ctx context.Context) error {
	if !c.opts.Lives {
		return c.lives.Close()
	}
	if _, err := c.lives.Distil(ctx, nil); err != nil {
		c.log.Warn("a life is distilled at the next start", "error", err)
	}
	c.soulMoved(ctx)
	return errors.Join(c.lives.Save(ctx), c.lives.Close())
}

// rulesOf are the rules of a version of the lineage as SOUL.md says them, and the
// contested ones of them.
func (c *Companion) rulesOf(version string) (rules, unresolved []string) {
	d, err := lineage.DigestOf(version)
	if err != nil || c.lives == nil {
		return nil, nil
	}
	text, err := c.lives.RenderAt(d)
	if err != nil {
		return nil, nil
	}
	return linesOf(text)
}

// linesOf are the rules of a rendering, and the contested ones of them.
func linesOf(rendered string) (rules, unresolved []string) {
	for line := range strings.Lines(rendered) {
		line, found := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case !found:
		case strings.HasSuffix(line, ", or not?"):
			unresolved = append(unresolved, line)
		default:
			rules = append(rules, line)
		}
	}
	return rules, unresolved
}

// noteLineage notes where the lineage is, and how far it moved since the session before.
func (c *Companion) noteLineage(r *soul.Record) {
	if c.lives == nil {
		return
	}
	if k := c.lives.Known(); k.Identity != (lineage.Digest{}) {
		r.Lineage = k.Head.String()
	}
	momentum, _ := c.lives.TakeMoved()
	r.Kappa = float64(momentum) / lineage.Million
}

// identityText names the identity (AD-1) as a session knew it that ended at a version of the
// lineage: where there was none yet, the root of it.
func (c *Companion) identityText(version string) string {
	if c.lives != nil && version != "" {
		if k := c.lives.Known(); k.Identity != (lineage.Digest{}) {
			return k.Identity.String()
		}
	}
	return c.store.Meta().ID
}

// Lives are those of this device, the newest first.
func (c *Companion) Lives(_ context.Context, most int) ([]lives.Life, error) {
	return c.lives.Lives(most)
}

// Lineage is what there is to know of the lineage at a glance.
func (c *Companion) Lineage(context.Context) (projection.Known, error) { return c.lives.Known(), nil }

// Rate notes how the person judged a life; see projection.Projections.Rate. valence is in
// [-1, 1].
func (c *Companion) Rate(ctx context.Context, life int64, valence float64) (lives.Life, error) {
	return c.RateWith(ctx, life, valence, "")
}

// mostNote is how much a person may say to a rating, in characters.
const mostNote = 500

// RateWith is Rate with what the person says to it; see projection.Projections.RateWith.
// note is one of at most 500 characters.
func (c *Companion) RateWith(ctx context.Context, life int64, valence float64, note string) (lives.Life, error) {
	if note = strings.TrimSpace(strings.ToValidUTF8(note, "\uFFFD")); utf8.RuneCountInString(note) > mostNote {
		return lives.Life{}, fmt.Errorf("%w: a note to a rating may have %d characters, and this one has %d", ErrQuery, mostNote, utf8.RuneCountInString(note))
	}
	if !(valence >= -1 && valence <= 1) {
		return lives.Life{}, fmt.Errorf("%w: a rating is from -1 to 1", ErrQuery)
	}
	rounded := int64(valence*lineage.Million + 0.5)
	if valence < 0 {
		rounded = -int64(-valence*lineage.Million + 0.5)
	}
	l, err := c.lives.RateWith(ctx, life, rounded, note)
	if err == nil {
		c.soulMovedSoon(context.WithoutCancel(ctx), interactive)
	}
	return l, err
}
