package api

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/jivad/jivad/lifecycle"
)

var (
	// errGone: the client reads no more.
	errGone = errors.New("whoever asked for the export is gone")
	// errExportCut: an export ended before its report.
	errExportCut = errors.New("the daemon went away in the middle of the export; nothing of it was kept")
)

// export sends the files of an export, part by part: whoever asked for them
// writes them.
func (s *server) export(w http.ResponseWriter, r *http.Request) {
	out := newStream(w)
	report, err := s.companion.Export(r.Context(), out.progress, out.part)
	out.end(report, err)
}

// part writes a part of a file.
func (s *stream) part(p lifecycle.ExportPart) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.put(message{Part: &p}); s.failed {
		return errGone
	}
	return nil
}

// Export asks for everything, and gives the parts of its files to put.
func (c *Client) Export(ctx context.Context, progress func(lifecycle.Progress), put func(lifecycle.ExportPart) error) (lifecycle.ExportReport, error) {
	var report lifecycle.ExportReport
	err := c.ask(ctx, http.MethodPost, "export", "application/json", http.NoBody, func(body io.Reader) error {
		err := follower{progress: progress, part: put, cut: errExportCut}.follow(body, &report)
		return errors.Join(ctx.Err(), err)
	})
	return report, err
}
