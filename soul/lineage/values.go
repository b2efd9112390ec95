package lineage

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// Million is one whole: weights, valences and confidences are in millionths of it.
const Million = 1_000_000

// Digest is a SHA-256 digest; its text is 64 lower-case hexadecimal digits.
type Digest [sha256.Size]byte

// String is the digest's text.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Compare orders digests by their bytes.
func (d Digest) Compare(other Digest) int { return bytes.Compare(d[:], other[:]) }

// MarshalText gives the digest's text.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 lower-case hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error { return unhex(d[:], text, "digest") }

// DigestOf reads a digest's text.
func DigestOf(text string) (d Digest, err error) {
	err = d.UnmarshalText([]byte(text))
	return d, err
}

// ID is a UUID, of version 7 where this program mints it; its text is the usual one in
// lower case.
type ID [16]byte

// String is the identifier's text.
func (i ID) String() string { return uuid.UUID(i).String() }

// Compare orders identifiers by their bytes; those of version 7 are in the order of
// the clocks that minted them.
func (i ID) Compare(other ID) int { return bytes.Compare(i[:], other[:]) }

// MarshalText gives the identifier's text.
func (i ID) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads an identifier as String writes it.
func (i *ID) UnmarshalText(text []byte) error {
	u, err := uuid.ParseBytes(text)
	if err != nil || u.String() != string(text) {
		return fmt.Errorf("%w: an identifier is a UUID of 36 letters in lower case", ErrForm)
	}
	*i = ID(u)
	return nil
}

// IDOf reads an identifier's text.
func IDOf(text string) (i ID, err error) {
	err = i.UnmarshalText([]byte(text))
	return i, err
}

// Key is a device's public key (Ed25519), which names the device; its text is 64
// hexadecimal digits.
type Key [ed25519.PublicKeySize]byte

// String is the key's text.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// MarshalText gives the key's text.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads 64 lower-case hexadecimal digits.
func (k *Key) UnmarshalText(text []byte) error { return unhex(k[:], text, "key") }

// Signature is an Ed25519 signature; its text is 128 hexadecimal digits.
type Signature [ed25519.SignatureSize]byte

// MarshalText gives the signature's text.
func (s Signature) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s[:])), nil }

// UnmarshalText reads 128 lower-case hexadecimal digits.
func (s *Signature) UnmarshalText(text []byte) error { return unhex(s[:], text, "signature") }

// unhex reads exactly the digits that it would write.
func unhex(into, text []byte, what string) error {
	if len(text) != hex.EncodedLen(len(into)) || bytes.ContainsAny(text, "ABCDEF") {
		return fmt.Errorf("%w: a %s is %d hexadecimal digits in lower case", ErrForm, what, hex.EncodedLen(len(into)))
	}
	if _, err := hex.Decode(into, text); err != nil {
		return fmt.Errorf("%w: a %s is %d hexadecimal digits in lower case", ErrForm, what, hex.EncodedLen(len(into)))
	}
	return nil
}
