package vasana

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func words(terms []Term) (list []string) {
	for _, t := range terms {
		list = append(list, t.Word)
	}
	return list
}

func TestExtractTerms(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"English":              {"The ponies pulled the sledges. The ponies' hooves broke through the crust.", "ponies broke crust hooves pulled sledges"},
		"dates and numbers":    {"_Saturday, November 26_.--Jan. 3d, Octobr 12th, 1911; XVII miles xiv", "miles"},
		"contractions":         {"I don't know, we've the captain's o'clock, l’étang d'abord", "abord captain étang"},
		"German, sharp s":      {"Ich ging mit der Mutter durch die Straße und über die STRASSE.", "strasse mutter"},
		"French":               {"Nous avons dîné avec Flaubert, qui parlait de son roman.", "dîné flaubert parlait roman"},
		"Spanish":              {"Seguimos el camino hasta la laguna, donde había mucha sal y leña.", "camino laguna leña sal seguimos"},
		"markup and addresses": {"# **Garden**\n[seeds](https://evil.example/x?y=pwned) <b onclick=\"hack()\">roses</b> &nbsp; a.b@mail.example `tulips`", "garden roses seeds tulips"},
		"hidden characters":    {"gar\u200bden ro\u00adses \u202eevil\u202c \x00\x1b[31m red", "evil garden red roses"},
		"full width":           {"ｇａｒｄｅｎ ﬁelds", "fields garden"},
		"Kanji and Katakana":   {"今日はコーヒーを飲んで、図書館で漱石を読んだ。", "コーヒー 図書館 漱石"},
		"Chinese":              {"今天玩成语接龙游戏", "今天 天玩 成语 接龙 游戏 玩成 语接 龙游"},
		"Chinese particles":    {"登山之路，二月十三日也", "登山"},
		"Hiragana alone":       {"ふるさと", "ふるさ るさと"},
		"Thai":                 {"กาแฟ", "กาแ าแฟ"},
		"nothing":              {"The 3rd of May, 10:30. — !?", ""},
		"empty":                {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := words(ExtractTerms(c.text, 100))
			want := strings.Fields(c.want)
			slices.Sort(want)
			sorted := slices.Sorted(slices.Values(got))
			if !slices.Equal(sorted, want) {
				t.Errorf("terms %q, want %q", sorted, want)
			}
		})
	}
	if got := ExtractTerms("rain rain snow snow snow wind", 2); !slices.Equal(got, []Term{{"snow", 3}, {"rain", 2}}) {
		t.Errorf("the two best are %v, want snow 3 and rain 2", got)
	}
	if got := ExtractTerms("rain", -1); len(got) != 0 {
		t.Errorf("most -1 gives %v", got)
	}
}

func TestCalendarAndNumerals(t *testing.T) {
	for _, word := range []string{"january", "octobr", "jänner", "août", "miércoles", "sunday", "xvii", "mcmxiv", "iv"} {
		if useful(word) {
			t.Errorf("%q passes for a term", word)
		}
	}
	for _, word := range []string{"civil", "livid", "mild", "vivid", "dill", "marchen", "garden"} {
		if !useful(word) {
			t.Errorf("%q does not pass for a term", word)
		}
	}
}

// Whatever the text: valid, folded words of letters, most frequent first.
func TestTermsAreLettersAlone(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("aé ́ßſ漢字カなกำ́́́'’_*[](<>)#`\u202e\u200d\x00\nाि्क·-12")), 0, 80, -1))
	rapid.Check(t, func(t *rapid.T) {
		terms := ExtractTerms(text.Draw(t, "text"), 50)
		for i, term := range terms {
			for _, r := range term.Word {
				if !unicode.In(r, unicode.L, unicode.Mn, unicode.Mc) {
					t.Fatalf("term %q holds %U", term.Word, r)
				}
			}
			if term.Count < 1 || i > 0 && term.Count > terms[i-1].Count {
				t.Fatalf("counts out of order: %v", terms)
			}
		}
	})
}

// shelf is a store of entries by their terms.
type shelf [][]Term

func (s shelf) terms(row uint32) []Term { return s[row] }
func (s shelf) Entries() int            { return len(s) }
func (s shelf) Having(word string) int {
	n := 0
	for _, terms := range s {
		if slices.ContainsFunc(terms, func(t Term) bool { return t.Word == word }) {
			n++
		}
	}
	return n
}

func shelve(texts ...string) (s shelf) {
	for _, text := range texts {
		s = append(s, ExtractTerms(text, 50))
	}
	return s
}

func TestNames(t *testing.T) {
	s := shelve(
		"ponies sledges blizzard camp", "ponies pony sledges camp", "ponies snow sledge camp",
		"seals penguins camp", "seals penguins eggs camp", "penguins seals camp",
		"camp", "camp letters",
	)
	vs := []Vasana{
		{ID: "v-000001", Members: []uint32{0, 1, 2}},
		{ID: "v-000002", Members: []uint32{3, 4, 5}},
		{ID: "v-000003", Members: []uint32{0, 1, 2}}, // the same words
		{ID: "v-000004", Members: []uint32{6, 7}},
		{ID: "v-000005", Members: []uint32{0, 1, 2}, Name: "given"},
	}
	Name(vs, s.terms, s)
	if vs[0].Name != "ponies · sledges · camp" {
		t.Errorf("name %q, want ponies · sledges · camp: the pony and the sledge are there already", vs[0].Name)
	}
	if vs[1].Name != "penguins · seals · camp" {
		t.Errorf("name %q, want penguins · seals · camp", vs[1].Name)
	}
	if vs[2].Name == vs[0].Name || !strings.HasPrefix(vs[2].Name, "ponies · sledges · ") {
		t.Errorf("name %q beside %q", vs[2].Name, vs[0].Name)
	}
	if vs[4].Name != "given" {
		t.Errorf("a given name became %q", vs[4].Name)
	}
	none := []Vasana{{ID: "v-000009", Members: []uint32{0}}}
	Name(none, func(uint32) []Term { return nil }, s)
	if none[0].Name != "v-000009" {
		t.Errorf("without terms the name is %q, want the id", none[0].Name)
	}
}

// Terms from anywhere cannot make a name do anything but be read.
func TestNamesAreSafeAndDifferent(t *testing.T) {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"garden", "gardens", "rose", "**bold**", "[a](b)", "<script>", "x\ny", "\u202eabc", "a·b", "ünder", "漢字", "`x`", "# head", ""}),
		rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("abcdefgh")), 1, 25, -1),
	)
	rapid.Check(t, func(t *rapid.T) {
		var s shelf
		for range rapid.IntRange(3, 12).Draw(t, "entries") {
			var terms []Term
			for _, w := range rapid.SliceOfN(word, 0, 6).Draw(t, "words") {
				terms = append(terms, Term{w, rapid.IntRange(-1, 9).Draw(t, "count")})
			}
			s = append(s, terms)
		}
		var vs, again []Vasana
		for i := range rapid.IntRange(1, 5).Draw(t, "tendencies") {
			from := rapid.IntRange(0, len(s)-3).Draw(t, "from")
			v := Vasana{ID: "v-00000" + string(rune('0'+i)), Members: []uint32{uint32(from), uint32(from + 1), uint32(from + 2)}}
			vs, again = append(vs, v), append(again, v)
		}
		Name(vs, s.terms, s)
		Name(again, s.terms, s)
		seen := map[string]bool{}
		for i, v := range vs {
			if v.Name != again[i].Name {
				t.Fatalf("named twice, it is %q and %q", v.Name, again[i].Name)
			}
			if v.Name == "" || seen[v.Name] || utf8.RuneCountInString(v.Name) > longestName {
				t.Fatalf("name %q is empty, taken or too long", v.Name)
			}
			seen[v.Name] = true
			for _, part := range strings.Split(v.Name, separator) {
				if part == v.ID {
					continue
				}
				for _, r := range part {
					if !unicode.In(r, unicode.L, unicode.Mn, unicode.Mc) {
						t.Fatalf("name %q holds %U", v.Name, r)
					}
				}
			}
		}
	})
}
