package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) backupVerb() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Copy the store, while it is in use, and prove the copy",
		Long: `Writes a copy of the store as it is at one moment, while everything goes on, and reads
all of it. Without FILE it goes to the folder of automatic backups, of which the newest
stay (backups.keep). FILE is a new file, or a folder for one; nothing is written over,
and it stays until you remove it. A daemon that runs writes it, as its own user.`,
		Example: "  jivad backup\n  jivad backup /mnt/card/companion.db\n  jivad backup --list",
		Args:    atMostOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) > 0 {
				file = absolute(args[0])
			}
			if list {
				if file != "" {
					return usage("--list takes no FILE")
				}
				return a.listBackups(cmd.Context())
			}
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				bar := a.stages()
				report, err := c.Backup(ctx, file, bar.show)
				bar.end()
				if err != nil {
					return err
				}
				return a.answer(report, func(p *printer) { tellBackup(p, report, a.flags.quiet) })
			})
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the folder of backups, newest first")
	return cmd
}

// listBackups needs no store: it may be the one that is damaged.
func (a *app) listBackups(ctx context.Context) error {
	settings, at, err := a.find()
	if at.socket == "" {
		return err
	}
	var list []lifecycle.BackupFile
	folder := backupFolder(settings.Backups.Path, at)
	if c, e := api.Dial(ctx, at.socket); e == nil {
		list, err = c.Backups(ctx)
		_ = c.Close(ctx)
	} else if err == nil {
		list, err = lifecycle.ListBackups(ctx, folder)
	}
	if err != nil {
		return err
	}
	return a.answer(list, func(p *printer) {
		if len(list) == 0 {
			p.line("No backup yet in %s.", folder)
			return
		}
		var rows [][]string
		for _, b := range list {
			kind, state := "kept", p.good("ok")
			if b.Automatic {
				kind = "automatic"
			}
			if !b.OK {
				state = p.bad(oneLine(b.Problem))
			}
			rows = append(rows, []string{b.Taken.UTC().Format("2006-01-02 15:04"), countOf(b.Records), lifecycle.Size(b.Bytes), kind, oneLine(b.Path), state})
		}
		p.table([]string{"taken (UTC)", ">to record", ">size", "kind", "file", ""}, rows)
	})
}

// backupFolder is where the automatic backups are.
func backupFolder(path string, at place) string {
	if path != "" {
		return path
	}
	return filepath.Join(at.data, "backups")
}

func tellBackup(p *printer, r lifecycle.BackupReport, quiet bool) {
	if quiet {
		return
	}
	p.line("Backed up to %s", oneLine(r.Path))
	p.line("Up to record %d, with %s, %s, in %s; all of it was read again.", r.Records, count(r.Texts, "text", "texts"),
		lifecycle.Size(r.Bytes), time.Duration(r.Seconds*float64(time.Second)).Round(10*time.Millisecond))
	if n := len(r.Removed); n > 0 {
		p.line("%s went.", count(n, "older automatic one", "older automatic ones"))
	}
}

// stages shows the progress of work that has several parts, each with its own count.
type stages struct {
	a    *app
	name string
	bar  *progress
}

func (a *app) stages() *stages { return &stages{a: a} }

// stageNames are what is counted in each part.
var stageNames = map[string]string{"copy": "copied", "check": "records checked"}

func (s *stages) show(now lifecycle.Progress) {
	if s.bar == nil || s.name != now.Stage {
		s.end()
		name := stageNames[now.Stage]
		if name == "" {
			name = now.Stage
		}
		s.name, s.bar = now.Stage, s.a.progress(name, now.Total)
	}
	s.bar.show(now)
}

func (s *stages) end() {
	if s.bar != nil {
		s.bar.end()
	}
}
