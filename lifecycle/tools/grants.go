package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Grant is one thing that a life may do: a verb that the manifest grants.
type Grant struct {
	// Capability is a kind ("read"), which covers all tools of it, or a kind and a name
	// ("read.cpu_temperature").
	Capability string `toml:"capability"`
	// Within narrows the arguments: a schema that they must fit beside the tool's own.
	// The zero value does not narrow.
	Within Schema `toml:"within"`
}

// Grants are what a life may do. The zero value is nothing. They are a value: Shrink
// and Without give another one, which never allows what this one does not.
type Grants struct {
	// layers must all allow a call; within a layer one grant is enough.
	layers  [][]grant
	revoked []string
}

type grant struct {
	capability string
	narrow     *compiled
}

// NewGrants makes the grants that a life begins with. Error: Faults, with all of them.
func NewGrants(list []Grant) (Grants, error) {
	layer, faults := ready(list)
	if len(faults) > 0 {
		return Grants{}, faults
	}
	return Grants{layers: [][]grant{layer}}, nil
}

// Shrink keeps of the grants what is in the list too. Error: Faults.
func (g Grants) Shrink(list []Grant) (Grants, error) {
	layer, faults := ready(list)
	if len(faults) > 0 {
		return Grants{}, faults
	}
	if len(g.layers) == 0 {
		return g, nil // nothing shrinks to nothing
	}
	return Grants{layers: append(slices.Clip(g.layers), layer), revoked: g.revoked}, nil
}

// Without takes a capability away: a kind, or one tool.
func (g Grants) Without(capability string) Grants {
	return Grants{layers: g.layers, revoked: append(slices.Clip(g.revoked), capability)}
}

// Check tells of grants that cover no tool of a set, or narrow an argument that no such
// tool has: nil, or Faults.
func (g Grants) Check(set *Set) error {
	var faults Faults
	for _, layer := range g.layers {
		for _, one := range layer {
			covered, known := false, map[string]bool{}
			for _, name := range set.Names() {
				if t := set.tools[name]; covers(one.capability, t) {
					covered = true
					for _, argument := range t.schema.names() {
						known[argument] = true
					}
				}
			}
			label := fmt.Sprintf("grant %q", clipped(one.capability))
			if !covered {
				faults = append(faults, Fault{Tool: label, What: "it covers no tool", Mend: "declare the tool, or remove the grant"})
				continue
			}
			if one.narrow == nil {
				continue
			}
			for _, argument := range one.narrow.names() {
				if !known[argument] {
					faults = append(faults, Fault{Tool: label, Where: "within", What: fmt.Sprintf("no tool that it covers has the argument %q", argument), Mend: "correct the name, so that it narrows something"})
				}
			}
		}
	}
	return faults.orNil()
}

func ready(list []Grant) ([]grant, Faults) {
	var faults Faults
	out := make([]grant, 0, len(list))
	for _, g := range list {
		label := fmt.Sprintf("grant %q", clipped(g.Capability))
		kind, name, one := strings.Cut(g.Capability, ".")
		if !slices.Contains([]string{KindExec, KindHTTP, KindMQTT, KindRead}, kind) || one && !nameForm.MatchString(name) {
			faults = append(faults, Fault{Tool: label, What: "there is no such capability", Mend: "write exec, http, mqtt or read, or one of these, a dot and the name of a tool"})
		}
		made := grant{capability: g.Capability}
		if g.Within.given != nil || g.Within.err != nil {
			made.narrow = g.Within.compile(false, func(where, what, mend string) {
				faults = append(faults, Fault{Tool: label, Where: strings.TrimSuffix("within."+where, "."), What: what, Mend: mend})
			})
		}
		out = append(out, made)
	}
	return out, faults
}

func covers(capability string, t *tool) bool {
	return capability == t.kind || capability == t.capability()
}

// allow tells whether a tool is granted, and what keeps the arguments out of the grant.
// With nil arguments it looks at the capability alone.
func (g Grants) allow(t *tool, arguments map[string]any) (granted bool, outside []misfit) {
	if len(g.layers) == 0 || slices.ContainsFunc(g.revoked, func(c string) bool { return covers(c, t) }) {
		return false, nil
	}
	for _, layer := range g.layers {
		here, fits := false, false
		var wrong []misfit
		for _, one := range layer {
			if !covers(one.capability, t) {
				continue
			}
			here = true
			if arguments == nil || one.narrow == nil {
				fits = true
				continue
			}
			misfits := one.narrow.validate(arguments)
			fits = fits || len(misfits) == 0
			wrong = append(wrong, misfits...)
		}
		if !here {
			return false, nil
		}
		if !fits {
			outside = append(outside, wrong...)
		}
	}
	return true, outside
}
