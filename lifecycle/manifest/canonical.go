package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// canonicalForm is what the id of a manifest is taken of. Times are in seconds, weights
// of signals in millionths.
type canonicalForm struct {
	Form      string            `json:"form"`
	Mission   string            `json:"mission"`
	Consent   []string          `json:"consent"` // cells, in the order of the grid
	Grants    []json.RawMessage `json:"grants"`  // sorted by their bytes, each once
	Tools     []json.RawMessage `json:"tools"`   // so too
	Substrate struct {
		Chat           string `json:"chat"`
		Digest         string `json:"digest"`
		Builtin        bool   `json:"builtin"`
		Embedder       string `json:"embedder"`
		EmbedderDigest string `json:"embedder_digest"`
		Lineage        string `json:"lineage"`
	} `json:"substrate"`
	Life struct {
		TTL         int64   `json:"ttl"`
		MaxEvents   int     `json:"max_events"`
		MaxFailures int     `json:"max_failures"`
		WitnessGap  float64 `json:"witness_gap"`
		Idle        int64   `json:"idle"` // 0 for that of the config
		Roll        string  `json:"roll"`
	} `json:"life"`
	Distillation struct {
		WrittenBy string           `json:"written_by"`
		Implicit  bool             `json:"implicit"`
		Window    int64            `json:"judgement_window"`
		Signals   map[string]int64 `json:"signals"`
	} `json:"distillation"`
}

// Canonical is the canonical form (RFC 8785) of all of a manifest, defaults filled in: the
// same for every way of writing the same thing. The order of tools, grants and the scope
// of consent says nothing; that of lists within a tool does. The names that no rule may
// hold are left out: its digest leaves the device with what lives are distilled to, and
// names can be guessed. It holds the mission, and is as private as that is. No error comes
// of a manifest that Check is content with.
func (m Manifest) Canonical() ([]byte, error) {
	out := canonicalForm{Form: Form, Mission: strings.TrimSpace(m.Mission), Consent: []string{}}
	for _, cell := range m.Scope() {
		out.Consent = append(out.Consent, cell.String())
	}
	var err error
	if out.Grants, err = canonicalGrants(m.Grants); err != nil {
		return nil, err
	}
	if out.Tools, err = canonicalTools(m.Tools); err != nil {
		return nil, err
	}

	s := &out.Substrate
	s.Chat, s.Digest, s.Builtin = m.Substrate.Chat, digestText(m.Substrate.Digest), m.Substrate.Builtin
	s.Embedder, s.EmbedderDigest = m.Substrate.Embedder, digestText(m.Substrate.EmbedderDigest)
	if s.Lineage = m.Substrate.Lineage.String(); m.Substrate.Lineage == (lineage.Digest{}) {
		s.Lineage = head
	}

	l := &out.Life
	l.TTL, l.Idle, l.Roll = int64(m.Life.TTL/time.Second), int64(m.Life.Idle/time.Second), m.Life.Roll
	l.MaxEvents, l.MaxFailures, l.WitnessGap = m.Life.MaxEvents, m.Life.MaxFailures, m.Life.WitnessGap

	d := &out.Distillation
	d.WrittenBy, d.Implicit = m.Distillation.WrittenBy, m.Distillation.Satisfaction.Implicit
	if d.Window = int64(m.Distillation.Satisfaction.Window / time.Second); d.Window == 0 {
		d.Window = int64(distil.JudgementWindow / time.Second)
	}
	d.Signals = map[string]int64{}
	for name, weight := range m.Distillation.Satisfaction.Signals {
		d.Signals[name] = int64(math.Round(weight * lineage.Million))
	}
	return canonical(out)
}

// Digest is the SHA-256 of the canonical form: the manifest's id. It tells nothing of a
// manifest to whoever cannot guess all of it. Error: that of Canonical.
func (m Manifest) Digest() (lineage.Digest, error) {
	data, err := m.Canonical()
	if err != nil {
		return lineage.Digest{}, err
	}
	return sha256.Sum256(data), nil
}

func canonicalTools(declared []tools.Declaration) ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	for i := range declared {
		data, err := declared[i].Canonical()
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return sortedOnce(out), nil
}

func canonicalGrants(grants []tools.Grant) ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	for _, g := range grants {
		// A schema has its canonical form as the arguments of a tool.
		bearer := tools.Declaration{Arguments: g.Within}
		data, err := bearer.Canonical()
		if err != nil {
			return nil, err
		}
		var tool struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(data, &tool); err != nil {
			return nil, err
		}
		made := struct {
			Capability string          `json:"capability"`
			Within     json.RawMessage `json:"within,omitempty"`
		}{g.Capability, tool.Arguments}
		if narrowsNothing(tool.Arguments) {
			made.Within = nil
		}
		data, err = canonical(made)
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return sortedOnce(out), nil
}

// narrowsNothing tells of the schemas that say no more than that arguments are an object,
// as none at all does.
func narrowsNothing(schema json.RawMessage) bool {
	return string(schema) == `{}` || string(schema) == `{"type":"object"}`
}

func sortedOnce(list []json.RawMessage) []json.RawMessage {
	slices.SortFunc(list, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	return slices.CompactFunc(list, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(data)
}

// sameTools tells whether a set is made of exactly these declarations.
func sameTools(declared []tools.Declaration, set *tools.Set) bool {
	names := set.Names()
	if len(names) != len(declared) {
		return false
	}
	for i := range declared {
		there, err := set.Declaration(declared[i].Name)
		if err != nil {
			return false
		}
		a, errA := declared[i].Canonical()
		b, errB := there.Canonical()
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}
