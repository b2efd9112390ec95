package config

import "github.com/jivad/jivad/internal/faults"

// Fault is one thing that is wrong with the settings.
type Fault = faults.Fault

// Error is all that is wrong with the settings.
type Error struct {
	// Path is the file.
	Path   string
	Faults []Fault
}

// Error lists the faults, one in a line.
func (e *Error) Error() string { return faults.Told(e.Path, e.Faults) }
