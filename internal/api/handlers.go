package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jivad/jivad/lifecycle"
)

func (s *server) doctor(w http.ResponseWriter, r *http.Request) {
	checks, err := s.companion.Doctor(r.Context())
	answer(w, checks, err)
}

func (s *server) write(w http.ResponseWriter, r *http.Request) {
	var n lifecycle.Note
	if err := read(w, r, &n); err != nil {
		refuse(w, err)
		return
	}
	if err := lifecycle.CheckCategory(n.Category); err != nil {
		refuse(w, err)
		return
	}
	if n.Source == "" {
		n.Source = "api"
	}
	receipt, err := s.companion.Write(r.Context(), n)
	answer(w, receipt, err)
}

// importNotes takes one note a line. All of them are read before the first is
// remembered, because the days are put in order.
func (s *server) importNotes(w http.ResponseWriter, r *http.Request) {
	if err := isType(r, "application/x-ndjson"); err != nil {
		refuse(w, err)
		return
	}
	leave, err := enter(s.importing)
	if err != nil {
		refuse(w, err)
		return
	}
	notes, err := readNotes(w, r)
	if err != nil {
		leave()
		refuse(w, err)
		return
	}
	out := newStream(w)
	report, err := func() (lifecycle.ImportReport, error) {
		defer leave() // before the client knows, so that it may come again at once
		return s.companion.Import(r.Context(), notes, out.progress)
	}()
	out.end(report, err)
}

func readNotes(w http.ResponseWriter, r *http.Request) ([]lifecycle.Note, error) {
	lines := bufio.NewScanner(http.MaxBytesReader(w, r.Body, maxImport))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var notes []lifecycle.Note
	for line := 1; lines.Scan(); line++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if len(notes) == maxNotes {
			return nil, fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxNotes)
		}
		var n lifecycle.Note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, badBody(err))
		}
		if err := lifecycle.CheckCategory(n.Category); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		notes = append(notes, n)
	}
	if err := lines.Err(); err != nil {
		return nil, badBody(err)
	}
	return notes, nil
}

// enter lets one at a time in.
func enter(door chan struct{}) (leave func(), err error) {
	select {
	case door <- struct{}{}:
		return func() { <-door }, nil
	default:
		return nil, ErrBusy
	}
}

func (s *server) sessions(w http.ResponseWriter, r *http.Request) {
	list, err := s.companion.Sessions(r.Context())
	answer(w, list, err)
}

// session answers for one session; "latest" is the last one.
func (s *server) session(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("number")
	n := 0
	if name != "latest" {
		var err error
		if n, err = strconv.Atoi(name); err != nil || n < 1 {
			refuse(w, fmt.Errorf("%w: a session is a number from 1, or latest", lifecycle.ErrQuery))
			return
		}
	}
	one, err := s.companion.Session(r.Context(), n)
	answer(w, one, err)
}

func (s *server) endSession(w http.ResponseWriter, r *http.Request) {
	ended, err := s.companion.EndSession(r.Context())
	answer(w, ended, err)
}

func (s *server) recall(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.RecallQuery
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	hits, err := s.companion.Recall(r.Context(), q)
	answer(w, hits, err)
}

func (s *server) show(w http.ResponseWriter, r *http.Request) {
	m, err := s.companion.Show(r.Context(), r.PathValue("id"))
	answer(w, m, err)
}

func (s *server) soul(w http.ResponseWriter, r *http.Request) {
	n, err := number(r.URL.Query(), "session")
	if err != nil {
		refuse(w, err)
		return
	}
	doc, err := s.companion.Soul(r.Context(), n)
	answer(w, doc, err)
}

func (s *server) soulVersions(w http.ResponseWriter, r *http.Request) {
	list, err := s.companion.SoulVersions(r.Context())
	answer(w, list, err)
}

func (s *server) vasanas(w http.ResponseWriter, r *http.Request) {
	list, err := s.companion.Vasanas(r.Context())
	answer(w, list, err)
}

func (s *server) trend(w http.ResponseWriter, r *http.Request) {
	n, err := number(r.URL.Query(), "last")
	if err != nil {
		refuse(w, err)
		return
	}
	records, err := s.companion.Trend(r.Context(), n)
	answer(w, records, err)
}

func (s *server) verify(w http.ResponseWriter, r *http.Request) {
	full := false
	if text := r.URL.Query().Get("full"); text != "" {
		var err error
		if full, err = strconv.ParseBool(text); err != nil {
			refuse(w, fmt.Errorf("%w: full must be true or false", lifecycle.ErrQuery))
			return
		}
	}
	leave, err := enter(s.verifying)
	if err != nil {
		refuse(w, err)
		return
	}
	out := newStream(w)
	report, err := func() (lifecycle.VerifyReport, error) {
		defer leave() // before the client knows, so that it may come again at once
		return s.companion.Verify(r.Context(), full, out.progress)
	}()
	out.end(report, err)
}

func (s *server) ghosts(w http.ResponseWriter, r *http.Request) {
	report, err := s.companion.Ghosts(r.Context())
	answer(w, report, err)
}

func (s *server) ghostsOf(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.GhostQuery
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	leave, err := enter(s.imagining)
	if err != nil {
		refuse(w, err)
		return
	}
	out := newStream(w)
	report, err := func() (lifecycle.Counterfactual, error) {
		defer leave() // before the client knows, so that it may come again at once
		return s.companion.GhostsOf(r.Context(), q, out.progress)
	}()
	out.end(report, err)
}

func (s *server) status(w http.ResponseWriter, r *http.Request) {
	status, err := s.companion.Status(r.Context())
	answer(w, status, err)
}
