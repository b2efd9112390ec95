package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

func (a *app) livesVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lives [N]",
		Short: "List the lives of this device, or show one",
		Long: `Lists the newest N lives (20), the newest first. A life begins with the first entry or word
of a session and ends with it; then it is distilled to the rules that it taught, and
nothing else of what was done in it stays. In --json ratings are in millionths.

A life whose distillation failed too often is in quarantine, and none is born from the
version that it was born with. clear settles it with nothing kept of it, supersede says
that another life took its place, and discard lets it go.`,
		Example: "  jivad lives\n  jivad lives 5\n  jivad lives show 12\n  jivad lives clear 12",
		Args:    atMostOne("how many lives to list, or show, clear, supersede or discard and the number of one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			const usual = 20
			most := usual
			if len(args) == 1 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 1 {
					return usage("lives %q: give how many to list, from 1, or show, clear, supersede or discard", args[0])
				}
				most = n
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				list, err := c.Lives(ctx, most)
				if err != nil {
					return err
				}
				known, err := knownOfLives(ctx, c)
				if err != nil {
					return err
				}
				return a.answer(list, func(p *printer) { tellLives(p, list, known) })
			})
		},
	}
	cmd.AddCommand(a.livesShow(),
		a.livesRelease("clear", "Settle a life in quarantine, with nothing kept of it"),
		a.livesRelease("supersede", "Settle a life in quarantine, since another took its place"),
		a.livesRelease("discard", "Let a life in quarantine go"))
	return cmd
}

func (a *app) livesShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show [NUMBER]",
		Short:   "Show all that is known of one life; the newest without a number",
		Example: "  jivad lives show\n  jivad lives show 12",
		Args:    atMostOne("the number of a life"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var n int64
			if len(args) == 1 {
				var err error
				if n, err = lifeNumber(args[0]); err != nil {
					return err
				}
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				l, err := c.Life(ctx, n)
				if err != nil {
					return err
				}
				known, err := knownOfLives(ctx, c)
				if err != nil {
					return err
				}
				return a.answer(l, func(p *printer) { tellLife(p, l, known) })
			})
		},
	}
}

func (a *app) livesRelease(how, what string) *cobra.Command {
	return &cobra.Command{
		Use:     how + " NUMBER",
		Short:   what,
		Example: "  jivad lives " + how + " 12",
		Args:    exactArgs(1, "the number of a life"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := lifeNumber(args[0])
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				l, err := c.ReleaseLife(ctx, n, how)
				if errors.Is(err, lifecycle.ErrLifeState) {
					return fmt.Errorf("%w; jivad lives tells which are", err)
				}
				if err != nil {
					return err
				}
				return a.answer(l, func(p *printer) {
					p.line("Life %d: %s. Lives can be born from version %s again, unless another one holds it.", l.Sequence, l.Says(), short(l.Base.String()))
				})
			})
		},
	}
}

// lifeNumber reads the number of a life.
func lifeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, usage("life %q: lives are counted from 1", text)
	}
	return n, nil
}

// atMostOne says in plain words that a verb takes one argument or none.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// livesKnown is what tells what became of a life, beside the life itself.
type livesKnown struct {
	// excised were taken out of the lineage since.
	excised map[lineage.ID]bool
	// running says that a daemon runs, which alone lives lives.
	running bool
}

func knownOfLives(ctx context.Context, c companion) (livesKnown, error) {
	all, err := c.Excisions(ctx)
	_, running := c.(*api.Client)
	out := livesKnown{excised: map[lineage.ID]bool{}, running: running}
	for _, x := range all {
		for _, life := range x.Lives {
			out.excised[life] = true
		}
	}
	return out, err
}

// became is what has become of a life, in one line.
func (k livesKnown) became(l lifecycle.Life) string {
	switch {
	case k.excised[l.ID]:
		return "excised"
	case l.State.Living() && !k.running:
		return "broken off; ended at the next start"
	}
	return says(l)
}

func tellLives(p *printer, list []lifecycle.Life, known livesKnown) {
	if len(list) == 0 {
		p.line("No life yet: one begins with the next entry while the daemon runs (jivad run).")
		return
	}
	rows := make([][]string, len(list))
	for i, l := range list {
		rows[i] = []string{
			strconv.FormatInt(l.Sequence, 10), dayOf(l), known.became(l), dash(clipped(mindName(l.Mind), 24)), strconv.Itoa(l.Spent.Events),
			strconv.Itoa(l.Spent.Acts), strconv.Itoa(l.Spent.Refused), ratingOf(l), dash(whyEnded(l)),
		}
	}
	p.table([]string{">life", "date", "state", "mind", ">entries", ">acts", ">refused", ">rating", "ended because"}, rows)
}

// says is what has become of a life, in one line.
func says(l lifecycle.Life) string { return oneLine(l.Says()) }

// dayOf is the local day on which a life was born, or was to be.
func dayOf(l lifecycle.Life) string {
	at := l.Born
	if at.Time.IsZero() {
		at = l.Conceived
	}
	return at.Time.Local().Format("2006-01-02")
}

// mindName is the name of the model without its digest, which --json has.
func mindName(mind string) string {
	name, _, _ := strings.Cut(mind, "@")
	return name
}

// whyEnded is the reason in words; empty for a life that has not ended.
func whyEnded(l lifecycle.Life) string {
	if said := l.Bounds.Says(l.Reason); said != l.Reason {
		return said
	}
	if l.Reason == "" {
		return ""
	}
	return endedBy(l.Reason)
}

// ratingOf is how the person judged a life, from -1 to 1.
func ratingOf(l lifecycle.Life) string {
	if l.Rating == nil {
		return "–"
	}
	return millionths(*l.Rating)
}

// millionths writes a weight or rating with its sign.
func millionths(n int64) string { return fmt.Sprintf("%+.2f", float64(n)/lineage.Million) }

// short is enough of a digest to tell it from others.
func short(digest string) string { return digest[:min(12, len(digest))] }

func tellLife(p *printer, l lifecycle.Life, known livesKnown) {
	p.row("life", "%d, %s", l.Sequence, known.became(l))
	p.row("id", "%s", l.ID)
	if len(l.Missing) > 0 {
		p.row("wanted", "%s", stamp(l.Conceived))
		for _, m := range l.Missing {
			tellLack(p, m.What, m.Mend)
		}
	} else {
		p.row("born", "%s", stamp(l.Born))
	}
	if l.Reason != "" {
		p.row("ended", "%s: %s", stamp(l.Ended), whyEnded(l))
	}
	if l.Session > 0 {
		p.row("session", "%d", l.Session)
	}
	if l.Mind != "" {
		p.long("mind", oneLine(l.Mind))
	}
	p.row("spent", "%s, %s, %d refused, %s of running time", count(l.Spent.Events, "entry", "entries"), count(l.Spent.Acts, "act", "acts"),
		l.Spent.Refused, l.Spent.Running.Round(time.Second))
	if l.Spent.Gap != nil {
		p.row("witness gap", "%.3f", *l.Spent.Gap)
	}
	p.long("bounds", boundsLine(l.Bounds))
	p.row("rating", "%s", ratingOf(l))
	if l.Note != "" {
		p.long("note", oneLine(l.Note))
	}
	tellObligation(p, l)
	p.row("manifest", "%s", l.Manifest)
	if l.Base != (lineage.Digest{}) {
		p.row("born from", "version %s", l.Base)
	}
	p.row("device", "%s", l.Device)
}

// tellLack writes one thing that a birth lacked, and what mends it.
func tellLack(p *printer, what, mend string) {
	p.longIn(p.bad, "missing", oneLine(what))
	if mend != "" {
		p.long("", oneLine(mend))
	}
}

func stamp(at lives.Stamp) string {
	out := at.Time.Local().Format("2006-01-02 15:04")
	if !at.Trusted {
		out += " (by a clock that was not synchronised)"
	}
	return out
}

// boundsLine says what ends a life, whichever is first.
func boundsLine(b lives.Bounds) string {
	var out []string
	if b.TTL > 0 {
		out = append(out, "runs "+b.TTL.String())
	}
	if b.Idle > 0 {
		out = append(out, "quiet for "+b.Idle.String())
	}
	if b.MaxEvents > 0 {
		out = append(out, count(b.MaxEvents, "entry", "entries"))
	}
	if b.MaxFailures > 0 {
		out = append(out, fmt.Sprintf("%d failures of tools in a row", b.MaxFailures))
	}
	if b.WitnessGap > 0 {
		out = append(out, fmt.Sprintf("a witness gap of %.2f", b.WitnessGap))
	}
	return dash(strings.Join(out, "; "))
}

// tellObligation says what the life owes, or what came of it.
func tellObligation(p *printer, l lifecycle.Life) {
	o := l.Obligation
	if o.Status == lives.None {
		return
	}
	switch o.Status {
	case lives.Drafted:
		p.row("judgement", "waited for, %s more of running time: jivad rate %d VALUE", max(0, o.Until-o.Waited).Round(time.Second), l.Sequence)
	case lives.Met:
		p.row("distillate", "%s", o.Distillate)
	}
	if o.Failure != "" && o.Status == lives.Owed {
		p.long("failed", fmt.Sprintf("%s; the last one: %s", count(o.Tries, "try", "tries"), oneLine(o.Failure)))
	}
	if l.State == lives.Quarantined {
		p.row("", "jivad lives clear, supersede or discard %d lets lives be born from its version again", l.Sequence)
	}
	tellReport(p, l)
}

// tellReport writes the figures of the distillation: of the way that counted, or of both
// while the judgement is waited for.
func tellReport(p *printer, l lifecycle.Life) {
	var reports [2]distil.Report
	if len(l.Obligation.Report) == 0 || json.Unmarshal(l.Obligation.Report, &reports) != nil {
		return
	}
	bad := l.Rating != nil && *l.Rating < 0
	if l.Obligation.Status == lives.Drafted || !bad {
		p.long("judged well", reportLine(reports[0]))
	}
	if l.Obligation.Status == lives.Drafted || bad {
		p.long("judged badly", reportLine(reports[1]))
	}
}

func reportLine(r distil.Report) string {
	out := fmt.Sprintf("%s of %s, worded by %s", count(r.Rules, "rule", "rules"), count(r.Acts, "thing", "things")+" done or said", r.Source)
	for _, part := range []struct {
		n    int
		what string
	}{
		{r.Rewritten, "without a value that is not said"}, {r.Dropped, "dropped"}, {r.Beyond, "more than a life may leave"},
		{r.Undeclared, "of tools that are not declared"}, {r.Withheld, "without consent"}, {r.Contradicted, "against the judgement"},
		{r.Lost, "proposals not accepted"},
	} {
		if part.n > 0 {
			out += fmt.Sprintf("; %d %s", part.n, part.what)
		}
	}
	if r.WriterFailed {
		out += "; the model gave no answer"
	}
	return out
}
