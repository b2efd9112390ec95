package projection

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// ErrImmature: the lineage may not become part of a model; see [ImmatureError].
var ErrImmature = errors.New("this may not become part of a model yet")

// ImmatureError lists all that keeps it from that (M-1).
type ImmatureError struct{ Missing []lives.Lack }

// Error lists it, one thing in a line, each with what mends it.
func (e *ImmatureError) Error() string { return listed(ErrImmature, e.Missing) }

// Unwrap gives ErrImmature.
func (e *ImmatureError) Unwrap() error { return ErrImmature }

// Immature lists what keeps the lineage from becoming part of a model (M-1): it moved too
// much in its last lives, a rule of it is contested, a life of it is in quarantine, or the
// person does not let what its rules are made of be trained with.
func (p *Projections) Immature() []lives.Lack {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []lives.Lack
	miss := func(code, what, mend string) {
		out = append(out, lives.Lack{Invariant: lives.M1, Code: code, What: what, Mend: mend})
	}
	if p.lineage == nil || p.lineage.Size() == 0 {
		miss("empty", "no life has left a rule yet", "rate lives with jivad rate")
		return out
	}
	switch n := p.lineage.Batches(); {
	case n < convergedLives:
		miss("moving", fmt.Sprintf("its rules are of too few lives: after %d of them they may be at rest, and there are %d", convergedLives, n), "live on until they stay")
	case !p.lineage.Converged(convergedLives, convergedThreshold):
		miss("moving", fmt.Sprintf("its rules moved by a hundredth or more in one of the last %d lives", convergedLives), "live on until they stay")
	}
	for _, r := range p.lineage.Rules() {
		if r.Contested {
			miss("contested", "the rule "+r.Key+" is contested", "jivad lineage blame "+r.Key+" tells by which lives")
		}
	}
	for _, l := range p.sorted() {
		if l.HoldsPin() {
			miss("quarantined", fmt.Sprintf("life %d is in quarantine", l.Sequence), fmt.Sprintf("jivad lives clear, supersede or discard %d", l.Sequence))
		}
	}
	for _, c := range []consent.Category{consent.Operational, consent.Communications} {
		if d := p.consents.Check(c, consent.Training); d.Answer != consent.Allow {
			what, _, _ := strings.Cut(d.Reason, "; ") // behind that is the mend
			miss("consent", what, fmt.Sprintf("jivad consent set %v.training=allow", c))
		}
	}
	return out
}

// Trains tells whether the person lets a category be made part of a model.
func (p *Projections) Trains(c consent.Category) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.consents.Check(c, consent.Training).Answer == consent.Allow
}

// exported is what is signed of an export.
type exported struct {
	SHA256    lineage.Digest    `json:"sha256"`
	Lines     int               `json:"lines"`
	Identity  lineage.Digest    `json:"identity"`
	Device    lineage.Key       `json:"device"`
	Signature lineage.Signature `json:"signature"`
}

// AttestExport says in JSON what an export was made of: the attestation of the lineage,
// and the digest of the export signed by this device.
func (p *Projections) AttestExport(ctx context.Context, data []byte, tool string) ([]byte, error) {
	statement, err := p.Attest(ctx, tool)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := exported{SHA256: sha256.Sum256(data), Lines: strings.Count(string(data), "\n"), Identity: p.genesis.Identity, Device: publicKey(p.key)}
	x.Signature = lineage.SignAct(p.key, x.Identity, lineage.Digest{}, lineage.Digest{}, x.SHA256)
	return json.MarshalIndent(struct {
		Lineage json.RawMessage `json:"lineage"`
		Export  exported        `json:"export"`
	}{statement, x}, "", "  ")
}
