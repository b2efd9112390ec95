package door

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// searching asks for the tool n times, with arguments of some bytes.
func searching(n, bytes int) string {
	one := `{"function":{"name":"search","arguments":{"way":"` + strings.Repeat("x", bytes) + `"}}}`
	return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
}

// asksFor is a piece of an answer that asks for tools.
func asksFor(list string) string {
	return `{"model":"m","message":{"role":"assistant","content":"","tool_calls":` + list + `},"done":false}` + "\n"
}

// counted are the calls by what became of them.
func counted(d *Door) string {
	var out []string
	for _, c := range d.Calls() {
		out = append(out, fmt.Sprint(c.Outcome, " ", c.N))
	}
	return strings.Join(out, ", ")
}

// However much a model asks for, and however: the first calls pass the checkpoint, the
// rest is refused and counted, the model is told, and the client sees nothing of it.
func TestCallsThatMayNotBe(t *testing.T) {
	for name, tc := range map[string]struct {
		asks    string // before the end of the answer
		counts  string
		done    int // calls that were let to the tool
		refused int // calls that the checkpoint refused
		told    []string
	}{
		"as many as may be":       {asksFor("[" + searching(mostCalls, 1) + "]"), "done 16", 16, 0, []string{"OK: found"}},
		"one more":                {asksFor("[" + searching(mostCalls+1, 1) + "]"), "done 16, refused 1", 16, 1, []string{"at most 16 tools", "and 0 more"}},
		"more, in pieces":         {strings.Repeat(asksFor("["+searching(6, 1)+"]"), 4), "done 16, refused 8", 16, 8, []string{"at most 16 tools", "and 7 more"}},
		"very many":               {strings.Repeat(asksFor("["+searching(64, 1)+"]"), 50), "done 16, refused 240", 16, 240, []string{"and 239 more"}},
		"too large for the tools": {asksFor("[" + searching(1, 100<<10) + "]"), "refused 1", 0, 1, []string{"Refused: no."}},
		"too large to be given":   {asksFor("[" + searching(1, callBytes) + "]"), "refused 1", 0, 1, []string{refusedSize}},
		"too large for a line":    {asksFor("[" + searching(1, 2*maxLine) + "]"), "refused 1", 0, 1, []string{refusedSize}},
		"many, far too large":     {asksFor("[" + searching(3000, 1<<10) + "]"), "refused 1", 0, 1, []string{refusedSize}},
		"a long name":             {asksFor(`[{"function":{"name":"` + strings.Repeat("n", 2*nameBytes) + `","arguments":{}}}]`), "refused 1", 0, 1, []string{refusedForm}},
		"one, in no list":         {asksFor(searching(1, 1)), "done 1", 1, 0, []string{"OK: found"}},
		"a word":                  {asksFor(`"search"`), "refused 1", 0, 1, []string{refusedForm}},
		"a list of numbers":       {asksFor(`[1, null, "search"]`), "refused 3", 0, 3, []string{refusedForm}},
	} {
		for _, streams := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, streams %v", name, streams), func(t *testing.T) {
				f := withTools()
				up := toolServer(t, true, func(n int, w http.ResponseWriter, _ map[string]json.RawMessage) {
					switch {
					case n > 1:
						io.WriteString(w, finds)
					case streams:
						io.WriteString(w, looks+tc.asks+ends)
					default:
						io.WriteString(w, tc.asks)
					}
				})
				d, s := open(t, f, up.URL)
				_, answer := post(t, s.URL+"/api/chat", hello)
				if want := map[bool]string{true: looks + finds, false: finds}[streams]; answer != want {
					t.Errorf("the client sees %d bytes: %.300s", len(answer), answer)
				}
				done, refused := 0, 0
				for _, act := range f.acts {
					if act.Tool == "search" && len(act.Arguments) <= 64<<10 {
						done++
					} else {
						refused++
					}
				}
				if done != tc.done || refused != tc.refused || counted(d) != tc.counts {
					t.Errorf("%d done, %d refused, %s; want %d, %d, %s", done, refused, counted(d), tc.done, tc.refused, tc.counts)
				}
				_, next, _ := up.last()
				for _, told := range tc.told {
					if !strings.Contains(next, told) {
						t.Errorf("the model is not told %q", told)
					}
				}
				if calls, results := strings.Count(next, `"function":{"name":`)-1, strings.Count(next, `"role":"tool"`); calls != results || calls > mostCalls+1 || len(next) > mostCalls*callBytes {
					t.Errorf("it goes on with %d calls, %d results, %d bytes", calls, results, len(next))
				}
			})
		}
	}
}

// A long piece that asks for nothing is no call.
func TestLongPiecesOfAnAnswer(t *testing.T) {
	long := strings.Repeat("y", 2*maxLine)
	for name, tc := range map[string]struct{ serves, sees string }{
		"figures behind the message": {`{"message":{"content":"Good."},"done":true,"logprobs":"` + long + `"}`, ""},
		"in a stream":                {`{"message":{"content":"Good.","tool_calls":null},"x":"` + long + `"}` + "\n" + ends, ""},
		"no calls in a list":         {`{"x":"` + long + `","message":{"content":"Good."}}` + "\n" + ends, "too long to see"},
		"a message without an end":   {`{"message":{"content":"` + long + `","tool_calls":[` + searching(1, 1) + `]},"done":true}`, "too long to see"},
		"no object":                  {`"` + long + `"`, "too long to see"},
	} {
		t.Run(name, func(t *testing.T) {
			f := withTools()
			up := toolServer(t, true, func(_ int, w http.ResponseWriter, _ map[string]json.RawMessage) { io.WriteString(w, tc.serves) })
			d, s := open(t, f, up.URL)
			_, answer := post(t, s.URL+"/api/chat", hello)
			if tc.sees == "" && answer != tc.serves {
				t.Errorf("%d bytes of %d", len(answer), len(tc.serves))
			}
			if tc.sees != "" && (!strings.Contains(answer, tc.sees) || !strings.HasPrefix(answer, `{"error":"`) || len(answer) > 200) {
				t.Errorf("%.300s", answer)
			}
			if len(f.acts) > 0 || counted(d) != "" {
				t.Errorf("%v, %s", f.acts, counted(d))
			}
		})
	}
}

// A model that asks for tools though it is given none any more does not pass them on.
func TestAModelThatOnlyAsks(t *testing.T) {
	for name, tc := range map[string]struct{ last, sees string }{
		"and says nothing": {asksFor("["+searching(1, 1)+"]") + ends, `{"error":"the model asks for tools again and again, and does not answer"}` + "\n"},
		"and speaks":       {looks + asksFor("["+searching(1, 1)+"]") + ends, looks + ends},
		"in one piece": {`{"message":{"content":"There.","tool_calls":[` + searching(1, 1) + `]},"done":true}`,
			`{"message":{"content":"There."},"done":true}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := withTools()
			up := toolServer(t, true, func(n int, w http.ResponseWriter, _ map[string]json.RawMessage) {
				if n <= mostRounds {
					io.WriteString(w, asksFor("["+searching(1, 1)+"]")+ends)
					return
				}
				io.WriteString(w, tc.last)
			})
			d, s := open(t, f, up.URL)
			if _, answer := post(t, s.URL+"/api/chat", hello); answer != tc.sees || counted(d) != "done 8, refused 1" {
				t.Errorf("%s: %s", counted(d), answer)
			}
		})
	}
}

// A model of which the server said that it uses tools, and which refuses them, answers
// without, and is given none from then on.
func TestAModelThatUsesNoToolsAfterAll(t *testing.T) {
	f := withTools()
	offered := 0
	up := toolServer(t, true, func(_ int, w http.ResponseWriter, asked map[string]json.RawMessage) {
		if _, there := asked["tools"]; there {
			offered++
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":"registry.ollama.ai/library/m does not support tools"}`)
			return
		}
		io.WriteString(w, finds)
	})
	_, s := open(t, f, up.URL)
	for range 3 {
		if response, answer := post(t, s.URL+"/api/chat", hello); response.StatusCode != http.StatusOK || answer != finds {
			t.Errorf("%d %s", response.StatusCode, answer)
		}
	}
	if offered != 1 {
		t.Errorf("tools were offered %d times", offered)
	}
	own := `{"model":"m","tools":[{"type":"function","function":{"name":"own"}}],"messages":[{"role":"user","content":"Hello."}]}`
	if response, _ := post(t, s.URL+"/api/chat", own); response.StatusCode != http.StatusBadRequest {
		t.Errorf("a client with tools of its own is told %d", response.StatusCode)
	}
}
