package distil_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
)

func opened(t *testing.T, path string) (*distil.Journal, distil.Trace) {
	t.Helper()
	j, trace, err := distil.OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, trace
}

func appended(t *testing.T, j *distil.Journal, trace distil.Trace) {
	t.Helper()
	for _, a := range trace.Acts {
		if err := j.Append(a); err != nil {
			t.Fatal(err)
		}
	}
}

// What was appended is there after a crash, in order, whatever is in it; of a last line
// that was cut nothing is.
func TestJournalKeepsALife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "life.jsonl")
	want := acts("fare way=a z=1 b=[1,{\"x\":null}] ok = line\nline \u2028 <b>", "fare way=ü failed", "list ok", "said kürzer", "seen 今天", "seen ")
	j, empty := opened(t, path)
	if len(empty.Acts) != 0 {
		t.Fatal("a new one is not empty")
	}
	appended(t, j, want)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, torn := range []string{"", `{"act":"said","te`, "x"} {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(torn); err != nil {
			t.Fatal(err)
		}
		file.Close()
		again, got := opened(t, path)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("behind %q: %+v", torn, got)
		}
		more := distil.Act{Kind: distil.Said, Text: torn + "!"}
		appended(t, again, distil.Trace{Acts: []distil.Act{more}})
		want.Add(more)
	}
}

func TestJournalRefusesWhatIsNoAct(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, filepath.Join(dir, "a"))
	for _, a := range []distil.Act{
		{}, {Kind: "thought"}, {Kind: distil.Call, Tool: "x"}, {Kind: distil.Call, Outcome: distil.OK}, {Kind: distil.Said, Tool: "x"},
		{Kind: distil.Seen, Result: "x"}, {Kind: distil.Call, Tool: "x", Outcome: distil.OK, Text: "x"},
		{Kind: distil.Call, Tool: "x", Outcome: distil.OK, Arguments: distil.Arguments{{Name: "a", Value: json.RawMessage("{")}}},
		{Kind: distil.Call, Tool: "x", Outcome: distil.OK, Arguments: distil.Arguments{distil.Text("a", "1"), distil.Text("a", "2")}},
		{Kind: distil.Seen, Text: strings.Repeat("x", distil.MaxAct)},
	} {
		if err := j.Append(a); !errors.Is(err, distil.ErrForm) {
			t.Errorf("%.80v: %v", a, err)
		}
	}
	appended(t, j, acts("said x"))
	if _, trace := opened(t, filepath.Join(dir, "a")); len(trace.Acts) != 1 {
		t.Errorf("%+v", trace)
	}
	for name, text := range map[string]string{
		"no JSON": "secret\n", "a list": "[]\n", "another field": `{"act":"said","text":"x","secret":1}` + "\n", "two": `{"act":"said"}{"act":"said"}` + "\n",
		"twice":        `{"act":"call","tool":"x","outcome":"ok","arguments":{"secret":1,"secret":2}}` + "\n",
		"no object":    `{"act":"call","tool":"x","outcome":"ok","arguments":["secret"]}` + "\n",
		"an empty one": "\n", "nothing": "{}\n", "of no kind": `{"act":"secret"}` + "\n",
	} {
		path := filepath.Join(dir, "b")
		if err := os.WriteFile(path, []byte(`{"act":"said","text":"y"}`+"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := distil.OpenJournal(path)
		if !errors.Is(err, distil.ErrForm) || !strings.Contains(err.Error(), "line 2") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		if data, _ := os.ReadFile(path); !strings.HasSuffix(string(data), text) {
			t.Errorf("%s: it was changed", name)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"link", ".", "none/x"} {
		if _, _, err := distil.OpenJournal(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is opened", path)
		}
	}
}

// An act that cannot be written is told, and so are those behind it.
func TestJournalThatCannotBeWritten(t *testing.T) {
	j, _ := opened(t, filepath.Join(t.TempDir(), "life.jsonl"))
	j.Close()
	for range 2 {
		if err := j.Append(distil.Act{Kind: distil.Said, Text: "secret"}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

// A life that fills its journal is told to end, and keeps what it has.
func TestJournalIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "life.jsonl")
	j, _ := opened(t, path)
	big := distil.Act{Kind: distil.Seen, Text: strings.Repeat("x", distil.MaxAct-100)}
	n := 0
	for ; n < 100; n++ {
		if err := j.Append(big); errors.Is(err, distil.ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if _, trace := opened(t, path); n != distil.MaxJournal/distil.MaxAct || len(trace.Acts) != n {
		t.Errorf("%d acts were taken, %d are there", n, len(trace.Acts))
	}
}

// After Destroy nothing is left, and what is left is told.
func TestDestroy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "life.jsonl")
	life := acts("said a secret")
	j, _ := opened(t, path)
	appended(t, j, life)
	reader, err := os.Open(path) // somebody who has it open
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for range 2 {
		if err := j.Destroy(); err != nil {
			t.Fatal(err)
		}
	}
	if rest, err := os.ReadDir(dir); err != nil || len(rest) > 0 {
		t.Errorf("%v, %v", rest, err)
	}
	if n, _ := reader.Read(make([]byte, 10)); n > 0 {
		t.Error("who has it open can still read it")
	}
	if err := j.Append(life.Acts[0]); err == nil {
		t.Error("a destroyed journal takes acts")
	}
	if err := distil.DestroyJournal(path); err != nil {
		t.Errorf("what is not there: %v", err)
	}

	// One that a crash left, unreadable as it may be.
	if err := os.WriteFile(path, []byte("secret, cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := distil.DestroyJournal(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is still there")
	}
}

func TestDestroyTellsWhatIsLeft(t *testing.T) {
	emptied := func(path string) {
		t.Helper()
		if data, err := os.ReadFile(path); err != nil || len(data) > 0 {
			t.Errorf("%s holds %q, %v", path, data, err)
		}
	}
	life := acts("said a secret")
	for name, c := range map[string]struct {
		do   func(path string) error
		then func(path string)
	}{
		"another name": {
			func(path string) error { return os.Link(path, path+"2") },
			func(path string) { emptied(path + "2") },
		},
		"moved away": {
			func(path string) error { return os.Rename(path, path+"2") },
			func(path string) { emptied(path + "2") },
		},
		"a folder in its place": {
			func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
			func(string) {},
		},
		"a link in its place": {
			func(path string) error {
				return errors.Join(os.Rename(path, path+"2"), os.WriteFile(path+"3", []byte("mine"), 0o600), os.Symlink(path+"3", path))
			},
			func(path string) {
				if data, _ := os.ReadFile(path + "3"); string(data) != "mine" {
					t.Errorf("what the link points to is now %q", data)
				}
			},
		},
	} {
		path := filepath.Join(t.TempDir(), "life.jsonl")
		j, _ := opened(t, path)
		appended(t, j, life)
		if err := c.do(path); err != nil {
			t.Fatal(err)
		}
		if err := j.Destroy(); !errors.Is(err, distil.ErrLeft) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		c.then(path)
	}
	// A copy that was put in its place, as by a restore, goes with it.
	path := filepath.Join(t.TempDir(), "life.jsonl")
	j, _ := opened(t, path)
	appended(t, j, life)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("a secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := j.Destroy(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the copy is still there")
	}
}

// Arguments keep their order, and an act that was read is the one that was written.
func TestArguments(t *testing.T) {
	const text = `{"z":1,"a":{"y":2,"b":[ 3 ]},"ü":"x"}`
	var a distil.Arguments
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(a); err != nil || string(got) != strings.ReplaceAll(text, "[ 3 ]", "[3]") {
		t.Errorf("%s, %v", got, err)
	}
	trace := distil.Trace{Acts: acts("said x").Acts}
	if trace.Forget(); trace.Acts != nil {
		t.Error("it is not forgotten")
	}
}
