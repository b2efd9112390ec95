package distil

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jivad/jivad/soul/detail"
)

// Kind is a kind of what may not be in guidance.
type Kind string

// The kinds.
const (
	// KindRun is a run of four words of the trace, or of eight characters of a script
	// without spaces.
	KindRun Kind = "words of the trace"
	// KindOwn is a value that the person said or wrote.
	KindOwn Kind = "the person's own word"
	// KindFree is a value that is no short identifier and was not declared.
	KindFree Kind = "free text"
	// KindForm is a sentence that is no guidance.
	KindForm        Kind = "form"
	KindName        Kind = "name"
	KindEmail            = Kind(detail.Email)
	KindHandle           = Kind(detail.Handle)
	KindLink             = Kind(detail.Link)
	KindIBAN             = Kind(detail.IBAN)
	KindPhone            = Kind(detail.Phone)
	KindCoordinates      = Kind(detail.Coordinates)
	KindAddress          = Kind(detail.Address)
	KindNumber           = Kind(detail.Number)
	KindSecret           = Kind(detail.Secret)
)

// Finding is a leak in a sentence. It does not hold what leaked.
type Finding struct {
	Kind Kind `json:"kind"`
	// From and To tell, of a KindRun, which words of the sentence: [From, To).
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
}

// Index is a trace, made ready for many sentences to be held against it. It holds digests
// of words and none of the words.
type Index struct {
	// runs are the hashes of the shortest runs that are too long; single those of words,
	// and of parts of words; stems those of words without accents and without up to three
	// letters at the end; whole those of longer words as they look; pairs those of two
	// characters of scripts without spaces.
	runs, single, stems, whole, pairs []uint64
}

// NewIndex reads a trace.
func NewIndex(trace Trace) *Index {
	x := &Index{}
	seen := map[string]bool{}
	for _, a := range trace.Acts {
		x.add(a, seen)
	}
	for _, set := range []*[]uint64{&x.runs, &x.single, &x.stems, &x.whole, &x.pairs} {
		slices.Sort(*set)
		*set = slices.Clip(slices.Compact(*set))
	}
	return x
}

func (x *Index) add(a Act, seen map[string]bool) {
	for _, text := range texts(a) {
		tokens := words(text)
		x.read(tokens, seen)
		apart := parts(tokens, nil)
		if len(apart) != len(tokens) {
			x.read(apart, seen)
		}
	}
}

// texts are the texts of an act that a run can be of: a call with its arguments, its
// result, that as it reads where it is JSON; what was said or seen.
func texts(a Act) []string {
	if a.Kind != Call {
		return []string{a.Text}
	}
	var call, read strings.Builder
	call.WriteString(a.Tool)
	for _, arg := range a.Arguments {
		call.WriteString("\n" + arg.Name)
		leaves(arg.Value, func(text string) { call.WriteString("\n" + text) })
	}
	if json.Valid([]byte(a.Result)) {
		leaves([]byte(a.Result), func(text string) { read.WriteString(text + "\n") })
	}
	return []string{call.String(), a.Result, read.String()}
}

func (x *Index) read(tokens []token, seen map[string]bool) {
	windows(tokens, func(_, _ int, hash uint64) { x.runs = append(x.runs, hash) })
	for i, t := range tokens {
		if i > 0 && t.weight == charWeight && tokens[i-1].weight == charWeight {
			x.pairs = append(x.pairs, chained(tokens[i-1].hash(), t.hash()))
		}
		if seen[t.text] {
			continue
		}
		seen[t.text] = true
		x.single = append(x.single, t.hash())
		if t.weight == wordWeight {
			x.stems = append(x.stems, stems(t.text)...)
			if word := letters(t.text); len(word) >= longWord && !plainWords[t.text] {
				x.whole = append(x.whole, hashOf(word))
			}
		}
	}
}

// stems are the hashes of a word as it looks, without accents, as it is and without one to
// three letters at its end where four are left.
func stems(word string) []uint64 {
	letters := []rune(bare(word))
	out := []uint64{hashOf(letters)}
	for cut := 1; cut <= 3 && len(letters)-cut >= 4; cut++ {
		out = append(out, hashOf(letters[:len(letters)-cut]))
	}
	return out
}

func hashOf(letters []rune) uint64 { return token{text: string(letters)}.hash() }

// longWord is from how many letters on a word is known within others.
const longWord = 5

func has(set []uint64, hash uint64) bool {
	_, found := slices.BinarySearch(set, hash)
	return found
}

// Leaks finds in a sentence what may not survive of a trace (S-1): runs of four or more
// of its words (NFKC, folded, by the word boundaries of Unicode; of scripts without spaces
// eight characters), also where they are joined by other marks than there; and what the
// detectors find. The sentence of a rule should pass with none.
func Leaks(guidance string, trace *Index, detectors []Detector) []Finding {
	return append(trace.found(guidance, 0), detected(guidance, detectors)...)
}

// found gives the runs. Those within the first words of the sentence, which are declared
// somewhere else than in the trace, are none.
func (x *Index) found(guidance string, declared int) []Finding {
	tokens := words(guidance)
	in := make([]bool, len(tokens))
	for _, reading := range [][]token{tokens, parts(tokens, func(t token) bool { return has(x.single, t.hash()) })} {
		windows(reading, func(i, j int, hash uint64) {
			if reading[j-1].at < declared || !has(x.runs, hash) {
				return
			}
			for _, t := range reading[i:j] {
				in[t.at] = true
			}
		})
	}
	var out []Finding
	for i := range in {
		switch {
		case !in[i]:
		case i > 0 && in[i-1]:
			out[len(out)-1].To = i + 1
		default:
			out = append(out, Finding{KindRun, i, i + 1})
		}
	}
	return out
}

// detected gives what the detectors find, also behind the joints of words.
func detected(text string, detectors []Detector) (out []Finding) {
	apart := detail.Spread(text)
	for _, d := range detectors {
		if d.Finds(text) || apart != text && d.Finds(apart) {
			out = append(out, Finding{Kind: d.Kind})
		}
	}
	return out
}

// holds tells whether a word stands in the trace, whatever the accents and the endings.
func (x *Index) holds(word string) bool {
	return slices.ContainsFunc(stems(word), func(stem uint64) bool { return has(x.stems, stem) })
}

func contains(text, want []uint64) bool {
	for i := range text {
		if text[i] == want[0] && len(text)-i >= len(want) && slices.Equal(text[i:i+len(want)], want) {
			return true
		}
	}
	return false
}
