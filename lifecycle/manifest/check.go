package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/tools"
)

// Check tells everything that is wrong with a manifest and can be told without the
// machine: nil, or an [*Error].
func (m Manifest) Check() error {
	found := m.faults()
	if len(found) == 0 {
		return nil
	}
	e := &Error{}
	for _, f := range found {
		e.Faults = append(e.Faults, f.Fault)
	}
	return e
}

// spot is a fault with the place that it is at: the key of the table of keys and, where
// that is a list of tables, which one of it, from 1; 0 where none can be told.
type spot struct {
	Fault
	key   string
	place int
	under string // what it is about below the key, where that is a table
	// what and mend are those of a fault of tools and grants.
	what, mend string
}

// faults are all that is wrong: with the values, in the order of the keys, with tools and
// with grants.
func (m Manifest) faults() []spot {
	return slices.Concat(m.valueFaults(), m.toolFaults(), m.grantFaults())
}

func (m Manifest) valueFaults() []spot {
	var out []spot
	for _, k := range keys() {
		if k.check == nil {
			continue
		}
		if want := k.check(m); want != "" {
			f := Fault{Key: k.name, Text: "it must be " + want}
			if text, isText := k.field(&m).(*string); isText && !k.private {
				f.Value = shown(*text)
			} else if !k.private {
				f.Value = show(k.field(&m))
			}
			out = append(out, spot{Fault: f, key: k.name})
		}
	}
	return slices.Concat(out, m.consentFaults(), m.nameFaults(), m.signalFaults())
}

func (m Manifest) consentFaults() []spot {
	var out []spot
	if len(m.Consent) > MostConsent {
		return []spot{many(keyConsent, len(m.Consent), MostConsent)}
	}
	for i, s := range m.Consent {
		if len(s.Cells()) == 0 {
			out = append(out, spot{Fault: Fault{Key: item(keyConsent, i), Text: "it names no place in the grid of consent"}, key: keyConsent})
		}
	}
	return out
}

func (m Manifest) nameFaults() []spot {
	names := m.Distillation.Names
	if len(names) > MostNames {
		return []spot{many(keyNames, len(names), MostNames)}
	}
	var out []spot
	for i, name := range names {
		want := ""
		switch {
		case strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > NameRunes || !plain(name) || strings.ContainsAny(name, "\n\t"):
			want = fmt.Sprintf("it must be a name of 1 to %d letters in one line", NameRunes)
		case !distil.NamesOf([]string{name}).Finds(name):
			want = "it is too short to be told from other words: write at least three letters of one word"
		default:
			continue
		}
		out = append(out, spot{Fault: Fault{Key: item(keyNames, i), Text: want}, key: keyNames})
	}
	return out
}

// signalFaults asks the satisfaction model about each signal, so that all are told.
func (m Manifest) signalFaults() []spot {
	var out []spot
	add := func(name string, err error) {
		if err != nil {
			text := strings.TrimPrefix(err.Error(), distil.ErrModel.Error()+": ")
			full := strings.TrimSuffix(keySignals+"."+shortened(name), ".")
			out = append(out, spot{Fault: Fault{Key: full, Text: text}, key: keySignals, under: name})
		}
	}
	signals := m.Distillation.Satisfaction.Signals
	for _, name := range slices.Sorted(maps.Keys(signals)) {
		_, err := distil.Models(nil).Append(distil.Weights{Signals: map[string]float64{name: signals[name]}})
		add(name, err)
	}
	if len(out) == 0 {
		_, err := distil.Models(nil).Append(distil.Weights{Signals: signals})
		add("", err) // their number
	}
	return out
}

func (m Manifest) toolFaults() []spot {
	var faults tools.Faults
	errors.As(tools.Check(m.Tools), &faults)
	places := map[string][]int{} // of the tools that a fault calls so
	for i, d := range m.Tools {
		label := fmt.Sprintf("tool %q", d.Name)
		if d.Name == "" {
			label = fmt.Sprintf("tool %d", i+1)
		}
		places[label] = append(places[label], i+1)
	}
	var out []spot
	for _, f := range faults {
		place := 0
		if len(places[f.Tool]) == 1 {
			place = places[f.Tool][0]
		}
		out = append(out, ofTools(f, keyTools, place))
	}
	return out
}

// grantFaults tells of grants that are none, cover no tool, or narrow an argument that
// none has. What only a tool with faults could tell is left until that has none.
func (m Manifest) grantFaults() []spot {
	if len(m.Grants) > MostGrants {
		return []spot{many(keyGrants, len(m.Grants), MostGrants)}
	}
	stand, doubtful := standIns(m.Tools)
	var out []spot
	for i, g := range m.Grants {
		kind, name, one := strings.Cut(g.Capability, ".")
		_, err := tools.NewGrants([]tools.Grant{g})
		unknown := slices.ContainsFunc(doubtful, func(d tools.Declaration) bool {
			return (!one || d.Name == name || d.Name == "") && (d.Kind() == kind || d.Kind() == "")
		})
		if err == nil && !unknown {
			stands := tools.Grant{Capability: tools.KindRead, Within: g.Within}
			if one {
				stands.Capability += "." + name
			}
			var grants tools.Grants
			if grants, err = tools.NewGrants([]tools.Grant{stands}); err == nil {
				err = grants.Check(stand[kind])
			}
		}
		var faults tools.Faults
		errors.As(err, &faults)
		for _, f := range faults {
			f.Tool = fmt.Sprintf("grant %q", shortened(g.Capability))
			out = append(out, ofTools(f, keyGrants, i+1))
		}
	}
	return out
}

// standIns makes, for each kind, a set of tools with the names and arguments of those of
// that kind, none of which needs anything of the machine: grants can be held against it
// where the tools themselves may not be resolved. Those that have faults are doubtful.
func standIns(declared []tools.Declaration) (map[string]*tools.Set, []tools.Declaration) {
	lists := map[string][]tools.Declaration{}
	var doubtful []tools.Declaration
	taken := map[string]bool{}
	for i, d := range declared {
		stand := tools.Declaration{
			Name: d.Name, Description: "stands in", Consequence: tools.Low, Arguments: d.Arguments,
			Read: &tools.Read{Root: "/", Path: "x", MayCome: true},
		}
		if d.Kind() == "" || taken[d.Name] || i >= tools.MostTools || tools.Check([]tools.Declaration{stand}) != nil {
			doubtful = append(doubtful, d)
			continue
		}
		taken[d.Name] = true
		lists[d.Kind()] = append(lists[d.Kind()], stand)
	}
	sets := map[string]*tools.Set{}
	for kind, list := range lists {
		set, err := tools.Resolve(list, tools.Surroundings{})
		if err != nil {
			doubtful = append(doubtful, list...) // cannot be: each was checked
		}
		sets[kind] = set
	}
	return sets, doubtful
}

func ofTools(f tools.Fault, key string, place int) spot {
	name := f.Tool
	if f.Where != "" {
		name += ", " + f.Where
	}
	return spot{Fault: Fault{Key: name, Text: f.What + "; " + f.Mend}, key: key, place: place, what: name + ": " + f.What, mend: f.Mend}
}

func many(key string, n, most int) spot {
	return spot{Fault: Fault{Key: key, Text: fmt.Sprintf("there are %d; write at most %d", n, most)}, key: key}
}

func item(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }
