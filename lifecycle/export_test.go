package lifecycle

import (
	"context"

	"github.com/jivad/jivad/lifecycle/diary"
)

// PageBytes is what was written to the pages of the database since it was opened.
func (c *Companion) PageBytes() int64 { return c.store.PageBytes() }

// Commits counts the transactions since then.
func (c *Companion) Commits() int64 { return c.store.Commits() }

// BackupIfDue makes a backup when one is due, as when a session has ended.
func (c *Companion) BackupIfDue(ctx context.Context) error { return c.backupIfDue(ctx) }

// TakeIn takes in files of the diary, as when the watch tells of them.
func (c *Companion) TakeIn(ctx context.Context, paths ...string) error {
	var changes []diary.Change
	for _, p := range paths {
		changes = append(changes, diary.Change{Path: p})
	}
	_, err := c.takeIn(ctx, changes)
	return err
}

// TakeChanges takes in files of the diary as a watch tells of them, until the
// channel is closed.
func (c *Companion) TakeChanges(ctx context.Context, paths <-chan string) error {
	changes := make(chan diary.Change)
	go func() {
		defer close(changes)
		for p := range paths {
			changes <- diary.Change{Path: p}
		}
	}()
	return c.takeChanges(ctx, changes)
}
