package door

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/prompt"
)

// saying is one answer of a model to which tools were offered.
type saying struct {
	// words are the beginning of what was said; end is the line that ends it, which was
	// held back because it asks for tools.
	words string
	end   []byte
	// asked is how many tools it asks for, calls the first of them, next the one behind.
	asked int
	calls []call
	next  call
}

// call is one that a model asks for; refused is why it is not even looked at.
type call struct {
	id, name  string
	arguments json.RawMessage
	refused   string
}

// nameBytes bounds the name and the id of a call.
const nameBytes = 1 << 10

// callOf reads a call.
func callOf(raw json.RawMessage) call {
	var c struct {
		ID       string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	err := json.Unmarshal(raw, &c)
	switch {
	case err != nil || len(c.ID)+len(c.Function.Name) > nameBytes:
		return call{refused: refusedForm}
	case len(raw) > callBytes:
		return call{id: c.ID, name: c.Function.Name, refused: refusedSize}
	}
	return call{id: c.ID, name: c.Function.Name, arguments: c.Function.Arguments}
}

// raw is the call as the model is reminded of it: without its arguments where they were
// not looked at, or are no object.
func (c call) raw() json.RawMessage {
	arguments := json.RawMessage("{}")
	if c.refused == "" && len(c.arguments) > 0 && c.arguments[0] == '{' {
		arguments = c.arguments
	}
	id := ""
	if c.id != "" {
		id = `"id":` + string(quoted(c.id)) + `,`
	}
	return json.RawMessage(`{` + id + `"function":{"name":` + string(quoted(c.name)) + `,"arguments":` + string(arguments) + `}}`)
}

// result is the message that tells what came of it.
func (c call) result(text string) json.RawMessage {
	message := `{"role":"tool","content":` + string(quoted(prompt.Neutral(text))) + `,"tool_name":` + string(quoted(c.name))
	if c.id != "" {
		message += `,"tool_call_id":` + string(quoted(c.id))
	}
	return json.RawMessage(message + "}")
}

// passage is an answer on its way to a client.
type passage struct {
	saying
	said strings.Builder
	out  io.Writer
}

// passed writes an answer line by line to out, but for what it asks for, and for its end
// where it asks for something.
func passed(body io.ReadCloser, out io.Writer) (saying, error) {
	defer body.Close()
	in := bufio.NewReaderSize(body, 64<<10)
	p := passage{out: out}
	for p.asked < mostAsked {
		line, whole, err := readLine(in)
		if whole {
			err = cmp.Or(p.line(line), err)
		} else if err == nil {
			err = p.long(line, in)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return saying{}, err
		}
	}
	p.words = strings.ToValidUTF8(p.said.String(), "")
	return p.saying, nil
}

// line takes one whole line.
func (p *passage) line(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	var piece struct {
		Message struct {
			Content   string
			ToolCalls json.RawMessage `json:"tool_calls"`
		}
		Done bool
	}
	_ = json.Unmarshal(line, &piece) // what is of another type is left out
	calls := callsIn(piece.Message.ToolCalls)
	for _, raw := range calls {
		p.take(callOf(raw))
	}
	if p.said.Len() < maxAnswer {
		p.said.WriteString(piece.Message.Content)
	}
	if len(calls) > 0 {
		line = withoutCalls(line)
	}
	switch {
	case piece.Done && p.asked > 0:
		p.end = line
		return nil
	case len(calls) > 0 && piece.Message.Content == "":
		return nil
	}
	_, err := p.out.Write(line)
	return err
}

// take notes a call.
func (p *passage) take(c call) {
	switch p.asked++; {
	case p.asked <= mostCalls:
		p.calls = append(p.calls, c)
	case p.asked == mostCalls+1:
		c.refused, p.next = refusedMany, c
	}
}

// callsIn are the calls in a list; what is no list is taken for one call.
func callsIn(raw json.RawMessage) (calls []json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &calls) != nil {
		return []json.RawMessage{raw}
	}
	return calls
}

// long takes a line of which only the beginning was read. One that asks for a tool is a
// call that is too large. One whose message is whole in the beginning goes on as it is.
// Of another one it cannot be told, and the answer ends.
func (p *passage) long(beginning []byte, in *bufio.Reader) error {
	asks, ended := glance(beginning)
	out := p.out
	switch {
	case asks:
		p.take(call{refused: refusedSize})
		out = io.Discard
	case !ended:
		err := failedLater(p.out, "a piece of the answer is too long to see whether it asks for a tool")
		return cmp.Or(err, io.EOF)
	}
	for part, more := beginning, true; ; {
		if _, err := out.Write(part); err != nil || !more {
			return err
		}
		var err error
		part, err = in.ReadSlice('\n')
		if more = errors.Is(err, bufio.ErrBufferFull); !more && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// glance looks at the beginning of a line: whether its message asks for a tool, and
// whether its message ends within.
func glance(beginning []byte) (asks, ended bool) {
	d := json.NewDecoder(bytes.NewReader(beginning))
	if !enter(d, "message") || !begins(d, '{') {
		return false, false
	}
	for seek(d, "tool_calls") {
		switch t, err := d.Token(); {
		case err == nil && t == json.Delim('[') && !d.More():
			if !begins(d, ']') {
				return false, false
			}
		case err != nil || t != nil:
			return true, false
		}
	}
	return false, begins(d, '}')
}

// enter goes to the value of a member of the object that a text begins with.
func enter(d *json.Decoder, key string) bool { return begins(d, '{') && seek(d, key) }

// begins tells whether that is what comes next.
func begins(d *json.Decoder, with json.Delim) bool {
	t, err := d.Token()
	return err == nil && t == with
}

// seek goes to the value of a member of the object that is read, or to its end.
func seek(d *json.Decoder, key string) bool {
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return false
		}
		if strings.EqualFold(name, key) {
			return true
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

// readLine reads a line with its end, whole, or the first maxLine bytes of it.
func readLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, true, err
		}
		if len(line) > maxLine {
			return line, false, nil
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
