package chitta

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
)

// TextDrop says which texts go from the store while their entries stay.
type TextDrop struct {
	// Sequences are the entries, by their places in the log. There may be none: then the
	// file is written anew, and what Values leaves out is in no page of it any more.
	Sequences []uint64
	// Ended, Values and Progress are as for an [Excision] that takes nothing out.
	Ended    func(ctx context.Context, e EndedSession) error
	Values   func(ctx context.Context, old []Value) ([]Value, error)
	Progress func(stage string, done, total uint64)
}

// DropTexts writes the store anew without some texts. What stood beside their entries
// goes, and the link to their source, as when they are buried; what a model said of any
// entry goes, and what was answered after the first of them, since that may speak of
// them. The log else, the impressions and the digest of the state stay as they are.
// Until the new file is in place nothing has changed, and ctx may end it. Copies of
// before still hold what went, until DropCopies.
func (s *Store) DropTexts(ctx context.Context, d TextDrop) error {
	return s.anew(ctx, func() error {
		if s.broken != nil {
			return s.broken
		}
		p, err := s.planExcision(ctx, nil, ToForget{})
		if err != nil {
			return err
		}
		p.wordless = make(map[uint64]bool, len(d.Sequences))
		for _, seq := range d.Sequences {
			p.wordless[seq] = true
		}
		x := Excision{Ended: d.Ended, Progress: d.Progress}
		if d.Values != nil {
			x.Values = func(ctx context.Context, _ Excised, old []Value) ([]Value, error) { return d.Values(ctx, old) }
		}
		if x.Progress == nil {
			x.Progress = func(string, uint64, uint64) {}
		}
		return s.excise(ctx, p, x)
	})
}

// firstSpokenOf is the first entry that goes, or loses its text, so that what was said
// later may speak of it; 0 for none.
func (p *plan) firstSpokenOf() uint64 {
	if len(p.Events) > 0 {
		return p.Events[0].Sequence
	}
	if len(p.wordless) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Keys(p.wordless)))
}

// CopiesUpTo lists the copies of this store up to a generation of it, those that were
// made before it was next written anew. own are the automatic ones and what restores
// replaced, which DropCopies removes, others those that somebody made by hand, and files
// that cannot be read. It reads their first pages only.
func (s *Store) CopiesUpTo(generation uint64) (own, others []string, err error) {
	id := s.Meta().ID
	old := func(path string) (is, readable bool) {
		copied, report, err := openFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return false, true // it went meanwhile
		}
		if err != nil {
			return true, false
		}
		_ = copied.db.close()
		return report.ID == id && report.Generation <= generation, true
	}
	for _, path := range s.copies() {
		if is, readable := old(path); is && readable {
			own = append(own, path)
		} else if is {
			others = append(others, path)
		}
	}
	for _, folder := range s.opts.backupFolders() {
		list, err := ListBackups(folder)
		if err != nil {
			return own, others, err
		}
		for _, b := range list {
			if b.Automatic {
				continue
			}
			if is, _ := old(b.Path); is {
				others = append(others, b.Path)
			}
		}
	}
	return own, others, nil
}
