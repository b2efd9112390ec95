package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/soul/lineage"
)

// What is told of lives and of the lineage, under names of this package for those who
// serve it. Weights, confidences and ratings in them are in millionths.
type (
	Life           = lives.Life
	LineageSummary = projection.Known
	LineageRule    = lineage.Rule
	RuleShare      = lineage.Share
	LineageProof   = lineage.Proof
	ExcisionPlan   = projection.ExcisionPlan
	ExcisionRecord = projection.ExcisionRecord
)

// Errors of what a person asks of lives and of the lineage.
var (
	// ErrNoLife: there is no such life, or none that can be judged now.
	ErrNoLife = projection.ErrNoLife
	// ErrSettled: a judgement came after the obligation of a life was settled.
	ErrSettled = projection.ErrSettled
	// ErrLifeState: that cannot be done with a life in its state.
	ErrLifeState = lives.ErrIllegal
	// ErrNotInLineage: no distillate, rule or version of that name is in the lineage.
	ErrNotInLineage = lineage.ErrAbsent
	// ErrImmature: the lineage may not become part of a model.
	ErrImmature = projection.ErrImmature
	// ErrMoved: the lineage is not the one any more that was looked at.
	ErrMoved = errors.New("the lineage has changed meanwhile")
)

// LineageCheck is what a reading of the whole lineage found.
type LineageCheck struct {
	// Distillates were read; Head is the version that they lead to.
	Distillates int            `json:"distillates"`
	Batches     int            `json:"batches"`
	Lives       int64          `json:"lives"`
	Head        lineage.Digest `json:"head"`
}

// LineageText is the text of the rules of a version, as it enters a prompt.
type LineageText struct {
	Version lineage.Digest `json:"version"`
	Text    string         `json:"text"`
}

// Invited is an invitation: its text, one line, and what it says.
type Invited struct {
	Text    string         `json:"invitation"`
	Genesis lineage.ID     `json:"genesis"`
	Base    lineage.Digest `json:"base"`
	Device  lineage.Key    `json:"device"`
	Hub     string         `json:"hub,omitempty"`
}

// ManifestReport tells of the manifest, and what the next birth would come to now.
type ManifestReport struct {
	Path string `json:"path"`
	// Default says that there is no such file, so that all is as by default.
	Default bool `json:"default,omitempty"`
	// ID is the manifest's id, zero where it has faults.
	ID lineage.Digest `json:"id,omitzero"`
	// Mission, Tools and Bounds are those of the next life; Mind names who would think in
	// it, and Base is the version that it would be born with, both empty where something
	// is missing.
	Mission string         `json:"mission,omitempty"`
	Mind    string         `json:"mind,omitempty"`
	Base    lineage.Digest `json:"base,omitzero"`
	Tools   []string       `json:"tools,omitempty"`
	Bounds  lives.Bounds   `json:"bounds,omitzero"`
	// Missing is all that a birth would lack, empty where it would lack nothing.
	Missing []manifest.Missing `json:"missing"`
}

// Life is a life of this device by its number; 0 means the newest. Error: ErrNoLife.
func (c *Companion) Life(_ context.Context, number int64) (Life, error) { return c.lives.Life(number) }

// ReleaseLife leads a life out of quarantine; how is "clear", "supersede" or "discard",
// see projection.Projections.Release. Errors: ErrQuery, ErrNoLife, ErrLifeState.
func (c *Companion) ReleaseLife(ctx context.Context, number int64, how string) (Life, error) {
	if how != "clear" && how != "supersede" && how != "discard" {
		return Life{}, fmt.Errorf("%w: a life is cleared, superseded or discarded, not %q", ErrQuery, how)
	}
	return c.lives.Release(ctx, number, how)
}

// VerifyLineage reads the whole lineage anew; see projection.Projections.Verify.
func (c *Companion) VerifyLineage(ctx context.Context) (LineageCheck, error) {
	n, err := c.lives.Verify(ctx)
	if err != nil {
		return LineageCheck{}, err
	}
	k := c.lives.Known()
	return LineageCheck{Distillates: n, Batches: k.Batches, Lives: k.Lives, Head: k.Head}, nil
}

// RenderLineage is the text of the rules of a version, named by its digest or the
// beginning of that; empty means the head. Error: ErrNotInLineage.
func (c *Companion) RenderLineage(_ context.Context, version string) (LineageText, error) {
	d, err := c.lives.VersionOf(version)
	if err != nil {
		return LineageText{}, err
	}
	text, err := c.lives.RenderAt(d)
	return LineageText{d, text}, err
}

// LineageRules are all rules of the head, in the order of their keys.
func (c *Companion) LineageRules(context.Context) ([]LineageRule, error) {
	return append([]LineageRule{}, c.lives.AllRules()...), nil
}

// Blame lists who made a rule what it is. Error: ErrNotInLineage.
func (c *Companion) Blame(_ context.Context, key string) ([]RuleShare, error) {
	return c.lives.Blame(key)
}

// Prove proves that a distillate is in the lineage as it is now, or is not; name is as for
// projection.Projections.DigestOf. Errors: ErrNotInLineage, ErrNoLife.
func (c *Companion) Prove(_ context.Context, name string) (LineageProof, error) {
	d, err := c.lives.DigestOf(name)
	if err != nil {
		return LineageProof{}, err
	}
	return c.lives.Prove(d)
}

// Excisions are those that were made, the oldest first.
func (c *Companion) Excisions(context.Context) ([]ExcisionRecord, error) { return c.lives.Excisions() }

// Attest says what the lineage is now, signed by this device: a DSSE envelope as JSON.
// Error: ErrNotInLineage before the first life.
func (c *Companion) Attest(ctx context.Context) (json.RawMessage, error) {
	return c.lives.Attest(ctx, "jivad "+c.opts.Version)
}

// Invite makes an invitation for a further device. hub is the URL of a broker, empty for
// none; one with a password in it is refused, since invitations are passed on. Errors:
// ErrQuery; ErrNotInLineage before the first life.
func (c *Companion) Invite(_ context.Context, hub string) (Invited, error) {
	if err := checkHub(hub); err != nil {
		return Invited{}, err
	}
	text, v, err := c.lives.Invite(hub)
	return Invited{Text: text, Genesis: v.Root, Base: v.Base, Device: v.Device, Hub: v.Hub}, err
}

func checkHub(hub string) error {
	const longest = 500
	if hub == "" {
		return nil
	}
	u, err := url.Parse(hub)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "" || len(hub) > longest:
		return fmt.Errorf("%w: the hub must be a URL such as mqtts://hub.example:8883", ErrQuery)
	case u.User != nil:
		return fmt.Errorf("%w: the hub's URL has a name or a password in it, which whoever gets the invitation could read; leave it out", ErrQuery)
	}
	return nil
}

// Manifest tells what the next life would be born with, and all that it would lack (J-1).
// Nothing is changed.
func (c *Companion) Manifest(ctx context.Context) (ManifestReport, error) {
	out := ManifestReport{Path: c.manifestPath(), Missing: []manifest.Missing{}}
	if _, err := os.Stat(out.Path); errors.Is(err, fs.ErrNotExist) {
		out.Default = true
	}
	if c.opts.Model != nil { // so that what is told of it is of now
		lookAt(ctx, c.opts.Model)
	}
	p, err := c.lives.Prospect(ctx)
	var faulty *manifest.Error
	switch {
	case errors.As(err, &faulty):
		for _, f := range faulty.Faults {
			out.Missing = append(out.Missing, manifest.Missing{
				Invariant: manifest.J1, Code: manifest.Faulty, What: f.String(), Mend: "correct it in " + out.Path,
			})
		}
		return out, nil
	case errors.Is(err, fs.ErrPermission):
		out.Missing = append(out.Missing, manifest.Missing{
			Invariant: manifest.J1, Code: manifest.Faulty, What: "the manifest cannot be read: " + err.Error(), Mend: "let the user that runs jivad read it: chmod u+r",
		})
		return out, nil
	case err != nil:
		return out, err
	}
	if out.ID, err = p.Manifest.Digest(); err != nil {
		return out, err
	}
	out.Mission, out.Mind, out.Base, out.Bounds = p.Manifest.Mission, p.Mind, p.Born.Base, p.Bounds
	for _, t := range p.Manifest.Tools {
		out.Tools = append(out.Tools, t.Name)
	}
	out.Missing = append(out.Missing, p.Missing...)
	return out, nil
}

func (c *Companion) manifestPath() string {
	if c.opts.Manifest != "" {
		return c.opts.Manifest
	}
	return filepath.Join(c.opts.Dir, ManifestFile)
}

// checkManifest looks whether the next life could be born.
func (c *Companion) checkManifest(ctx context.Context) Check {
	const name = "manifest"
	r, err := c.Manifest(ctx)
	if err != nil {
		return Check{Name: name, Detail: err.Error()}
	}
	if n := len(r.Missing); n > 0 {
		detail := r.Missing[0].What
		if n > 1 {
			detail += fmt.Sprintf("; and %d more (jivad manifest check)", n-1)
		}
		return Check{Name: name, Detail: "the next life cannot be born: " + detail, Hint: r.Missing[0].Mend}
	}
	where := r.Path
	if r.Default {
		where = "no " + r.Path + ", so as by default"
	}
	return Check{Name: name, OK: true, Detail: where + "; nothing is missing for the next life"}
}

// tellLife puts into a status what there is to tell of the life and of the lineage.
func (c *Companion) tellLife(s *Status) {
	k := c.lives.Known()
	s.Lineage = &k
	if l, ok := c.lives.Living(); ok {
		s.Life = &l
	}
	if len(k.Missing) > 0 {
		return
	}
	// What a birth lacked is told until one comes about.
	still := s.Problems[:0]
	for _, p := range s.Problems {
		if !strings.HasPrefix(p, projection.ErrUnborn.Error()) {
			still = append(still, p)
		}
	}
	s.Problems = still
}

// withLives notes in sessions which lives were lived in them.
func (c *Companion) withLives(sessions []SessionReport) error {
	all, err := c.lives.Lives(math.MaxInt)
	if err != nil || len(all) == 0 {
		return err
	}
	of := map[int][]int64{}
	for i := len(all) - 1; i >= 0; i-- {
		if l := &all[i]; l.Session > 0 && l.State != lives.Avyakrta {
			of[l.Session] = append(of[l.Session], l.Sequence)
		}
	}
	for i := range sessions {
		sessions[i].Lives = of[sessions[i].Number]
	}
	return nil
}
