package distil

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/jivad/jivad/internal/atomicfile"
)

// MaxJournal bounds the file of a journal, in bytes.
const MaxJournal = 32 << 20

// Journal is the trace of a life on disk, one act of JSON a line, so that a life that
// breaks off can still be distilled (J-4). Its file has the mode 0600 and every act is
// on the disk before Append returns. It is not safe for use by several goroutines.
type Journal struct {
	path string
	file *os.File
	size int64
	// broken is why nothing can be appended any more.
	broken error
}

// OpenJournal opens the journal at path, or begins one, and gives what stands in it. What
// a crash left of a last line is cut off. The folder must exist; a link is not followed.
// Errors: ErrForm for a line that is no act, naming its number; those of the disk.
func OpenJournal(path string) (*Journal, Trace, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, Trace{}, fmt.Errorf("open the journal of a life: %w", err)
	}
	j := &Journal{path: path, file: file}
	trace, err := j.begin()
	if err != nil {
		file.Close()
		return nil, Trace{}, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, trace, nil
}

func (j *Journal) begin() (Trace, error) {
	info, err := j.file.Stat()
	if err != nil {
		return Trace{}, err
	}
	if !info.Mode().IsRegular() {
		return Trace{}, fmt.Errorf("%w: it is no file; move it away", ErrForm)
	}
	if info.Size() > MaxJournal {
		return Trace{}, fmt.Errorf("%w: it has more than %d bytes", ErrForm, MaxJournal)
	}
	if err := j.file.Chmod(0o600); err != nil {
		return Trace{}, err
	}
	data, err := io.ReadAll(j.file)
	if err != nil {
		return Trace{}, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	trace, err := parse(data[:whole])
	if err != nil {
		return Trace{}, err
	}
	if j.size = int64(whole); whole < len(data) {
		if err := j.file.Truncate(j.size); err != nil {
			return Trace{}, err
		}
	}
	if err := j.file.Sync(); err != nil {
		return Trace{}, err
	}
	return trace, atomicfile.SyncDir(filepath.Dir(j.path))
}

func parse(data []byte) (trace Trace, err error) {
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte{'\n'})
		act, err := parseAct(line)
		if err != nil {
			return Trace{}, fmt.Errorf("line %d: %w", n, err)
		}
		trace.Add(act)
	}
	return trace, nil
}

func parseAct(line []byte) (a Act, err error) {
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(&a); err != nil {
		return a, fmt.Errorf("%w: no act of JSON", ErrForm) // the decoder's words may hold what stands there
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return a, fmt.Errorf("%w: more than one act", ErrForm)
	}
	return a, a.Check()
}

// Append writes an act and waits until it is on the disk. After an error nothing of it
// counts. Errors: ErrForm, ErrFull, those of the disk.
func (j *Journal) Append(a Act) error {
	if j.broken != nil {
		return fmt.Errorf("journal %s: %w", j.path, j.broken)
	}
	if err := a.Check(); err != nil {
		return err
	}
	line, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("%w: an act that cannot be written", ErrForm)
	}
	if line = append(line, '\n'); len(line) > MaxAct {
		return fmt.Errorf("%w: an act of %d bytes; at most %d", ErrForm, len(line), MaxAct)
	}
	if j.size+int64(len(line)) > MaxJournal {
		return fmt.Errorf("journal %s: %w", j.path, ErrFull)
	}
	if _, err = j.file.Write(line); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		if undo := j.file.Truncate(j.size); undo != nil {
			j.broken = undo
		}
		return fmt.Errorf("write the journal of a life: %w", err)
	}
	j.size += int64(len(line))
	return nil
}

// Close leaves the file for the next start.
func (j *Journal) Close() error { return j.file.Close() }

// Destroy empties the file, unlinks it and sees that nothing is left. A second call, and
// one after Close, does the same. Error: ErrLeft, saying what is left and where.
func (j *Journal) Destroy() error {
	j.broken = fs.ErrClosed
	var mine error
	if err := empty(j.file); err != nil && !errors.Is(err, fs.ErrClosed) {
		mine = fmt.Errorf("%w: %s cannot be emptied: %w", ErrLeft, j.path, err)
	}
	if err := DestroyJournal(j.path); err != nil {
		mine = errors.Join(mine, err)
	}
	if mine == nil {
		mine = otherNames(j.path, j.file)
	}
	j.file.Close()
	return mine
}

// DestroyJournal destroys the journal at path, whatever stands in it; it is no error
// where there is none. Error: ErrLeft, saying what is left and where.
func DestroyJournal(path string) error {
	left := func(what string, err error) error { return fmt.Errorf("%w: %s %s: %w", ErrLeft, path, what, err) }
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no file of a journal; look at it, and move it away", ErrLeft, path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return left("cannot be opened", err)
	}
	defer file.Close()
	if err := empty(file); err != nil {
		return left("cannot be emptied", err)
	}
	if err := os.Remove(path); err != nil {
		return left("cannot be removed", err)
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
		return left("may come back after a power cut", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return left("is there again", fs.ErrExist)
	}
	return otherNames(path, file)
}

// empty takes every byte out of a file, whoever else has it open or under another name.
func empty(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	return file.Sync()
}

// otherNames tells of an unlinked file that still has a name or bytes.
func otherNames(path string, file *os.File) error {
	info, err := file.Stat()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrLeft, path, err)
	}
	if info.Size() > 0 {
		return fmt.Errorf("%w: %s was written again", ErrLeft, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 0 {
		return fmt.Errorf("%w: %s had another name, where an empty file stays; copies may be beside it", ErrLeft, path)
	}
	return nil
}
