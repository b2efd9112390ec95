package lineage

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Identity is SHA-256(digest of the base model ‖ genesis root): one for all projections
// of a lineage, whatever they learn (AD-1).
func Identity(base Digest, root ID) Digest {
	return sha256.Sum256(slices.Concat(base[:], root[:]))
}

// Invitation lets a further device be a projection of a lineage. It holds no rule and
// no secret of a person; where it is used a hub still has to know the device.
type Invitation struct {
	Root ID `json:"genesis"`
	// Base is the digest of the base model that the identity was made of.
	Base Digest `json:"base"`
	// Device is the key of the device that invites.
	Device Key `json:"device"`
	// Hub is the address of a broker, empty where there is none.
	Hub       string    `json:"hub,omitempty"`
	Signature Signature `json:"signature"`
}

// invitationHead begins the text of an invitation.
const invitationHead = "jivad-invitation-1:"

func (v Invitation) signed() ([]byte, error) {
	v.Signature = Signature{}
	data, err := canonical(v)
	return append([]byte("jivad/invitation/1\x00"), data...), err
}

// Invite signs an invitation with the key of the device that invites, and gives its
// text: one line.
func Invite(v Invitation, key ed25519.PrivateKey) (string, error) {
	copy(v.Device[:], key.Public().(ed25519.PublicKey))
	data, err := v.signed()
	if err != nil {
		return "", err
	}
	copy(v.Signature[:], ed25519.Sign(key, data))
	text, err := canonical(v)
	return invitationHead + base64.RawURLEncoding.EncodeToString(text), err
}

// ParseInvitation reads an invitation's text and sees that nobody changed it. Errors:
// ErrForm, ErrSignature.
func ParseInvitation(text string) (v Invitation, err error) {
	const most = 4 << 10
	coded, found := strings.CutPrefix(strings.TrimSpace(text), invitationHead)
	if !found || len(coded) > most {
		return v, fmt.Errorf("%w: an invitation begins with %s", ErrForm, invitationHead)
	}
	data, err := base64.RawURLEncoding.DecodeString(coded)
	if err != nil {
		return v, fmt.Errorf("%w: the invitation is cut or changed", ErrForm)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&v); err != nil {
		return v, fmt.Errorf("%w: the invitation is cut or changed", ErrForm)
	}
	message, err := v.signed()
	if err != nil {
		return v, err
	}
	if !ed25519.Verify(v.Device[:], message, v.Signature[:]) {
		return v, fmt.Errorf("invitation: %w", ErrSignature)
	}
	return v, nil
}
