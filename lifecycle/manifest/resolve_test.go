package manifest

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

var (
	headVersion = lineage.Digest{1}
	pin         = lineage.Digest{2}
	otherHex    = strings.Repeat("ab", 32)
)

// harmony is a manifest that pins everything, with all of it there. Its tools need nothing
// of the machine.
func harmony(t *testing.T) (Manifest, Found) {
	t.Helper()
	m := Default()
	m.Substrate = Substrate{Chat: "qwen3", Digest: hex64, Embedder: "ollama/e@1", EmbedderDigest: hex64, Lineage: pin}
	m.Tools = []tools.Declaration{
		{Name: "heat", Description: "Reads it.", Consequence: tools.Low, Read: &tools.Read{Root: "/nowhere", Path: "x", MayCome: true}},
		{Name: "lamp", Description: "Lights it.", Consequence: tools.Low, MQTT: &tools.MQTT{Topic: "lamp", Payload: "on"}},
	}
	m.Grants = []tools.Grant{{Capability: "read"}, {Capability: "mqtt.lamp"}}
	set, err := tools.Resolve(m.Tools, tools.Surroundings{Broker: true})
	if err != nil {
		t.Fatal(err)
	}
	return m, Found{
		Chat:     Chat{Configured: "other", Name: "qwen3:latest", Digest: "sha256:" + hex64},
		Embedder: Model{"ollama/e@1", hex64}, StoreEmbedder: Model{"ollama/e@1", hex64},
		Tools:        set,
		LineageKnows: func(d lineage.Digest) bool { return d == pin },
		Head:         headVersion,
		Quarantined:  []lineage.Digest{{9}},
	}
}

func TestResolveBorn(t *testing.T) {
	m, f := harmony(t)
	born, missing := m.Resolve(f)
	if len(missing) != 0 {
		t.Fatal(missing)
	}
	if want := (BornChat{Name: "qwen3:latest", Digest: hex64}); born.Chat != want {
		t.Errorf("chat: %+v", born.Chat)
	}
	if born.Embedder != f.Embedder || born.Base != pin || born.Set != f.Tools || born.Manifest != digest(t, m) {
		t.Errorf("%+v", born)
	}
	if offers := tools.Offers(born.Set, born.Grants); len(offers) != 2 {
		t.Errorf("%d tools are granted", len(offers))
	}
}

// The default manifest is born on a machine with nothing but the program.
func TestResolveDefault(t *testing.T) {
	chain, err := consent.Fold(nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.Resolve(nil, tools.Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	m := Default()
	for _, s := range []*tools.Set{set, nil} {
		born, missing := m.Resolve(Found{Embedder: Model{ID: "builtin-use-gram/1"}, Tools: s, Head: headVersion, Uncovered: chain.Uncovered(m.Scope())})
		if len(missing) != 0 {
			t.Fatal(missing)
		}
		if !born.Chat.Builtin || born.Chat.Why == "" || born.Base != headVersion {
			t.Errorf("%+v", born)
		}
	}
}

// planted is one thing that can be missing.
type planted struct {
	code Code
	says string // in what is missing
	mend string // in what mends it
	do   func(*Manifest, *Found)
}

// plantable are all that can be missing at the same time, in the order in which they are
// listed; of the chat model, one at a time.
func plantable(chat planted) []planted {
	nobody := func(c consent.Category) func(*Manifest, *Found) {
		return func(_ *Manifest, f *Found) {
			chain, _ := consent.Fold(nil)
			f.Uncovered = append(f.Uncovered, chain.Uncovered([]consent.Cell{{Category: c, Dimension: consent.Storage}})...)
		}
	}
	noFolder := func(_ *Manifest, f *Found) {
		f.Tools = nil
		f.ToolFaults = tools.Faults{{Tool: `tool "heat"`, Where: "read.root", What: "there is no such folder", Mend: "correct it"}}
	}
	return []planted{
		{Faulty, "life.max_failures = 0: it must be", "correct life.max_failures", func(m *Manifest, _ *Found) { m.Life.MaxFailures = 0 }},
		chat,
		{EmbedderOther, "the embedder is ollama/e@1, and the manifest names mine", `write embedder = "ollama/e@1"`, func(m *Manifest, _ *Found) { m.Substrate.Embedder = "mine" }},
		{EmbedderDigest, "another one than declared: its digest is " + hex64, `write embedder_digest = "` + hex64, func(m *Manifest, _ *Found) { m.Substrate.EmbedderDigest = otherHex }},
		{EmbedderStore, "the store was embedded by builtin", "jivad reembed", func(_ *Manifest, f *Found) { f.StoreEmbedder = Model{ID: "builtin"} }},
		{Tool, `tool "heat", read.root: there is no such folder`, "correct it", noFolder},
		{GrantNothing, `grant "exec": it covers no tool`, "declare the tool, or remove the grant", func(m *Manifest, _ *Found) { m.Grants = append(m.Grants, tools.Grant{Capability: "exec"}) }},
		{LineageUnknown, "the lineage has no version 02", `write lineage = "head"`, func(_ *Manifest, f *Found) { f.LineageKnows = nil }},
		{LineageQuarantined, "is quarantined, and no life may be born from it", "jivad lives, or write lineage", func(_ *Manifest, f *Found) { f.Quarantined = append(f.Quarantined, pin) }},
		{Consent, "health.storage is to be asked each time, by default", "jivad consent set health.storage=allow", nobody(consent.Health)},
		{Consent, "financial.storage is denied by default", "jivad consent set financial.storage=allow", nobody(consent.Financial)},
	}
}

var chatPlants = []planted{
	{ChatNone, "no chat model is named", `write chat = "NAME" in [substrate], or write builtin = true`, func(m *Manifest, f *Found) { m.Substrate.Chat, f.Chat = "", Chat{} }},
	{ChatAway, "the chat model qwen3 cannot be asked for: nobody answers", "ollama serve", func(_ *Manifest, f *Found) { f.Chat = Chat{Away: "nobody\nanswers"} }},
	{ChatAbsent, "the server has not the chat model qwen3", "ollama pull qwen3, or", func(_ *Manifest, f *Found) { f.Chat.Name = "" }},
	{ChatAbsent, "the server has not the chat model qwen3", "ollama pull qwen3, or", func(_ *Manifest, f *Found) { f.Chat.Name = "qwen3:4b" }},
	{ChatDigest, "its digest is " + otherHex, `write digest = "` + otherHex + `" in [substrate]`, func(_ *Manifest, f *Found) { f.Chat.Digest = otherHex }},
	{ChatDigest, "does not tell the digest", "take digest out", func(_ *Manifest, f *Found) { f.Chat.Digest = "" }},
	{ChatDigest, "does not tell the digest", "take digest out", func(_ *Manifest, f *Found) { f.Chat.Digest = "\x1b[31m" }},
}

// Whatever is missing, exactly that is listed, in the order of the codes; with nothing
// missing there is a birth.
func TestResolveListsExactlyWhatIsMissing(t *testing.T) {
	for i, chat := range chatPlants {
		all := plantable(chat)
		for subset := range 1 << len(all) {
			// All subsets with the first way in which the chat model lacks; of the others it alone, and all.
			if i == 0 || subset == 1<<1 || subset == 1<<len(all)-1 {
				checkSubset(t, all, subset)
			}
		}
	}
}

func checkSubset(t *testing.T, all []planted, subset int) {
	t.Helper()
	m, f := harmony(t)
	var want []planted
	for i, p := range all {
		if subset&(1<<i) != 0 {
			p.do(&m, &f)
			want = append(want, p)
		}
	}
	born, missing := m.Resolve(f)
	if len(missing) != len(want) {
		t.Fatalf("%d planted, and listed are %v", len(want), missing)
	}
	for i, p := range want {
		got := missing[i]
		if got.Invariant != "J-1" || got.Code != p.code || !strings.Contains(got.What, p.says) || !strings.Contains(got.Mend, p.mend) {
			t.Fatalf("planted %s, %q, %q; listed %v", p.code, p.says, p.mend, got)
		}
		if !plain(got.String()) || strings.Contains(got.String(), "\n") {
			t.Fatalf("%q", got)
		}
	}
	if (born.Set != nil) != (len(want) == 0) || len(want) > 0 && !reflect.DeepEqual(born, Born{}) {
		t.Fatalf("with %d missing: %+v", len(want), born)
	}
}

// Where the built-in model may stand in, nothing of the chat model is missing, and it is
// told why.
func TestResolveBuiltinStandsIn(t *testing.T) {
	for _, p := range chatPlants {
		m, f := harmony(t)
		m.Substrate.Builtin = true
		p.do(&m, &f)
		born, missing := m.Resolve(f)
		if len(missing) != 0 {
			t.Errorf("%v", missing)
		}
		if !born.Chat.Builtin || born.Chat.Name != "" || born.Chat.Digest != "" || !strings.Contains(born.Chat.Why, p.says) {
			t.Errorf("%s: %+v", p.code, born.Chat)
		}
	}
	m, f := harmony(t)
	m.Substrate.Builtin = true
	if born, _ := m.Resolve(f); born.Chat.Builtin {
		t.Error("it stands in where the other one is there")
	}
}

func TestResolveCases(t *testing.T) {
	tests := []struct {
		name string
		do   func(*Manifest, *Found)
		want []Code
	}{
		{"any digest", func(m *Manifest, f *Found) { m.Substrate.Digest, f.Chat.Digest = "", "" }, nil},
		{"the model of the config", func(m *Manifest, f *Found) { m.Substrate.Chat, f.Chat.Name = "", "other" }, nil},
		{"not the model of the config", func(m *Manifest, f *Found) { m.Substrate.Chat = "" }, []Code{ChatAbsent}},
		{"an empty store", func(m *Manifest, f *Found) { f.StoreEmbedder = Model{} }, nil},
		{"no embedder", func(m *Manifest, f *Found) { f.Embedder = Model{} }, []Code{EmbedderNone}},
		{"the embedder of the store", func(m *Manifest, f *Found) { m.Substrate.Embedder, m.Substrate.EmbedderDigest = "", "" }, nil},
		{"another model of its name", func(m *Manifest, f *Found) { f.StoreEmbedder.Digest = otherHex }, []Code{EmbedderStore}},
		{"a store that recorded no digest", func(m *Manifest, f *Found) { f.StoreEmbedder.Digest = "" }, nil},
		{"an embedder of which no digest is told", func(m *Manifest, f *Found) { f.Embedder.Digest = "" }, []Code{EmbedderDigest, EmbedderStore}},
		{"tools that nobody looked at", func(m *Manifest, f *Found) { f.Tools = nil }, []Code{Tool}},
		{"tools of another manifest", func(m *Manifest, f *Found) { m.Tools[1].Description += "!" }, []Code{Tool}},
		{"a tool less", func(m *Manifest, f *Found) { m.Tools, m.Grants = m.Tools[:1], m.Grants[:1] }, []Code{Tool}},
		{"a fault that both tell", func(m *Manifest, f *Found) {
			m.Tools[0].Read.Path = "../x"
			_, err := tools.Resolve(m.Tools, tools.Surroundings{Broker: true})
			f.Tools = nil
			errors.As(err, &f.ToolFaults)
		}, []Code{Tool}},
		{"a grant of nothing", func(m *Manifest, f *Found) { m.Grants[1].Capability = "mqtt.door" }, []Code{GrantNothing}},
		{"a narrowing of nothing", func(m *Manifest, f *Found) { m.Grants[0].Within = tools.SchemaOf(`{"properties":{"y":{}}}`) }, []Code{GrantNothing}},
		{"the head", func(m *Manifest, f *Found) { m.Substrate.Lineage, f.LineageKnows = lineage.Digest{}, nil }, nil},
		{"no head", func(m *Manifest, f *Found) { m.Substrate.Lineage, f.Head = lineage.Digest{}, lineage.Digest{} }, []Code{LineageUnknown}},
		{"a quarantined head", func(m *Manifest, f *Found) {
			m.Substrate.Lineage, f.Quarantined = lineage.Digest{}, []lineage.Digest{headVersion}
		}, []Code{LineageQuarantined}},
		{"a quarantined head, and a pin", func(m *Manifest, f *Found) { f.Quarantined = []lineage.Digest{headVersion} }, nil},
		{"consent that cannot be read", func(m *Manifest, f *Found) { f.Uncovered = (*consent.Chain)(nil).Uncovered(m.Scope()) }, []Code{Consent}},
		{"a cell that is allowed", func(m *Manifest, f *Found) { f.Uncovered = []consent.Decision{{Answer: consent.Allow}} }, nil},
	}
	for _, test := range tests {
		m, f := harmony(t)
		test.do(&m, &f)
		_, missing := m.Resolve(f)
		var got []Code
		for _, one := range missing {
			got = append(got, one.Code)
			if one.What == "" || one.Mend == "" {
				t.Errorf("%s: %+v", test.name, one)
			}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v", test.name, missing)
		}
	}
}

// A head that is quarantined is no way out of a pin that is.
func TestResolveMendsOfQuarantine(t *testing.T) {
	m, f := harmony(t)
	f.Quarantined = []lineage.Digest{pin, headVersion}
	_, missing := m.Resolve(f)
	if len(missing) != 1 || strings.Contains(missing[0].Mend, "head") || !strings.Contains(missing[0].Mend, "jivad lives") {
		t.Errorf("%v", missing)
	}
}

func TestSameModel(t *testing.T) {
	for _, two := range [][2]string{{"a", "a:latest"}, {"x:5000/a", "x:5000/a:latest"}, {"a:b", "a:b"}} {
		if !SameModel(two[0], two[1]) || !SameModel(two[1], two[0]) {
			t.Errorf("%v", two)
		}
	}
	for _, two := range [][2]string{{"a", "a:b"}, {"a", "b"}, {"", "latest"}} {
		if SameModel(two[0], two[1]) {
			t.Errorf("%v", two)
		}
	}
}
