package tools

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// What an error of this package is about.
var (
	// ErrDeclaration: tools or grants are declared in a way that cannot work.
	ErrDeclaration = errors.New("the declaration of the tools has faults")
	// ErrRefused: the checkpoint did not let a call through.
	ErrRefused = errors.New("refused")
	// ErrSpent: an act ran before; whoever wants it again asks the checkpoint again.
	ErrSpent = errors.New("this act was done already")
	// ErrStart: what the tool needs is not there any more, or cannot be used.
	ErrStart = errors.New("it could not be started")
	// ErrTimeLimit: the tool took longer than it may; it was ended.
	ErrTimeLimit = errors.New("it took longer than its time limit and was ended")
	// ErrStopped: the caller ended it before it was done.
	ErrStopped = errors.New("it was stopped before it was done")
	// ErrHost: a host leads to an address that the tool may not speak to.
	ErrHost = errors.New("the host leads to an address that the tool may not speak to")
	// ErrRedirect: an answer points elsewhere, and is not followed.
	ErrRedirect = errors.New("the answer points to another place, which is not followed")
	// ErrUnreachable: the other side does not answer, or not as it should.
	ErrUnreachable = errors.New("the other side could not be reached")
	// ErrLeft: the folder of a program could not be removed after it.
	ErrLeft = errors.New("its working folder could not be removed")
	// ErrPath: what a path leads to is outside of the tool's folder, or no file.
	ErrPath = errors.New("there is no ordinary file at that place inside the tool's folder")
)

// Fault is one thing that keeps tools from being born.
type Fault struct {
	// Tool names it, or its place among the declarations where it has no name.
	Tool string
	// Where is the field, such as "exec.argv[2]"; empty for the tool as a whole.
	Where string
	// What is wrong, and what mends it.
	What, Mend string
}

// Error says it in one line.
func (f Fault) Error() string {
	where := f.Tool
	if f.Where != "" {
		where += ", " + f.Where
	}
	return fmt.Sprintf("%s: %s; %s", where, f.What, f.Mend)
}

// Faults are all that is wrong, in the order of the declarations. It is ErrDeclaration.
type Faults []Fault

// Error lists them, one in a line.
func (f Faults) Error() string {
	lines := make([]string, 0, len(f)+1)
	lines = append(lines, ErrDeclaration.Error()+":")
	for _, one := range f {
		lines = append(lines, "  "+one.Error())
	}
	return strings.Join(lines, "\n")
}

// Is tells that it is ErrDeclaration.
func (f Faults) Is(target error) bool { return target == ErrDeclaration }

// orNil keeps an empty list from becoming an error that is not nil.
func (f Faults) orNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// RunError says that a tool did not do what it should. Its text names the tool, and
// holds nothing of the arguments.
type RunError struct {
	Tool string
	// Kind is one of the errors above.
	Kind error
	// Number is what the system said, or 0.
	Number syscall.Errno
}

// Error says it in one line.
func (e *RunError) Error() string {
	if e.Number != 0 {
		return fmt.Sprintf("tool %s: %v (%v)", e.Tool, e.Kind, e.Number)
	}
	return fmt.Sprintf("tool %s: %v", e.Tool, e.Kind)
}

// Unwrap gives the kind and what the system said.
func (e *RunError) Unwrap() []error {
	if e.Number != 0 {
		return []error{e.Kind, e.Number}
	}
	return []error{e.Kind}
}

// failed makes a RunError. Of cause only the system's number is kept: its text may name
// a path or an address that came from an argument.
func failed(tool string, kind, cause error) *RunError {
	e := &RunError{Tool: tool, Kind: kind}
	_ = errors.As(cause, &e.Number)
	return e
}
