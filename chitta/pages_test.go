package chitta_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// damagedStore is a folder with a store, one good backup of it, and a file that
// has taken harm.
type damagedStore struct {
	dir, path, backup string
	whole             []byte
}

func newDamagedStore(t *testing.T) *damagedStore {
	t.Helper()
	d := &damagedStore{dir: t.TempDir(), whole: lived(t)}
	d.path = filepath.Join(d.dir, chitta.FileName)
	d.write(t, d.whole)
	s, err := chitta.Open(t.Context(), d.options())
	if err != nil {
		t.Fatal(err)
	}
	d.backup = backup(t, s, chitta.BackupOptions{}).Path
	// What happens after the backup, so that damage to what was written last matters.
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 13}}, chitta.Entry{Body: experience(2000), Text: text(2000)})
	mustAppend(t, s, chitta.Entry{Body: experience(2001), Text: &chitta.Text{Body: strings.Repeat("a long entry ", 900)}})
	mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: 13}})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.whole, err = os.ReadFile(d.path); err != nil {
		t.Fatal(err)
	}
	return d
}

// again is the same store, unharmed, in another folder.
func (d *damagedStore) again(t *testing.T) *damagedStore {
	t.Helper()
	e := &damagedStore{dir: t.TempDir(), whole: d.whole}
	if err := os.CopyFS(e.dir, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	e.path, e.backup = filepath.Join(e.dir, chitta.FileName), filepath.Join(e.dir, "backups", filepath.Base(d.backup))
	e.write(t, e.whole)
	return e
}

func (d *damagedStore) options() chitta.Options {
	return chitta.Options{Dir: d.dir, Embedder: "test/1", Dim: dim, RestoreCommand: func(file string) string { return "RESTORE " + file }}
}

func (d *damagedStore) write(t *testing.T, data []byte) {
	t.Helper()
	if err := os.WriteFile(d.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d *damagedStore) untouched(t *testing.T, want []byte, when string) {
	t.Helper()
	if now, err := os.ReadFile(d.path); err != nil || !bytes.Equal(now, want) {
		t.Errorf("%s: the file was changed (%v)", when, err)
	}
}

// told sees that an error says that the store is damaged, which backup is good
// and what puts it in place.
func (d *damagedStore) told(t *testing.T, err error, when string) {
	t.Helper()
	if !errors.Is(err, chitta.ErrDamaged) || strings.Count(err.Error(), "RESTORE "+d.backup) != 1 || strings.Count(err.Error(), chitta.ErrDamaged.Error()) != 1 {
		t.Errorf("%s: %v", when, err)
	}
}

// reachable are the pages that the last transaction uses.
func reachable(t *testing.T, path string) map[int]bool {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // opened for reading
	out := map[int]bool{0: true, 1: true}
	err = db.View(func(tx *bolt.Tx) error {
		for id := 0; ; id++ {
			p, err := tx.Page(id)
			if p == nil || err != nil {
				return err
			}
			for i := range p.OverflowCount + 1 {
				out[id+i] = p.Type != "free"
			}
			id += p.OverflowCount
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every page in turn is lost: whatever was in use is told, with the backup that
// is good, by a start and by a check; and nothing is written.
func TestEachPageLost(t *testing.T) {
	d := newDamagedStore(t)
	used := reachable(t, d.path)
	const page = 4096
	free := 0
	for id := range len(d.whole) / page {
		when := fmt.Sprintf("page %d", id)
		b := bytes.Clone(d.whole)
		clear(b[id*page : (id+1)*page])
		if bytes.Equal(b, d.whole) {
			continue // reserved, and nothing was there
		}
		d.write(t, b)
		s, err := chitta.Open(t.Context(), d.options())
		switch {
		case err != nil:
			d.told(t, err, when)
			d.untouched(t, b, when)
		case used[id] && id > 1:
			t.Errorf("%s is in use, and a start did not miss it", when)
		default:
			if free++; s.Close(t.Context()) != nil {
				t.Errorf("%s: close", when)
			}
		}
		d.write(t, b)
		o := d.options()
		o.LookOnly, o.Embedder, o.Dim = true, "", 0
		s, err = chitta.Open(t.Context(), o)
		if err != nil {
			d.told(t, err, when+", looked at")
			d.untouched(t, b, when+", looked at")
			continue
		}
		v, err := s.Verify(t.Context(), chitta.VerifyOptions{Full: true})
		if err != nil {
			t.Errorf("%s: verify: %v", when, err)
		}
		if v.OK() == used[id] {
			t.Errorf("%s, in use: %v; verified: %+v", when, used[id], v.Findings)
		}
		said := 0
		for _, f := range v.Findings {
			said += strings.Count(f.Hint, "RESTORE ")
		}
		if used[id] && id > 1 && said != 1 {
			t.Errorf("%s: what to do is said %d times: %+v", when, said, v.Findings)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("%s: close: %v", when, err)
		}
		d.untouched(t, b, when+", verified")
	}
	if free == 0 {
		t.Error("no page was free")
	}
}

// A disk loses sectors, not pages: each in turn is lost, and what is in part as it
// was leads nobody in a circle. In the page that leads to the buckets, and holds
// the small ones, any few bytes are. Damage that was seen at no start is told by a
// check, unless nothing that is kept stood there.
func TestEachSectorLost(t *testing.T) {
	d := newDamagedStore(t)
	want := contents(t, opened(t, d.path))
	refused, told := 0, 0
	lose := func(at, size int) {
		when := fmt.Sprintf("bytes %d to %d", at, at+size)
		b := bytes.Clone(d.whole)
		clear(b[at : at+size])
		if bytes.Equal(b, d.whole) {
			return
		}
		d.write(t, b)
		o := d.options()
		o.LookOnly, o.Embedder, o.Dim = true, "", 0
		s, err := chitta.Open(t.Context(), o)
		if err != nil {
			refused++
			d.told(t, err, when)
			d.untouched(t, b, when)
			return
		}
		v, err := s.Verify(t.Context(), chitta.VerifyOptions{Full: true})
		if err != nil {
			t.Errorf("%s: verify: %v", when, err)
		}
		if !v.OK() {
			told++
		} else if got := contents(t, s); !maps.Equal(got, want) {
			t.Errorf("%s: something is missing, and nobody said so", when)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("%s: close: %v", when, err)
		}
	}
	const page, sector = 4096, 512
	for at := 2 * page; at < len(d.whole); at += sector {
		lose(at, sector)
	}
	root, latest := 0, uint64(0)
	for head := range 2 { // of two, what was written last
		at := head*page + 16
		if tx := binary.NativeEndian.Uint64(d.whole[at+48:]); tx >= latest {
			latest, root = tx, int(binary.NativeEndian.Uint64(d.whole[at+16:]))
		}
	}
	for at := root * page; at+16 <= (root+1)*page; at += 8 {
		lose(at, 16)
	}
	if refused == 0 || told == 0 {
		t.Errorf("%d starts refused, %d checks told", refused, told)
	}
}

// Where the later head is lost, what was written last would be passed over: a
// start refuses, and a restore of the very file finds it again. Where the other
// one is lost nothing is missing, and the store lives on.
func TestEachHeadLost(t *testing.T) {
	one := newDamagedStore(t)
	d := one.again(t)
	s := opened(t, d.path)
	want := contents(t, s)
	refused, lived := 0, 0
	for id := range 2 {
		when := fmt.Sprintf("head %d", id)
		b := bytes.Clone(d.whole)
		clear(b[id*4096 : id*4096+100])
		d.write(t, b)
		s, err := chitta.Open(t.Context(), d.options())
		if err == nil {
			lived++
			if got := contents(t, s); got["digest"] != want["digest"] {
				t.Errorf("%s: something is missing, and nobody said so", when)
			}
			if fault := s.Fault(); fault == nil || !strings.Contains(fault.Error(), fmt.Sprintf("page %d", id)) || !strings.Contains(fault.Error(), "nothing is missing") {
				t.Errorf("%s: said is %v", when, fault)
			}
			mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 14}})
			check(t, s) // both are whole again
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
			continue
		}
		refused++
		d.told(t, err, when)
		if !strings.Contains(err.Error(), "RESTORE "+d.path) {
			t.Errorf("%s: that it can be mended is not said: %v", when, err)
		}
		d.untouched(t, b, when)
		r, err := chitta.Restore(t.Context(), chitta.RestoreOptions{Options: d.options(), File: d.path})
		if err != nil || !r.Mended {
			t.Fatalf("%s: %+v %v", when, r, err)
		}
		if kept, err := os.ReadFile(r.Replaced); err != nil || !bytes.Equal(kept, b) {
			t.Errorf("%s: the damaged file was not kept: %v", when, err)
		}
		if got := contents(t, open(t, d.dir, nil)); got["digest"] != want["digest"] || len(got) != len(want) {
			t.Errorf("%s: the mended store is another", when)
		}
		d = one.again(t)
	}
	if refused != 1 || lived != 1 {
		t.Errorf("%d refused, %d lived on", refused, lived)
	}
	// Both lost: no start, and still nothing is.
	d = one.again(t)
	b := bytes.Clone(d.whole)
	clear(b[:2*4096])
	d.write(t, b)
	_, err := chitta.Open(t.Context(), d.options())
	d.told(t, err, "both heads")
	d.untouched(t, b, "both heads")
	if r, err := chitta.Restore(t.Context(), chitta.RestoreOptions{Options: d.options(), File: d.path}); err != nil || !r.Mended {
		t.Fatalf("both heads: %+v %v", r, err)
	}
	if got := contents(t, open(t, d.dir, nil)); got["digest"] != want["digest"] {
		t.Error("both heads: the mended store is another")
	}
}

// Cut off anywhere, the file is refused or, behind everything that is in use, as
// good as it was.
func TestCutOffAnywhere(t *testing.T) {
	d := newDamagedStore(t)
	r := rand.New(rand.NewPCG(3, 4))
	var lengths []int
	for page := range len(d.whole) / 4096 {
		lengths = append(lengths, page*4096, page*4096+1+r.IntN(4095))
	}
	for _, n := range append(lengths, 1, 63, 80, len(d.whole)-1) {
		when := fmt.Sprintf("cut to %d", n)
		b := d.whole[:n]
		d.write(t, b)
		s, err := chitta.Open(t.Context(), d.options())
		if err == nil {
			v, err := s.Verify(t.Context(), chitta.VerifyOptions{})
			if err != nil || !v.OK() || s.Close(t.Context()) != nil {
				t.Errorf("%s, it was opened: %v %+v", when, err, v.Findings)
			}
			continue
		}
		d.told(t, err, when)
		d.untouched(t, b, when)
	}
}

// Any flipped bit in what a person cares for is found.
func TestAnyFlippedBitIsFound(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	x := experience(5)
	_, err := s.Append(t.Context(), chitta.Batch{
		Entries: []chitta.Entry{{Body: experience(1), Text: &chitta.Text{Body: "words of the day", Label: "a heading"}}, {Body: x}},
		Values:  []chitta.Value{{Name: "soul/given", Data: []byte("what was given")}},
		Sources: []chitta.Source{{Path: "2026/diary.md", Entries: []chitta.SourceEntry{{Date: "2026-01-02"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, chitta.FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := s.Meta().ID
	for what, want := range map[string]string{
		`{"body":"words of the day","label":"a heading"}`: "text of event",
		"what was given": "record soul/given",
		"soul/given":     "record ", // a name
		`{"path":"2026/diary.md","entries":[{"key":`: "record of a diary file",
		`"id":"` + id + `"`:                          "meta record",
		string(x.ID[:]):                              "events, record",
	} {
		if !bytes.Contains(whole, []byte(what)) {
			t.Fatalf("%.20q is not in the file", what)
		}
		for i := range what {
			harmed := []byte(what)
			harmed[i] ^= 1 << (i % 8)
			b := bytes.ReplaceAll(whole, []byte(what), harmed) // pages of before have it too
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := chitta.Open(context.Background(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim})
			if err == nil {
				_ = s.Close(context.Background())
			}
			if !errors.Is(err, chitta.ErrDamaged) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "2026/diary") {
				t.Fatalf("byte %d of %.20q: %v", i, what, err)
			}
			if _, err := chitta.CheckFile(t.Context(), path, chitta.CheckOptions{}); !errors.Is(err, chitta.ErrDamaged) {
				t.Fatalf("byte %d of %.20q, checked: %v", i, what, err)
			}
			// One who looks is let in where that can be, and is told.
			s, err = chitta.Open(context.Background(), chitta.Options{Dir: dir, LookOnly: true})
			if err != nil {
				continue
			}
			if v, err := s.Verify(t.Context(), chitta.VerifyOptions{}); err != nil || v.OK() {
				t.Fatalf("byte %d of %.20q, verified: %v", i, what, err)
			}
			_ = s.Close(context.Background())
		}
	}
}

// A list of free pages that names one in use would have it written over.
func TestAPageInUseThatIsSaidToBeFree(t *testing.T) {
	d := newDamagedStore(t)
	used := reachable(t, d.path)
	for id := 2; ; id++ {
		page := d.whole[id*4096 : (id+1)*4096]
		const freelist = 0x10
		if !used[id] || binary.LittleEndian.Uint16(page[8:]) != freelist {
			continue
		}
		if binary.LittleEndian.Uint16(page[10:]) == 0 {
			t.Fatal("no page is free")
		}
		b := bytes.Clone(d.whole)
		for victim := range used {
			if victim < 2 || !used[victim] || victim == id {
				continue
			}
			binary.LittleEndian.PutUint64(b[id*4096+16:], uint64(victim))
			d.write(t, b)
			_, err := chitta.Open(t.Context(), d.options())
			d.told(t, err, fmt.Sprintf("page %d", victim))
			d.untouched(t, b, fmt.Sprintf("page %d", victim))
		}
		return
	}
}

// A store that is gone while there are backups of it is not begun anew.
func TestAMissingStoreIsNotBegunAnew(t *testing.T) {
	d := newDamagedStore(t)
	if err := os.Remove(d.path); err != nil {
		t.Fatal(err)
	}
	_, err := chitta.Open(t.Context(), d.options())
	d.told(t, err, "missing")
	if _, err := os.Stat(d.path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a store was begun")
	}
}

// Damage that comes while the store is open ends no process: it is told, with the
// backup that is good, by everything that meets it, and nothing more is written.
func TestDamageWhileItIsOpen(t *testing.T) {
	one := newDamagedStore(t)
	for way := range 200 {
		d := one.again(t)
		s, err := chitta.Open(t.Context(), d.options())
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(way), 8))
		func() {
			file, err := os.OpenFile(d.path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close() //nolint:errcheck // as it is
			if way%8 == 6 {    // sectors
				for range 1 + way%5 {
					if _, err := file.WriteAt(make([]byte, 512), int64(16+r.IntN(len(d.whole)/512-16))*512); err != nil {
						t.Fatal(err)
					}
				}
				return
			}
			if way%4 == 3 {
				if err := file.Truncate(int64(r.IntN(len(d.whole)))); err != nil {
					t.Fatal(err)
				}
				return
			}
			for range 1 + way%4*5 {
				if _, err := file.WriteAt(make([]byte, 4096), int64(2+r.IntN(len(d.whole)/4096-2))*4096); err != nil {
					t.Fatal(err)
				}
			}
		}()
		for _, err := range []error{
			s.Texts(0, func(uint64, chitta.Text) error { return nil }),
			s.Values("", func(string, []byte) error { return nil }),
			func() error { _, err := s.Backup(t.Context(), chitta.BackupOptions{}); return err }(),
			func() error {
				_, err := s.Append(t.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionOpened{Number: 15}}, {Body: experience(5000), Text: text(1)}}})
				return err
			}(),
		} {
			if errors.Is(err, chitta.ErrDamaged) {
				if !strings.Contains(err.Error(), "RESTORE "+d.backup) {
					t.Errorf("way %d: %v", way, err)
				}
				if s.Fault() == nil {
					t.Errorf("way %d: nothing is kept of %v", way, err)
				}
			}
		}
		if _, err := s.Verify(t.Context(), chitta.VerifyOptions{}); err != nil {
			t.Errorf("way %d: verify: %v", way, err)
		}
		s.Health()
		if err := s.Close(t.Context()); err != nil && !errors.Is(err, chitta.ErrDamaged) {
			t.Errorf("way %d: close: %v", way, err)
		}
		if _, err := chitta.CheckFile(t.Context(), d.backup, chitta.CheckOptions{}); err != nil {
			t.Errorf("way %d: the good backup: %v", way, err)
		}
	}
}
