package lifecycle

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/export"
	"github.com/jivad/jivad/soul"
)

// RebuildReport tells what came of an export.
type RebuildReport struct {
	Entries     int    `json:"entries"`
	Impressions int    `json:"impressions"`
	Texts       int    `json:"texts"`
	Sessions    int    `json:"sessions"`
	StateDigest string `json:"state_digest"`
	// Agrees says how the state agrees with the one that was exported: "bit for
	// bit", or "within 1e-9" where that one was folded by another arithmetic.
	Agrees  string   `json:"agrees"`
	Notes   []string `json:"notes,omitempty"`
	Seconds float64  `json:"seconds"`
	// ConsentRecords came with the export. Withdrawn are the kinds of data of which this
	// companion was told to keep nothing, ToWithdraw the texts of them in the export: the
	// next start destroys them.
	ConsentRecords int                `json:"consent_records,omitempty"`
	Withdrawn      []consent.Category `json:"withdrawn,omitempty"`
	ToWithdraw     int                `json:"to_withdraw,omitempty"`

	owes bool
}

// Owes tells whether the next start has something to take away.
func (r RebuildReport) Owes() bool { return r.owes }

// Rebuild makes the companion of an export anew in a folder that holds nothing
// yet: the log, texts, trend, tendencies, SOUL.md and Given. The whole of it is
// folded and compared with what the export says before anything is put in its
// place. progress may be nil.
//
// Errors: chitta.ErrNotFresh, chitta.ErrEmbedder, chitta.ErrLocked, and those of
// package export, which name the file and the line.
func Rebuild(ctx context.Context, o Options, x *export.Folder, progress func(Progress)) (r RebuildReport, err error) {
	began := time.Now()
	m := x.Manifest
	o = withDefaults(o)
	if err := o.meet(ctx, m.Embedder.ID, m.Embedder.Dim); err != nil {
		return r, err
	}
	if err := errors.Join(o.places().Check(), sameEmbedder(o, x)); err != nil {
		return r, err
	}
	store, err := chitta.Open(ctx, chitta.Options{Dir: o.Dir, Embedder: o.Embedder.ID(), Dim: o.Embedder.Dim(), Socket: o.Socket, SnapshotEvery: o.SnapshotEvery, Clock: o.Now, Log: o.Log,
		Backups: o.Backups.Dir, RestoreCommand: o.RestoreCommand, Traces: o.places().traces()})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	b := &rebuilding{opts: o, from: x, report: &r, machine: store.Machine()}
	if err := b.readConsent(store); err != nil {
		return r, err
	}
	written, err := store.Value(valueCurrent) // SOUL.md as init made it
	if err != nil && !errors.Is(err, chitta.ErrNotFound) {
		return r, err
	}
	err = store.Fill(ctx, chitta.Filling{
		ID: m.Store.ID, Created: m.Store.Created, Values: b.values,
		Records: func(f func(chitta.Filled) error) error { return b.records(ctx, f, began, progress) },
	})
	switch {
	case errors.Is(err, chitta.ErrNotFresh):
		return r, notFresh(o.Dir, err)
	case err != nil:
		return r, err
	}
	b.writeSoul(written)
	r.Notes = append(r.Notes, x.Notes...)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func sameEmbedder(o Options, x *export.Folder) error {
	m := x.Manifest
	if m.Embedder.ID == o.Embedder.ID() && m.Embedder.Dim == o.Embedder.Dim() {
		return nil
	}
	return &chitta.Error{Op: "import", Path: x.Path(), Err: chitta.OtherEmbedder("its vectors", m.Embedder.ID, m.Embedder.Dim, o.Embedder.ID(), o.Embedder.Dim()),
		Hint: "Its texts can be read anew by the present one: import the diary.md in it."}
}

func notFresh(dir string, err error) error {
	return &chitta.Error{Op: "import", Path: dir, Err: err, Hint: "An export becomes a companion of its own: make a fresh folder with jivad --data FOLDER init, and import into that."}
}

// CanRebuild tells whether Rebuild would take an export into a folder, and changes
// nothing: nil, or the error that it would fail with before it reads the entries.
func CanRebuild(ctx context.Context, o Options, x *export.Folder) (err error) {
	o = withDefaults(o)
	if err := o.meet(ctx, x.Manifest.Embedder.ID, x.Manifest.Embedder.Dim); err != nil {
		return err
	}
	if err := errors.Join(o.places().Check(), sameEmbedder(o, x)); err != nil {
		return err
	}
	store, err := chitta.Open(ctx, chitta.Options{Dir: o.Dir, Log: o.Log, LookOnly: true, Backups: o.Backups.Dir, RestoreCommand: o.RestoreCommand, Traces: o.places().traces()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	if err := store.Fresh(); err != nil {
		return notFresh(o.Dir, err)
	}
	return nil
}

// rebuilding is the work of Rebuild.
type rebuilding struct {
	opts    Options
	from    *export.Folder
	report  *RebuildReport
	machine string
	// today are the lines that say what an impression is, in order of creation.
	today []told
	soul  []byte
	given string
	// chain is what the person said of consent, to the companion that is filled and in the
	// export: it holds for what comes. owed is what is to be taken away of that, at the
	// next start.
	chain *consent.Chain
	owed  owedWithdrawal
}

// told is what the export says of an impression, and where.
type told struct {
	export.Today
	line int
}

// records gives the log of the export to the store.
func (b *rebuilding) records(ctx context.Context, f func(chitta.Filled) error, began time.Time, progress func(Progress)) error {
	total := b.from.Manifest.Counts.Experiences
	return b.from.Records(ctx, func(r export.Record) error {
		x := chitta.Filled{Event: r.Event, Gone: r.Gone, Vectors: r.Vectors}
		if r.Text != nil {
			s := r.Beside
			x.Text = &chitta.Text{Body: *r.Text, Label: r.Label, Gist: r.Gist, Summary: s.Summary, Reason: s.Reason, Answer: s.Answer, By: s.AnsweredBy, Own: s.OwnShare, Found: s.Found}
			b.report.Texts++
		}
		if err := f(x); err != nil {
			return err
		}
		e, ok := r.Event.Body.(fold.Experienced)
		if !ok {
			return nil
		}
		if r.Text != nil && b.owed.goes(categorised{own: e.Category, found: r.Beside.Found}) {
			b.report.ToWithdraw++
		}
		b.report.Entries++
		if r.Today != nil {
			b.today = append(b.today, told{*r.Today, r.Line})
		}
		if progress != nil {
			progress(Progress{Done: b.report.Entries, Total: total, Stage: "entries", Elapsed: time.Since(began)})
		}
		return nil
	})
}

// values compares the state with what was exported, and returns what is kept
// beside the log.
func (b *rebuilding) values(state *fold.State) ([]chitta.Value, error) {
	if err := b.compare(state); err != nil {
		return nil, err
	}
	out, err := b.consentValues()
	if err != nil {
		return nil, err
	}
	add := func(name string, data []byte) { out = append(out, chitta.Value{Name: name, Data: data}) }
	for i, s := range b.from.Sessions() {
		if s.Trend == nil {
			continue
		}
		var r sessionRecord
		if err := json.Unmarshal(s.Trend, &r); err != nil || r.Check() != nil || r.Session != int(s.Session) {
			return nil, &export.Error{File: export.FileSessions, Line: i + 1, Err: fmt.Errorf("%w: its line of the trend", export.ErrLine)}
		}
		add(recordName(r.Session), s.Trend)
	}
	b.report.Sessions = len(b.from.Sessions())
	rows := map[string]uint32{}
	for i := range state.Impressions {
		rows[export.ID(state.Impressions[i].ID)] = uint32(i)
	}
	for _, x := range b.from.Heritage() {
		h, err := importHeritage(x, rows)
		if err == nil {
			err = checkIdentity(h.narrative, state.Dim)
		}
		if err != nil {
			return nil, &export.Error{File: export.FileTendencies, Err: err}
		}
		data, err := h.encode()
		if err != nil {
			return nil, err
		}
		add(heritageName(x.Session), data)
	}
	for _, x := range b.from.Vanished() {
		s, err := importSeen(x)
		if err != nil {
			return nil, &export.Error{File: export.FileTendencies, Err: err}
		}
		data, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		add(prefixSeen+x.ID, data)
	}
	said, err := importSaid(b.from)
	if err != nil {
		return nil, &export.Error{File: export.FileTendencies, Err: err}
	}
	out = append(out, said...)
	given, err := b.from.Given()
	if err != nil {
		return nil, err
	}
	if b.soul, err = b.from.Soul(); err != nil || b.soul == nil {
		return out, err
	}
	b.given = string(given)
	add(valueCurrent, b.soul)
	add(valueGiven, given)
	return out, nil
}

func checkIdentity(v []float32, dim int) error {
	if len(v) != dim && len(v) != 0 {
		return fmt.Errorf("%w: the vector of an identity has %d dimensions, not %d", export.ErrDamaged, len(v), dim)
	}
	if slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
		return fmt.Errorf("%w: the vector of an identity is not finite", export.ErrDamaged)
	}
	return nil
}

// agreement is how far apart two machines' arithmetic may lead.
const agreement = 1e-9

// compare sees that the state is the one that was exported.
func (b *rebuilding) compare(state *fold.State) error {
	m := b.from.Manifest
	digest := state.Digest()
	b.report.StateDigest, b.report.Impressions = hex.EncodeToString(digest[:]), len(state.Impressions)
	const hint = "Another version of the program may fold it otherwise; the diary.md in it can be imported all the same."
	if len(b.today) != len(state.Impressions) {
		return &export.Error{File: export.FileImpressions, Hint: hint,
			Err: fmt.Errorf("%w: it tells of %d impressions, and folding it gives %d", export.ErrDamaged, len(b.today), len(state.Impressions))}
	}
	for i, t := range b.today {
		s := &state.Impressions[i]
		depth, err := state.Depth(i)
		if err != nil {
			return err
		}
		for _, pair := range [][2]float64{
			{t.Depth, depth}, {t.Peak, s.Peak}, {t.Reinforcement, s.Reinforcement},
			{t.Guna.Tamas, s.Guna.Tamas}, {t.Guna.Rajas, s.Guna.Rajas}, {t.Guna.Sattva, s.Guna.Sattva},
			{float64(t.Activations), float64(s.Activations)}, {float64(t.LastSession), float64(s.Last)},
		} {
			if !(math.Abs(pair[0]-pair[1]) <= agreement*max(1, math.Abs(pair[1]))) {
				return &export.Error{File: export.FileImpressions, Line: t.line, Hint: hint,
					Err: fmt.Errorf("%w: it tells of %v today, where folding it gives %v", export.ErrDamaged, pair[0], pair[1])}
			}
		}
	}
	b.report.Agrees = "bit for bit"
	if b.report.StateDigest == m.StateDigest {
		return nil
	}
	if !slices.ContainsFunc(m.Arithmetic, func(a string) bool { return a != b.machine }) {
		return &export.Error{File: export.FileManifest, Hint: hint,
			Err: fmt.Errorf("%w: it tells of the state %.12s, and folding gives %.12s", export.ErrDamaged, m.StateDigest, b.report.StateDigest)}
	}
	b.report.Agrees = fmt.Sprintf("within %g", agreement)
	return nil
}

// writeSoul puts SOUL.md and Given in their places. The store has them: what
// cannot be written now is written at the next start.
func (b *rebuilding) writeSoul(written []byte) {
	note := func(format string, args ...any) {
		b.report.Notes = append(b.report.Notes, fmt.Sprintf(format, args...))
	}
	c := &Companion{opts: b.opts, leave: leaveOf(allowed{grid: consent.Default()}), files: soul.Files{SoulPath: b.opts.SoulPath, ArchiveDir: filepath.Join(b.opts.Dir, "soul", "archive")}}
	switch {
	case b.soul == nil:
	case b.report.owes: // it may quote what goes; the next start writes it without
	default:
		if err := errors.Join(c.files.Renew(b.soul, written), c.keepWholeGiven(b.given)); err != nil {
			note("SOUL.md was not written, and will be at the next start: %v", err)
		}
	}
	if params, err := b.from.Params(); err == nil && params != b.opts.Params {
		note("the settings of this folder are not those that the companion lived with; they take effect from the next start on")
	}
}
