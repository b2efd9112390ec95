package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

// Kinds of failure. The first two are losses.
const (
	kindLost    = "lost"    // something acknowledged is not there, or only a part of it
	kindBack    = "back"    // something forgotten is there again, or a byte of it
	kindTwice   = "twice"   // an entry is there twice
	kindStrange = "strange" // there is something that nobody gave it
	kindVerify  = "verify"  // verify is not clean
	kindSoul    = "soul"    // SOUL.md cannot be read, or is not of the last session
	kindState   = "state"   // the deed done again leads to another state
	kindFailed  = "failed"  // something failed that nothing disturbed
	kindMessage = "message" // a failure was not told clearly
	kindLife    = "life"    // a life owes what it must not, or is not where it must be
	kindCrash   = "crash"   // a panic
	kindHang    = "hang"    // it did not end
	kindLeft    = "left"    // rubbish was left lying
	kindHarness = "harness" // the harness itself failed: the round proves nothing
)

// check looks at everything once the target is dead, does the deed again and
// compares with a run that nothing disturbed.
func (r *round) check(ctx context.Context, ref *reference) error {
	r.checkFailure()
	if r.fault.name != "cut" {
		r.checkSoulFile()
	}
	if _, err := os.Stat(filepath.Join(r.data, "chitta.db")); err == nil && (!r.deed.first || r.deed.base != "none") {
		r.verifyOffline(ctx, "")
	}
	r.again = true
	if r.deed.first || !r.deed.daemon && r.rng.IntN(3) == 0 {
		// Done again before anything else looked: as one does who saw it fail.
		if err := r.deed.do(ctx, r); err != nil {
			r.fail(kindFailed, "done again, it fails: %v", err)
		}
	}
	d, err := r.lab.daemon(ctx, r.data, r.spec(false))
	if err != nil {
		r.failBy(kindFailed, "the daemon after it", err)
		return nil
	}
	defer d.kill()
	r.client = d.client
	now, err := contentsOf(ctx, r.client)
	if err != nil {
		r.failBy(kindFailed, "after it", err)
		return nil
	}
	b, err := r.lab.base(ctx, r.deed.base)
	if err != nil {
		return err
	}
	r.checkEntries(b.contents, ref.contents, now)
	for _, n := range r.ended {
		if !now.closed(n) {
			r.fail(kindLost, "session %d had ended, and is open or not there", n)
		}
	}
	gone := goneFrom(b.contents, ref.contents)
	if r.deed.keeps {
		gone = nil
	}
	if len(gone) > 0 && !slices.ContainsFunc(gone, func(e remembered) bool { _, there := now.by(e.id); return there }) {
		r.checkAbsent(ctx, gone)
	}
	r.checkSoon(ctx, kindSoul, r.soulIsLast)
	r.checkSoon(ctx, kindLeft, r.nothingLeft)
	if r.deed.look != nil {
		if err := r.deed.look(ctx, r); err != nil {
			return err
		}
	}
	if r.deed.alone {
		d.kill()
		if err := d.wait(ctx); err != nil {
			return err
		}
	}
	if err := r.deed.do(ctx, r); err != nil {
		r.failBy(kindFailed, "done again, it fails", err)
		return nil
	}
	if r.deed.alone {
		if d, err = r.lab.daemon(ctx, r.data, r.spec(false)); err != nil {
			r.failBy(kindFailed, "the daemon after it is done again", err)
			return nil
		}
		defer d.kill()
		r.client = d.client
	}
	last, err := r.settle(ctx)
	if err != nil {
		r.failBy(kindFailed, "done again, afterwards", err)
		return nil
	}
	r.compare(ref.contents, last)
	if len(gone) > 0 {
		r.checkAbsent(ctx, gone)
	}
	r.checkSoon(ctx, kindSoul, r.soulIsLast)
	d.terminate()
	if err := d.wait(ctx); err != nil {
		r.failBy(kindFailed, "stop", err)
	} else if d.code() != 0 {
		r.fail(kindFailed, "asked to stop, the daemon ends with %d: %s", d.code(), firstLines(d.stderr.String()))
	}
	if d.panicked() {
		r.fail(kindCrash, "the daemon after it: %s", firstLines(d.stderr.String()))
	}
	r.verifyOffline(ctx, last.digest)
	return ctx.Err()
}

// settle ends a session that is open, and reads everything.
func (r *round) settle(ctx context.Context) (contents, error) {
	s, err := r.client.Status(ctx)
	if err != nil {
		return contents{}, err
	}
	if s.Session != nil {
		if _, err := r.client.EndSession(ctx); err != nil && !errors.Is(err, lifecycle.ErrNoSession) {
			return contents{}, err
		}
	}
	return contentsOf(ctx, r.client)
}

// checkFailure looks at how the deed failed: by the fault, and clearly.
func (r *round) checkFailure() {
	switch {
	case errors.Is(r.said, errHangs):
		r.fail(kindHang, "%v: %s", r.said, firstLines(r.target.stderr.String()))
	case r.said == nil:
	case r.fault.kills && !r.Hit:
		r.fail(kindFailed, "it failed and was not killed: %v", r.said)
	case !r.fault.kills && !r.explained():
		r.fail(kindMessage, "it does not say why it failed: %v", r.said)
	}
}

// explained tells whether the message of a failure names its cause.
func (r *round) explained() bool {
	said := r.said.Error()
	if r.target != nil && !r.deed.client {
		said += r.target.stderr.String()
	}
	return slices.ContainsFunc(r.fault.says, func(s string) bool { return strings.Contains(said, s) })
}

// checkSoulFile: a SOUL.md that is there is whole.
func (r *round) checkSoulFile() {
	doc, err := os.ReadFile(filepath.Join(r.data, "SOUL.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		_, err = soul.ParseHeader(doc)
	}
	if err == nil {
		if _, _, whole := soul.ExtractGiven(doc, nil); !whole {
			err = errors.New("its section Given is not whole")
		}
	}
	if err != nil {
		r.fail(kindSoul, "SOUL.md: %v", err)
	}
}

// checkSoon fails where something does not come to be in order. A daemon may be
// at it just now, so it is given some time.
func (r *round) checkSoon(ctx context.Context, kind string, look func(context.Context) error) {
	deadline := time.NewTimer(patience / 6)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := look(ctx)
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-deadline.C:
			r.fail(kind, "%v", err)
			return
		case <-ctx.Done():
			return
		}
	}
}

// soulIsLast: SOUL.md is of the last session that ended.
func (r *round) soulIsLast(ctx context.Context) error {
	sessions, err := r.client.Sessions(ctx)
	if err != nil {
		return err
	}
	doc, err := os.ReadFile(filepath.Join(r.data, "SOUL.md"))
	if err != nil {
		return err
	}
	h, err := soul.ParseHeader(doc)
	if err != nil {
		return fmt.Errorf("SOUL.md: %w", err)
	}
	last := 0
	for _, s := range sessions {
		if !s.Open {
			last = s.Number
		} else if s.Number == h.Session {
			return nil // one that ended and was taken up again
		}
	}
	if h.Session != last {
		return fmt.Errorf("SOUL.md is of session %d, the last one that ended is %d", h.Session, last)
	}
	return nil
}

// verifyOffline runs verify as a person would; digest, if any, is what it must find.
func (r *round) verifyOffline(ctx context.Context, digest string) {
	p, err := start(r.spec(false, "--data", r.data, "--json", "verify"))
	if err == nil {
		err = p.wait(ctx)
	}
	if err != nil {
		r.failBy(kindVerify, "verify", err)
		return
	}
	var report lifecycle.VerifyReport
	if err := json.Unmarshal([]byte(p.stdout.String()), &report); err != nil || p.code() != 0 || !report.OK {
		r.fail(kindVerify, "exit code %d: %s%s", p.code(), failed(report.Checks), firstLines(p.stderr.String()))
		return
	}
	if digest != "" && report.StateDigest != digest {
		r.fail(kindState, "after the stop the state is %.12s, before it was %.12s", report.StateDigest, digest)
	}
}

// goneFrom are entries of the base that an undisturbed run takes away.
func goneFrom(base, done contents) []remembered {
	var gone []remembered
	for _, e := range base.entries {
		if _, stays := done.by(e.id); !stays {
			gone = append(gone, e)
		}
	}
	return gone
}

// checkEntries looks at what is there in the midst of it: all that was there
// before and stays, all that was acknowledged, nothing that nobody gave, nothing
// twice; of what is to be forgotten all or nothing.
func (r *round) checkEntries(base, done, now contents) {
	seen := map[remembered]string{}
	added, kept, gone := 0, 0, 0
	for _, e := range now.entries {
		words := remembered{date: e.date, text: e.text}
		if r.deed.dated {
			words.date = "" // said on two days it is twice the same
		}
		if other, twice := seen[words]; twice {
			r.fail(kindTwice, "%s and %s are the same entry", other, e.id)
		}
		seen[words] = e.id
		was, before := r.find(base, e)
		is, after := r.find(done, e)
		switch {
		case !before && !after:
			r.fail(kindStrange, "nobody gave it entry %s", e.id)
		case !(before && was.text == e.text) && !(after && is.text == e.text):
			r.fail(kindLost, "the text of %s is not what was given: %d bytes, %d were given", e.id, len(e.text), max(len(was.text), len(is.text)))
		case !before:
			added++
		case !after:
			gone++
		}
		if after {
			kept++
		}
	}
	for _, e := range base.entries {
		_, stays := r.find(done, e)
		if _, there := r.find(now, e); stays && !there {
			r.fail(kindLost, "entry %s was there before, and is lost", e.id)
		}
	}
	for _, id := range sortedKeys(r.acked) {
		if _, there := now.by(id); !there {
			r.fail(kindLost, "entry %s was acknowledged, and is lost", id)
		}
	}
	if kept < r.count {
		r.fail(kindLost, "%d entries were acknowledged, %d are there", r.count, kept)
	}
	forgotten := len(goneFrom(base, done))
	switch {
	case r.forgot && gone > 0:
		r.fail(kindBack, "%d entries are there of which the forgetting was acknowledged", gone)
	case gone > 0 && gone < forgotten:
		r.fail(kindLost, "%d of %d entries to forget are there: it is neither done nor undone", gone, forgotten)
	}
}

// find gives the entry of c that e is. It is the one of its id, which the day is a part of;
// where that day is the clock's, so that midnight makes another id of what is done again, it
// is else the one of the same words.
func (r *round) find(c contents, e remembered) (remembered, bool) {
	if found, there := c.by(e.id); there || !r.deed.dated {
		return found, there
	}
	if i := slices.IndexFunc(c.entries, func(o remembered) bool { return o.text == e.text }); i >= 0 {
		return c.entries[i], true
	}
	return remembered{}, false
}

// overnight tells that the day is over on which the lab was made, and that the deed's state
// hangs on it: a session of then is ended and another begun.
func (r *round) overnight() bool {
	return (r.deed.live || r.deed.base == "today") && r.lab.day != today()
}

// compare holds the end against that of an undisturbed run.
func (r *round) compare(want, got contents) {
	for _, e := range want.entries {
		if g, there := r.find(got, e); !there || g.text != e.text {
			r.fail(kindLost, "done again, and entry %s is not there as it was given", e.id)
		}
	}
	if len(got.entries) != len(want.entries) {
		r.fail(kindTwice, "done again, and there are %d entries, not %d", len(got.entries), len(want.entries))
	}
	given := !r.deed.free && !r.overnight() && r.clock == [2]string{} && !(r.deed.live && r.stopped)
	if got.digest != want.digest && given {
		r.fail(kindState, "done again, it comes to state %.12s, undisturbed it comes to %.12s", got.digest, want.digest)
	}
}

// checkAbsent: no byte of what is forgotten is in any file of the folder.
func (r *round) checkAbsent(ctx context.Context, gone []remembered) {
	for _, e := range gone {
		p, err := start(r.spec(false, "--data", r.data, "--json", "verify", "--absent", e.text))
		if err == nil {
			err = p.wait(ctx)
		}
		if err != nil {
			r.failBy(kindBack, "verify --absent", err)
			return
		}
		var report lifecycle.AbsentReport
		if err := json.Unmarshal([]byte(p.stdout.String()), &report); err != nil || p.code() != 0 || !report.Absent {
			r.fail(kindBack, "forgotten, and still in %s %s", strings.Join(report.Found, ", "), firstLines(p.stderr.String()))
			return
		}
	}
}

// madeBy is the process in the name of a backup that is being made.
var madeBy = regexp.MustCompile(`^\.jivad-[0-9a-f]+-(\d+)\.tmp$`)

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// nothingLeft: nothing temporary lies about once a start has cleaned up.
func (r *round) nothingLeft(context.Context) error {
	return filepath.WalkDir(r.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went away meanwhile
		}
		if m := madeBy.FindStringSubmatch(d.Name()); m != nil && fileThere("/proc/"+m[1]) {
			return nil // a daemon that runs is making a backup
		}
		for _, mark := range []string{".tmp", ".rewrite", ".new-"} {
			if strings.Contains(d.Name(), mark) {
				rel, _ := filepath.Rel(r.data, path)
				return fmt.Errorf("%s was left", rel)
			}
		}
		return nil
	})
}

// failBy fails with an error whose kind may be plain to see.
func (r *round) failBy(kind, what string, err error) {
	switch {
	case errors.Is(err, errUnclean):
		kind = kindVerify
	case errors.Is(err, errHangs):
		kind = kindHang
	case errors.Is(err, context.Canceled):
		kind = kindHarness
	}
	r.fail(kind, "%s: %v", what, err)
}

func (r *round) fail(kind, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Failures = append(r.Failures, failure{kind, fmt.Sprintf(format, args...)})
}
