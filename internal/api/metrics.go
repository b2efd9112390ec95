package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jivad/jivad/lifecycle"
)

// Family is one metric with its samples, as Prometheus has it.
type Family struct {
	// Name is of small letters and underscores, and Kind "gauge", "counter" or
	// "histogram".
	Name, Kind, Help string
	Samples          []Sample
}

// Sample is one value. Suffix stands behind the family's name: "_bucket", "_sum" and
// "_count" of a histogram, else nothing. Labels are names and values in turn; the
// values are never text of the person.
type Sample struct {
	Suffix string
	Labels []string
	Value  float64
}

// Collector gives metrics when they are asked for. What it returns beside an error
// is told all the same.
type Collector func(context.Context) ([]Family, error)

// Gauge is a family of one value that goes up and down, Counter of one that only
// grows while the daemon runs.
func Gauge(name, help string, value float64) Family {
	return Family{Name: name, Kind: "gauge", Help: help, Samples: []Sample{{Value: value}}}
}

// Counter is explained at [Gauge].
func Counter(name, help string, value float64) Family {
	return Family{Name: name, Kind: "counter", Help: help, Samples: []Sample{{Value: value}}}
}

// metrics answers /metrics in Prometheus' text format, version 0.0.4.
func metrics(collectors []Collector) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		failed := 0
		for _, collect := range collectors {
			families, err := collect(r.Context())
			if err != nil {
				failed++
			}
			for _, f := range families {
				expose(&b, f)
			}
		}
		expose(&b, Gauge("jivad_scrape_errors", "Parts of these metrics that could not be had.", float64(failed)))
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(b.String()))
	}
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// expose writes one family.
func expose(b *strings.Builder, f Family) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.Name, helpEscapes.Replace(f.Help), f.Name, f.Kind)
	for _, s := range f.Samples {
		b.WriteString(f.Name + s.Suffix)
		for i := 0; i+1 < len(s.Labels); i += 2 {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			b.WriteString(s.Labels[i] + `="` + labelEscapes.Replace(strings.ToValidUTF8(s.Labels[i+1], "�")) + `"`)
		}
		if len(s.Labels) > 1 {
			b.WriteString("}")
		}
		b.WriteString(" " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n")
	}
}

// OfMeters tells what a companion measured of itself.
func OfMeters(meters func() lifecycle.Meters) Collector {
	return func(context.Context) ([]Family, error) {
		m := meters()
		stages := Family{Name: "jivad_entry_stage_seconds", Kind: "histogram",
			Help: "How long entries took in each stage: to be embedded, to be judged, waiting, and to be folded and written."}
		for _, s := range m.Stages {
			stages.Samples = append(stages.Samples, histogram(s.Times, "stage", s.Stage)...)
		}
		out := []Family{
			stages,
			{Name: "jivad_entry_seconds", Kind: "histogram", Help: "How long entries took from the queue to the disk.", Samples: histogram(m.Entries)},
			{Name: "jivad_queue_depth", Kind: "gauge", Help: "What waits in each line: what somebody waits for goes before imports and the diary.", Samples: []Sample{
				{Labels: []string{"line", "interactive"}, Value: float64(m.Interactive)}, {Labels: []string{"line", "backlog"}, Value: float64(m.Backlog)}}},
			Counter("jivad_store_transactions_total", "Transactions that wrote to the store.", float64(m.Transactions)),
			Counter("jivad_store_fsyncs_total", "Syncs of the store's file.", float64(m.Syncs)),
		}
		if r := m.Read; r != nil {
			out = append(out,
				Gauge("jivad_focus", "Focus of the last entry that met an impression.", r.Focus),
				Gauge("jivad_theta", "Threshold at that entry, a cosine.", r.Theta),
				Family{Name: "jivad_load", Kind: "gauge", Help: "How heavy (tamas) and how stirred up (rajas) the context was at that entry.", Samples: []Sample{
					{Labels: []string{"guna", "tamas"}, Value: r.LoadTamas}, {Labels: []string{"guna", "rajas"}, Value: r.LoadRajas}}})
		}
		if s := m.Shares; s != nil {
			out = append(out, Family{Name: "jivad_share", Kind: "gauge", Help: "Character at the end of the last session, in shares of 1.", Samples: []Sample{
				{Labels: []string{"guna", "tamas"}, Value: s.Tamas}, {Labels: []string{"guna", "rajas"}, Value: s.Rajas}, {Labels: []string{"guna", "sattva"}, Value: s.Sattva}}})
		}
		return out, nil
	}
}

// histogram are the samples of times, in seconds, under labels.
func histogram(t lifecycle.Times, labels ...string) []Sample {
	var out []Sample
	below := uint64(0)
	add := func(bound string) {
		out = append(out, Sample{Suffix: "_bucket", Labels: append(slices.Clone(labels), "le", bound), Value: float64(below)})
	}
	for i, bound := range lifecycle.TimeBounds() {
		below += t.Counts[i]
		add(strconv.FormatFloat(bound.Seconds(), 'g', -1, 64))
	}
	below += t.Counts[len(t.Counts)-1]
	add("+Inf")
	return append(out, Sample{Suffix: "_sum", Labels: labels, Value: t.Sum.Seconds()}, Sample{Suffix: "_count", Labels: labels, Value: float64(below)})
}

// ofStatus tells the numbers of the status.
func ofStatus(c Companion) Collector {
	return func(ctx context.Context) ([]Family, error) {
		s, err := c.Status(ctx)
		if err != nil {
			return nil, err
		}
		out := []Family{
			{Name: "jivad_info", Kind: "gauge", Help: "1; the labels tell what runs.", Samples: []Sample{{
				Labels: []string{"version", s.Version, "embedder", s.Embedder, "assessor", s.Assessor, "index", s.Index}, Value: 1}}},
			Gauge("jivad_uptime_seconds", "How long the daemon has been running.", s.Uptime),
			Gauge("jivad_records", "Records of the log.", float64(s.Events)),
			Gauge("jivad_entries", "Experiences among the records.", float64(s.Entries)),
			Gauge("jivad_impressions", "Impressions that are kept.", float64(s.Impressions)),
			Gauge("jivad_buried", "Entries whose texts were deleted because they faded.", float64(s.Buried)),
			Gauge("jivad_unplaced", "Impressions without a vector since the embedder changed.", float64(s.Unplaced)),
			Gauge("jivad_tendencies", "Tendencies found at the last end of a session.", float64(s.Tendencies)),
			Gauge("jivad_queue", "Entries that wait to be judged and stored.", float64(s.Queue)),
			Gauge("jivad_store_bytes", "Size of the store's file.", float64(s.StoreBytes)),
			Gauge("jivad_problems", "Problems that the status tells of.", float64(len(s.Problems))),
			Gauge("jivad_backups", "Backups in their folder.", float64(s.Backups.Count)),
		}
		if s.Backups.Taken != nil {
			out = append(out, Gauge("jivad_backup_age_seconds", "Age of the newest backup.", s.Backups.Age))
		}
		return append(append(out, ofModels(s)...), ofSessions(s)...), nil
	}
}

// ofModels tells how the models of a server do, nothing where there are none.
func ofModels(s lifecycle.Status) (out []Family) {
	up := func(m lifecycle.ModelState) float64 {
		if m.Away != "" {
			return 0
		}
		return 1
	}
	if e := s.EmbedderState; e != nil {
		out = append(out,
			Gauge("jivad_embedder_up", "1 while the embedder can be asked.", up(*e)),
			Gauge("jivad_embedder_waiting", "Entries of the diary that wait for it.", float64(s.Waiting)))
	}
	if m := s.Model; m != nil {
		out = append(out,
			Gauge("jivad_model_up", "1 while the model can be asked.", up(m.ModelState)),
			Counter("jivad_model_fallbacks_total", "Entries that the built-in assessor judged in its place.", float64(m.Fallbacks)),
			Counter("jivad_model_reassessed_total", "Entries that it judged again.", float64(m.Reassessed)),
			Counter("jivad_model_given_up_total", "Entries that it had no answer for.", float64(m.GivenUp)),
			Counter("jivad_model_reflections_total", "Talks that the built-in reflection answered in its place.", float64(m.Reflections)),
			Counter("jivad_model_unnamed_total", "Answers of no use where it was to name a tendency; the built-in name stays.", float64(m.Unnamed)),
			Counter("jivad_model_unnarrated_total", "Sessions whose built-in words stay because it had none of use.", float64(m.Unnarrated)),
			Gauge("jivad_model_owed", "Entries that it is still to judge.", float64(m.Owed)))
	}
	asked := s.EmbedderState // the counts are of the server, whichever model is asked
	if s.Model != nil {
		asked = &s.Model.ModelState
	}
	if asked == nil {
		return out
	}
	return append(out,
		Counter("jivad_model_calls_total", "Requests to the models of the server.", float64(asked.Calls)),
		Counter("jivad_model_repairs_total", "Second tries after an answer that could not be used.", float64(asked.Repairs)),
		Counter("jivad_model_failures_total", "Answers that could not be used.", float64(asked.Failures)))
}

func ofSessions(s lifecycle.Status) []Family {
	open, number, events := 0.0, 0.0, 0.0
	var out []Family
	if last := s.LastSession; last != nil {
		number = float64(last.Number)
		if last.WitnessGap != nil {
			out = append(out, Gauge("jivad_witness_gap", "Witness gap at the end of the last session.", *last.WitnessGap))
		}
	}
	if now := s.Session; now != nil {
		open, number, events = 1, float64(now.Number), float64(now.Events)
	}
	return append(out,
		Gauge("jivad_sessions", "Number of the newest session.", number),
		Gauge("jivad_session_open", "1 while a session is open.", open),
		Gauge("jivad_session_entries", "Entries of the open session.", events))
}

// NewProbes answers /healthz (the process lives), /readyz (the companion answers)
// and /metrics, for those who watch over a daemon.
func NewProbes(c Companion, more ...Collector) http.Handler {
	mux := http.NewServeMux()
	probes(mux, c, more)
	return mux
}

func probes(mux *http.ServeMux, c Companion, more []Collector) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]string{"status": "ok"}, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if _, err := c.Session(r.Context(), 0); err != nil && !errors.Is(err, lifecycle.ErrNotFound) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status":"not ready"}` + "\n"))
			return
		}
		answer(w, map[string]string{"status": "ready"}, nil)
	})
	mux.HandleFunc("GET /metrics", metrics(append([]Collector{ofStatus(c), livesMetrics(c)}, more...)))
}
