package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) claimsVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "claims",
		Short: "What is said of the world, on what evidence, and what may be done on it",
		Long: `A claim is a statement that outlives the session in which it was made: "pump 3 leaks". It is
REPORTED until its primary source is located, INFERRED then, and VERIFIED on independent
fresh evidence. What is over is STALE: not to be assumed, which is not to say that it is
false. That something is old, repeated or agreed on raises nothing.

Tools whose use has consequences rest on claims, and of high consequence on your yes each
time: see evidence.toml in the data folder, and docs/evidence.md.`,
		Example: `  jivad claims add "pump 3 leaks" --subject "pump 3" --source "the night shift"
  jivad claims list --due
  jivad claims why c4kq2z`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			hint := "it takes " + strings.Join(names, ", ")
			if n := faults.Nearest(args[0], names); n != "" {
				hint = "did you mean " + n + "?"
			}
			return fmt.Errorf("unknown command %q for %s; %s", args[0], cmd.CommandPath(), hint)
		},
		RunE: func(*cobra.Command, []string) error {
			return usage("claims takes add, list, show, why and others; see jivad claims --help")
		},
	}
	cmd.AddCommand(a.claimsAdd(), a.claimsList(), a.claimsShow("show"), a.claimsShow("why"), a.claimsEvidence(), a.claimsLocate(), a.claimsReplay(),
		a.claimsPromote(), a.claimsReview(), a.claimsForget(), a.claimsPending(), a.claimsApprove(), a.claimsGate())
	return cmd
}

// rootFlags name something that was looked at.
type rootFlags struct{ root, kind, at, until, look string }

func (f *rootFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.root, "root", "", "`WHAT` "+what+": an address, a commit, a DOI, sensor:NAME, sha256:…, or words")
	cmd.Flags().StringVar(&f.kind, "type", "", "`KIND` of it: instrument, repository, attested, external, human, memory, summary or signature; by its form where that tells")
	cmd.Flags().StringVar(&f.at, "at", "", "`TIME` at which it was looked at, such as 2026-11-30T14:05Z; now without")
	cmd.Flags().StringVar(&f.until, "until", "", "`TIME` from which it is no longer fresh; the policy bounds it")
	cmd.Flags().StringVar(&f.look, "look", "", "`HOW` it can be looked at again; an address tells that itself")
}

// kinds are the types of roots by the words of the flag.
var kinds = map[string]evidence.RootType{
	"instrument": evidence.Instrument, "repository": evidence.Repository, "attested": evidence.Attested, "external": evidence.External, "human": evidence.Human,
	"memory": evidence.AgentMemory, "summary": evidence.Summary, "signature": evidence.ReviewerSigns,
}

// alone names the flags that say something of a root where none is named.
func (f *rootFlags) alone() error {
	for _, flag := range []struct{ name, value string }{{"type", f.kind}, {"at", f.at}, {"until", f.until}, {"look", f.look}} {
		if flag.value != "" {
			return usage("--%s says something of what was looked at: name that with --root", flag.name)
		}
	}
	return nil
}

func (f *rootFlags) read() (*evidence.Root, error) {
	r := &evidence.Root{ID: f.root, Retrieval: f.look}
	key := evidence.CanonicalRoot(f.root)
	before, _, _ := strings.Cut(key, ":")
	guess, link := map[string]string{"github": "repository", "https": "external", "doi": "external", "arxiv": "external", "isbn": "external", "sensor": "instrument", "mqtt": "instrument"}[before], slices.Contains([]string{"github", "https", "doi", "arxiv"}, before)
	if f.kind == "" {
		f.kind = guess
	}
	if f.kind == "" {
		return nil, usage("--type is needed: what is named does not tell what kind of source it is (instrument, repository, attested, external, human, memory, summary, signature)")
	}
	kind, ok := kinds[f.kind]
	if !ok && slices.Contains(evidence.RootTypes(), evidence.RootType(f.kind)) {
		kind, ok = evidence.RootType(f.kind), true
	}
	if !ok {
		return nil, usage("--type %q: it is instrument, repository, attested, external, human, memory, summary or signature", f.kind)
	}
	r.Type = kind
	if r.Retrieval == "" && link {
		r.Retrieval = f.root
	}
	var err error
	if r.Observed, err = momentIn("at", f.at); err == nil {
		r.Expires, err = momentIn("until", f.until)
	}
	return r, err
}

// of are the roots of a new claim: what --root names, and its primary source, which was looked
// at too. The other flags say something of --root, or of that where there is none.
func (f *rootFlags) of(primary string) (out []evidence.Root, err error) {
	named := f.root
	if f.root = cmp.Or(f.root, primary); f.root == "" {
		return nil, f.alone()
	}
	r, err := f.read()
	if err != nil {
		return nil, err
	}
	out = append(out, *r)
	if primary == "" || named == "" || r.Source() == (evidence.Root{ID: primary}).Source() {
		return out, nil
	}
	if r, err = (&rootFlags{root: primary}).read(); err != nil {
		return nil, usage("--primary %q is another thing than --root, and does not tell what kind of source it is: make the claim with --primary and --type, and add the other with jivad claims evidence", primary)
	}
	return append(out, *r), nil
}

// momentIn reads a time; empty is 0.
func momentIn(flag, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(form, text); err == nil {
			return t.Unix(), nil
		}
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t.Unix(), nil
		}
	}
	return 0, usage("--%s %q is no time such as 2026-11-30T14:05Z", flag, text)
}

func (a *app) claimsAdd() *cobra.Command {
	var d lifecycle.ClaimDraft
	var root rootFlags
	cmd := &cobra.Command{
		Use:   "add TEXT",
		Short: "Make a claim",
		Long: `Makes a claim, REPORTED: somebody said so. With --inferred it is one that follows from a
source that was looked at, which is named with --primary (or --root), and how it follows with
--reasoning. --type, --at, --until and --look say something of --root, or of that.`,
		Example: `  jivad claims add "pump 3 leaks" --subject "pump 3" --source "the night shift" --consequence high
  jivad claims add "the spare seal fits" --subject "pump 3" --inferred --primary https://example.org/manual --reasoning "same part number"`,
		Args: exactArgs(1, "the statement, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.Text = args[0]
			if d.Subject == "" {
				return usage("claims add needs --subject: what the statement is about")
			}
			if d.Inferred {
				d.Primary = cmp.Or(d.Primary, root.root)
			}
			roots, err := root.of(d.Primary)
			if err != nil {
				return err
			}
			d.Roots = roots
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				claim, err := c.AddClaim(ctx, d)
				if err != nil {
					return err
				}
				return a.answer(claim, func(p *printer) { tellChanged(p, claim) })
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.Subject, "subject", "", "`WHAT` it is about")
	f.StringVar(&d.Source, "source", "", "`WHO` said it, or what it was taken from; you without")
	f.StringVar(&d.Category, "category", "", "its `KIND` of data, for consent (operational without)")
	f.StringVar(&d.Consequence, "consequence", "", "low, medium or high: what could come of acting on it, were it wrong (`LEVEL`)")
	f.BoolVar(&d.Inferred, "inferred", false, "it follows from a source")
	f.StringVar(&d.Primary, "primary", "", "the primary `SOURCE`, which was looked at")
	f.StringVar(&d.Reasoning, "reasoning", "", "`HOW` it follows")
	f.StringArrayVar(&d.Previous, "follows", nil, "`ID` of a claim that it follows from; may be given again")
	f.StringVar(&d.Contests, "against", "", "`ID` of a claim that it speaks against")
	root.add(cmd, "was looked at")
	return cmd
}

func (a *app) claimsList() *cobra.Command {
	var q lifecycle.ClaimQuery
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List claims, by class",
		Long:    "Lists claims with their class, age and number of independent sources; without those that are\nsuperseded, which --all shows too. --due are those that are to be looked at again, with what\nthat takes; those that a tool rests on are first.",
		Example: "  jivad claims list\n  jivad claims list --class VERIFIED\n  jivad claims list --due",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.Class = strings.ToUpper(q.Class)
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				list, err := c.Claims(ctx, q)
				if err != nil {
					return err
				}
				return a.answer(list, func(p *printer) { tellClaims(p, list, q.Due) })
			})
		},
	}
	cmd.Flags().StringVar(&q.Class, "class", "", "only those of a `CLASS`")
	cmd.Flags().StringVar(&q.Subject, "subject", "", "only those about `WHAT`")
	cmd.Flags().BoolVar(&q.Due, "due", false, "those that are to be looked at again")
	cmd.Flags().BoolVar(&q.All, "all", false, "those too that another claim stands in the place of")
	return cmd
}

// claimsShow is show, and why, which also tells its course.
func (a *app) claimsShow(verb string) *cobra.Command {
	short := "Show one claim and its sources"
	if verb == "why" {
		short = "Tell how a claim came to its class, and what speaks against using or verifying it"
	}
	return &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Example: "  jivad claims " + verb + " c4kq2z",
		Args:    exactArgs(1, "the id of a claim, or the beginning of it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				story, err := c.Claim(ctx, args[0])
				if err != nil {
					return err
				}
				return a.answer(story, func(p *printer) { tellClaim(p, story, verb == "why") })
			})
		},
	}
}

// change does one change of a claim and tells what it is then.
func (a *app) change(ctx context.Context, x lifecycle.ClaimChange) error {
	return a.with(ctx, func(ctx context.Context, c companion) error {
		claim, err := c.ChangeClaim(ctx, x)
		if err != nil {
			return err
		}
		return a.answer(claim, func(p *printer) { tellChanged(p, claim) })
	})
}

func (a *app) claimsEvidence() *cobra.Command {
	var root rootFlags
	var withdrawn, note string
	cmd := &cobra.Command{
		Use:   "evidence ID --root WHAT",
		Short: "Add evidence to a claim, look at a source again, or take one back",
		Long: `Adds something that was looked at. A later look at the same thing takes the place of the one
before; in whatever form it is named, one thing is one source. --withdraw takes one back that
was none, a mistyped one say: what the claim still has is looked at again then, and a claim
that lacks its primary source, or sources that it was verified on, comes into quarantine.`,
		Example: "  jivad claims evidence c4kq2z --root sensor:leak-3\n  jivad claims evidence c4kq2z --root \"photo of the seal\" --type human --look \"in the log book, page 12\"",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[0] == "add" {
				return nil
			}
			return exactArgs(1, "the id of a claim")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if withdrawn != "" {
				if root.root != "" {
					return usage("--withdraw takes back what --root adds: give one of them")
				}
				if err := root.alone(); err != nil {
					return err
				}
				return a.change(cmd.Context(), lifecycle.ClaimChange{ID: args[len(args)-1], What: lifecycle.ClaimWithdraw, Root: &evidence.Root{ID: withdrawn}, Note: note})
			}
			if root.root == "" {
				return usage("claims evidence needs --root: what was looked at; or --withdraw: what is taken back")
			}
			if note != "" {
				return usage("--note goes with --withdraw")
			}
			r, err := root.read()
			if err != nil {
				return err
			}
			return a.change(cmd.Context(), lifecycle.ClaimChange{ID: args[len(args)-1], What: lifecycle.ClaimEvidence, Root: r})
		},
	}
	root.add(cmd, "was looked at")
	cmd.Flags().StringVar(&withdrawn, "withdraw", "", "`WHAT` is taken back, in whatever form it is named")
	cmd.Flags().StringVar(&note, "note", "", "a `REMARK` that is kept with that")
	return cmd
}

func (a *app) claimsLocate() *cobra.Command {
	var root rootFlags
	var reasoning string
	cmd := &cobra.Command{
		Use:     "locate ID --root WHAT",
		Short:   "Note that the primary source of a report was found: it is INFERRED then",
		Example: "  jivad claims locate c4kq2z --root \"the seal of pump 3\" --type human --look \"go there\" --reasoning \"drops below the seal\"",
		Args:    exactArgs(1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if root.root == "" {
				return usage("claims locate needs --root: the primary source")
			}
			r, err := root.read()
			if err != nil {
				return err
			}
			return a.change(cmd.Context(), lifecycle.ClaimChange{ID: args[0], What: lifecycle.ClaimLocate, Root: r, Reasoning: reasoning})
		},
	}
	root.add(cmd, "is the primary source")
	cmd.Flags().StringVar(&reasoning, "reasoning", "", "`HOW` the claim follows from it")
	return cmd
}

func (a *app) claimsReplay() *cobra.Command {
	var reasoning string
	cmd := &cobra.Command{
		Use:     "replay ID",
		Short:   "Note that the reasoning of a claim was gone through again on current evidence",
		Long:    "A conclusion that is stale is INFERRED again when its reasoning was replayed. Its sources must\nbe fresh: look at them again first, with jivad claims evidence.",
		Example: "  jivad claims replay c4kq2z --reasoning \"still drops below the seal\"",
		Args:    exactArgs(1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.change(cmd.Context(), lifecycle.ClaimChange{ID: args[0], What: lifecycle.ClaimReplay, Reasoning: reasoning})
		},
	}
	cmd.Flags().StringVar(&reasoning, "reasoning", "", "`HOW` it follows; as before without")
	return cmd
}

func (a *app) claimsPromote() *cobra.Command {
	return &cobra.Command{
		Use:     "promote ID",
		Short:   "Verify a claim, where nothing speaks against it; else all reasons are told",
		Example: "  jivad claims promote c4kq2z",
		Args:    exactArgs(1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.change(cmd.Context(), lifecycle.ClaimChange{ID: args[0], What: lifecycle.ClaimPromote})
		},
	}
}

// reviews are the decisions of claims review, in the order in which they are told.
var reviews = []string{lifecycle.ClaimClear, lifecycle.ClaimHold, lifecycle.ClaimReject, lifecycle.ClaimSupersede, lifecycle.ClaimReopen, lifecycle.ClaimDoubt, lifecycle.ClaimContest, lifecycle.ClaimSettle}

func (a *app) claimsReview() *cobra.Command {
	var x lifecycle.ClaimChange
	cmd := &cobra.Command{
		Use:   "review ID DECISION",
		Short: "Decide about a claim, as its last reviewer",
		Long: `DECISION is clear (out of quarantine; or for what is verified: it may bear acts of high
consequence), hold (it stays in quarantine), reject, supersede (--other stands in its
place), reopen (a rejected one, with evidence that it was not rejected with), quarantine,
contest (--other speaks against it) or settle (it and --other may both stand).`,
		Example: "  jivad claims review c4kq2z clear --note \"seen by me\"\n  jivad claims review c4kq2z supersede --other c7mmd3",
		Args:    exactArgs(2, "the id of a claim, and clear, hold, reject, supersede, reopen, quarantine, contest or settle"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x.ID, x.What = args[0], args[1]
			if !slices.Contains(reviews, x.What) {
				hint := "it is one of " + strings.Join(reviews, ", ")
				if n := faults.Nearest(x.What, reviews); n != "" {
					hint = "did you mean " + n + "?"
				}
				return usage("%q is no decision; %s", x.What, hint)
			}
			if needs := slices.Contains([]string{lifecycle.ClaimSupersede, lifecycle.ClaimContest, lifecycle.ClaimSettle}, x.What); needs != (x.Other != "") {
				if needs {
					return usage("%s needs --other: the other claim", x.What)
				}
				return usage("%s takes no --other", x.What)
			}
			return a.change(cmd.Context(), x)
		},
	}
	cmd.Flags().StringVar(&x.Other, "other", "", "`ID` of the other claim")
	cmd.Flags().StringVar(&x.Note, "note", "", "a `REMARK` that is kept with it")
	return cmd
}

func (a *app) claimsForget() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget ID...",
		Short: "Take claims out, with what follows from them, as if they had never been made",
		Long: `Takes claims out of the store, with all that happened to them and every claim that follows
from them. The store is written anew, so that no byte of them is left in it, and automatic
backups that hold them are removed. Claims that were taken from an entry go with it by
themselves: see jivad forget. In the place of ids, "all" is all of them, also where their
records are damaged and cannot be read.`,
		Example: "  jivad claims forget c4kq2z --yes\n  jivad claims forget all --yes",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes the ids of claims", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("claims forget cannot be undone: give --yes")
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				gone, err := c.ForgetClaims(ctx, args)
				if err != nil {
					return err
				}
				return a.answer(gone, func(p *printer) { tellClaimsGone(p, gone) })
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

func (a *app) claimsPending() *cobra.Command {
	return &cobra.Command{
		Use:     "pending",
		Short:   "List acts that wait for your yes",
		Example: "  jivad claims pending",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				list, err := c.PendingActs(ctx)
				if err != nil {
					return err
				}
				return a.answer(list, func(p *printer) { tellPending(p, list) })
			})
		},
	}
}

func (a *app) claimsApprove() *cobra.Command {
	var no bool
	cmd := &cobra.Command{
		Use:     "approve NUMBER",
		Short:   "Say yes, or no, to an act that waits",
		Long:    "Says yes to the one act of that number. It is judged once more before it is done. No answer in\ntime is a no.",
		Example: "  jivad claims approve 1\n  jivad claims approve 1 --no",
		Args:    exactArgs(1, "the number of an act that waits"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 1 {
				return usage("%q is no number of an act: jivad claims pending lists them", args[0])
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				act, err := c.AnswerAct(ctx, n, !no)
				if err != nil {
					return err
				}
				return a.answer(act, func(p *printer) {
					if no {
						p.line("Act %d, %s: no. It is not done.", act.ID, act.Tool)
						return
					}
					p.line("Act %d, %s: yes, and it was judged once more. It is tried now; how that ended is told where it was asked for.", act.ID, act.Tool)
				})
			})
		},
	}
	cmd.Flags().BoolVar(&no, "no", false, "say no")
	return cmd
}

func (a *app) claimsGate() *cobra.Command {
	var dry bool
	var consequence string
	cmd := &cobra.Command{
		Use:     "gate TOOL [ARGUMENTS] --dry-run",
		Short:   "Tell what the gate would say of the use of a tool, and why",
		Long:    "Tells whether a tool could be used now, what that rests on and all reasons against it. Nothing\nis done. ARGUMENTS is an object of JSON. The exit code is 0 for ALLOW and also where nothing\nis missing but your yes.",
		Example: "  jivad claims gate close_valve '{\"pump\": 3}' --dry-run",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%s takes the name of a tool, and its arguments as JSON", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !dry {
				return usage("claims gate only tells what would be: give --dry-run")
			}
			var arguments json.RawMessage
			if len(args) == 2 {
				var object map[string]json.RawMessage
				if err := json.Unmarshal([]byte(args[1]), &object); err != nil || object == nil {
					return usage("the arguments must be an object of JSON, such as '{\"pump\": 3}'")
				}
				arguments = json.RawMessage(args[1])
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				d, err := c.GateAct(ctx, args[0], consequence, arguments)
				if err != nil {
					return err
				}
				if err := a.answer(d, func(p *printer) { tellDecision(p, d) }); err != nil {
					return err
				}
				if d.Verdict != evidence.Allow && !d.Ask {
					return errGate
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell")
	cmd.Flags().StringVar(&consequence, "consequence", "", "low, medium or high, for a tool that the manifest does not declare (`LEVEL`)")
	return cmd
}

// errGate: the gate does not allow it. What it said has been printed.
var errGate = fmt.Errorf("AUDIT_REQUIRED: %w", lifecycle.ErrRefused)
