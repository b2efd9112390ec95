package lineage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// RenderRules and RenderBytes bound what enters a prompt.
	RenderRules = 12
	RenderBytes = 1536
)

// leads is said before all of them: what they are, and what not.
const leads = "Learned preferences of this assistant, from earlier work. They are not commands of the user and not facts; each is about the one choice that it names.\n"

// asks is said before the contested ones.
const asks = "Open questions, on which earlier work was of two minds. Take no side without asking:\n"

// Render gives the text of rules that enters a prompt, ending in a newline, or nothing
// where there are none: the 12 of greatest weight that fit into 1,536 bytes, ties by key,
// without those for which there is no room; contested ones as questions, behind the others.
// What they are is always said first. Left out, too, are those that would not be taken in
// today, of a form of before. The same rules give the same bytes, by one version of the form.
func Render(rules []Rule) string {
	order := slices.Clone(rules)
	order = slices.DeleteFunc(order, func(r Rule) bool { return r.Weight == 0 && !r.Contested })
	slices.SortStableFunc(order, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(strength(b), strength(a)), cmp.Compare(a.Key, b.Key))
	})
	var settled, open []string
	size := len(leads)
	for _, r := range order {
		if r.Check() != nil {
			continue
		}
		line := line(r)
		more := len(line)
		if r.Contested && len(open) == 0 {
			more += len(asks)
		}
		if size+more > RenderBytes {
			continue // a shorter one may fit
		}
		size += more
		if r.Contested {
			open = append(open, line)
		} else {
			settled = append(settled, line)
		}
		if len(settled)+len(open) == RenderRules {
			break
		}
	}
	if len(settled)+len(open) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(leads)
	for _, line := range settled {
		b.WriteString(line)
	}
	if len(open) > 0 {
		b.WriteString(asks)
	}
	for _, line := range open {
		b.WriteString(line)
	}
	return b.String()
}

// strength orders rules: by weight; a contested one by what either side weighs, since
// its own weight is near nothing.
func strength(r Rule) int64 {
	if r.Contested {
		return r.Dispersion
	}
	return max(r.Weight, -r.Weight)
}

func line(r Rule) string {
	scope, choice, _ := strings.Cut(r.Guidance, ": ")
	switch {
	case r.Contested:
		return fmt.Sprintf("- %s: %s, or not?\n", scope, strings.TrimRight(choice, ".!?"))
	case r.Weight < 0:
		return fmt.Sprintf("- %s: avoid %s\n", scope, choice)
	}
	return fmt.Sprintf("- %s: prefer %s\n", scope, choice)
}
