package api

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"

	"github.com/jivad/jivad/lifecycle"
)

// Problem is an error on its way through the socket (RFC 9457). On the other
// side errors.Is finds the error that it was.
type Problem struct {
	// Type is urn:jivad:problem: and a word for the kind of error.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail is the error's own text.
	Detail string `json:"detail"`
}

func (p *Problem) Error() string { return p.Detail }

// Unwrap gives the error that the problem stands for, if it is a known one.
func (p *Problem) Unwrap() error {
	for _, k := range kinds {
		if problemType+k.word == p.Type {
			return k.err
		}
	}
	return nil
}

const problemType = "urn:jivad:problem:"

var (
	// ErrTooLarge: a request is larger than the daemon takes.
	ErrTooLarge = errors.New("the request is too large")
	// ErrRequest: a request is not what the daemon understands.
	ErrRequest = errors.New("the request is not understood")
	// ErrBusy: work of that kind is being done already.
	ErrBusy = errors.New("the companion is busy with the same work already; try again when it is done")
)

// kinds are the errors that a problem can stand for. The first that fits is taken.
var kinds = []struct {
	err    error
	word   string
	title  string
	status int
}{
	{lifecycle.ErrNotFound, "not-found", "Not found", http.StatusNotFound},
	{lifecycle.ErrEmpty, "empty", "Nothing to remember", http.StatusUnprocessableEntity},
	{lifecycle.ErrTooLong, "too-long", "Text too long", http.StatusUnprocessableEntity},
	{lifecycle.ErrDate, "date", "Not a date", http.StatusUnprocessableEntity},
	{lifecycle.ErrCategory, "category", "Category not known", http.StatusUnprocessableEntity},
	{lifecycle.ErrQuery, "query", "Question not understood", http.StatusUnprocessableEntity},
	{lifecycle.ErrConsent, "consent", "Consent cannot be said so", http.StatusUnprocessableEntity},
	{lifecycle.ErrRefused, "refused", "The policy of evidence says no", http.StatusConflict},
	{lifecycle.ErrAmbiguous, "ambiguous", "More than one fits", http.StatusConflict},
	{lifecycle.ErrNoSession, "no-session", "No session is open", http.StatusConflict},
	{lifecycle.ErrSettled, "settled", "The life is settled", http.StatusConflict},
	{lifecycle.ErrNoLife, "no-life", "No such life", http.StatusNotFound},
	{lifecycle.ErrLifeState, "life-state", "Not in this state of the life", http.StatusConflict},
	{lifecycle.ErrNotInLineage, "not-in-lineage", "Not in the lineage", http.StatusNotFound},
	{lifecycle.ErrImmature, "immature", "Not to be trained with", http.StatusConflict},
	{lifecycle.ErrMoved, "lineage-moved", "The lineage has changed", http.StatusConflict},
	{lifecycle.ErrDamaged, "damaged", "The store is damaged", http.StatusInternalServerError},
	{lifecycle.ErrCopying, "copying", "A backup is being made", http.StatusConflict},
	{lifecycle.ErrWithdrawn, "withdrawn", "Leave was withdrawn", http.StatusConflict},
	{fs.ErrExist, "exists", "There already", http.StatusConflict},
	{lifecycle.ErrEmbedderAway, "embedder-away", "The embedder is away", http.StatusServiceUnavailable},
	{lifecycle.ErrStopping, "stopping", "The companion is stopping", http.StatusServiceUnavailable},
	{lifecycle.ErrClosed, "closed", "The companion is closed", http.StatusServiceUnavailable},
	{ErrBusy, "busy", "Busy", http.StatusServiceUnavailable},
	{ErrTooLarge, "too-large", "Request too large", http.StatusRequestEntityTooLarge},
	{ErrRequest, "request", "Request not understood", http.StatusBadRequest},
	{context.Canceled, "cancelled", "Cancelled", 499},
	{context.DeadlineExceeded, "timeout", "Out of time", http.StatusGatewayTimeout},
}

// problemOf says what an error is in terms of HTTP.
func problemOf(err error) *Problem {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return &Problem{Type: problemType + k.word, Title: k.title, Status: k.status, Detail: err.Error()}
		}
	}
	return &Problem{Type: problemType + "failed", Title: "Failed", Status: http.StatusInternalServerError, Detail: err.Error()}
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, err error) {
	p := problemOf(err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
