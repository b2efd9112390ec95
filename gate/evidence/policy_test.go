package evidence

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const now = 1_800_000_000

var trusted = Moment{now, true}

// sound is a claim that bears everything.
func sound() *Claim {
	return &Claim{
		ID: "c1", Class: Verified, Text: "Pump 3 leaks at the seal.", Subject: "pump-3", Agent: "jivad", Consequence: High,
		Provenance: Provenance{Source: "diary", Event: "e1", Primary: "sensor:pump3/drip", Reasoning: "drops were counted"},
		Roots: []Root{
			{ID: SensorRoot("pump3/drip", now-60, 600), Type: Instrument, Observed: now - 60, Expires: now + 600, Retrieval: "mqtt field/pump3/drip"},
			{ID: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", Type: Human, Observed: now - 60, Expires: now + 600},
		},
		Created: now - 60, Expires: now + 600, Review: Review{By: Person, Decision: Cleared, At: now - 30},
	}
}

func inferred() *Claim {
	c := sound()
	c.Class = Inferred
	return c
}

func TestSoundClaims(t *testing.T) {
	p := Default()
	if r := p.Usable(sound(), trusted); len(r) > 0 {
		t.Errorf("%+v", r)
	}
	if r := p.Promotable(inferred(), trusted); len(r) > 0 {
		t.Errorf("%+v", r)
	}
	if d := p.Gate(Act{"shut the valve", High, true, true}, []*Claim{sound()}, trusted); d.Verdict != Allow || len(d.Reasons) > 0 {
		t.Errorf("%+v", d)
	}
	if d := p.Gate(Act{"shut the valve", High, true, false}, []*Claim{sound()}, trusted); d.Verdict != Audit || !d.Ask || !slices.Equal(Codes(d.Reasons), []Code{NeedsPerson}) {
		t.Errorf("%+v", d)
	}
	if err := sound().Check(); err != nil {
		t.Error(err)
	}
}

// Both kinds of staleness are told together, and each for itself.
func TestStale(t *testing.T) {
	p := Default()
	c := inferred()
	c.Roots[1].Expires = now
	if got := Codes(p.Promotable(c, trusted)); !slices.Equal(got, []Code{StaleRoot}) {
		t.Errorf("%v", got)
	}
	c.Expires = now - 1
	if got := Codes(p.Promotable(c, trusted)); !slices.Equal(got, []Code{StaleRoot, StaleRecord}) {
		t.Errorf("%v", got)
	}
	c = inferred()
	c.Expires = now
	if got := Codes(p.Promotable(c, trusted)); !slices.Equal(got, []Code{StaleRecord}) {
		t.Errorf("%v", got)
	}
	// One that counts as no evidence may be as old as it likes.
	c = inferred()
	c.Roots = append(c.Roots, Root{ID: "what I remember", Type: AgentMemory, Expires: 1})
	if got := Codes(p.Promotable(c, trusted)); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// With a clock that cannot be trusted whatever could have expired has, wherever the clock
// stands.
func TestUntrustedClock(t *testing.T) {
	p := Default()
	for _, at := range []int64{0, now - 1_000_000_000, now, now + 1} {
		got := Codes(p.Promotable(inferred(), Moment{at, false}))
		if !slices.Equal(got, []Code{StaleRoot, StaleRoot, StaleRecord, ClockUntrusted}) {
			t.Errorf("at %d: %v", at, got)
		}
		if d := p.Gate(Act{"a", High, true, true}, []*Claim{sound()}, Moment{at, false}); d.Verdict != Audit {
			t.Errorf("at %d: %+v", at, d)
		}
	}
}

// What counts is how many things were seen, and not how often or by how many.
func TestSources(t *testing.T) {
	roots := func(ids ...string) (out []Root) {
		for _, id := range ids {
			out = append(out, Root{ID: id, Type: Repository})
		}
		return out
	}
	one := sound().Roots[0]
	var ten []Root
	for agent := range 10 {
		r := one
		r.Agent = string(rune('a' + agent))
		ten = append(ten, r)
	}
	window := []Root{
		{ID: SensorRoot("s", now, 600), Type: Instrument, Agent: "a"}, {ID: SensorRoot("s", now+599, 600), Type: Instrument, Agent: "b"},
	}
	const sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
	for name, c := range map[string]struct {
		roots []Root
		want  int
	}{
		"nothing":                     {nil, 0},
		"three aliases":               {roots("o/r@"+sha, "https://github.com/o/r/commit/"+sha, "github:artifact:o/r@"+sha), 1},
		"ten agents of one thing":     {ten, 1},
		"one window of one sensor":    {window, 1},
		"memory of agents":            {[]Root{{ID: "a", Type: AgentMemory}, {ID: "b", Type: AgentMemory}}, 0},
		"summaries and a signature":   {[]Root{{ID: "a", Type: Summary}, {ID: "b", Type: ReviewerSigns}}, 0},
		"of two kinds, one thing":     {[]Root{{ID: "sensor:s", Type: Instrument}, {ID: "sensor:s", Type: Attested}}, 1},
		"two things":                  {roots("o/r@"+sha, "f/r@"+sha), 2},
		"no type at all":              {[]Root{{ID: "a"}, {ID: "b", Type: "gospel"}}, 0},
		"one thing and its retelling": {append(roots("o/r@"+sha), Root{ID: "elsewhere", Type: Summary}), 1},
	} {
		claim := Claim{Roots: c.roots}
		if got := claim.Sources(); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
	c := Claim{Previous: []string{"c0"}, Roots: []Root{{ID: "c0", Type: AgentMemory}}}
	if !c.SelfReferential() {
		t.Error("a claim that cites claims alone is not self-referential")
	}
	c.Roots = roots("o/r@" + sha)
	if c.SelfReferential() {
		t.Error("one with evidence is")
	}
}

// Each thing that is asked of a promotion is asked for by itself, and all are told at once.
func TestPromotable(t *testing.T) {
	p := Default()
	broken := map[Code]func(c *Claim){
		NotInferred:   func(c *Claim) { c.Class = Reported },
		NoProvenance:  func(c *Claim) { c.Provenance.Primary = "" },
		Conflicted:    func(c *Claim) { c.Conflicts = []string{"c9"} },
		TooFewSources: func(c *Claim) { c.Roots = c.Roots[:1] },
		StaleRecord:   func(c *Claim) { c.Expires = 1 },
		StaleRoot:     func(c *Claim) { c.Roots[0].Expires = 1 },
	}
	all := inferred()
	for code, breaks := range broken {
		c := inferred()
		breaks(c)
		if got := Codes(p.Promotable(c, trusted)); !slices.Equal(got, []Code{code}) {
			t.Errorf("%s: %v", code, got)
		}
		breaks(all)
	}
	if got := p.Promotable(all, trusted); len(got) != len(broken) {
		t.Errorf("%d of %d reasons: %+v", len(got), len(broken), got)
	}
	c := inferred()
	c.Previous, c.Roots = []string{"c0"}, nil
	if got := Codes(p.Promotable(c, trusted)); !slices.Contains(got, Laundered) {
		t.Errorf("%v", got)
	}
	for _, class := range Classes() {
		c := inferred()
		c.Class = class
		if got := Codes(p.Promotable(c, trusted)); slices.Contains(got, NotInferred) == (class == Inferred) {
			t.Errorf("%s: %v", class, got)
		}
	}
}

// drawn is any claim.
func drawn(t *rapid.T, name string) *Claim {
	c := sound()
	c.ID = name
	c.Class = rapid.SampledFrom(Classes()).Draw(t, name+".class")
	if rapid.Bool().Draw(t, name+".stale") {
		c.Expires = rapid.Int64Range(1, 2*now).Draw(t, name+".expires")
	}
	if rapid.Bool().Draw(t, name+".conflict") {
		c.Conflicts = []string{"x"}
	}
	if rapid.Bool().Draw(t, name+".provenance") {
		c.Provenance = Provenance{Source: rapid.SampledFrom([]string{"", "s"}).Draw(t, "s"), Primary: rapid.SampledFrom([]string{"", "p"}).Draw(t, "p"), Reasoning: rapid.SampledFrom([]string{"", "r"}).Draw(t, "r")}
	}
	if rapid.Bool().Draw(t, name+".roots") {
		c.Roots = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Root {
			return Root{
				ID: rapid.SampledFrom([]string{"sensor:a", "sensor:b", "o/r@9f86d08", "x"}).Draw(t, "id"), Type: rapid.SampledFrom(RootTypes()).Draw(t, "type"),
				Expires: rapid.SampledFrom([]int64{0, 1, now, now + 1}).Draw(t, "ends"), Retrieval: rapid.SampledFrom([]string{"", "look"}).Draw(t, "how"),
			}
		}), 0, 4).Draw(t, name+".rootlist")
	}
	if rapid.Bool().Draw(t, name+".review") {
		c.Review = Review{By: rapid.SampledFrom([]string{Person, "jivad", ""}).Draw(t, "by"), Decision: rapid.SampledFrom(Triggers()).Draw(t, "decision")}
	}
	if rapid.Bool().Draw(t, name+".previous") {
		c.Previous = []string{"c0"}
	}
	return c
}

// Of high consequence nothing is allowed unless all eight conditions hold, said here in
// other words; and where they do it is.
func TestHighConsequence(t *testing.T) {
	p := Default()
	allowed := 0
	rapid.Check(t, func(t *rapid.T) {
		var claims []*Claim
		for i := range rapid.IntRange(0, 3).Draw(t, "claims") {
			claims = append(claims, drawn(t, string(rune('a'+i))))
		}
		act := Act{"act", High, rapid.IntRange(0, 3).Draw(t, "authorised") > 0, rapid.IntRange(0, 3).Draw(t, "yes") > 0}
		at := Moment{now, rapid.IntRange(0, 9).Draw(t, "trusted") > 0}
		fresh := func(ends int64) bool { return ends == 0 || at.Trusted && at.Unix < ends }
		holds := []bool{len(claims) > 0, true, true, true, act.Authorised, true, true, act.Yes}
		for _, c := range claims {
			seen, again := map[string]bool{}, false
			isFresh := c.Class == Verified && fresh(c.Expires)
			for _, r := range c.Roots {
				switch r.Type {
				case AgentMemory, Summary, ReviewerSigns:
					continue
				}
				isFresh = isFresh && fresh(r.Expires)
				seen[CanonicalRoot(r.ID)] = true
				again = again || r.Retrieval != ""
			}
			holds[1] = holds[1] && isFresh && len(seen) >= 2
			holds[2] = holds[2] && again
			holds[3] = holds[3] && c.Provenance.Source != "" && c.Provenance.Primary != "" && c.Provenance.Reasoning != ""
			holds[5] = holds[5] && len(c.Conflicts) == 0
			holds[6] = holds[6] && c.Review.Decision == "CLEAR" && c.Review.By == "person"
		}
		all := !slices.Contains(holds, false)
		d := p.Gate(act, claims, at)
		if (d.Verdict == Allow) != all {
			t.Fatalf("%v, and the gate says %+v", holds, d)
		}
		if (len(d.Reasons) == 0) != (d.Verdict == Allow) {
			t.Fatalf("%+v", d)
		}
		if all {
			allowed++
		}
	})
	t.Logf("%d allowed", allowed)
}

// Each of the eight conditions is one of its own: an act of which all hold is allowed, and
// with any one of them broken, in each way that there is, it is not.
func TestEachOfTheEightConditions(t *testing.T) {
	p := Default()
	act := Act{"shut the valve", High, true, true}
	if d := p.Gate(act, []*Claim{sound(), sound()}, trusted); d.Verdict != Allow {
		t.Fatalf("%+v", d)
	}
	for name, c := range map[string]struct {
		breaks func(*Claim)
		want   Code
	}{
		"not verified":             {func(c *Claim) { c.Class = Inferred }, NotVerified},
		"stale":                    {func(c *Claim) { c.Class = Stale }, NotCurrent},
		"its time is over":         {func(c *Claim) { c.Expires = now }, StaleRecord},
		"a source's time is over":  {func(c *Claim) { c.Roots[1].Expires = now }, StaleRoot},
		"one source":               {func(c *Claim) { c.Roots = c.Roots[:1] }, TooFewSources},
		"nothing can be looked at": {func(c *Claim) { c.Roots[0].Retrieval = "" }, Irretrievable},
		"only a memory can": {func(c *Claim) {
			c.Roots[0].Retrieval = ""
			c.Roots = append(c.Roots, Root{ID: "m", Type: AgentMemory, Retrieval: "x"})
		}, Irretrievable},
		"nobody said it":          {func(c *Claim) { c.Provenance.Source = "" }, NoProvenance},
		"no primary source":       {func(c *Claim) { c.Provenance.Primary = "" }, NoProvenance},
		"no reasoning":            {func(c *Claim) { c.Provenance.Reasoning = "" }, NoProvenance},
		"contested":               {func(c *Claim) { c.Conflicts = []string{"x"} }, Conflicted},
		"not reviewed":            {func(c *Claim) { c.Review = Review{} }, NotCleared},
		"held":                    {func(c *Claim) { c.Review.Decision = Held }, NotCleared},
		"reviewed by no reviewer": {func(c *Claim) { c.Review.By = "jivad" }, NotCleared},
	} {
		broken := sound()
		c.breaks(broken)
		for _, claims := range [][]*Claim{{broken}, {sound(), broken}, {broken, sound()}} {
			if d := p.Gate(act, claims, trusted); d.Verdict != Audit || d.Ask || !slices.Contains(Codes(d.Reasons), c.want) {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
	for name, a := range map[string]Act{"not authorised": {"a", High, false, true}, "no yes": {"a", High, true, false}} {
		if d := p.Gate(a, []*Claim{sound()}, trusted); d.Verdict != Audit {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := p.Gate(act, nil, trusted); d.Verdict != Audit {
		t.Errorf("%+v", d)
	}
	if d := p.Gate(act, []*Claim{sound()}, Moment{now, false}); d.Verdict != Audit {
		t.Errorf("%+v", d)
	}
}

// Nothing that rests on the session alone is ever allowed at high consequence.
func TestSessionContextAlone(t *testing.T) {
	for _, authorised := range []bool{false, true} {
		for _, yes := range []bool{false, true} {
			for _, clock := range []bool{false, true} {
				for _, ask := range [][]Consequence{nil, {High}, {Low, Medium, High}} {
					p := Default()
					p.AskFor, p.Sources = ask, 0
					d := p.Gate(Act{"a", High, authorised, yes}, nil, Moment{now, clock})
					if d.Verdict != Audit || !slices.Contains(Codes(d.Reasons), ContextAlone) || d.Ask {
						t.Errorf("%+v", d)
					}
				}
			}
		}
	}
}

func TestOtherConsequences(t *testing.T) {
	p := Default()
	for name, c := range map[string]struct {
		act    Act
		claims []*Claim
		want   []Code
	}{
		"low":                          {Act{"a", Low, true, false}, nil, nil},
		"low, not authorised":          {Act{"a", Low, false, false}, nil, []Code{NotAuthorised}},
		"medium on the session":        {Act{"a", Medium, true, false}, nil, nil},
		"medium on a sound claim":      {Act{"a", Medium, true, false}, []*Claim{sound()}, nil},
		"medium on a report":           {Act{"a", Medium, true, false}, []*Claim{{ID: "r", Class: Reported}}, nil},
		"medium on a stale one":        {Act{"a", Medium, true, false}, []*Claim{{ID: "r", Class: Stale}}, []Code{NotCurrent}},
		"medium on one in quarantine":  {Act{"a", Medium, true, false}, []*Claim{{ID: "r", Class: Quarantined, Conflicts: []string{"x"}}}, []Code{NotCurrent, Conflicted}},
		"medium on a chain of claims":  {Act{"a", Medium, true, false}, []*Claim{{ID: "r", Class: Inferred, Previous: []string{"x"}}}, []Code{Laundered}},
		"nobody said what could come":  {Act{"a", "", true, false}, nil, []Code{UnknownConsequence}},
		"verified on too little since": {Act{"a", Medium, true, false}, []*Claim{{ID: "r", Class: Verified}}, []Code{TooFewSources}},
	} {
		d := p.Gate(c.act, c.claims, trusted)
		if !slices.Equal(Codes(d.Reasons), c.want) || (d.Verdict == Allow) != (len(c.want) == 0) {
			t.Errorf("%s: %+v", name, d)
		}
		for _, r := range d.Reasons {
			if r.Says == "" {
				t.Errorf("%s: %s says nothing", name, r.Code)
			}
		}
	}
}

// What counts is what was seen, in however many windows, by however many, under whatever name.
func TestSourcesAreThings(t *testing.T) {
	ten := make([]Root, 10)
	for i := range ten {
		ten[i] = Root{ID: SensorRoot("pump3/drip", now, 600), Type: Instrument, Agent: string(rune('a' + i))}
	}
	for name, c := range map[string]struct {
		roots []Root
		want  int
	}{
		"nothing":                      {nil, 0},
		"ten agents, one observation":  {ten, 1},
		"one instrument, two windows":  {[]Root{{ID: SensorRoot("a", 0, 60), Type: Instrument}, {ID: SensorRoot("a", 60, 60), Type: Instrument}, {ID: "Sensor: a", Type: Instrument}}, 1},
		"one instrument, odd names":    {[]Root{{ID: "sensor:leak-3", Type: Instrument}, {ID: "sensor:Leak-3#", Type: Instrument}, {ID: "sensor: leak-3 # 1+600", Type: Instrument}, {ID: "sensor:leak-3\u034f\ufe0f#1+1#1+1", Type: Instrument}}, 1},
		"one thing in words":           {[]Root{{ID: "the seal of pump 3", Type: Human}, {ID: "The seal of  pump 3.", Type: Human}}, 1},
		"a page with and without http": {[]Root{{ID: "https://example.org/manual", Type: External}, {ID: "www.example.org/manual", Type: External}}, 1},
		"two instruments, one window":  {[]Root{{ID: SensorRoot("a", 0, 60), Type: Instrument}, {ID: SensorRoot("b", 0, 60), Type: Instrument}}, 2},
		"two devices on one topic":     {[]Root{{ID: TopicRoot("t", "a", 0, 60), Type: Instrument}, {ID: TopicRoot("t", "b", 60, 60), Type: Instrument}}, 2},
		"memory, summary, signature":   {[]Root{{ID: "a", Type: AgentMemory}, {ID: "b", Type: Summary}, {ID: "c", Type: ReviewerSigns}}, 0},
		"memory beside one that seen":  {[]Root{{ID: "a", Type: AgentMemory}, {ID: "b", Type: External}}, 1},
		"one thing as different kinds": {[]Root{{ID: "sha256:" + zeros, Type: Human}, {ID: "SHA256-" + zeros, Type: External}}, 1},
	} {
		claim := Claim{Roots: c.roots}
		if got := claim.Sources(); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// What was rejected comes back with a source that it was not rejected with, and not else.
func TestReopenable(t *testing.T) {
	p, c := Default(), sound()
	c.Class, c.Refuted = Rejected, c.SourceKeys()
	if got := Codes(p.Reopenable(c)); !slices.Equal(got, []Code{NoNewEvidence}) {
		t.Errorf("%v", got)
	}
	c.Roots = append(c.Roots, Root{ID: SensorRoot("pump3/drip", now+6000, 600), Type: Instrument}, Root{ID: "x", Type: AgentMemory})
	if got := Codes(p.Reopenable(c)); !slices.Equal(got, []Code{NoNewEvidence}) {
		t.Errorf("the same instrument again, and memory: %v", got)
	}
	c.Roots = append(c.Roots, Root{ID: "sensor:other", Type: Instrument})
	if got := p.Reopenable(c); len(got) > 0 {
		t.Errorf("%v", got)
	}
	c.Class = Stale
	if got := Codes(p.Reopenable(c)); !slices.Equal(got, []Code{NotRejected}) {
		t.Errorf("%v", got)
	}
}
