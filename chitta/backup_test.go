package chitta_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

func backup(t testing.TB, s *chitta.Store, o chitta.BackupOptions) chitta.BackupResult {
	t.Helper()
	r, err := s.Backup(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contents is everything that a store holds, for people and for the fold.
func contents(t testing.TB, s *chitta.Store) map[string]string {
	t.Helper()
	out := map[string]string{"digest": fmt.Sprintf("%x", digest(s))}
	err := errors.Join(
		s.Texts(0, func(seq uint64, x chitta.Text) error { out[fmt.Sprint("text ", seq)] = x.Body + x.Label; return nil }),
		s.Values("", func(name string, data []byte) error { out["value "+name] = string(data); return nil }),
	)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// opened is a store whose folder holds nothing but a copy of one file.
func opened(t testing.TB, file string) *chitta.Store {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, chitta.FileName), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, nil)
}

func TestABackupHoldsEverything(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, chitta.FileName), lived(t), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, nil)
	r := backup(t, s, chitta.BackupOptions{})
	if !r.Automatic || r.ID != s.Meta().ID || r.Records == 0 || r.Texts == 0 || r.Records != r.Last {
		t.Errorf("%+v", r)
	}
	info, err := os.Stat(r.Path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != r.Bytes {
		t.Errorf("%v %v", info, err)
	}
	folder, err := os.Stat(filepath.Join(dir, "backups"))
	if err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", folder, err)
	}
	want, got := contents(t, s), contents(t, opened(t, r.Path))
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %q in the copy, %q in the store", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d things in the copy, %d in the store", len(got), len(want))
	}
}

// moment is what one batch writes that belongs together: an entry, an edit of the
// first one, and values that speak of both, while values of before go.
func moment(first, n uint64) chitta.Batch {
	x := experience(900_000 + n)
	body := fmt.Sprint("moment ", n)
	b := chitta.Batch{
		Entries: []chitta.Entry{
			{Body: experience(10_000 + n), Text: &chitta.Text{Body: body}},
			{Body: fold.Superseded{Target: first, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement}, Text: &chitta.Text{Body: body}},
		},
		Values:  []chitta.Value{{Name: "last", Data: []byte(body)}, {Name: fmt.Sprintf("all/%06d", n), Data: []byte(body)}},
		Sources: []chitta.Source{{Path: "a.md", Entries: []chitta.SourceEntry{{Date: body}}}},
	}
	if n > 3 {
		b.Values = append(b.Values, chitta.Value{Name: fmt.Sprintf("all/%06d", n-3)})
	}
	return b
}

// ofOneMoment sees that a copy holds all of one moment and nothing of another.
func ofOneMoment(t *testing.T, file string, first uint64) (last string) {
	t.Helper()
	s := opened(t, file) // folds all of its log, and is verified in the end
	got := contents(t, s)
	last = got["value last"]
	if got["text "+fmt.Sprint(first)] != last {
		t.Errorf("the edited text says %q, the value %q", got["text "+fmt.Sprint(first)], last)
	}
	if src, err := s.SourceAt("a.md"); err != nil || src.Entries[0].Date != last {
		t.Errorf("the source says %+v, %v, the value %q", src, err, last)
	}
	texts, kept := 0, 0
	for k, v := range got {
		if strings.HasPrefix(k, "text ") && v == last {
			texts++
		}
		if strings.HasPrefix(k, "value all/") {
			kept++
		}
	}
	if texts != 2 || kept > 3 {
		t.Errorf("%d texts of %q, want 2; %d values of at most 3", texts, last, kept)
	}
	return last
}

// Whatever is written, edited, replaced and removed while a backup is made, at
// whichever point of it, the backup is the store as it was at one moment.
func TestABackupIsOfOneMoment(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	first := mustAppend(t, s, chitta.Entry{Body: experience(0), Text: text(0)})[0].Sequence
	n := uint64(0)
	write := func() {
		n++
		if _, err := s.Append(context.Background(), moment(first, n)); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		write()
	}
	dir := t.TempDir()
	for every := range 7 {
		calls, most := 0, n+12
		r := backup(t, s, chitta.BackupOptions{File: filepath.Join(dir, fmt.Sprint(every)), Progress: func(stage string, _, _ uint64) {
			if calls++; n < most && (stage == "check" || calls%(9*every+1) == 0) {
				write()
			}
		}})
		ofOneMoment(t, r.Path, first)
	}
}

// The same among writers that do not wait for the backup, which has nobody wait.
func TestBackupsAmongWriters(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	first := mustAppend(t, s, chitta.Entry{Body: experience(0), Text: text(0)})[0].Sequence
	if _, err := s.Append(t.Context(), moment(first, 1)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := uint64(2); n < 2000; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.Append(context.Background(), moment(first, n)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	dir := t.TempDir()
	for i := range 8 {
		ofOneMoment(t, backup(t, s, chitta.BackupOptions{File: filepath.Join(dir, fmt.Sprint(i))}).Path, first)
	}
	close(stop)
	writing.Wait()
	if h := s.Health(); h.LongestRead > time.Second {
		t.Errorf("a read transaction lasted %v", h.LongestRead)
	}
}

// What is taken out while a backup is made is not in it, and no automatic copy
// that holds it stays.
func TestABackupAmongExcisions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var all []uint64
	for i := range uint64(200) {
		all = append(all, mustAppend(t, s, chitta.Entry{Body: experience(i), Text: canary(i)})[0].Sequence)
	}
	backup(t, s, chitta.BackupOptions{})
	done := make(chan error, 1)
	go func() {
		var err error
		for range 10 {
			_, e := s.Backup(context.Background(), chitta.BackupOptions{})
			err = errors.Join(err, e)
		}
		done <- err
	}()
	for i := range 6 {
		if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: all[i*5 : i*5+2]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r := backup(t, s, chitta.BackupOptions{})
	if want, got := contents(t, s), contents(t, opened(t, r.Path)); got["digest"] != want["digest"] {
		t.Error("the backup folds to another state")
	}
	for i := range 6 {
		for n := range 2 {
			if found := holding(t, dir, []byte(canary(uint64(i*5+n)).Body)); len(found) > 0 {
				t.Errorf("what was taken out is still in %v", found)
			}
		}
	}
}

// A crash between the excision and the removal of the copies is made good at the
// next start; copies of another store and those that know of it stay.
func TestCopiesOfWhatWentAreFoundAtTheStart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	seq := mustAppend(t, s, chitta.Entry{Body: experience(1), Text: canary(1)})[0].Sequence
	mustAppend(t, s, chitta.Entry{Body: experience(2), Text: canary(2)})
	before := backup(t, s, chitta.BackupOptions{})
	old, err := os.ReadFile(before.Path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{seq}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Copies, []string{before.Path}) {
		t.Errorf("copies that went: %v, want %s", x.Copies, before.Path)
	}
	after := backup(t, s, chitta.BackupOptions{})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := open(t, t.TempDir(), nil)
	stranger := backup(t, other, chitta.BackupOptions{File: filepath.Join(dir, "backups", "jivad-20200101T000000Z-000000001.db")})
	replaced := filepath.Join(dir, chitta.FileName+".replaced-20200101T000000Z")
	if err := errors.Join(os.WriteFile(before.Path, old, 0o600), os.WriteFile(replaced, old, 0o600)); err != nil {
		t.Fatal(err)
	}
	open(t, dir, nil)
	for path, want := range map[string]bool{before.Path: false, replaced: false, after.Path: true, stranger.Path: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
}

func TestBackupsRotate(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	clock := func(o *chitta.Options) { o.Clock = func() (time.Time, bool) { return now, true } }
	s := open(t, dir, clock)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	folder := filepath.Join(dir, "backups")
	var made []string
	for i := range uint64(6) {
		mustAppend(t, s, chitta.Entry{Body: experience(i), Text: text(i)})
		made = append(made, backup(t, s, chitta.BackupOptions{Keep: 4}).Path)
		now = now.Add(-time.Hour) // a clock that runs backwards changes nothing of the order
	}
	// What is not an automatic backup of this store counts for nothing and stays.
	mine := backup(t, s, chitta.BackupOptions{File: filepath.Join(folder, "mine.db")})
	stranger := backup(t, open(t, other, nil), chitta.BackupOptions{File: filepath.Join(folder, "jivad-20200101T000000Z-000000001.db")})
	damaged := filepath.Join(folder, "jivad-20200101T000001Z-000000001.db")
	if err := os.WriteFile(damaged, []byte("no store at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := backup(t, s, chitta.BackupOptions{Keep: 2})
	made = append(made, r.Path)
	want := []string{mine.Path, stranger.Path, damaged, made[5], made[6]}
	list, err := chitta.ListBackups(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range list {
		got = append(got, b.Path)
	}
	slices.Sort(want)
	sorted := slices.Sorted(slices.Values(got))
	if !slices.Equal(sorted, want) {
		t.Errorf("there are\n%s\nwant\n%s", strings.Join(sorted, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Removed) != 3 || got[0] != made[6] || got[1] != made[5] {
		t.Errorf("removed %v; newest first: %v", r.Removed, got)
	}
	newest, bad, err := chitta.NewestBackup(t.Context(), folder, s.Meta().ID)
	if err != nil || newest.Path != made[6] || bad != 0 {
		t.Errorf("the newest is %s, %d bad, %v", newest.Path, bad, err)
	}
	if err := os.Truncate(made[6], 9000); err != nil {
		t.Fatal(err)
	}
	if newest, bad, err = chitta.NewestBackup(t.Context(), folder, s.Meta().ID); err != nil || newest.Path != made[5] || bad != 1 {
		t.Errorf("the newest good one is %s, %d bad, %v", newest.Path, bad, err)
	}
}

func TestABackupWritesNothingOver(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	file := filepath.Join(dir, "there")
	if err := os.WriteFile(file, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Backup(t.Context(), chitta.BackupOptions{File: file})
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "Nothing is written over") {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "somebody's" {
		t.Errorf("it is %q now", data)
	}
	if _, err := s.Backup(t.Context(), chitta.BackupOptions{File: filepath.Join(dir, "no", "folder")}); err == nil {
		t.Error("a folder was made up")
	}
	if r := backup(t, s, chitta.BackupOptions{File: dir}); filepath.Dir(r.Path) != dir || r.Automatic {
		t.Errorf("%+v", r)
	}
}

// A backup that is given up, or finds no room, leaves nothing behind and takes
// nothing away.
func TestABackupThatFailsLeavesNothing(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(400) {
		long := make([]byte, 2000)
		for j := range long {
			long[j] = byte('a' + r.IntN(26))
		}
		mustAppend(t, s, chitta.Entry{Body: experience(i), Text: &chitta.Text{Body: string(long)}})
	}
	good := backup(t, s, chitta.BackupOptions{})
	left := func(when string) {
		t.Helper()
		names, err := os.ReadDir(filepath.Dir(good.Path))
		if err != nil || len(names) != 1 || names[0].Name() != filepath.Base(good.Path) {
			t.Errorf("%s there are %v, %v", when, names, err)
		}
	}
	for _, stage := range []string{"copy", "check"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Backup(ctx, chitta.BackupOptions{Keep: 1, Progress: func(now string, done, _ uint64) {
			if now == stage && done > 200 {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("given up while it makes a %s: %v", stage, err)
		}
		left("given up")
	}
	full(t, 200<<10, func() {
		if _, err := s.Backup(t.Context(), chitta.BackupOptions{Keep: 1}); !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "MB of room") {
			t.Errorf("without room: %v", err)
		}
	})
	left("without room")
	mustAppend(t, s, chitta.Entry{Body: experience(1000)})
	backup(t, s, chitta.BackupOptions{})
}

// alone runs the test in a process of its own and is true there: a limit that holds
// for the whole process would also hold for what go test writes.
func alone(t *testing.T) bool {
	t.Helper()
	const mark = "JIVAD_TEST_ALONE"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	c.Env = append(os.Environ(), mark+"="+t.Name())
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// full runs f while no file can grow beyond so many bytes, as on a full disk.
func full(t *testing.T, bytes uint64, f func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	now := before
	now.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

func TestOneBackupAtATime(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	backup(t, s, chitta.BackupOptions{Progress: func(string, uint64, uint64) {
		if _, err := s.Backup(t.Context(), chitta.BackupOptions{}); !errors.Is(err, chitta.ErrCopying) {
			t.Errorf("a second one: %v", err)
		}
	}})
}

// What a process that was killed left of a backup goes at the next start, and of
// another store's nothing does.
func TestLeftoversOfBackupsGo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	backup(t, s, chitta.BackupOptions{})
	id := s.Meta().ID
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "backups", ".jivad-"+id[len(id)-12:]+"-77.tmp")
	other := filepath.Join(dir, "backups", ".jivad-aaaaaaaaaaaa-77.tmp")
	restore := filepath.Join(dir, "."+chitta.FileName+".restore-77.tmp")
	for _, path := range []string{own, other, restore} {
		if err := os.WriteFile(path, []byte("half of it"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, nil)
	for path, want := range map[string]bool{own: false, other: true, restore: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
}
