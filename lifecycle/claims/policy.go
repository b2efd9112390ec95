package claims

import (
	_ "embed" // the policy of a new companion
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/jivad/jivad/gate/evidence"
)

// PolicyFile is the policy's name in the data folder.
const PolicyFile = "evidence.toml"

// PolicyText is the policy of a new companion as a file, with every key explained.
//
//go:embed evidence.toml
var PolicyText string

// Policy is what the person decides once about evidence, and what instruments there are.
type Policy struct {
	evidence.Policy
	// Classes and Roots say how long a claim of a class, and a look at a root of a type, is
	// fresh; 0 is for ever.
	Classes map[evidence.Class]time.Duration
	Roots   map[evidence.RootType]time.Duration
	// Asking is how long a person has to say yes; after that it is no.
	Asking time.Duration
	// KeepSuperseded is how long a claim of an instrument is kept that was superseded; 0 is
	// for ever.
	KeepSuperseded time.Duration
	// TrustClock takes the clock of this machine for right though nothing vouches for it.
	TrustClock bool
	// Instruments are what measures.
	Instruments []Instrument
	// Acts say what the use of a tool rests on.
	Acts []Act
	// Unusable is why the person's own cannot be used, where this stands in its place: then no
	// act of consequence may be.
	Unusable error
}

// Act says what the use of a tool rests on: statements, in which {NAME} is an argument of
// the tool.
type Act struct {
	Tool    string   `toml:"tool"`
	RestsOn []string `toml:"rests_on"`
}

// ErrPolicy: evidence.toml cannot be used.
var ErrPolicy = errors.New("the policy of evidence cannot be used")

// ends is when something is over that is seen now: by the policy, or earlier where that is
// asked for; 0 is never. By a clock that cannot be trusted nothing can be told, so it counts
// as over as soon as one can.
func (p Policy) ends(at evidence.Moment, ttl time.Duration, asked int64) int64 {
	if ttl == 0 && asked == 0 {
		return 0
	}
	if !at.Trusted {
		return 1
	}
	end := at.Unix + int64(ttl/time.Second)
	if ttl == 0 || asked != 0 && asked < end {
		end = asked
	}
	return max(end, 1) // 0 is never
}

// DefaultPolicy is that of a new companion. A report is worth a day, what was concluded a
// week, what was verified thirty days; an instrument tells of an hour, and a person's word,
// a state that was attested and a source from outside hold for longer. What a commit holds
// does not change.
func DefaultPolicy() Policy {
	const day = 24 * time.Hour
	return Policy{
		Policy:  evidence.Default(),
		Classes: map[evidence.Class]time.Duration{evidence.Reported: day, evidence.Inferred: 7 * day, evidence.Verified: 30 * day},
		Roots: map[evidence.RootType]time.Duration{
			evidence.Instrument: time.Hour, evidence.Repository: 0, evidence.Attested: 30 * day, evidence.External: 30 * day, evidence.Human: 7 * day,
			evidence.AgentMemory: day, evidence.Summary: day, evidence.ReviewerSigns: day,
		},
		Asking: 2 * time.Minute, KeepSuperseded: 30 * day,
	}
}

// file is evidence.toml.
type file struct {
	Sources     *int              `toml:"independent_sources_required"`
	Reviewers   []string          `toml:"reviewers"`
	AskFor      []string          `toml:"ask_for"`
	AskTimeout  *string           `toml:"ask_timeout"`
	TrustClock  bool              `toml:"trust_clock"`
	Superseded  *string           `toml:"keep_superseded"`
	Fresh       map[string]string `toml:"fresh"`
	RootsFresh  map[string]string `toml:"roots_fresh"`
	Instruments []Instrument      `toml:"instrument"`
	Acts        []Act             `toml:"act"`
}

// ParsePolicy reads evidence.toml; what it leaves out is as in [DefaultPolicy]. name is for
// errors. Error: ErrPolicy, with what is wrong and where.
func ParsePolicy(name, text string) (Policy, error) {
	wrong := func(format string, args ...any) (Policy, error) {
		return Policy{}, fmt.Errorf("%s: %w: %s", name, ErrPolicy, fmt.Sprintf(format, args...))
	}
	var f file
	meta, err := toml.Decode(text, &f)
	if err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return wrong("line %d: %s", at.Position.Line, at.Message)
		}
		return wrong("%v", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return wrong("there is no key %s", unknown[0])
	}
	p := DefaultPolicy()
	if f.Sources != nil {
		if *f.Sources < 1 || *f.Sources > 16 {
			return wrong("independent_sources_required is %d, and must be from 1 to 16", *f.Sources)
		}
		p.Sources = *f.Sources
	}
	if f.Reviewers != nil {
		if !slices.Contains(f.Reviewers, evidence.Person) || len(f.Reviewers) > 16 {
			return wrong("reviewers must name %q, the last one, and at most 16", evidence.Person)
		}
		p.Reviewers = f.Reviewers
	}
	if f.AskFor != nil {
		p.AskFor = nil
		for _, name := range f.AskFor {
			c := evidence.Consequence(name)
			if !slices.Contains([]evidence.Consequence{evidence.Low, evidence.Medium, evidence.High}, c) {
				return wrong("ask_for names %q, and may name low, medium and high", name)
			}
			p.AskFor = append(p.AskFor, c)
		}
	}
	p.TrustClock = f.TrustClock
	if f.AskTimeout != nil {
		d, err := span(*f.AskTimeout)
		if err != nil || d < time.Second || d > time.Hour {
			return wrong("ask_timeout is %q, and must be from \"1s\" to \"1h\"", *f.AskTimeout)
		}
		p.Asking = d
	}
	if f.Superseded != nil {
		if p.KeepSuperseded, err = span(*f.Superseded); err != nil {
			return wrong("keep_superseded: %v", err)
		}
	}
	for name, text := range f.Fresh {
		class := evidence.Class(name)
		if _, ok := p.Classes[class]; !ok {
			return wrong("fresh has no class %s: REPORTED, INFERRED and VERIFIED", name)
		}
		if p.Classes[class], err = span(text); err != nil {
			return wrong("fresh.%s: %v", name, err)
		}
	}
	for name, text := range f.RootsFresh {
		kind := evidence.RootType(name)
		if _, ok := p.Roots[kind]; !ok {
			return wrong("roots_fresh has no type %s", name)
		}
		if p.Roots[kind], err = span(text); err != nil {
			return wrong("roots_fresh.%s: %v", name, err)
		}
	}
	if len(f.Instruments) > 256 || len(f.Acts) > 256 {
		return wrong("more than 256 instruments or acts")
	}
	for i := range f.Instruments {
		in := &f.Instruments[i]
		if err := in.prepare(); err != nil {
			return wrong("instrument %q: %v", in.ID, err)
		}
		for _, other := range f.Instruments[:i] {
			if why := in.clashes(&other); why != "" {
				return wrong("instruments %q and %q %s", other.ID, in.ID, why)
			}
		}
	}
	for i, a := range f.Acts {
		if a.Tool == "" || len(a.RestsOn) == 0 || len(a.RestsOn) > 16 {
			return wrong("an act needs a tool, and 1 to 16 statements that it rests on")
		}
		for _, s := range a.RestsOn {
			if err := checkTemplate(s); err != nil {
				return wrong("the act of %s rests on %q: %v", a.Tool, s, err)
			}
		}
		if slices.ContainsFunc(f.Acts[:i], func(other Act) bool { return other.Tool == a.Tool }) {
			return wrong("the act of %s is there twice", a.Tool)
		}
	}
	p.Instruments, p.Acts = f.Instruments, f.Acts
	return p, nil
}

// span reads a duration; days may be written too, and "never" is 0.
func span(text string) (time.Duration, error) {
	if text == "never" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("%q is no duration such as \"90s\", \"1h\", \"30d\" or \"never\"", text)
	}
	return d, nil
}
