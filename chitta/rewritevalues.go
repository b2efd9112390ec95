package chitta

import (
	"context"
	"os"
)

// RewriteValues writes the store anew with the records under names that values makes of
// those that there are: what it leaves out is in no page of the file any more. The log
// and the state stay as they are. Until the new file is in place nothing has changed, and
// ctx may end it. Copies of before still hold what went, until DropCopies.
func (s *Store) RewriteValues(ctx context.Context, values func(old []Value) ([]Value, error)) error {
	return s.RewriteUnsaid(ctx, 0, values)
}

// RewriteUnsaid is RewriteValues, and takes out what may speak of the records that go: what
// a model said of any entry, and what was answered to the one at since in the log and to
// those behind it. With 0 all that stays.
func (s *Store) RewriteUnsaid(ctx context.Context, since uint64, values func(old []Value) ([]Value, error)) error {
	return s.anew(ctx, func() error {
		if s.broken != nil {
			return s.broken
		}
		p, err := s.planExcision(ctx, nil, ToForget{})
		if err != nil {
			return err
		}
		p.answersSince = since
		return s.excise(ctx, p, Excision{
			Values:   func(_ context.Context, _ Excised, old []Value) ([]Value, error) { return values(old) },
			Progress: func(string, uint64, uint64) {},
		})
	})
}

// DropCopies removes the automatic backups of this store, and files of it that a restore
// replaced, which were made before its last rewriting. Left are those that could not be
// removed, or that somebody made by hand.
func (s *Store) DropCopies() (removed, left []string) {
	generation := s.Meta().Generation
	for _, path := range s.copies() {
		copied, report, err := openFile(path)
		if err != nil {
			left = append(left, path)
			continue
		}
		_ = copied.db.close()
		switch {
		case report.ID != s.Meta().ID || report.Generation >= generation:
		case os.Remove(path) != nil:
			left = append(left, path)
		default:
			removed = append(removed, path)
		}
	}
	s.syncFoldersOf(removed)
	return removed, left
}
