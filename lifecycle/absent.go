package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/soul"
)

// AbsentReport tells where a phrase is in the files of a companion. Files are
// named relative to the data folder, those outside of it by their whole path.
type AbsentReport struct {
	// Places were looked at: the data folder, and what of the companion is outside
	// of it. Missing are those that are not there, an unplugged disk say; of them
	// nothing is known. NotFollowed are links in the data folder to folders that
	// the program does not use.
	Places      []string `json:"places"`
	Missing     []string `json:"missing,omitempty"`
	NotFollowed []string `json:"not_followed,omitempty"`
	// Files and Bytes were read; of a file that holds it no more than was needed.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Found are the files that hold it; Yours are those of the diary folder, which
	// is never changed, and Others backups of other companions in the same folder.
	Found  []string `json:"found"`
	Yours  []string `json:"yours,omitempty"`
	Others []string `json:"others,omitempty"`
	// Unread could not be read, each with the reason.
	Unread []string `json:"unread,omitempty"`
	// Absent is true when everything could be read and no file but yours and those
	// of others holds it.
	Absent bool `json:"absent"`
}

// Absent looks for a phrase in every file of a companion: whatever finds it in a
// text when entries are matched to be forgotten finds it in the files that hold
// that text, as it is written, in JSON, or as SOUL.md quotes it. Case, normal
// forms and the kind and length of white space do not matter, nor do the marks
// that SOUL.md replaces. Errors: ErrQuery for a phrase that is too short to tell
// anything (of fewer than three letters, or two where one of them is of a script
// without spaces, in which that is a word); those of reading the data folder.
func Absent(ctx context.Context, at Places, phrase string, progress func(Progress)) (AbsentReport, error) {
	r := AbsentReport{Places: []string{}, Found: []string{}}
	l := newLetters()
	want := l.formsOf(phrase)
	if !longEnough(want[0]) {
		return r, fmt.Errorf("%w: give at least 3 letters to look for, or 2 in a script without spaces", ErrQuery)
	}
	p := newPhrases(l, want)
	owner := &owner{places: at}
	began := time.Now()
	looked, err := at.each(ctx, func(f placeFile) error {
		has, n, err := false, int64(0), f.err
		if err == nil {
			has, n, err = p.file(ctx, f.path)
		}
		switch {
		case gone(err):
			return nil // it went away meanwhile
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.Unread = append(r.Unread, fmt.Sprintf("%s (%v)", f.name, bareOf(err)))
			return nil
		}
		r.Files++
		r.Bytes += n
		if progress != nil {
			progress(Progress{Done: r.Files, Stage: "files", Elapsed: time.Since(began)})
		}
		switch {
		case !has:
		case f.kind == yours:
			r.Yours = append(r.Yours, f.name)
		case f.kind == shared && owner.another(ctx, f.path):
			r.Others = append(r.Others, f.name)
		default:
			r.Found = append(r.Found, f.name)
		}
		return nil
	})
	r.Places, r.Missing, r.NotFollowed = looked.looked, looked.missing, looked.passed
	r.Absent = err == nil && len(r.Found)+len(r.Unread) == 0
	return r, err
}

// longEnough tells whether a form can be told from chance.
func longEnough(form []byte) bool {
	const shortest = 3
	n := uniseg.GraphemeClusterCount(string(form))
	return n >= shortest || n == shortest-1 && bytes.ContainsFunc(form, withoutSpaces)
}

// withoutSpaces tells of letters of scripts in which words of two letters, or of
// one, are usual, and most of which are written without spaces.
func withoutSpaces(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul, unicode.Yi,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Javanese, unicode.Balinese, unicode.Tai_Tham)
}

// bareOf is what is wrong, without the path.
func bareOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// formsOf are the forms of a phrase: all of it, and where it is longer than what
// SOUL.md quotes of an entry, what that would be.
func (l *letters) formsOf(phrase string) [][]byte {
	all := [][]byte{l.searchForm(phrase)}
	if utf8.RuneCountInString(phrase) <= soul.MaxQuote {
		return all
	}
	if begin, cut := strings.CutSuffix(soul.Quote(phrase, soul.MaxQuote), "…"); cut {
		const sure = 40 // letters; fewer may begin other texts too
		if form := l.searchForm(begin); utf8.RuneCount(form) >= sure {
			all = append(all, form)
		}
	}
	return all
}

// owner tells the backups of a companion from those of others.
type owner struct {
	places Places
	id     string
	known  bool
}

// another tells whether a file is certainly a store of another companion. Where
// that cannot be told it is not.
func (o *owner) another(ctx context.Context, path string) bool {
	if !o.known {
		o.known = true
		o.id = idIn(ctx, filepath.Join(o.places.Dir, chitta.FileName))
		soulPath := o.places.Soul
		if soulPath == "" {
			soulPath = filepath.Join(o.places.Dir, soulName)
		}
		if o.id == "" { // a daemon has it open
			if doc, err := (soul.Files{SoulPath: soulPath}).Current(); err == nil {
				if h, err := soul.ParseHeader(doc); err == nil {
					o.id = h.Identity
				}
			}
		}
	}
	if o.id == "" {
		return false
	}
	id := idIn(ctx, path)
	return id != "" && id != o.id
}

// idIn is the id of the store in a file, or nothing.
func idIn(ctx context.Context, path string) string {
	report, err := chitta.CheckFile(ctx, path, chitta.CheckOptions{Quick: true})
	if err != nil {
		return ""
	}
	return report.ID
}

// wordsToMiss are the texts of entries that are to go, for looking for them
// afterwards: a bounded number, and only what is long enough to be told from
// other words.
func (c *Companion) wordsToMiss(chosen []ForgetEntry) ([]string, error) {
	const most, shortest = 256, 12
	var words []string
	for _, e := range chosen {
		if len(words) == most {
			break
		}
		t, err := c.store.TextOf(e.seq)
		if errors.Is(err, chitta.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if text := strings.TrimSpace(t.Body); len(text) >= shortest {
			words = append(words, text)
		}
	}
	return words, nil
}

// lookFor reads everything again and counts what is still there.
func (c *Companion) lookFor(ctx context.Context, chosen []ForgetEntry, words []string, r *ForgetReceipt) error {
	went := map[string]bool{}
	for _, e := range chosen {
		went[e.ID] = true
	}
	missed := toMiss(words)
	err := c.store.Experiences(ctx, func(x chitta.Experience) error {
		r.Remaining++
		if went[formatID(x.ID)] {
			r.Left.Events++
		}
		t, err := c.store.TextOf(x.Sequence)
		if err != nil && !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
		missed.notIn(t.Body)
		missed.notIn(t.Label)
		return nil
	})
	if err != nil {
		return err
	}
	r.Forgotten = len(chosen) - r.Left.Events
	for _, e := range chosen {
		if _, err := c.store.TextOf(e.seq); err == nil {
			r.Left.Texts++
		} else if !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
	}
	given, err := c.given()
	if err != nil {
		return err
	}
	missed.notIn(given)
	var p *phrases
	if p, r.Elsewhere = missed.left(); len(p.want) == 0 {
		return nil
	}
	r.Left.Files, r.Missing, err = c.filesWith(ctx, p)
	return err
}

// filesWith are the files of the companion that hold one of the phrases. One that
// cannot be read is an error, after all others have been. Missing are places that
// are not there now.
func (c *Companion) filesWith(ctx context.Context, p *phrases) (files, missing []string, err error) {
	owner := &owner{id: c.store.Meta().ID, known: true}
	var unread error
	looked, err := c.places().each(ctx, func(f placeFile) error {
		if f.kind == yours {
			return nil
		}
		has, err := false, f.err
		if err == nil {
			has, _, err = p.file(ctx, f.path)
		}
		switch {
		case gone(err):
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			unread = errors.Join(unread, fmt.Errorf("it is forgotten, but whether %s still holds it is not known: %w; see that it can be read, then look with verify --absent", f.path, bareOf(err)))
		case has && !(f.kind == shared && owner.another(ctx, f.path)):
			files = append(files, f.name)
		}
		return nil
	})
	return files, looked.missing, errors.Join(err, unread)
}

// places are where the files of this companion are.
func (c *Companion) places() Places { return c.opts.places() }

func (o Options) places() Places {
	return Places{Dir: o.Dir, Diary: o.Diary, Soul: o.SoulPath, Backups: o.Backups.Dir, Config: o.Config}
}

// missed are texts that should be nowhere any more.
type missed struct {
	*phrases
	// of is the text of each form, still what other texts hold too.
	of    []int
	still []bool
}

func toMiss(words []string) missed {
	m := missed{}
	l := newLetters()
	var want [][]byte
	const shortest = 8
	for i, w := range words {
		for _, form := range l.formsOf(w) {
			if len(form) >= shortest {
				want, m.of = append(want, form), append(m.of, i)
			}
		}
	}
	m.phrases, m.still = newPhrases(l, want), make([]bool, len(want))
	return m
}

// notIn takes out of it what a text that stays has too.
func (m missed) notIn(text string) {
	if len(m.want) == 0 || text == "" {
		return
	}
	m.in(m.letters.searchForm(text), func(i int) bool {
		m.still[i] = true
		return false
	})
}

// left are the forms that nothing else has; elsewhere counts the texts that
// something has.
func (m missed) left() (p *phrases, elsewhere int) {
	var want [][]byte
	texts := map[int]bool{}
	for i, form := range m.want {
		if m.still[i] {
			texts[m.of[i]] = true
			continue
		}
		want = append(want, form)
	}
	return newPhrases(m.letters, want), len(texts)
}
