package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/neighbour"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul"
)

// Options say which companion to open and how it lives.
type Options struct {
	// Dir is the data folder; everything of one companion is under it.
	Dir string
	// Diary is the folder that the person writes in; it is only read. Empty
	// means none.
	Diary string
	// SoulPath is where SOUL.md is written; empty means Dir/SOUL.md.
	SoulPath string
	// Config is the file that the settings are from, which is not to be written over;
	// empty where there is none.
	Config string
	// SoulBytes is the most that SOUL.md may hold; 0 means 8 KiB.
	SoulBytes int
	Embedder  Embedder
	// EmbedderFor, if not nil, gives Embedder once it is known what the store records:
	// one of a server, which may be away just then. It is asked for the embedder of an
	// id and dimension, and gives it, or the configured one where that is another, and
	// asks no server for it; or for the configured one, with an empty id and 0, where
	// none made a vector yet.
	EmbedderFor func(ctx context.Context, id string, dim int) (Embedder, error)
	Assessor    Assessor
	// Model, if not nil, judges better than Assessor, narrates and talks, as far as it
	// can be reached. Deadline is how long one answer may take; 0 means a minute. Rest
	// is the longest pause between two entries that are judged again.
	Model          Model
	Deadline, Rest time.Duration
	// Params are put in force where they differ from the store's.
	Params fold.Params
	Vasana vasana.Params
	Index  neighbour.Options
	// Location and DayStartsAt say when a day begins; nil means local time.
	Location    *time.Location
	DayStartsAt time.Duration
	// Idle ends a live session after so long without an entry; 0 means 30 minutes.
	Idle time.Duration
	// Workers prepare entries ahead of the fold; 0 means one per core.
	Workers int
	// Queue bounds the entries that wait; 0 means 64.
	Queue int
	// SnapshotEvery is the least number of events between snapshots; 0 means 500.
	SnapshotEvery int
	// MergeAlike gives an impression of its own only to an entry that says
	// something new; any other acts on what is there. By default every entry
	// becomes one.
	MergeAlike bool
	// Retention says how much of a text is kept, by category of consent.
	Retention Retention
	// LookOnly leaves everything of the companion as it is found: the settings in
	// force, SOUL.md, a session that should have ended. It is for checking, and for
	// looking at a store of another embedder: then all goes by words.
	LookOnly bool
	// KeepOpen leaves an open session open at Close, for a process that only
	// lives for one entry; the next one goes on with it or withdraws it.
	KeepOpen bool
	// Backups say when the store is copied without being asked.
	Backups Backups
	// RestoreCommand gives the command that puts a file in the store's place, for
	// messages; nil means one that names Dir.
	RestoreCommand func(file string) string

	// Lives has lives be lived, as a daemon does; else what is written is remembered and
	// no part of a life. Manifest is the file that they are born from; empty means
	// manifest.toml in Dir. Publisher, if not nil, takes the messages of their tools.
	Lives     bool
	Manifest  string
	Publisher tools.Publisher

	// DropUploads, if not nil, drops what waits to be sent of a category whose leave was
	// withdrawn, and says how much that was.
	DropUploads func(ctx context.Context, category consent.Category) (dropped int, err error)

	Socket  string
	Version string
	Log     *slog.Logger
	// Now tells the time and whether the clock is synchronised; nil means the
	// system's.
	Now func() (now time.Time, synchronised bool)
	// Running tells how long something has run, by a clock that only goes forward; nil
	// means the system's. By it is told whether Now was set.
	Running func() time.Duration
}

// Companion is one open data folder. Its methods may be called from many
// goroutines.
type Companion struct {
	opts    Options
	store   *chitta.Store
	files   soul.Files
	queue   *queue
	log     *slog.Logger
	started time.Time

	workers sync.WaitGroup
	backups backups
	cancel  context.CancelFunc
	// owing wakes who judges again what the model owes, embedderBack who takes in what
	// of the diary waits for the embedder: so many entries.
	owing, embedderBack chan struct{}
	counts              counts
	// inHand is held, a value in it, while there may be judgements that are not written
	// yet. ending is done, by end, when the companion is to be closed.
	inHand     chan struct{}
	ending     context.Context //nolint:containedctx // it is the companion's own life
	end        context.CancelFunc
	unembedded atomic.Int64
	// unrecorded says that the store does not know yet which model judges.
	unrecorded atomic.Bool
	// talking counts the conversations that wait for an answer.
	talking atomic.Int64
	behind  judgingBehind
	leisure leisure
	meters  meters

	// lives are those of this device, and what they left; leave is what the person allows.
	lives      *projection.Projections
	leave      *leave
	distilling chan struct{}
	// claims are statements about the world; asking are acts that wait for a person's yes.
	claims  *claims.Book
	asking  asking
	sensing sensing
	// days tells a new day from a clock that was set; meeting is the look at the model's
	// server that a birth waits for.
	days    dayClock
	meeting meeting

	// life is touched by the worker only.
	life life

	// mu guards what is shown of the worker's state.
	mu       sync.RWMutex
	records  []sessionRecord
	problems []string
	// without counts entries of which no text is kept for want of leave, by kind.
	without map[string]int
	// digest is the state's as of event digestAt.
	digest   string
	digestAt uint64
	closing  bool
	// tendencyNames is made when it is asked for, and void after a session's end.
	tendencyNames *tendencyNames
	index         *neighbour.Index
	// indexing is held from the taking of a state until the index knows it.
	indexing sync.Mutex
}

// Open opens a companion, makes what is missing, takes up or withdraws an
// unfinished session and starts working. Among its errors are a [*PlaceError] for
// paths that would have one thing written over another, and ErrMissing where a new
// companion would take the place of one whose store is missing.
func Open(ctx context.Context, o Options) (*Companion, error) {
	o = withDefaults(o)
	if err := errors.Join(o.Retention.Check(), o.places().Check()); err != nil {
		return nil, err
	}
	traces := o.places().traces()
	settings := chitta.Options{
		Dir: o.Dir, Agree: func(id string, dim, impressions int) (chitta.Agreement, error) {
			return o.agree(ctx, id, dim, impressions)
		},
		Socket: o.Socket, SnapshotEvery: o.SnapshotEvery, Clock: o.Now, Log: o.Log,
		Identity: traces.ID, Traces: traces, LookOnly: o.LookOnly, Backups: o.Backups.Dir, RestoreCommand: o.RestoreCommand, Spared: ofClaims,
	}
	store, err := chitta.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	if o.LookOnly {
		o.Embedder = atHand(store, o.Embedder)
	}
	c := &Companion{
		opts: o, store: store, log: o.Log, queue: newQueue(o.Queue), started: time.Now(), leave: &leave{},
		files: soul.Files{SoulPath: o.SoulPath, ArchiveDir: filepath.Join(o.Dir, "soul", "archive")},
	}
	c.backups.wake, c.owing, c.embedderBack = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	c.inHand, c.distilling = make(chan struct{}, 1), make(chan struct{}, 1)
	c.ending, c.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(store.Explain(err), store.Close(ctx))
	}
	return c, nil
}

func withDefaults(o Options) Options {
	o.KeepOpen = o.KeepOpen || o.LookOnly
	if o.SoulPath == "" {
		o.SoulPath = filepath.Join(o.Dir, "SOUL.md")
	}
	if o.SoulBytes == 0 {
		o.SoulBytes = soul.MaxBytes
	}
	if o.Idle == 0 {
		o.Idle = 30 * time.Minute
	}
	if o.Deadline == 0 {
		o.Deadline = time.Minute
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Queue == 0 {
		o.Queue = 64
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = systemClock
	}
	if o.Running == nil {
		o.Running = runningSince(time.Now())
	}
	if o.Params == (fold.Params{}) {
		o.Params = fold.DefaultParams()
		o.Params.Gate = o.Params.Gate.Unscaled()
	}
	if o.Embedder != nil {
		o.scale()
	}
	if o.Vasana == (vasana.Params{}) {
		o.Vasana = vasana.DefaultParams()
	}
	return o
}

// begin reads what earlier sessions left and starts the workers.
func (c *Companion) begin(ctx context.Context) error {
	if err := c.files.RemoveLeftovers(); err != nil {
		c.log.Warn("what a crash left beside SOUL.md stays there", "error", err)
	}
	if err := c.readRecords(); err != nil {
		return err
	}
	c.life.graph = vasana.NewGraph(c.opts.Vasana)
	c.loadGraph()
	c.index = neighbour.New(c.store.Snapshot().Vectors, c.opts.Index)
	if !c.opts.LookOnly {
		if _, err := c.clearTraces(ctx); err != nil {
			return fmt.Errorf("remove what was generated from forgotten entries: %w", err)
		}
		if err := c.restoreSoul(ctx); err != nil {
			return err
		}
	}
	if err := c.openLives(ctx); err != nil {
		return fmt.Errorf("take up the lives: %w", err)
	}
	if err := c.learnConsent(); err != nil {
		return err
	}
	if err := c.openClaims(ctx); err != nil {
		return fmt.Errorf("read the claims: %w", err)
	}
	if err := c.forgetAgain(ctx); err != nil {
		return err
	}
	if err := c.takeUpWithdrawals(ctx); err != nil {
		return err
	}
	if !c.opts.LookOnly {
		if err := c.takeUp(ctx); err != nil {
			return fmt.Errorf("take up the last session: %w", err)
		}
		c.soulMoved(ctx)
	}
	if err := c.exciseAgain(ctx); err != nil {
		return err
	}
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	for range c.opts.Workers {
		c.workers.Go(func() { c.queue.prepareAll(working) })
	}
	c.workers.Go(func() { c.queue.runAll(working) })
	return nil
}

// Close finishes the entries that wait, withdraws the open session and closes
// the store. When ctx ends first, what is not yet an event is given up; what was
// acknowledged is safe either way.
func (c *Companion) Close(ctx context.Context) error {
	c.mu.Lock()
	already := c.closing
	c.closing = true
	c.mu.Unlock()
	if already {
		return nil
	}
	c.end()
	c.handIn(ctx)
	err := c.finish(ctx)
	c.cancel()
	c.queue.stop()
	c.workers.Wait()
	err = errors.Join(err, c.settleLives(ctx))
	if c.opts.LookOnly {
		return errors.Join(err, c.store.Close(ctx))
	}
	if e := c.saveGraph(); e != nil {
		c.log.Warn("the graph of near impressions was not kept", "error", e)
	}
	return errors.Join(err, c.store.Close(ctx))
}

// finish lets the entries that wait become events, then withdraws the session.
func (c *Companion) finish(ctx context.Context) error {
	end := &task{run: func(ctx context.Context, _ error) error {
		if !c.opts.KeepOpen && c.session().Open {
			if err := c.closeSession(ctx, reasonStop); err != nil {
				return err
			}
		}
		return c.endLife(ctx, lives.ByStop)
	}}
	if err := c.queue.last(end); err != nil {
		return err
	}
	select {
	case err := <-end.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the session was left open, to be taken up at the next start: %w", ctx.Err())
	}
}

// do runs f on the worker, in its turn, and waits for it.
func (c *Companion) do(ctx context.Context, l line, f func(context.Context) error) error {
	t := &task{run: func(ctx context.Context, _ error) error { return f(ctx) }}
	if err := c.queue.put(ctx, l, t); err != nil {
		return err
	}
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Impressions is how many there are.
func (c *Companion) Impressions() (n int) {
	_ = c.store.View(func(s *fold.State) error { n = len(s.Impressions); return nil })
	return n
}

// today is the local day now.
func (c *Companion) today() string {
	now, _ := c.opts.Now()
	return localDay(now, c.opts.Location, c.opts.DayStartsAt)
}

// problem notes something that a person should see in status.
func (c *Companion) problem(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.problems {
		if p == text {
			return
		}
	}
	const most = 20
	c.problems = append(c.problems, text)
	if len(c.problems) > most {
		c.problems = c.problems[1:]
	}
}
