package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/soul"
)

// lastWritten is the SOUL.md that the store wrote last, nil before the first.
func (c *Companion) lastWritten() ([]byte, error) {
	data, err := c.store.Value(valueCurrent)
	if errors.Is(err, chitta.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// toldSoul is SOUL.md as a model is told it: the file, with what the person wrote in it. As
// long as the file of before a forgetting or an excision is still to be replaced, it is what
// the store has: what is gone is told to nobody. Who notes the generation of the store first,
// and finds another afterwards, may have been told of it.
func (c *Companion) toldSoul() ([]byte, error) {
	switch _, err := c.store.Value(valueTraces); {
	case err == nil:
		return c.lastWritten()
	case !errors.Is(err, chitta.ErrNotFound):
		return nil, err
	}
	return c.files.Current()
}

// restoreSoul sees at the start that SOUL.md is there: the first one is made,
// a lost or emptied one comes back from the store.
func (c *Companion) restoreSoul(ctx context.Context) error {
	last, err := c.lastWritten()
	if err != nil {
		return err
	}
	file, err := c.files.Current()
	if err != nil {
		return err
	}
	if last == nil {
		return c.firstSoul(ctx, file)
	}
	_, _, whole := soul.ExtractGiven(file, last)
	switch {
	case len(bytes.TrimSpace(file)) == 0:
		c.problem("SOUL.md was missing or empty and was restored from the store")
		return c.files.Write(last)
	case !whole && !bytes.Equal(file, last):
		// Not ours any more, but somebody's: kept in the archive, then restored.
		c.problem("SOUL.md had lost its sections; what was there is in soul/archive, and it was restored from the store")
		return c.files.Renew(last, last)
	case soul.EditedElsewhere(file, last):
		if h, err := soul.ParseHeader(file); err == nil && c.anotherVersion(h, last) {
			return c.replaceVersion(file, last, h.Session)
		}
		c.problem("SOUL.md was edited outside of Given; the edit goes to soul/archive when the next session ends")
	}
	return nil
}

// anotherVersion tells of a SOUL.md that no person edited but that the program
// wrote at another time than the store's: the process did not live to replace it,
// or the store was put back to an earlier one. One of nobody's yet is of the time
// before an export was imported, which brings an identity of its own.
func (c *Companion) anotherVersion(h soul.Header, last []byte) bool {
	own, err := soul.ParseHeader(last)
	if err != nil {
		return false
	}
	if h.Identity != own.Identity && h.Identity != c.store.Meta().ID { // its name before the first life
		return h.Session == 0
	}
	return h.Identity != own.Identity || h.Session != own.Session || h.StoreDigest != own.StoreDigest || h.Voice != own.Voice || h.LineageVersion != own.LineageVersion ||
		h.Named != own.Named || h.NamedBy != own.NamedBy
}

// replaceVersion puts what the store wrote last in the place of another version,
// which goes to the archive.
func (c *Companion) replaceVersion(file, last []byte, session int) error {
	if own, err := soul.ParseHeader(last); err == nil && session > own.Session {
		c.problem(fmt.Sprintf("SOUL.md was of session %d and the store is at session %d; it was put back to that, and what was there is in soul/archive", session, own.Session))
	}
	given, err := c.given()
	if err != nil {
		return err
	}
	return errors.Join(c.keepWholeGiven(given), c.files.Renew(last, file))
}

// firstSoul writes the SOUL.md of a companion that has lived nothing yet. A
// file that is there already, of another agent perhaps, gives its Given, or
// all of its text, and is kept in the archive.
func (c *Companion) firstSoul(ctx context.Context, file []byte) error {
	given, _, ok := soul.ExtractGiven(file, nil)
	if !ok {
		given = string(bytes.ToValidUTF8(bytes.TrimSpace(file), nil))
	}
	doc, err := soul.Render(c.unborn(given), c.opts.SoulBytes)
	if err != nil {
		return err
	}
	_, err = c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{
		{Name: valueCurrent, Data: doc}, {Name: valueGiven, Data: []byte(given)},
	}})
	if err != nil {
		return err
	}
	return errors.Join(c.keepWholeGiven(given), c.files.Renew(doc, nil))
}

// unborn is what there is to say of a companion that has lived nothing.
func (c *Companion) unborn(given string) soul.Summary {
	m := c.store.Meta()
	return soul.Summary{Identity: m.ID, LineageVersion: "none", ClosedAt: m.Created, Assessor: c.opts.Assessor.ID(), Given: given}
}

// birth returns what the person changed in Given since the last session, to be
// written with the opening of the next: SOUL.md of the last one had the old.
func (c *Companion) birth() ([]chitta.Value, error) {
	last, err := c.lastWritten()
	if err != nil {
		return nil, err
	}
	file, err := c.files.Current()
	if err != nil {
		c.problem(fmt.Sprintf("SOUL.md cannot be read, so the Given of before stays: %v", err))
		return nil, nil
	}
	whole, err := c.given()
	if err != nil {
		return nil, err
	}
	given, changed, ok := soul.TakeGiven(file, last, whole)
	if !ok || !changed {
		return nil, nil
	}
	if _, err := soul.Render(soul.Summary{Given: given}, c.opts.SoulBytes); err != nil {
		c.problem(fmt.Sprintf("the Given of SOUL.md cannot be used, so the one of before stays: %v", err))
		return nil, nil
	}
	return []chitta.Value{{Name: valueGiven, Data: []byte(given)}}, c.keepWholeGiven(given)
}

// keepWholeGiven writes Given to a file of its own where SOUL.md has no room
// for all of it.
func (c *Companion) keepWholeGiven(given string) error {
	if len(given) <= soul.GivenBudget*c.opts.SoulBytes/soul.MaxBytes {
		return nil
	}
	return c.files.WriteGiven(given)
}

// soulAgain writes SOUL.md of the last session once more, since the text of an entry that it
// may quote is gone. Where the state is another since, or a session is open, the next end
// writes it.
func (c *Companion) soulAgain(ctx context.Context) error {
	doc, err := c.regenerate()
	if errors.Is(err, errNotNow) {
		return nil
	}
	last, e := c.lastWritten()
	if err = errors.Join(err, e); err != nil || bytes.Equal(doc, last) {
		return err
	}
	was, errWas := soul.ParseHeader(last)
	is, errIs := soul.ParseHeader(doc)
	if errWas != nil || errIs != nil || was.StoreDigest != is.StoreDigest {
		return nil
	}
	if _, err := c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{{Name: valueCurrent, Data: doc}}}); err != nil {
		return err
	}
	c.writeAgain(doc, last)
	return nil
}

// Soul returns SOUL.md as a session left it; 0 means the current one.
func (c *Companion) Soul(_ context.Context, session int) (SoulDocument, error) {
	if session > 0 {
		doc, err := c.files.Read(session)
		if _, _, whole := soul.ExtractGiven(doc, nil); err == nil && !whole {
			err = fmt.Errorf("%w: its file in %s has lost its sections", chitta.ErrDamaged, c.files.ArchiveDir)
		}
		if err == nil {
			return soulDocument(session, c.files.ArchiveDir, doc), nil
		}
		if last, e := c.lastWritten(); e == nil {
			if h, e := soul.ParseHeader(last); e == nil && h.Session == session {
				return soulDocument(session, c.opts.SoulPath, last), nil
			}
		}
		if errors.Is(err, soul.ErrNoVersion) {
			return SoulDocument{}, fmt.Errorf("SOUL.md of session %d: %w among those that are kept", session, ErrNotFound)
		}
		return SoulDocument{}, fmt.Errorf("SOUL.md of session %d: %w", session, err)
	}
	doc, err := c.files.Current()
	if err != nil {
		return SoulDocument{}, err
	}
	number := 0
	if h, err := soul.ParseHeader(doc); err == nil {
		number = h.Session
	}
	return soulDocument(number, c.opts.SoulPath, doc), nil
}

// SoulVersions lists the sessions whose SOUL.md is kept, oldest first.
func (c *Companion) SoulVersions(context.Context) ([]SoulDocument, error) {
	list, err := c.files.List()
	if err != nil {
		return nil, err
	}
	out := make([]SoulDocument, 0, len(list))
	for _, v := range list {
		out = append(out, SoulDocument{Session: v.Session, Path: filepath.ToSlash(v.Path)})
	}
	return out, nil
}
