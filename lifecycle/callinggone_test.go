package lifecycle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// withWord is an entry of the theme of the river with one more word.
func withWord(word string) string {
	return strings.Repeat("the river and the slow walk, ", 4) + word + "."
}

// planted is a model that has no other name for a tendency in which a word is.
func planted(word string) *namer {
	return newNamer(func(ctx context.Context, words, excerpts []string) (string, error) {
		if strings.Contains(strings.Join(append(words, excerpts...), " "), word) {
			return "days of " + word, nil
		}
		return about(ctx, words, excerpts)
	})
}

// A name that was made from an entry goes with it: nothing of it is in any file. Others
// stay. So it is where the model answers while the entry is being forgotten.
func TestAForgottenEntryTakesNamesWithIt(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		t.Run(fmt.Sprint(meanwhile), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const word = "zanzibarine"
				m := planted(word)
				w := named(t, m)
				list := alike(40, 1911, 2)
				list[8].Text = withWord(word)
				if meanwhile {
					says := m.says
					m.says = func(ctx context.Context, words, excerpts []string) (string, error) {
						name, err := says(ctx, words, excerpts)
						if strings.Contains(name, word) {
							time.Sleep(5 * time.Second)
						}
						return name, err
					}
				}
				c := imported(t, w, list)
				run(t, c)
				if meanwhile {
					for !m.wasSent(word) {
						time.Sleep(time.Second)
					}
				} else {
					later()
					if !strings.Contains(soulText(t, c), "days of "+word) {
						t.Fatalf("it was not named so:\n%s", soulText(t, c))
					}
				}
				if r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: word}, nil); err != nil || r.Forgotten != 1 {
					t.Fatalf("%+v, %v", r, err)
				}
				absent := func() {
					t.Helper()
					r, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: w.dir}, word, nil)
					if err != nil || !r.Absent {
						t.Errorf("%+v, %v", r, err)
					}
				}
				absent()
				if n := calledBy(t, c); !meanwhile && n != len(tendenciesOf(t, c))-1 {
					t.Errorf("%d names are left of %d", n, len(tendenciesOf(t, c)))
				}
				asWritten(t, c)
				later()
				absent()
				if n := calledBy(t, c); n != len(tendenciesOf(t, c)) {
					t.Errorf("%d names", n)
				}
				asWritten(t, c)
			})
		})
	}
}

// An edited entry takes names with it too, at once where they are asked for, and in
// SOUL.md when the session ends.
func TestAnEditTakesNamesWithIt(t *testing.T) {
	const word = "zanzibarine"
	w := named(t, planted(word))
	w.opts.Diary, w.opts.Rest = filepath.Join(w.dir, "d"), 0
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	list := alike(40, 1911, 2)
	file := filepath.Join(w.opts.Diary, "a.md")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("# "+list[8].Date+"\n\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := w.live(t)
	if _, err := c.Import(t.Context(), list[:8], nil); err != nil {
		t.Fatal(err)
	}
	put(withWord(word))
	if err := c.TakeIn(t.Context(), "a.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Import(t.Context(), list[9:], nil); err != nil {
		t.Fatal(err)
	}
	if n, err := c.NameSome(t.Context()); err != nil || n != len(tendenciesOf(t, c)) || !hasName(t, c, word) {
		t.Fatalf("%d names, %v: %+v", n, err, tendenciesOf(t, c))
	}
	agree := func() {
		t.Helper()
		for _, v := range tendenciesOf(t, c) {
			if hit, err := c.Show(t.Context(), v.Members[0]); err != nil || hit.Tendency != v.Name {
				t.Errorf("%q, %v", hit.Tendency, err)
			}
		}
	}
	agree()
	put(withWord("once more"))
	if err := c.TakeIn(t.Context(), "a.md"); err != nil {
		t.Fatal(err)
	}
	if hasName(t, c, word) || calledBy(t, c) != len(tendenciesOf(t, c))-1 {
		t.Errorf("%+v", tendenciesOf(t, c))
	}
	agree()
}

func hasName(t testing.TB, c *lifecycle.Companion, word string) bool {
	t.Helper()
	return slices.ContainsFunc(tendenciesOf(t, c), func(v lifecycle.Tendency) bool { return strings.Contains(v.Name, word) })
}

// A name is made from what is kept, and no detail that leads to somebody is sent.
func TestNamesAreMadeFromWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(about)
		w := named(t, m)
		w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "communications": lifecycle.KeepGist}
		list := alike(40, 1911, 2)
		for i := range list {
			switch i % 3 {
			case 0:
				list[i].Category, list[i].Text = "health", list[i].Text+" Zanzibarine."
			case 1:
				list[i].Category, list[i].Text = "communications", list[i].Text+" Mail anna@example.org."+strings.Repeat(" And so on.", 30)+" Yellowstone."
			default:
				list[i].Text += " Call +49 30 1234567 or write to ben@example.net."
			}
		}
		c := imported(t, w, list)
		run(t, c)
		later()
		if m.count() == 0 || calledBy(t, c) == 0 || !m.wasSent("river") {
			t.Fatalf("asked %d times: %v", m.count(), m.sent)
		}
		for _, text := range []string{"zanzibarine", "yellowstone", "anna", "ben@", "e-mail", "1234567", "phone"} {
			if m.wasSent(text) {
				t.Errorf("%q was sent", text)
			}
		}
		for _, s := range m.sent {
			if n := len([]rune(s)); n > 160 {
				t.Errorf("%d letters were sent at once", n)
			}
		}
	})
}

// What is buried takes the names that were made from it.
func TestABurialTakesNamesWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const word = "zanzibarine"
		m := planted(word)
		w := named(t, m)
		fading(w, 8)
		list := alike(24, 1911, 2)
		list[16].Text = withWord(word)
		c := imported(t, w, list)
		stop := run(t, c)
		later()
		stop()
		if !hasName(t, c, word) {
			t.Fatalf("%v %+v", m.sent, tendenciesOf(t, c))
		}
		for d := range 30 {
			if _, err := c.Import(t.Context(), []lifecycle.Note{{Text: fmt.Sprintf("noise from the neighbour again, %d.", d), Date: fmt.Sprintf("1911-03-%02d", d+1)}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		texts, err := c.Texts()
		if err != nil || slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, word) }) {
			t.Fatalf("it is not buried: %v", err)
		}
		if hasName(t, c, word) || strings.Contains(soulText(t, c), word) {
			t.Errorf("%+v\n%s", tendenciesOf(t, c), soulText(t, c))
		}
		asWritten(t, c)
		m.lock.Lock()
		m.sent = nil
		m.lock.Unlock()
		run(t, c)
		later()
		if hasName(t, c, word) || m.wasSent(word) {
			t.Errorf("%+v", tendenciesOf(t, c))
		}
	})
}
