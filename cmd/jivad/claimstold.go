package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/claims"
)

func tellChanged(p *printer, c lifecycle.Claim) {
	p.line("%s  %s  %s", p.bold(c.ID), c.Class, oneLine(c.Text))
	if next := nextStep(c); next != "" {
		p.line("%s", p.dim(next))
	}
}

// nextStep says what a claim needs next.
func nextStep(c lifecycle.Claim) string {
	switch {
	case slices.Contains(evidence.Codes(c.Usable), evidence.ClockUntrusted):
		return "The clock of this device is not known to be right, so nothing counts as fresh. It is, once it\nwas set by a time server; or say trust_clock = true in evidence.toml if you know that it is."
	case c.Reverify != "":
		return "Next: " + c.Reverify
	case c.Class == evidence.Reported:
		return "A report. Next: jivad claims locate " + c.ID + " --root WHERE IT CAN BE SEEN"
	case c.Class == evidence.Inferred && len(c.Promotable) == 0:
		return "Next: jivad claims promote " + c.ID
	case c.Class == evidence.Inferred:
		return "To be verified it lacks: " + reasonsIn(c.Promotable)
	case c.Class == evidence.Verified && c.Review.Decision != evidence.Cleared:
		return "Verified. To bear acts of high consequence: jivad claims review " + c.ID + " clear"
	}
	return ""
}

func reasonsIn(reasons []evidence.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Says)
	}
	return strings.Join(slices.Compact(out), "; ")
}

func tellClaims(p *printer, list []lifecycle.Claim, due bool) {
	if len(list) == 0 {
		if due {
			p.line("Nothing is due to be looked at again.")
		} else {
			p.line("No claims. jivad claims add makes one.")
		}
		return
	}
	if !due { // in the order of their classes; within one, as they were made
		order := evidence.Classes()
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(x, y lifecycle.Claim) int { return rank(order, x.Class) - rank(order, y.Class) })
	}
	rows := [][]string{}
	for _, c := range list {
		contested := ""
		if len(c.Conflicts) > 0 {
			contested = "contested: "
		}
		rows = append(rows, []string{c.ID, string(c.Class), howOld(c.Age), fmt.Sprint(c.Sources), cut(oneLine(c.Subject), 24), cut(contested+oneLine(c.Text), 60)})
	}
	p.table([]string{"id", "class", ">age", ">sources", "about", "statement"}, rows)
	if due {
		p.line("")
		for _, c := range list {
			p.line("%s  %s", c.ID, c.Reverify)
		}
	}
}

// rank is where a class is told: what is most to be relied on first.
func rank(order []evidence.Class, c evidence.Class) int {
	switch c {
	case evidence.Verified:
		return -2
	case evidence.Inferred:
		return -1
	}
	return slices.Index(order, c)
}

// howOld is a time that passed, in its largest unit.
func howOld(seconds int64) string {
	for _, u := range []struct {
		of        int64
		one, many string
	}{{24 * 3600, "day", "days"}, {3600, "hour", "hours"}, {60, "minute", "minutes"}} {
		if seconds >= u.of {
			return count(int(seconds/u.of), u.one, u.many)
		}
	}
	return "now"
}

func tellClaim(p *printer, c lifecycle.ClaimStory, why bool) {
	p.row("claim", "%s", p.bold(c.ID))
	p.long("statement", oneLine(c.Text))
	p.row("about", "%s", oneLine(c.Subject))
	class := string(c.Class)
	if c.Was != "" {
		class += ", was " + string(c.Was)
	}
	p.row("class", "%s", class)
	p.row("made", "%s ago by %s; said by %s", strings.Replace(howOld(c.Age), "now", "moments", 1), oneLine(c.Agent), oneLine(dash(c.Provenance.Source)))
	if c.Expires > 1 {
		p.row("fresh until", "%s", at(c.Expires))
	}
	p.row("consequence", "%s", c.Consequence)
	if c.Provenance.Primary != "" {
		p.long("primary", oneLine(c.Provenance.Primary))
	}
	if c.Provenance.Reasoning != "" {
		p.long("reasoning", oneLine(c.Provenance.Reasoning))
	}
	for _, id := range c.Previous {
		p.row("follows from", "%s", id)
	}
	for _, id := range c.Conflicts {
		p.row("against it", "%s", p.bad(id))
	}
	if c.Successor != "" {
		p.row("replaced by", "%s", c.Successor)
	}
	if f := fellBy(c.Fell); f != "" {
		p.long("it fell", f)
	}
	p.row("sources", "%s", count(c.Sources, "independent source", "independent sources"))
	for _, r := range c.Roots {
		line := fmt.Sprintf("%s, %s, seen %s", oneLine(r.ID), r.Type, at(r.Observed))
		if r.Expires > 1 {
			line += ", fresh until " + at(r.Expires)
		}
		if !r.Type.Qualifies() {
			line += "; counts for nothing"
		}
		if r.Retrieval == "" {
			line += "; cannot be looked at again"
		}
		p.long("", line)
	}
	if c.Review.Decision != "" {
		p.row("reviewed", "%s by %s%s", c.Review.Decision, oneLine(c.Review.By), because(c.Review.Note))
	}
	if why {
		tellReasons(p, "to use it", c.Usable, "nothing speaks against using it as how things are")
		if c.Class == evidence.Inferred {
			tellReasons(p, "to verify it", c.Promotable, "nothing speaks against verifying it")
		}
		if m := c.Promotion; m != nil {
			p.long("verified", fmt.Sprintf("%s by %s, on %s (%d needed): %s", at(m.At.Unix), oneLine(m.By), count(len(m.Sources), "source", "sources"), m.Needed, strings.Join(asNamed(c.Roots, m.Sources), ", ")))
		}
		p.line("")
		for _, e := range c.History {
			tellEvent(p, c.ID, e)
		}
	}
	if next := nextStep(c.Claim); next != "" {
		p.line("%s", p.dim(next))
	}
}

// fellBy says what a claim fell by; empty for nothing.
func fellBy(f *claims.Fall) string {
	switch {
	case f == nil:
		return ""
	case f.Claim != "" && f.Class == "":
		return "it follows from " + f.Claim + ", which is not there any more"
	case f.Claim != "":
		return "it follows from " + f.Claim + ", which is " + string(f.Class)
	}
	names := make([]string, len(f.Roots))
	for i, r := range f.Roots {
		names[i] = oneLine(r)
	}
	return "it rested on " + strings.Join(names, ", ") + ", whose time is over or which was taken back"
}

// asNamed are the sources of keys as they were named.
func asNamed(roots []evidence.Root, keys []string) (out []string) {
	for _, key := range keys {
		name := key
		for _, r := range roots {
			if r.Source() == key {
				name = r.ID
			}
		}
		out = append(out, oneLine(name))
	}
	return out
}

func tellReasons(p *printer, name string, reasons []evidence.Reason, none string) {
	if len(reasons) == 0 {
		p.long(name, none)
		return
	}
	for _, r := range reasons {
		says := string(r.Code) + ": " + r.Says
		if r.Root != "" {
			says += " (" + oneLine(r.Root) + ")"
		}
		p.longIn(p.bad, name, says)
		name = ""
	}
}

func tellEvent(p *printer, id string, e lifecycle.ClaimEvent) {
	what := strings.ReplaceAll(string(e.Kind), "_", " ")
	switch e.Kind {
	case claims.Reviewed:
		what += ", " + string(e.Decision)
	case claims.Evidence, claims.Located, claims.Withdrawn, claims.Renewed:
		if e.Root != nil {
			what += ": " + oneLine(e.Root.ID)
		}
	case claims.Contested, claims.Settled, claims.Superseded:
		if e.Claim == id {
			what += " by " + e.Other
		} else {
			what += ": " + e.Claim + " by this one"
		}
	}
	unsure := ""
	if !e.At.Trusted {
		unsure = " (by a clock that was not set)"
	}
	p.line("%s  %s, %s%s", at(e.At.Unix), what, oneLine(e.By), unsure)
}

// at shows a time; 1 is that of what came by a clock that could not be trusted.
func at(unix int64) string {
	if unix <= 1 {
		return "(a time that is not known)"
	}
	return time.Unix(unix, 0).Local().Format("2006-01-02 15:04 MST")
}

func tellClaimsGone(p *printer, g lifecycle.ForgottenClaims) {
	p.line("Forgotten: %s, with %s. %s.", count(g.Claims, "claim", "claims"), count(g.Events, "record", "records"), leftOf(g))
	for _, path := range g.BackupsLeft {
		p.line("%s", p.bad("It may still hold them: "+path))
	}
}

func leftOf(g lifecycle.ForgottenClaims) string {
	if g.Left == 0 {
		return "None of them is left in the store"
	}
	return fmt.Sprintf("%d are STILL THERE", g.Left)
}

func tellPending(p *printer, list []lifecycle.PendingAct) {
	if len(list) == 0 {
		p.line("Nothing waits for your yes.")
		return
	}
	for _, a := range list {
		p.line("%s  %s %s", p.bold(fmt.Sprint(a.ID)), a.Tool, oneLine(string(a.Arguments)))
		p.line("   consequence %s; %.0f seconds left, then it is a no", a.Consequence, a.Seconds)
		for _, s := range a.RestsOn {
			p.line("   rests on: %s", oneLine(s))
		}
		if len(a.Claims) > 0 {
			p.line("   claims: %s; jivad claims why ID tells what speaks for one", someOf(a.Claims))
		}
	}
	p.line("")
	p.line("jivad claims approve NUMBER says yes, with --no no.")
}

func tellDecision(p *printer, d lifecycle.GateDecision) {
	verdict := string(d.Verdict)
	switch {
	case d.Verdict == evidence.Allow:
		verdict = p.good(verdict)
	case d.Ask:
		verdict += ": nothing is missing but your yes"
	default:
		verdict = p.bad(verdict)
	}
	p.row("verdict", "%s", verdict)
	p.row("act", "%s, consequence %s", oneLine(d.Tool), d.Consequence)
	for _, s := range d.RestsOn {
		p.row("rests on", "%s", oneLine(s))
	}
	if len(d.Claims) > 0 {
		p.long("claims", someOf(d.Claims))
	}
	tellReasons(p, "reasons", d.Reasons, "none against it")
	if d.More > 0 {
		p.long("", fmt.Sprintf("%s more were not looked at, since these do not bear it", count(d.More, "claim", "claims")))
	}
}

// someOf lists ids, as many as a person reads.
func someOf(ids []string) string {
	const most = 12
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
