package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Why a file could not be replaced; test with errors.Is.
var (
	// ErrDiskFull: the disk or the quota has no room.
	ErrDiskFull = errors.New("no room left")
	// ErrReadOnly: the file system is mounted read-only.
	ErrReadOnly = errors.New("file system is read-only")
	// ErrPermission: this user may not write there.
	ErrPermission = errors.New("permission denied")
	// ErrNoFolder: the folder does not exist, or something else has its name.
	ErrNoFolder = errors.New("folder missing")
	// ErrNotDurable: the content is in place, but a power cut may undo it.
	ErrNotDurable = errors.New("not known to be durable")
)

var (
	errNotRegular = errors.New("it is a folder or a device, not a file")
	errNotFolder  = fmt.Errorf("a file has that name: %w", syscall.ENOTDIR)
	errLinkLoop   = errors.New("too many symbolic links")
)

// Error says what failed, on which file, and what a person can do about it.
type Error struct {
	// Op completes "cannot …", e.g. "write".
	Op string
	// Path is the file as the caller named it.
	Path string
	// Hint is what to do, a clause without a full stop; it may be empty.
	Hint string
	// Err is the cause; Kind is one of this package's errors or nil.
	Err, Kind error
}

// Error implements error.
func (e *Error) Error() string {
	msg := fmt.Sprintf("cannot %s %s: %v", e.Op, e.Path, e.Err)
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	return msg
}

// Unwrap gives the kind and the cause to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// wrap classifies err. The path is said once: an *fs.PathError inside is
// opened, because it would name the temporary file, which nobody knows.
func wrap(op, path string, err error) error {
	e := &Error{Op: op, Path: path, Err: err}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	if errors.As(err, &pathErr) {
		e.Err = pathErr.Err
	} else if errors.As(err, &linkErr) {
		e.Err = linkErr.Err
	}
	switch {
	case errors.Is(err, ErrNotDurable):
		e.Kind, e.Hint = ErrNotDurable, "the new content is in place; check the disk, then do it again"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Kind, e.Hint = ErrDiskFull, "free some room on this disk and try again; the old content is unharmed"
	case errors.Is(err, syscall.EROFS):
		e.Kind, e.Hint = ErrReadOnly, "mount it writable or choose another place; a card that turned read-only by itself may be failing"
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Hint = ErrPermission, "give the user that runs jivad write access to the folder, or choose another place"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Hint = ErrNoFolder, "create the folder first, or correct the path"
	case errors.Is(err, errNotRegular):
		e.Hint = "move it away, or choose another name"
	case errors.Is(err, errLinkLoop):
		e.Hint = "point the link at a file"
	}
	return e
}
