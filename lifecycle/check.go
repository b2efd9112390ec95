package lifecycle

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/soul"
)

// Verify checks the store record by record, folds it again and compares, and
// writes SOUL.md a second time to see that it comes out the same.
func (c *Companion) Verify(ctx context.Context, full bool, progress func(Progress)) (VerifyReport, error) {
	began := time.Now()
	o := chitta.VerifyOptions{Full: full}
	if progress != nil {
		o.Progress = func(done, total uint64) {
			progress(Progress{Done: int(done), Total: int(total), Stage: "fold", Elapsed: time.Since(began)})
		}
	}
	v, err := c.store.Verify(ctx, o)
	if err != nil {
		return VerifyReport{}, err
	}
	out := VerifyReport{OK: true, StateDigest: hex.EncodeToString(v.Digest[:]), Events: v.Events, From: v.From}
	for _, f := range v.Findings {
		out.Checks = append(out.Checks, Check(f))
	}
	out.Checks = append(out.Checks, c.checkClaims(ctx), c.checkLineage(ctx), c.checkSoul(ctx))
	for _, k := range out.Checks {
		out.OK = out.OK && k.OK
	}
	out.Seconds = time.Since(began).Seconds()
	return out, nil
}

// checkClaims reads the claims anew.
func (c *Companion) checkClaims(ctx context.Context) Check {
	if err := c.claimsUnread(); err != nil {
		return Check{Name: "claims", Detail: err.Error()}
	}
	claims, events, err := c.claims.Check(ctx)
	if err != nil {
		return Check{Name: "claims", Detail: err.Error(), Hint: "Put a backup of before in place with `jivad restore --latest`."}
	}
	if events == 0 {
		return Check{Name: "claims", OK: true, Detail: "none was made"}
	}
	detail := fmt.Sprintf("%d, the same when their %d records are folded again", claims, events)
	if n := c.claims.Dropped(); n > 0 {
		detail += fmt.Sprintf("; %d that instruments took back were dropped with their time", n)
	}
	return Check{Name: "claims", OK: true, Detail: detail}
}

// checkLineage reads the lineage and the lives anew.
func (c *Companion) checkLineage(ctx context.Context) Check {
	n, err := c.lives.Verify(ctx)
	if err != nil {
		return Check{Name: "lineage", Detail: err.Error(), Hint: "jivad restore brings a backup of before."}
	}
	k := c.lives.Known()
	if k.Lives == 0 {
		return Check{Name: "lineage", OK: true, Detail: "no life was lived yet"}
	}
	return Check{Name: "lineage", OK: true, Detail: fmt.Sprintf("%d of %d lives distilled, every version the same when folded again", n, k.Lives)}
}

// checkSoul writes the last session's SOUL.md again from the store, and looks
// whether the one in the folder is that. Where it is not, the worker may be just about to
// write it: then it is looked at once more in its turn, when nothing is written.
func (c *Companion) checkSoul(ctx context.Context) Check {
	out := c.compareSoul()
	if !out.OK {
		settled := make(chan Check, 1)
		if err := c.do(ctx, interactive, func(context.Context) error { settled <- c.compareSoul(); return nil }); err == nil {
			out = <-settled
		}
	}
	if note := c.soulFollows(); note != "" && out.OK {
		out.Detail += "; " + note
	}
	return out
}

// soulFollows tells of a SOUL.md in the folder that is not the one that the store
// wrote last, after a restore say, and that the next start puts right; else nothing.
func (c *Companion) soulFollows() string {
	last, err := c.lastWritten()
	if err != nil || last == nil {
		return ""
	}
	file, err := c.files.Current()
	if err != nil {
		return err.Error()
	}
	if len(bytes.TrimSpace(file)) == 0 {
		return "SOUL.md is not in the folder; it comes back at the next start"
	}
	if h, err := soul.ParseHeader(file); err == nil && c.anotherVersion(h, last) {
		return fmt.Sprintf("SOUL.md in the folder is of session %d; it follows at the next start", h.Session)
	}
	return ""
}

func (c *Companion) compareSoul() Check {
	out := Check{Name: "soul", OK: true}
	before, err := c.lastWritten()
	if err != nil {
		return Check{Name: "soul", Detail: err.Error()}
	}
	again, err := c.regenerate()
	if errors.Is(err, errNotNow) {
		out.Detail = err.Error()
		return out
	}
	if err != nil {
		return Check{Name: "soul", Detail: err.Error()}
	}
	last, err := c.lastWritten()
	if err != nil {
		return Check{Name: "soul", Detail: err.Error()}
	}
	if h, err := soul.ParseHeader(last); err == nil {
		if h2, err := soul.ParseHeader(again); err == nil && h.StoreDigest != h2.StoreDigest {
			out.Detail = "not compared: an entry was edited, or the embedder changed, since; SOUL.md follows when the next session ends"
			return out
		}
	}
	if string(before) != string(last) {
		out.Detail = "not compared: a session ended meanwhile"
		return out
	}
	if string(again) != string(last) && c.unsettledMoved() {
		out.Detail = "not compared: what is unsettled of claims has changed since; SOUL.md follows within a minute, or at the next start"
		return out
	}
	if string(again) != string(last) {
		return Check{Name: "soul", Detail: "SOUL.md comes out differently from the same store", Hint: "Please report this: it is a fault of the program."}
	}
	out.Detail = fmt.Sprintf("%s, the same when written again", Size(int64(len(last))))
	return out
}

var errNotNow = errors.New("not compared: no session has ended, or one is open")

// regenerate renders SOUL.md of the last closed session from the store.
func (c *Companion) regenerate() ([]byte, error) {
	s, err := c.lastSummary()
	if err != nil {
		return nil, err
	}
	return soul.Render(s, c.opts.SoulBytes)
}

// lastSummary is what SOUL.md of the last closed session says, from the store.
func (c *Companion) lastSummary() (s soul.Summary, err error) {
	names, err := c.modelNames()
	if err != nil {
		return s, err
	}
	return c.lastSummaryWith(names)
}

// lastSummaryWith is lastSummary with these names of the model.
func (c *Companion) lastSummaryWith(names modelNames) (s soul.Summary, err error) {
	state := c.store.Snapshot()
	number := c.lastClosed()
	r, ok := c.record(number)
	if !ok || state.Session.Open || int(state.Session.Number) != number {
		return s, errNotNow
	}
	own, err := c.tendenciesOf(number)
	if err != nil {
		return s, err
	}
	past, err := c.tendenciesOf(number - 1)
	if err != nil {
		return s, err
	}
	depths, err := depthsOf(state)
	if err != nil {
		return s, err
	}
	s, err = c.summary(state, depths, r.Record, own, past)
	names.onto(&s, state, own)
	return c.narrated(s), err
}

// Doctor looks at everything that a person may have to mend.
func (c *Companion) Doctor(ctx context.Context) ([]Check, error) {
	checks := []Check{c.checkModes(), c.checkDiary(), c.checkChat(ctx), c.checkEmbedder(ctx), c.checkClock(), c.checkIndex(ctx)}
	stats := c.store.Health()
	checks = append(checks, Check{Name: "store", OK: true, Detail: fmt.Sprintf(
		"%s, %d of %d pages free, started from record %d, %d folded on top",
		Size(stats.Bytes), stats.FreePages, stats.Pages, c.store.Start().Snapshot, c.store.Start().Folded)})
	if fault := faultOf(c.store); fault != "" {
		checks = append(checks, Check{Name: "damage", Detail: fault})
	} else {
		for _, f := range c.store.Check(ctx) {
			if !f.OK {
				checks = append(checks, Check{Name: "damage", Detail: f.Name + ": " + f.Detail, Hint: f.Hint})
			}
		}
	}
	if err := c.claimsUnread(); err != nil {
		checks = append(checks, Check{Name: "claims", Detail: err.Error()})
	} else {
		for _, p := range c.sensingProblems() {
			checks = append(checks, Check{Name: "evidence", Detail: p})
		}
	}
	checks = append(checks, c.checkManifest(ctx), c.checkBackups(ctx), c.checkSoul(ctx))
	return checks, nil
}

// checkModes sees that nobody else can read the data folder.
func (c *Companion) checkModes() Check {
	open, files := 0, 0
	err := filepath.WalkDir(c.opts.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if c.opts.Diary != "" && path == c.opts.Diary {
			return filepath.SkipDir // the person's own folder
		}
		if path == c.opts.SoulPath {
			return nil // may be opened to another agent
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSocket == 0 {
			open++
		}
		return nil
	})
	if err != nil {
		out := Check{Name: "permissions", Detail: err.Error()}
		if errors.Is(err, fs.ErrPermission) {
			out.Hint = "The user that runs jivad must own all of " + c.opts.Dir + ": chown -R it, then chmod -R u+rwX,go-rwx it."
		}
		return out
	}
	if open > 0 {
		return Check{Name: "permissions", Detail: fmt.Sprintf("%d of %d files can be read by others", open, files), Hint: "chmod -R go-rwx " + c.opts.Dir}
	}
	return Check{Name: "permissions", OK: true, Detail: fmt.Sprintf("%d files and folders, readable by their owner only", files)}
}

func (c *Companion) checkDiary() Check {
	if c.opts.Diary == "" {
		return Check{Name: "diary", OK: true, Detail: "no diary folder is watched"}
	}
	if _, err := os.ReadDir(c.opts.Diary); err != nil {
		hint := "Create the folder, or set diary.path in the configuration."
		if errors.Is(err, fs.ErrPermission) {
			hint = "Let the user that runs jivad read it (chmod u+rx, or chown), or set diary.path in the configuration."
		}
		return Check{Name: "diary", Detail: err.Error(), Hint: hint}
	}
	return Check{Name: "diary", OK: true, Detail: c.opts.Diary + " can be read"}
}

func (c *Companion) checkClock() Check {
	now, synchronised := c.opts.Now()
	shows := now.Format(time.RFC3339)
	switch trusted := c.claims.Now().Trusted; {
	case !trusted && (synchronised || c.claims.Policy().TrustClock):
		return Check{Name: "clock", Detail: "it shows less than it did: " + shows + "; until it is past that every claim that can be over counts as over, and acts of high consequence are refused",
			Hint: "Set it right. Where it was wrong before, jivad claims list tells the claims of that time, and jivad claims forget takes them out."}
	case !synchronised && trusted:
		return Check{Name: "clock", OK: true, Detail: "not synchronised: " + shows + "; trust_clock in " + PolicyFile + " takes it for right"}
	case !synchronised:
		return Check{Name: "clock", OK: true, Detail: "not synchronised: " + shows + "; the order of entries does not depend on it, but every claim that can be over counts as over, and acts of high consequence are refused",
			Hint: "Run a time service; or, where you know that it is right, say trust_clock = true in " + PolicyFile + "."}
	}
	return Check{Name: "clock", OK: true, Detail: "synchronised: " + shows}
}

func (c *Companion) checkIndex(ctx context.Context) Check {
	if _, err := c.indexed(ctx); err != nil {
		return Check{Name: "index", Detail: err.Error()}
	}
	r := c.index.Report()
	return Check{Name: "index", OK: true, Detail: fmt.Sprintf("%s serves %d rows; %s", r.Serving, r.Rows, r.Why)}
}

// Size writes a number of bytes for people.
func Size(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	case bytes >= 1e3:
		return fmt.Sprintf("%.0f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
