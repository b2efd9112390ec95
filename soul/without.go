package soul

import (
	"bytes"
)

// WithoutUnresolved is a SOUL.md that was written by this package, with nothing under
// "Unresolved", the last of its parts.
func WithoutUnresolved(doc []byte) []byte {
	head := []byte("\n## " + headUnresolved + "\n\n")
	at := bytes.LastIndex(doc, head)
	if at < 0 {
		return doc
	}
	return append(bytes.Clone(doc[:at+len(head)]), "Nothing.\n"...)
}
