package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

const (
	// maxBody bounds a request that is one JSON value.
	maxBody = maxLine
	// maxImport and maxNotes bound an import: some ten lifetimes of diary.
	maxImport = 256 << 20
	maxNotes  = 1_000_000
	// bodyTimeout is how long a client may take to send a request.
	bodyTimeout = 5 * time.Minute
	// answerTimeout bounds how long a client may take to read an answer.
	answerTimeout = 2 * time.Minute
)

// server answers requests for one companion.
type server struct {
	companion Companion
	// importing, verifying and imagining let one at a time in.
	importing, verifying, imagining chan struct{}
}

// NewHandler serves a companion. Beside the numbers of its status, /metrics tells
// what the collectors give.
func NewHandler(c Companion, more ...Collector) http.Handler {
	s := &server{companion: c, importing: make(chan struct{}, 1), verifying: make(chan struct{}, 1), imagining: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	probes(mux, c, more)
	mux.HandleFunc("GET /api/v1/status", s.status)
	mux.HandleFunc("GET /api/v1/doctor", s.doctor)
	mux.HandleFunc("POST /api/v1/write", s.write)
	mux.HandleFunc("POST /api/v1/talk", s.talk)
	mux.HandleFunc("POST /api/v1/import", s.importNotes)
	mux.HandleFunc("GET /api/v1/sessions", s.sessions)
	mux.HandleFunc("GET /api/v1/sessions/{number}", s.session)
	mux.HandleFunc("POST /api/v1/sessions/end", s.endSession)
	mux.HandleFunc("POST /api/v1/recall", s.recall)
	mux.HandleFunc("GET /api/v1/impressions/{id}", s.show)
	mux.HandleFunc("GET /api/v1/soul", s.soul)
	mux.HandleFunc("GET /api/v1/soul/versions", s.soulVersions)
	mux.HandleFunc("GET /api/v1/vasanas", s.vasanas)
	mux.HandleFunc("GET /api/v1/ghosts", s.ghosts)
	mux.HandleFunc("POST /api/v1/ghosts/of", s.ghostsOf)
	mux.HandleFunc("GET /api/v1/trend", s.trend)
	mux.HandleFunc("POST /api/v1/verify", s.verify)
	mux.HandleFunc("POST /api/v1/forget/plan", s.planForget)
	mux.HandleFunc("POST /api/v1/forget", s.forget)
	mux.HandleFunc("POST /api/v1/export", s.export)
	mux.HandleFunc("GET /api/v1/backups", s.backups)
	mux.HandleFunc("POST /api/v1/backups", s.backup)
	mux.HandleFunc("GET /api/v1/lives", s.lives)
	mux.HandleFunc("GET /api/v1/lives/{number}", s.life)
	mux.HandleFunc("POST /api/v1/lives/{number}/release", s.releaseLife)
	mux.HandleFunc("POST /api/v1/rate", s.rate)
	mux.HandleFunc("GET /api/v1/manifest", s.manifest)
	mux.HandleFunc("GET /api/v1/lineage", s.lineage)
	mux.HandleFunc("POST /api/v1/lineage/verify", s.verifyLineage)
	mux.HandleFunc("GET /api/v1/lineage/render", s.renderLineage)
	mux.HandleFunc("GET /api/v1/lineage/rules", s.lineageRules)
	mux.HandleFunc("GET /api/v1/lineage/blame/{key}", s.blame)
	mux.HandleFunc("GET /api/v1/lineage/proofs/{id}", s.prove)
	mux.HandleFunc("GET /api/v1/lineage/attestation", s.attest)
	mux.HandleFunc("POST /api/v1/absorb", s.absorb)
	mux.HandleFunc("POST /api/v1/invite", s.invite)
	mux.HandleFunc("POST /api/v1/excise/plan", s.planExcise)
	mux.HandleFunc("POST /api/v1/excise", s.excise)
	mux.HandleFunc("GET /api/v1/excisions", s.excisions)
	mux.HandleFunc("GET /api/v1/claims", s.claims)
	mux.HandleFunc("POST /api/v1/claims", s.addClaim)
	mux.HandleFunc("GET /api/v1/claims/{id}", s.claim)
	mux.HandleFunc("POST /api/v1/claims/change", s.changeClaim)
	mux.HandleFunc("POST /api/v1/claims/forget", s.forgetClaims)
	mux.HandleFunc("POST /api/v1/claims/gate", s.gateAct)
	mux.HandleFunc("GET /api/v1/acts/pending", s.pendingActs)
	mux.HandleFunc("POST /api/v1/acts/answer", s.answerAct)
	mux.HandleFunc("GET /api/v1/consent", s.consent)
	mux.HandleFunc("POST /api/v1/consent/plan", s.planConsent)
	mux.HandleFunc("POST /api/v1/consent", s.setConsent)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, lifecycle.ErrNotFound))
	})
	return withTimes(mux)
}

// withTimes bounds how long a request may take to arrive and an answer to be
// read. Long work moves the latter with every line.
func withTimes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer has them
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, value any, err error) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	if err != nil {
		refuse(w, err)
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n'))
}

// read takes the one JSON value of a request.
func read(w http.ResponseWriter, r *http.Request, value any) error {
	if err := isType(r, "application/json"); err != nil {
		return err
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return badBody(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: there is more than one JSON value", ErrRequest)
	}
	return nil
}

func isType(r *http.Request, want string) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != want {
		return fmt.Errorf("%w: its Content-Type must be %s", ErrRequest, want)
	}
	return nil
}

// badBody says what is wrong with a body without quoting it.
func badBody(err error) error {
	var tooLarge *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &tooLarge):
		return fmt.Errorf("%w: it may have %d bytes", ErrTooLarge, tooLarge.Limit)
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%w: a line may have %d bytes", ErrTooLarge, maxLine)
	case errors.As(err, &kind):
		return fmt.Errorf("%w: %s cannot be a %s", ErrRequest, kind.Field, kind.Value)
	}
	return fmt.Errorf("%w: it is not the JSON that belongs here", ErrRequest)
}

// number reads a whole number of the query; missing is 0.
func number(values url.Values, name string) (int, error) {
	text := values.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %s must be a whole number, 0 or more", lifecycle.ErrQuery, name)
	}
	return n, nil
}
