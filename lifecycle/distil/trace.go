package distil

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Kinds of act.
const (
	// Call is a call of a tool.
	Call = "call"
	// Said is what the person said about how the companion acts.
	Said = "said"
	// Seen is a text that the life had before it: an entry, a request, what was recalled.
	// The rules that it was born with are none of them.
	Seen = "seen"
	// Told is what was answered to the person.
	Told = "told"
)

// Outcomes of a call.
const (
	OK     = "ok"
	Failed = "failed"
)

// MaxAct bounds the JSON of one act, in bytes.
const MaxAct = 4 << 20

// Act is one thing that happened in a life.
type Act struct {
	// Kind is Call, Said, Seen or Told.
	Kind string `json:"act"`
	// Tool, Arguments, Outcome (OK or Failed) and Result are of a Call.
	Tool      string    `json:"tool,omitempty"`
	Arguments Arguments `json:"arguments,omitempty"`
	Outcome   string    `json:"outcome,omitempty"`
	Result    string    `json:"result,omitempty"`
	// Text is of the others.
	Text string `json:"text,omitempty"`
}

// Check tells whether it is an act. Error: ErrForm, without what stands in it.
func (a Act) Check() error {
	switch {
	case a.Kind == Call && (a.Tool == "" || a.Outcome != OK && a.Outcome != Failed || a.Text != ""):
		return fmt.Errorf("%w: a call has a tool and the outcome %s or %s", ErrForm, OK, Failed)
	case (a.Kind == Said || a.Kind == Seen || a.Kind == Told) && (a.Tool != "" || a.Outcome != "" || a.Result != "" || len(a.Arguments) > 0):
		return fmt.Errorf("%w: what was said, seen or told has a text and nothing else", ErrForm)
	case a.Kind != Call && a.Kind != Said && a.Kind != Seen && a.Kind != Told:
		return fmt.Errorf("%w: an act is %s, %s, %s or %s", ErrForm, Call, Said, Seen, Told)
	}
	for i, arg := range a.Arguments {
		if !json.Valid(arg.Value) || slices.ContainsFunc(a.Arguments[:i], func(b Argument) bool { return b.Name == arg.Name }) {
			return fmt.Errorf("%w: the arguments of a call have one value each", ErrForm)
		}
	}
	return nil
}

// Trace is what happened in a life, in order. It is never kept beyond it.
type Trace struct {
	Acts []Act
	// Partial tells that not all of what was seen, said and told is there. Then nothing
	// is said but what was declared, in the sentences of this program.
	Partial bool
}

// Add appends an act.
func (t *Trace) Add(a Act) { t.Acts = append(t.Acts, a) }

// Forget lets go of all of it.
func (t *Trace) Forget() {
	clear(t.Acts)
	t.Acts = nil
}

// Argument is one argument of a call; Value is JSON.
type Argument struct {
	Name  string
	Value json.RawMessage
}

// Arguments are those of a call in the order in which they were given, each name once.
// As JSON they are an object.
type Arguments []Argument

// MarshalJSON writes the object, in order.
func (a Arguments) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, arg := range a {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(arg.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := json.Compact(&b, arg.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object in its order. Error: ErrForm for anything else, and where
// a name stands twice.
func (a *Arguments) UnmarshalJSON(data []byte) error {
	in := json.NewDecoder(bytes.NewReader(data))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("%w: arguments are a JSON object", ErrForm)
	}
	var out Arguments
	seen := map[string]bool{}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return fmt.Errorf("%w: arguments are a JSON object", ErrForm)
		}
		arg := Argument{Name: name.(string)} // of an object nothing else comes here
		if err := in.Decode(&arg.Value); err != nil {
			return fmt.Errorf("%w: arguments are a JSON object", ErrForm)
		}
		if seen[arg.Name] {
			return fmt.Errorf("%w: an argument is given twice", ErrForm)
		}
		seen[arg.Name] = true
		var b bytes.Buffer
		if err := json.Compact(&b, arg.Value); err != nil {
			return err
		}
		arg.Value = b.Bytes()
		out = append(out, arg)
	}
	*a = out
	return nil
}

// Text makes an argument of a text.
func Text(name, value string) Argument {
	data, _ := json.Marshal(value) // a string always is JSON
	return Argument{Name: name, Value: data}
}

// plainValue is a value as a sentence would name it; simple is false for lists, objects,
// and what is no text.
func plainValue(value json.RawMessage) (text string, simple bool) {
	switch {
	case len(value) == 0 || value[0] == '[' || value[0] == '{':
		return string(value), false
	case value[0] == '"':
		err := json.Unmarshal(value, &text)
		return text, err == nil && utf8.ValidString(text)
	}
	return string(value), true
}

// leaves calls f for every name and every simple value of a JSON text, in order.
func leaves(data []byte, f func(text string)) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	for {
		token, err := in.Token()
		if err != nil {
			return
		}
		switch v := token.(type) {
		case string:
			f(v)
		case json.Number:
			f(v.String())
		case bool:
			f(fmt.Sprint(v))
		}
	}
}
