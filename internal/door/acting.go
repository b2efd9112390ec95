package door

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// A client that brings no tools of its own speaks to a companion that has some: they are
// offered to the model, and what it asks for is done here, through the one checkpoint,
// before the answer goes on. The client sees the answer alone, streaming as ever.

const (
	// mostRounds is how often a model may ask for tools before it answers; mostCalls how
	// many it may ask for at a time.
	mostRounds = 8
	mostCalls  = 16
	// capableTime is how long it is believed what a model can do, showTimeout how long the
	// server is asked for that.
	capableTime = 5 * time.Minute
	showTimeout = 2 * time.Second
)

// capable remembers which models use tools.
type capable struct {
	mu    sync.Mutex
	known map[string]ability
}

type ability struct {
	tools bool
	until time.Time
}

// usesTools asks the server whether a model can be told of tools.
func (d *Door) usesTools(ctx context.Context, model string) bool {
	d.capable.mu.Lock()
	a, ok := d.capable.known[model]
	d.capable.mu.Unlock()
	if ok && time.Now().Before(a.until) {
		return a.tools
	}
	ctx, cancel := context.WithTimeout(ctx, showTimeout)
	defer cancel()
	body := []byte(`{"model":` + string(quoted(model)) + `}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.server.JoinPath("/api/show").String(), bytes.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set(headerMark, d.mark)
	response, err := d.straight.RoundTrip(r)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	var shown struct{ Capabilities []string }
	if response.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(response.Body, maxBody)).Decode(&shown) != nil {
		return false
	}
	a = ability{slices.Contains(shown.Capabilities, "tools"), time.Now().Add(capableTime)}
	d.capable.mu.Lock()
	defer d.capable.mu.Unlock()
	const most = 256
	if d.capable.known == nil || len(d.capable.known) >= most {
		d.capable.known = map[string]ability{}
	}
	d.capable.known[model] = a
	return a.tools
}

// offer puts the tools of the companion into a request to chat that has none.
func (e *exchange) offer(ctx context.Context, o *object) {
	var own []json.RawMessage
	if o.get("tools", &own); len(own) > 0 || e.endpoint != "chat" {
		return
	}
	offers := e.door.opts.Companion.Offers(ctx)
	if len(offers) == 0 || !e.door.usesTools(ctx, e.ask.model) {
		return
	}
	var out []json.RawMessage
	for _, t := range offers {
		out = append(out, json.RawMessage(`{"type":"function","function":{"name":`+string(quoted(t.Name))+
			`,"description":`+string(quoted(prompt.Neutral(t.Description)))+`,"parameters":`+string(t.Parameters)+`}}`))
	}
	o.set("tools", list(out))
	e.offers = offers
}

// acting is the way to the server of requests into which tools were put.
type acting struct{ http.RoundTripper }

// RoundTrip makes of all answers of the model one: those between which it uses tools.
func (a acting) RoundTrip(r *http.Request) (*http.Response, error) {
	e := exchangeOf(r.Context())
	if e == nil || len(e.offers) == 0 {
		return a.RoundTripper.RoundTrip(r)
	}
	request := parseObject(e.ask.body) // which is let go of once it is sent
	response, err := a.RoundTripper.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	in, out := io.Pipe()
	first := response.Body
	go func() { out.CloseWithError(a.pass(r, e, request, first, out)) }()
	response.Body, response.ContentLength = in, -1
	response.Header.Del("Content-Length")
	return response, nil
}

// pass writes what the model says to out, and does what it asks for in between.
func (a acting) pass(r *http.Request, e *exchange, request object, body io.ReadCloser, out io.Writer) error {
	for round := 1; ; round++ {
		said, calls, err := passed(body, out, round <= mostRounds)
		if err != nil || len(calls) == 0 {
			return err
		}
		request = e.answerCalls(r.Context(), request, said, calls)
		if round == mostRounds {
			request.set("tools", json.RawMessage("[]")) // it has to answer with what it has
		}
		next := r.Clone(r.Context())
		data := request.bytes()
		next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		next.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		response, err := a.RoundTripper.RoundTrip(next)
		if r.Context().Err() != nil {
			if err == nil {
				response.Body.Close()
			}
			return r.Context().Err()
		}
		if err != nil {
			return failedLater(out, "the model server did not go on: "+noAnswer(err))
		}
		if body = response.Body; response.StatusCode != http.StatusOK {
			body.Close()
			return failedLater(out, "the model server did not go on after a tool: "+response.Status)
		}
	}
}

// failedLater tells a client in the midst of an answer, as Ollama does.
func failedLater(out io.Writer, why string) error {
	data, _ := json.Marshal(map[string]string{"error": why})
	_, err := out.Write(append(data, '\n'))
	return err
}

// passed writes an answer line by line to out, but for those that ask for tools and the
// end of an answer that does. It gives those calls, and what was said before them.
func passed(body io.ReadCloser, out io.Writer, hold bool) (said string, calls []json.RawMessage, err error) {
	defer body.Close()
	in := bufio.NewReaderSize(body, 64<<10)
	var words strings.Builder
	for {
		line, err := longLine(in)
		if len(line) > 0 {
			var piece struct {
				Message struct {
					Content   string
					ToolCalls []json.RawMessage `json:"tool_calls"`
				}
				Done bool
			}
			understood := json.Unmarshal(line, &piece) == nil
			asks := understood && hold && len(piece.Message.ToolCalls) > 0 && len(calls)+len(piece.Message.ToolCalls) <= mostCalls
			if asks {
				calls = append(calls, piece.Message.ToolCalls...)
			}
			words.WriteString(piece.Message.Content)
			switch {
			case asks && piece.Message.Content != "" && !piece.Done:
				line = withoutCalls(line)
				fallthrough
			case !asks && !(piece.Done && len(calls) > 0):
				if _, err := out.Write(line); err != nil {
					return "", nil, err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return words.String(), calls, nil
		}
		if err != nil {
			return "", nil, err
		}
	}
}

// longLine reads a line with its end, or as much of it as may be understood.
func longLine(in *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := in.ReadSlice('\n')
		out = append(out, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(out) > maxLine {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = nil
			}
			return out, err
		}
	}
}

// withoutCalls is a piece of an answer without what it asks for.
func withoutCalls(line []byte) []byte {
	o := parseObject(line)
	var message json.RawMessage
	o.get("message", &message)
	m := parseObject(message)
	m = slices.DeleteFunc(m, func(x member) bool { return strings.EqualFold(x.key, "tool_calls") })
	o.set("message", m.bytes())
	return append(o.bytes(), '\n')
}

// answerCalls does what a model asks for, and gives the request with which it goes on.
func (e *exchange) answerCalls(ctx context.Context, request object, said string, calls []json.RawMessage) object {
	var messages []json.RawMessage
	request.get("messages", &messages)
	messages = append(messages, json.RawMessage(`{"role":"assistant","content":`+string(quoted(prompt.Neutral(said)))+`,"tool_calls":`+string(list(calls))+`}`))
	for _, raw := range calls {
		var c struct {
			ID       string
			Function struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		text := "Refused: this is no call of a tool."
		if json.Unmarshal(raw, &c) == nil {
			text, _ = e.door.opts.Companion.ActFor(ctx, lifecycle.ChatCall{ID: c.ID, Tool: c.Function.Name, Arguments: c.Function.Arguments})
		}
		message := `{"role":"tool","content":` + string(quoted(prompt.Neutral(text))) + `,"tool_name":` + string(quoted(c.Function.Name))
		if c.ID != "" {
			message += `,"tool_call_id":` + string(quoted(c.ID))
		}
		messages = append(messages, json.RawMessage(message+"}"))
	}
	next := slices.Clone(request)
	next.set("messages", list(messages))
	return next
}
