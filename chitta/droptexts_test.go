package chitta_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// Texts go with all that may speak of them; entries, state and everything else stay.
func TestTextsGoAndEntriesStay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	var all []uint64
	for i := range uint64(6) {
		words := text(i)
		words.Summary, words.Answer = "a summary", "an answer"
		if i == 2 {
			words.Body = "a quincunx"
		}
		x := experience(i)
		x.Source = "somewhere.md"
		all = append(all, mustAppend(t, s, chitta.Entry{Body: x, Text: words})[0].Sequence)
	}
	if _, err := s.Append(t.Context(), chitta.Batch{
		Values:  []chitta.Value{{Name: "of", Data: []byte("quincunx")}, {Name: "else", Data: []byte("else")}},
		Sources: []chitta.Source{{Path: "somewhere.md", Entries: []chitta.SourceEntry{{Key: fold.Key{1}, Sequence: all[2]}, {Key: fold.Key{2}, Sequence: all[3]}}}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), chitta.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	before := digest(s)
	failing := errors.New("no")
	err := s.DropTexts(t.Context(), chitta.TextDrop{Sequences: all[2:3], Values: func(context.Context, []chitta.Value) ([]chitta.Value, error) { return nil, failing }})
	if got, e := s.TextOf(all[2]); !errors.Is(err, failing) || e != nil || got.Body != "a quincunx" {
		t.Fatalf("given up: %v, %+v, %v", err, got, e)
	}
	err = s.DropTexts(t.Context(), chitta.TextDrop{Sequences: all[2:3], Values: func(_ context.Context, old []chitta.Value) ([]chitta.Value, error) {
		var out []chitta.Value
		for _, v := range old {
			if v.Name != "of" {
				out = append(out, v)
			}
		}
		return out, nil
	}})
	if err != nil || digest(s) != before {
		t.Fatalf("%v, or another state", err)
	}
	for i, seq := range all {
		got, err := s.TextOf(seq)
		e, e2 := s.EventAt(seq)
		x, ok := e.Body.(fold.Experienced)
		switch {
		case e2 != nil || !ok || (x.Source == "") != (i == 2):
			t.Errorf("entry %d: %+v, %v", i, e, e2)
		case i == 2:
			if !errors.Is(err, chitta.ErrNotFound) || errors.Is(err, chitta.ErrBuried) {
				t.Errorf("its text: %+v, %v", got, err)
			}
		case err != nil || got.Body == "" || got.Summary != "" || (got.Answer == "") != (i > 2):
			t.Errorf("text %d: %+v, %v", i, got, err)
		}
	}
	if src, err := s.SourceAt("somewhere.md"); err != nil || src.Entries[0].Sequence != 0 || src.Entries[1].Sequence != all[3] {
		t.Errorf("%+v, %v", src, err)
	}
	if _, err := s.Value("else"); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, chitta.FileName))
	if err != nil || bytes.Contains(data, []byte("quincunx")) {
		t.Errorf("it is still in a page of the file, or %v", err)
	}
	own, others, err := s.CopiesUpTo(s.Meta().Generation - 1)
	if err != nil || len(own) != 1 || len(others) != 0 {
		t.Errorf("%v, %v, %v", own, others, err)
	}
	if removed, left := s.DropCopies(); len(removed) != 1 || len(left) != 0 {
		t.Errorf("%v, %v", removed, left)
	}
	if own, _, err := s.CopiesUpTo(s.Meta().Generation); err != nil || len(own) != 0 {
		t.Errorf("%v, %v", own, err)
	}
}
