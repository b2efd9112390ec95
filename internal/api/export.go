package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// exportMessage is a line of the answer to an export: of any long work, or a part
// of a file.
type exportMessage struct {
	message
	Part *lifecycle.ExportPart `json:"part,omitempty"`
}

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
	line, err := json.Marshal(exportMessage{Part: &p})
	if err != nil {
		return err
	}
	if !s.failed {
		_ = s.control.SetWriteDeadline(time.Now().Add(lineTimeout)) // not every writer has one
		_, err = s.w.Write(append(line, '\n'))
		s.failed = err != nil
	}
	if s.failed {
		return errGone
	}
	return nil
}

// Export asks for everything, and gives the parts of its files to put.
func (c *Client) Export(ctx context.Context, progress func(lifecycle.Progress), put func(lifecycle.ExportPart) error) (lifecycle.ExportReport, error) {
	var report lifecycle.ExportReport
	err := c.ask(ctx, http.MethodPost, "export", "application/json", http.NoBody, func(body io.Reader) error {
		err := receive(body, progress, put, &report)
		return errors.Join(ctx.Err(), err)
	})
	return report, err
}

// receive reads the lines of an export until its report.
func receive(body io.Reader, progress func(lifecycle.Progress), put func(lifecycle.ExportPart) error, report *lifecycle.ExportReport) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		var m exportMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("the daemon answered something that is not JSON: %w", err)
		}
		switch {
		case m.Problem != nil:
			return m.Problem
		case m.Report != nil:
			return json.Unmarshal(m.Report, report)
		case m.Part != nil:
			if err := put(*m.Part); err != nil {
				return err
			}
		case m.Progress != nil && progress != nil:
			progress(*m.Progress)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnreachable, errExportCut, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, errExportCut)
}
