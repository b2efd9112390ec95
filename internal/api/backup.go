package api

import (
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/jivad/jivad/lifecycle"
)

// backupRequest asks for a backup.
type backupRequest struct {
	// File is where it goes; empty means an automatic one.
	File string `json:"file,omitempty"`
}

func (s *server) backups(w http.ResponseWriter, r *http.Request) {
	list, err := s.companion.Backups(r.Context())
	answer(w, list, err)
}

// backup makes one. The companion itself sees that it is one at a time.
func (s *server) backup(w http.ResponseWriter, r *http.Request) {
	var what backupRequest
	if err := read(w, r, &what); err != nil {
		refuse(w, err)
		return
	}
	if what.File != "" && !filepath.IsAbs(what.File) {
		refuse(w, fmt.Errorf("%w: file must be an absolute path", lifecycle.ErrQuery))
		return
	}
	out := newStream(w)
	report, err := s.companion.Backup(r.Context(), what.File, out.progress)
	out.end(report, err)
}
