package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/soul"
)

// AbsentReport tells where a phrase is in the data folder.
type AbsentReport struct {
	// Files and Bytes were read.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Found are the files that hold it, relative to the data folder; Yours are
	// those of the diary folder, which is never changed.
	Found []string `json:"found"`
	Yours []string `json:"yours,omitempty"`
	// Absent is true when no file but yours holds it.
	Absent bool `json:"absent"`
}

// Absent looks for a phrase in every byte of a data folder: as it is written, in
// the normal forms of Unicode, as JSON writes it, and as SOUL.md quotes it;
// ASCII letters in any case. Errors: ErrQuery for a phrase that is too short to
// tell anything.
func Absent(ctx context.Context, dir, diary, phrase string, progress func(Progress)) (AbsentReport, error) {
	r := AbsentReport{Found: []string{}}
	const shortest = 3
	if len([]rune(strings.TrimSpace(phrase))) < shortest {
		return r, fmt.Errorf("%w: give at least %d letters to look for", ErrQuery, shortest)
	}
	forms := formsOf(phrase)
	began := time.Now()
	err := eachFile(ctx, dir, func(path string) error {
		has, n, err := contains(ctx, path, forms)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		if err != nil {
			return err
		}
		r.Files++
		r.Bytes += n
		if progress != nil {
			progress(Progress{Done: r.Files, Stage: "files", Elapsed: time.Since(began)})
		}
		if !has {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if within(path, diary) {
			r.Yours = append(r.Yours, name)
		} else {
			r.Found = append(r.Found, name)
		}
		return nil
	})
	r.Absent = len(r.Found) == 0
	return r, err
}

// within tells whether a path lies in a folder.
func within(path, folder string) bool {
	if folder == "" {
		return false
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// formsOf are the ways in which a phrase may stand in a file, in small letters.
func formsOf(phrase string) [][]byte {
	var forms [][]byte
	add := func(s string) {
		b := lower([]byte(s))
		if len(bytes.TrimSpace(b)) > 0 && !slices.ContainsFunc(forms, func(f []byte) bool { return bytes.Equal(f, b) }) {
			forms = append(forms, b)
		}
	}
	asJSON := func(s string, html bool) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(html)
		if e.Encode(s) == nil {
			add(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`))
		}
	}
	flat := strings.Join(strings.Fields(phrase), " ")
	for _, s := range []string{phrase, strings.TrimSpace(phrase), flat, norm.NFC.String(phrase), norm.NFD.String(phrase), norm.NFKC.String(phrase)} {
		add(s)
		asJSON(s, true)
		asJSON(s, false)
	}
	const whole = 1 << 20
	add(soul.Quote(flat, whole))
	return forms
}

// lower turns ASCII letters small, in place.
func lower(b []byte) []byte {
	for i, x := range b {
		if 'A' <= x && x <= 'Z' {
			b[i] = x + 'a' - 'A'
		}
	}
	return b
}

// eachFile calls f for every regular file below dir.
func eachFile(ctx context.Context, dir string, f func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return f(path)
	})
}

// contains reads a file once and tells whether any of the forms is in it.
func contains(ctx context.Context, path string, forms [][]byte) (has bool, read int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, 0, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	longest := 0
	for _, f := range forms {
		longest = max(longest, len(f))
	}
	const piece = 1 << 20
	buf := make([]byte, 0, piece+longest)
	for {
		if err := ctx.Err(); err != nil {
			return has, read, err
		}
		from := len(buf)
		n, err := io.ReadFull(file, buf[from:cap(buf)])
		read += int64(n)
		buf = buf[:from+n]
		lower(buf[from:])
		for _, f := range forms {
			has = has || bytes.Contains(buf, f)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return has, read, nil
		}
		if err != nil {
			return has, read, err
		}
		keep := min(longest, len(buf))
		copy(buf, buf[len(buf)-keep:])
		buf = buf[:keep]
	}
}

// wordsToMiss are the texts of entries that are to go, for looking for them
// afterwards: a bounded number, and only what is long enough to be told from
// other words.
func (c *Companion) wordsToMiss(chosen []ForgetEntry) ([]string, error) {
	const most, shortest = 256, 12
	var words []string
	for _, e := range chosen {
		if len(words) == most {
			break
		}
		t, err := c.store.TextOf(e.seq)
		if errors.Is(err, chitta.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if text := strings.TrimSpace(t.Body); len(text) >= shortest {
			words = append(words, text)
		}
	}
	return words, nil
}

// lookFor reads everything again and counts what is still there.
func (c *Companion) lookFor(ctx context.Context, chosen []ForgetEntry, words []string, r *ForgetReceipt) error {
	gone := map[string]bool{}
	for _, e := range chosen {
		gone[e.ID] = true
	}
	still := make([]bool, len(words)) // other entries have the same words
	err := c.store.Experiences(ctx, func(x chitta.Experience) error {
		r.Remaining++
		if gone[formatID(x.ID)] {
			r.Left.Events++
		}
		t, err := c.store.TextOf(x.Sequence)
		if err != nil && !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
		for i, w := range words {
			still[i] = still[i] || strings.Contains(t.Body, w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Forgotten = len(chosen) - r.Left.Events
	for _, e := range chosen {
		if _, err := c.store.TextOf(e.seq); err == nil {
			r.Left.Texts++
		} else if !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
	}
	given, err := c.given()
	if err != nil {
		return err
	}
	var forms [][]byte
	for i, w := range words {
		if still[i] || strings.Contains(given, w) {
			r.Elsewhere++
			continue
		}
		forms = append(forms, lower([]byte(w)))
		if b, err := json.Marshal(w); err == nil {
			forms = append(forms, lower(b[1:len(b)-1]))
		}
	}
	return eachFile(ctx, c.opts.Dir, func(path string) error {
		if within(path, c.opts.Diary) {
			return nil
		}
		has, _, err := contains(ctx, path, forms)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if has {
			name, _ := filepath.Rel(c.opts.Dir, path)
			r.Left.Files = append(r.Left.Files, name)
		}
		return err
	})
}
