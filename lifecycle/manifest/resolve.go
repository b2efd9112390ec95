package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// J1 is the invariant that Resolve keeps: everything declared is there at birth.
const J1 = "J-1"

// Code is what is missing.
type Code string

// The codes, in the order in which missing things are listed.
const (
	Faulty             Code = "manifest"            // the manifest itself has a fault
	ChatNone           Code = "chat_none"           // no chat model is named anywhere
	ChatAway           Code = "chat_away"           // the server cannot be asked
	ChatAbsent         Code = "chat_absent"         // the server does not have the model
	ChatDigest         Code = "chat_digest"         // it is another model, or its digest is not told
	EmbedderNone       Code = "embedder_none"       // there is no embedder
	EmbedderOther      Code = "embedder_other"      // the manifest names another one
	EmbedderDigest     Code = "embedder_digest"     // it is another model, or its digest is not told
	EmbedderStore      Code = "embedder_store"      // the store was embedded by another one
	Tool               Code = "tool"                // a tool does not resolve
	GrantNothing       Code = "grant"               // a grant covers nothing that there is
	LineageUnknown     Code = "lineage_unknown"     // there is no such version
	LineageQuarantined Code = "lineage_quarantined" // nothing may be born from the version
	Consent            Code = "consent"             // a cell of the scope is not allowed
)

// Missing is one thing that keeps a life from being born.
type Missing struct {
	// Invariant is J1.
	Invariant string `json:"invariant"`
	Code      Code   `json:"code"`
	// What is missing, in a sentence; Mend is the command or the line of the manifest that
	// mends it.
	What string `json:"what"`
	Mend string `json:"mend"`
}

// String is it in one line.
func (m Missing) String() string { return fmt.Sprintf("%s: %s; %s", m.Invariant, m.What, m.Mend) }

// Found is what is there, as the caller found it.
type Found struct {
	Chat Chat
	// Embedder is the one that would embed, StoreEmbedder the one that the store was
	// embedded by; empty for a store without a vector.
	Embedder, StoreEmbedder Model
	// Tools are those of the manifest, resolved; where they could not be, ToolFaults are
	// what tools.Resolve said.
	Tools      *tools.Set
	ToolFaults tools.Faults
	// LineageKnows tells whether a version exists; nil knows none. Head is the newest, zero
	// where there is none at all.
	LineageKnows func(lineage.Digest) bool
	Head         lineage.Digest
	// Quarantined are the versions that no successor may be born from.
	Quarantined []lineage.Digest
	// Uncovered are the decisions of Manifest.Scope that do not allow.
	Uncovered []consent.Decision
}

// Chat is what is known of the chat model that Substrate.ChatName wants.
type Chat struct {
	// Configured is the model of the config; empty for none.
	Configured string
	// Name is that of the model as the server has it, empty where it has none of that
	// name; Digest is as the server tells it, empty where it does not.
	Name, Digest string
	// Away says, in words for people, why it cannot be asked; empty where it can.
	Away string
}

// Model is an embedder; an empty ID is none, an empty digest one that is not told.
type Model struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// Born is what a life begins with. Nothing is added to it later.
type Born struct {
	// Manifest is the id of the manifest.
	Manifest lineage.Digest
	Chat     BornChat
	Embedder Model
	// Base is the version of the lineage that it is born with.
	Base   lineage.Digest
	Grants tools.Grants
	Set    *tools.Set
}

// BornChat is the model that a life talks with.
type BornChat struct {
	// Builtin says that it is the built-in one; then Why says what the other one lacks, and
	// there is no name and no digest.
	Builtin bool
	Why     string
	Name    string
	Digest  string
}

// Resolve holds a manifest against what is there (J-1). With nothing missing it gives
// what the life is born with; else the zero Born and everything that is missing, in the
// order of the codes, each once.
func (m Manifest) Resolve(f Found) (Born, []Missing) {
	r := resolver{m: m, f: f}
	r.manifest()
	r.chat()
	r.embedder()
	r.tools()
	r.lineage()
	r.consent()
	if len(r.missing) > 0 {
		return Born{}, r.missing
	}
	return r.born, nil
}

type resolver struct {
	m       Manifest
	f       Found
	born    Born
	missing []Missing
}

func (r *resolver) miss(code Code, what, mend string) {
	one := Missing{Invariant: J1, Code: code, What: what, Mend: mend}
	if !slices.Contains(r.missing, one) {
		r.missing = append(r.missing, one)
	}
}

// manifest looks at what Parse refuses, for a manifest that was made otherwise. Tools and
// grants come in their own place.
func (r *resolver) manifest() {
	for _, s := range r.m.valueFaults() {
		r.miss(Faulty, "the manifest has a fault: "+s.String(), "correct "+s.Key)
	}
	var err error
	if r.born.Manifest, err = r.m.Digest(); err != nil {
		r.miss(Faulty, "the manifest has no canonical form", "look for characters in it that are no UTF-8")
	}
}

const orBuiltin = "write builtin = true in [substrate]"

// Mind is who would think in a life that is born with a chat model; false where nobody
// would.
func (m Manifest) Mind(c Chat) (BornChat, bool) {
	r := resolver{m: m, f: Found{Chat: c}}
	r.chat()
	return r.born.Chat, len(r.missing) == 0
}

// chat looks at the chat model. Where it is not as declared the built-in one stands in,
// if it may.
func (r *resolver) chat() {
	c, want := r.f.Chat, digestText(r.m.Substrate.Digest)
	name := r.m.Substrate.ChatName(c.Configured)
	there := digestText(c.Digest)
	fail := func(code Code, what, mend string) {
		if r.m.Substrate.Builtin {
			r.born.Chat = BornChat{Builtin: true, Why: what}
			return
		}
		r.miss(code, what, mend+", or "+orBuiltin)
	}
	switch {
	case name == "":
		fail(ChatNone, "no chat model is named, neither in the manifest nor in the config", `write chat = "NAME" in [substrate]`)
	case c.Away != "":
		fail(ChatAway, fmt.Sprintf("the chat model %s cannot be asked for: %s", shownName(name), shortenedMessage(c.Away)), "start its server: ollama serve")
	case c.Name == "" || !SameModel(c.Name, name):
		fail(ChatAbsent, fmt.Sprintf("the server has not the chat model %s", shownName(name)), "ollama pull "+shownName(name))
	case want != "" && !digestForm.MatchString(there):
		fail(ChatDigest, fmt.Sprintf("the server does not tell the digest of the chat model %s", shownName(name)), "take digest out of [substrate]")
	case want != "" && want != there:
		fail(ChatDigest, fmt.Sprintf("the chat model %s is another one than declared: its digest is %s", shownName(name), there),
			fmt.Sprintf("write digest = %q in [substrate] if that is the one you want", there))
	default:
		r.born.Chat = BornChat{Name: c.Name, Digest: there}
	}
}

// embedder looks at the embedder: there, the one that is declared, and the store's.
func (r *resolver) embedder() {
	e, store := r.f.Embedder, r.f.StoreEmbedder
	wantID, wantDigest := r.m.Substrate.Embedder, digestText(r.m.Substrate.EmbedderDigest)
	there, stored := digestText(e.Digest), digestText(store.Digest)
	r.born.Embedder = Model{ID: e.ID, Digest: there}
	if e.ID == "" {
		r.miss(EmbedderNone, "there is no embedder", `write embed = "" below [model] of the config, for the built-in one`)
		return
	}
	id := shownName(e.ID)
	if wantID != "" && wantID != e.ID {
		r.miss(EmbedderOther, fmt.Sprintf("the embedder is %s, and the manifest names %s", id, shownName(wantID)), fmt.Sprintf("write embedder = %q in [substrate]", clean(e.ID, idBytes)))
	}
	switch {
	case wantDigest == "" || wantDigest == there:
	case !digestForm.MatchString(there):
		r.miss(EmbedderDigest, fmt.Sprintf("the digest of the embedder %s is not known", id), "start its server, or take embedder_digest out of [substrate]")
	default:
		r.miss(EmbedderDigest, fmt.Sprintf("the embedder %s is another one than declared: its digest is %s", id, there), fmt.Sprintf("write embedder_digest = %q in [substrate] if that is the one you want", there))
	}
	switch {
	case store.ID != "" && store.ID != e.ID:
		r.miss(EmbedderStore, fmt.Sprintf("the store was embedded by %s, and the embedder is %s", shownName(store.ID), id), "jivad reembed, or name the one of the store in the config")
	case store.ID != "" && stored != "" && there == "":
		r.miss(EmbedderStore, fmt.Sprintf("whether the embedder %s is the model that embedded the store is not known", id), "start its server")
	case store.ID != "" && stored != "" && stored != there:
		r.miss(EmbedderStore, fmt.Sprintf("the store was embedded by another model of the name %s", id), "jivad reembed, or get back the model of before")
	}
}

// tools looks at the tools and at what is granted of them.
func (r *resolver) tools() {
	for _, fault := range r.f.ToolFaults {
		s := ofTools(fault, keyTools, 0)
		r.miss(Tool, s.what, s.mend)
	}
	for _, s := range r.m.toolFaults() {
		r.miss(Tool, s.what, s.mend)
	}
	switch {
	case len(r.f.ToolFaults) > 0:
	case r.f.Tools == nil && len(r.m.Tools) > 0:
		r.miss(Tool, "the tools were not looked at", "try again")
	case !sameTools(r.m.Tools, r.f.Tools):
		r.miss(Tool, "the tools that were looked at are not those of the manifest", "try again")
	}
	for _, s := range r.m.grantFaults() {
		if s.what == "" {
			s.what, s.mend = s.String(), "take some out"
		}
		r.miss(GrantNothing, s.what, s.mend)
	}
	r.born.Set = r.f.Tools
	r.born.Grants, _ = tools.NewGrants(r.m.Grants) // its faults are among those above
}

// lineage looks at the version that the life is born with.
func (r *resolver) lineage() {
	base := r.m.Substrate.Lineage
	pinned := base != (lineage.Digest{})
	const unpin = `write lineage = "head" in [substrate]`
	switch {
	case !pinned && r.f.Head == (lineage.Digest{}):
		r.miss(LineageUnknown, "there is no lineage to be born from", "jivad init")
		return
	case !pinned:
		base = r.f.Head
	case r.f.LineageKnows == nil || !r.f.LineageKnows(base):
		r.miss(LineageUnknown, fmt.Sprintf("the lineage has no version %s", base), unpin)
	}
	if slices.Contains(r.f.Quarantined, base) {
		mend := "clear, supersede or discard the life that could not be distilled: jivad lives"
		if pinned && base != r.f.Head && !slices.Contains(r.f.Quarantined, r.f.Head) {
			mend += ", or " + unpin
		}
		r.miss(LineageQuarantined, fmt.Sprintf("the version %s is quarantined, and no life may be born from it", base), mend)
	}
	r.born.Base = base
}

// consent lists what is not allowed. The reason of a decision says how to have it
// otherwise, behind its first sentence.
func (r *resolver) consent() {
	for _, d := range r.f.Uncovered {
		if d.Answer == consent.Allow {
			continue
		}
		what, mend, _ := strings.Cut(d.Reason, "; ")
		if _, command, found := strings.Cut(mend, ": "); found {
			mend = command
		}
		r.miss(Consent, what, mend)
	}
}

// SameModel tells whether two names are of one model: a name without a tag is that of
// the latest.
func SameModel(a, b string) bool { return tagged(a) == tagged(b) }

func tagged(name string) string {
	if strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		return name
	}
	return name + ":latest"
}

// shownName is a name as it stands where it is a plain one, else quoted.
func shownName(name string) string {
	if chatForm.MatchString(name) {
		return name
	}
	return fmt.Sprintf("%q", clean(name, idBytes))
}

// idBytes is how much of a name or an id stands in what is told, so that it can be copied.
const idBytes = 200
