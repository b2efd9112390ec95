package consent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/soul/lineage"
)

// Loss is a cell whose answer became less.
type Loss struct {
	Cell
	From Answer `json:"from"`
	To   Answer `json:"to"`
}

// String is CATEGORY.USE: FROM → TO.
func (l Loss) String() string { return fmt.Sprintf("%s: %s → %s", l.Cell, l.From, l.To) }

// Withdrawn is what a change takes away: the cells that went from allow to less, in the
// order of the grid.
func Withdrawn(before, after Grid) []Loss {
	return losses(before, after, func(from, to Answer) bool { return from == Allow && to < Allow })
}

// Closed is what a change shuts that was asked each time: the cells that went from ask
// to deny. What the person said yes to, once, is there, and is to go as well.
func Closed(before, after Grid) []Loss {
	return losses(before, after, func(from, to Answer) bool { return from == Ask && to == Deny })
}

func losses(before, after Grid, is func(from, to Answer) bool) []Loss {
	out := []Loss{}
	for _, c := range Cells() {
		if from, to := before.Answer(c.Category, c.Dimension), after.Answer(c.Category, c.Dimension); is(from, to) {
			out = append(out, Loss{c, from, to})
		}
	}
	return out
}

// Plan is what is to be done for a change, at once. The lists of categories are in the
// order of the grid, each once.
type Plan struct {
	Withdrawn []Loss `json:"withdrawn"`
	Closed    []Loss `json:"closed"`
	// Purge: storage is denied now, so every text of the category is destroyed.
	Purge []Category `json:"purge"`
	// Confirm: storage was allowed and is asked now. What is there was kept by leave, so
	// the person is asked whether it stays, and nothing of it is used until then.
	Confirm []Category `json:"confirm"`
	// Drop: storage, or a use in which data leaves the device, became less, so what
	// waits to be sent of the category is dropped.
	Drop []Category `json:"drop"`
	// Beyond are the cells of Withdrawn and Closed of which something may be out of
	// reach already: sent, or made part of a model. The person is to be told.
	Beyond []Cell `json:"beyond"`
}

// PlanOf is what a change of the grid asks for. It is to be made for each record by
// itself: over several, what was taken away and given back between would not be seen.
func PlanOf(before, after Grid) Plan {
	p := Plan{
		Withdrawn: Withdrawn(before, after), Closed: Closed(before, after),
		Purge: []Category{}, Confirm: []Category{}, Drop: []Category{}, Beyond: []Cell{},
	}
	for _, l := range p.lost() {
		switch {
		case l.Dimension != Storage:
		case l.To == Deny:
			p.Purge = append(p.Purge, l.Category)
		default:
			p.Confirm = append(p.Confirm, l.Category)
		}
		if (l.Dimension == Storage || l.Dimension.Leaves()) && !slices.Contains(p.Drop, l.Category) {
			p.Drop = append(p.Drop, l.Category)
		}
		if l.Dimension.Leaves() || l.Dimension == Training {
			p.Beyond = append(p.Beyond, l.Cell)
		}
	}
	return p
}

// lost are all losses of a plan, in the order of the grid.
func (p Plan) lost() []Loss {
	out := slices.Concat(p.Withdrawn, p.Closed)
	slices.SortFunc(out, func(a, b Loss) int { return a.place() - b.place() })
	return out
}

// Empty tells of a change that takes nothing away.
func (p Plan) Empty() bool { return len(p.Withdrawn) == 0 && len(p.Closed) == 0 }

// Done is what was done for a category of a plan.
type Done struct {
	Category Category `json:"category"`
	// Texts and Uploads count what was destroyed and what was dropped.
	Texts   int `json:"texts"`
	Uploads int `json:"uploads"`
	// Acts count what was destroyed of the traces of lives, Rules what had waited for the
	// judgement of one.
	Acts  int `json:"acts,omitempty"`
	Rules int `json:"rules,omitempty"`
	// Purged and Dropped tell that nothing is left to destroy, or to drop.
	Purged  bool `json:"purged"`
	Dropped bool `json:"dropped"`
	// Failure is why something is left, in words for the person; empty where nothing is.
	Failure string `json:"failure,omitempty"`
}

// What says how much was destroyed, such as "2 texts, 1 act or word of a life". Texts are
// always named.
func (d Done) What() string {
	out := counted(d.Texts, "text")
	switch {
	case d.Acts == 1:
		out += ", 1 act or word of a life"
	case d.Acts > 1:
		out += fmt.Sprintf(", %d acts or words of lives", d.Acts)
	}
	if d.Rules > 0 {
		out += ", " + counted(d.Rules, "rule") + " that waited for your judgement"
	}
	return out
}

// Report is what a withdrawal took away and what was done for it.
type Report struct {
	// Record is that of the change.
	Record lineage.ID `json:"record"`
	Plan
	// Done is by category, in any order, each at most once.
	Done []Done `json:"done"`
}

// Left are the categories of which something that the plan asks for is not done, in the
// order of the grid. A withdrawal is over once there are none.
func (r Report) Left() []Category {
	out := []Category{}
	for _, c := range Categories() {
		d := r.done(c)
		if slices.Contains(r.Purge, c) && !d.Purged || slices.Contains(r.Drop, c) && !d.Dropped || d.Failure != "" {
			out = append(out, c)
		}
	}
	return out
}

func (r Report) done(c Category) Done {
	if i := slices.IndexFunc(r.Done, func(d Done) bool { return d.Category == c }); i >= 0 {
		return r.Done[i]
	}
	return Done{Category: c}
}

// Text is the report in plain lines for a person.
func (r Report) Text() string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if r.Empty() {
		line("Nothing was withdrawn.")
		return out.String()
	}
	line("Withdrawn:")
	for _, l := range r.lost() {
		line("  %s, was %s, is %s", l.Cell, l.From, l.To)
	}
	for _, c := range Categories() {
		d := r.done(c)
		if slices.Contains(r.Purge, c) {
			line("%s: %s destroyed%s.", c, d.What(), unless(d.Purged, "; some may be left"))
		}
		if slices.Contains(r.Confirm, c) {
			line("%s: the texts that are there rest unused until you say whether they stay: jivad consent set %s=allow, or =deny to destroy them.", c, Cell{c, Storage})
		}
		if slices.Contains(r.Drop, c) {
			line("%s: %s dropped%s.", c, counted(d.Uploads, "waiting upload"), unless(d.Dropped, "; some may be left"))
		}
		if d.Failure != "" {
			line("%s: not finished: %s. It is tried again at the next start.", c, strings.TrimSuffix(d.Failure, "."))
		}
	}
	for _, cell := range r.Beyond {
		line("%s: what went out before cannot be called back from here.", cell)
	}
	return out.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func unless(done bool, text string) string {
	if done {
		return ""
	}
	return text
}
