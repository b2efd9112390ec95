package api

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
)

var withdrew = func() (w lifecycle.Withdrawal) {
	w.Version, w.Done = 7, []consent.Done{{Category: consent.Health, Texts: 3, Purged: true}}
	return w
}()

var viewed = lifecycle.ConsentView{Table: consent.Default().Table(), Kept: []lifecycle.ConsentKept{{Category: consent.Health, Entries: 2, Texts: 1, Resting: 1}}}

// What is said through the socket arrives as it was said, and its report comes back.
func TestConsentThroughTheSocket(t *testing.T) {
	f := &fake{}
	_, client := serve(t, f)
	view, err := client.Consent(t.Context())
	if err != nil || !reflect.DeepEqual(view.Table, viewed.Table) || !reflect.DeepEqual(view.Kept, viewed.Kept) {
		t.Errorf("%+v, %v", view, err)
	}
	changes, err := consent.ParseSettings("health.*=deny")
	if err != nil {
		t.Fatal(err)
	}
	said := lifecycle.ConsentRequest{Changes: changes, Who: "anna", Why: "enough"}
	if _, err := client.PlanConsent(t.Context(), said); err != nil || !reflect.DeepEqual(f.said, said) {
		t.Errorf("%+v, %v", f.said, err)
	}
	f.said = lifecycle.ConsentRequest{}
	stages := 0
	report, err := client.SetConsent(t.Context(), said, func(lifecycle.Progress) { stages++ })
	if err != nil || !reflect.DeepEqual(f.said, said) || report.Version != 7 || stages != 1 || len(report.Done) != 1 || report.Done[0].Texts != 3 {
		t.Errorf("%+v, %+v, %d, %v", report, f.said, stages, err)
	}
	f.err = lifecycle.ErrConsent
	if _, err := client.PlanConsent(t.Context(), said); !errors.Is(err, lifecycle.ErrConsent) {
		t.Errorf("%v", err)
	}
}

func (f *fake) Consent(context.Context) (lifecycle.ConsentView, error) { return viewed, f.err }

func (f *fake) PlanConsent(_ context.Context, r lifecycle.ConsentRequest) (lifecycle.ConsentPlan, error) {
	f.said = r
	return lifecycle.ConsentPlan{Changes: r.Changes}, f.err
}

func (f *fake) SetConsent(_ context.Context, r lifecycle.ConsentRequest, progress func(lifecycle.Progress)) (w lifecycle.Withdrawal, err error) {
	f.said = r
	progress(lifecycle.Progress{Done: 1, Total: 1, Stage: "write"})
	return withdrew, f.err
}
