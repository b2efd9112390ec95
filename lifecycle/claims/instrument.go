package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

// Instrument is something that measures: a sensor that speaks on an MQTT topic, or a tool
// whose result is a reading. What it measures speaks for one statement or for its contrary.
type Instrument struct {
	// ID names it, the same for whoever reads it.
	ID string `toml:"id"`
	// Topic is where it speaks, or Tool the tool that reads it: one of the two.
	Topic string `toml:"topic"`
	Tool  string `toml:"tool"`
	// Topics are others on which it says the same; with them it needs no Topic.
	Topics []string `toml:"topics"`
	// Field is the member of an object of JSON that is the reading, members of members with
	// dots between; empty is all that came.
	Field string `toml:"field"`
	// When is what the reading must be for the statement to hold: a word, or one of < <= > >=
	// = != before a number.
	When string `toml:"when"`
	// Subject and Text are the statement; Otherwise is what holds where it does not, empty
	// for nothing.
	Subject   string `toml:"subject"`
	Text      string `toml:"text"`
	Otherwise string `toml:"otherwise"`
	// Window is the time in which all readings are one observation.
	Window string `toml:"window"`
	// Consequence is that of the statement; empty is medium.
	Consequence string `toml:"consequence"`
	// Category is its category of consent; empty is operational.
	Category string `toml:"category"`

	window time.Duration
}

func (in *Instrument) prepare() error {
	if strings.TrimSpace(in.ID) == "" || len(in.ID) > 128 || strings.ContainsAny(in.ID, "#@") {
		return errors.New("it needs an id of at most 128 bytes, without # and @")
	}
	if (len(in.spokenOn()) == 0) == (in.Tool == "") {
		return errors.New("it needs a topic, or a tool")
	}
	for _, topic := range in.spokenOn() {
		if topic == "" || strings.ContainsAny(topic, "+#\x00") || len(topic) > 1024 {
			return errors.New("its topic must be one topic, without + and #")
		}
	}
	if strings.TrimSpace(in.Subject) == "" || Statement(in.Text) == "" || len(in.Text)+len(in.Subject)+len(in.Otherwise) > 1024 {
		return errors.New("it needs a subject and a text, together at most 1024 bytes")
	}
	if Statement(in.Otherwise) == Statement(in.Text) {
		return errors.New("text and otherwise say the same")
	}
	if in.When == "" || len(in.When) > 128 {
		return errors.New(`it needs "when": what the reading is if the text holds`)
	}
	if op, number := operator(in.When); op != "" {
		if _, err := strconv.ParseFloat(number, 64); err != nil {
			return fmt.Errorf("%q compares with no number", in.When)
		}
	}
	if in.Consequence == "" {
		in.Consequence = string(evidence.Medium)
	}
	if !slices.Contains([]string{"low", "medium", "high"}, in.Consequence) {
		return fmt.Errorf("its consequence is %q, not low, medium or high", in.Consequence)
	}
	if in.Category == "" {
		in.Category = "operational"
	}
	in.window = 10 * time.Minute
	if in.Window != "" {
		d, err := span(in.Window)
		if err != nil || d < time.Second || d > 24*time.Hour {
			return fmt.Errorf("its window is %q, and must be from \"1s\" to \"24h\"", in.Window)
		}
		in.window = d
	}
	return nil
}

// spokenOn are the topics on which it speaks.
func (in *Instrument) spokenOn() []string {
	if in.Topic == "" {
		return in.Topics
	}
	return append([]string{in.Topic}, in.Topics...)
}

// clashes says how two instruments would count one reading as two sources; empty where they
// do not.
func (in *Instrument) clashes(other *Instrument) string {
	if in.root(0).Source() == other.root(0).Source() {
		return "are one: an id is there once"
	}
	same := in.Tool != "" && in.Tool == other.Tool || slices.ContainsFunc(in.spokenOn(), func(topic string) bool { return slices.Contains(other.spokenOn(), topic) })
	if same && in.Field == other.Field {
		return "read the same: one reading would count as two sources"
	}
	says := func(x *Instrument) []string {
		return slices.DeleteFunc([]string{Statement(x.Text), Statement(x.Otherwise)}, func(s string) bool { return s == "" })
	}
	if same && slices.ContainsFunc(says(in), func(s string) bool { return slices.Contains(says(other), s) }) {
		return "read parts of one message, and say the same: one device would count as two sources"
	}
	return ""
}

// spoken gives a root its instrument's name, where it names a topic on which one of the policy
// speaks; other roots stay as they are.
func (p Policy) spoken(root string) string {
	rest, is := strings.CutPrefix(evidence.CanonicalRoot(root), "mqtt:")
	if !is {
		return root
	}
	name, window, given := strings.Cut(rest, "#")
	name = name[:max(0, strings.LastIndexByte(name, '@'))]
	for i := range p.Instruments {
		for _, topic := range p.Instruments[i].spokenOn() {
			if strings.Trim(topic, " /") != name {
				continue
			}
			if given {
				window = "#" + window
			}
			return "sensor:" + p.Instruments[i].ID + window
		}
	}
	return root
}

// operator takes a comparison apart; the first is empty for a word.
func operator(when string) (op, rest string) {
	for _, op := range []string{"<=", ">=", "!=", "<", ">", "="} {
		if rest, ok := strings.CutPrefix(when, op); ok {
			return op, strings.TrimSpace(rest)
		}
	}
	return "", when
}

// root is the observation of a reading.
func (in *Instrument) root(at int64) evidence.Root {
	id, how := evidence.SensorRoot(in.ID, at, int64(in.window/time.Second)), "tool "+in.Tool
	if topics := in.spokenOn(); len(topics) > 0 {
		how = "mqtt " + topics[0]
	}
	return evidence.Root{ID: id, Type: evidence.Instrument, Observed: at, Retrieval: how, Agent: in.ID}
}

// mostPayload bounds what is read of a message, in bytes.
const mostPayload = 64 << 10

// ErrReading: what came from an instrument is no reading. What it was is not repeated.
var ErrReading = errors.New("no reading")

// holds tells whether the statement holds by what came.
func (in *Instrument) holds(payload []byte) (bool, error) {
	if len(payload) > mostPayload {
		return false, fmt.Errorf("instrument %s: %w: more than %d bytes", in.ID, ErrReading, mostPayload)
	}
	reading := strings.TrimSpace(string(payload))
	if in.Field != "" {
		var err error
		if reading, err = member(payload, strings.Split(in.Field, ".")); err != nil {
			return false, fmt.Errorf("instrument %s: %w: %w", in.ID, ErrReading, err)
		}
	}
	op, want := operator(in.When)
	if op == "" {
		if reading == "" {
			return false, fmt.Errorf("instrument %s: %w: it is empty", in.ID, ErrReading)
		}
		return strings.EqualFold(reading, want), nil
	}
	x, err := strconv.ParseFloat(reading, 64) // the error repeats what came, so it is not told
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return false, fmt.Errorf("instrument %s: %w: it is no number", in.ID, ErrReading)
	}
	y, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return false, err
	}
	return map[string]bool{"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "=": x == y, "!=": x != y}[op], nil
}

// member is a scalar of an object of JSON.
func member(data []byte, path []string) (string, error) {
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) != nil || object[name] == nil {
			return "", errors.New("it has no such field")
		}
		data = object[name]
	}
	var v any
	if json.Unmarshal(data, &v) != nil {
		return "", errors.New("it is no JSON")
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case float64, bool:
		return strings.TrimSpace(string(data)), nil
	}
	return "", errors.New("the field is no word, number or truth value")
}
