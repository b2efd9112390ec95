package lifecycle

import (
	"context"
	"encoding/json"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/diary"
)

// PageBytes is what was written to the pages of the database since it was opened.
func (c *Companion) PageBytes() int64 { return c.store.PageBytes() }

// Commits counts the transactions since then.
func (c *Companion) Commits() int64 { return c.store.Commits() }

// BackupIfDue makes a backup when one is due, as when a session has ended.
func (c *Companion) BackupIfDue(ctx context.Context) error { return c.backupIfDue(ctx) }

// NameSome has the model name tendencies, as the daemon does.
func (c *Companion) NameSome(ctx context.Context) (int, error) { return c.nameSome(ctx) }

// Texts are the texts that are kept, in order.
func (c *Companion) Texts() (out []string, err error) {
	err = c.store.Texts(0, func(_ uint64, t chitta.Text) error { out = append(out, t.Body); return nil })
	return out, err
}

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

// Portrait is SOUL.md below its front matter as it would be written now.
func (c *Companion) Portrait(ctx context.Context) ([]string, error) {
	r, err := c.store.Retrace(ctx, nil)
	if err != nil {
		return nil, err
	}
	p, err := c.newPainter(ctx, r.State())
	if err != nil {
		return nil, err
	}
	out, err := p.paint(ctx, r.State(), r.Earlier(), chitta.Excised{})
	if err != nil {
		return nil, err
	}
	return out.lines, nil
}

// Vanish keeps a tendency as one that was found once and is no more.
func (c *Companion) Vanish(ctx context.Context, id string, found int, members ...[16]byte) error {
	s := seenTendency{Peak: peak{0.5, 0.3}, FirstSession: 1, FoundIn: found}
	for _, m := range members {
		s.Members = append(s.Members, m[:]...)
	}
	return c.keepSeen(ctx, id, s)
}

// Seen are the values of the tendencies that are found no more.
func (c *Companion) Seen() (out []chitta.Value, err error) {
	err = c.store.Values(prefixSeen, func(name string, data []byte) error {
		out = append(out, chitta.Value{Name: name, Data: data})
		return nil
	})
	return out, err
}

// SeenWithout is what is left of such a value.
func SeenWithout(v chitta.Value, x chitta.Excised) (chitta.Value, bool, error) {
	return seenWithout(v, x)
}

// ChanceOf compares a measure with random ones.
func ChanceOf(value float64, removals []float64) *Chance { return chanceOf(value, removals) }

func (c *Companion) keepSeen(ctx context.Context, id string, s seenTendency) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{{Name: prefixSeen + id, Data: data}}})
	return err
}
