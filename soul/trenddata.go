package soul

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// columns are the CSV's: a name with its unit, and the figure. The order is
// fixed; new ones are added at the end.
var columns = []struct {
	name  string
	value func(*Record) string
}{
	{"session", func(r *Record) string { return strconv.Itoa(r.Session) }},
	{"date", func(r *Record) string { return day(r.Date) }},
	{"opened", func(r *Record) string { return stamp(r.Opened) }},
	{"closed", func(r *Record) string { return stamp(r.Closed) }},
	{"events", func(r *Record) string { return strconv.Itoa(r.Events) }},
	{"new", func(r *Record) string { return strconv.Itoa(r.New) }},
	{"reactivated", func(r *Record) string { return strconv.Itoa(r.Reactivated) }},
	{"soft", func(r *Record) string { return strconv.Itoa(r.Soft) }},
	{"suppressed", func(r *Record) string { return strconv.Itoa(r.Suppressed) }},
	{"mean_focus", func(r *Record) string { return number(r.MeanFocus) }},
	{"mean_theta_eff", func(r *Record) string { return number(r.MeanTheta) }},
	{"load_tamas", func(r *Record) string { return number(&r.LoadTamas) }},
	{"load_rajas", func(r *Record) string { return number(&r.LoadRajas) }},
	{"g_store_tamas", func(r *Record) string { return part(r.GStore, 0) }},
	{"g_store_rajas", func(r *Record) string { return part(r.GStore, 1) }},
	{"g_store_sattva", func(r *Record) string { return part(r.GStore, 2) }},
	{"g_ahamkara_tamas", func(r *Record) string { return part(r.GAhamkara, 0) }},
	{"g_ahamkara_rajas", func(r *Record) string { return part(r.GAhamkara, 1) }},
	{"g_ahamkara_sattva", func(r *Record) string { return part(r.GAhamkara, 2) }},
	{"witness_gap", func(r *Record) string { return number(r.WitnessGap) }},
	{"moksha_distance_deg", func(r *Record) string { return number(r.MokshaDistance) }},
	{"impressions", func(r *Record) string { return strconv.Itoa(r.Impressions) }},
	{"vasanas", func(r *Record) string { return strconv.Itoa(r.Vasanas) }},
	{"ghosts", func(r *Record) string { return strconv.Itoa(r.Ghosts) }},
	{"kappa", func(r *Record) string { return number(&r.Kappa) }},
	{"valence", func(r *Record) string { return number(r.Valence) }},
	{"assessed_by_model", func(r *Record) string { return number(&r.ByModel) }},
	{"assessed_by_builtin", func(r *Record) string { return number(&r.ByBuiltin) }},
	{"assess_p50_ms", func(r *Record) string { return number(r.Latency.AssessP50) }},
	{"assess_p95_ms", func(r *Record) string { return number(r.Latency.AssessP95) }},
	{"event_p50_ms", func(r *Record) string { return number(r.Latency.EventP50) }},
	{"event_p95_ms", func(r *Record) string { return number(r.Latency.EventP95) }},
	{"close_ms", func(r *Record) string { return number(r.Latency.Close) }},
}

// TrendCSV writes one line for each record under a line of names. What is
// undefined is empty. Figures are exact: reading them gives the same floats.
func TrendCSV(w io.Writer, records []Record) error {
	out := csv.NewWriter(w)
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	if err := out.Write(row); err != nil {
		return fmt.Errorf("soul: trend as CSV: %w", err)
	}
	for i := range records {
		for j, c := range columns {
			row[j] = c.value(&records[i])
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("soul: trend as CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("soul: trend as CSV: %w", err)
	}
	return nil
}

// TrendJSON writes the records as one indented JSON array. What is undefined is
// null. A record with a number that is not finite is refused (ErrSummary).
func TrendJSON(w io.Writer, records []Record) error {
	if records == nil {
		records = []Record{}
	}
	for i := range records {
		if err := records[i].Check(); err != nil {
			return err
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	if err := out.Encode(records); err != nil {
		return fmt.Errorf("soul: trend as JSON: %w", err)
	}
	return nil
}

func number(v *float64) string {
	if v == nil || !finite(*v) {
		return ""
	}
	return strconv.FormatFloat(*v+0, 'g', -1, 64)
}

func part(v *Vector, i int) string {
	if v == nil {
		return ""
	}
	return number([]*float64{&v.Tamas, &v.Rajas, &v.Sattva}[i])
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
