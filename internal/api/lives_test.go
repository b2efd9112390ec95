package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

var (
	rated     = int64(-500_000)
	life      = lifecycle.Life{Schema: "s", ID: [16]byte{1}, Sequence: 3, State: "active", Base: [32]byte{2}, Mind: "m", Rating: &rated}
	lineageAt = lifecycle.LineageSummary{Root: [16]byte{1}, Head: [32]byte{3}, Rules: 2, Waiting: 1}
	checked   = lifecycle.LineageCheck{Distillates: 2, Batches: 1, Lives: 3, Head: [32]byte{3}}
	rendered  = lifecycle.LineageText{Version: [32]byte{3}, Text: "- a: prefer <b> & c\n"}
	rules     = []lifecycle.LineageRule{{Key: "a.b", Weight: -1, Guidance: "a: b", Support: 2, Contested: true}}
	shares    = []lifecycle.RuleShare{{Digest: [32]byte{4}, Life: [16]byte{1}, Weight: 7, Counts: 8, Guidance: "a: b", Words: true}}
	inLineage = lifecycle.LineageProof{Schema: "p", Version: [32]byte{3}, Size: 1, Present: true}
	envelope  = json.RawMessage(`{"payload":"eA==","signatures":[]}`)
	invited   = lifecycle.Invited{Text: "jivad-invitation-1:x", Genesis: [16]byte{1}, Hub: "mqtts://h"}
	toExcise  = lifecycle.ExcisionPlan{Lives: nil, Before: [32]byte{3}, After: [32]byte{5}}
	record    = lifecycle.ExcisionRecord{Number: 1, Before: [32]byte{3}, After: [32]byte{5}, Who: "w"}
	excised   = lifecycle.ExcisionReceipt{ExcisionRecord: record, Files: []string{"f"}, Backups: 1, Seconds: 0.5}
	bornFrom  = lifecycle.ManifestReport{Path: "/x/manifest.toml", ID: [32]byte{6}, Mission: "m", Tools: []string{"t"}, Missing: nil}
)

// lifeAsked is what a fake was asked of lives last.
var lifeAsked []any

func (f *fake) Lives(_ context.Context, most int) ([]lifecycle.Life, error) {
	lifeAsked = []any{most}
	return []lifecycle.Life{life}, f.err
}

func (f *fake) Life(_ context.Context, n int64) (lifecycle.Life, error) {
	lifeAsked = []any{n}
	return life, f.err
}

func (f *fake) ReleaseLife(_ context.Context, n int64, how string) (lifecycle.Life, error) {
	lifeAsked = []any{n, how}
	return life, f.err
}

func (f *fake) Rate(_ context.Context, n int64, valence float64) (lifecycle.Life, error) {
	lifeAsked = []any{n, valence}
	return life, f.err
}

func (f *fake) RateWith(ctx context.Context, n int64, valence float64, note string) (lifecycle.Life, error) {
	if note == "" {
		return f.Rate(ctx, n, valence)
	}
	lifeAsked = []any{n, valence, note}
	return life, f.err
}

func (f *fake) Manifest(context.Context) (lifecycle.ManifestReport, error)    { return bornFrom, f.err }
func (f *fake) Lineage(context.Context) (lifecycle.LineageSummary, error)     { return lineageAt, f.err }
func (f *fake) VerifyLineage(context.Context) (lifecycle.LineageCheck, error) { return checked, f.err }
func (f *fake) LineageRules(context.Context) ([]lifecycle.LineageRule, error) { return rules, f.err }
func (f *fake) Attest(context.Context) (json.RawMessage, error)               { return envelope, f.err }
func (f *fake) Absorb(context.Context) (lifecycle.Absorption, error)          { return absorbed, f.err }
func (f *fake) Excisions(context.Context) ([]lifecycle.ExcisionRecord, error) {
	return []lifecycle.ExcisionRecord{record}, f.err
}

func (f *fake) RenderLineage(_ context.Context, version string) (lifecycle.LineageText, error) {
	lifeAsked = []any{version}
	return rendered, f.err
}

func (f *fake) Blame(_ context.Context, key string) ([]lifecycle.RuleShare, error) {
	lifeAsked = []any{key}
	return shares, f.err
}

func (f *fake) Prove(_ context.Context, name string) (lifecycle.LineageProof, error) {
	lifeAsked = []any{name}
	return inLineage, f.err
}

func (f *fake) Invite(_ context.Context, hub string) (lifecycle.Invited, error) {
	lifeAsked = []any{hub}
	return invited, f.err
}

func (f *fake) PlanExcise(_ context.Context, q lifecycle.ExcisionRequest) (lifecycle.ExcisionPlan, error) {
	lifeAsked = []any{q}
	return toExcise, f.err
}

func (f *fake) ExciseLives(_ context.Context, q lifecycle.ExcisionRequest) (lifecycle.ExcisionReceipt, error) {
	lifeAsked = []any{q}
	return excised, f.err
}

var absorbed = lifecycle.Absorption{Rules: 2, Gists: 1, Data: []byte("{}\n"), Attestation: json.RawMessage(`{"export":1}`)}

var excision = lifecycle.ExcisionRequest{Lives: []string{"3", "ab/c"}, Close: true, Head: "00", Who: "w"}

// ofLives are the questions about lives and the lineage, and what the companion is asked
// by them, nil where nothing is given.
var ofLives = []struct {
	asked
	given []any
}{
	{asked{"lives", func(ctx context.Context, c Companion) (any, error) { return c.Lives(ctx, 5) }, []lifecycle.Life{life}}, []any{5}},
	{asked{"life", func(ctx context.Context, c Companion) (any, error) { return c.Life(ctx, 3) }, life}, []any{int64(3)}},
	{asked{"release", func(ctx context.Context, c Companion) (any, error) { return c.ReleaseLife(ctx, 3, "clear") }, life}, []any{int64(3), "clear"}},
	{asked{"rate", func(ctx context.Context, c Companion) (any, error) { return c.Rate(ctx, 3, -0.5) }, life}, []any{int64(3), -0.5}},
	{asked{"rate with a note", func(ctx context.Context, c Companion) (any, error) { return c.RateWith(ctx, 3, 1, "Good.") }, life}, []any{int64(3), 1.0, "Good."}},
	{asked{"manifest", func(ctx context.Context, c Companion) (any, error) { return c.Manifest(ctx) }, bornFrom}, nil},
	{asked{"lineage", func(ctx context.Context, c Companion) (any, error) { return c.Lineage(ctx) }, lineageAt}, nil},
	{asked{"verify lineage", func(ctx context.Context, c Companion) (any, error) { return c.VerifyLineage(ctx) }, checked}, nil},
	{asked{"render", func(ctx context.Context, c Companion) (any, error) { return c.RenderLineage(ctx, "0a&b") }, rendered}, []any{"0a&b"}},
	{asked{"rules", func(ctx context.Context, c Companion) (any, error) { return c.LineageRules(ctx) }, rules}, nil},
	{asked{"blame", func(ctx context.Context, c Companion) (any, error) { return c.Blame(ctx, "a.b/?x") }, shares}, []any{"a.b/?x"}},
	{asked{"prove", func(ctx context.Context, c Companion) (any, error) { return c.Prove(ctx, "0a/b") }, inLineage}, []any{"0a/b"}},
	{asked{"attest", func(ctx context.Context, c Companion) (any, error) { return c.Attest(ctx) }, envelope}, nil},
	{asked{"absorb", func(ctx context.Context, c Companion) (any, error) { return c.Absorb(ctx) }, absorbed}, nil},
	{asked{"invite", func(ctx context.Context, c Companion) (any, error) { return c.Invite(ctx, "mqtts://h") }, invited}, []any{"mqtts://h"}},
	{asked{"plan excise", func(ctx context.Context, c Companion) (any, error) { return c.PlanExcise(ctx, excision) }, toExcise}, []any{excision}},
	{asked{"excise", func(ctx context.Context, c Companion) (any, error) { return c.ExciseLives(ctx, excision) }, excised}, []any{excision}},
	{asked{"excisions", func(ctx context.Context, c Companion) (any, error) { return c.Excisions(ctx) }, []lifecycle.ExcisionRecord{record}}, nil},
}

func askedOfLives() (out []asked) {
	for _, q := range ofLives {
		out = append(out, q.asked)
	}
	return out
}

func TestQuestionsOfLivesArriveWhole(t *testing.T) {
	_, client := serve(t, &fake{})
	for _, q := range ofLives {
		lifeAsked = nil
		if _, err := q.ask(t.Context(), client); err != nil || !reflect.DeepEqual(lifeAsked, q.given) {
			t.Errorf("%s asked %+v (%v), want %+v", q.name, lifeAsked, err, q.given)
		}
	}
	if _, err := client.Lives(t.Context(), 0); err != nil || lifeAsked[0] != math.MaxInt {
		t.Errorf("all lives asked for %v (%v)", lifeAsked, err)
	}
	if _, err := client.Life(t.Context(), 0); err != nil || lifeAsked[0] != int64(0) {
		t.Errorf("the newest life asked for %v (%v)", lifeAsked, err)
	}
}

// A life that comes late is settled, though the reason is one of its state.
func TestASettledLifeIsThatFirst(t *testing.T) {
	_, client := serve(t, &fake{err: fmt.Errorf("%w: %w", lifecycle.ErrSettled, lifecycle.ErrLifeState)})
	if _, err := client.Rate(t.Context(), 1, 1); !errors.Is(err, lifecycle.ErrSettled) {
		t.Error(err)
	}
	for _, want := range []error{lifecycle.ErrNoLife, lifecycle.ErrLifeState, lifecycle.ErrNotInLineage, lifecycle.ErrMoved} {
		_, client := serve(t, &fake{err: fmt.Errorf("life 3: %w", want)})
		if _, err := client.ExciseLives(t.Context(), excision); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestRequestsOfLivesAreChecked(t *testing.T) {
	h := NewHandler(&fake{})
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/v1/lives/0", "", http.StatusUnprocessableEntity},
		{"GET", "/api/v1/lives/x", "", http.StatusUnprocessableEntity},
		{"GET", "/api/v1/lives?last=-1", "", http.StatusUnprocessableEntity},
		{"POST", "/api/v1/lives/-2/release", `{"how":"clear"}`, http.StatusUnprocessableEntity},
		{"POST", "/api/v1/rate", `{}`, http.StatusUnprocessableEntity},
		{"POST", "/api/v1/rate", `{"valence":"1"}`, http.StatusBadRequest},
		{"POST", "/api/v1/rate", `{"valence":1,"more":2}`, http.StatusBadRequest},
		{"POST", "/api/v1/excise", `{"lives":"3"}`, http.StatusBadRequest},
		{"POST", "/api/v1/rate", `{"valence":0}`, http.StatusOK},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		if c.method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s %s: %d, want %d: %s", c.method, c.path, c.body, w.Code, c.want, w.Body)
		}
	}
}
