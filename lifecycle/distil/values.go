package distil

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jivad/jivad/soul/detail"
)

var (
	// identifier is what a tool names a choice by.
	identifier = regexp.MustCompile(`^[\p{L}\p{N}]([\p{L}\p{N}\p{M}_.+-]{0,38}[\p{L}\p{N}\p{M}])?$`)
	// amount is a small number, or a yes or no: it leads to nobody.
	amount = regexp.MustCompile(`^(-?[0-9]{1,3}|-?[0-9]{1,2}\.[0-9]|true|false|null)$`)
)

// value tells what keeps a value that was not declared from being said: it is no short
// identifier; or it has a word of the person, who may have meant a place or somebody; or
// it is made of words that stood apart in what happened; or that cannot be known.
func (w *work) value(e Exemplar) []Kind {
	switch {
	case e.Argument == "" || e.allowed || amount.MatchString(e.Value):
		return nil
	case !e.simple || !short(e.Value) || w.trace.Partial:
		return []Kind{KindFree}
	}
	if w.around == nil {
		w.around = lookAround(w.trace)
	}
	switch {
	case w.around.owns(e.Value):
		return []Kind{KindOwn}
	case w.around.composed(e.Value):
		return []Kind{KindFree}
	}
	return nil
}

// short tells of an identifier that says as little as one: of up to three words, none of
// them longer than words are, in one alphabet.
func short(value string) bool {
	const long, most = 18, 3
	pieces := strings.Fields(detail.Spread(value))
	return identifier.MatchString(value) && !mixed(value) && len(pieces) <= most &&
		!slices.ContainsFunc(pieces, func(p string) bool { return len([]rune(p)) > long && !strings.ContainsFunc(p, unspaced) })
}

// around is what a value is held against: what the person said or wrote, what was given
// or answered, and every other value that was asked for.
type around struct {
	own, given passage
	// asked are the values, each once.
	asked []passage
}

// passage is a text as it looks: with its marks, its letters alone, and its words.
type passage struct {
	bare, letters string
	stems         []uint64
}

func passageOf(text string) (p passage) {
	p.bare, p.letters = bare(text), string(letters(text))
	for _, t := range parts(words(text+"\n"+detail.Spread(text)), nil) {
		p.stems = append(p.stems, stems(t.text)...)
	}
	slices.Sort(p.stems)
	p.stems = slices.Compact(p.stems)
	return p
}

func lookAround(trace Trace) *around {
	var own, given strings.Builder
	var asked []string
	for _, a := range trace.Acts {
		switch a.Kind {
		case Call:
			given.WriteString(a.Result + "\n")
			for _, arg := range a.Arguments {
				leaves(arg.Value, func(text string) { asked = append(asked, text) })
			}
		case Told:
			given.WriteString(a.Text + "\n")
		default:
			own.WriteString(a.Text + "\n")
		}
	}
	out := &around{own: passageOf(own.String()), given: passageOf(given.String())}
	slices.Sort(asked)
	for _, text := range slices.Compact(asked) {
		out.asked = append(out.asked, passageOf(text))
	}
	return out
}

// holds tells whether a word stands in a passage, whatever the accents and the endings.
func (p passage) holds(word string) bool {
	return slices.ContainsFunc(stems(word), func(stem uint64) bool { return has(p.stems, stem) })
}

// pieces are the words of a value that say something, in its joints.
func pieces(value string) (out []string) {
	for _, t := range words(detail.Spread(value)) {
		if !plainWords[t.text] {
			out = append(out, t.text)
		}
	}
	return out
}

// owns tells whether the person said or wrote a word of a value, or wrote all of it
// apart.
func (a *around) owns(value string) bool {
	all := string(letters(value))
	return slices.ContainsFunc(append(pieces(value), value), a.own.holds) || len(all) >= longWord && strings.Contains(a.own.letters, all)
}

// composed tells whether a value stands in what happened in another way: written apart, or
// with its words in another order.
func (a *around) composed(value string) bool {
	as, all, some := bare(value), string(letters(value)), pieces(value)
	apart := func(p passage) bool {
		return len(all) >= longWord && strings.Count(p.letters, all) > strings.Count(p.bare, as)
	}
	of := func(p passage) bool {
		return len(some) > 1 && !strings.Contains(p.bare, as) && !slices.ContainsFunc(some, func(piece string) bool { return !p.holds(piece) })
	}
	return apart(a.given) || of(a.given) || slices.ContainsFunc(a.asked, func(p passage) bool {
		return p.bare != as && (apart(p) || of(p))
	})
}
