package api

import (
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// The embedder of a server is told of beside the model, and without it.
func TestMetricsOfTheModels(t *testing.T) {
	away := &lifecycle.ModelState{Away: "refused", Calls: 5, Repairs: 4, Failures: 3}
	model := &lifecycle.ModelStatus{ModelState: lifecycle.ModelState{Calls: 7}, Fallbacks: 1, Reflections: 2, Unnamed: 3, Unnarrated: 4, Owed: 5}
	for name, tc := range map[string]struct {
		status lifecycle.Status
		want   map[string]float64 // and no other
	}{
		"none": {},
		"an embedder": {lifecycle.Status{EmbedderState: away, Waiting: 2}, map[string]float64{
			"jivad_embedder_up": 0, "jivad_embedder_waiting": 2,
			"jivad_model_calls_total": 5, "jivad_model_repairs_total": 4, "jivad_model_failures_total": 3,
		}},
		"both": {lifecycle.Status{EmbedderState: &lifecycle.ModelState{Calls: 7}, Model: model}, map[string]float64{
			"jivad_embedder_up": 1, "jivad_embedder_waiting": 0, "jivad_model_up": 1,
			"jivad_model_calls_total": 7, "jivad_model_repairs_total": 0, "jivad_model_failures_total": 0,
			"jivad_model_fallbacks_total": 1, "jivad_model_reflections_total": 2, "jivad_model_unnamed_total": 3, "jivad_model_unnarrated_total": 4,
			"jivad_model_owed": 5, "jivad_model_reassessed_total": 0, "jivad_model_given_up_total": 0,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]float64{}
			for _, f := range ofModels(tc.status) {
				if _, twice := got[f.Name]; twice || len(f.Samples) != 1 {
					t.Errorf("%s: %v", f.Name, f.Samples)
				}
				got[f.Name] = f.Samples[0].Value
			}
			for family, x := range tc.want {
				if v, ok := got[family]; !ok || v != x {
					t.Errorf("%s is %v, %v; want %v", family, v, ok, x)
				}
				delete(got, family)
			}
			if len(got) > 0 {
				t.Errorf("too many: %v", got)
			}
		})
	}
}
