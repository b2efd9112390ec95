package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// Backups say when copies of the store are made without being asked for.
type Backups struct {
	// Dir is where they are; empty means backups in the data folder.
	Dir string
	// Keep is how many stay, the newest; with 0 none is made.
	Keep int
	// Every is the least time between two; with 0 none is made.
	Every time.Duration
}

func (b Backups) automatic() bool { return b.Keep > 0 && b.Every > 0 }

// BackupReport tells of a backup that was made.
type BackupReport struct {
	Path string `json:"path"`
	// Automatic ones go when enough newer ones are there.
	Automatic bool      `json:"automatic"`
	Taken     time.Time `json:"taken"`
	// Records is the number of the last record of the log in it, Written its time.
	Records uint64     `json:"records"`
	Written *time.Time `json:"written,omitempty"`
	Texts   int        `json:"texts"`
	Bytes   int64      `json:"bytes"`
	// Removed are older automatic ones that went.
	Removed []string `json:"removed,omitempty"`
	Seconds float64  `json:"seconds"`
}

// BackupFile is one backup in the folder of backups.
type BackupFile struct {
	Path      string    `json:"path"`
	Automatic bool      `json:"automatic"`
	Taken     time.Time `json:"taken"`
	Records   uint64    `json:"records,omitempty"`
	Bytes     int64     `json:"bytes"`
	// OK says that the file could be opened and followed; Problem why not.
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

// BackupStatus is the state of the automatic backups.
type BackupStatus struct {
	Folder string `json:"folder"`
	// Count is how many there are; the newest is Newest, taken at Taken, with so
	// many records.
	Count   int        `json:"count"`
	Newest  string     `json:"newest,omitempty"`
	Taken   *time.Time `json:"taken,omitempty"`
	Records uint64     `json:"records,omitempty"`
	// Age is how old that is, in seconds.
	Age float64 `json:"age_seconds,omitempty"`
	// Automatic says that they are made without being asked for.
	Automatic bool `json:"automatic"`
}

// backups is what the companion knows of the automatic ones.
type backups struct {
	// wake asks whether one is due.
	wake chan struct{}
	// watched says that somebody makes those that are due.
	watched atomic.Bool
	// gone says that the newest ones went because they held what was forgotten.
	gone atomic.Bool
	mu   sync.Mutex
	// failed is why the last one was not made.
	failed string
}

// Backup copies the store to a file, or to the folder of automatic backups when
// file is empty, while everything goes on. See [chitta.Store.Backup].
func (c *Companion) Backup(ctx context.Context, file string, progress func(Progress)) (BackupReport, error) {
	began := time.Now()
	o := chitta.BackupOptions{File: file, Keep: c.opts.Backups.Keep}
	if progress != nil {
		o.Progress = func(stage string, done, total uint64) {
			progress(Progress{Done: int(done), Total: int(total), Stage: stage, Elapsed: time.Since(began)})
		}
	}
	r, err := c.store.Backup(ctx, o)
	if err != nil {
		return BackupReport{}, err
	}
	out := BackupReport{
		Path: r.Path, Automatic: r.Automatic, Taken: r.Taken, Records: r.Last, Texts: r.Texts, Bytes: r.Bytes,
		Removed: r.Removed, Seconds: time.Since(began).Seconds(),
	}
	if !r.Written.IsZero() {
		out.Written = &r.Written
	}
	if out.Automatic {
		c.backups.told(nil)
	}
	return out, nil
}

// Backups lists what is in the folder of backups, newest first.
func (c *Companion) Backups(ctx context.Context) ([]BackupFile, error) {
	return ListBackups(ctx, c.store.BackupFolder())
}

// ListBackups lists the backups in a folder, newest first, and looks whether each
// can be opened.
func ListBackups(ctx context.Context, folder string) ([]BackupFile, error) {
	list, err := chitta.ListBackups(folder)
	if err != nil {
		return nil, err
	}
	out := []BackupFile{}
	for _, b := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := BackupFile{Path: b.Path, Automatic: b.Automatic, Taken: b.Taken, Records: b.Sequence, Bytes: b.Bytes}
		report, err := chitta.CheckFile(ctx, b.Path, chitta.CheckOptions{Quick: true})
		if f.OK = err == nil; f.OK {
			f.Records = report.Last
		} else {
			f.Problem = causeOf(err)
		}
		out = append(out, f)
	}
	return out, nil
}

// causeOf is what is wrong, without the path and the advice, which are known.
func causeOf(err error) string {
	var told *chitta.Error
	if errors.As(err, &told) {
		return told.Err.Error()
	}
	return err.Error()
}

// backupStatus looks at the names in the folder of backups.
func (c *Companion) backupStatus() BackupStatus {
	out := BackupStatus{Folder: c.store.BackupFolder(), Automatic: c.opts.Backups.automatic()}
	own, err := c.store.Backups()
	if err != nil {
		c.backups.told(err)
		return out
	}
	out.Count = len(own)
	if len(own) > 0 {
		now, _ := c.opts.Now()
		out.Newest, out.Taken, out.Records = own[0].Path, &own[0].Taken, own[0].Sequence
		out.Age = max(0, now.Sub(own[0].Taken).Seconds())
	}
	return out
}

// watchBackups makes a backup whenever one is due, until ctx ends.
func (c *Companion) watchBackups(ctx context.Context) {
	if !c.opts.Backups.automatic() || c.opts.LookOnly {
		return
	}
	c.backups.watched.Store(true)
	defer c.backups.watched.Store(false)
	tick := time.NewTicker(min(time.Hour, c.opts.Backups.Every))
	defer tick.Stop()
	for {
		err := c.backupIfDue(ctx)
		if ctx.Err() != nil {
			return
		}
		c.backups.told(err)
		if err != nil {
			c.log.Error("no backup was made", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.backups.wake:
		case <-tick.C:
		}
	}
}

// backupIfDue makes a backup when the store has changed since the last one and
// enough time has passed. Where the clock was put back far, it has too.
func (c *Companion) backupIfDue(ctx context.Context) error {
	own, err := c.store.Backups()
	if err != nil {
		return err
	}
	var last uint64
	lived := false
	_ = c.store.View(func(s *fold.State) error {
		last, lived = s.Sequence, len(s.Impressions)+len(s.Links) > 0
		return nil
	})
	if !lived || c.queue.waiting(backlog) > 0 { // in the middle of an import, say
		return nil
	}
	if len(own) > 0 {
		now, _ := c.opts.Now()
		if own[0].Sequence == last || now.Sub(own[0].Taken).Abs() < c.opts.Backups.Every && !c.backups.gone.Load() {
			return nil
		}
	}
	c.backups.gone.Store(false)
	r, err := c.Backup(ctx, "", nil)
	if errors.Is(err, chitta.ErrCopying) || errors.Is(err, ErrClosed) {
		return nil
	}
	if err == nil {
		c.log.Info("backup", "file", filepath.Base(r.Path), "up_to_record", r.Records, "bytes", r.Bytes, "removed", len(r.Removed))
	}
	return err
}

// backupSoon asks whether a backup is due now: a session has ended, or the copies
// of before are gone.
func (c *Companion) backupSoon() {
	select {
	case c.backups.wake <- struct{}{}:
	default: // asked already, or nobody makes any
	}
}

// told keeps why there is no backup, for the status; nil when there is.
func (b *backups) told(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = ""
	if err != nil {
		b.failed = fmt.Sprintf("no backup was made: %v", err)
	}
}

func (b *backups) problem() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// checkBackups reads the newest backup, all of it.
func (c *Companion) checkBackups(ctx context.Context) Check {
	out := Check{Name: "backups", OK: true}
	if why := c.backups.problem(); why != "" {
		return Check{Name: out.Name, Detail: why, Hint: "Free some room, or set backups.path in the configuration."}
	}
	own, err := c.store.Backups()
	if err != nil {
		return Check{Name: out.Name, Detail: err.Error()}
	}
	folder := c.store.BackupFolder()
	if !c.opts.Backups.automatic() {
		out.Hint = "Automatic backups are switched off (backups.keep, backups.every)."
	}
	if len(own) == 0 {
		out.Detail = "none yet in " + folder
		if out.Hint == "" {
			out.Hint = "The daemon makes one when a session ends; jivad backup makes one now."
		}
		return out
	}
	newest, bad, err := chitta.NewestBackup(ctx, folder, c.store.Meta().ID)
	if err != nil {
		return Check{Name: out.Name, Detail: fmt.Sprintf("%d in %s, and none of them is whole", len(own), folder), Hint: "Make one now with jivad backup, and look at the disk."}
	}
	now, _ := c.opts.Now()
	out.Detail = fmt.Sprintf("%d in %s; the newest good one, read now and whole: %s, with %d records, the last of %s",
		len(own), folder, filepath.Base(newest.Path), newest.Last, newest.Written.Format("2006-01-02 15:04 UTC"))
	if bad > 0 {
		out.OK = false
		out.Detail += fmt.Sprintf("; %d newer ones are damaged", bad)
		out.Hint = "Remove the damaged ones, make one now with jivad backup, and look at the disk."
		return out
	}
	if age := now.Sub(own[0].Taken); c.opts.Backups.automatic() && age > 3*c.opts.Backups.Every && newest.Last < c.lastRecord() {
		out.Hint = fmt.Sprintf("It is %d days old. The daemon makes one when a session ends; jivad backup makes one now.", int(age.Hours()/24))
	}
	return out
}

func (c *Companion) lastRecord() (last uint64) {
	_ = c.store.View(func(s *fold.State) error { last = s.Sequence; return nil })
	return last
}
