package chitta

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/jivad/jivad/chitta/fold"
)

// Finding is one line of a verification.
type Finding struct {
	Name   string
	OK     bool
	Detail string
	Hint   string
}

// Verification is what Verify found.
type Verification struct {
	Findings []Finding
	// From is the sequence that the fold started from, 0 for the beginning.
	From   uint64
	Events uint64
	Digest [32]byte
}

// OK tells whether every check passed.
func (v Verification) OK() bool {
	return !slices.ContainsFunc(v.Findings, func(f Finding) bool { return !f.OK })
}

// VerifyOptions say how much to check.
type VerifyOptions struct {
	// Full folds from the beginning however long it takes; otherwise a fold that
	// would take over a minute starts from the oldest good snapshot.
	Full bool
	// Progress is told how many events of how many were folded.
	Progress func(done, total uint64)
}

// crossTolerance is how far two machines' arithmetic may lead apart.
const crossTolerance = 1e-9

// Verify checks every record, folds the log again and compares the result with
// the live state: bit for bit, or to 1e-9 where the live state went through the
// arithmetic of another machine. It changes nothing.
func (s *Store) Verify(ctx context.Context, o VerifyOptions) (Verification, error) {
	for {
		select {
		case <-s.closing:
			return Verification{}, ErrClosed
		default:
		}
		look, live, amendments := s.look()
		v, err := look.verify(ctx, o, live, &amendments)
		if s.Meta().Generation == look.meta.Generation {
			s.adviseOn(v.Findings)
			return v, err
		}
		// Events were taken out meanwhile: what was compared is not one store.
	}
}

// Check reads all that is on disk, as Verify does, and folds nothing. A store of
// more than 64 MB is passed over: it returns nothing.
func (s *Store) Check(ctx context.Context) []Finding {
	if s.Size() > readWhole {
		return nil
	}
	for {
		look, live, _ := s.look()
		out := []Finding{look.checkPages()}
		records, _, in := look.checkRecords(ctx, live.Sequence)
		out = append(append(out, records), look.checkBeside(ctx, in, live)...)
		out = append(out, look.checkRows(ctx, in.changes)...)
		if s.Meta().Generation == look.meta.Generation {
			s.adviseOn(out)
			return out
		}
	}
}

// adviseOn says what to do at the first finding that does not say so itself; it
// is the same for the others.
func (s *Store) adviseOn(findings []Finding) {
	if i := slices.IndexFunc(findings, func(f Finding) bool { return !f.OK && f.Hint == "" }); i >= 0 {
		findings[i].Hint = s.advised()
	}
}

// look is the store as it is now, for one who only reads: while it is looked at,
// the caches may become others.
func (s *Store) look() (*Store, *fold.State, fold.Amendments) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return &Store{
		opts: s.opts, db: s.db, file: s.file, plain: s.plain, touched: s.touched, snapshots: s.snapshots, rows: openRows(s.rows.path, s.meta), log: s.log,
		meta: s.meta, machine: s.machine, arithmetic: slices.Clone(s.arithmetic),
	}, s.state.Clone(), s.amendments.Clone()
}

func (s *Store) verify(ctx context.Context, o VerifyOptions, live *fold.State, amendments *fold.Amendments) (v Verification, err error) {
	v.Digest = live.Digest()
	v.Findings = append(v.Findings, s.checkPages())
	records, count, in := s.checkRecords(ctx, live.Sequence)
	v.Events = count
	v.Findings = append(v.Findings, records)
	v.Findings = append(v.Findings, s.checkBeside(ctx, in, live)...)
	v.Findings = append(v.Findings, s.checkRows(ctx, in.changes)...)
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if !records.OK {
		v.Findings = append(v.Findings, Finding{Name: "fold", Detail: "not tried: the log has damaged records"})
		return v, nil
	}
	finding, from, err := s.checkFold(ctx, live, amendments, o)
	if err != nil {
		return v, err
	}
	v.From = from
	v.Findings = append(v.Findings, finding)
	v.Findings = append(v.Findings, s.checkSnapshots(live)...)
	return v, nil
}

// checkFold folds again and compares.
func (s *Store) checkFold(ctx context.Context, live *fold.State, amendments *fold.Amendments, o VerifyOptions) (Finding, uint64, error) {
	start := fold.NewState()
	if !o.Full && costOf(len(live.Impressions), live.Dim) > time.Minute {
		if state := s.oldest(ctx, live.Sequence); state != nil {
			start = state
		}
	}
	from := start.Sequence
	var progress func(uint64)
	if o.Progress != nil {
		progress = func(seq uint64) { o.Progress(seq-from, live.Sequence-from) }
	}
	if err := s.replay(ctx, start, live.Sequence, amendments, hooks{progress: progress}); err != nil {
		if ctx.Err() != nil {
			return Finding{}, from, ctx.Err()
		}
		return Finding{Name: "fold", Detail: err.Error()}, from, nil
	}
	tolerance, how := 0.0, "bit for bit"
	if other := slices.DeleteFunc(slices.Clone(s.arithmetic), func(a string) bool { return a == s.machine }); len(other) > 0 {
		tolerance, how = crossTolerance, fmt.Sprintf("within %g (the store was folded on another machine: %s)", crossTolerance, other[0])
	}
	start.Sequence = live.Sequence
	found, total := fold.Difference(live, start, tolerance, 3)
	where := "from the beginning"
	if from > 0 {
		where = fmt.Sprintf("from the snapshot at %d (--full folds from the beginning)", from)
	}
	if total > 0 {
		return Finding{Name: "fold", Detail: fmt.Sprintf("%d differences after folding %s: %v", total, where, found),
			Hint: "Stop the daemon, remove the folder cache/ and start again: the state is then folded from the log."}, from, nil
	}
	return Finding{Name: "fold", OK: true, Detail: fmt.Sprintf("%d impressions folded %s agree %s", len(live.Impressions), where, how)}, from, nil
}

// costOf estimates how long a fold from the beginning takes: each event scans
// what was there before it.
func costOf(impressions, dim int) time.Duration {
	const perRow = 250 * time.Nanosecond // 512 dimensions, one core, measured generously
	n := time.Duration(impressions)
	return n * n / 2 * perRow * time.Duration(max(1, dim)) / 512
}

// oldest is the good snapshot that stands farthest back.
func (s *Store) oldest(ctx context.Context, last uint64) *fold.State {
	sequences, err := s.snapshots.Sequences()
	if err != nil {
		return nil
	}
	for _, seq := range slices.Backward(sequences) {
		if seq > last || ctx.Err() != nil {
			continue
		}
		if state, _, err := s.loadSnapshot(seq); err == nil {
			return state
		}
	}
	return nil
}

// checkSnapshots reads every snapshot; a bad one is a cache that is left out,
// so it is said but is no fault of the store.
func (s *Store) checkSnapshots(live *fold.State) []Finding {
	sequences, err := s.snapshots.Sequences()
	if err != nil {
		return []Finding{{Name: "snapshots", Detail: err.Error()}}
	}
	good, bad := 0, 0
	var first error
	for _, seq := range sequences {
		if seq > live.Sequence {
			continue
		}
		if _, _, err := s.loadSnapshot(seq); err != nil {
			bad++
			if first == nil {
				first = err
			}
			continue
		}
		good++
	}
	f := Finding{Name: "snapshots", OK: true, Detail: fmt.Sprintf("%d good", good)}
	if bad > 0 {
		f.Detail = fmt.Sprintf("%d good, %d not usable and left out (%v)", good, bad, first)
		f.Hint = "They are caches: nothing is lost."
	}
	return []Finding{f}
}

func sequenceOf(k []byte) uint64 {
	if len(k) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k)
}
