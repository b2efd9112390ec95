package chitta

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// small makes a store with a few sessions in dir.
func small(t *testing.T, dir string, sessions uint32) (id string, last uint64) {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, Embedder: "test/1", Dim: 4})
	if err != nil {
		t.Fatal(err)
	}
	for n := range sessions {
		_, err := s.Append(t.Context(), Batch{
			Entries: []Entry{{Body: fold.SessionOpened{Number: n + 1}}, {Body: one(n), Text: &Text{Body: fmt.Sprint("words ", n)}}, {Body: fold.SessionClosed{Number: n + 1}}},
			Values:  []Value{{Name: "a", Data: fmt.Append(nil, n)}},
			Sources: []Source{{Path: "a.md"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	id, last = s.Meta().ID, s.state.Sequence
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return id, last
}

func one(n uint32) fold.Experienced {
	x := fold.Experienced{Embedder: "test/1", Embedding: []float32{1, 0, 0, 0}, AlwaysCreate: true}
	x.Judgement.Assessor, x.Judgement.Guna.Sattva, x.Judgement.Intensity = "test", 1, 0.5
	binary.BigEndian.PutUint32(x.ID[:], n+1)
	binary.BigEndian.PutUint32(x.Key[:], n+1)
	return x
}

// Whatever step of a restore is the last one that is done, the next start finds the
// store of before or the one that was put back, whole; and a second try does it.
func TestARestoreThatIsKilledLeavesAStore(t *testing.T) {
	proto := t.TempDir()
	_, then := small(t, proto, 2)
	s, err := Open(t.Context(), Options{Dir: proto, Embedder: "test/1", Dim: 4})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Backup(t.Context(), BackupOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), Batch{Entries: []Entry{{Body: fold.SessionOpened{Number: 3}}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, harm := range []string{"none", "missing", "damaged"} {
		for k := 0; ; k++ {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(proto)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, FileName)
			if harm == "missing" {
				err = os.Remove(path)
			} else if harm == "damaged" {
				err = os.WriteFile(path, bytes.Repeat([]byte{1}, 9000), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			o := RestoreOptions{Options: Options{Dir: dir}, File: filepath.Join(dir, backupsName, filepath.Base(b.Path)),
				Progress: func(string, uint64, uint64) {}}
			o.Clock = func() (time.Time, bool) { return time.Now(), true }
			r := &restoring{ctx: t.Context(), o: o, path: path}
			steps := r.steps()
			if k > len(steps) {
				break
			}
			for i, step := range steps[:k] {
				if err := step(); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if err := r.release(); err != nil { // as the system does for one that was killed
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Options{Dir: dir, Embedder: "test/1", Dim: 4})
			switch {
			case err == nil:
				if last := s.state.Sequence; last != then && last != then+1 {
					t.Errorf("%s, %d steps: %d records", harm, k, last)
				}
				if v, err := s.Verify(t.Context(), VerifyOptions{Full: true}); err != nil || !v.OK() {
					t.Errorf("%s, %d steps: %v %+v", harm, k, err, v.Findings)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, ".*"+tempSuffix)); len(left) > 0 {
					t.Errorf("%s, %d steps: left behind: %v", harm, k, left)
				}
			case harm == "none":
				t.Errorf("%s, %d steps: %v", harm, k, err)
			case !strings.Contains(err.Error(), o.File):
				t.Errorf("%s, %d steps: %v", harm, k, err)
			}
			if _, err := Restore(context.Background(), o); err != nil {
				t.Errorf("%s, %d steps, once more: %v", harm, k, err)
			}
			if r, err := CheckFile(t.Context(), path, CheckOptions{}); err != nil || r.Last != then {
				t.Errorf("%s, %d steps, once more: %+v %v", harm, k, r, err)
			}
		}
	}
}

// toSchema1 makes a file what a program of schema 1 would have written.
func toSchema1(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range sealedBuckets {
			b := tx.Bucket(name)
			plain := map[string][]byte{}
			if err := b.ForEach(func(k, v []byte) error { plain[string(k)] = bytes.Clone(v[sealSize:]); return nil }); err != nil {
				return err
			}
			for k, v := range plain {
				if err := b.Put([]byte(k), v); err != nil {
					return err
				}
			}
		}
		m, err := readMeta(tx)
		if err != nil {
			return err
		}
		m.Schema = 1
		record, err := json.Marshal(m)
		if err != nil {
			return err
		}
		b := tx.Bucket(bucketMeta)
		if err := b.Delete(keyMetaSeal); err != nil {
			return err
		}
		return b.Put(keyMeta, record)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A store of schema 1 is kept as it is and brought to the present one at its next
// start; whoever only looks leaves it, and can back it up and put it back.
func TestAnOlderSchemaIsBroughtForward(t *testing.T) {
	dir := t.TempDir()
	_, last := small(t, dir, 5)
	path := filepath.Join(dir, FileName)
	toSchema1(t, path)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: dir, LookOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Verify(t.Context(), VerifyOptions{Full: true})
	if err != nil || !v.OK() {
		t.Errorf("looked at: %v %+v", err, v.Findings)
	}
	copied, err := s.Backup(t.Context(), BackupOptions{File: filepath.Join(t.TempDir(), "a.db")})
	if err != nil || copied.Schema != 1 || copied.Last != last {
		t.Errorf("a copy of it: %+v %v", copied, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, old) {
		t.Error("to look at it changed it")
	}

	if s, err = Open(t.Context(), Options{Dir: dir, Embedder: "test/1", Dim: 4}); err != nil {
		t.Fatal(err)
	}
	if s.Meta().Schema != schemaVersion || s.state.Sequence != last {
		t.Errorf("%+v, %d records", s.Meta(), s.state.Sequence)
	}
	text, err1 := s.TextOf(3)
	value, err2 := s.Value("a")
	_, err3 := s.SourceAt("a.md")
	if text.Body != "words 0" || string(value) != "4" || err1 != nil || err2 != nil || err3 != nil {
		t.Errorf("%q %q %v %v %v", text.Body, value, err1, err2, err3)
	}
	if v, err := s.Verify(t.Context(), VerifyOptions{Full: true}); err != nil || !v.OK() {
		t.Errorf("%v %+v", err, v.Findings)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := ListBackups(filepath.Join(dir, backupsName))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	if r, err := CheckFile(t.Context(), list[0].Path, CheckOptions{}); err != nil || r.Schema != 1 || r.Last != last {
		t.Errorf("the file of before: %+v %v", r, err)
	}
	if _, err := Restore(t.Context(), RestoreOptions{Options: Options{Dir: dir}}); err != nil {
		t.Error(err)
	}
	if s, err = Open(t.Context(), Options{Dir: dir, Embedder: "test/1", Dim: 4}); err != nil || s.Meta().Schema != schemaVersion {
		t.Fatalf("put back: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// schema1 lays down a file that a program of schema 1 wrote: one session of an
// entry with a text, at 3, and one without, at 4, both from a diary file.
func schema1(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "schema1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // opened for reading
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An entry that schema 1 wrote without a text has lost none and is not buried,
// for whoever looks at the old file and after it was brought forward.
func TestAnEntryWithoutATextOfAnOlderSchema(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	schema1(t, path)
	check := func(when string, o Options, schema int) {
		t.Helper()
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if s.Meta().Schema != schema {
			t.Errorf("%s: schema %d", when, s.Meta().Schema)
		}
		if text, err := s.TextOf(3); err != nil || text.Body != "words 0" {
			t.Errorf("%s: %q %v", when, text.Body, err)
		}
		if _, err := s.TextOf(4); !errors.Is(err, ErrNotFound) || errors.Is(err, ErrBuried) {
			t.Errorf("%s: %v", when, err)
		}
		if v, err := s.Verify(t.Context(), VerifyOptions{Full: true}); err != nil || !v.OK() {
			t.Errorf("%s: %v %+v", when, err, v.Findings)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, err := CheckFile(t.Context(), path, CheckOptions{}); err != nil || r.Schema != schema || r.Texts != 1 {
			t.Errorf("%s: %+v %v", when, r, err)
		}
	}
	check("looked at", Options{Dir: dir, LookOnly: true}, 1)
	check("brought forward", Options{Dir: dir, Embedder: "test/1", Dim: 4}, schemaVersion)
	check("started once more", Options{Dir: dir, Embedder: "test/1", Dim: 4}, schemaVersion)
}

// Without a backup the store stays as it is.
func TestNoBackupNoOtherSchema(t *testing.T) {
	dir := t.TempDir()
	small(t, dir, 2)
	path := filepath.Join(dir, FileName)
	toSchema1(t, path)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, backupsName), []byte("a file where the folder should be"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Options{Dir: dir, Embedder: "test/1", Dim: 4}); err == nil || !strings.Contains(err.Error(), "backup") {
		t.Errorf("got %v %v", s, err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, old) {
		t.Error("it was changed")
	}
}

// A newer schema is refused by name, whoever asks.
func TestANewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	small(t, dir, 2)
	path := filepath.Join(dir, FileName)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		m, err := readMeta(tx)
		m.Schema = schemaVersion + 1
		if err != nil {
			return err
		}
		return putMeta(tx, m)
	})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func() error{
		"open":  func() error { _, err := Open(t.Context(), Options{Dir: dir}); return err },
		"look":  func() error { _, err := Open(t.Context(), Options{Dir: dir, LookOnly: true}); return err },
		"check": func() error { _, err := CheckFile(t.Context(), path, CheckOptions{}); return err },
		"restore": func() error {
			_, err := Restore(t.Context(), RestoreOptions{Options: Options{Dir: t.TempDir()}, File: path})
			return err
		},
	} {
		if err := open(); err == nil || !strings.Contains(err.Error(), "schema 4, this program knows 3") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Whoever waited for the lock of a file that was replaced meanwhile opens the one
// that is in its place.
func TestAReplacedFileIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	small(t, dir, 1)
	path := filepath.Join(dir, FileName)
	held, err := openPages(path, false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		p, err := openPages(path, false)
		if err == nil {
			if !sameFile(p.file, path) {
				err = fmt.Errorf("the replaced file was opened")
			}
			err = joined(err, p.db.Close())
		}
		done <- err
	}()
	other := filepath.Join(dir, "other")
	if err := copyFile(path, other); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if err := held.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func joined(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
