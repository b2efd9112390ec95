package claims

import (
	"slices"
	"strings"

	"github.com/jivad/jivad/gate/evidence"
)

// Tellable is a claim that a conversation may be told of.
type Tellable struct {
	ID            string
	Class         evidence.Class
	Subject, Text string
	// RestedOn says that an act of the policy rests on what it says.
	RestedOn bool
}

// Tellable gives the claims that may be told of, VERIFIED ones first, and the newest first:
// none that is superseded or rejected, and of the categories that are allowed only, where
// allowed is not nil.
func (b *Book) Tellable(allowed func(category string) bool) []Tellable {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.moment()
	templates := b.templates()
	var verified, others []Tellable
	known := map[string][]string{}
	for _, id := range slices.Backward(b.state.order) {
		k := b.state.claims[id]
		class := k.Class
		if k.Over(now) || class.Current() && len(b.state.fallen(k, now, known)) > 0 {
			class = evidence.Stale
		}
		switch {
		case class == evidence.Superseded || class == evidence.Rejected:
			continue
		case allowed != nil && !allowed(k.Category):
			continue
		}
		one := Tellable{ID: id, Class: class, Subject: k.Subject, Text: k.Text, RestedOn: restedOn(k.Text, templates)}
		if class == evidence.Verified {
			verified = append(verified, one)
		} else {
			others = append(others, one)
		}
	}
	return append(verified, others...)
}

// templates are the statements that acts of the policy rest on, with {NAME} for arguments.
func (b *Book) templates() (out []string) {
	for _, a := range b.policy.Acts {
		for _, template := range a.RestsOn {
			out = append(out, Statement(template))
		}
	}
	return out
}

// restedOn tells whether a text is one of them, whatever the arguments are.
func restedOn(text string, templates []string) bool {
	if len(templates) == 0 {
		return false
	}
	statement := Statement(text)
	return slices.ContainsFunc(templates, func(template string) bool { return fills(template, statement) })
}

// fills tells whether a statement is a template with something in the places of its
// arguments.
func fills(template, statement string) bool {
	first, rest, open := strings.Cut(template, "{")
	if !open {
		return template == statement
	}
	statement, begins := strings.CutPrefix(statement, first)
	if !begins {
		return false
	}
	for open {
		var piece string
		_, rest, _ = strings.Cut(rest, "}")
		piece, rest, open = strings.Cut(rest, "{")
		if !open {
			return strings.HasSuffix(statement, piece)
		}
		at := strings.Index(statement, piece)
		if at < 0 {
			return false
		}
		statement = statement[at+len(piece):]
	}
	return false
}

// Views are claims as they are to be taken now, in the order of their ids; one that there is
// none of is left out.
func (b *Book) Views(ids []string) []View {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.moment()
	var out []View
	for _, id := range ids {
		if k := b.state.claims[id]; k != nil {
			out = append(out, b.viewed(k, now))
		}
	}
	return out
}

// Fresh tells whether neither the time of a claim nor that of a source is over.
func (v *View) Fresh() bool {
	return v.Class != evidence.Stale && !slices.ContainsFunc(v.Usable, func(r evidence.Reason) bool {
		return r.Code == evidence.StaleRoot || r.Code == evidence.NotStanding || r.Code == evidence.StaleRecord || r.Code == evidence.ClockUntrusted
	})
}

// Unsettled is a claim that waits for a decision: one in quarantine, or, with Against, one that
// another speaks against.
type Unsettled struct {
	Kept
	Against *Kept
	// Closed says that Against may not be read, and is not told.
	Closed bool
}

// Unsettled gives the claims that wait for a decision, as they are on record: no clock changes
// that. Those in quarantine come first, in the order in which they were made. Of two that
// speak against each other the one that may be read, or the earlier, tells of both.
func (b *Book) Unsettled(allowed func(category string) bool) (out []Unsettled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	may := func(k *Kept) bool { return allowed == nil || allowed(k.Category) }
	var contested []Unsettled
	told := map[string]bool{}
	for _, id := range b.state.order {
		k := b.state.claims[id]
		if k.Class == evidence.Superseded || k.Class == evidence.Rejected || !may(k) {
			continue
		}
		if k.Class == evidence.Quarantined {
			out = append(out, Unsettled{Kept: b.copied(k)})
		}
		for _, against := range k.Conflicts {
			other := b.state.claims[against]
			switch {
			case other == nil || told[against]:
			case !may(other):
				contested = append(contested, Unsettled{Kept: b.copied(k), Closed: true})
			default:
				o := b.copied(other)
				contested = append(contested, Unsettled{Kept: b.copied(k), Against: &o})
			}
		}
		told[id] = true
	}
	return append(out, contested...)
}

// copied is a claim as it is on record, which nobody changes.
func (b *Book) copied(k *Kept) Kept {
	v := *k
	v.Roots, v.Previous, v.Conflicts = slices.Clone(k.Roots), slices.Clone(k.Previous), slices.Clone(k.Conflicts)
	return v
}
