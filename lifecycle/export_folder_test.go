package lifecycle_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/diary"
	"github.com/jivad/jivad/lifecycle/export"
)

// wild are texts that are hard to keep as they are.
var wild = []string{
	"今天玩成语接龙游戏", "雨。", "ม่านฝน ตกทั้งคืน", "\n\n  led by blanks\n\ttabbed\t\n \nend \n", "cr\r\nlf\r\nand\rcr alone", "\u2028line\u2029paragraph\u0085next",
	"\ufeffa mark first", "nul\x00inside", "# 2026-01-01\n\nnot another entry", "```\nan open block\n# 2026-01-02", "a\u0301 not composed, á composed", "</script><b>&amp;\u003c", `quotes " and \ strokes`,
	"canary-7f3a-canary", "emoji 👩‍👩‍👧 and \U0001F1E9\U0001F1EA", "===\n2026-01-03\n===\n", "\u202eright to left", "tab\tbell\a esc\x1b[31m",
}

// called is hashed under another name.
type called struct {
	hashed
	id string
}

func (c called) ID() string { return c.id }

// embedderOf are those that random lives change between.
var embedderOf = []lifecycle.Embedder{hashed{64}, called{hashed{24}, "narrow/1"}, called{hashed{64}, "other/1"}}

// underAnother closes a companion, puts an embedder in force and opens it again.
func underAnother(t *rapid.T, tb testing.TB, w *world, c *lifecycle.Companion, e lifecycle.Embedder) *lifecycle.Companion {
	if err := c.Close(tb.Context()); err != nil {
		t.Fatal(err)
	}
	w.opts.Embedder = e
	if _, err := lifecycle.Reembed(tb.Context(), w.opts, lifecycle.ReembedOptions{}); err != nil {
		t.Fatal(err)
	}
	c, err := lifecycle.Open(tb.Context(), w.opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// forgetSome forgets what holds a word, if anything does.
func forgetSome(t *rapid.T, tb testing.TB, c *lifecycle.Companion, word string) {
	if _, err := c.Forget(tb.Context(), lifecycle.ForgetQuery{Match: word}, nil); err != nil && !errors.Is(err, lifecycle.ErrNotFound) {
		t.Fatal(err)
	}
}

// lived is a companion with a random life: sessions, edits, entries that leave
// links only or only their gist, other parameters, burials, other embedders, what
// is forgotten, a backup put back.
func lived(t *rapid.T, w *world, tb testing.TB) *lifecycle.Companion {
	w.opts.MergeAlike = rapid.Bool().Draw(t, "merge")
	w.opts.Diary = filepath.Join(w.dir, "d")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "retention") {
		w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "communications": lifecycle.KeepGist}
	}
	if rapid.Bool().Draw(t, "buries") {
		fading(w, rapid.IntRange(1, 3).Draw(t, "after"))
	}
	open := func() *lifecycle.Companion {
		c, err := lifecycle.Open(tb.Context(), w.opts)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	day, files := 1, 0
	words := func() string {
		if rapid.IntRange(0, 3).Draw(t, "wild") == 0 {
			return rapid.SampledFrom(wild).Draw(t, "text")
		}
		list := rapid.SliceOfN(rapid.SampledFrom([]string{"rain", "river", "mill", "letter", "friend", "tooth", "snow", "ponies"}), 1, 6).Draw(t, "words")
		return strings.Join(list, " ") + fmt.Sprintf(" %d", rapid.IntRange(0, 40).Draw(t, "n"))
	}
	for range rapid.IntRange(1, 25).Draw(t, "deeds") {
		switch rapid.IntRange(0, 14).Draw(t, "deed") {
		case 14: // a turn of a conversation
			said := lifecycle.Turn{Said: words(), Answered: rapid.SampledFrom(append([]string{"", words()}, wild...)).Draw(t, "answer"), By: "ollama/m@abc", Source: "chat"}
			if _, err := c.Remember(tb.Context(), said); err != nil {
				t.Fatal(err)
			}
		case 10:
			c = underAnother(t, tb, w, c, rapid.SampledFrom(embedderOf).Draw(t, "embedder"))
		case 11:
			forgetSome(t, tb, c, rapid.SampledFrom([]string{"tooth", "snow", "1", "ponies"}).Draw(t, "forgotten"))
		case 12: // what is lived after a backup is lost with the store
			b, err := c.Backup(tb.Context(), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(tb.Context(), lifecycle.Note{Text: words()}); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(tb.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := lifecycle.Restore(tb.Context(), lifecycle.RestoreOptions{Dir: w.dir, File: b.Path}, nil); err != nil {
				t.Fatal(err)
			}
			c = open()
		case 0:
			if _, err := c.EndSession(tb.Context()); err != nil && !errors.Is(err, lifecycle.ErrNoSession) {
				t.Fatal(err)
			}
		case 1:
			day++
			w.clock.set(at("2026-03-10 08:00").AddDate(0, 0, day))
		case 2: // a file of the diary, or an edit of one
			if files < 3 {
				files++
			}
			name := fmt.Sprintf("f%d.md", rapid.IntRange(1, files).Draw(t, "file"))
			text := fmt.Sprintf("# 2026-02-%02d\n\n%s\n", rapid.IntRange(1, 3).Draw(t, "day"), strings.ReplaceAll(words(), "\x00", ""))
			if err := os.WriteFile(filepath.Join(w.opts.Diary, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.TakeIn(tb.Context(), name); err != nil && !strings.Contains(err.Error(), "not text") {
				t.Fatal(err)
			}
		case 3: // other settings, with the next start
			if err := c.Close(tb.Context()); err != nil {
				t.Fatal(err)
			}
			w.opts.KeepOpen = rapid.Bool().Draw(t, "keep")
			p := w.opts.Params
			if p.Profile == "" {
				p = defaultParams()
			}
			p.Reactivation.Lambda = rapid.Float64Range(0.1, 0.9).Draw(t, "lambda")
			w.opts.Params = p
			c = open()
		case 4:
			if _, err := c.Import(tb.Context(), []lifecycle.Note{{Text: words(), Date: "1911-05-01", Label: "Bath"}, {Text: words()}, {Text: words(), Category: "health"}, {Text: words(), Category: "communications"}}, nil); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := c.Write(tb.Context(), lifecycle.Note{Text: words(), Label: rapid.SampledFrom([]string{"", "evening"}).Draw(t, "label")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A session of an earlier day would be ended by the next start.
	status, err := c.Status(tb.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := status.Session; s != nil && s.Date != w.clock.now.Format(time.DateOnly) {
		if _, err := c.EndSession(tb.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// The law of the export: whatever was lived, the companion that is made of its
// export has the same state, the same texts to the byte, exports the same, and
// lives on in the same way.
func TestAnExportMakesTheSameCompanion(t *testing.T) {
	// Every life is five companions on disk, so fewer are drawn unless many are asked for.
	left := 25
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() != f.DefValue {
		left = math.MaxInt
	}
	rapid.Check(t, func(rt *rapid.T) {
		if left--; left < 0 {
			return
		}
		w := newWorld(t)
		c := lived(rt, w, t)
		defer func() { _ = c.Close(t.Context()) }() // what matters is checked
		folder, report := exported(t, c)
		if report.StateDigest != digestOf(t, c) {
			rt.Fatalf("the export is of the state %s, not %s", report.StateDigest, digestOf(t, c))
		}
		other, r := rebuilt(t, w, folder)
		if r.StateDigest != report.StateDigest || r.Agrees != "bit for bit" || r.Texts != report.Texts || r.Sessions != report.Sessions || len(r.Notes) > 0 {
			rt.Fatalf("%+v of %+v", r, report)
		}
		d, err := lifecycle.Open(t.Context(), other.opts)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { other.end(t, d) }()
		if digestOf(t, d) != report.StateDigest {
			rt.Fatal("the settings of the same world change the state")
		}
		again, _ := exported(t, d)
		sameFiles(t, folder, again)
		sameTexts(rt, c, folder)
		sameTexts(rt, d, folder)
		sameTold(t, c, d, false)
		if t.Failed() {
			rt.FailNow()
		}
		// Both go on in the same way, whatever comes. After a forgetting, the gap of the
		// last session depends on where snapshots stand, which differs.
		forgot := false
		for range rapid.IntRange(0, 3).Draw(rt, "further deeds") {
			switch rapid.IntRange(0, 3).Draw(rt, "further deed") {
			case 0:
				word := rapid.SampledFrom([]string{"rain", "river", "2"}).Draw(rt, "forgotten later")
				forgetSome(rt, t, c, word)
				forgetSome(rt, t, d, word)
				forgot = true
			case 1:
				e := rapid.SampledFrom(embedderOf).Draw(rt, "embedder later")
				c, d = underAnother(rt, t, w, c, e), underAnother(rt, t, other, d, e)
			default:
				sameLife(t, c, d, !forgot)
			}
			if !forgot {
				sameTold(t, c, d, true)
			}
			if digestOf(t, c) != digestOf(t, d) {
				rt.Fatal("they go on differently")
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
		sameLife(t, c, d, !forgot)
		last, _ := exported(t, c)
		sameTexts(rt, d, last)
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// experiences are the lines of an export.
func experiences(t interface{ Fatal(...any) }, folder string) (out []export.Experience) {
	f, err := os.Open(filepath.Join(folder, export.FileImpressions))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var l export.Experience
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// sameTexts finds every line of the export in the companion, with the same bytes.
func sameTexts(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, c *lifecycle.Companion, folder string) {
	for _, l := range experiences(t, folder) {
		m, err := c.Show(context.Background(), l.ID)
		text := ""
		if l.Text != nil {
			text = *l.Text
		}
		if err != nil || string(m.Kept) != l.Kept || m.Text != text || m.Source != l.Source || m.Category != l.Category || l.Today != nil && m.Depth != l.Today.Depth {
			t.Fatalf("%+v of %+v, %v", l, m, err)
		}
		if l.Summary != m.Summary || l.Reason != m.Reason || l.Answer != m.Answer || l.AnsweredBy != m.By {
			t.Fatalf("beside the text of %s: %+v, and in the export %+v", l.ID, m, l.Beside)
		}
		if l.Date != nil && l.Kept == export.KeptFull && l.Key != fmt.Sprintf("%x", diary.Key(*l.Date, *l.Text)) {
			t.Fatalf("the key of %s is not that of its words", l.ID)
		}
	}
}

// Wild texts come through to the byte, are found again, and the diary of the
// export is read as the same entries.
func TestWildTextsSurviveAnExport(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	var notes []lifecycle.Note
	for i, text := range wild {
		notes = append(notes, lifecycle.Note{Text: text, Date: fmt.Sprintf("19%02d-05-01", i)}, lifecycle.Note{Text: text + " ."})
	}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	folder, report := exported(t, c)
	if report.Texts != len(notes) || report.Altered == 0 || report.Altered > len(notes)/2 {
		t.Errorf("%+v", report)
	}
	sameTexts(t, c, folder)
	raw, err := os.ReadFile(filepath.Join(folder, export.FileImpressions))
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range []string{"canary-7f3a-canary", "今天玩成语接龙游戏", "ม่านฝน ตกทั้งคืน", "👩‍👩‍👧", "</script><b>&amp;<"} {
		if !strings.Contains(string(raw), plain) {
			t.Errorf("%q cannot be read in %s", plain, export.FileImpressions)
		}
	}
	other, _ := rebuilt(t, w, folder)
	d := other.live(t)
	for query, want := range map[string]string{"成语接龙": wild[0], "canary-7f3a-canary": "canary-7f3a-canary"} {
		hits, err := d.Recall(t.Context(), lifecycle.RecallQuery{Text: query})
		if err != nil || len(hits) == 0 || !strings.Contains(hits[0].Impression.Text, want) {
			t.Errorf("%q: %+v, %v", query, hits, err)
		}
	}
	sameTexts(t, d, folder)
	files, err := diary.Read(filepath.Join(folder, "diary.md"), diary.Options{})
	if err != nil || len(files[0].Entries) != len(notes) {
		t.Fatalf("%d of %d entries are read, %v", len(files[0].Entries), len(notes), err)
	}
	// As an ordinary diary, into a companion that is living already.
	var again []lifecycle.Note
	for _, e := range files[0].Entries {
		again = append(again, lifecycle.Note{Text: e.Text, Date: e.Date, Label: e.Label})
	}
	ordinary, err := d.Import(t.Context(), again, nil)
	if err != nil || ordinary.Duplicates != len(notes)-report.Altered || ordinary.New != report.Altered {
		t.Errorf("%+v, %v", ordinary, err)
	}
}

func TestARebuildWantsAFreshFolderAndTheSameEmbedder(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "Sat by the river.")
	folder, _ := exported(t, c)
	w.end(t, c)
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	if _, err := lifecycle.Rebuild(t.Context(), w.opts, x, nil); !errors.Is(err, chitta.ErrNotFresh) || !strings.Contains(err.Error(), "init") {
		t.Errorf("into the same: %v", err)
	}
	other := newWorld(t)
	other.opts.Embedder = hashed{32}
	if _, err := lifecycle.Rebuild(t.Context(), other.opts, x, nil); !errors.Is(err, chitta.ErrEmbedder) || !strings.Contains(err.Error(), "diary.md") {
		t.Errorf("under another embedder: %v", err)
	}
	c = w.live(t)
	if n := c.Impressions(); n != 1 {
		t.Errorf("%d impressions", n)
	}
}

// What the person wrote in Given comes along, also what no session has seen yet.
func TestGivenComesAlong(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	path := filepath.Join(w.dir, "SOUL.md")
	edit := func(text string) {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(doc), "## Given\n", "## Given\n\n"+text+"\n", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("Be patient.")
	w.write(t, c, "Sat by the river.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	edit("Speak plainly.")
	folder, _ := exported(t, c)
	other, _ := rebuilt(t, w, folder)
	d := other.live(t)
	soul, err := d.Soul(t.Context(), 0)
	if err != nil || !strings.Contains(soul.Text, "Be patient.") || soul.Session != 1 {
		t.Errorf("%s, %v", soul.Text, err)
	}
	other.write(t, d, "Rain.")
	if _, err := d.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	soul, err = d.Soul(t.Context(), 0)
	if err != nil || !strings.Contains(soul.Text, "Be patient.") || !strings.Contains(soul.Text, "Speak plainly.") {
		t.Errorf("%s, %v", soul.Text, err)
	}
	if trend, err := d.Trend(t.Context(), 0); err != nil || len(trend) != 2 {
		t.Errorf("%+v, %v", trend, err)
	}
}

// A process that dies between the store and SOUL.md leaves that of the fresh
// folder, which is of another identity: the next start puts the right one there,
// and what was there goes to the archive.
func TestARebuildThatDiedBeforeItsSoul(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "Sat by the river.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	folder, _ := exported(t, c)
	w.end(t, c)
	fresh := newWorld(t)
	fresh.clock.set(w.clock.now)
	fresh.end(t, fresh.live(t)) // as jivad init leaves it
	path := filepath.Join(fresh.opts.Dir, "SOUL.md")
	newborn, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	if _, err := lifecycle.Rebuild(t.Context(), fresh.opts, x, nil); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil || bytes.Equal(want, newborn) {
		t.Fatalf("SOUL.md was not rebuilt: %v", err)
	}
	if err := os.WriteFile(path, newborn, 0o600); err != nil {
		t.Fatal(err)
	}
	fresh.end(t, fresh.live(t))
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
	kept, err := filepath.Glob(filepath.Join(fresh.opts.Dir, "soul", "archive", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(kept, func(name string) bool {
		data, err := os.ReadFile(name)
		return err == nil && bytes.Equal(data, newborn)
	}) {
		t.Errorf("what was there is not in the archive: %v", kept)
	}
}
