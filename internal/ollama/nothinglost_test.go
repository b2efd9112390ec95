package ollama

import (
	"context"
	"hash/fnv"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/internal/door"
	"github.com/jivad/jivad/lifecycle"
)

// byWords embeds by one word of a text or the other.
type byWords struct{}

func (byWords) ID() string { return "by-words/1" }
func (byWords) Dim() int   { return dimension }
func (byWords) Embed(_ context.Context, text string) ([]float32, error) {
	h, v := fnv.New32a(), make([]float32, dimension)
	_, _ = h.Write([]byte(text))
	v[h.Sum32()%dimension] = 1
	return v, nil
}

// Whatever a server does wrong while somebody writes, talks, talks through the door or
// imports: what was acknowledged is there once when that is over, judged by the model or owed
// its judgement, and nothing else is. So it is with a built-in embedder and with one of the
// server.
func TestNothingIsLostOrDoubledByFaults(t *testing.T) {
	behind := httptest.NewServer(newStub())
	defer behind.Close()
	p := &proxy{}
	front := httptest.NewServer(p)
	defer front.Close()
	assessor := must[*builtin.Assessor](t)(builtin.NewAssessor())
	for _, embeds := range []bool{false, true} {
		for _, f := range faults {
			t.Run(f.name+map[bool]string{true: "/and the embedder"}[embeds], func(t *testing.T) {
				p.start(behind.URL, nil, 0)
				s := New(Options{Server: front.URL, Chat: chatModel, Embed: embedModel, Deadline: time.Minute})
				defer s.Close()
				o := lifecycle.Options{Dir: t.TempDir(), Embedder: byWords{}, Assessor: assessor, Model: s, Deadline: 200 * time.Millisecond, KeepOpen: true}
				if embeds {
					o.Embedder = must[*Embedder](t)(s.Embedder(t.Context()))
				}
				s.o.Deadline = o.Deadline
				c := must[*lifecycle.Companion](t)(lifecycle.Open(t.Context(), o))
				p.start(behind.URL, f.wrong, 1000)
				want := whileItFails(t, c, front.URL)
				if !embeds && len(want) < 4 { // the door has nothing to keep of an answer that failed
					t.Errorf("without an embedder that fails only %q are kept", want)
				}
				p.start(behind.URL, nil, 0)
				_ = c.Judged(t.Context())
				onceEach(t, c, s.ID(), want)
				if err := c.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				o.LookOnly = true
				c = must[*lifecycle.Companion](t)(lifecycle.Open(t.Context(), o))
				onceEach(t, c, s.ID(), want)
				if err := c.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// whileItFails does everything that makes entries, and gives the words of those that were
// acknowledged.
func whileItFails(t *testing.T, c *lifecycle.Companion, server string) (kept []string) {
	t.Helper()
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Written by the river."}); err == nil {
		kept = append(kept, "Written by the river.")
	}
	talk, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer leave()
	report, _ := c.Talk(talk, lifecycle.TalkRequest{Said: "Said in a talk."}, func(string) error { return nil })
	if report.Receipt != nil {
		kept = append(kept, "Said in a talk.")
	}
	d := must[*door.Door](t)(door.New(door.Options{Companion: c, Server: server, Recall: 3}))
	asking, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer leave()
	body := `{"model":"` + chatModel + `","messages":[{"role":"user","content":"Said at the door."}],"options":{}}`
	d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(asking, "POST", "/api/chat", strings.NewReader(body)))
	d.Close(t.Context())
	if counts, _ := d.Turns(); slices.ContainsFunc(counts, func(c door.Count) bool { return c.Outcome == "remembered" }) {
		kept = append(kept, "Said at the door.")
	}
	notes := []lifecycle.Note{{Text: "Imported of old.", Date: "2001-02-03"}, {Text: "Imported of later.", Date: "2001-02-04"}}
	imported, err := c.Import(t.Context(), notes, nil)
	if err != nil && imported.New == 1 {
		t.Errorf("the import stopped in the middle: %+v, %v", imported, err)
	}
	for _, n := range notes[:imported.New] {
		kept = append(kept, n.Text)
	}
	return kept
}

// onceEach sees that these entries are there, and no others, each judged by the model or owed.
func onceEach(t *testing.T, c *lifecycle.Companion, model string, want []string) {
	t.Helper()
	hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "river talk door imported", Limit: 64})
	if err != nil && len(want) > 0 {
		t.Fatal(err)
	}
	var got []string
	judged := 0
	for _, h := range hits {
		got = append(got, h.Impression.Text)
		if h.Impression.Assessor == model {
			judged++
		}
	}
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	s, err := c.Status(t.Context())
	if err != nil || !slices.Equal(got, want) || s.Entries != len(want) || judged+int(s.Model.Owed) != len(want) {
		t.Errorf("%q are there of %q; %d entries, %d judged, %d owed, %v", got, want, s.Entries, judged, s.Model.Owed, err)
	}
}
