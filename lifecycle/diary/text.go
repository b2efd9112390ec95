package diary

import (
	"bytes"
	"crypto/sha256"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"
)

// newlines are the ways to end a line.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Normalise returns the form in which two copies of one text are equal: line
// ends are \n, letters are composed (Unicode NFC), spaces at line ends and
// blank lines around the text are gone.
func Normalise(text string) string {
	lines := strings.Split(newlines.Replace(norm.NFC.String(text)), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRightFunc(l, unicode.IsSpace)
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// Key names an entry: the first 16 bytes of SHA-256 over its date, a zero byte
// and its normalised text. The same words on the same day have the same key.
func Key(date, text string) [16]byte {
	h := sha256.New()
	io.WriteString(h, date)
	h.Write([]byte{0})
	io.WriteString(h, Normalise(text))
	return [16]byte(h.Sum(nil))
}

// LocalDay is the day, YYYY-MM-DD, that a moment belongs to for a person who
// lives at loc (nil: the location of t) and whose day begins at dayStartsAt on
// the wall clock. A start outside 0 to 24 h counts as midnight.
func LocalDay(t time.Time, loc *time.Location, dayStartsAt time.Duration) string {
	if loc != nil {
		t = t.In(loc)
	}
	y, m, d := t.Date()
	h, min, s := t.Clock()
	clock := time.Duration(h)*time.Hour + time.Duration(min)*time.Minute + time.Duration(s)*time.Second
	if dayStartsAt > 0 && dayStartsAt < 24*time.Hour && clock < dayStartsAt {
		d--
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// readText reads all of r as text. enc names the table when it was not UTF-8.
func readText(name string, r io.Reader) (text, enc string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return "", "", &Error{Op: "read", Name: name, Err: err}
	}
	if len(data) > MaxBytes {
		return "", "", &Error{Op: "read", Name: name, Err: ErrTooLarge, Hint: "divide it into smaller files"}
	}
	text, enc, ok := decode(data)
	if !ok {
		return "", "", &Error{Op: "read", Name: name, Err: ErrBinary, Hint: "keep only text under this ending in the folder, or save the file as UTF-8"}
	}
	return text, enc, nil
}

// decode turns bytes into text: UTF-8 with or without a mark, UTF-16 with a
// mark, else Windows-1252, which has a letter for nearly every byte. The whole
// file is judged at once, so that no letter can be cut.
func decode(data []byte) (text, enc string, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		if len(data)%2 != 0 {
			return "", "", false
		}
		out, err := utf.UTF16(utf.LittleEndian, utf.ExpectBOM).NewDecoder().Bytes(data)
		if err != nil || bytes.IndexByte(out, 0) >= 0 {
			return "", "", false
		}
		return string(out), "", true
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", "", false
	}
	if utf8.Valid(data) {
		return string(data), "", true
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(data)
	if err != nil {
		return "", "", false
	}
	return string(out), "Windows-1252 (Western European)", true
}

// line is one line of a text: text[start:end], its line end not included.
type line struct{ start, end int }

// splitLines finds the lines; \n, \r\n and \r each end one.
func splitLines(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	at := 0
	for i := range len(text) {
		switch {
		case text[i] == '\n' && i > 0 && text[i-1] == '\r':
			at = i + 1 // the second half of \r\n
		case text[i] == '\n' || text[i] == '\r':
			lines = append(lines, line{at, i})
			at = i + 1
		}
	}
	if at < len(text) {
		lines = append(lines, line{at, len(text)})
	}
	return lines
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// trimBlankLines cuts blank lines before and after a text.
func trimBlankLines(text string) string {
	lines := splitLines(text)
	first, last := 0, len(lines)-1
	for first <= last && blank(text[lines[first].start:lines[first].end]) {
		first++
	}
	for last >= first && blank(text[lines[last].start:lines[last].end]) {
		last--
	}
	if first > last {
		return ""
	}
	return text[lines[first].start:lines[last].end]
}
