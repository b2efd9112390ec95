package lifecycle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// editRule says when an entry that is new in a file takes the place of one that
// is there no more.
type editRule func(c *Companion, gone uint64, now string) bool

// anyEdit: in the watched folder the file is the person's, so whatever stands
// in an entry's place now is its new wording.
func anyEdit(*Companion, uint64, string) bool { return true }

// editsIn is the rule for a source that is imported: that of the watched folder for a file
// of it, so that it comes to the same whether it is imported or watched.
func (c *Companion) editsIn(source string) editRule {
	if c.opts.Diary != "" && filepath.IsLocal(source) {
		if info, err := os.Lstat(filepath.Join(c.opts.Diary, source)); err == nil && info.Mode().IsRegular() {
			return anyEdit
		}
	}
	return likeEdit
}

// likeEdit: a path that is imported again may hold something else by now, so
// the new wording must share half of its words with the old one.
func likeEdit(c *Companion, gone uint64, now string) bool {
	t, err := c.store.TextOf(gone)
	if err != nil {
		return false
	}
	if t.Gist { // like with like
		now = Gist(now)
	}
	const most = 1 << 16
	a, b := wordsOf(plain(t.Body), most), wordsOf(plain(now), most)
	common := 0
	has := make(map[string]bool, len(a))
	for _, w := range a {
		has[w] = true
	}
	for _, w := range b {
		if has[w] {
			common++
		}
	}
	return 2*common >= max(len(a), len(b))
}

// compare holds the notes of a file against what was seen of it before. Notes
// that were seen are left out; one that is new takes the place of one of the same
// day that is gone, in order, where the rule allows it. Each of the notes that
// are returned knows the file's record, which the last of them has written; when
// none is left, a record that changed is written here.
func (c *Companion) compare(path string, notes []*prepared, edits editRule) ([]*prepared, error) {
	before, err := c.store.SourceAt(path)
	if err != nil && !errors.Is(err, chitta.ErrNotFound) {
		return nil, err
	}
	present := map[fold.Key]bool{}
	for _, p := range notes {
		present[p.key] = true
	}
	known := map[fold.Key]uint64{}
	gone := map[string][]uint64{}
	for _, e := range before.Entries {
		known[e.Key] = e.Sequence
		if !present[e.Key] && e.Sequence != 0 {
			gone[e.Date] = append(gone[e.Date], e.Sequence)
		}
	}
	seen := &chitta.Source{Path: path, Entries: make([]chitta.SourceEntry, len(notes))}
	var left []*prepared
	for i, p := range notes {
		p.source, p.place = seen, i
		seen.Entries[i] = chitta.SourceEntry{Key: p.key, Date: p.note.Date}
		if seq, ok := known[p.key]; ok && seq != 0 {
			seen.Entries[i].Sequence = seq
			continue
		}
		at, elsewhere := c.store.Has(p.key)
		if elsewhere && c.buried(at) {
			continue // the file still has it, and brings nothing back
		}
		if !elsewhere {
			g := gone[p.note.Date]
			if at := slices.IndexFunc(g, func(seq uint64) bool { return edits(c, seq, p.note.Text) }); at >= 0 {
				p.replaces = g[at]
				gone[p.note.Date] = slices.Delete(g, at, at+1)
			}
		}
		left = append(left, p)
	}
	if len(left) == 0 && !slices.Equal(seen.Entries, before.Entries) {
		_, err := c.store.Append(context.Background(), chitta.Batch{Sources: []chitta.Source{*seen}})
		return nil, err
	}
	return left, nil
}

// markLast has the record of each file written with the last of its notes, in
// the order in which they will become events.
func markLast(notes []*prepared) {
	last := map[*chitta.Source]*prepared{}
	for _, p := range notes {
		if p.source != nil {
			last[p.source] = p
		}
	}
	for _, p := range last {
		p.last = true
	}
}
