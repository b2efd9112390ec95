package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fault is what happens to the program while it does a deed. To add one is to add
// a row to the table.
type fault struct {
	name string
	// kills: it ends in kill -9. Else the deed comes to an end of its own, and
	// what it says where it fails must hold one of says.
	kills bool
	says  []string
	// lacks tells why it cannot be had here, or nil.
	lacks func(l *lab) error
	// fits tells whether it makes sense for a deed; nil means for all.
	fits func(d *deed) bool
	// plan draws how it will be and tells it in words.
	plan func(r *round, ref *reference) string
	// before is done with the folder before the program starts, after once it
	// has ended: it mends what was broken, or breaks what a power cut breaks.
	before, after func(ctx context.Context, r *round) error
	// weight is how often it has its turn; 0 means 1.
	weight int
}

// nobody is whose programs are when a folder is to be closed to them.
const nobody = 65534

// faults are all that are tried.
func faults() []fault {
	return []fault{
		// Killed at any time of the deed, and just after something was seen of it.
		{name: "kill-time", kills: true, weight: 4, plan: func(r *round, ref *reference) string {
			r.delay = time.Duration(r.rng.Float64() * 1.1 * float64(ref.length))
			return fmt.Sprintf("after %v of %v", r.delay.Round(time.Millisecond), ref.length.Round(time.Millisecond))
		}},
		{name: "kill-seen", kills: true, weight: 4, plan: func(r *round, ref *reference) string {
			r.seen = 1 + r.rng.IntN(max(1, ref.changes))
			r.delay = time.Duration(r.rng.Float64() * float64(2*time.Millisecond))
			return fmt.Sprintf("%v after change %d of %d", r.delay.Round(time.Microsecond), r.seen, ref.changes)
		}},
		// Killed before every durable system call, in turn, and in the midst of a
		// write.
		{name: "kill-call", kills: true, weight: 8, lacks: trapped, fits: traps, plan: func(r *round, ref *reference) string {
			at := r.next(ref)
			ref.swept[at] = true
			r.decide = func(c call) verdict { return verdict{kill: c.Number == at} }
			return before(at, ref)
		}},
		{name: "kill-torn", kills: true, weight: 3, lacks: trapped, fits: traps, plan: func(r *round, ref *reference) string {
			at, share := r.write(ref), r.rng.Float64()
			r.decide = func(c call) verdict {
				if c.Number < at || c.Size == 0 {
					return verdict{}
				}
				return verdict{kill: true, part: int(share * float64(c.Size))}
			}
			return "in the midst of " + before(at, ref)
		}},
		// Killed, and what was not synced is lost.
		{name: "power", kills: true, weight: 5, lacks: trapped, fits: traps, plan: func(r *round, ref *reference) string {
			at := 1 + r.rng.IntN(len(ref.calls)+1)
			r.decide = func(c call) verdict { return verdict{kill: c.Number == at} }
			r.journal = newJournal(filepath.Join(r.dir, "spare"))
			return "power cut before " + before(at, ref)
		}, before: func(_ context.Context, r *round) error {
			return os.Mkdir(r.journal.spare, 0o700)
		}, after: func(_ context.Context, r *round) error {
			what, err := r.journal.cut(r.rng)
			r.how += ": " + what
			return errors.Join(err, os.RemoveAll(r.journal.spare))
		}},
		// Killed, and the end of a cache or of SOUL.md is gone.
		{name: "cut", kills: true, weight: 2, plan: func(r *round, ref *reference) string {
			r.delay = time.Duration(r.rng.Float64() * 1.1 * float64(ref.length))
			return fmt.Sprintf("after %v of %v", r.delay.Round(time.Millisecond), ref.length.Round(time.Millisecond))
		}, after: func(_ context.Context, r *round) error { return r.cutCaches() }},
		// No room: at the first write that meets it, or on a disk that is small.
		{name: "full", lacks: trapped, fits: traps, weight: 2, says: []string{"no space left"}, plan: func(r *round, ref *reference) string {
			at := r.write(ref)
			r.decide = failing(at, syscall.ENOSPC, "write", "pwrite64", "create", "mkdir")
			return "no room from " + before(at, ref)
		}},
		{name: "full-disk", lacks: mounting, weight: 2, says: []string{"no space left"}, plan: func(r *round, ref *reference) string {
			r.room = 4<<10 + r.rng.Int64N(max(1, ref.bytes*3/2))
			return fmt.Sprintf("a disk with %d KiB of room", r.room>>10)
		}, before: mountSmall, after: func(ctx context.Context, r *round) error {
			return mount(ctx, "-o", "remount,size=256m", r.data)
		}},
		// A disk that fails once, a file system that becomes read-only, a folder
		// that is closed to the program.
		{name: "bad-disk", lacks: trapped, fits: traps, says: []string{"input/output error"}, plan: func(r *round, ref *reference) string {
			at := 1 + r.rng.IntN(len(ref.calls)+1)
			r.decide = func(c call) verdict {
				if c.Number == at {
					return verdict{errno: syscall.EIO}
				}
				return verdict{}
			}
			return "input/output error at " + before(at, ref)
		}},
		{name: "read-only", lacks: trapped, fits: traps, says: []string{"read-only file system"}, plan: func(r *round, ref *reference) string {
			at := 1 + r.rng.IntN(len(ref.calls)+1)
			r.decide = failing(at, syscall.EROFS)
			return "read-only from " + before(at, ref)
		}},
		{name: "closed", lacks: another, says: []string{"permission denied"}, plan: func(r *round, ref *reference) string {
			r.uid = nobody
			if !r.deed.daemon && r.rng.IntN(2) == 0 {
				return "the folder is closed from the beginning"
			}
			r.delay = time.Duration(r.rng.Float64() * float64(ref.length))
			return fmt.Sprintf("the folder is closed after %v", r.delay.Round(time.Millisecond))
		}, before: func(_ context.Context, r *round) error {
			if err := chown(r.dir, nobody, nobody); err != nil || r.delay > 0 {
				return err
			}
			return r.close()
		}, after: func(_ context.Context, r *round) error { return r.reopen() }},
		// Few open files, and a clock that is wrong.
		{name: "few-files", says: []string{"too many open files", "was not created", "pthread_create", "files may be open at once"}, plan: func(r *round, _ *reference) string {
			r.files = uint64(8 + r.rng.IntN(113))
			return fmt.Sprintf("at most %d open files", r.files)
		}},
		{name: "clock", kills: true, weight: 2, lacks: func(l *lab) error {
			if _, err := exec.LookPath("go"); err != nil {
				return err
			}
			return nil
		}, fits: func(d *deed) bool { return !d.dated }, plan: func(r *round, ref *reference) string {
			shifts := []string{"-87600h", "-48h", "-25h", "-10m", "0s", "10m", "25h", "48h", "87600h"}
			r.clock = [2]string{shifts[r.rng.IntN(len(shifts))], shifts[r.rng.IntN(len(shifts))]}
			r.delay = time.Duration(r.rng.Float64() * 1.1 * float64(ref.length))
			return fmt.Sprintf("clock %s, killed after %v, then clock %s", r.clock[0], r.delay.Round(time.Millisecond), r.clock[1])
		}, before: func(ctx context.Context, r *round) (err error) {
			r.program, err = r.lab.variant(ctx, clock())
			return err
		}},
	}
}

// traps: a client of the daemon has no calls to be stopped at.
func traps(d *deed) bool { return !d.client }

func trapped(l *lab) error { return l.noTraps }

func root(*lab) error {
	if os.Getuid() != 0 {
		return errors.New("only root can start a program as another user")
	}
	return nil
}

// another tells whether a program of another user can be started in the lab's folder.
func another(l *lab) error {
	if err := root(l); err != nil {
		return err
	}
	for dir := l.root; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("another user cannot go through %s", dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// mounting tells whether a small disk can be had.
func mounting(l *lab) error {
	if err := root(l); err != nil {
		return err
	}
	_, err := exec.LookPath("mount")
	return err
}

// before tells of a call by what an undisturbed run did there.
func before(at int, ref *reference) string {
	if at > len(ref.calls) {
		return fmt.Sprintf("call %d, after the last", at)
	}
	return fmt.Sprintf("call %d of %d (%s)", at, len(ref.calls), ref.calls[at-1])
}

// failing fails calls from one on; without names all of them.
func failing(from int, errno syscall.Errno, names ...string) func(call) verdict {
	return func(c call) verdict {
		if c.Number < from || len(names) > 0 && !slices.Contains(names, c.Name) {
			return verdict{}
		}
		return verdict{errno: errno}
	}
}

// next is the next call of a sweep over all of them, in an order that the seed
// gives.
func (r *round) next(ref *reference) int {
	n := len(ref.calls) + 1
	return r.lab.order(r.deed.name, r.turn/n, n)[r.turn%n] + 1
}

// write is one of the calls that write.
func (r *round) write(ref *reference) int {
	var writes []int
	for _, c := range ref.calls {
		if c.Size > 0 {
			writes = append(writes, c.Number)
		}
	}
	if len(writes) == 0 {
		return 1
	}
	return writes[r.rng.IntN(len(writes))]
}

// mountSmall puts the folder on a disk with little room.
func mountSmall(ctx context.Context, r *round) error {
	used, err := sizeOf(r.data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // nothing may be there yet
		return err
	}
	aside := r.data + ".aside"
	if err := os.Rename(r.data, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Mkdir(r.data, 0o700); err != nil {
		return err
	}
	const folders = 64 << 10 // what the folders themselves may take
	if err := mount(ctx, "-t", "tmpfs", "-o", fmt.Sprintf("mode=0700,size=%dk", (used+folders+r.room)>>10), "jivad-torture", r.data); err != nil {
		return err
	}
	r.mounted = true
	if _, err := os.Stat(aside); err != nil {
		return nil // the deed begins from nothing
	}
	return errors.Join(copyFolder(aside, r.data), os.RemoveAll(aside))
}

func mount(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "mount", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// close takes from everybody but root the right to make anything in the folder.
func (r *round) close() error {
	r.shut = map[string]os.FileMode{}
	return filepath.WalkDir(r.data, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		r.shut[path] = info.Mode().Perm()
		return os.Chmod(path, 0o500)
	})
}

func (r *round) reopen() error {
	for path, mode := range r.shut {
		if err := os.Chmod(path, mode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// cutCaches cuts the last bytes off some of what can be made again, or makes its
// last page zeros.
func (r *round) cutCaches() error {
	var files []string
	for _, under := range []string{"cache", "SOUL.md", filepath.Join("soul", "archive"), "owner.json"} {
		err := filepath.WalkDir(filepath.Join(r.data, under), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var done []string
	for i := range 1 + r.rng.IntN(3) {
		if len(files) == 0 {
			break
		}
		at := r.rng.IntN(len(files))
		if i == 0 && slices.Contains(files, filepath.Join(r.data, "SOUL.md")) && r.rng.IntN(2) == 0 {
			at = slices.Index(files, filepath.Join(r.data, "SOUL.md"))
		}
		info, err := os.Stat(files[at])
		if err != nil {
			return err
		}
		const page = 4096
		n := min(info.Size(), 1+r.rng.Int64N(page))
		if r.rng.IntN(3) > 0 {
			err = os.Truncate(files[at], info.Size()-n)
		} else {
			var f *os.File
			if f, err = os.OpenFile(files[at], os.O_WRONLY, 0); err == nil {
				_, err = f.WriteAt(make([]byte, n), info.Size()-n)
				err = errors.Join(err, f.Close())
			}
		}
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(r.data, files[at])
		done = append(done, fmt.Sprintf("%d bytes of %s", n, name))
	}
	r.how += "; gone: " + strings.Join(done, ", ")
	return nil
}
