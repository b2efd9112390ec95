package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// round is one deed under one fault, and everything that is looked at afterwards.
type round struct {
	lab    *lab
	number int
	// turn counts the rounds of the same deed and fault before this one.
	turn  int
	deed  *deed
	fault *fault
	rng   *rand.Rand
	// dir is the round's folder, data the companion's in it.
	dir, data string
	// how tells in words what is done to the program.
	how string

	// What the fault's plan draws.
	delay   time.Duration
	seen    int
	decide  func(call) verdict
	journal *journal
	files   uint64
	room    int64
	uid     uint32
	clock   [2]string
	program string
	mounted bool
	shut    map[string]os.FileMode

	// stopped says that the daemon was asked to end, and so ended its session.
	stopped bool
	// faulty while the fault is at work, again while the deed is done once more.
	faulty, again bool
	// target is the process that the fault is for, trap what stops it, client the
	// way to the daemon that runs now.
	target *process
	trap   *trap
	client *client
	watch  *watch
	over   chan struct{}
	// acts are the goroutines of the fault, which end once the deed is over.
	acts sync.WaitGroup
	// code and complaint are of the last verb.
	code      int
	complaint string
	// began is when the fault was armed, said what the deed failed with.
	began time.Time
	said  error

	mu   sync.Mutex
	acks *os.File
	// acked are ids of entries, count at least so many of the deed's, ended are
	// sessions, forgot is true once a forgetting was acknowledged.
	acked map[string]bool
	count int
	ended []int
	// made is true once a copy was acknowledged.
	forgot, made bool
	// judged are lives, excised is true once the first was taken out.
	judged  []int64
	excised bool

	outcome
	// length and changes are measured where there is no fault.
	length  time.Duration
	changes int
}

// acksName is the file of a round in which the client notes what it was told.
const acksName = "acknowledged.log"

// newRound makes the folder of a round, a copy of the deed's base.
func (l *lab) newRound(ctx context.Context, number int, d *deed, f *fault) (*round, error) {
	b, err := l.base(ctx, d.base)
	if err != nil {
		return nil, err
	}
	r := &round{lab: l, number: number, deed: d, fault: f, rng: l.rng(number), program: l.binary, acked: map[string]bool{}, over: make(chan struct{})}
	r.outcome = outcome{Round: number, Deed: d.name}
	if f != nil {
		r.Fault = f.name
	}
	r.dir = filepath.Join(l.root, fmt.Sprintf("r%d", number))
	if f == nil {
		r.dir = filepath.Join(l.root, "ref-"+d.name)
	}
	r.data = filepath.Join(r.dir, "D")
	if err := os.Mkdir(r.dir, 0o711); err != nil { //nolint:gosec // programs of another user go through
		return nil, err
	}
	if _, err := os.Stat(b.folder); err == nil {
		if err := copyFolder(b.folder, r.data); err != nil {
			return nil, err
		}
	}
	r.acks, err = os.OpenFile(filepath.Join(r.dir, acksName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return r, err
}

// rng gives the chance of a round: of the seed and its number alone.
func (l *lab) rng(number int) *rand.Rand {
	return rand.New(rand.NewPCG(l.seed, uint64(number)+1)) //nolint:gosec // to be repeated, not to be secret
}

// acknowledged notes on disk what the program said it has, before anything else
// happens.
func (r *round) acknowledged(line string, note func()) {
	r.mu.Lock()
	note()
	if r.faulty {
		r.Acknowledged++
	}
	_, err := fmt.Fprintln(r.acks, line)
	err = errors.Join(err, r.acks.Sync())
	r.mu.Unlock()
	if err != nil {
		r.fail(kindHarness, "acknowledgement not noted: %v", err)
	}
	if r.watch != nil {
		r.watch.tick()
	}
}

func (r *round) acknowledge(id string) {
	r.acknowledged("entry "+id, func() { r.acked[id] = true })
}

func (r *round) acknowledgeCount(n int) {
	if n > r.count {
		more := n - r.count
		r.acknowledged(fmt.Sprintf("%d entries", n), func() {
			if r.count = n; r.faulty {
				r.Acknowledged += more - 1
			}
		})
	}
}

func (r *round) acknowledgeEnd(session int) {
	if session == 0 {
		return // a life ended, which had none
	}
	r.acknowledged(fmt.Sprintf("session %d ended", session), func() { r.ended = append(r.ended, session) })
}

func (r *round) acknowledgeForgetting() {
	r.acknowledged("forgotten", func() { r.forgot = true })
}

// spec is how a program of this round is started; the fault is added to that of
// its target only.
func (r *round) spec(faulty bool, args ...string) spec {
	s := spec{program: r.program, args: args, uid: r.uid, gid: r.uid}
	shift := r.clock[1]
	if faulty {
		shift = r.clock[0]
		s.files, s.trap = r.files, r.trap
	}
	s.environ = r.lab.environ("TORTURE_CLOCK=" + shift)
	return s
}

// asClient runs a verb that speaks to the daemon, which is the target.
func (r *round) asClient(ctx context.Context, args ...string) error {
	return r.runVerb(ctx, nil, false, args)
}

// verb runs a verb as a person would, and reads its JSON.
func (r *round) verb(ctx context.Context, into any, args ...string) error {
	return r.runVerb(ctx, into, r.faulty && (!r.deed.daemon || r.deed.client), args)
}

func (r *round) runVerb(ctx context.Context, into any, target bool, args []string) error {
	if target && r.trap != nil {
		r.trap.arm()
	}
	p, err := start(r.spec(target, append([]string{"--data", r.data, "--json"}, args...)...))
	if err != nil {
		return err
	}
	if target {
		r.arm(p)
	}
	if err := p.wait(ctx); err != nil {
		return err
	}
	r.code, r.complaint = p.code(), p.stderr.String()
	if p.panicked() {
		r.fail(kindCrash, "jivad %s: %s", args[0], firstLines(r.complaint))
	}
	if p.code() != 0 {
		return fmt.Errorf("jivad %s: exit code %d: %s", args[0], p.code(), strings.TrimSpace(r.complaint))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(p.stdout.String()), into); err != nil {
		return fmt.Errorf("jivad %s: its answer is no JSON: %w", args[0], err)
	}
	return nil
}

// arm lets the fault begin: the process is running, and the deed begins.
func (r *round) arm(p *process) {
	r.target, r.began = p, time.Now()
	if r.trap != nil {
		r.trap.arm()
	}
	if r.watch != nil {
		r.watch.begin()
	}
	act := p.kill
	switch {
	case r.fault == nil:
		return
	case r.seen > 0:
		r.when(r.watch.reached, act)
	case r.fault.name == "closed" && r.delay > 0:
		r.when(nil, func() {
			if err := r.close(); err != nil {
				r.fail(kindHarness, "close the folder: %v", err)
			}
		})
	case r.fault.kills && r.decide == nil:
		r.when(nil, act)
	}
}

// when has a goroutine act after a signal and the delay, unless the deed is over.
func (r *round) when(signal <-chan struct{}, act func()) {
	r.acts.Go(func() { r.await(signal, act) })
}

func (r *round) await(signal <-chan struct{}, act func()) {
	if signal != nil {
		select {
		case <-signal:
		case <-r.over:
			return
		}
	}
	delay := time.NewTimer(r.delay)
	defer delay.Stop()
	select {
	case <-delay.C:
		act()
	case <-r.over:
	}
}

// disturb does the deed under the fault, until the target is dead.
func (r *round) disturb(ctx context.Context) (err error) {
	r.faulty = true
	defer func() { r.faulty = false }()
	if r.decide != nil || r.journal != nil {
		r.trap = &trap{dir: r.data, decide: r.decide, journal: r.journal}
		if r.deed.look != nil { // what it makes may lie beside the data folder
			r.trap.dir = r.dir
		}
	}
	if r.seen > 0 || r.fault == nil {
		if r.watch, err = newWatch(r.data, r.seen); err != nil {
			return err
		}
		defer r.watch.close()
	}
	var d *daemon
	if r.deed.daemon {
		if d, err = r.daemonFor(ctx); d == nil || errors.Is(err, errHangs) {
			return err
		}
	}
	if r.said = err; err == nil {
		r.said = r.deed.do(ctx, r)
	}
	if r.target == nil && d != nil {
		r.target = d.process
	}
	if r.length = time.Since(r.began); r.watch != nil {
		r.changes = r.watch.count()
	}
	return errors.Join(r.finish(ctx, d), ctx.Err())
}

// daemonFor starts the daemon of a deed; where it is the target it is armed.
func (r *round) daemonFor(ctx context.Context) (*daemon, error) {
	s := r.spec(!r.deed.client)
	if r.deed.starting && r.trap != nil {
		r.trap.arm()
	}
	// A daemon that is the target from its first moment is not waited for before
	// the clock runs.
	if r.deed.starting {
		s.started = r.arm
	}
	d, err := r.lab.daemon(ctx, r.data, s)
	if err != nil {
		return d, err
	}
	r.client = d.client
	if !r.deed.client && !r.deed.starting {
		r.arm(d.process)
	}
	return d, nil
}

// finish ends what still runs: the target by kill -9 where the fault kills, else
// by either signal.
func (r *round) finish(ctx context.Context, d *daemon) error {
	gentle := r.fault != nil && !r.fault.kills && r.rng.IntN(2) == 0
	if r.fault != nil && r.fault.kills && r.target != nil && r.target.running() {
		r.target.kill()
	}
	close(r.over)
	r.acts.Wait() // what the fault takes away it takes before it is given back
	if r.trap != nil {
		r.trap.disarm() // a full disk has room again for what comes now
	}
	var faults []error
	if d != nil {
		if gentle || r.deed.client && r.rng.IntN(2) == 0 {
			r.stopped = true
			d.terminate()
		} else {
			d.kill()
		}
		faults = append(faults, d.wait(ctx))
		if d.panicked() {
			r.fail(kindCrash, "the daemon: %s", firstLines(d.stderr.String()))
		}
	}
	if r.target != nil {
		faults = append(faults, r.target.wait(ctx))
		r.Hit = r.target.killed()
	}
	if r.trap != nil {
		r.trap.mu.Lock()
		if r.trap.sprung != "" {
			r.how += "; at " + r.trap.sprung
		}
		if r.trap.fault != nil {
			r.fail(kindHarness, "trap: %v", r.trap.fault)
		}
		r.trap.mu.Unlock()
	}
	return errors.Join(faults...)
}

// firstLines are enough of a text to know it by.
func firstLines(text string) string {
	lines := strings.SplitN(strings.TrimSpace(text), "\n", 12)
	return strings.Join(lines[:min(len(lines), 11)], "\n")
}
