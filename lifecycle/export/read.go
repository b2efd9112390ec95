package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
)

const (
	// maxWhole bounds a file that is read at once, maxLine a line, in bytes: the
	// longest text with every letter escaped, and the longest vector.
	maxWhole = 256 << 20
	maxLine  = 8 << 20
)

// Folder is an export whose files are as they were written.
type Folder struct {
	Manifest Manifest
	// Notes are things to tell: files that are not as they were, and do not matter.
	Notes []string

	fsys   fs.FS
	path   string
	closer io.Closer

	settings Settings
	sessions []Session
	heritage []Heritage
	vanished []Vanished
	called   []Called
	voice    *Voice
	consent  []json.RawMessage
	// between are the records that stand between the experiences, by their order.
	between []Record
}

// Record is one event of the log that an export gives back.
type Record struct {
	Event fold.Event
	// Text is nil where none is kept; Label is its heading. Gist says that it is the
	// gist only, Gone that it was kept once and is buried.
	Text       *string
	Label      string
	Beside     Beside
	Gist, Gone bool
	// Today is what an impression was at the export; nil for everything else.
	Today *Today
	// Vectors gives f the vectors that a change of embedder brought, by the orders
	// of the experiences that they are for, ascending; nil where it brought none. It
	// may be called while the record is at hand, once.
	Vectors func(f func(order uint64, v []float32) error) error
	// File and Line are where it stands.
	File string
	Line int

	vectors string // the file of them
}

// Is tells whether a folder is an export, or was one before it was damaged.
func Is(path string) bool {
	has := func(name string) bool {
		info, err := os.Stat(filepath.Join(path, name))
		return err == nil && info.Mode().IsRegular()
	}
	if has(FileImpressions) && has(FileSessions) {
		return true
	}
	if !has(FileManifest) {
		return false
	}
	f, err := os.Open(filepath.Join(path, FileManifest))
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, maxWhole))
	var m struct {
		Format string `json:"format"`
	}
	return err == nil && json.Unmarshal(data, &m) == nil && m.Format == Format
}

// Open reads an export but for its experiences, and checks the checksum of every
// file. Errors are of type [*Error]: ErrDamaged, ErrLine or ErrNewer.
func Open(ctx context.Context, path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &Error{File: path, Err: bare(err)}
	}
	x, err := openFS(ctx, root.FS())
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	x.path, x.closer = path, root
	return x, nil
}

// Close releases the folder.
func (x *Folder) Close() error { return x.closer.Close() }

// Path is the folder as it was named.
func (x *Folder) Path() string { return x.path }

func openFS(ctx context.Context, fsys fs.FS) (*Folder, error) {
	x := &Folder{fsys: fsys}
	data, err := x.whole(FileManifest)
	if err != nil {
		return nil, err
	}
	if err := x.readManifest(data); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(keysOf(x.Manifest.Files)) {
		if err := x.checkFile(ctx, name, x.Manifest.Files[name]); err != nil {
			return nil, err
		}
	}
	for _, read := range []func() error{x.readSettings, x.readSessions, x.readForgotten, x.readTendencies, x.readConsent} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(x.between, func(a, b Record) int { return cmp.Compare(a.Event.Sequence, b.Event.Sequence) })
	return x, nil
}

func keysOf(m map[string]FileInfo) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (x *Folder) readManifest(data []byte) error {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return damaged(FileManifest, lineOf(data, err), "")
	}
	if head.Format != Format || head.Version < 1 {
		return damaged(FileManifest, 0, "It does not say that it is of an export.")
	}
	if head.Version > Version {
		return &Error{File: FileManifest, Err: fmt.Errorf("%w: version %d, this program knows %d", ErrNewer, head.Version, Version)}
	}
	if err := decodeFile(FileManifest, data, &x.Manifest); err != nil {
		return err
	}
	for name := range x.Manifest.Files {
		if !nameOf.MatchString(name) || name == FileManifest {
			return damaged(FileManifest, 0, "It names a file that no export has.")
		}
	}
	for _, name := range []string{FileImpressions, FileSessions, FileParameters} {
		if _, ok := x.Manifest.Files[name]; !ok {
			return damaged(FileManifest, 0, "It does not name "+name+".")
		}
	}
	return nil
}

// damaged is the error of a file that is not as it was.
func damaged(file string, line int, hint string) error {
	return &Error{File: file, Line: line, Err: ErrDamaged, Hint: hint}
}

// lineOf is the line of a whole file that a decoder's error is of, from 1, or 0.
func lineOf(data []byte, err error) int {
	at := 0
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		at = len(data)
	default:
		return 0
	}
	return 1 + bytes.Count(data[:min(max(0, at), len(data))], []byte("\n"))
}

// decode reads exactly one value, of which every field is known. What it says
// quotes nothing; line is where the fault is, if that can be told.
func decode(data []byte, into any) (line int, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return lineOf(data, err), fmt.Errorf("%w: it is not the JSON that belongs there", ErrLine)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: there is something behind the JSON", ErrLine)
	}
	return 0, nil
}

// decodeFile reads a file that is one value.
func decodeFile(name string, data []byte, into any) error {
	line, err := decode(data, into)
	return at(name, line, err)
}

// decodeLine reads a line that is one value.
func decodeLine(name string, n int, line []byte, into any) error {
	_, err := decode(line, into)
	return at(name, n, err)
}

// needed are the files that the store is rebuilt from.
func needed(name string) bool {
	return vectorsOf.MatchString(name) ||
		slices.Contains([]string{FileImpressions, FileSessions, FileParameters, FileTendencies, FileForgotten, FileSoul, FileGiven, FileConsent}, name)
}

// checkFile compares a file with what the manifest says of it.
func (x *Folder) checkFile(ctx context.Context, name string, want FileInfo) error {
	f, size, err := x.open(name)
	if err == nil {
		defer f.Close() //nolint:errcheck // opened for reading
	}
	if err == nil && size == want.Bytes {
		sum := sha256.New()
		var n int64
		if n, err = io.Copy(sum, reader{ctx, f}); err == nil && n == want.Bytes && hex.EncodeToString(sum.Sum(nil)) == want.SHA256 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !needed(name) {
		x.Notes = append(x.Notes, name+" is not as it was exported; nothing is read from it")
		return nil
	}
	if err != nil {
		return &Error{File: name, Err: fmt.Errorf("%w: it cannot be read: %w", ErrDamaged, bare(err))}
	}
	return x.locate(name, want)
}

// locate finds the first line that is not as it was.
func (x *Folder) locate(name string, want FileInfo) error {
	const hint = "Take the folder from where it was copied."
	if want.Lines == 0 {
		return damaged(name, 0, hint)
	}
	seen := 0
	err := x.lines(name, func(n int, _ []byte) error { seen = n; return nil })
	var at *Error
	switch {
	case errors.As(err, &at):
		at.Hint = hint
		return at
	case err != nil:
		return err
	case seen < want.Lines:
		return &Error{File: name, Line: seen + 1, Err: fmt.Errorf("%w: it has %d of %d lines", ErrDamaged, seen, want.Lines), Hint: hint}
	}
	// Lines that are whole, but moved or added.
	last := uint64(0)
	err = x.lines(name, func(n int, line []byte) error {
		var l struct {
			Order   uint64 `json:"order"`
			Session uint64 `json:"session"`
		}
		_ = json.Unmarshal(line, &l) // it is whole
		if name == FileSessions {
			l.Order = l.Session
		}
		if l.Order <= last || n > want.Lines {
			return damaged(name, n, hint)
		}
		last = l.Order
		return nil
	})
	return cmp.Or(err, damaged(name, 0, hint))
}

// open opens a file of the folder. What is no file, such as a pipe that nobody
// writes to, is not waited for.
func (x *Folder) open(name string) (fs.File, int64, error) {
	info, err := fs.Stat(x.fsys, name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errNoFile
	}
	f, err := x.fsys.Open(name)
	return f, info.Size(), err
}

var errNoFile = errors.New("it is no file")

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// whole reads a file at once.
func (x *Folder) whole(name string) ([]byte, error) {
	f, _, err := x.open(name)
	if err != nil {
		return nil, &Error{File: name, Err: fmt.Errorf("%w: it cannot be read: %w", ErrDamaged, bare(err))}
	}
	defer f.Close() //nolint:errcheck // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, maxWhole+1))
	if err != nil {
		return nil, &Error{File: name, Err: bare(err)}
	}
	if len(data) > maxWhole {
		return nil, damaged(name, 0, "It is larger than any export's.")
	}
	return data, nil
}

// lines calls f for every line of a .jsonl file, without its checksum, which is checked.
func (x *Folder) lines(name string, f func(n int, line []byte) error) error {
	file, _, err := x.open(name)
	if err != nil {
		return &Error{File: name, Err: fmt.Errorf("%w: it cannot be read: %w", ErrDamaged, bare(err))}
	}
	defer file.Close() //nolint:errcheck // opened for reading
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		line, ok := unsealed(lines.Bytes())
		if !ok {
			return damaged(name, n, "")
		}
		if err := f(n, line); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return damaged(name, n+1, "")
	} else if err != nil {
		return &Error{File: name, Line: n + 1, Err: bare(err)}
	}
	return nil
}
