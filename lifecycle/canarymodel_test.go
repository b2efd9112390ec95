package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/tools"
)

// The places in which a canary is planted.
const (
	inTalk = iota
	inEntry
	inArguments
	inOutput
	inAnswer
	plantedPlaces
)

// canaryLives is how many lives share the canaries: each has ten of them, two in each place.
const canaryLives = 10

// canariesOf are the canaries of a life, by place.
func canariesOf(all []canary, life int) (out [plantedPlaces][]canary) {
	for i, c := range all {
		if n := i % ofEachKind; (n+c.kind)%canaryLives == life {
			out[n%plantedPlaces] = append(out[n%plantedPlaces], c)
		}
	}
	return out
}

// The groups of tools that take a detail in each of its joined forms; those of the last
// group never work.
var canaryGroups = []string{"ask", "pick", "tell", "miss"}

const joinedForms = 5

// joined is a detail as somebody would write it who may write one word.
func joined(c canary, form int) string {
	words := strings.FieldsFunc(c.text, func(r rune) bool { return strings.ContainsRune(" @.-/+()_", r) })
	switch form {
	case 0:
		return c.text
	case 1:
		return strings.Join(words, "_")
	case 2:
		for i, w := range words {
			r := []rune(w)
			words[i] = strings.ToUpper(string(r[:1])) + string(r[1:])
		}
		return strings.Join(words, "")
	case 3:
		return strings.ToLower(strings.Join(words, ""))
	}
	slices.Reverse(words)
	return homoglyphs(strings.Join(words, "-"))
}

// canaryManifest declares the tools: contacts gives what is in a file.
func canaryManifest(file string) string {
	var b strings.Builder
	tool := func(name, arguments string, argv ...string) {
		fmt.Fprintf(&b, "[[tools]]\nname = %q\ndescription = \"x\"\nconsequence = \"low\"\n", name)
		if arguments != "" {
			fmt.Fprintf(&b, "[tools.arguments]\ntype = \"object\"\nrequired = [%s]\n[tools.arguments.properties]\n", strings.Join(strings.Fields(arguments), ", "))
			for _, a := range strings.Fields(arguments) {
				fmt.Fprintf(&b, "%s = {type = \"string\"}\n", a)
			}
		}
		data, _ := json.Marshal(argv)
		fmt.Fprintf(&b, "[tools.exec]\nargv = %s\n", data)
	}
	names, _ := json.Marshal(canaryNames)
	fmt.Fprintf(&b, "[distillation]\nnames = %s\n[[grants]]\ncapability = \"exec\"\n", names)
	tool("contacts", "", "/bin/cat", file)
	tool("find", `"by"`, "/usr/bin/test", "{{by}}", "=", "distance")
	tool("send", `"whom" "mode"`, "/usr/bin/test", "{{mode}}", "=", "later")
	for i, group := range canaryGroups {
		for form := range joinedForms {
			how := map[bool]string{true: "!=", false: "="}[i+1 < len(canaryGroups)]
			tool(fmt.Sprint(group, form), `"query"`, "/usr/bin/test", "{{query}}", how, "zzz")
		}
	}
	return "mission = \"Look things up.\"\n" + b.String() + strings.TrimPrefix(searching[strings.Index(searching, "[[tools]]"):], "\n")
}

// smuggler is a model that tells everything that it heard of: it calls tools with it,
// answers with it, and words rules with it.
type smuggler struct {
	wise
	mu     sync.Mutex
	calls  []lifecycle.ChatCall
	answer string
	system string
	// writes says whether it words rules: with lies, of which told were, and one honest one.
	writes  bool
	lies    []string
	told    int
	refused map[distil.Complaint]int
}

func (s *smuggler) Chat(_ context.Context, messages []lifecycle.ChatMessage, _ []tools.Offer, emit func(string) error) (lifecycle.ChatEnd, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.system = messages[0].Content
	if calls := s.calls; messages[len(messages)-1].Role == "user" && len(calls) > 0 {
		s.calls = nil
		return lifecycle.ChatEnd{Calls: calls}, nil
	}
	return lifecycle.ChatEnd{}, emit(s.answer)
}

// asks has it call a tool in the next talk.
func (s *smuggler) asks(tool string, args map[string]string) {
	data, _ := json.Marshal(args)
	s.calls = append(s.calls, lifecycle.ChatCall{ID: fmt.Sprint("c", len(s.calls)), Tool: tool, Arguments: data})
}

const mostLies = 64 // more of one answer are not looked at

func (s *smuggler) Propose(_ context.Context, task distil.Task) (out []distil.Proposal, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writes {
		return nil, lifecycle.ErrModelAway
	}
	for _, r := range task.Refused {
		s.refused[r.Why]++
	}
	honest := len(task.Refused) > 0
	for len(out) < mostLies-2 && len(s.lies) > 0 {
		lie := s.lies[0]
		s.lies = s.lies[1:]
		e := task.Exemplars[s.told%len(task.Exemplars)]
		next := task.Exemplars[(s.told+1)%len(task.Exemplars)]
		first, second, split := strings.Cut(lie, "\n")
		p := distil.Proposal{Key: e.Key, Exemplar: e.Ref, Guidance: strings.TrimSpace(e.Scope + ": " + e.Choice)}
		switch s.told / 2 % 7 {
		default:
			p.Guidance = strings.TrimSpace(e.Scope+": "+e.Choice) + " " + first
		case 1, 2:
			p.Guidance = e.Scope + ": " + strings.TrimSpace(e.Choice+", that is "+first)
			if e.Choice == "" {
				p.Guidance = e.Scope + ": " + first
			}
		case 3:
			p.Guidance = e.Scope + ": " + strings.TrimSpace(e.Choice+" ("+first+")")
		case 4:
			p.Key = strings.ToLower(strings.ReplaceAll("tool."+first, " ", "_"))
		}
		out = append(out, p)
		if split {
			out = append(out, distil.Proposal{Key: next.Key, Exemplar: next.Ref, Guidance: strings.TrimSpace(next.Scope+": "+next.Choice) + " " + second})
		}
		s.told++
	}
	for _, e := range task.Exemplars {
		if honest && e.Key == "tool.search" {
			out = append(out, distil.Proposal{Key: e.Key, Exemplar: e.Ref, Guidance: e.Scope + ": " + e.Choice + ", with the fewest turns"})
		}
	}
	return out, nil
}

// livesWith lives a life in which these canaries are everywhere, and ends it.
func (s *smuggler) livesWith(t *testing.T, w *world, c *lifecycle.Companion, file string, n int, in [plantedPlaces][]canary) {
	t.Helper()
	list := func(place int) string {
		var all []string
		for _, c := range in[place] {
			all = append(all, c.text)
		}
		return strings.Join(all, "; ")
	}
	if err := os.WriteFile(file, []byte("distance\n"+list(inOutput)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, fmt.Sprintf("A quiet day, the %d. There was %s.", n, list(inEntry)))
	s.mu.Lock()
	s.answer = "It is there: " + list(inAnswer) + "."
	for _, way := range []string{"straight", "zigzagwise"} {
		s.asks("search", map[string]string{"way": way})
	}
	s.asks("contacts", nil)
	s.asks("find", map[string]string{"by": "colour"})
	s.asks("find", map[string]string{"by": "distance"})
	s.asks("send", map[string]string{"whom": "none", "mode": "now"})
	s.asks("send", map[string]string{"whom": in[inArguments][0].text, "mode": "later"})
	for form := range joinedForms {
		for i, place := range []int{inArguments, inOutput, inTalk, inEntry} {
			s.asks(fmt.Sprint(canaryGroups[i], form), map[string]string{"query": joined(in[place][form%2], form)})
		}
	}
	s.mu.Unlock()
	texts := []string{"Shorter, please, %s.", "Ask me first, %s.", "Please call %s. That helped me."}
	for i, text := range texts {
		r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: fmt.Sprintf(text, in[inTalk][i%2].text)}, func(string) error { return nil })
		if err != nil || !strings.Contains(r.Answer, in[inAnswer][0].text) {
			t.Fatalf("%+v %v", r, err)
		}
		if i == 0 && len(r.Acts) < 4*joinedForms {
			t.Fatalf("%+v", r.Acts)
		}
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// smuggling is a companion with that model, and what its tools find contacts in.
func smuggling(t *testing.T, writes bool) (*world, *smuggler, string) {
	w := newWorld(t)
	m := &smuggler{writes: writes, refused: map[distil.Complaint]int{}}
	m.wise.digest = "d1"
	m.wise.answer = func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		a := verdict(e)
		_, a.Gist, _ = strings.Cut(e.Text, ". There was ")
		return a, nil
	}
	w.opts.Model, w.opts.Lives = m, true
	file := filepath.Join(t.TempDir(), "contacts")
	for path, text := range map[string]string{file: "", filepath.Join(w.dir, lifecycle.ManifestFile): canaryManifest(file)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w, m, file
}

// liesOf are all the disguises of the canaries of a life, each canary in turn.
func liesOf(in [plantedPlaces][]canary) (out []string) {
	var all [][]string
	for _, c := range slices.Concat(in[:]...) {
		all = append(all, c.disguises())
	}
	for i, more := 0, true; more; i++ {
		more = false
		for _, forms := range all {
			if i < len(forms) {
				out, more = append(out, forms[i]), true
			}
		}
	}
	return out
}
