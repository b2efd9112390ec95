package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/soul"
)

// Show returns one entry by its id or the beginning of it.
func (c *Companion) Show(_ context.Context, id string) (Impression, error) {
	state := c.store.Snapshot()
	id, err := partOfID(id)
	if err != nil {
		return Impression{}, err
	}
	var seq uint64
	matches := 0
	consider := func(have fold.ID, at uint64) {
		if isPart(formatID(have), id) {
			matches++
			seq = at
		}
	}
	for i := range state.Impressions {
		consider(state.Impressions[i].ID, state.Impressions[i].Sequence)
	}
	for _, l := range state.Links {
		consider(l.ID, l.Sequence)
	}
	switch matches {
	case 0:
		return Impression{}, unknownID(id)
	case 1:
		return c.show(state, seq)
	}
	return Impression{}, ambiguousID(id)
}

// show gathers what is known of the entry at seq.
func (c *Companion) show(state *fold.State, seq uint64) (Impression, error) {
	e, err := c.store.EventAt(seq)
	if err != nil {
		return Impression{}, err
	}
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return Impression{}, fmt.Errorf("event %d: %w", seq, chitta.ErrNotFound)
	}
	out := Impression{
		ID: formatID(x.ID), Date: x.Date, Source: x.Source, Category: x.Category,
		Valence: x.Judgement.Valence, Intensity: x.Judgement.Intensity, Emotion: x.Judgement.Emotion,
		Assessor: x.Judgement.Assessor, Shares: sharesOf(x.Judgement.Guna),
	}
	t, kept, err := c.textOf(seq)
	if err != nil {
		return out, err
	}
	out.Text, out.Kept = t.Body, kept
	out.Summary, out.Reason, out.Answer, out.By = t.Summary, t.Reason, t.Answer, t.By
	if row, ok := rowOf(state, seq); ok {
		m := state.Impressions[row]
		out.Session, out.LastSession, out.Activations = int(m.Born), int(m.Last), int(m.Activations)
		out.Age, out.Peak, out.Shares, out.Unplaced = int(state.Age(row)), m.Peak, sharesOf(m.Guna), m.Unplaced
		if out.Depth, err = state.Depth(row); err != nil {
			return out, err
		}
		if !m.Buried {
			out.BuryAt = int(m.BuryAt)
		}
		out.Tendency = c.tendencyOf(m.ID)
	} else if l, ok := linkOf(state, seq); ok {
		for _, row := range l.Acted {
			out.Linked = append(out.Linked, formatID(state.Impressions[row].ID))
		}
	}
	return out, nil
}

// tendencyOf names the tendency that an impression belonged to when the last
// session ended, or nothing.
func (c *Companion) tendencyOf(id fold.ID) string {
	session, generation := c.lastClosed(), c.store.Meta().Generation
	c.mu.RLock()
	known := c.tendencyNames
	c.mu.RUnlock()
	if known == nil || known.session != session || known.generation != generation {
		found, err := c.shownTendencies(session)
		if err != nil {
			return ""
		}
		known = &tendencyNames{session: session, generation: generation, of: map[fold.ID]string{}}
		for _, v := range found {
			for _, k := range v.Keys {
				if _, ok := known.of[k]; !ok {
					known.of[k] = v.Name
				}
			}
		}
		c.mu.Lock()
		c.tendencyNames = known
		c.mu.Unlock()
	}
	return known.of[id]
}

// tendencyNames are the tendencies at the end of a session, by their members.
type tendencyNames struct {
	session    int
	generation uint64
	of         map[fold.ID]string
}

func (c *Companion) lastClosed() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.records) == 0 {
		return 0
	}
	return c.records[len(c.records)-1].Session
}

// Vasanas lists the tendencies as the last session left them, strongest first.
func (c *Companion) Vasanas(context.Context) ([]Tendency, error) {
	number := c.lastClosed()
	found, err := c.shownTendencies(number)
	if err != nil {
		return nil, err
	}
	past, err := c.tendenciesOf(number - 1)
	if err != nil {
		return nil, err
	}
	out := []Tendency{}
	for _, v := range found {
		t := tendency(v.Vasana, past)
		t.NamedBy = v.by
		out = append(out, t)
	}
	return out, nil
}

func tendency(v vasana.Vasana, past []vasana.Vasana) Tendency {
	t := Tendency{
		ID: v.ID, Name: v.Name, Members: []string{}, Shares: sharesOf(v.Guna), Coherence: v.Coherence, Hardness: v.Hardness,
		Influence: v.Influence, FirstSession: v.FirstSession, LastSession: v.LastSession, Trend: direction(v, past),
	}
	for _, k := range v.Keys {
		t.Members = append(t.Members, formatID(k))
	}
	return t
}

// Trend returns the records of the last sessions, oldest first; last 0 means all.
func (c *Companion) Trend(_ context.Context, last int) ([]soul.Record, error) {
	if last < 0 {
		return nil, fmt.Errorf("%w: %d sessions", ErrQuery, last)
	}
	all := c.before(c.lastClosed() + 1)
	if last > 0 && len(all) > last {
		all = all[len(all)-last:]
	}
	return all, nil
}

// Sessions lists the closed sessions, oldest first, and the open one.
func (c *Companion) Sessions(context.Context) ([]SessionReport, error) {
	out := c.sessions()
	return out, c.withLives(out)
}

// sessions are they, without the lives that were lived in them.
func (c *Companion) sessions() []SessionReport {
	c.mu.RLock()
	out := make([]SessionReport, 0, len(c.records)+1)
	for _, r := range c.records {
		out = append(out, closedReport(r))
	}
	c.mu.RUnlock()
	if s := c.session(); s.Open {
		if n := len(out); n > 0 && out[n-1].Number == int(s.Number) {
			out = out[:n-1] // taken up again
		}
		out = append(out, openReport(s))
	}
	return out
}

// Session returns one session; 0 means the latest.
func (c *Companion) Session(ctx context.Context, number int) (SessionReport, error) {
	all, err := c.Sessions(ctx)
	if err != nil {
		return SessionReport{}, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if number == 0 || all[i].Number == number {
			return all[i], nil
		}
	}
	return SessionReport{}, fmt.Errorf("session %d: %w", number, ErrNotFound)
}

func closedReport(r sessionRecord) SessionReport {
	return SessionReport{
		Number: r.Session, Date: r.Date, Opened: r.Opened, Closed: r.Closed, Events: r.Events, New: r.New,
		Reactivated: r.Reactivated, Soft: r.Soft, Suppressed: r.Suppressed, WitnessGap: r.WitnessGap, Reason: r.Reason,
	}
}

func openReport(s fold.Session) SessionReport {
	return SessionReport{
		Number: int(s.Number), Date: s.Date, Open: true, Events: int(s.Events), New: int(s.Created),
		Reactivated: int(s.Reactivated), Soft: int(s.Soft), Suppressed: int(s.Suppressed),
	}
}

// Status tells how the companion is.
func (c *Companion) Status(context.Context) (Status, error) {
	s := Status{
		Withheld: c.withheldSince(),
		Version:  c.opts.Version, PID: os.Getpid(), DataDir: c.opts.Dir, Socket: c.opts.Socket, Diary: c.opts.Diary,
		Uptime: time.Since(c.started).Seconds(), Embedder: c.opts.Embedder.ID(), Assessor: c.opts.Assessor.ID(),
		Retention: c.opts.Retention.told(),
		Dim:       c.opts.Embedder.Dim(), Queue: c.queue.length(), StoreBytes: c.store.Size(), Index: c.index.Report().Serving,
	}
	err := c.store.View(func(st *fold.State) error {
		s.Events, s.Impressions = st.Sequence, len(st.Impressions)
		s.Entries = len(st.Impressions) + len(st.Links)
		s.Unplaced = st.Vectors.Len() - st.Vectors.Placed()
		s.Buried = len(st.BuriedEntries())
		s.StateDigest = c.stateDigest(st)
		return nil
	})
	if err != nil {
		return s, err
	}
	s.LastRecord = s.Events
	s.Events -= min(s.Events, c.store.Removed())
	found, err := c.tendenciesOf(c.lastClosed())
	if err != nil {
		return s, err
	}
	s.Tendencies = len(found)
	sessions := c.sessions()
	for i := len(sessions) - 1; i >= 0 && s.LastSession == nil; i-- {
		if sessions[i].Open {
			s.Session = &sessions[i]
		} else {
			s.LastSession = &sessions[i]
		}
	}
	s.Backups = c.backupStatus()
	if s.Model, err = c.modelStatus(); err != nil {
		return s, err
	}
	s.EmbedderState, s.Waiting = c.embedderState(), int(c.unembedded.Load())
	for _, p := range []string{faultOf(c.store), c.backups.problem(), c.modelProblem(), c.foreignProblem()} {
		if p != "" {
			s.Problems = append(s.Problems, p)
		}
	}
	c.mu.RLock()
	s.Problems = append(s.Problems, c.problems...)
	c.mu.RUnlock()
	s.Problems = append(s.Problems, c.sensingProblems()...)
	c.tellLife(&s)
	return s, nil
}

// faultOf is what went wrong with the store since it was opened.
func faultOf(s *chitta.Store) string {
	if err := s.Fault(); err != nil {
		return err.Error()
	}
	return ""
}

// stateDigest is the state's digest in hexadecimal. It is kept until the next
// event, since it reads the whole state and status is asked for often.
func (c *Companion) stateDigest(st *fold.State) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.digestAt != st.Sequence || c.digest == "" {
		sum := st.Digest()
		c.digest, c.digestAt = hex.EncodeToString(sum[:]), st.Sequence
	}
	return c.digest
}

func soulDocument(session int, path string, doc []byte) SoulDocument {
	sum := sha256.Sum256(doc)
	return SoulDocument{Session: session, Path: path, Text: string(doc), Digest: hex.EncodeToString(sum[:])}
}
