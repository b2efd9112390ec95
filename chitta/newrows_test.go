package chitta_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta"
)

// Damage to the stored vectors, or to what says that there are any, is told by all
// that reads a file, and by a start, with caches and without.
func TestDamagedRowsAreTold(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	wording := entries(t, s, 400) // several pieces
	if _, err := s.Reembed(t.Context(), reembedding(3, wording)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func(b *bolt.Bucket) error{
		"a bit": func(b *bolt.Bucket) error {
			k, v := b.Cursor().First()
			v = append([]byte(nil), v...)
			v[len(v)/2] ^= 4
			return b.Put(k, v)
		},
		"the dimension": func(b *bolt.Bucket) error {
			k, v := b.Cursor().Last()
			v = append([]byte(nil), v...)
			v[4]++
			return b.Put(k, v)
		},
		"a piece that is cut": func(b *bolt.Bucket) error {
			k, v := b.Cursor().Last()
			return b.Put(k, append([]byte(nil), v[:len(v)-8]...))
		},
		"a piece that is gone": func(b *bolt.Bucket) error {
			k, _ := b.Cursor().Last()
			return b.Delete(k)
		},
		"the note of them": func(b *bolt.Bucket) error {
			k, _ := b.Cursor().Last()
			return b.Delete(k)
		},
		"pieces that changed places": func(b *bolt.Bucket) error {
			c := b.Cursor()
			k1, v1 := c.First()
			k2, v2 := c.Next()
			v1, v2 = append([]byte(nil), v1...), append([]byte(nil), v2...)
			return errors.Join(b.Put(k1, v2), b.Put(k2, v1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "copy")
			copyFiles(t, dir, at)
			db, err := bolt.Open(filepath.Join(at, chitta.FileName), 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *bolt.Tx) error {
				if name == "the note of them" {
					return harm(tx.Bucket([]byte("amendments")))
				}
				return harm(tx.Bucket([]byte("rows")))
			})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(at, chitta.FileName)
			if _, err := chitta.CheckFile(t.Context(), path, chitta.CheckOptions{}); !errors.Is(err, chitta.ErrDamaged) {
				t.Errorf("the file is taken for whole: %v", err)
			}
			s, err := chitta.Open(t.Context(), chitta.Options{Dir: at, LookOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Verify(t.Context(), chitta.VerifyOptions{})
			if err != nil {
				t.Error(err)
			}
			for how, findings := range map[string][]chitta.Finding{"verify": v.Findings, "check": s.Check(t.Context())} {
				if !slices.ContainsFunc(findings, func(f chitta.Finding) bool {
					return !f.OK && (f.Name == "vectors" || f.Name == "beside") && f.Hint != ""
				}) {
					t.Errorf("%s: nothing is told: %+v", how, findings)
				}
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := chitta.Open(t.Context(), chitta.Options{Dir: at}); !errors.Is(err, chitta.ErrDamaged) {
				t.Errorf("a start: %v", err)
			}
			if err := os.RemoveAll(filepath.Join(at, "cache")); err != nil {
				t.Fatal(err)
			}
			if _, err := chitta.Open(t.Context(), chitta.Options{Dir: at}); !errors.Is(err, chitta.ErrDamaged) {
				t.Errorf("a start without caches: %v", err)
			}
		})
	}
}
