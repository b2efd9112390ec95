package lineage

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

const (
	// StatementType and PredicateType name the form of what is attested.
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/jivad/jivad/lineage/v1"

	payloadType = "application/vnd.in-toto+json"
)

// Statement is an in-toto statement (version 1) on a lineage.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is the version that a statement is on.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate is what is said of it.
type Predicate struct {
	Root        ID     `json:"genesis"`
	Identity    Digest `json:"identity"`
	Distillates int    `json:"distillates"`
	Batches     int    `json:"batches"`
	Rules       int    `json:"rules"`
	Contested   int    `json:"contested"`
	// Excisions counts the excisions that were made.
	Excisions int `json:"excisions"`
	// Tool is the version of the program.
	Tool string `json:"tool"`
	// Device is the key that attests.
	Device Key `json:"device"`
}

// Attest says in a DSSE envelope what the lineage is now, signed by a device.
func (l *Lineage) Attest(ctx context.Context, key ed25519.PrivateKey, tool string, excisions int) ([]byte, error) {
	p := Predicate{
		Root: l.root, Identity: l.identity, Distillates: l.Size(), Batches: l.Batches(), Excisions: excisions, Tool: tool,
	}
	copy(p.Device[:], key.Public().(ed25519.PublicKey))
	for _, r := range l.Rules() {
		p.Rules++
		if r.Contested {
			p.Contested++
		}
	}
	body, err := canonical(Statement{
		Type: StatementType, PredicateType: PredicateType, Predicate: p,
		Subject: []Subject{{Name: "lineage/" + l.root.String(), Digest: map[string]string{"sha256": l.Head().String()}}},
	})
	if err != nil {
		return nil, err
	}
	signer, err := dsse.NewEnvelopeSigner(deviceKey{key: key, public: p.Device})
	if err != nil {
		return nil, err
	}
	envelope, err := signer.SignPayload(ctx, payloadType, body)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(envelope, "", "  ")
}

// CheckAttestation reads an envelope and sees that the device that it names signed it.
// Whether that device may be believed is for the reader to say. Errors: ErrForm,
// ErrSignature.
func CheckAttestation(ctx context.Context, data []byte) (s Statement, err error) {
	const most = 1 << 20
	var envelope dsse.Envelope
	if len(data) > most || json.Unmarshal(data, &envelope) != nil || envelope.PayloadType != payloadType {
		return s, fmt.Errorf("%w: it is no attestation", ErrForm)
	}
	body, err := envelope.DecodeB64Payload()
	if err != nil {
		return s, fmt.Errorf("%w: it is no attestation", ErrForm)
	}
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if in.Decode(&s) != nil || s.Type != StatementType || s.PredicateType != PredicateType || len(s.Subject) != 1 {
		return s, fmt.Errorf("%w: it attests something else", ErrForm)
	}
	verifier, err := dsse.NewEnvelopeVerifier(deviceKey{public: s.Predicate.Device})
	if err != nil {
		return s, err
	}
	if _, err := verifier.Verify(ctx, &envelope); err != nil {
		return s, fmt.Errorf("attestation: %w", ErrSignature)
	}
	return s, nil
}

// deviceKey signs and verifies for DSSE.
type deviceKey struct {
	key    ed25519.PrivateKey
	public Key
}

func (k deviceKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.key, data), nil
}

func (k deviceKey) Verify(_ context.Context, data, signature []byte) error {
	if !ed25519.Verify(k.public[:], data, signature) {
		return ErrSignature
	}
	return nil
}

func (k deviceKey) KeyID() (string, error) { return k.public.String(), nil }

func (k deviceKey) Public() crypto.PublicKey { return ed25519.PublicKey(k.public[:]) }
