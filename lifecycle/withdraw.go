package lifecycle

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/reactivation"
	"github.com/jivad/jivad/soul"
)

// withdraw ends the open session: tendencies, character, witness gap, the new
// SOUL.md and the trend are computed from the state, then written in one
// transaction with the end of the session, then SOUL.md is replaced.
//
// All of it is a function of the state and of what the session before handed
// on. A session that is taken up again is withdrawn again from the same base,
// so a day that came in two parts ends as if it had come in one.
func (c *Companion) withdraw(ctx context.Context, reason string) error {
	began := time.Now()
	state := c.store.Snapshot()
	buried := state.End() // what is described is the state after the end
	number := int(state.Session.Number)
	past, err := c.heritageOf(ctx, number-1, state)
	if err != nil {
		return fmt.Errorf("what session %d handed on: %w", number-1, err)
	}
	names, err := c.modelNames()
	if err != nil {
		return err
	}
	left, err := c.compose(ctx, state, past, past.vasanas, names, nil)
	if err != nil {
		return err
	}
	elapsed := float64(time.Since(began).Microseconds()) / 1000
	left.record.Latency.Close = &elapsed
	left.record.Reason = reason
	values, err := left.values()
	if err != nil {
		return err
	}
	gone, err := c.vanished(past, left.vasanas, number)
	if err != nil {
		return err
	}
	values = append(append(values, gone...), names.outdated(state, left.vasanas)...)
	if c.opts.Model != nil {
		note, err := json.Marshal(toNarrate{Session: number})
		if err != nil {
			return err
		}
		values = append(values, chitta.Value{Name: valueNarrate, Data: note})
	}
	last, err := c.lastWritten()
	if err != nil {
		return err
	}
	if reason != reasonImport { // nobody has read what stood there in between
		said, err := c.ownSoul(last)
		if err != nil {
			return err
		}
		values = append(values, said...)
	}
	end := func(life []projection.Value) error {
		_, err := c.store.Append(ctx, chitta.Batch{
			Entries: []chitta.Entry{{Body: fold.SessionClosed{Number: state.Session.Number, Reason: reason}}},
			Values:  append(values, valuesOf(life)...),
		})
		return err
	}
	if c.livesIn(number) {
		err = c.lives.Withdraw(reason, end)
		defer c.distilEnded(ctx)
	} else {
		err = end(nil)
	}
	if err != nil {
		return err
	}
	c.keepRecord(left.record)
	c.forgetNames()
	c.life.left, c.life.edited = handedOn{number, left.heritage}, false
	defer c.backupSoon()
	defer c.reassessSoon()
	if len(buried) > 0 {
		c.leisure.giveWay() // a question that is under way may hold their words
		c.takeBack()
		c.log.Info("impressions were buried, their texts are deleted", "impressions", len(buried))
	}
	for _, row := range buried {
		delete(c.life.terms, state.Impressions[row].Sequence)
	}
	// The session is over and safe. A SOUL.md that cannot be written now is
	// written from the store at the next start.
	if file, err := c.files.Current(); err == nil && len(file) > 0 && soul.EditedElsewhere(file, last) {
		c.problem("SOUL.md was edited outside of Given; what was there is kept in soul/archive")
	}
	if err := c.files.Renew(left.document, last); err != nil {
		c.problem(fmt.Sprintf("SOUL.md was not written: %v", err))
		c.log.Error("write SOUL.md", "error", err)
	}
	return nil
}

// legacy is what a session leaves.
type legacy struct {
	record sessionRecord
	heritage
	document []byte
}

// compose works out what a session leaves, from the state at its end and what the
// session before handed on. Tendencies take their ids from those of past, and are
// called rising or fading against compared; names are those that a model gave. before, if not nil, is the record that
// the session had already: the times and latencies of then are kept.
func (c *Companion) compose(ctx context.Context, state *fold.State, past heritage, compared []vasana.Vasana, names modelNames, before *sessionRecord) (left legacy, err error) {
	depths, hardness, err := c.life.ageing.Of(state)
	if err != nil {
		return left, err
	}
	if left.vasanas, err = c.tendencies(ctx, state, depths, hardness, past.vasanas); err != nil {
		return left, fmt.Errorf("tendencies: %w", err)
	}
	if left.record.Record, err = c.trendRecord(state, depths, left.vasanas, past.narrative); err != nil {
		return left, fmt.Errorf("trend: %w", err)
	}
	if before == nil {
		c.noteLineage(&left.record.Record)
	}
	left.peaks = past.peaksAfter(left.vasanas, depths)
	if before == nil {
		if left.record.Ghosts, err = c.countGhosts(state, depths, past, left.vasanas); err != nil {
			return left, fmt.Errorf("ghosts: %w", err)
		}
		by := c.judgesOf(state)
		left.record.ByModel, left.record.ByBuiltin, left.record.Assessor = by.model, by.builtin, by.most
	} else {
		r := &left.record
		r.Ghosts = before.Ghosts
		r.ByModel, r.ByBuiltin, r.Assessor = before.ByModel, before.ByBuiltin, before.Assessor
		r.Opened, r.Closed, r.Latency, r.Reason = before.Opened, before.Closed, before.Latency, before.Reason
		r.Lineage, r.Kappa = before.Lineage, before.Kappa
		if past.narrative == nil || state.Embedder != c.opts.Embedder.ID() {
			r.WitnessGap = before.WitnessGap
		}
	}
	summary, err := c.summaryOf(state, c.life.digester.Of(state), depths, left.record.Record, left.vasanas, compared)
	if err != nil {
		return left, fmt.Errorf("summary: %w", err)
	}
	names.onto(&summary, state, left.vasanas)
	if left.document, err = soul.Render(summary, c.opts.SoulBytes); err != nil {
		return left, err
	}
	if left.narrative, err = c.identityVector(ctx, summary); err != nil {
		return left, fmt.Errorf("embed the identity: %w", err)
	}
	return left, nil
}

// depthsOf are the depths of all impressions now, each for itself: what the end of
// a session carries on, a check works out anew.
func depthsOf(state *fold.State) ([]float64, error) {
	out := make([]float64, len(state.Impressions))
	for i := range out {
		var err error
		if out[i], err = state.Depth(i); err != nil {
			return nil, fmt.Errorf("depth of impression %d: %w", i, err)
		}
	}
	return out, nil
}

// values are the records that a session leaves in the store.
func (l legacy) values() ([]chitta.Value, error) {
	record, err := json.Marshal(l.record)
	if err != nil {
		return nil, fmt.Errorf("session record: %w", err)
	}
	handed, err := l.heritage.encode()
	if err != nil {
		return nil, fmt.Errorf("heritage: %w", err)
	}
	n := l.record.Session
	return []chitta.Value{
		{Name: recordName(n), Data: record},
		{Name: heritageName(n), Data: handed},
		{Name: heritageName(n - 2)},
		{Name: valueCurrent, Data: l.document},
	}, nil
}

// tendencies finds the clusters of the store, with names.
func (c *Companion) tendencies(ctx context.Context, state *fold.State, depths, hardness []float64, past []vasana.Vasana) ([]vasana.Vasana, error) {
	if err := c.life.graph.Update(ctx, state.Vectors); err != nil {
		return nil, err
	}
	points := make([]vasana.Point, len(state.Impressions))
	for i := range points {
		m := &state.Impressions[i]
		points[i] = vasana.Point{
			ID: m.ID, Live: true, Influence: depths[i], Depth: depths[i], Hardness: hardness[i], Guna: m.Guna,
			FirstSession: int(m.Born), LastSession: int(m.Last),
		}
	}
	found, err := vasana.Detect(c.life.graph, points, past, int(state.Session.Number))
	if err != nil {
		return nil, err
	}
	c.nameTendencies(state, found, past)
	return found, nil
}

// trendRecord is the session's line of the trend.
func (c *Companion) trendRecord(state *fold.State, depths []float64, found []vasana.Vasana, identity []float32) (soul.Record, error) {
	s := &state.Session
	now, _ := c.opts.Now()
	r := soul.Record{
		Version: soul.RecordVersion, Session: int(s.Number), Date: s.Date, Opened: c.life.opened, Closed: now.UTC().Truncate(time.Second),
		Events: int(s.Events), New: int(s.Created), Reactivated: int(s.Reactivated), Soft: int(s.Soft), Suppressed: int(s.Suppressed),
		MeanFocus: mean(s.Focus, s.Gated), MeanTheta: mean(s.Theta, s.Gated), Valence: mean(s.Valence, s.Events),
		Impressions: len(state.Impressions), Vasanas: len(found), Latency: c.life.latency(),
	}
	if x := mean(s.Inertia, s.Gated); x != nil {
		r.LoadTamas = *x
	}
	if x := mean(s.Reactivity, s.Gated); x != nil {
		r.LoadRajas = *x
	}
	gunas, weights := make([]reactivation.Guna, 0, len(found)), make([]float64, 0, len(found))
	for _, v := range found {
		gunas, weights = append(gunas, v.Guna), append(weights, v.Influence)
	}
	all := make([]reactivation.Guna, len(state.Impressions))
	for i := range all {
		all[i] = state.Impressions[i].Guna
	}
	if len(found) == 0 { // no tendency yet: the impressions themselves
		gunas, weights = all, depths
	}
	store, err := soul.GStore(gunas, weights)
	if err != nil {
		return r, err
	}
	r.GStore = soul.NewVector(store)
	var before reactivation.Guna
	if prior, ok := c.record(r.Session - 1); ok {
		before = prior.GAhamkara.Guna()
	}
	own, err := soul.Ahamkara(before, store, state.Params.Reactivation.Protection)
	if err != nil {
		return r, err
	}
	r.GAhamkara = soul.NewVector(own)
	r.MokshaDistance = soul.MokshaDistance(all)
	if r.WitnessGap, err = c.witnessGap(state, identity); err != nil {
		return r, err
	}
	return r, r.Check()
}

// witnessGap measures the session's events against the identity, where both are by
// one embedder. Of a session of before the embedder changed it stays what it was.
func (c *Companion) witnessGap(state *fold.State, identity []float32) (*float64, error) {
	s := &state.Session
	if s.Events > 0 && s.Centroid() == nil {
		r, _ := c.record(int(s.Number))
		return r.WitnessGap, nil
	}
	if len(identity) == 0 || state.Embedder != c.opts.Embedder.ID() {
		return nil, nil
	}
	return soul.WitnessGap(identity, s.Centroid())
}

// summary gathers what SOUL.md says.
func (c *Companion) summary(state *fold.State, depths []float64, r soul.Record, found, past []vasana.Vasana) (soul.Summary, error) {
	return c.summaryOf(state, state.Digest(), depths, r, found, past)
}

func (c *Companion) summaryOf(state *fold.State, digest [32]byte, depths []float64, r soul.Record, found, past []vasana.Vasana) (soul.Summary, error) {
	given, err := c.given()
	if err != nil {
		return soul.Summary{}, err
	}
	out := soul.Summary{
		Session: r.Session, Date: r.Date, ClosedAt: r.Closed,
		Identity: c.identityText(r.Lineage), LineageVersion: cmp.Or(r.Lineage, "none"), StoreDigest: hex.EncodeToString(digest[:]),
		Assessor: cmp.Or(r.Assessor, c.opts.Assessor.ID()), GStore: r.GStore.Guna(), GAhamkara: r.GAhamkara.Guna(), WitnessGap: r.WitnessGap,
		Given: given, Events: len(state.Impressions) + len(state.Links), Impressions: r.Impressions,
		Trend: append(c.before(r.Session), r),
	}
	out.Rules, out.Unresolved = c.rulesOf(r.Lineage)
	out.Unsettled = c.unsettled()
	var total float64
	for _, d := range depths {
		total += d
	}
	before := byID(past)
	for _, v := range found {
		t := soul.Tendency{
			ID: v.ID, Name: v.Name, Strength: v.Influence, Shares: v.Guna.Shares(), Members: len(v.Members),
			Trend: moved(v, before[v.ID]), FirstSession: v.FirstSession, LastSession: v.LastSession,
		}
		if total > 0 {
			t.Share = v.Influence / total
		}
		out.Tendencies = append(out.Tendencies, t)
	}
	const deepest = 5
	top, err := state.Top(deepest)
	if err != nil {
		return out, err
	}
	for _, d := range top {
		deep, err := c.deepImpression(state, d)
		if err != nil {
			return out, err
		}
		out.Deep = append(out.Deep, deep)
	}
	return out, nil
}

func (c *Companion) deepImpression(state *fold.State, d fold.Ranked) (soul.DeepImpression, error) {
	m := state.Impressions[d.Index]
	out := soul.DeepImpression{Depth: d.Influence, Activations: int(m.Activations), Shares: m.Guna.Shares()}
	e, err := c.store.EventAt(m.Sequence)
	if err != nil {
		return out, err
	}
	x, ok := e.Body.(fold.Experienced)
	if ok {
		out.Date = x.Date
	}
	t, kept, err := c.textOf(m.Sequence)
	if out.Buried = m.Buried || kept == KeepBuried; !out.Buried && c.mayRead(m.Sequence, x, t) {
		out.Text = t.Body
	}
	return out, err
}

// direction says how a tendency's influence moved since the session before.
func direction(v vasana.Vasana, past []vasana.Vasana) string {
	if i := slices.IndexFunc(past, func(p vasana.Vasana) bool { return p.ID == v.ID }); i >= 0 {
		return moved(v, &past[i])
	}
	return moved(v, nil)
}

// moved is direction for the tendency of before, nil where there was none.
func moved(v vasana.Vasana, before *vasana.Vasana) string {
	const noticeable = 0.05
	switch {
	case before == nil:
		return "new"
	case v.Influence > before.Influence*(1+noticeable):
		return "rising"
	case v.Influence < before.Influence*(1-noticeable):
		return "fading"
	}
	return "steady"
}

func byID(list []vasana.Vasana) map[string]*vasana.Vasana {
	out := make(map[string]*vasana.Vasana, len(list))
	for i := range list {
		out[list[i].ID] = &list[i]
	}
	return out
}

// latency are the session's figures in milliseconds.
func (l *life) latency() soul.Latency {
	return soul.Latency{
		AssessP50: percentile(l.judgeTimes, 0.5), AssessP95: percentile(l.judgeTimes, 0.95),
		EventP50: percentile(l.eventTimes, 0.5), EventP95: percentile(l.eventTimes, 0.95),
	}
}

func percentile(d []time.Duration, p float64) *float64 {
	if len(d) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(d))
	x := float64(sorted[int(p*float64(len(sorted)-1))].Microseconds()) / 1000
	return &x
}
