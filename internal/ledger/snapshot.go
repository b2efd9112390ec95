package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrSnapshot: a snapshot file is damaged or belongs to something else. It is a
// cache: the caller folds from an older one or from the beginning.
var ErrSnapshot = errors.New("snapshot not usable")

// Mark tells what a snapshot stands for.
type Mark struct {
	// Sequence is the last event folded into the state.
	Sequence uint64 `json:"sequence"`
	// Store and Generation tie the snapshot to one log; the generation changes
	// when events are removed from it.
	Store      string `json:"store"`
	Generation uint64 `json:"generation"`
	// Record is the checksum of the record at Sequence, 0 where it is not known. A
	// log that was put back to an earlier time and lived on differently has
	// another one there.
	Record uint32 `json:"record,omitempty"`
	// Arithmetic names the machines' floating point that the state went through.
	Arithmetic []string `json:"arithmetic"`
}

const (
	snapshotMagic  = "jivad snapshot 1\n"
	snapshotSuffix = ".snap"
	// keepDense newest snapshots are all kept; older ones at growing distances.
	keepDense = 3
)

// Snapshots is a folder of snapshots.
type Snapshots struct{ dir string }

// NewSnapshots names the folder; it is made at the first [Snapshots.Save].
func NewSnapshots(dir string) Snapshots { return Snapshots{dir} }

// Save writes a snapshot: checksummed and renamed into place, but not synced,
// since a torn one is found out by its checksum and folded again.
func (s Snapshots) Save(m Mark, payload []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("snapshot folder: %w", err)
	}
	header, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(snapshotMagic)
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(header))))
	b.Write(header)
	b.Write(payload)
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	path := s.path(m.Sequence)
	temp := path + ".tmp"
	if err := os.WriteFile(temp, b.Bytes(), 0o600); err != nil {
		return errors.Join(fmt.Errorf("snapshot: %w", err), removeIfThere(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(fmt.Errorf("snapshot: %w", err), removeIfThere(temp))
	}
	return s.thin(m.Sequence)
}

// Sequences lists the snapshots that there are, newest first.
func (s Snapshots) Sequences() ([]uint64, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot folder: %w", err)
	}
	var found []uint64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), snapshotSuffix)
		if !ok {
			continue
		}
		if seq, err := strconv.ParseUint(name, 10, 64); err == nil {
			found = append(found, seq)
		}
	}
	slices.Sort(found)
	slices.Reverse(found)
	return found, nil
}

// Load reads the snapshot at seq and checks it.
func (s Snapshots) Load(seq uint64) (Mark, []byte, error) {
	var m Mark
	b, err := os.ReadFile(s.path(seq))
	if err != nil {
		return m, nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	const fixed = len(snapshotMagic) + 4
	if len(b) < fixed+sha256.Size || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return m, nil, fmt.Errorf("%w: %d is not a snapshot file", ErrSnapshot, seq)
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return m, nil, fmt.Errorf("%w: checksum of %d does not match", ErrSnapshot, seq)
	}
	n := int(binary.LittleEndian.Uint32(body[len(snapshotMagic):]))
	if n > len(body)-fixed {
		return m, nil, fmt.Errorf("%w: header of %d is cut short", ErrSnapshot, seq)
	}
	if err := json.Unmarshal(body[fixed:fixed+n], &m); err != nil || m.Sequence != seq {
		return m, nil, fmt.Errorf("%w: header of %d does not fit", ErrSnapshot, seq)
	}
	return m, body[fixed+n:], nil
}

// Drop removes every snapshot that stands at seq or later.
func (s Snapshots) Drop(seq uint64) error {
	all, err := s.Sequences()
	for _, have := range all {
		if have >= seq {
			err = errors.Join(err, removeIfThere(s.path(have)))
		}
	}
	return err
}

// thin keeps the newest snapshots and, of the older ones, those whose distance
// from the next kept one grows with their age: a few dozen for any history.
func (s Snapshots) thin(newest uint64) error {
	all, err := s.Sequences()
	if err != nil || len(all) <= keepDense {
		return err
	}
	kept := all[keepDense-1]
	for i, seq := range all[keepDense:] {
		oldest := i == len(all)-keepDense-1
		if !oldest && seq < newest && kept-seq < (newest-seq)/3 {
			err = errors.Join(err, removeIfThere(s.path(seq)))
			continue
		}
		kept = seq
	}
	return err
}

func (s Snapshots) path(seq uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%012d%s", seq, snapshotSuffix))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
