package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/jivad/jivad/lifecycle"
)

// rating asks for a life to be judged.
type rating struct {
	// Life is its number; 0 means the one that is lived, or else the last that waits.
	Life int64 `json:"life,omitempty"`
	// Valence is from -1 to 1.
	Valence *float64 `json:"valence"`
	// Note is what the person says to it, at most 500 characters; empty for nothing.
	Note string `json:"note,omitempty"`
}

// release leads a life out of quarantine.
type release struct {
	// How is clear, supersede or discard.
	How string `json:"how"`
}

// lives lists the newest lives; without last, all of them.
func (s *server) lives(w http.ResponseWriter, r *http.Request) {
	n, err := number(r.URL.Query(), "last")
	if err != nil {
		refuse(w, err)
		return
	}
	if n == 0 {
		n = math.MaxInt
	}
	list, err := s.companion.Lives(r.Context(), n)
	answer(w, list, err)
}

// lifeNumber reads which life a path names; "latest" is 0.
func lifeNumber(r *http.Request) (int64, error) {
	name := r.PathValue("number")
	if name == "latest" {
		return 0, nil
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: a life is a number from 1, or latest", lifecycle.ErrQuery)
	}
	return n, nil
}

func (s *server) life(w http.ResponseWriter, r *http.Request) {
	n, err := lifeNumber(r)
	if err != nil {
		refuse(w, err)
		return
	}
	l, err := s.companion.Life(r.Context(), n)
	answer(w, l, err)
}

func (s *server) releaseLife(w http.ResponseWriter, r *http.Request) {
	n, err := lifeNumber(r)
	var how release
	if err == nil {
		err = read(w, r, &how)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	l, err := s.companion.ReleaseLife(r.Context(), n, how.How)
	answer(w, l, err)
}

func (s *server) rate(w http.ResponseWriter, r *http.Request) {
	var what rating
	if err := read(w, r, &what); err != nil {
		refuse(w, err)
		return
	}
	if what.Valence == nil {
		refuse(w, fmt.Errorf("%w: valence must be a number from -1 to 1", lifecycle.ErrQuery))
		return
	}
	l, err := s.companion.RateWith(r.Context(), what.Life, *what.Valence, what.Note)
	answer(w, l, err)
}

func (s *server) manifest(w http.ResponseWriter, r *http.Request) {
	m, err := s.companion.Manifest(r.Context())
	answer(w, m, err)
}

// Lives lists the newest lives of the device, the newest first.
func (c *Client) Lives(ctx context.Context, most int) ([]lifecycle.Life, error) {
	return get[[]lifecycle.Life](ctx, c, "lives?last="+strconv.Itoa(most))
}

// Life returns one life; 0 means the newest.
func (c *Client) Life(ctx context.Context, number int64) (lifecycle.Life, error) {
	return get[lifecycle.Life](ctx, c, "lives/"+lifeName(number))
}

// ReleaseLife leads a life out of quarantine.
func (c *Client) ReleaseLife(ctx context.Context, number int64, how string) (lifecycle.Life, error) {
	return send[lifecycle.Life](ctx, c, "lives/"+lifeName(number)+"/release", release{how})
}

// Rate notes how the person judged a life.
func (c *Client) Rate(ctx context.Context, life int64, valence float64) (lifecycle.Life, error) {
	return c.RateWith(ctx, life, valence, "")
}

// RateWith is Rate with what the person says to it.
func (c *Client) RateWith(ctx context.Context, life int64, valence float64, note string) (lifecycle.Life, error) {
	return send[lifecycle.Life](ctx, c, "rate", rating{life, &valence, note})
}

// Manifest tells what the next life would be born with, and what it would lack.
func (c *Client) Manifest(ctx context.Context) (lifecycle.ManifestReport, error) {
	return get[lifecycle.ManifestReport](ctx, c, "manifest")
}

func lifeName(number int64) string {
	if number == 0 {
		return "latest"
	}
	return strconv.FormatInt(number, 10)
}
