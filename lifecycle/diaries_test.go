package lifecycle_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/diary"
)

// diaries are whole diaries that go through the whole program. They take
// minutes, so `make diaries` asks for them.
var diaries = []struct {
	name    string
	entries int
}{
	{"scott_1910_1912", 403},
	{"barbellion_1903_1917", 531},
	{"dwordsworth_1798_1803", 446},
	{"lewisclark_1804", 462},
	{"schnitzler_1897", 363},
	{"santoka_gyokotsu_1930", 110},
	{"gita_sanskrit", 701},
}

func wantDiaries(t testing.TB) {
	t.Helper()
	if os.Getenv("JIVAD_DIARIES") == "" {
		t.Skip("skipped: whole diaries take minutes; make diaries runs them")
	}
}

// realWorld lives with the built-in models.
func realWorld(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	e, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := builtin.NewAssessor()
	if err != nil {
		t.Fatal(err)
	}
	w.opts.Embedder, w.opts.Assessor, w.opts.SnapshotEvery = e, a, 0
	return w
}

func readDiary(t testing.TB, name, ending string) []lifecycle.Note {
	t.Helper()
	files, err := diary.Read(shared(t, "data", "diaries", name+ending), diary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []lifecycle.Note
	for _, f := range files {
		for _, e := range f.Entries {
			out = append(out, lifecycle.Note{Text: e.Text, Date: e.Date, Label: e.Label, Source: "import:" + name})
		}
	}
	return out
}

// Every diary comes in whole, is found again by its words, and the store can
// prove itself; a second import, and one of the same work as Markdown, add nothing.
func TestWholeDiaries(t *testing.T) {
	wantDiaries(t)
	for _, d := range diaries {
		t.Run(d.name, func(t *testing.T) {
			list := readDiary(t, d.name, ".jsonl")
			w := realWorld(t)
			c := w.live(t)
			began := time.Now()
			r, err := c.Import(t.Context(), list, nil)
			if err != nil || r.New != d.entries || r.Entries != d.entries {
				t.Fatalf("%+v, %v", r, err)
			}
			t.Logf("%d entries, %d sessions in %v: %.0f a minute", r.New, r.Sessions, time.Since(began).Round(time.Second), r.PerMinute)
			before, doc := digestOf(t, c), soulText(t, c)
			for _, ending := range []string{".jsonl", ".md"} {
				r, err := c.Import(t.Context(), readDiary(t, d.name, ending), nil)
				if err != nil || r.New != 0 || r.Entries != d.entries || digestOf(t, c) != before || soulText(t, c) != doc {
					t.Errorf("again from %s: %+v, %v", ending, r, err)
				}
			}
			if len(doc) > 8<<10 {
				t.Errorf("SOUL.md has %d bytes", len(doc))
			}
			s, err := c.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d of %d entries are buried", s.Buried, s.Entries)
			found, asked := recallSample(t, c, list)
			t.Logf("%d of %d phrases of six words found at rank 5 or better", found, asked)
			if found*100 < asked*95 {
				t.Errorf("only %d of %d phrases were found", found, asked)
			}
		})
	}
}

// recallSample asks for phrases of six words (of twelve letters in scripts
// without spaces) from a seeded sample of the entries that are not buried.
func recallSample(t *testing.T, c *lifecycle.Companion, list []lifecycle.Note) (found, asked int) {
	texts, err := c.Texts()
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, text := range texts {
		kept[diary.Normalise(text)] = true
	}
	list = slices.DeleteFunc(slices.Clone(list), func(n lifecycle.Note) bool { return !kept[diary.Normalise(n.Text)] })
	r := rand.New(rand.NewPCG(3, 5))
	for range 200 {
		n := list[r.IntN(len(list))]
		phrase := phraseOf(n.Text, r)
		got, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: phrase, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		asked++
		if slices.ContainsFunc(got, func(x lifecycle.Recalled) bool {
			return diary.Normalise(x.Impression.Text) == diary.Normalise(n.Text)
		}) {
			found++
		}
	}
	return found, asked
}

func phraseOf(text string, r *rand.Rand) string {
	words := strings.Fields(text)
	letters := []rune(strings.Join(words, ""))
	if len(letters) > 12*max(1, len(words)) { // written without spaces
		from := r.IntN(max(1, len(letters)-12))
		return string(letters[from:min(len(letters), from+12)])
	}
	from := r.IntN(max(1, len(words)-6+1))
	return strings.Join(words[from:min(len(words), from+6)], " ")
}

// figures are what the gate and the depths did over a diary.
type figures struct {
	fired, focus, read, depth, peak []float64
	correlation                     float64
}

// someStore is how many impressions must be there before an entry counts in the
// figures of the gate: a handful of similarities has hardly a spread.
const someStore = 50

// refold folds the first 300 entries of a store again with other parameters.
func refold(t *testing.T, s *chitta.Store, mode gate.Mode) figures {
	t.Helper()
	var f figures
	state := fold.NewState()
	seen := 0
	for seq := uint64(1); seen < 300; seq++ {
		e, err := s.EventAt(seq)
		if err != nil {
			break
		}
		if p, ok := e.Body.(fold.ParamsChanged); ok {
			p.Params.Gate.Mode = mode
			e.Body = p
		}
		var near []fold.Candidate
		x, experienced := e.Body.(fold.Experienced)
		if experienced {
			state.Params.Gate.Mode = mode
			seen++
			near = state.Vectors.Nearest(x.Embedding, state.Params.Gate.Candidates, 2, nil)
		}
		out, err := fold.Step(state, e, near)
		if err != nil {
			t.Fatal(err)
		}
		if experienced && len(near) >= someStore {
			f.fired = append(f.fired, float64(len(out.Fired)+len(out.Suppressed)))
			f.focus = append(f.focus, out.Reading.Focus)
			f.read = append(f.read, float64(len(near)))
		}
	}
	shares := make([]float64, len(f.fired))
	for i, n := range f.fired {
		shares[i] = n / f.read[i]
	}
	f.correlation = correlation(f.focus, shares)
	for i := range state.Impressions {
		d, err := state.Depth(i)
		if err != nil {
			t.Fatal(err)
		}
		f.depth, f.peak = append(f.depth, d), append(f.peak, state.Impressions[i].Peak)
	}
	return f
}

func quantile(x []float64, p float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[int(p*float64(len(s)-1))]
}

func correlation(x, y []float64) float64 {
	var mx, my, sxy, sxx, syy float64
	n := float64(len(x))
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		sxy += (x[i] - mx) * (y[i] - my)
		sxx += (x[i] - mx) * (x[i] - mx)
		syy += (y[i] - my) * (y[i] - my)
	}
	return sxy / math.Sqrt(sxx*syy)
}

// The dynamics on three diaries: depths neither saturated nor flat, a focus
// that tells entries apart, and the two modes of the gate as decision D-2 says.
func TestDynamicsOnDiaries(t *testing.T) {
	wantDiaries(t)
	for _, d := range diaries[:3] {
		t.Run(d.name, func(t *testing.T) {
			list := readDiary(t, d.name, ".jsonl")
			w := realWorld(t)
			c := w.live(t)
			if _, err := c.Import(t.Context(), list[:300], nil); err != nil {
				t.Fatal(err)
			}
			w.end(t, c)
			s, err := chitta.Open(t.Context(), chitta.Options{Dir: w.dir})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(context.Background()) //nolint:errcheck // a test that only reads
			a, b := refold(t, s, gate.Concentrate), refold(t, s, gate.Literal)
			say := func(name string, x []float64) string {
				return fmt.Sprintf("%s 5 %% %.3f, median %.3f, 95 %% %.3f, most %.3f", name, quantile(x, .05), quantile(x, .5), quantile(x, .95), quantile(x, 1))
			}
			t.Log(say("depth", a.depth), "|", say("peak", a.peak))
			t.Log(say("focus", a.focus), "|", say("fired", a.fired), "| correlation", a.correlation)
			t.Log("literal:", say("fired", b.fired), "| correlation", b.correlation)
			within := func(name string, x, low, high float64) {
				if !(x >= low && x <= high) {
					t.Errorf("%s is %.3f, not from %v to %v", name, x, low, high)
				}
			}
			within("the 5 % depth", quantile(a.depth, .05), 0.03, 0.06)
			within("the median depth", quantile(a.depth, .5), 0.06, 0.12)
			within("the 95 % depth", quantile(a.depth, .95), 0.10, 0.25)
			within("the greatest peak", quantile(a.peak, 1), 0.25, 0.5)
			within("the median of fired", quantile(a.fired, .5), 6, 12)
			within("the 5 % focus", quantile(a.focus, .05), 0.1, 0.3)
			within("the 95 % focus", quantile(a.focus, .95), 0.3, 0.7)
			within("the spread of focus", quantile(a.focus, .95)-quantile(a.focus, .05), 0.2, 1)
			within("the correlation of focus and fired", a.correlation, -0.7, -0.2)
			within("the correlation in the literal mode", b.correlation, 0.4, 1)
			within("the median of fired in the literal mode", quantile(b.fired, .5), 0, min(3, quantile(a.fired, .5)/2))
		})
	}
}
