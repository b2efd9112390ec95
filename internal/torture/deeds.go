package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// deed is something that a person does, and that is disturbed. To add one is to
// add a row to the table.
type deed struct {
	name string
	// verb must be one of the program's; empty means that the deed needs none
	// that may be missing.
	verb string
	// base is the folder that it begins from.
	base string
	// daemon has a daemon run meanwhile. The fault is the daemon's, or with
	// client that of the verb which speaks to it; without a daemon the verb's.
	daemon, client bool
	// starting has the fault wait for the daemon from its first moment.
	starting bool
	// first has the deed done again before anything looks at the folder; alone
	// wants no daemon to run when it is done again.
	first, alone bool
	// keeps says that what goes from the store is kept beside it.
	keeps bool
	// free says that the order in which things come about, and so the state that
	// they lead to, is not given.
	free bool
	// trapped says that its base cannot be made where programs cannot be stopped at
	// their calls.
	trapped bool
	// live says that it writes in a session of today: one that a stop has ended is
	// not gone on with.
	live bool
	// dated says that its entries are of the day that the daemon's own clock shows, so
	// that a wrong one, and midnight, makes others of them: they are known by their words.
	dated bool
	// do does it, and can be done again: what was done before is passed over.
	do func(ctx context.Context, r *round) error
	// look, if not nil, looks at what else it made, before it is done again.
	look func(ctx context.Context, r *round) error
	// weight is how often it has its turn; 0 means 2.
	weight int
}

// deeds are all that are tried.
func deeds() []deed {
	return []deed{
		{name: "init", base: "none", first: true, do: func(ctx context.Context, r *round) error {
			return r.verb(ctx, nil, "init", "--yes")
		}},
		{name: "import", base: "new", weight: 4, do: importFile},
		{name: "import-client", base: "new", daemon: true, client: true, do: importFile},
		{name: "import-daemon", base: "new", daemon: true, weight: 3, do: func(ctx context.Context, r *round) error {
			_, err := r.client.Import(ctx, r.lab.material.history, func(p lifecycle.Progress) { r.acknowledgeCount(p.Done) })
			return err
		}},
		{name: "write", base: "today", daemon: true, live: true, weight: 4, do: writeInTurn},
		{name: "write-many", base: "diary", daemon: true, live: true, weight: 3, free: true, do: writeAtOnce},
		{name: "write-verb", base: "today", do: func(ctx context.Context, r *round) error {
			var receipt lifecycle.Receipt
			if err := r.verb(ctx, &receipt, "write", "--date", r.lab.day, r.lab.material.live[2]); err != nil {
				return err
			}
			r.acknowledge(receipt.Event)
			return nil
		}},
		{name: "session-end", base: "today", daemon: true, weight: 3, do: func(ctx context.Context, r *round) error {
			ended, err := r.client.EndSession(ctx)
			if errors.Is(err, lifecycle.ErrNoSession) {
				return nil // it had ended before
			}
			if err == nil {
				r.acknowledgeEnd(ended.Number)
			}
			return err
		}},
		{name: "stop", base: "today", daemon: true, do: func(ctx context.Context, r *round) error {
			if !r.faulty {
				return nil // it is stopped at the end anyway
			}
			r.target.terminate()
			return r.target.wait(ctx)
		}},
		{name: "start", base: "broken", trapped: true, daemon: true, starting: true, do: func(ctx context.Context, r *round) error {
			_, err := r.client.Import(ctx, r.lab.material.history, func(p lifecycle.Progress) { r.acknowledgeCount(p.Done) })
			return err
		}},
		{name: "edit", base: "folder", do: func(ctx context.Context, r *round) error {
			notes := append([]lifecycle.Note(nil), r.lab.material.history...)
			notes[len(notes)-1].Text = r.lab.material.edited
			notes = append(notes, r.lab.material.more...)
			if err := r.keepDiary(notes); err != nil {
				return err
			}
			return r.verb(ctx, nil, "import", filepath.Join(r.data, "diary"))
		}},
		{name: "watch", base: "folder", daemon: true, weight: 1, do: watchFolder},
		{name: "forget", base: "diary", weight: 4, do: forgetByVerb},
		{name: "forget-client", base: "diary", daemon: true, client: true, do: forgetByVerb},
		{name: "forget-daemon", base: "folder", daemon: true, weight: 3, do: forgetByClient},
		{name: "forget-writing", base: "diary", daemon: true, live: true, weight: 3, do: forgetWhileWriting},
		{name: "forget-scarred", base: "scarred", trapped: true, weight: 1, do: forgetByVerb},
		{name: "backup", verb: "backup", base: "today", daemon: true, do: backup, look: lookAtBackup},
		{name: "restore", verb: "restore", base: "saved", alone: true, keeps: true, do: restore},
		{name: "restore-forgotten", verb: "restore", base: "regretted", alone: true, do: func(ctx context.Context, r *round) error {
			return r.verb(ctx, nil, "restore", r.lab.savedBefore())
		}},
		{name: "reembed", verb: "reembed", base: "foreign", alone: true, first: true, do: func(ctx context.Context, r *round) error {
			return r.verb(ctx, nil, "reembed")
		}},
		{name: "export", verb: "export", base: "diary", do: export, look: lookAtExport},
		{name: "live", verb: "lives", base: "unlived", daemon: true, live: true, dated: true, weight: 4, free: true, do: liveLives, look: func(ctx context.Context, r *round) error { return r.lookAtLives(ctx) }},
		{name: "excise", verb: "excise", base: "taught", do: exciseFirst, look: lookAtExcision},
		{name: "excise-client", verb: "excise", base: "taught", daemon: true, client: true, do: exciseFirst, look: lookAtExcision},
		{name: "import-export", verb: "export", base: "moving", alone: true, do: importExport},
	}
}

func importFile(ctx context.Context, r *round) error {
	if err := r.verb(ctx, nil, "import", r.lab.material.file); err != nil {
		return err
	}
	r.acknowledgeCount(len(r.lab.material.history))
	return nil
}

// live are the notes that are written one by one.
func (l *lab) live(texts []string) []lifecycle.Note {
	var out []lifecycle.Note
	for _, text := range texts {
		out = append(out, lifecycle.Note{Date: l.day, Text: text})
	}
	return out
}

func writeInTurn(ctx context.Context, r *round) error {
	for _, n := range r.lab.live(r.lab.material.live[2:]) {
		receipt, err := r.client.Write(ctx, n)
		if err != nil {
			return err
		}
		r.acknowledge(receipt.Event)
	}
	return nil
}

func writeAtOnce(ctx context.Context, r *round) error {
	var all sync.WaitGroup
	notes := r.lab.live(r.lab.material.live)
	faults := make([]error, len(notes))
	for i, n := range notes {
		all.Go(func() {
			receipt, err := r.client.Write(ctx, n)
			if err == nil {
				r.acknowledge(receipt.Event)
			}
			faults[i] = err
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// keepDiary writes the person's files, as the person.
func (r *round) keepDiary(notes []lifecycle.Note) error {
	folder := filepath.Join(r.data, "diary")
	if err := writeDays(folder, notes); err != nil || r.uid == 0 {
		return err
	}
	return chown(folder, r.uid, r.uid)
}

// watchFolder puts files into the watched folder and waits until the daemon has
// taken them in.
func watchFolder(ctx context.Context, r *round) error {
	if err := r.keepDiary(r.lab.material.more); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		s, err := r.client.Status(ctx)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("%w: %w", errHangs, err)
		}
		if err != nil {
			return err
		}
		// Not while it is at it still.
		if s.Entries >= historyEntries+moreEntries && s.Session == nil {
			return nil
		}
		if r.faulty && len(s.Problems) > 0 { // it is tried again by and by; not waited for here
			return errors.New(strings.Join(s.Problems, "; "))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %d entries after %v", errHangs, s.Entries, patience)
		}
	}
}

// doomedIDs are the ids of what is to be forgotten.
func doomedIDs(ctx context.Context, r *round) ([]string, error) {
	b, err := r.lab.base(ctx, r.deed.base)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, i := range r.lab.material.doomed {
		n := r.lab.material.history[i]
		for _, e := range b.entries {
			if e.date == n.Date && e.text == n.Text {
				ids = append(ids, e.id)
			}
		}
	}
	if len(ids) != len(r.lab.material.doomed) {
		return nil, fmt.Errorf("%d of %d entries to forget are in the base", len(ids), len(r.lab.material.doomed))
	}
	return ids, nil
}

// forgetByVerb forgets as one who does not know whether it is done already.
func forgetByVerb(ctx context.Context, r *round) error {
	ids, err := doomedIDs(ctx, r)
	if err != nil {
		return err
	}
	var receipt struct{ Receipt *lifecycle.ForgetReceipt }
	err = r.verb(ctx, &receipt, append([]string{"forget", "--yes"}, ids...)...)
	if r.again && r.code == 1 && isNotFound(r.complaint) {
		return nil
	}
	if err != nil {
		return err
	}
	if receipt.Receipt == nil || receipt.Receipt.Forgotten != len(ids) {
		return fmt.Errorf("forget: it says that it is done, and has no receipt of %d entries: %+v", len(ids), receipt.Receipt)
	}
	r.acknowledgeForgetting()
	return nil
}

func forgetByClient(ctx context.Context, r *round) error {
	ids, err := doomedIDs(ctx, r)
	if err != nil {
		return err
	}
	receipt, err := r.client.Forget(ctx, lifecycle.ForgetQuery{Entries: ids}, nil)
	if r.again && errors.Is(err, lifecycle.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := len(receipt.Left.Files) + receipt.Left.Events + receipt.Left.Texts; n > 0 || receipt.Forgotten != len(ids) {
		return fmt.Errorf("forget: %d of %d forgotten, %d left", receipt.Forgotten, len(ids), n)
	}
	r.acknowledgeForgetting()
	return nil
}

// forgetWhileWriting forgets in the midst of live entries.
func forgetWhileWriting(ctx context.Context, r *round) error {
	var writing sync.WaitGroup
	var fault error
	begun := make(chan struct{})
	writing.Go(func() {
		for i, n := range r.lab.live(r.lab.material.live) {
			if i == 1 {
				close(begun)
			}
			var receipt lifecycle.Receipt
			if receipt, fault = r.client.Write(ctx, n); fault != nil {
				if i == 0 {
					close(begun)
				}
				return
			}
			r.acknowledge(receipt.Event)
		}
	})
	<-begun
	err := forgetByClient(ctx, r)
	writing.Wait()
	return errors.Join(err, fault)
}

// isNotFound tells of a forgetting that found nothing to forget.
func isNotFound(complaint string) bool { return strings.Contains(complaint, "not found") }
