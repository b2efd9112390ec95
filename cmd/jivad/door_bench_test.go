package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

// mostAdded is how much later the first token may come through the door, in the
// median.
const mostAdded = 15 * time.Millisecond

// moment is the shortest that somebody needs to see an answer and say something more.
const moment = 100 * time.Millisecond

// BenchmarkDoor measures how much later the first token comes through the door than
// from the server alone, which answers at once here, on a store of
// JIVAD_BENCH_IMPRESSIONS (default 10000) under the built-in embedder. It fails where
// the median is more than 15 ms later. Where JIVAD_BENCH_DIR names a folder the store
// is made in it and kept.
func BenchmarkDoor(b *testing.B) { benchDoor(b, nil) }

// BenchmarkDoorAndAModel is the same with a model that takes seconds to judge each turn, and
// turns in quick succession: each begins a moment after the answer before it is whole, and
// every fifth while the model judges. Nothing waits until a turn was judged.
func BenchmarkDoorAndAModel(b *testing.B) { benchDoor(b, &ponderous{}) }

// ponderous is a model that takes seconds to judge, or until it is told to leave off.
type ponderous struct{ judging, leftOff atomic.Int64 }

func (p *ponderous) ID() string { return "ponderous/1" }

func (p *ponderous) Assess(ctx context.Context, _ lifecycle.Experience) (lifecycle.Assessment, error) {
	p.judging.Add(1)
	defer p.judging.Add(-1)
	select {
	case <-time.After(3 * time.Second):
		return lifecycle.Assessment{}, lifecycle.ErrModelAnswer
	case <-ctx.Done():
		p.leftOff.Add(1)
		return lifecycle.Assessment{}, ctx.Err()
	}
}

func (p *ponderous) Narrate(context.Context, string) (string, error) {
	return "", lifecycle.ErrModelAnswer
}

func (p *ponderous) Name(context.Context, []string, []string) (string, error) {
	return "", lifecycle.ErrModelAnswer
}

func (p *ponderous) Chat(context.Context, []lifecycle.ChatMessage, []tools.Offer, func(string) error) (lifecycle.ChatEnd, error) {
	return lifecycle.ChatEnd{}, lifecycle.ErrModelAnswer
}

func (p *ponderous) State() lifecycle.ModelState {
	return lifecycle.ModelState{Name: "ponderous", Digest: "1"}
}

func (p *ponderous) Watch(ctx context.Context, _ func(lifecycle.ModelState)) { <-ctx.Done() }

// busy waits until it judges.
func (p *ponderous) busy(b *testing.B) {
	b.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for range 10_000 {
		if p.judging.Load() > 0 {
			return
		}
		<-again.C
	}
	b.Fatal("the model is asked for no judgement, while nobody waits for an answer")
}

func benchDoor(b *testing.B, model *ponderous) {
	dir, n := benchStore(b, 10_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":"Yes"},"done":false}`+"\n")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":"."},"done":true}`+"\n")
	}))
	defer server.Close()

	embedder, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	assessor, err := builtin.NewAssessor()
	if err != nil {
		b.Fatal(err)
	}
	o := lifecycle.Options{Dir: dir, Embedder: embedder, Assessor: assessor, KeepOpen: true}
	if model != nil {
		o.Model, o.Deadline = model, time.Minute
	}
	c, err := lifecycle.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close(b.Context()) }()
	settings := config.Default()
	settings.Door.Listen, settings.Model.Server = "0", server.URL
	d, err := openDoor(b.Context(), &served{Companion: c, reload: &reloader{}, stopping: b.Context()}, settings, slog.New(slog.DiscardHandler))
	if err != nil || d.address == "" {
		b.Fatal(err, d.problem())
	}
	defer d.close(b.Context())

	number := 0
	said := func() string {
		number++
		return fmt.Sprintf("What did I say of the river, of the long walk home and of entry number %d?", number*37%n)
	}
	// The first ones find what every start leaves to do: caches, the graph.
	for range 5 {
		firstToken(b, "http://"+d.address, said())
		quiet(b, d, number)
	}
	if _, err := c.Doctor(b.Context()); err != nil { // waits for the index
		b.Fatal(err)
	}
	var alone, through []time.Duration
	for b.Loop() {
		if model != nil && len(through)%5 == 0 {
			model.busy(b)
		}
		said := said()
		alone = append(alone, firstToken(b, server.URL, said))
		through = append(through, firstToken(b, "http://"+d.address, said))
		if model == nil {
			quiet(b, d, number)
		} else {
			<-time.After(moment)
		}
	}
	if model != nil && model.leftOff.Load() == 0 {
		b.Error("no judgement gave way to an answer")
	}
	slices.Sort(alone)
	slices.Sort(through)
	median := through[len(through)/2] - alone[len(alone)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(alone[len(alone)/2].Microseconds())/1e3, "ms-alone")
	b.ReportMetric(float64(through[len(through)/2].Microseconds())/1e3, "ms-through")
	b.ReportMetric(float64(median.Microseconds())/1e3, "ms-added")
	b.ReportMetric(float64((through[0]-alone[0]).Microseconds())/1e3, "ms-added-at-best")
	b.ReportMetric(float64(through[len(through)*95/100].Microseconds())/1e3, "ms-through-p95")
	if len(through) >= 20 && median > mostAdded {
		b.Fatalf("the first token comes %v later through the door, in the median of %d (%v at best, where nothing else ran); %v at most was asked",
			median, len(through), through[0]-alone[0], mostAdded)
	}
}

// firstToken is how long the first line of an answer takes.
func firstToken(b *testing.B, address, said string) time.Duration {
	b.Helper()
	began := time.Now()
	response, err := http.Post(address+"/api/chat", "application/json", strings.NewReader(fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, said)))
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	in := bufio.NewReader(response.Body)
	if _, err := in.ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	_, _ = io.Copy(io.Discard, in)
	return took
}

// quiet waits until something became of so many turns: in everyday use nobody speaks
// while one is being remembered.
func quiet(b *testing.B, d *doorway, turns int) {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for range again.C {
		counts, _ := d.door.Turns()
		n := 0
		for _, c := range counts {
			n += int(c.N)
		}
		if n >= turns {
			return
		}
	}
}
