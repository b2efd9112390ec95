package lineage

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/gowebpki/jcs"
)

// Schema is the version of the form of a distillate.
const Schema = "jivad/distillate/1"

const (
	// MaxDispositions bounds the rules of one life.
	MaxDispositions = 32
	// MaxBytes bounds a distillate's canonical form.
	MaxBytes = 64 << 10
)

// Disposition is a rule that a life left: how to do something, never what happened.
type Disposition struct {
	// Key is AREA.NAME, such as "tool.fare_search" or "companion.brevity": lower-case
	// letters, digits and _ in two parts or more between dots, of an area that there is.
	Key string `json:"key"`
	// Guidance says in one sentence, of at most 240 code points, which choice it is
	// about and what is chosen, as "SCOPE: CHOICE"; see CheckRule. Whether it is to be
	// preferred or avoided is in the weight alone.
	Guidance string `json:"guidance"`
	// Weight is in [-Million, Million]: the valence of the satisfaction (S-2).
	Weight int64 `json:"weight"`
	// Confidence is in (0, Million]: how often the example that it was taken from had
	// the outcome that it tells of.
	Confidence int64 `json:"confidence"`
	// Evidence is the digest of what it was taken from, under a secret of the life that
	// was destroyed with it.
	Evidence Digest `json:"evidence"`
}

// Sources of a satisfaction.
const (
	Explicit = "explicit"
	Implicit = "implicit"
)

// ImplicitConfidence is the most that a judgement nobody spoke may count for.
const ImplicitConfidence = 3 * Million / 10

// Satisfaction is the principal's own judgement of a life.
type Satisfaction struct {
	// Valence is in [-Million, Million], Confidence in (0, Million].
	Valence    int64 `json:"valence"`
	Confidence int64 `json:"confidence"`
	// Source is Explicit or Implicit; an implicit one has at most 0.3 of confidence.
	Source string `json:"source"`
	// Model is the version of the principal's satisfaction model that it was computed
	// by, as NUMBER/DIGEST; empty where the principal said it.
	Model string `json:"model"`
}

// Polarities of a distillate.
const (
	Corrective  = "corrective"
	Reinforcing = "reinforcing"
)

// Distillate is all that is left of a life, which is of the device that signed it: of what
// another says of a life of the same id nothing is this one's. Its digest is that of its canonical form
// without the signature.
type Distillate struct {
	Schema string `json:"schema"`
	ID     ID     `json:"id"`
	Life   ID     `json:"life"`
	// Identity is that of the lineage, Nonce that of the projection that lived.
	Identity Digest `json:"identity"`
	Nonce    Digest `json:"nonce"`
	// Device is the public key of the device.
	Device Key `json:"device"`
	// Manifest is the digest of the manifest that it was born from, Base the version
	// of the lineage that it was born with.
	Manifest     Digest        `json:"manifest"`
	Base         Digest        `json:"base"`
	Dispositions []Disposition `json:"dispositions"`
	Satisfaction Satisfaction  `json:"satisfaction"`
	// Polarity is Corrective for a valence under 0, else Reinforcing.
	Polarity string `json:"polarity"`
	// Consent is the record of consent that it may be kept by.
	Consent ID `json:"consent"`
	// Sequence counts the lives of the device from 1. It is the device's own word, and what
	// counts never hangs on it: two distillates of one number are two lives where they name
	// two.
	Sequence  int64     `json:"sequence"`
	Signature Signature `json:"signature"`

	// known is the digest, once Sign or Parse saw it; nobody may change it from then on.
	known Digest
}

// PolarityOf tells the polarity of a valence.
func PolarityOf(valence int64) string {
	if valence < 0 {
		return Corrective
	}
	return Reinforcing
}

// unsigned is the form that is digested and signed.
type unsigned struct {
	*Distillate
	Signature *struct{} `json:"signature,omitempty"` // hides the one below
}

// payload is the canonical form (RFC 8785) without the signature.
func (d *Distillate) payload() ([]byte, error) { return canonical(unsigned{Distillate: d}) }

// Canonical is the canonical form (RFC 8785), the signature in it.
func (d *Distillate) Canonical() ([]byte, error) { return canonical(d) }

// Digest is the SHA-256 of the canonical form without the signature.
func (d *Distillate) Digest() (Digest, error) {
	data, err := d.payload()
	if err != nil {
		return Digest{}, err
	}
	return sha256.Sum256(data), nil
}

func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(data)
}

// signed is what a device signs: the act's kind, the identity, the nonce, the manifest
// and the digest of the payload (AD-4).
func signed(identity, nonce, manifest, payload Digest) []byte {
	return slices.Concat([]byte("jivad/act/1\x00"), identity[:], nonce[:], manifest[:], payload[:])
}

// SignAct signs the digest of an act of a life that is not a distillate (AD-4).
func SignAct(key ed25519.PrivateKey, identity, nonce, manifest, payload Digest) (s Signature) {
	copy(s[:], ed25519.Sign(key, signed(identity, nonce, manifest, payload)))
	return s
}

// CheckAct tells whether a device signed the digest of an act. Error: ErrSignature.
func CheckAct(device Key, identity, nonce, manifest, payload Digest, s Signature) error {
	if !ed25519.Verify(device[:], signed(identity, nonce, manifest, payload), s[:]) {
		return fmt.Errorf("an act: %w", ErrSignature)
	}
	return nil
}

// Sign signs a distillate with the key of its device, which it is given by that.
func (d *Distillate) Sign(key ed25519.PrivateKey) error {
	copy(d.Device[:], key.Public().(ed25519.PublicKey))
	digest, err := d.Digest()
	if err != nil {
		return err
	}
	copy(d.Signature[:], ed25519.Sign(key, signed(d.Identity, d.Nonce, d.Manifest, digest)))
	d.known = digest
	return nil
}

// Parse reads a distillate, which must be in canonical form, valid by Check and signed
// by its device. Errors: ErrForm, ErrWeight, ErrNoSignal, ErrSignature.
func Parse(data []byte) (*Distillate, error) {
	d, err := ParseKept(data)
	if err != nil {
		return nil, err
	}
	if err := d.checkForm(); err != nil {
		return nil, err
	}
	if err := d.checkDetails(map[string]bool{}); err != nil {
		return nil, err
	}
	return d, d.checkSignature(d.known)
}

// ParseKept reads a distillate that was taken in once, and is held against the digest that was
// kept then. Its form may have been wider at that time, so only the canonical form is asked
// and what the fold needs: keys in order, each once, numbers in their ranges. Whether it would
// be taken in today Check tells. Error: ErrForm.
func ParseKept(data []byte) (*Distillate, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: a distillate of %d bytes; at most %d", ErrForm, len(data), MaxBytes)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	var d Distillate
	if err := in.Decode(&d); err != nil {
		return nil, unreadable(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something stands behind the distillate", ErrForm)
	}
	again, err := d.Canonical()
	if err != nil || !bytes.Equal(again, data) {
		return nil, fmt.Errorf("%w: the distillate is not in its canonical form", ErrForm)
	}
	if err := d.checkShape(); err != nil {
		return nil, fmt.Errorf("distillate %s: %w", d.ID, err)
	}
	d.known = sha256.Sum256(d.withoutSignature(again))
	return &d, nil
}

// withoutSignature gives the payload, of the canonical form. Quotation marks in strings are
// escaped, so the member stands there once.
func (d *Distillate) withoutSignature(form []byte) []byte {
	text, _ := d.Signature.MarshalText()
	before, after, _ := bytes.Cut(form, slices.Concat([]byte(`,"signature":"`), text, []byte(`"`)))
	return slices.Concat(before, after)
}

// unreadable tells of JSON that cannot be read, without what stands in it.
func unreadable(err error) error {
	if errors.Is(err, ErrForm) {
		return err
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%w: %s is no %s", ErrForm, wrong.Field, wrong.Type)
	}
	return fmt.Errorf("%w: it is no distillate", ErrForm)
}

// CheckSignature tells whether the device signed it. Error: ErrSignature.
func (d *Distillate) CheckSignature() error {
	digest, err := d.Digest()
	if err != nil {
		return err
	}
	return d.checkSignature(digest)
}

func (d *Distillate) checkSignature(digest Digest) error {
	if !ed25519.Verify(d.Device[:], signed(d.Identity, d.Nonce, d.Manifest, digest), d.Signature[:]) {
		return fmt.Errorf("distillate %s: %w", d.ID, ErrSignature)
	}
	return nil
}

// Check tells whether a distillate is one: form, ranges, S-1 as far as a record shows it
// (a fixed set of fields, short guidance of a scope that its key names, no detail that leads
// to somebody) and S-2. It asks nothing but the record, so that every device takes in the
// same ones. Errors: ErrForm, ErrWeight, ErrNoSignal.
func (d *Distillate) Check() error {
	if err := d.checkForm(); err != nil {
		return err
	}
	return d.checkDetails(map[string]bool{})
}

// checkForm is Check but for the details.
func (d *Distillate) checkForm() error {
	if err := d.check(); err != nil {
		return fmt.Errorf("distillate %s: %w", d.ID, err)
	}
	return nil
}

// checkShape is what the fold needs of a distillate, whatever form it was taken in by.
func (d *Distillate) checkShape() error {
	s := d.Satisfaction
	switch {
	case d.Schema != Schema:
		return fmt.Errorf("%w: of the form %q, not %s", ErrForm, clipped(d.Schema), Schema)
	case d.Life == (ID{}) || d.Sequence < 1 || d.Sequence > maxInteger:
		return fmt.Errorf("%w: the life or the sequence is missing", ErrForm)
	case s.Valence < -Million || s.Valence > Million || s.Confidence <= 0 || s.Confidence > Million:
		return fmt.Errorf("%w: a satisfaction out of its range", ErrForm)
	case len(d.Dispositions) == 0 || len(d.Dispositions) > MaxDispositions:
		return fmt.Errorf("%w: %d dispositions, not 1 to %d", ErrForm, len(d.Dispositions), MaxDispositions)
	}
	for i, p := range d.Dispositions {
		if i > 0 && d.Dispositions[i-1].Key >= p.Key {
			return fmt.Errorf("%w: the dispositions are not in the order of their keys, each once", ErrForm)
		}
		if err := p.checkShape(); err != nil {
			return fmt.Errorf("disposition %d: %w", i+1, err)
		}
	}
	return nil
}

// checkDetails looks for details in the words of the rules, and notes those that are clean.
func (d *Distillate) checkDetails(clean map[string]bool) error {
	for i, p := range d.Dispositions {
		if clean[p.Guidance] {
			continue
		}
		if err := p.checkDetails(); err != nil {
			return fmt.Errorf("distillate %s: disposition %d: %w", d.ID, i+1, err)
		}
		clean[p.Guidance] = true
	}
	return nil
}

func (d *Distillate) check() error {
	if d.Schema != Schema {
		return fmt.Errorf("%w: of the form %q, not %s", ErrForm, clipped(d.Schema), Schema)
	}
	if d.ID == (ID{}) || d.Life == (ID{}) || d.Consent == (ID{}) || d.Sequence < 1 || d.Sequence > maxInteger {
		return fmt.Errorf("%w: an identifier or the sequence is missing", ErrForm)
	}
	if err := d.Satisfaction.Check(); err != nil {
		return err
	}
	if d.Polarity != PolarityOf(d.Satisfaction.Valence) {
		return fmt.Errorf("%w: the polarity is %s for that valence", ErrForm, PolarityOf(d.Satisfaction.Valence))
	}
	if len(d.Dispositions) == 0 || len(d.Dispositions) > MaxDispositions {
		return fmt.Errorf("%w: %d dispositions, not 1 to %d", ErrForm, len(d.Dispositions), MaxDispositions)
	}
	for i, p := range d.Dispositions {
		if i > 0 && d.Dispositions[i-1].Key >= p.Key {
			return fmt.Errorf("%w: the dispositions are not in the order of their keys, each once", ErrForm)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("disposition %d: %w", i+1, err)
		}
		if p.Weight != d.Satisfaction.Valence {
			return fmt.Errorf("disposition %d: %w", i+1, ErrWeight)
		}
	}
	return nil
}

// modelForm has no room for words.
var modelForm = regexp.MustCompile(`^([1-9][0-9]{0,17}/[0-9a-f]{64})?$`)

// maxInteger is the greatest whole number that JSON keeps exactly everywhere.
const maxInteger = 1<<53 - 1

// Check tells whether it is a judgement. Errors: ErrForm; ErrNoSignal for one without
// confidence.
func (s Satisfaction) Check() error {
	switch {
	case s.Confidence == 0:
		return ErrNoSignal
	case s.Valence < -Million || s.Valence > Million || s.Confidence < 0 || s.Confidence > Million:
		return fmt.Errorf("%w: a satisfaction out of its range", ErrForm)
	case s.Source != Explicit && s.Source != Implicit:
		return fmt.Errorf("%w: a satisfaction is %s or %s", ErrForm, Explicit, Implicit)
	case s.Source == Implicit && s.Confidence > ImplicitConfidence:
		return fmt.Errorf("%w: an implicit satisfaction has at most 0.3 of confidence", ErrForm)
	case !modelForm.MatchString(s.Model):
		return fmt.Errorf("%w: the version of a satisfaction model is its number, a slash and its digest", ErrForm)
	}
	return nil
}

func clipped(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
