package lives

import "slices"

// State is where a life is in its course.
type State string

// The states.
const (
	// Avyakrta is before anything took form: what was wanted could not be born.
	Avyakrta State = "avyakrta"
	// Conceived: it is decided on, and what it declares is being looked for.
	Conceived State = "conceived"
	// Ready: everything that it declares is there. Nothing is acquired from here on.
	Ready State = "ready"
	// Active: it has done or met something.
	Active State = "active"
	// Withdrawn: it does nothing any more, and is to be distilled.
	Withdrawn State = "withdrawn"
	// Quarantined: its distillation failed too often; nobody is born from its pin.
	Quarantined State = "quarantined"
	// Dissolved: nothing is left of it but what it was distilled to.
	Dissolved State = "dissolved"
)

// States are all of them, in the order of a life.
func States() []State {
	return []State{Avyakrta, Conceived, Ready, Active, Withdrawn, Quarantined, Dissolved}
}

// Edge is one step that a life may take, and the invariant that guards it; the latter
// is empty where none does.
type Edge struct {
	From, To State
	Guard    Invariant
}

// edges are the only ones.
var edges = []Edge{
	{Avyakrta, Conceived, ""},
	{Conceived, Ready, J1},
	{Conceived, Avyakrta, J1},
	{Ready, Active, J2},
	{Active, Withdrawn, J3},
	{Withdrawn, Dissolved, J4},
	{Withdrawn, Quarantined, J4},
	{Quarantined, Dissolved, J4},
}

// Edges are the steps that there are.
func Edges() []Edge { return slices.Clone(edges) }

// may tells whether there is an edge.
func may(from, to State) bool {
	return slices.ContainsFunc(edges, func(e Edge) bool { return e.From == from && e.To == to })
}

// Over tells of a state in which nothing is done for a life any more.
func (s State) Over() bool { return s == Dissolved || s == Avyakrta }

// Living tells of a state in which a life can act.
func (s State) Living() bool { return s == Ready || s == Active }
