package vasana

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Terms returns the content words of the impression in a row, as ExtractTerms
// gives them; none where its text is gone.
type Terms func(row uint32) []Term

// Frequencies says how common words are in the whole store.
type Frequencies interface {
	// Entries is how many entries were counted.
	Entries() int
	// Having is how many of them hold the word.
	Having(word string) int
}

const (
	longestName = 48 // characters
	nameTerms   = 3
	separator   = " · "
)

// Name gives a name to each tendency that has none: its two or three key
// terms, at most 48 characters of letters and " · ", no two alike. A tendency
// without any terms is named by its ID. Tendencies are named in the order
// given; hand in those of Detect. Names hold words of the person's text, so they
// are made anew from the texts that are still there, never carried over.
//
// A word scores by class-based tf-idf: its weight in the cluster, where a word
// said often in one entry counts by the square root, times ln(1 + entries /
// entries having it). Words of one member alone come last.
func Name(vasanas []Vasana, terms Terms, store Frequencies) {
	taken := map[string]bool{}
	for i := range vasanas {
		if vasanas[i].Name != "" {
			taken[vasanas[i].Name] = true
		}
	}
	for i := range vasanas {
		v := &vasanas[i]
		if v.Name == "" {
			v.Name = chooseName(keyTerms(v.Members, terms, store), v.ID, taken)
			taken[v.Name] = true
		}
	}
}

// KeyTerms are the words that set the members in some rows apart, best first: those
// that [Name] chooses from.
func KeyTerms(members []uint32, terms Terms, store Frequencies) []string {
	return keyTerms(members, terms, store)
}

// keyTerms ranks the words of a cluster, best first.
func keyTerms(members []uint32, terms Terms, store Frequencies) []string {
	type weight struct {
		word    string
		sum     float64
		members int
		score   float64
	}
	place := map[string]int{}
	var weights []weight
	for _, m := range members {
		seen := map[string]int{}
		var order []string
		for _, t := range terms(m) {
			word, ok := safeWord(t.Word)
			if !ok || t.Count < 1 {
				continue
			}
			if seen[word] == 0 {
				order = append(order, word)
			}
			seen[word] += t.Count
		}
		for _, word := range order {
			at, ok := place[word]
			if !ok {
				at = len(weights)
				place[word] = at
				weights = append(weights, weight{word: word})
			}
			weights[at].sum += math.Sqrt(float64(seen[word]))
			weights[at].members++
		}
	}
	entries := max(store.Entries(), len(members))
	for i := range weights {
		w := &weights[i]
		having := max(store.Having(w.word), w.members)
		score := w.sum / float64(len(members)) * math.Log1p(float64(entries)/float64(having))
		// Rounded, so that the last bit of a logarithm cannot decide a name.
		w.score = math.Round(score*1e9) / 1e9
	}
	alone := func(w weight) int {
		if w.members == 1 {
			return 1
		}
		return 0
	}
	slices.SortFunc(weights, func(a, b weight) int {
		return cmp.Or(cmp.Compare(alone(a), alone(b)), cmp.Compare(b.score, a.score), cmp.Compare(a.word, b.word))
	})
	words := make([]string, len(weights))
	for i, w := range weights {
		words[i] = w.word
	}
	return words
}

// safeWord lets letters with their marks through and nothing else, whoever
// made the terms: a name is printed into documents and must not be able to
// carry markup, control characters or a sentence.
func safeWord(word string) (string, bool) {
	n := utf8.RuneCountInString(word)
	if n < 1 || n > longestWord || !utf8.ValidString(word) {
		return "", false
	}
	marks := mostMarks // none may come before a letter
	for _, r := range word {
		switch {
		case !isLetter(r):
			return "", false
		case !isMark(r):
			marks = 0
		default:
			if marks++; marks > mostMarks {
				return "", false
			}
		}
	}
	return word, true
}

// chooseName joins the best words that fit. Where that name is taken the last
// word gives way to the next best, and at last the ID is added.
func chooseName(words []string, id string, taken map[string]bool) string {
	var chosen []string
	length := 0
	for at, word := range words {
		if len(chosen) == nameTerms {
			break
		}
		more := utf8.RuneCountInString(word)
		if len(chosen) > 0 {
			more += utf8.RuneCountInString(separator)
		}
		if length+more > longestName || slices.ContainsFunc(chosen, func(c string) bool { return sameWord(c, word) }) {
			continue
		}
		if len(chosen) == nameTerms-1 && taken[strings.Join(append(chosen[:len(chosen):len(chosen)], word), separator)] && at+1 < len(words) {
			continue
		}
		chosen = append(chosen, word)
		length += more
	}
	name := strings.Join(chosen, separator)
	if name != "" && !taken[name] {
		return name
	}
	for len(chosen) > 0 && length+utf8.RuneCountInString(separator+id) > longestName {
		last := chosen[len(chosen)-1]
		length -= utf8.RuneCountInString(separator + last)
		chosen = chosen[:len(chosen)-1]
	}
	return strings.Join(append(chosen, id), separator)
}

// sameWord says whether two words are likely forms of one: they part only in
// an ending of up to two letters after four or more common ones, or in -y and
// -ies. Of scripts without spaces, pieces that share a character count as one.
func sameWord(a, b string) bool {
	if strings.HasSuffix(a, "ies") && strings.HasSuffix(b, "y") || strings.HasSuffix(b, "ies") && strings.HasSuffix(a, "y") {
		a, b = strings.TrimSuffix(strings.TrimSuffix(a, "ies"), "y"), strings.TrimSuffix(strings.TrimSuffix(b, "ies"), "y")
		return a == b
	}
	ra, rb := []rune(a), []rune(b)
	if len(ra) > len(rb) {
		ra, rb = rb, ra
	}
	if len(ra) > 0 && scriptOf(ra[0]) != otherScript {
		return strings.ContainsAny(string(ra), string(rb))
	}
	same := 0
	for same < len(ra) && ra[same] == rb[same] {
		same++
	}
	if len(rb)-len(ra) <= 2 && same == len(ra) && same >= 3 {
		return true
	}
	return same >= 4 && len(rb)-same <= 2
}
