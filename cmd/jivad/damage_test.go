package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// newest puts the path of the newest automatic backup of a data folder into a
// variable: newest DIR NAME.
func newest(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "backups", "jivad-*.db"))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("there is no backup in %s", args[0])
	}
	ts.Setenv(args[1], files[len(files)-1])
}

// lostPage is a store that has lost one page.
type lostPage struct {
	ts        *testscript.TestScript
	dir, path string
	id        int
	// harmed is the file without the page.
	harmed []byte
	// backup is the good one; harmless is said where nothing is missing.
	backup, harmless string
}

// try runs a verb and tells whether it met the damage; then it must say what to
// do, fail, and leave the file as it is.
func (l lostPage) try(verb string) (damaged bool) {
	err := l.ts.Exec("jivad", append([]string{"--data", l.dir}, strings.Fields(verb)...)...)
	said := l.ts.ReadFile("stdout") + l.ts.ReadFile("stderr")
	if strings.Contains(said, "goroutine ") || strings.Contains(said, "runtime error") {
		l.ts.Fatalf("page %d, %s: it fell over:\n%s", l.id, verb, said)
	}
	if damaged = err != nil; !damaged {
		return false
	}
	if !strings.Contains(said, "restore "+l.backup) && !strings.Contains(said, l.harmless) {
		l.ts.Fatalf("page %d, %s: what to do is not said:\n%s", l.id, verb, said)
	}
	if now, _ := os.ReadFile(l.path); !bytes.Equal(now, l.harmed) {
		l.ts.Fatalf("page %d, %s: the file was changed", l.id, verb)
	}
	return true
}

// eachPage loses each page of a store in turn: eachpage DIR BACKUP. Whoever
// checks must tell that a page in use is lost, and then nobody starts; where it
// was free, or the older of the first two, everything goes on.
func eachPage(ts *testscript.TestScript, _ bool, args []string) {
	const page = 4096
	l := lostPage{ts: ts, dir: ts.MkAbs(args[0]), backup: args[1], harmless: "nothing is missing"}
	l.path = filepath.Join(l.dir, "chitta.db")
	whole, err := os.ReadFile(l.path)
	ts.Check(err)
	lost := 0
	for id := range len(whole) / page {
		l.id, l.harmed = id, bytes.Clone(whole)
		clear(l.harmed[id*page : (id+1)*page])
		if bytes.Equal(l.harmed, whole) {
			continue // reserved, and nothing was there
		}
		ts.Check(os.WriteFile(l.path, l.harmed, 0o600))
		verified, examined := l.try("verify"), l.try("doctor")
		if verified != examined {
			ts.Fatalf("page %d: verify found it: %v, doctor: %v", id, verified, examined)
		}
		if refused := l.try("recall rain"); refused {
			if lost++; !verified {
				ts.Fatalf("page %d: verify did not find it", id)
			}
			for _, verb := range []string{"status", "show abcdef", "write Something.", "session end", "run"} {
				if !l.try(verb) {
					ts.Fatalf("page %d: %s went on", id, verb)
				}
			}
		} else if verified && id > 1 {
			ts.Fatalf("page %d is lost, and recall went on", id)
		}
	}
	ts.Check(os.WriteFile(l.path, whole, 0o600))
	if lost < 3 {
		ts.Fatalf("only %d pages were in use", lost)
	}
}
