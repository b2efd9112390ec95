package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
)

// Heritage is what the last sessions handed on, oldest first.
func (x *Folder) Heritage() []Heritage { return x.heritage }

// Vanished are the tendencies that are found no more, by id.
func (x *Folder) Vanished() []Vanished { return x.vanished }

// Called are the names that a model gave to tendencies, by id.
func (x *Folder) Called() []Called { return x.called }

// Voice is what a model said of the last session, or nil.
func (x *Folder) Voice() *Voice { return x.voice }

// Consent gives what the person said of consent, one record of JSON after the other, as
// they stand in the file; none before version 4.
func (x *Folder) Consent() []json.RawMessage { return x.consent }

// Sessions are all sessions, oldest first.
func (x *Folder) Sessions() []Session { return x.sessions }

// Params are the parameters in force.
func (x *Folder) Params() (fold.Params, error) { return fold.ParseParams(x.settings.InForce) }

// Soul is SOUL.md as the companion wrote it last, or nil.
func (x *Folder) Soul() ([]byte, error) { return x.optional(FileSoul) }

// Given is what the person wrote in SOUL.md, all of it, or nil.
func (x *Folder) Given() ([]byte, error) { return x.optional(FileGiven) }

func (x *Folder) optional(name string) ([]byte, error) {
	if _, ok := x.Manifest.Files[name]; !ok {
		return nil, nil
	}
	data, err := x.whole(name)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// Records calls f for every event, in their order, which has no gaps. An error of
// f is given back with the file and the line of the record. Vectors that f does
// not ask for are read all the same, so that what is wrong with them is told.
func (x *Folder) Records(ctx context.Context, f func(Record) error) error {
	between := x.between
	last, session := uint64(0), uint32(0)
	v := newVectors(ctx, x)
	give := func(r Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Event.Sequence != last+1 {
			return &Error{File: r.File, Line: r.Line, Err: fmt.Errorf("%w: its order is %d, after %d", ErrDamaged, r.Event.Sequence, last)}
		}
		last++
		switch b := r.Event.Body.(type) {
		case fold.SessionOpened:
			session = b.Number
		case fold.Experienced:
			v.note(last, b.ID)
		case fold.EmbedderChanged:
			return at(r.File, r.Line, v.with(&r, b.Dim, f))
		}
		return at(r.File, r.Line, f(r))
	}
	err := x.lines(FileImpressions, func(n int, line []byte) error {
		var l Experience
		if err := decodeLine(FileImpressions, n, line, &l); err != nil {
			return err
		}
		e, err := l.event()
		if err == nil {
			err = errors.Join(l.checkKept(), l.Beside.check())
		}
		if err != nil {
			return at(FileImpressions, n, err)
		}
		for len(between) > 0 && between[0].Event.Sequence < l.Order {
			r := between[0]
			between = between[1:]
			if err := give(r); err != nil {
				return err
			}
		}
		if l.Session != session {
			return at(FileImpressions, n, fmt.Errorf("%w: it is of session %d, and session %d was opened last", ErrDamaged, l.Session, session))
		}
		return give(Record{
			Event: e, Text: l.Text, Label: l.Label, Beside: l.Beside, Gist: l.Kept == KeptGist, Gone: l.Kept == KeptBuried, Today: l.Today,
			File: FileImpressions, Line: n,
		})
	})
	if err != nil {
		return err
	}
	for _, r := range between {
		if err := give(r); err != nil {
			return err
		}
	}
	if last != x.Manifest.Counts.Records {
		return &Error{File: FileManifest, Err: fmt.Errorf("%w: it counts %d records, and there are %d", ErrDamaged, x.Manifest.Counts.Records, last)}
	}
	return nil
}

// at says where an error is, unless it says so already or the work was given up.
func at(file string, line int, err error) error {
	if err == nil {
		return nil
	}
	if _, said := err.(*Error); said {
		return err
	}
	return &Error{File: file, Line: line, Err: err}
}

func (x *Folder) readSettings() error {
	data, err := x.whole(FileParameters)
	if err != nil {
		return err
	}
	if err := decodeFile(FileParameters, data, &x.settings); err != nil {
		return err
	}
	last := fold.NewState().Params
	for i, c := range x.settings.Changes {
		p, err := fold.ParseParams(c.Parameters)
		if err != nil {
			return at(FileParameters, 0, fmt.Errorf("%w: change %d: %w", ErrLine, i+1, err))
		}
		last = p
		x.add(FileParameters, 0, fold.Event{Header: c.header(c.Order), Body: fold.ParamsChanged{Params: p}})
	}
	now, err := x.Params()
	if err != nil {
		return at(FileParameters, 0, fmt.Errorf("%w: in_force: %w", ErrLine, err))
	}
	if now != last {
		return at(FileParameters, 0, fmt.Errorf("%w: what is in force is not what the last change says", ErrDamaged))
	}
	for _, c := range x.settings.Models {
		x.add(FileParameters, 0, fold.Event{Header: c.header(c.Order), Body: fold.ModelChanged{Model: c.Model, Digest: c.Digest}})
	}
	named := map[string]bool{}
	for i, c := range x.settings.Embedders {
		if _, there := x.Manifest.Files[c.Vectors]; c.Vectors != "" && (!there || c.Vectors != VectorsFile(c.Order)) {
			return at(FileParameters, 0, fmt.Errorf("%w: embedder %d: its vectors are in no file of this export", ErrDamaged, i+1))
		}
		named[c.Vectors] = true
		x.add(FileParameters, 0, fold.Event{Header: c.header(c.Order), Body: fold.EmbedderChanged{Embedder: c.ID, Dim: c.Dim}})
		x.between[len(x.between)-1].vectors = c.Vectors
	}
	for _, name := range slices.Sorted(keysOf(x.Manifest.Files)) {
		if vectorsOf.MatchString(name) && !named[name] {
			return at(name, 0, fmt.Errorf("%w: no embedder in %s names it", ErrDamaged, FileParameters))
		}
	}
	return nil
}

func (x *Folder) readSessions() error {
	last := uint32(0)
	return x.lines(FileSessions, func(n int, line []byte) error {
		var s Session
		if err := decodeLine(FileSessions, n, line, &s); err != nil {
			return err
		}
		if s.Session <= last {
			return at(FileSessions, n, fmt.Errorf("%w: session %d, after session %d", ErrDamaged, s.Session, last))
		}
		last = s.Session
		if string(s.Trend) == "null" {
			s.Trend = nil
		}
		x.sessions = append(x.sessions, s)
		for _, b := range s.Bounds {
			var body fold.Body
			switch b.What {
			case Opened:
				body = fold.SessionOpened{Number: s.Session, Date: s.Date}
			case Closed:
				body = fold.SessionClosed{Number: s.Session, Reason: b.Reason}
			default:
				return at(FileSessions, n, fmt.Errorf("%w: a bound is neither opened nor closed", ErrLine))
			}
			x.add(FileSessions, n, fold.Event{Header: b.header(b.Order), Body: body})
		}
		return nil
	})
}

func (x *Folder) readForgotten() error {
	if _, ok := x.Manifest.Files[FileForgotten]; !ok {
		return nil
	}
	return x.lines(FileForgotten, func(n int, line []byte) error {
		var l Removal
		if err := decodeLine(FileForgotten, n, line, &l); err != nil {
			return err
		}
		e, err := l.event()
		if err != nil {
			return at(FileForgotten, n, err)
		}
		x.add(FileForgotten, n, e)
		return nil
	})
}

func (x *Folder) readTendencies() error {
	if _, ok := x.Manifest.Files[FileTendencies]; !ok {
		return nil
	}
	data, err := x.whole(FileTendencies)
	if err != nil {
		return err
	}
	var h Heritages
	if err := decodeFile(FileTendencies, data, &h); err != nil {
		return err
	}
	x.heritage, x.vanished, x.called, x.voice = h.Sessions, h.Vanished, h.Called, h.Voice
	return at(FileTendencies, 0, h.check())
}

// readConsent takes the records as they are; whoever knows what they mean reads them.
func (x *Folder) readConsent() error {
	if _, ok := x.Manifest.Files[FileConsent]; !ok {
		return nil
	}
	return x.lines(FileConsent, func(n int, line []byte) error {
		var record json.RawMessage
		if err := decodeLine(FileConsent, n, line, &record); err != nil {
			return err
		}
		x.consent = append(x.consent, slices.Clone(record))
		return nil
	})
}

// add keeps a record that stands between the experiences.
func (x *Folder) add(file string, line int, e fold.Event) {
	x.between = append(x.between, Record{Event: e, File: file, Line: line})
}
