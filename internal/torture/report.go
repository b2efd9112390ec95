package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// row counts what came of the rounds of one pair, or of all.
type row struct {
	Deed         string `json:"deed,omitempty"`
	Fault        string `json:"fault,omitempty"`
	Rounds       int    `json:"rounds"`
	Kills        int    `json:"kills"`
	Acknowledged int    `json:"acknowledged"`
	// Lost counts what was acknowledged and is not so, Unclean what verify found,
	// Other every other failure.
	Lost    int `json:"lost"`
	Unclean int `json:"unclean"`
	Other   int `json:"other"`
}

func (w *row) add(o outcome) {
	w.Rounds++
	w.Acknowledged += o.Acknowledged
	if o.Hit {
		w.Kills++
	}
	for _, f := range o.Failures {
		switch f.Kind {
		case kindLost, kindBack:
			w.Lost++
		case kindVerify:
			w.Unclean++
		default:
			w.Other++
		}
	}
}

// report is what a whole run comes to.
type report struct {
	Seed    uint64    `json:"seed"`
	From    string    `json:"texts_from"`
	Total   row       `json:"total"`
	Pairs   []row     `json:"pairs"`
	Sweeps  []sweep   `json:"sweeps,omitempty"`
	Skipped []string  `json:"skipped,omitempty"`
	Failed  []outcome `json:"failed,omitempty"`
	Seconds float64   `json:"seconds"`
}

// sweep tells at how many of a deed's durable calls a program was killed.
type sweep struct {
	Deed  string `json:"deed"`
	Calls int    `json:"calls"`
	Swept int    `json:"swept"`
}

func (l *lab) report(p plan, all []outcome, seconds float64) report {
	out := report{Seed: l.seed, From: l.material.from, Pairs: []row{}, Seconds: seconds}
	for _, d := range p.deeds {
		if d.verb != "" && !l.verbs[d.verb] {
			out.Skipped = append(out.Skipped, fmt.Sprintf("deed %s: the program has no verb %s", d.name, d.verb))
		}
		if d.trapped && l.noTraps != nil {
			out.Skipped = append(out.Skipped, fmt.Sprintf("deed %s: %v", d.name, l.noTraps))
		}
		if ref := l.refs[d.name]; ref != nil && len(ref.calls) > 0 {
			out.Sweeps = append(out.Sweeps, sweep{d.name, len(ref.calls) + 1, len(ref.swept)})
		}
	}
	for _, f := range p.faults {
		if f.lacks != nil {
			if err := f.lacks(l); err != nil {
				out.Skipped = append(out.Skipped, fmt.Sprintf("fault %s: %v", f.name, err))
			}
		}
	}
	for _, o := range all {
		out.Total.add(o)
		i := slices.IndexFunc(out.Pairs, func(w row) bool { return w.Deed == o.Deed && w.Fault == o.Fault })
		if i < 0 {
			i = len(out.Pairs)
			out.Pairs = append(out.Pairs, row{Deed: o.Deed, Fault: o.Fault})
		}
		out.Pairs[i].add(o)
		if len(o.Failures) > 0 {
			out.Failed = append(out.Failed, o)
		}
	}
	slices.SortFunc(out.Pairs, func(a, b row) int { return strings.Compare(a.Deed+"\x00"+a.Fault, b.Deed+"\x00"+b.Fault) })
	return out
}

// bad tells whether anything was not as it must be.
func (r report) bad() bool { return len(r.Failed) > 0 }

// tell writes the tables.
func (r report) tell(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "deed\tfault\trounds\tkills\tacknowledged\tlost\tverify failed\tother\t")
	for _, p := range append(slices.Clone(r.Pairs), r.total()) {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", p.Deed, p.Fault, p.Rounds, p.Kills, p.Acknowledged, p.Lost, p.Unclean, p.Other)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Sweeps) > 0 {
		fmt.Fprintln(w)
		t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "deed\tdurable calls\tkilled before\t")
		for _, s := range r.Sweeps {
			fmt.Fprintf(t, "%s\t%d\t%d\t\n", s.Deed, s.Calls, s.Swept)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "skipped: %s\n", s)
	}
	_, err := fmt.Fprintf(w, "\n%d rounds in %.0f s, %d of them with a kill -9 that hit a running process; %d acknowledgements, %d lost. Seed %d, texts from %s.\n",
		r.Total.Rounds, r.Seconds, r.Total.Kills, r.Total.Acknowledged, r.Total.Lost, r.Seed, r.From)
	return err
}

func (r report) total() row {
	t := r.Total
	t.Deed, t.Fault = "all", "all"
	return t
}

// line tells one round.
func (o outcome) line() string {
	state := "ok  "
	if len(o.Failures) > 0 {
		state = "FAIL"
	}
	return fmt.Sprintf("%s %4d  %-14s %-10s %4.1f s  %3d acknowledged  %s", state, o.Round, o.Deed, o.Fault, o.Seconds, o.Acknowledged, o.How)
}

// explain tells what failed, how to look at it and how to have it again, with the
// flags of this run.
func (o outcome) explain(seed uint64, flags []string) string {
	var b strings.Builder
	for _, f := range o.Failures {
		fmt.Fprintf(&b, "     %s: %s\n", f.Kind, strings.ReplaceAll(f.What, "\n", "\n     "))
	}
	fmt.Fprintf(&b, "     look:  jivad --data %s/D verify\n", o.Kept)
	fmt.Fprintf(&b, "     again: make torture SEED=%d", seed)
	if !slices.Contains(flags, "-sweep") {
		fmt.Fprintf(&b, " ROUND=%d", o.Round)
	}
	if len(flags) > 0 {
		fmt.Fprintf(&b, " TORTURE=%q", strings.Join(flags, " "))
	}
	return b.String() + "\n"
}
