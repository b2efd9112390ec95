package projection

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/soul/lineage"
)

// KeyFile is the file of the device's key in the data folder.
const KeyFile = "device.key"

// ErrKey: the key of the device cannot be used.
var ErrKey = errors.New("the key of this device cannot be read")

// deviceKey reads the key that signs what this device does (AD-4), or mints one. It is
// in no backup: a store that is restored elsewhere signs with that machine's own.
func deviceKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, KeyFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return mintKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%w: %s is no PEM file; move it away, and a new one is made", ErrKey, path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if own, ok := key.(ed25519.PrivateKey); ok && err == nil {
		return own, nil
	}
	return nil, fmt.Errorf("%w: %s holds no Ed25519 key; move it away, and a new one is made", ErrKey, path)
}

func mintKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, atomicfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func publicKey(key ed25519.PrivateKey) (k lineage.Key) {
	copy(k[:], key.Public().(ed25519.PublicKey))
	return k
}

// secretBytes is the length of the secret of a life.
const secretBytes = 32

// secretOf reads the secret of a life, or makes it: evidence is digested under it, and it
// is destroyed with the journal.
func secretOf(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err == nil && len(data) == secretBytes {
		return data, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	secret := make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	return secret, atomicfile.Write(path, secret, 0o600)
}
