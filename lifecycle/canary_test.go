package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/projection"
)

// recordsOf are the records of lives and of the lineage as they are in a copy of the data
// folder, read byte by byte, and what is beside them for a life that is over.
func recordsOf(t *testing.T, w *world) (out map[string]string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, LookOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	out = map[string]string{}
	for _, prefix := range []string{"lineage/", "life/"} {
		if err := s.Values(prefix, func(name string, data []byte) error { out[name] = string(data); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	_ = filepath.WalkDir(filepath.Join(dir, "life"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(path)
			out["file "+d.Name()] = string(data)
		}
		return nil
	})
	return out
}

// A hundred canaries in the lives of a whole companion, in what was said, written, called,
// given and answered: none is in a rule, in a record of a life or of the lineage, in what
// is signed, sent or handed on, or in the rules of a prompt and of SOUL.md. And the
// ordinary lessons are there.
func TestNoCanaryLeavesItsLife(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the plain run has it")
	}
	all := hundred()
	if len(all) != canaryKinds*ofEachKind {
		t.Fatalf("%d canaries", len(all))
	}
	for _, writes := range []bool{false, true} {
		t.Run(map[bool]string{false: "rules", true: "model"}[writes], func(t *testing.T) { canariesIn(t, all, writes) })
	}
}

func canariesIn(t *testing.T, all []canary, writes bool) {
	w, m, file := smuggling(t, writes)
	c := w.live(t)
	go func() { _ = c.Run(t.Context()) }()
	silent := func(where, text string) {
		t.Helper()
		for _, what := range sung(text, all) {
			t.Errorf("%s betrays %s", where, what)
		}
	}
	owed := map[int][]string{}
	lived := 0
	for planted := 0; planted < canaryLives; lived++ {
		in := canariesOf(all, planted)
		if _, again := owed[planted]; !again && writes {
			owed[planted] = liesOf(in)
		}
		m.mu.Lock()
		m.lies = owed[planted]
		m.mu.Unlock()
		m.livesWith(t, w, c, file, lived, in)
		until(t, func() bool {
			l, err := c.Life(t.Context(), 0)
			return err == nil && l.Obligation.Status == lives.Drafted
		})
		for name, data := range recordsOf(t, w) {
			if !strings.HasPrefix(name, "life/kit/") { // the names of the manifest
				silent(fmt.Sprintf("the record %s, while life %d waits,", name, lived+1), data)
			}
		}
		rating := 1.0
		if writes && lived%7 == 2 {
			rating = -0.5
		}
		if l, err := c.Rate(t.Context(), 0, rating); err != nil || l.Obligation.Status != lives.Met {
			t.Fatalf("%+v %v", l, err)
		}
		m.mu.Lock()
		if owed[planted] = m.lies; len(m.lies) == 0 {
			planted++
		}
		m.mu.Unlock()
	}
	kept := 0
	for name, data := range recordsOf(t, w) {
		kept++
		silent("the record "+name, data)
		if strings.HasPrefix(name, "life/kit/") || strings.HasPrefix(name, "life/draft/") || strings.HasPrefix(name, "file ") {
			t.Errorf("%s is left of a life", name)
		}
	}
	if kept < 2*canaryLives {
		t.Errorf("%d records: too few to tell", kept)
	}
	told := rulesTold(t, c, lived, !writes, silent)
	m.mu.Lock()
	m.answer = "Nothing."
	m.mu.Unlock()
	if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Do you remember " + all[0].text + "?"}, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	rendered := section(m.system, "", "\n\nSOUL.md:")
	silent("the prompt", rendered)
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	doc := soulOf(t, w)
	acts := section(doc, "\n## How to act\n", "\n## ")
	silent("SOUL.md", acts+section(doc, "\n## Unresolved\n", "\n## "))
	for where, text := range map[string]string{"the rules": told, "the prompt": rendered, "SOUL.md": acts} {
		for _, lesson := range []string{"tool search, argument way: prefer zigzagwise", "tool find, argument by: prefer distance", "answers, length: prefer short ones"} {
			if !strings.Contains(text, lesson) {
				t.Errorf("%s lack %q:\n%s", where, lesson, text)
			}
		}
	}
	if writes && (!strings.Contains(told, ", with the fewest turns") || m.told < 20*len(all)) {
		t.Errorf("a model worded nothing, or told %d lies only: %v\n%s", m.told, m.refused, told)
	}
	t.Logf("%d lives, %d lies, %v\n%s", lived, m.told, m.refused, told)
}

// section is the part of a text between two marks.
func section(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// rulesTold looks at all that tells of the rules; it gives their rendering.
func rulesTold(t *testing.T, c *lifecycle.Companion, lived int, absorbs bool, silent func(where, text string)) string {
	t.Helper()
	ctx := t.Context()
	rules, err := c.LineageRules(ctx)
	if err != nil || len(rules) < 4 {
		t.Fatalf("%d rules are kept: too few to tell (%v)", len(rules), err)
	}
	asJSON := func(v any, err error) string {
		t.Helper()
		data, bad := json.Marshal(v)
		if err = errors.Join(err, bad); err != nil {
			t.Error(err)
		}
		return string(data)
	}
	silent("the rules", asJSON(rules, nil))
	for _, r := range rules {
		silent("a rule", r.Key+"\n"+r.Guidance)
		shares, err := c.Blame(ctx, r.Key)
		silent("blame "+r.Key, asJSON(shares, err))
	}
	for n := range lived {
		proof, err := c.Prove(ctx, fmt.Sprint(n+1))
		silent("a proof", asJSON(proof, err))
	}
	said, err := c.Attest(ctx)
	silent("the attestation", asJSON(said, err))
	invited, err := c.Invite(ctx, "")
	silent("the invitation", asJSON(invited, err))
	every, err := c.Lives(ctx, lived)
	silent("the lives", asJSON(every, err))
	changes, err := consent.ParseSettings("*.training=allow")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetConsent(ctx, lifecycle.ConsentRequest{Changes: changes, Who: "a test"}, nil); err != nil {
		t.Fatal(err)
	}
	var immature *projection.ImmatureError
	absorbed, err := c.Absorb(ctx)
	if err != nil && !errors.As(err, &immature) {
		t.Fatal(err)
	}
	if absorbs && (err != nil || absorbed.Rules == 0 || absorbed.Gists == 0) {
		t.Errorf("nothing is absorbed, so that nothing can be seen in it: %+v %v", absorbed, err)
	}
	silent("what is absorbed", string(absorbed.Data)+string(absorbed.Attestation))
	out, err := c.RenderLineage(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	silent("the rendering", out.Text)
	return out.Text
}

// Where nothing that is said may be kept, no rule comes of it.
func TestNoRuleOfWhatMayNotBeKept(t *testing.T) {
	for _, denied := range []bool{false, true} {
		w := newWorld(t)
		c := w.lived(t)
		if denied {
			changes, err := consent.ParseSettings("communications.storage=deny")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.SetConsent(t.Context(), lifecycle.ConsentRequest{Changes: changes, Who: "a test"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, said := range []string{"Shorter, please, Zinaida.", "Ask me first.", "That helped me."} {
			if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, func(string) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		act(t, c, "straight")
		act(t, c, "zigzagwise")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l, err := c.Rate(t.Context(), 0, 1); err != nil || l.Obligation.Status != lives.Met {
			t.Fatalf("%+v %v", l, err)
		}
		rules, err := c.LineageRules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, r := range rules {
			if strings.HasPrefix(r.Key, "companion.") {
				said++
			}
		}
		if want := map[bool]int{true: 0, false: 3}[denied]; said != want || len(rules) != want+1 {
			t.Errorf("denied: %v, and %d rules of %d are of what was said: %+v", denied, said, len(rules), rules)
		}
	}
}

// A word that came into a life by its memory, or in an answer, is in no rule of it: not of
// its own end, and not of one that a power cut made, when most of that is not known any more.
func TestNoRuleOfWhatWasRecalled(t *testing.T) {
	w, m, _ := smuggling(t, false)
	c := w.live(t)
	w.write(t, c, "The walk with Ainsworth along the river.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.asks("search", map[string]string{"way": "zigzagwise"})
	m.asks("find", map[string]string{"by": "distance"})
	m.asks("ask0", map[string]string{"query": "Ainsworth"})
	m.answer = "So it is."
	if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Who was on that walk along the river?"}, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.system, "Ainsworth") {
		t.Fatal("it is not recalled")
	}
	cut := newWorld(t)
	cut.opts.Lives = true
	if err := os.CopyFS(cut.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.Run(t.Context()) }()
	until(t, func() bool {
		l, err := c.Life(t.Context(), 2)
		return err == nil && l.Obligation.Status == lives.Drafted
	})
	cut.end(t, cut.live(t))
	for where, of := range map[string]struct {
		w      *world
		lesson string
	}{"of its end": {w, "argument by: distance"}, "of a power cut": {cut, "argument way: zigzagwise"}} {
		draft := recordsOf(t, of.w)["life/draft/0000000002"]
		if !strings.Contains(draft, of.lesson) || strings.Contains(strings.ToLower(draft), "ainsworth") {
			t.Errorf("the draft %s is %s", where, draft)
		}
	}
}
