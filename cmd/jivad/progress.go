package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/jivad/jivad/lifecycle"
)

// progress shows how far long work is: a bar where a person looks on, a plain
// line every two seconds elsewhere, nothing with --quiet. It goes to standard
// error, so that the answer can be piped.
type progress struct {
	what string
	bar  *progressbar.ProgressBar
	out  io.Writer
	// last is when a plain line was written; of a bar, when the work began.
	last time.Time
}

const (
	linesEvery = 2 * time.Second
	// barAfter is how long work may take without a bar.
	barAfter = 300 * time.Millisecond
)

func (a *app) progress(what string, total int) *progress {
	p := &progress{what: what, last: time.Now()}
	if a.flags.quiet {
		return p
	}
	if f, ok := a.stderr.(*os.File); ok && isTerminal(f) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(true),
		)
		return p
	}
	p.out = a.stderr
	return p
}

// show takes a report of progress.
func (p *progress) show(now lifecycle.Progress) {
	switch {
	case p.bar != nil && time.Since(p.last) >= barAfter:
		if p.bar.GetMax() != now.Total {
			p.bar.ChangeMax(now.Total)
		}
		if now.PerMinute > 0 {
			p.bar.Describe(fmt.Sprintf("%s, %.0f a minute", p.what, now.PerMinute))
		}
		_ = p.bar.Set(now.Done)
	case p.out != nil && time.Since(p.last) >= linesEvery:
		p.last = time.Now()
		rate := ""
		if now.PerMinute > 0 {
			rate = fmt.Sprintf(", %.0f a minute", now.PerMinute)
		}
		fmt.Fprintf(p.out, "%d of %d %s%s\n", now.Done, now.Total, p.what, rate)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
	}
}
