package distil

// What the tests look at from outside.
var (
	Words = func(text string) []string { return textsOf(words(text)) }
	Parts = func(text string) []string { return textsOf(parts(words(text), nil)) }
)

// Weigh is what a token of Words or Parts weighs.
func Weigh(token string) int {
	for _, r := range token {
		if unspaced(r) {
			return charWeight
		}
	}
	return wordWeight
}

// PartsOf are Parts, with for each the number of the word that it is of.
func PartsOf(text string, whole func(string) bool) (out []string, at []int) {
	for _, t := range parts(words(text), func(t token) bool { return whole(t.text) }) {
		out, at = append(out, t.text), append(at, t.at)
	}
	return out, at
}

// Texts are what a run of an act can be in.
var Texts = texts

// Sentences calls f for those of the table of feedback and of the shapes, each under its key.
func Sentences(f func(key, text string)) {
	for _, w := range wishes {
		for _, s := range w.sides {
			f(s.key, w.scope+": "+s.choice)
		}
	}
	for _, s := range shapes {
		f("tool.x", "tool x, argument y: "+s.text)
	}
	f(helpKey, helpScope+": in words alone")
	f(helpKey, helpScope+": with tool x")
}

// Keys are those of the table of feedback.
func Keys() (out []string) {
	for _, w := range wishes {
		out = append(out, w.sides[0].key, w.sides[1].key)
	}
	return append(out, helpKey)
}

// Phrases calls f for every phrase of the table, with whether it is heard as its side and
// no other one.
func Phrases(f func(phrase, key string, heard []string)) {
	for _, w := range wishes {
		for _, s := range w.sides {
			for _, phrase := range s.said {
				var heard []string
				for _, other := range wishes {
					for _, side := range other.sides {
						if says(clauses("Well, "+phrase+"."), side.said) {
							heard = append(heard, side.key)
						}
					}
				}
				f(phrase, s.key, heard)
			}
		}
	}
}

func textsOf(tokens []token) (out []string) {
	for _, t := range tokens {
		out = append(out, t.text)
	}
	return out
}
