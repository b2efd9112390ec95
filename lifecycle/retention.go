package lifecycle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/diary"
)

// Keep says how much of a text is kept beside its event.
type Keep string

// How much is kept. What an entry means and does to the character is worked out
// from the whole text before, and does not depend on it.
const (
	// KeepBySource: of a chat the gist, of all else everything.
	KeepBySource Keep = ""
	KeepFull     Keep = "full"
	KeepGist     Keep = "gist"
	KeepNone     Keep = "none"
	// KeepBuried is of an entry whose text was kept, and is gone since it is buried.
	KeepBuried Keep = "buried"
)

// ErrKeep: a retention is not full, gist, none or empty.
var ErrKeep = errors.New("how much is kept must be full, gist, none or empty")

// Retention says by category of consent how much of a text is kept. A category
// that is not in it is kept by its source.
type Retention map[string]Keep

// Check is ErrCategory or ErrKeep where something in it is not known.
func (r Retention) Check() error {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if name == "" || CheckCategory(name) != nil {
			return fmt.Errorf("retention of %q: %w", name, ErrCategory)
		}
		switch r[name] {
		case KeepBySource, KeepFull, KeepGist, KeepNone:
		default:
			return fmt.Errorf("retention of %s, %q: %w", name, r[name], ErrKeep)
		}
	}
	return nil
}

// of says how much of a text of a category and a source is kept.
func (r Retention) of(category, source string) Keep {
	if k := r[category]; k != KeepBySource {
		return k
	}
	if source == sourceChat || strings.HasPrefix(source, sourceChat+":") {
		return KeepGist
	}
	return KeepFull
}

// sourceChat is the source of what is said to the companion, not written down.
const sourceChat = "chat"

// told lists what the person set.
func (r Retention) told() Retention {
	out := maps.Clone(r)
	maps.DeleteFunc(out, func(_ string, k Keep) bool { return k == KeepBySource })
	return out
}

// less is the one of two that keeps less.
func less(a, b Keep) Keep {
	order := []Keep{KeepNone, KeepGist, KeepFull}
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}

// keep is what is kept of a note, nil for nothing.
func (k Keep) keep(n Note) *chitta.Text {
	switch k {
	case KeepNone:
		return nil
	case KeepGist:
		gist := Gist(n.Text)
		if gist == "" {
			return nil
		}
		return &chitta.Text{Body: gist, Gist: true}
	}
	return &chitta.Text{Body: n.Text, Label: n.Label}
}

// stricter is the one that keeps less: what holds for an entry, or what the person set
// for the category that a model found it to be of, empty for none. A model never has more
// kept, and nothing less than the person asked for of any category.
func (r Retention) stricter(how Keep, found string) Keep {
	if set := r[found]; set != KeepBySource && found != "" {
		return less(how, set)
	}
	return how
}

// reduced is an entry with what is kept of its text since a model found it to be of a
// category, as far as that may be kept. What it was found to be of before stays, where
// that is more protected.
func (c *Companion) reduced(x fold.Experienced, t chitta.Text, found string) (text *chitta.Text, none bool) {
	leave := c.leave.now()
	settled := leave.settled(x.Category, found)
	if settled != x.Category && consent.OfEntry(settled).Protection() > consent.OfEntry(t.Found).Protection() {
		t.Found = settled
	}
	switch less(c.opts.Retention.stricter(KeepFull, found), less(leave.keep(x.Category, t.Found), leave.keep(x.Category, settled))) {
	case KeepNone:
		return nil, true
	case KeepGist:
		if t.Gist {
			break // of which a second one may be shorter
		}
		gist := Gist(t.Body)
		if gist == "" {
			return nil, true
		}
		t.Body, t.Label, t.Gist, t.Answer = gist, "", true, ""
	}
	return &t, false
}

// ofAPart bounds a judgement of an entry x to what the model was asked about, which is t.
// Where that is the gist of more words the judgement of all of them stays, and what the
// model found counts for how much is kept only.
func (c *Companion) ofAPart(j *judged, x fold.Experienced, t chitta.Text) {
	if !t.Gist || x.Key == fold.Key(diary.Key(x.Date, t.Body)) {
		return
	}
	leave, found := c.leave.now(), j.assessment.Category
	if c.opts.Retention.stricter(KeepGist, found) == KeepGist && leave.keep(x.Category, leave.settled(x.Category, found)) == KeepFull {
		j.assessment, j.dropped = nil, true // nothing is to be done
		return
	}
	j.assessment = &Assessment{Judgement: x.Judgement, Category: j.assessment.Category}
}

// kept is the entry of an event with what is kept of its text; found is the category
// that a model found it to be of. An edit keeps no more than the entry that it edits does,
// and nothing is kept without leave.
func (c *Companion) kept(body fold.Body, n Note, found string) (chitta.Entry, error) {
	how := c.opts.Retention.stricter(c.opts.Retention.of(n.Category, n.Source), found)
	leave, own := c.leave.now(), n.Category
	settled := leave.settled(n.Category, found)
	if b, ok := body.(fold.Superseded); ok {
		e, err := c.store.EventAt(b.Target)
		if err != nil {
			return chitta.Entry{}, err
		}
		if x, ok := e.Body.(fold.Experienced); ok {
			how, own = less(how, c.opts.Retention.of(x.Category, x.Source)), x.Category
		}
	}
	text := less(how, less(leave.keep(own, settled), leave.keep(n.Category, settled))).keep(n)
	if text != nil && settled != own {
		text.Found = settled
	}
	return chitta.Entry{Body: body, Text: text, NoText: text == nil}, nil
}

// textOf is what is kept of the entry at seq, and how much that is.
func (c *Companion) textOf(seq uint64) (chitta.Text, Keep, error) {
	t, err := c.store.TextOf(seq)
	switch {
	case errors.Is(err, chitta.ErrBuried):
		return t, KeepBuried, nil
	case errors.Is(err, chitta.ErrNotFound):
		return t, KeepNone, nil
	case err != nil:
		return t, "", err
	case t.Gist:
		return t, KeepGist, nil
	}
	return t, KeepFull, nil
}

// buried tells of an entry that is in the store and whose text is buried.
func (c *Companion) buried(seq uint64) bool {
	_, err := c.store.TextOf(seq)
	return errors.Is(err, chitta.ErrBuried)
}
