package api

import (
	"context"
	"encoding/json"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

// Companion is what is served: what a person can ask of a companion. Both
// [lifecycle.Companion] and [Client] are one.
type Companion interface {
	Write(context.Context, lifecycle.Note) (lifecycle.Receipt, error)
	Import(context.Context, []lifecycle.Note, func(lifecycle.Progress)) (lifecycle.ImportReport, error)
	Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(piece string) error) (lifecycle.TalkReport, error)
	EndSession(context.Context) (lifecycle.SessionReport, error)
	Sessions(context.Context) ([]lifecycle.SessionReport, error)
	Session(ctx context.Context, number int) (lifecycle.SessionReport, error)
	Recall(context.Context, lifecycle.RecallQuery) ([]lifecycle.Recalled, error)
	Show(ctx context.Context, id string) (lifecycle.Impression, error)
	Soul(ctx context.Context, session int) (lifecycle.SoulDocument, error)
	SoulVersions(context.Context) ([]lifecycle.SoulDocument, error)
	Vasanas(context.Context) ([]lifecycle.Tendency, error)
	Ghosts(context.Context) (lifecycle.GhostReport, error)
	GhostsOf(context.Context, lifecycle.GhostQuery, func(lifecycle.Progress)) (lifecycle.Counterfactual, error)
	Trend(ctx context.Context, last int) ([]soul.Record, error)
	Status(context.Context) (lifecycle.Status, error)
	Verify(ctx context.Context, full bool, progress func(lifecycle.Progress)) (lifecycle.VerifyReport, error)
	Doctor(context.Context) ([]lifecycle.Check, error)
	PlanForget(context.Context, lifecycle.ForgetQuery) (lifecycle.ForgetPlan, error)
	Forget(context.Context, lifecycle.ForgetQuery, func(lifecycle.Progress)) (lifecycle.ForgetReceipt, error)
	Export(ctx context.Context, progress func(lifecycle.Progress), put func(lifecycle.ExportPart) error) (lifecycle.ExportReport, error)
	Backup(ctx context.Context, file string, progress func(lifecycle.Progress)) (lifecycle.BackupReport, error)
	Backups(context.Context) ([]lifecycle.BackupFile, error)

	Lives(ctx context.Context, most int) ([]lifecycle.Life, error)
	Life(ctx context.Context, number int64) (lifecycle.Life, error)
	ReleaseLife(ctx context.Context, number int64, how string) (lifecycle.Life, error)
	Rate(ctx context.Context, life int64, valence float64) (lifecycle.Life, error)
	RateWith(ctx context.Context, life int64, valence float64, note string) (lifecycle.Life, error)
	Manifest(context.Context) (lifecycle.ManifestReport, error)
	Lineage(context.Context) (lifecycle.LineageSummary, error)
	VerifyLineage(context.Context) (lifecycle.LineageCheck, error)
	RenderLineage(ctx context.Context, version string) (lifecycle.LineageText, error)
	LineageRules(context.Context) ([]lifecycle.LineageRule, error)
	Blame(ctx context.Context, key string) ([]lifecycle.RuleShare, error)
	Prove(ctx context.Context, name string) (lifecycle.LineageProof, error)
	Attest(context.Context) (json.RawMessage, error)
	Absorb(context.Context) (lifecycle.Absorption, error)
	Invite(ctx context.Context, hub string) (lifecycle.Invited, error)
	PlanExcise(context.Context, lifecycle.ExcisionRequest) (lifecycle.ExcisionPlan, error)
	Excisions(context.Context) ([]lifecycle.ExcisionRecord, error)
	ExciseLives(context.Context, lifecycle.ExcisionRequest) (lifecycle.ExcisionReceipt, error)
	Claims(context.Context, lifecycle.ClaimQuery) ([]lifecycle.Claim, error)
	Claim(ctx context.Context, id string) (lifecycle.ClaimStory, error)
	AddClaim(context.Context, lifecycle.ClaimDraft) (lifecycle.Claim, error)
	ChangeClaim(context.Context, lifecycle.ClaimChange) (lifecycle.Claim, error)
	ForgetClaims(ctx context.Context, ids []string) (lifecycle.ForgottenClaims, error)
	GateAct(ctx context.Context, tool, consequence string, arguments json.RawMessage) (lifecycle.GateDecision, error)
	PendingActs(context.Context) ([]lifecycle.PendingAct, error)
	AnswerAct(ctx context.Context, id int, yes bool) (lifecycle.PendingAct, error)
	Consent(context.Context) (lifecycle.ConsentView, error)
	PlanConsent(context.Context, lifecycle.ConsentRequest) (lifecycle.ConsentPlan, error)
	SetConsent(context.Context, lifecycle.ConsentRequest, func(lifecycle.Progress)) (lifecycle.Withdrawal, error)
}

var (
	_ Companion = (*lifecycle.Companion)(nil)
	_ Companion = (*Client)(nil)
)
