package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// Call is what a model asks for. Nothing of it is trusted.
type Call struct {
	Tool string
	// Arguments is one object of JSON, as the model wrote it; empty for none.
	Arguments []byte
}

// Answer is that of a gate. Its zero value is Deny.
type Answer int

// The answers of a gate.
const (
	Deny Answer = iota
	// AskFirst: the person must be asked; with their yes, Permit is asked again.
	AskFirst
	Allow
)

// Verdict is an answer with its reasons: sentences that a model and the log may see.
type Verdict struct {
	Answer  Answer
	Reasons []string
}

// Proposal is what a gate is asked about: a call that passed everything before it.
type Proposal struct {
	Tool        string
	Kind        string
	Consequence Consequence
	// Arguments is the canonical form (RFC 8785), defaults filled in.
	Arguments []byte
}

// Gates are what the caller decides. A gate that is nil denies.
type Gates struct {
	// Consent tells whether the person consented to such an act.
	Consent func(Proposal) Verdict
	// Consequence tells whether what the act rests on bears its consequence. It is asked
	// for acts of every consequence.
	Consequence func(Proposal) Verdict
}

// Code is why a call was refused.
type Code string

// The codes of refusals.
const (
	UnknownTool     Code = "unknown_tool"
	NotGranted      Code = "not_granted"
	BadArguments    Code = "bad_arguments"    // no object of JSON, too large, ambiguous
	ExtraArgument   Code = "extra_argument"   // one that is not declared
	MissingArgument Code = "missing_argument" // one that is required
	OutsideSchema   Code = "outside_schema"
	Unusable        Code = "unusable" // it fits the schema, and cannot stand in its place
	OutsideGrant    Code = "outside_grant"
	NoConsent       Code = "no_consent"
	NeedsYes        Code = "needs_yes" // the person must be asked
	Gated           Code = "gated"
)

// Refusal is one reason. It is ErrRefused.
type Refusal struct {
	Code Code
	// Argument is the declared argument that it is about, or empty.
	Argument string
	// Says is a sentence for a model and for the log. It holds nothing of what the model
	// wrote, not even the name of a tool or of an argument that does not exist.
	Says string
}

// Error is the sentence.
func (r Refusal) Error() string { return r.Says }

// Is tells that it is ErrRefused.
func (r Refusal) Is(target error) bool { return target == ErrRefused }

// mostRefusals bounds the reasons of one decision.
const mostRefusals = 8

// Decision is what the checkpoint decided: an act, or refusals, at least one.
type Decision struct {
	Act      *Act
	Refusals []Refusal
}

// Allowed tells whether there is an act.
func (d Decision) Allowed() bool { return d.Act != nil && len(d.Refusals) == 0 }

// Err is nil, or all refusals; it is ErrRefused.
func (d Decision) Err() error {
	if d.Allowed() {
		return nil
	}
	all := []error{}
	for _, r := range d.Refusals {
		all = append(all, r)
	}
	return errors.Join(append(all, ErrRefused)...)
}

// Text is what a model is told instead of a result; empty for an allowed call.
func (d Decision) Text() string {
	if d.Allowed() {
		return ""
	}
	says := make([]string, len(d.Refusals))
	for i, r := range d.Refusals {
		says[i] = r.Says
	}
	return "Refused, nothing was done: " + strings.Join(says, "; ") + "."
}

// Act is one permitted use of a tool, complete. Only Permit makes it, and it runs once.
type Act struct {
	tool    *tool
	payload []byte
	spent   atomic.Bool

	argv    []string // exec
	address *url.URL // http
	body    string
	topic   string // mqtt
	message string
	path    string // read
}

// Tool is the name of the tool.
func (a *Act) Tool() string { return a.tool.declaration.Name }

// Kind is that of the tool.
func (a *Act) Kind() string { return a.tool.kind }

// Consequence is that of the tool.
func (a *Act) Consequence() Consequence { return a.tool.declaration.Consequence }

// Payload is what is signed of an act (AD-4): the canonical form (RFC 8785) of its tool,
// the digest of the tool's declaration and its arguments. It holds what the model wrote,
// so only a digest of it may outlive the life; that of few arguments can be guessed
// unless it is taken under a secret.
func (a *Act) Payload() []byte { return slices.Clone(a.payload) }

// Permit is the checkpoint that every act passes (J-2). In this order: is there such a
// tool, is it granted, do the arguments fit its schema and its templates, are they
// within the grant, is there consent, does the gate of consequences let it through. The
// gates are asked only about what passed all before; up to 8 reasons are given.
func Permit(call Call, grants Grants, set *Set, gates Gates) Decision {
	if set == nil || set.tools[call.Tool] == nil {
		return refuse(Refusal{Code: UnknownTool, Says: "there is no tool of that name; there are: " + granted(set, grants)})
	}
	t := set.tools[call.Tool]
	if ok, _ := grants.allow(t, nil); !ok {
		return refuse(Refusal{Code: NotGranted, Says: fmt.Sprintf("the capability %s is not granted to this life", t.capability())})
	}
	arguments, refusals := t.arguments(call.Arguments)
	if len(refusals) > 0 {
		return refuse(refusals...)
	}
	if _, outside := grants.allow(t, arguments); len(outside) > 0 {
		return refuse(refusalsOf(outside, OutsideGrant, "outside of what is granted: ")...)
	}
	act, wrong := t.act(arguments)
	if wrong != nil {
		return refuse(refusalsOf([]misfit{*wrong}, Unusable, "")...)
	}
	data, err := canonical(arguments)
	if err == nil {
		act.payload, err = canonical(struct {
			Form        string          `json:"form"`
			Tool        string          `json:"tool"`
			Declaration string          `json:"declaration"`
			Arguments   json.RawMessage `json:"arguments"`
		}{"jivad/tool-act/1", call.Tool, fmt.Sprintf("%x", t.digest), data})
	}
	if err != nil {
		return refuse(Refusal{Code: BadArguments, Says: "the arguments have no canonical form"})
	}
	proposal := func() Proposal {
		return Proposal{Tool: t.declaration.Name, Kind: t.kind, Consequence: t.declaration.Consequence, Arguments: slices.Clone(data)}
	}
	if r := ask(gates.Consent, proposal(), NoConsent, "the person did not consent to this"); len(r) > 0 {
		return refuse(r...)
	}
	if r := ask(gates.Consequence, proposal(), Gated, "an act of this consequence needs more to rest on"); len(r) > 0 {
		return refuse(r...)
	}
	return Decision{Act: act}
}

func refuse(refusals ...Refusal) Decision {
	var once []Refusal
	for _, r := range refusals {
		if !slices.Contains(once, r) && len(once) < mostRefusals {
			once = append(once, r)
		}
	}
	return Decision{Refusals: once}
}

// ask asks one gate.
func ask(gate func(Proposal) Verdict, about Proposal, code Code, otherwise string) []Refusal {
	verdict := Verdict{}
	if gate != nil {
		verdict = gate(about)
	}
	switch verdict.Answer {
	case Allow:
		return nil
	case AskFirst:
		code, otherwise = NeedsYes, "the person must be asked first"
	}
	if len(verdict.Reasons) == 0 {
		return []Refusal{{Code: code, Says: otherwise}}
	}
	var out []Refusal
	for _, reason := range verdict.Reasons {
		out = append(out, Refusal{Code: code, Says: reason})
	}
	return out
}

// granted lists the tools that a life may use.
func granted(set *Set, grants Grants) string {
	var names []string
	for _, name := range set.Names() {
		if ok, _ := grants.allow(set.tools[name], nil); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// arguments reads the arguments of a call, fills in defaults and holds them against the
// schema.
func (t *tool) arguments(data []byte) (map[string]any, []Refusal) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	value, err := strictJSON(data, argumentBounds)
	if err != nil {
		return nil, []Refusal{{Code: BadArguments, Says: "the arguments cannot be read: " + err.Error()}}
	}
	arguments, ok := value.(map[string]any)
	if !ok {
		return nil, []Refusal{{Code: BadArguments, Says: "the arguments are no object of JSON"}}
	}
	var refusals []Refusal
	for name := range arguments {
		if _, declared := t.schema.properties[name]; !declared {
			has := "it takes none"
			if names := t.schema.names(); len(names) > 0 {
				has = "it has: " + strings.Join(names, ", ")
			}
			refusals = append(refusals, Refusal{Code: ExtraArgument, Says: "an argument that the tool does not have; " + has})
			break
		}
	}
	for name, value := range t.schema.defaults {
		if _, given := arguments[name]; !given {
			arguments[name] = value
		}
	}
	misfits := t.schema.validate(arguments)
	if len(refusals) > 0 {
		misfits = slices.DeleteFunc(misfits, func(m misfit) bool { return m.argument == "" }) // that is the extra one
	}
	return arguments, append(refusals, refusalsOf(misfits, OutsideSchema, "")...)
}

func refusalsOf(misfits []misfit, code Code, before string) []Refusal {
	var out []Refusal
	for _, m := range misfits {
		r := Refusal{Code: code, Argument: m.argument, Says: before + m.says}
		if m.missing && code != OutsideGrant {
			r.Code = MissingArgument
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Refusal) int { return strings.Compare(a.Argument, b.Argument) })
	return out
}

// act fills the tool's templates.
func (t *tool) act(values map[string]any) (act *Act, wrong *misfit) {
	act = &Act{tool: t}
	switch t.kind {
	case KindExec:
		for _, template := range t.argv {
			text, wrong := template.argument(values)
			if wrong != nil {
				return nil, wrong
			}
			act.argv = append(act.argv, text)
		}
	case KindHTTP:
		if act.address, wrong = t.address.fill(values); wrong != nil {
			return nil, wrong
		}
		if !t.hosts.covers(hostOf(act.address)) {
			return nil, &misfit{says: "the host is none that the tool may speak to"}
		}
		if t.body.template != nil {
			act.body, wrong = t.body.json(values)
		}
	case KindMQTT:
		if act.topic, wrong = t.topic.topic(values); wrong != nil {
			return nil, wrong
		}
		if badTopic(act.topic) {
			return nil, &misfit{says: "the arguments together make no topic"}
		}
		if t.declaration.MQTT.Format == FormatJSON {
			act.message, wrong = t.json.json(values)
		} else {
			act.message, wrong = t.payload.plain(values)
		}
	case KindRead:
		act.path, wrong = t.path.path(values)
	}
	if wrong != nil {
		return nil, wrong
	}
	return act, nil
}

// Offer is a tool as a model is told of it.
type Offer struct {
	Name        string
	Description string
	// Parameters is the JSON schema of the arguments in canonical form.
	Parameters json.RawMessage
}

// Offers are the granted tools in the order of their names: all that a model need know.
func Offers(set *Set, grants Grants) []Offer {
	var out []Offer
	for _, name := range set.Names() {
		t := set.tools[name]
		if ok, _ := grants.allow(t, nil); !ok {
			continue
		}
		top, _ := t.declaration.Arguments.tree().(map[string]any)
		closed := maps.Clone(top)
		closed["additionalProperties"] = false
		if parameters, err := canonical(closed); err == nil {
			out = append(out, Offer{Name: name, Description: t.declaration.Description, Parameters: parameters})
		}
	}
	return out
}
