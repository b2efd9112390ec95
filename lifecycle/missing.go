package lifecycle

import (
	"context"
	"os"
	"path/filepath"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/soul"
)

// Missing is an ErrMissing where a companion's store is not there although there was
// one: backups of it are there, a file that a restore replaced, a SOUL.md that was
// written from it, or versions of that. command gives the command that puts a file
// in the store's place; nil means one that names the data folder. It is nil where the
// store is there and where nothing tells of one. See [chitta.Options.Missing].
func Missing(ctx context.Context, at Places, command func(file string) string) error {
	return chitta.Options{Dir: at.Dir, Backups: at.Backups, RestoreCommand: command, Traces: at.traces()}.Missing(ctx)
}

// traces are what the store left outside of itself. A SOUL.md of another agent is
// none: it has no identity that the program gave.
func (p Places) traces() (t chitta.Traces) {
	path := p.Soul
	if path == "" {
		path = filepath.Join(p.Dir, soulName)
	}
	files := soul.Files{SoulPath: path, ArchiveDir: filepath.Join(p.Dir, "soul", "archive")}
	doc, _ := files.Current() // one that cannot be read tells nothing
	if t.ID = identityOf(doc); t.ID != "" {
		t.Paths = append(t.Paths, path)
	}
	versions, _ := files.List()
	for _, v := range versions {
		doc, _ := os.ReadFile(v.Path)
		id := identityOf(doc)
		if id == "" {
			continue
		}
		if t.ID == "" {
			t.ID = id
		}
		t.Paths = append(t.Paths, filepath.Join(p.Dir, "soul"))
		break
	}
	return t
}

// identityOf is the identity that the front matter of a SOUL.md names, or nothing.
func identityOf(doc []byte) string {
	h, err := soul.ParseHeader(doc)
	if err != nil {
		return ""
	}
	return h.Identity
}
