package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Form is the version of the canonical form of a manifest.
const Form = "jivad/manifest/1"

// The bounds of a manifest.
const (
	// MaxBytes is the longest text that is read.
	MaxBytes = 1 << 20
	// MissionRunes bounds the mission, NameRunes one name, MostNames their number.
	MissionRunes = 2000
	NameRunes    = 100
	MostNames    = 256
	// MostGrants and MostConsent bound these lists; tools.MostTools bounds the tools.
	MostGrants  = 256
	MostConsent = 72
	// LeastTTL and MostTTL bound the time of a life.
	LeastTTL = time.Minute
	MostTTL  = 30 * 24 * time.Hour
	// MostEvents and MostFailures bound the counts that may end a life, MostGap the
	// ceiling of the witness gap, which is never greater.
	MostEvents   = 1_000_000_000
	MostFailures = 1000
	MostGap      = 2.0
)

// Manifest is what a life is born with. Start from [Default]; [Manifest.Check] tells
// whether one made otherwise can be used.
type Manifest struct {
	// Mission says in plain text, in 1 to MissionRunes letters, what the life is for.
	Mission string
	// Consent is the scope: the cells of the grid that must be allowed.
	Consent      []consent.Selector
	Substrate    Substrate
	Life         Life
	Distillation Distillation
	// Grants are what the life may do, Tools what it may do it with.
	Grants []tools.Grant
	Tools  []tools.Declaration
}

// Substrate is what the life stands on.
type Substrate struct {
	// Chat is the name of the chat model; empty for that of the config.
	Chat string
	// Digest is the one that it must have, 64 hexadecimal digits; empty for any.
	Digest string
	// Builtin tells whether the built-in model may stand in for it.
	Builtin bool
	// Embedder is the id of the embedder; empty for that of the store.
	Embedder string
	// EmbedderDigest is as Digest.
	EmbedderDigest string
	// Lineage is the version that is pinned; zero for the head.
	Lineage lineage.Digest
}

// Life is what ends a life: whichever is first.
type Life struct {
	// TTL is the running time of a life, LeastTTL to MostTTL, in whole seconds.
	TTL time.Duration
	// MaxEvents is how many events it takes; 0 for any number.
	MaxEvents int
	// MaxFailures is how many uses of tools may fail in a row, from 1.
	MaxFailures int
	// WitnessGap is the ceiling of the gap mid-session, in (0, 2]; 0 for none.
	WitnessGap float64
	// Idle is how long after its last event it ends, from 1 s to 24 h, in whole seconds; 0
	// for that of the config.
	Idle time.Duration
	// Roll is the local time of day of the daily end, as "04:00"; empty for the config's
	// start of a day.
	Roll string
}

// RollAt is Roll as the time since midnight; false where it is that of the config.
func (l Life) RollAt() (time.Duration, bool) {
	var hour, minute int
	if !rollForm.MatchString(l.Roll) {
		return 0, false
	}
	if _, err := fmt.Sscanf(l.Roll, "%d:%d", &hour, &minute); err != nil {
		return 0, false
	}
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute, true
}

// Who words the rules of a life.
const (
	// Auto: the model where there is one, else the rules.
	Auto = "auto"
	// Rules: never a model.
	Rules = "rules"
)

// Distillation is how rules are made of a life.
type Distillation struct {
	// WrittenBy is Auto or Rules.
	WrittenBy string
	// Names are those that no rule may hold.
	Names Names
	// Satisfaction is the principal's satisfaction model.
	Satisfaction distil.Weights
}

// Names are names of people and places. They are private: neither fmt nor encoding/json
// writes more of them than their number.
type Names []string

// Format writes their number.
func (n Names) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, n.count()) }

// MarshalJSON gives their number, as a text.
func (n Names) MarshalJSON() ([]byte, error) { return json.Marshal(n.count()) }

func (n Names) count() string { return fmt.Sprintf("%d names", len(n)) }

// DefaultMission is the mission of a new companion.
const DefaultMission = "Listen to what the person writes, remember what matters in it, and help them to see it."

// Default is the manifest of a new companion. It needs nothing but the program itself
// and the consent that is there from the start.
func Default() Manifest {
	return Manifest{
		Mission: DefaultMission,
		Consent: []consent.Selector{
			{Category: consent.Behavioural, Dimension: consent.Storage},
			{Category: consent.Behavioural, Dimension: consent.Access},
		},
		Substrate:    Substrate{Builtin: true},
		Life:         Life{TTL: 24 * time.Hour, MaxFailures: 5},
		Distillation: Distillation{WrittenBy: Auto, Satisfaction: distil.Weights{Window: distil.JudgementWindow}},
	}
}

// Scope is the cells that must be allowed, each once, in the order of the grid.
func (m Manifest) Scope() []consent.Cell {
	var out []consent.Cell
	for _, cell := range consent.Cells() {
		for _, s := range m.Consent {
			if s.Has(cell) {
				out = append(out, cell)
				break
			}
		}
	}
	return out
}

// ChatName is the name of the chat model that is wanted, where the config names another
// or none; empty for none.
func (s Substrate) ChatName(configured string) string {
	if s.Chat != "" {
		return s.Chat
	}
	return configured
}

// digestText is a digest as it is compared: lower-case hexadecimal digits, without the
// name of the hash before them.
func digestText(text string) string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "sha256:")
}
