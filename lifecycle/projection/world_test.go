package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

var errCrash = errors.New("the power is gone")

// memory is a store that can die: at its dies-th transaction, before or after that is
// durable. From then on every transaction fails.
type memory struct {
	records map[string][]byte
	puts    int
	dies    int
	after   bool
	fails   error
}

func newMemory() *memory { return &memory{records: map[string][]byte{}} }

func (m *memory) Value(name string) ([]byte, error) {
	if d, ok := m.records[name]; ok {
		return slices.Clone(d), nil
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
}

func (m *memory) Values(prefix string, f func(string, []byte) error) error {
	for _, name := range slices.Sorted(maps.Keys(m.records)) {
		if strings.HasPrefix(name, prefix) {
			if err := f(name, slices.Clone(m.records[name])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) Put(_ context.Context, values ...Value) error {
	m.puts++
	if m.fails != nil {
		return m.fails
	}
	dead := m.dies > 0 && m.puts >= m.dies
	if dead && !(m.after && m.puts == m.dies) {
		return errCrash
	}
	for _, v := range values {
		if v.Data == nil {
			delete(m.records, v.Name)
			continue
		}
		m.records[v.Name] = slices.Clone(v.Data)
	}
	if dead {
		return errCrash
	}
	return nil
}

func (m *memory) Rewrite(ctx context.Context, f func(Value) ([]byte, error), more ...Value) error {
	if m.dies > 0 && m.puts+1 >= m.dies && !(m.after && m.puts+1 == m.dies) || m.fails != nil {
		return m.Put(ctx)
	}
	next := map[string][]byte{}
	for name, data := range m.records {
		kept, err := f(Value{name, data})
		if err != nil {
			return err
		}
		if kept != nil {
			next[name] = kept
		}
	}
	m.records = next
	return m.Put(ctx, more...)
}

// world is a device to live on: two tools of the source's task T1, as programs, and one
// that only fails.
type world struct {
	t       testing.TB
	dir     string
	store   *memory
	text    string
	session int
	now     time.Time
	seen    []string
	// around makes what is found there.
	around func(*manifest.Found)
	gate   func(context.Context, tools.Proposal, bool) tools.Verdict
	ask    func(context.Context, tools.Proposal) bool
}

const fareManifest = `
mission = "Book the cheapest fare."

[[grants]]
capability = "exec"

[[tools]]
name = "fare_search"
description = "Searches fares."
consequence = "low"
[tools.arguments]
type = "object"
required = ["strategy"]
properties.strategy.type = "string"
[tools.exec]
argv = ["/usr/bin/test", "{{strategy}}", "=", "VALID"]

[[tools]]
name = "list_strategies"
description = "Lists the strategies."
consequence = "low"
[tools.exec]
argv = ["/bin/echo", "direct", "nested", "indexed", "mirrored"]

[[tools]]
name = "shut_valve"
description = "Shuts the valve."
consequence = "high"
[tools.exec]
argv = ["/bin/true"]
`

func newWorld(t testing.TB) *world {
	return &world{
		t: t, dir: t.TempDir(), store: newMemory(), text: strings.ReplaceAll(fareManifest, "VALID", "indexed"), session: 1,
		now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
	}
}

var root = lineage.ID{6: 0x70, 8: 0x80, 15: 1}

func (w *world) open() (*Projections, error) { return Open(context.Background(), w.options()) }

func (w *world) options() Options {
	return Options{
		Dir: w.dir, Store: w.store, Root: root, Idle: 30 * time.Minute, Gate: w.gate, Ask: w.ask,
		Manifest: func() (manifest.Manifest, error) { return manifest.Parse("manifest.toml", w.text) },
		Found: func(_ context.Context, m manifest.Manifest) manifest.Found {
			f := manifest.Found{Embedder: manifest.Model{ID: "builtin"}}
			f.Tools, f.ToolFaults = resolved(m, w.dir)
			if w.around != nil {
				w.around(&f)
			}
			return f
		},
		Seen: func(int) ([]string, []string, error) { return w.seen, nil, nil },
		Now:  func() (time.Time, bool) { return w.now, true },
	}
}

func resolved(m manifest.Manifest, dir string) (*tools.Set, tools.Faults) {
	set, err := tools.Resolve(m.Tools, tools.Surroundings{Workplace: dir})
	var faults tools.Faults
	errors.As(err, &faults)
	return set, faults
}

func (w *world) must(p *Projections, err error) *Projections {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func call(tool, strategy string) tools.Call {
	if strategy == "" {
		return tools.Call{Tool: tool}
	}
	return tools.Call{Tool: tool, Arguments: fmt.Appendf(nil, `{"strategy":%q}`, strategy)}
}

// live is a life of a scripted agent of T1: it does what its rules prefer, else tries what
// comes next. It tells how many calls it took.
func live(ctx context.Context, p *Projections) (calls int, err error) {
	if err := p.Birth(ctx); err != nil {
		return 0, err
	}
	if err := p.Entry(1, "Please book me the cheapest fare to Lisbon for Tuesday.", true, func([]Value) error { return nil }); err != nil {
		return 0, err
	}
	var tries []string
	listed := false
	list := func() error {
		if listed {
			return nil
		}
		listed = true
		calls++
		out, err := p.Act(ctx, call("list_strategies", ""))
		tries = append(tries, strings.Fields(out.Text)...)
		return err
	}
	for line := range strings.Lines(p.Rules()) {
		line = strings.TrimSpace(line)
		if s, found := strings.CutPrefix(line, "- tool fare_search, argument strategy: prefer "); found {
			tries = append(tries, s)
		}
		if strings.HasPrefix(line, "- tool list_strategies, when to call it: prefer") {
			if err := list(); err != nil {
				return calls, err
			}
		}
	}
	preferred := p.Rules()
	slices.SortStableFunc(tries, func(a, b string) int {
		rank := func(s string) int {
			if strings.Contains(preferred, "prefer "+s+"\n") {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	if len(tries) == 0 {
		tries = []string{"cheapest"}
	}
	for i := 0; i < len(tries); i++ {
		if slices.Contains(tries[:i], tries[i]) {
			continue
		}
		calls++
		out, err := p.Act(ctx, call("fare_search", tries[i]))
		if err != nil {
			return calls, err
		}
		if len(out.Refused) > 0 {
			return calls, errors.New(out.Text)
		}
		if out.OK {
			return calls, nil
		}
		if err := list(); err != nil {
			return calls, err
		}
	}
	return calls, errors.New("nothing was booked")
}

// end withdraws, distils and rates.
func (w *world) end(p *Projections, rating int64) error {
	err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(context.Background(), v...) })
	if err != nil {
		return err
	}
	if _, err := p.Distil(context.Background(), nil); err != nil {
		return err
	}
	_, err = p.Rate(context.Background(), 0, rating)
	return err
}
