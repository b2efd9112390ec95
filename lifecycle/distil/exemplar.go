package distil

import (
	"slices"

	"github.com/jivad/jivad/soul/lineage"
)

// Exemplar is the one example of a choice that a rule is taken from: of a tool and an
// argument the value that worked, or failed; of a tool without arguments that it was
// called; or what the person said.
type Exemplar struct {
	// Ref names it, from 1; Key is that of its rule, Scope what the rule is about, as the
	// part of its guidance before the colon.
	Ref   int
	Key   string
	Scope string
	Tool  string
	// Argument and Value are empty where the choice is another one.
	Argument string
	Value    string
	// Choice is what its sentence names first behind the colon; empty where that may not
	// be said.
	Choice string
	// Tries counts how often it was tried, Hits how often that came out as the rule tells.
	Tries, Hits int
	// choice is what the rules say of it, other what they say instead where that leaks;
	// empty where they say nothing.
	choice, other string
	// declared is how many words of "scope: choice" the person declared, all for -1.
	declared int
	// simple tells that the value can be named at all, allowed that it was declared.
	simple, allowed bool
	acts            []int
}

// Confidence is the exemplar's own record in millionths, never 0.
func (e Exemplar) Confidence() int64 {
	return max(1, int64(e.Hits)*lineage.Million/int64(e.Tries))
}

// Tool is what the manifest declares of a tool, as far as rules may name it.
type Tool struct {
	// Arguments are the names of its arguments, each with the values that its schema
	// names; none where it takes any.
	Arguments map[string][]string
}

// record is how a value of an argument did.
type record struct {
	value              string
	tries, ok          int
	lastOK, lastFailed int
	acts               []int
	simple, declared   bool
}

func (r record) hits(worked bool) int {
	if worked {
		return r.ok
	}
	return r.tries - r.ok
}

func (r record) last(worked bool) int {
	if worked {
		return r.lastOK
	}
	return r.lastFailed
}

// better orders by the share of hits, then the later one.
func (r record) better(other record, worked bool) bool {
	a, b := r.hits(worked)*other.tries, other.hits(worked)*r.tries
	if a != b {
		return a > b
	}
	return r.last(worked) > other.last(worked)
}

// life is a trace as the rules look at it.
type life struct {
	acts   []Act
	tools  map[string]Tool
	worked bool // whether what worked is looked for, or what failed
	// order are the tools in the order in which they were first called, args their
	// arguments, records the values of those.
	order   []string
	args    map[string][]string
	records map[string]map[string][]record
}

// look gathers the records of the acts that may be spoken of.
func look(acts []Act, tools map[string]Tool, worked bool, r *Report, consents func(Act) bool) *life {
	l := &life{acts: acts, tools: tools, worked: worked, args: map[string][]string{}, records: map[string]map[string][]record{}}
	for i, a := range acts {
		if consents != nil && !consents(a) {
			if a.Kind != Told {
				r.Withheld++
			}
			l.acts = slices.Clone(l.acts)
			l.acts[i] = Act{} // of no kind: nothing is taken from it
			continue
		}
		if a.Kind != Call {
			continue
		}
		if _, known := tools[a.Tool]; tools != nil && !known {
			r.Undeclared++
			continue
		}
		if l.records[a.Tool] == nil {
			l.records[a.Tool] = map[string][]record{}
			l.order = append(l.order, a.Tool)
		}
		for _, arg := range a.Arguments {
			if l.declares(a.Tool, arg.Name) {
				l.note(i, a, arg)
			}
		}
	}
	return l
}

func (l *life) declares(tool, arg string) bool {
	_, known := l.tools[tool].Arguments[arg]
	return known || l.tools == nil
}

func (l *life) note(i int, a Act, arg Argument) {
	if !slices.Contains(l.args[a.Tool], arg.Name) {
		l.args[a.Tool] = append(l.args[a.Tool], arg.Name)
	}
	value, simple := plainValue(arg.Value)
	known := l.records[a.Tool][arg.Name]
	at := slices.IndexFunc(known, func(r record) bool { return r.value == value && r.simple == simple })
	if at < 0 {
		at = len(known)
		known = append(known, record{
			value: value, simple: simple, lastOK: -1, lastFailed: -1,
			declared: slices.Contains(l.tools[a.Tool].Arguments[arg.Name], value),
		})
	}
	r := &known[at]
	r.tries++
	r.acts = append(r.acts, i)
	if a.Outcome == OK {
		r.ok++
		r.lastOK = i
	} else {
		r.lastFailed = i
	}
	l.records[a.Tool][arg.Name] = known
}

// alone tells whether a tool has one argument: by its declaration, so that its rule has
// one key in every life, or by how it was called where it has none.
func (l *life) alone(tool string) bool {
	if t, declared := l.tools[tool]; declared {
		return len(t.Arguments) == 1
	}
	return len(l.args[tool]) == 1
}

// choices gives the exemplars of tools and arguments, and of tools without arguments.
func (l *life) choices() (out []Exemplar) {
	for _, tool := range l.order {
		for _, arg := range l.args[tool] {
			if e, found := l.choice(tool, arg); found {
				out = append(out, e)
			}
		}
		if e, found := l.opening(tool); found {
			out = append(out, e)
		}
	}
	return out
}

// choice is the exemplar of an argument. Of one among several it is told only where it
// mattered for all that is known: the values did not do alike, or its own is declared.
func (l *life) choice(tool, arg string) (e Exemplar, found bool) {
	records := l.records[tool][arg]
	best := -1
	alike := true
	for i, r := range records {
		alike = alike && r.ok*records[0].tries == records[0].ok*r.tries
		if r.hits(l.worked) > 0 && (best < 0 || r.better(records[best], l.worked)) {
			best = i
		}
	}
	if best < 0 {
		return e, false
	}
	r := records[best]
	key := "tool." + lineage.KeyPart(tool)
	if !l.alone(tool) {
		if alike && !r.declared {
			return e, false
		}
		key += "." + lineage.KeyPart(arg)
	}
	e = Exemplar{
		Key: key, Scope: "tool " + tool + ", argument " + arg, Tool: tool, Argument: arg, Value: r.value,
		Tries: r.tries, Hits: r.hits(l.worked), choice: r.value, simple: r.simple, allowed: r.declared, acts: r.acts,
	}
	var others []string
	for _, r := range records {
		if r.hits(l.worked) == 0 {
			others = append(others, r.value)
		}
	}
	if r.simple {
		e.other = shapeOf(r.value, others)
	}
	if l.tools != nil {
		if e.declared = len(words(e.Scope)); r.declared {
			e.declared = -1
		}
	}
	return e, true
}

// opening is the exemplar of a tool without arguments that was useful: what it gave back
// held the value with which another tool worked later. Only what worked shows that; that
// it failed says nothing of when to call it.
func (l *life) opening(tool string) (e Exemplar, found bool) {
	if len(l.args[tool]) > 0 || len(l.tools[tool].Arguments) > 0 || !l.worked {
		return e, false
	}
	var acts []int
	var given [][]uint64
	ok, next := 0, ""
	for i, a := range l.acts {
		if a.Kind != Call {
			continue
		}
		switch {
		case a.Tool == tool:
			acts = append(acts, i)
			if a.Outcome == OK {
				ok++
				given = append(given, hashes(parts(words(a.Result), nil)))
			}
		case next == "" && a.Outcome == OK && l.records[a.Tool] != nil && usedOf(given, a.Arguments):
			next = a.Tool
		}
	}
	if next == "" {
		return e, false
	}
	e = Exemplar{
		Key: "tool." + lineage.KeyPart(tool), Scope: "tool " + tool + ", when to call it", Tool: tool, Tries: len(acts), Hits: ok,
		choice: "before the first " + next + " call", simple: true, acts: acts,
	}
	if l.tools != nil {
		e.declared = -1
	}
	return e, true
}

// usedOf tells whether a text among the arguments stands in one of the results, which are given by their words.
func usedOf(results [][]uint64, args Arguments) bool {
	for _, arg := range args {
		value, simple := plainValue(arg.Value)
		want := hashes(parts(words(value), nil))
		if !simple || arg.Value[0] != '"' || len([]rune(value)) < 2 || len(want) == 0 {
			continue
		}
		if slices.ContainsFunc(results, func(result []uint64) bool { return contains(result, want) }) {
			return true
		}
	}
	return false
}
