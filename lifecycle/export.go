package lifecycle

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/export"
	"github.com/jivad/jivad/soul"
)

// ExportPart is a piece of a file of an export.
type ExportPart = export.Part

// ExportReport tells what an export holds.
type ExportReport struct {
	// Folder is where it is; known to the one who writes the files.
	Folder      string `json:"folder,omitempty"`
	Entries     int    `json:"entries"`
	Impressions int    `json:"impressions"`
	// Texts counts the entries whose text is kept.
	Texts    int `json:"texts"`
	Sessions int `json:"sessions"`
	// Altered counts the texts that differ in the diary by a backslash before what
	// would be read as the heading of another entry.
	Altered     int     `json:"altered_in_diary"`
	StateDigest string  `json:"state_digest"`
	Seconds     float64 `json:"seconds"`
	// Consent counts the records of what the person said of consent; Lessons the
	// distillates of lives, which an export leaves out.
	Consent int `json:"consent_records,omitempty"`
	Lessons int `json:"distillates_left_out,omitempty"`
}

// ErrChanging: an export was overtaken by edits, again and again.
var ErrChanging = errors.New("entries were edited or forgotten while they were exported; export again when that is over")

// ErrOwed: entries that were forgotten, or texts for which consent was withdrawn, came
// back with an older copy of the store and were not taken out again yet.
var ErrOwed = errors.New("what was forgotten or withdrawn is in the store again, since it was restored, and is taken out at the next start; start the daemon, or run jivad status, then export")

// exportTries bounds how often an export begins again.
const exportTries = 5

// Export gives all of a companion to put, as the files of an export, part by
// part. It is of one moment: where an entry is edited or forgotten meanwhile, all
// files begin again. Nothing is changed. progress may be nil; an error of put
// ends the export.
func (c *Companion) Export(ctx context.Context, progress func(Progress), put func(ExportPart) error) (ExportReport, error) {
	began := time.Now()
	if again, err := c.store.ToForget(); err != nil || !again.Nothing() {
		return ExportReport{}, cmp.Or(err, ErrOwed)
	}
	if owes, err := c.owesTexts(); err != nil || owes {
		return ExportReport{}, cmp.Or(err, ErrOwed)
	}
	var failed error
	guarded := func(p ExportPart) error {
		failed = put(p)
		return failed
	}
	for range exportTries {
		m, err := c.store.Moment(ctx)
		if err != nil {
			return ExportReport{}, err
		}
		x := &exporting{companion: c, moment: m, out: export.NewEncoder(guarded), began: began, progress: progress}
		r, err := x.all(ctx)
		if failed != nil || ctx.Err() != nil {
			return r, errors.Join(failed, ctx.Err())
		}
		over, lookErr := m.Over()
		if lookErr != nil {
			return r, lookErr
		}
		if over {
			continue
		}
		if errors.Is(err, chitta.ErrDamaged) {
			err = &chitta.Error{Op: "export", Path: filepath.Join(c.opts.Dir, chitta.FileName), Err: err, Hint: "Run jivad verify to see all that is wrong."}
		}
		r.Seconds = time.Since(began).Seconds()
		return r, err
	}
	return ExportReport{}, ErrChanging
}

// exporting is one attempt at an export.
type exporting struct {
	companion *Companion
	moment    *chitta.Moment
	out       *export.Encoder
	began     time.Time
	progress  func(Progress)

	// order counts what has a place in the order.
	order    uint64
	settings export.Settings
	sessions []export.Session
	removals []export.Removal
	counts   export.Counts
	diary    []page
	// changes of embedder that brought vectors, and the experiences they may be for.
	changes []changed
	places  []placed
}

func (x *exporting) all(ctx context.Context) (ExportReport, error) {
	if err := x.out.Whole(export.FileReadme, []byte(export.ReadmeText)); err != nil {
		return ExportReport{}, err
	}
	altered, said, lessons := 0, 0, 0
	steps := []func() error{
		func() error { return x.writeExperiences(ctx) },
		func() error { return x.writeVectors(ctx) },
		x.writeSessions,
		x.writeSettings,
		x.writeForgotten,
		x.writeTendencies,
		func() (err error) { said, lessons, err = x.writeConsent(); return err },
		x.writeSoul,
		func() (err error) { altered, err = x.writeDiary(ctx); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return ExportReport{}, err
		}
	}
	digest := x.moment.State.Digest()
	now, _ := x.companion.opts.Now()
	x.counts.Records = x.order
	x.counts.Impressions, x.counts.Sessions = len(x.moment.State.Impressions), len(x.sessions)
	m := export.Manifest{
		Program: x.companion.opts.Version, Exported: now.UTC().Truncate(time.Second),
		Store:    export.Store{ID: x.moment.Meta.ID, Created: x.moment.Meta.Created},
		Embedder: export.Embedder{ID: x.moment.State.Embedder, Dim: x.moment.State.Dim},
		Counts:   x.counts, StateDigest: hex.EncodeToString(digest[:]), Arithmetic: x.moment.Arithmetic, Altered: altered, LeftOut: leftOut,
	}
	r := ExportReport{
		Entries: m.Counts.Experiences, Impressions: m.Counts.Impressions, Texts: m.Counts.Texts, Sessions: m.Counts.Sessions,
		Altered: altered, StateDigest: m.StateDigest, Consent: said, Lessons: lessons,
	}
	return r, x.out.Finish(m)
}

// writeExperiences goes through the log: experiences are written, what stands
// between them is kept for its own file.
func (x *exporting) writeExperiences(ctx context.Context) error {
	x.out.File(export.FileImpressions)
	total := len(x.moment.State.Impressions) + len(x.moment.State.Links)
	return x.moment.Events(ctx, func(e fold.Event) error {
		x.order++
		when := export.NewRecorded(e.Header)
		switch b := e.Body.(type) {
		case fold.Experienced:
			if err := x.writeExperience(e, b); err != nil {
				return err
			}
			x.counts.Experiences++
			if x.progress != nil {
				x.progress(Progress{Done: x.counts.Experiences, Total: total, Stage: "entries", Elapsed: time.Since(x.began)})
			}
		case fold.SessionOpened:
			if n := len(x.sessions); n == 0 || x.sessions[n-1].Session != b.Number {
				x.sessions = append(x.sessions, export.Session{Session: b.Number, Date: b.Date})
			}
			x.bound(export.Bound{Order: x.order, What: export.Opened, Recorded: when})
		case fold.SessionClosed:
			x.bound(export.Bound{Order: x.order, What: export.Closed, Reason: b.Reason, Recorded: when})
		case fold.ParamsChanged:
			params, err := json.Marshal(b.Params)
			if err != nil {
				return err
			}
			x.settings.Changes = append(x.settings.Changes, export.ParamsChange{Order: x.order, Recorded: when, Parameters: params})
		case fold.EmbedderChanged:
			x.embedderChanged(e, b)
		case fold.ModelChanged:
			x.settings.Models = append(x.settings.Models, export.ModelChange{Order: x.order, Recorded: when, Model: b.Model, Digest: b.Digest})
		case fold.Excised:
			x.removals = append(x.removals, export.NewRemoval(x.order, e.Header, b))
		default:
			return fmt.Errorf("event %d: an export has no place for it (%T)", e.Sequence, e.Body)
		}
		return nil
	})
}

func (x *exporting) bound(b export.Bound) {
	if n := len(x.sessions); n > 0 { // the fold closes none that was not opened
		x.sessions[n-1].Bounds = append(x.sessions[n-1].Bounds, b)
	}
}

func (x *exporting) writeExperience(e fold.Event, b fold.Experienced) error {
	session := uint32(0)
	if n := len(x.sessions); n > 0 {
		session = x.sessions[n-1].Session
	}
	line := export.NewExperience(x.order, session, e.Header, b)
	state := x.moment.State
	if row, ok := rowOf(state, e.Sequence); ok {
		m := &state.Impressions[row]
		depth, err := state.Depth(row)
		if err != nil {
			return err
		}
		line.Today = &export.Today{
			Depth: depth, Peak: m.Peak, Reinforcement: m.Reinforcement, Activations: m.Activations, LastSession: m.Last,
			Guna: export.Guna(m.Guna), BuryAt: m.BuryAt, Buried: m.Buried, Unplaced: m.Unplaced,
		}
	} else if l, ok := linkOf(state, e.Sequence); ok {
		for _, row := range l.Acted {
			line.ActedOn = append(line.ActedOn, export.ID(state.Impressions[row].ID))
		}
	}
	x.places = append(x.places, placed{e.Sequence, x.order, b.ID})
	if err := x.addText(&line, e.Sequence, b.Date); err != nil {
		return err
	}
	return x.out.Line(line)
}

// addText puts what is kept of an entry into its line.
func (x *exporting) addText(line *export.Experience, seq uint64, date string) error {
	t, err := x.moment.TextOf(seq)
	switch {
	case x.moment.State.EntryBuried(seq) || errors.Is(err, chitta.ErrBuried):
		// Also where a fault has kept the text from being taken away.
		line.Kept, line.Source = export.KeptBuried, ""
		return nil
	case errors.Is(err, chitta.ErrNotFound):
		line.Kept = export.KeptNone
		return nil
	case err != nil:
		return err
	}
	line.Text, line.Label, line.Kept = &t.Body, t.Label, export.KeptFull
	line.Beside = export.Beside{Summary: t.Summary, Reason: t.Reason, Answer: t.Answer, AnsweredBy: t.By, OwnShare: t.Own, Found: t.Found}
	if t.Gist {
		line.Kept = export.KeptGist
	}
	x.counts.Texts++
	x.diary = append(x.diary, page{seq: seq, date: date, bytes: len(t.Body)})
	return nil
}

func (x *exporting) writeSessions() error {
	trend := map[string][]byte{}
	for _, v := range x.moment.Values {
		if strings.HasPrefix(v.Name, prefixRecord) {
			trend[v.Name] = v.Data
		}
	}
	x.out.File(export.FileSessions)
	for _, s := range x.sessions {
		s.Trend = trend[recordName(int(s.Session))]
		if err := x.out.Line(s); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporting) writeSettings() (err error) {
	if x.settings.InForce, err = json.Marshal(x.moment.State.Params); err != nil {
		return err
	}
	return x.out.JSON(export.FileParameters, x.settings)
}

func (x *exporting) writeForgotten() error {
	if len(x.removals) == 0 {
		return nil
	}
	x.out.File(export.FileForgotten)
	for _, r := range x.removals {
		if err := x.out.Line(r); err != nil {
			return err
		}
	}
	return nil
}

// writeTendencies writes what the last sessions handed on, and what was once.
func (x *exporting) writeTendencies() error {
	out := export.Heritages{Sessions: []export.Heritage{}, Vanished: []export.Vanished{}}
	for _, v := range x.moment.Values {
		if id, ok := strings.CutPrefix(v.Name, prefixSeen); ok {
			var s seenTendency
			if err := unmarshal(v.Name, v.Data, &s); err != nil {
				return err
			}
			out.Vanished = append(out.Vanished, exportSeen(id, s))
		}
		if err := exportSaid(v, &out); err != nil {
			return err
		}
		if !strings.HasPrefix(v.Name, prefixHeritage) {
			continue
		}
		number, err := heritageNumber(v.Name)
		if err != nil {
			return err
		}
		h, err := decodeHeritage(v.Name, v.Data, x.moment.State)
		if err != nil {
			return err
		}
		out.Sessions = append(out.Sessions, exportHeritage(number, h))
	}
	return x.out.JSON(export.FileTendencies, out)
}

// writeSoul writes SOUL.md as the store wrote it last, and Given with what the
// person has changed in it since.
func (x *exporting) writeSoul() error {
	values := map[string][]byte{}
	for _, v := range x.moment.Values {
		values[v.Name] = v.Data
	}
	last, ok := values[valueCurrent]
	if !ok {
		return nil
	}
	given := string(values[valueGiven])
	if file, err := x.companion.files.Current(); err == nil {
		if now, changed, ok := soul.TakeGiven(file, last, given); ok && changed {
			given = now
		}
	}
	if err := x.out.Whole(export.FileSoul, last); err != nil {
		return err
	}
	return x.out.Whole(export.FileGiven, []byte(given))
}
