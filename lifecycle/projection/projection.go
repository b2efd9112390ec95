package projection

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Options say how a device lives.
type Options struct {
	// Dir is the data folder: the device's key and the journal of the life lie in it.
	Dir   string
	Store Store
	// Root is the genesis root of a lineage that begins here, by which the store is named.
	Root lineage.ID
	// Manifest reads what the next life is to be born with.
	Manifest func() (manifest.Manifest, error)
	// Found tells what of it is there, but for the lineage and consent.
	Found func(ctx context.Context, m manifest.Manifest) manifest.Found
	// Idle is the bound that the manifest may leave to the settings.
	Idle time.Duration
	// Seen gives the texts that a session had before it: what may not survive in a rule.
	// said are those that were spoken to the companion, in order.
	Seen func(session int) (seen, said []string, err error)
	// Gate judges an act by its consequence; yes tells that a person said yes to it. Nil
	// lets low and medium ones pass and asks for high ones. Ask asks a person, and waits
	// for the answer; nil is no.
	Gate func(ctx context.Context, q tools.Proposal, yes bool) tools.Verdict
	Ask  func(ctx context.Context, q tools.Proposal) bool
	// Publisher takes messages of tools, nil where there is no broker.
	Publisher tools.Publisher
	// Now tells the wall time and whether it can be trusted; it is written down and never
	// decided by.
	Now func() (time.Time, bool)
	Log *slog.Logger
	// LookOnly leaves what a crash broke off to whoever lives here next.
	LookOnly bool
}

// Projections are the lives of one device: those that were, the one that is, and the
// lineage that they are of. Its methods may be called from many goroutines.
type Projections struct {
	o   Options
	key ed25519.PrivateKey

	// acting is held by the one act that is under way.
	acting sync.Mutex
	mu     sync.Mutex
	// genesis is nil until the first birth.
	genesis  *genesis
	lineage  *lineage.Lineage
	consents *consent.Chain
	models   distil.Models
	// last is the number of the newest life, open are those that something is still to
	// be done for, unborn is one that could not be born.
	last   int64
	open   map[int64]*lives.Life
	unborn *lives.Life
	living *living
	// ended is the last life that was lived here, while its trace is there; moved are the
	// merges since they were asked for.
	ended *living
	moved []lineage.Batch
	// clock is when running time was last counted, by a clock that only goes forward.
	clock time.Time
}

// living is the life that is lived now, beside its record.
type living struct {
	life   lives.Life
	birth  manifest.Born
	m      manifest.Manifest
	rules  string
	runner tools.Runner
	// trace are the calls, as the journal has them, and what was seen and said.
	trace   distil.Trace
	journal *distil.Journal
	// quiet is when something last came.
	quiet time.Time
	// over is why it is to end, once a bound is reached.
	over string
}

// ErrUnborn: the next life lacks something; see [UnbornError].
var ErrUnborn = errors.New("the next life cannot be born")

// UnbornError lists all that a birth lacked (J-1).
type UnbornError struct{ Missing []lives.Lack }

// Error lists it, one thing in a line, each with what mends it.
func (e *UnbornError) Error() string { return listed(ErrUnborn, e.Missing) }

// listed is an error with all that is missing, one thing in a line.
func listed(err error, missing []lives.Lack) string {
	s := err.Error() + ":"
	for _, m := range missing {
		s += "\n  " + m.What
		if m.Mend != "" {
			s += ": " + m.Mend
		}
	}
	return s
}

// Unwrap gives ErrUnborn.
func (e *UnbornError) Unwrap() error { return ErrUnborn }

// Open reads what is kept. A life that was lived when the last process ended is
// withdrawn: it ended in the middle, and is to be distilled before anything else.
func Open(ctx context.Context, o Options) (*Projections, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Projections{o: o, open: map[int64]*lives.Life{}, clock: time.Now()}
	if err := p.load(); err != nil {
		return nil, err
	}
	if o.LookOnly {
		return p, nil
	}
	if err := p.recover(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// recover ends what a crash left in the middle (J-4), and destroys traces of lives that
// owe nothing any more (S-1).
func (p *Projections) recover(ctx context.Context) error {
	if err := p.cutOwed(ctx); err != nil {
		return err
	}
	for _, l := range p.sorted() {
		switch l.State {
		case lives.Conceived: // it was never born, and nothing was done
			if err := l.Settle([]lives.Lack{{Invariant: lives.J1, Code: "interrupted", What: "the program ended while it was being born"}}, "", p.stamp()); err != nil {
				return err
			}
			p.unborn = l
			delete(p.open, l.Sequence)
		case lives.Ready, lives.Active:
			if err := l.Withdraw(lives.ByCrash, p.stamp()); err != nil {
				return err
			}
		default:
			continue
		}
		v, err := lifeValue(l)
		if err != nil {
			return err
		}
		if err := p.o.Store.Put(ctx, v); err != nil {
			return err
		}
	}
	return p.destroyOthers()
}

// sorted are the open lives, the oldest first.
func (p *Projections) sorted() []*lives.Life {
	var out []*lives.Life
	for n := int64(1); n <= p.last; n++ {
		if l := p.open[n]; l != nil {
			out = append(out, l)
		}
	}
	return out
}

func (p *Projections) stamp() lives.Stamp {
	return lives.At(p.o.Now())
}

// folder is where the journal of the life lies, and where programs work.
func (p *Projections) folder() string { return filepath.Join(p.o.Dir, "life") }

func (p *Projections) journalPath(n int64) string {
	return filepath.Join(p.folder(), fmt.Sprintf("%010d.trace", n))
}

func (p *Projections) secretPath(n int64) string {
	return filepath.Join(p.folder(), fmt.Sprintf("%010d.secret", n))
}

func newID() (id lineage.ID, err error) {
	u, err := uuid.NewV7()
	return lineage.ID(u), err
}

// newIDAfter is one that is above others, whatever the clock says: at least a millisecond
// later. So the ids of a device rise as it lives and distils, and of two equal words of it
// those of the later one are a rule's.
func newIDAfter(others ...lineage.ID) (lineage.ID, error) {
	id, err := newID()
	if err != nil || len(others) == 0 {
		return id, err
	}
	last := slices.MaxFunc(others, lineage.ID.Compare)
	if id.Compare(last) > 0 {
		return id, nil
	}
	const stamp = 6 // bytes of milliseconds, the first ones
	for i := stamp - 1; i >= 0; i-- {
		id[i] = last[i] + 1
		if id[i] > 0 {
			copy(id[:i], last[:i])
			return id, nil
		}
	}
	return id, nil // there is none above it
}

// lastID is that of the last life of this device, none before the first. p.mu is held.
func (p *Projections) lastID() ([]lineage.ID, error) {
	for n := p.last; n > 0; n-- {
		l, err := p.life(n)
		if errors.Is(err, ErrNoLife) {
			continue
		}
		return []lineage.ID{l.ID}, err
	}
	return nil, nil
}

// idsDistilled are those of the distillates that this device signed. p.mu is held.
func (p *Projections) idsDistilled() (ids []lineage.ID) {
	own := publicKey(p.key)
	for _, digest := range p.lineage.Members() {
		if d, _ := p.lineage.Member(digest); d.Device == own {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func newNonce() (d lineage.Digest, err error) {
	_, err = rand.Read(d[:])
	return d, err
}

func (p *Projections) makeFolder() error {
	return atomicfile.MkdirAll(p.folder(), 0o700)
}
