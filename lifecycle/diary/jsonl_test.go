package diary

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReadJSONL(t *testing.T) {
	f, err := ReadJSONL("a.jsonl", strings.NewReader("\ufeff"+`{"date":"1911-01-02","text":"\nOne.\n\nMore.\n","label":"Bath"}

{"date":null,"text":"Two.","mood":1,"mode":2}
{"text":"Three.","tags":["a","b"],"category":"health","mood":3}
{"date":"","text":"  \n"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := short(f); got != "1911-01-02|Bath|One.⏎⏎More.\n||Two.\n||Three.\n" {
		t.Error(got)
	}
	e := f.Entries[2]
	if fmt.Sprint(e.Tags) != "[a b]" || e.Category != "health" || e.Ordinal != 2 || e.Line != 4 {
		t.Errorf("%+v", e)
	}
	if !f.has(NoteField, 3) || !f.has(NoteEmpty, 5) || len(f.Notes) != 3 { // two fields, one empty line
		t.Error(f.Notes)
	}
}

func TestReadJSONLNamesTheBadLine(t *testing.T) {
	good := `{"date":null,"text":"fine"}` + "\n"
	for _, bad := range []string{
		`{"date":"2026-02-30","text":"secret"}`, `{"date":"yesterday","text":"secret"}`, `{"date":"2026-3-1","text":"secret"}`,
		`{"date":5,"text":"secret"}`, `{"text":5,"x":"secret"}`, `{"label":"secret"}`, `{"text":null,"x":"secret"}`, `"secret"`, `null`, `[]`,
		`{"text":"secret"`, `{"text":"secret"} {"text":"secret"}`, `secret`,
	} {
		f, err := ReadJSONL("a.jsonl", strings.NewReader(good+"\n"+bad+"\n"+good))
		var e *Error
		if !errors.Is(err, ErrLine) || !errors.As(err, &e) || e.Line != 3 || len(f.Entries) != 0 {
			t.Errorf("%s: %v %v", bad, err, f)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Error("the error quotes the text:", err)
		}
	}
	if _, err := ReadJSONL("a.jsonl", strings.NewReader("\x00")); !errors.Is(err, ErrBinary) {
		t.Error(err)
	}
}
