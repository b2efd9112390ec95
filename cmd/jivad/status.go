package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

// statusReport is the status, and whether a daemon gave it.
type statusReport struct {
	Running bool `json:"running"`
	lifecycle.Status
	// PID and Uptime are of the daemon; where none runs they are absent.
	PID    int     `json:"pid,omitempty"`
	Uptime float64 `json:"uptime_seconds,omitempty"`
}

func (a *app) statusVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Tell how the companion is",
		Example: "  jivad status\n  jivad status --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.looked(cmd.Context(), nil, func(ctx context.Context, c companion) error {
				s, err := c.Status(ctx)
				if err != nil {
					return err
				}
				_, running := c.(*api.Client)
				report := statusReport{Running: running, Status: s}
				if running {
					report.PID, report.Uptime = s.PID, s.Uptime
				}
				return a.answer(report, func(p *printer) { tellStatus(p, report) })
			})
		},
	}
}

func tellStatus(p *printer, s statusReport) {
	if s.Running {
		p.row("daemon", "%s, process %d, up %s", p.good("running"), s.PID, uptime(s.Uptime))
		p.row("socket", "%s", s.Socket)
		if s.Door != nil {
			p.row("door", "%s, recall %d", clipped(s.Door.Address, shownName), s.Door.Recall)
		}
	} else {
		p.row("daemon", "not running (start it with: jivad run)")
	}
	p.row("version", "%s", s.Version)
	p.row("data", "%s (%s)", s.DataDir, lifecycle.Size(s.StoreBytes))
	p.row("diary", "%s", dash(s.Diary))
	p.row("entries", "%d, which left %s; %s", s.Entries, count(s.Impressions, "impression", "impressions"), count(s.Tendencies, "tendency", "tendencies"))
	if s.Unplaced > 0 {
		p.row("no place", "%s, since the embedder changed", count(s.Unplaced, "impression", "impressions"))
	}
	if s.Buried > 0 {
		p.row("buried", "%s", count(s.Buried, "entry, whose text is gone", "entries, whose texts are gone"))
	}
	if len(s.Retention) > 0 {
		p.long("retention", keeping(s.Retention)+"; all else by its source")
	}
	log := count(int(s.Events), "record", "records")
	if s.LastRecord > s.Events {
		log += fmt.Sprintf(", the last is number %d", s.LastRecord)
	}
	p.row("log", "%s", log)
	p.long("models", modelsLine(s.Status))
	if s.EmbedderState != nil {
		p.long("embedder", embedderLine(*s.EmbedderState, s.Waiting))
	}
	if s.Model != nil {
		p.long("model", modelLine(*s.Model, s.EmbedderState))
		for _, k := range s.Model.Closed {
			p.long("not "+k.What, closedLine(k))
		}
	}
	if s.Session != nil {
		p.row("session", "%d of %s is open, %s", s.Session.Number, dash(s.Session.Date), count(s.Session.Events, "entry", "entries"))
	}
	if l := s.LastSession; l != nil {
		p.row("last session", "%d of %s, %s", l.Number, dash(l.Date), count(l.Events, "entry", "entries"))
	}
	tellLiving(p, s)
	p.row("backups", "%s", backupsLine(s.Backups))
	if s.Queue > 0 {
		p.row("waiting", "%d", s.Queue)
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Withheld)) {
		p.row("no text kept", "%s of %s since the start: jivad consent set %s.storage=allow %s.access=allow", count(s.Withheld[kind], "entry", "entries"), kind, kind, kind)
	}
	for _, problem := range s.Problems {
		for line := range strings.Lines(problem) { // an error may hold several
			name := "problem"
			if strings.HasPrefix(line, " ") {
				name = "" // it belongs to the line before
			}
			p.longIn(p.bad, name, oneLine(line))
		}
	}
}

// tellLiving tells of the life that is lived, or why none could be born, and of what lives
// have left.
func tellLiving(p *printer, s statusReport) {
	k := s.Lineage
	if l := s.Life; l != nil {
		p.row("life", "%d, since %s, %s, %d refused", l.Sequence, l.Born.Time.Local().Format("2006-01-02 15:04"), count(l.Spent.Acts, "act", "acts"), l.Spent.Refused)
	} else if k != nil && len(k.Missing) > 0 {
		more := ""
		if n := len(k.Missing); n > 1 {
			more = fmt.Sprintf("; %d more", n-1)
		}
		p.longIn(p.bad, "life", "none could be born: "+oneLine(k.Missing[0].What)+more+"; see jivad manifest check")
	}
	if k == nil || k.Distillates+k.Waiting+k.Quarantined == 0 {
		return
	}
	line := fmt.Sprintf("version %s, %s, %d contested", short(k.Head.String()), count(k.Rules, "rule", "rules"), k.Contested)
	if k.Waiting > 0 {
		line += "; " + count(k.Waiting, "life waits", "lives wait") + " for your judgement (jivad rate)"
	}
	if k.Quarantined > 0 {
		line += fmt.Sprintf("; %d in quarantine (jivad lives)", k.Quarantined)
	}
	p.long("lineage", line)
}

func backupsLine(b lifecycle.BackupStatus) string {
	line := "none yet"
	if b.Taken != nil {
		line = fmt.Sprintf("%d, the newest of %s (%s ago), up to record %d", b.Count, b.Taken.UTC().Format("2006-01-02 15:04 UTC"),
			age(b.Age), b.Records)
	}
	if !b.Automatic {
		line += "; automatic ones are switched off"
	}
	return line
}

// age is a span of time in its largest unit.
func age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// keeping writes what the person set of how much is kept.
func keeping(r lifecycle.Retention) string {
	var out []string
	for _, category := range slices.Sorted(maps.Keys(r)) {
		out = append(out, fmt.Sprintf("%s %s", category, r[category]))
	}
	return strings.Join(out, ", ")
}

func uptime(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
