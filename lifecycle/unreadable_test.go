package lifecycle_test

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta"
)

// An entry that cannot be read is a failed try, and the judgements of the others are kept.
func TestAnEntryThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{away: "starting", digest: "abc"}
		w := newWorld(t)
		w.opts.Model = m
		c := w.live(t)
		for _, text := range []string{"The first.", "The second.", "The third."} {
			w.write(t, c, text)
		}
		w.end(t, c)
		db, err := bolt.Open(filepath.Join(w.dir, chitta.FileName), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(func(tx *bolt.Tx) error {
			texts := tx.Bucket([]byte("texts"))
			k, v := texts.Cursor().First()
			v = append([]byte(nil), v...)
			v[len(v)-1] ^= 1
			return texts.Put(append([]byte(nil), k...), v)
		}), db.Close()); err != nil {
			t.Fatal(err)
		}
		_, c = thoughtfulAgain(t, w, m)
		m.is("", "abc")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := modelOf(t, c); s.Reassessed != 2 || s.Owed != 1 {
			t.Errorf("after a minute: %+v", s)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if s := modelOf(t, c); s.Reassessed != 2 || s.Owed != 0 || s.GivenUp != 1 {
			t.Errorf("after hours: %+v", s)
		}
	})
}
