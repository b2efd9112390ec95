package api

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

var (
	metricName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	metricLine  = regexp.MustCompile(`^([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+)$`)
	metricLabel = regexp.MustCompile(`^([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)`)
)

// parsed is the text format as a scraper takes it: the samples by name and labels as
// they are written. Each family has one HELP and one TYPE, in this order, and all its
// samples behind them; no sample is there twice; a counter does not fall below 0 and is
// called a total; the buckets of a histogram ascend to its count.
func parsed(text string) (map[string]float64, error) {
	if !strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") {
		return nil, fmt.Errorf("it does not end with a line")
	}
	samples, kinds := map[string]float64{}, map[string]string{}
	var family, helped string
	buckets := map[string]*struct{ bound, last float64 }{}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fail := func(why string) (map[string]float64, error) {
			return nil, fmt.Errorf("line %d: %s: %s", n+1, why, line)
		}
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			if !metricName.MatchString(name) || help == "" || kinds[name] != "" {
				return fail("no help, or a second one")
			}
			helped = name
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if name != helped || kinds[name] != "" || !slices.Contains([]string{"gauge", "counter", "histogram"}, kind) {
				return fail("no type, a second one, or not behind its help")
			}
			family, kinds[name] = name, kind
			continue
		}
		m := metricLine.FindStringSubmatch(line)
		if m == nil {
			return fail("no sample")
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || math.IsNaN(value) {
			return fail("no number")
		}
		labels := map[string]string{}
		for rest := m[2]; rest != ""; {
			l := metricLabel.FindStringSubmatch(rest)
			if l == nil {
				return fail("no label")
			}
			if _, twice := labels[l[1]]; twice {
				return fail("a label twice")
			}
			labels[l[1]] = l[2]
			rest = rest[len(l[0]):]
		}
		key := keyOf(m[1], labels)
		if _, twice := samples[key]; twice {
			return fail("a sample twice")
		}
		samples[key] = value
		suffix, ok := strings.CutPrefix(m[1], family)
		switch kind := kinds[family]; {
		case !ok || family != helped:
			return fail("a sample of another family")
		case kind == "counter" && (suffix != "" || !strings.HasSuffix(family, "_total") || value < 0):
			return fail("no counter")
		case kind == "gauge" && suffix != "":
			return fail("no gauge")
		case kind == "histogram":
			bound, isBucket := labels["le"]
			if isBucket != (suffix == "_bucket") || value < 0 {
				return fail("no part of a histogram")
			}
			delete(labels, "le")
			series := keyOf(family, labels)
			b := buckets[series]
			if b == nil {
				b = &struct{ bound, last float64 }{bound: math.Inf(-1)}
				buckets[series] = b
			}
			switch suffix {
			case "_bucket":
				at, err := strconv.ParseFloat(bound, 64)
				if err != nil || at <= b.bound || value < b.last {
					return fail("a bucket that does not ascend")
				}
				b.bound, b.last = at, value
			case "_count":
				if !math.IsInf(b.bound, 1) || value != b.last {
					return fail("a count that is not that of the last bucket")
				}
			case "_sum":
			default:
				return fail("no part of a histogram")
			}
		}
	}
	return samples, nil
}

// keyOf names a sample among the parsed ones, sampleOf one with labels in turn.
func keyOf(name string, labels map[string]string) string { return name + fmt.Sprint(labels) }

func sampleOf(name string, labels ...string) string {
	m := map[string]string{}
	for pair := range slices.Chunk(labels, 2) {
		m[pair[0]] = pair[1]
	}
	return keyOf(name, m)
}

// What no scraper takes is refused by the test itself.
func TestTheFormatIsReadStrictly(t *testing.T) {
	const good = "# HELP a_total x\n# TYPE a_total counter\na_total{b=\"c\\\"\"} 1\n" +
		"# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"
	if _, err := parsed(good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"no end":                   {"h_count 2\n", "h_count 2"},
		"no help":                  {"# HELP a_total x\n", ""},
		"no type":                  {"# TYPE a_total counter\n", ""},
		"another type":             {"a_total counter", "a_total count"},
		"a sample twice":           {"h_sum 3\n", "h_sum 3\nh_sum 3\n"},
		"a family twice":           {"# HELP h x\n# TYPE h", "# HELP a_total x\n# TYPE a_total"},
		"a label without an end":   {`c\""`, `c\"`},
		"a name in capitals":       {"a_total{", "A_total{"},
		"a counter below 0":        {"} 1\n#", "} -1\n#"},
		"a counter that is none":   {"# HELP a_total x\n# TYPE a_total counter\na_total{b=\"c\\\"\"} 1\n", "# HELP a x\n# TYPE a counter\na 1\n"},
		"no number":                {"h_sum 3", "h_sum NaN"},
		"buckets that fall":        {`{le="1"} 1`, `{le="1"} 3`},
		"bounds that fall":         {`h_bucket{le="1"} 1`, "h_bucket{le=\"2\"} 1\nh_bucket{le=\"1\"} 1"},
		"no last bucket":           {"h_bucket{le=\"+Inf\"} 2\n", ""},
		"another count":            {"h_count 2", "h_count 3"},
		"a histogram with a gauge": {"h_sum 3\n", "h_sum 3\nh 3\n"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing was changed", what)
		}
		if _, err := parsed(bad); err == nil {
			t.Errorf("%s is let through:\n%s", what, bad)
		}
	}
}

func TestMetersAreTold(t *testing.T) {
	counts := make([]uint64, len(lifecycle.TimeBounds())+1)
	counts[0], counts[3], counts[len(counts)-1] = 2, 1, 4
	times := lifecycle.Times{Counts: counts, Sum: 1500 * time.Millisecond}
	m := lifecycle.Meters{
		Stages:  []lifecycle.StageTimes{{Stage: lifecycle.StageEmbed, Times: times}, {Stage: lifecycle.StageStore, Times: lifecycle.Times{Counts: make([]uint64, len(counts))}}},
		Entries: times, Interactive: 1, Backlog: 2, Transactions: 21, Syncs: 43,
		Read:   &lifecycle.Reading{Focus: 0.25, Theta: 0.5, LoadTamas: 0.125, LoadRajas: 0.75},
		Shares: &lifecycle.Shares{Tamas: 0.25, Rajas: 0.25, Sattva: 0.5},
	}
	code, text := ask(NewProbes(&fake{}, OfMeters(func() lifecycle.Meters { return m })), "/metrics")
	samples, err := parsed(text)
	if err != nil || code != http.StatusOK {
		t.Fatalf("%d, %v\n%s", code, err, text)
	}
	for key, want := range map[string]float64{
		sampleOf("jivad_entry_stage_seconds_bucket", "stage", "embed", "le", "0.001"): 2,
		sampleOf("jivad_entry_stage_seconds_bucket", "stage", "embed", "le", "0.1"):   3,
		sampleOf("jivad_entry_stage_seconds_bucket", "stage", "embed", "le", "60"):    3,
		sampleOf("jivad_entry_stage_seconds_bucket", "stage", "embed", "le", "+Inf"):  7,
		sampleOf("jivad_entry_stage_seconds_sum", "stage", "embed"):                   1.5,
		sampleOf("jivad_entry_stage_seconds_count", "stage", "store"):                 0,
		sampleOf("jivad_entry_seconds_count"):                                         7,
		sampleOf("jivad_queue_depth", "line", "backlog"):                              2,
		sampleOf("jivad_store_transactions_total"):                                    21,
		sampleOf("jivad_store_fsyncs_total"):                                          43,
		sampleOf("jivad_focus"):                                                       0.25,
		sampleOf("jivad_theta"):                                                       0.5,
		sampleOf("jivad_load", "guna", "rajas"):                                       0.75,
		sampleOf("jivad_share", "guna", "sattva"):                                     0.5,
	} {
		if got, ok := samples[key]; !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", key, got, ok, want)
		}
	}
	// A companion that has met nothing yet says nothing of it, and not 0.
	m.Read, m.Shares = nil, nil
	_, text = ask(NewProbes(&fake{}, OfMeters(func() lifecycle.Meters { return m })), "/metrics")
	if samples, err = parsed(text); err != nil {
		t.Fatal(err)
	}
	for key := range maps.Keys(samples) {
		if strings.HasPrefix(key, "jivad_theta") || strings.HasPrefix(key, "jivad_focus") || strings.HasPrefix(key, "jivad_share") || strings.HasPrefix(key, "jivad_load") {
			t.Errorf("%s is told", key)
		}
	}
}
