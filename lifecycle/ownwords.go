package lifecycle

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// What the companion said comes back at times: somebody copies an answer, or all of
// SOUL.md, into the diary. That is no new experience of full force, else it would grow
// by its own echo. So what it says is kept as digests of runs of words, and an entry
// counts the less the more of its runs are among them.

const (
	// valueOwnWords names the digests, eight bytes each, the newest last. They go
	// when anything is forgotten: an answer may have quoted it.
	valueOwnWords = "model/own-words"
	// valueOwnSoul names those of the SOUL.md that sessions replaced, as far as they
	// are not in the one before. They go like the others.
	valueOwnSoul = "model/own-soul"
	// mostOwn bounds them: some hundred answers.
	mostOwn = 8192
	// run is how many words, or letters of scripts without spaces, are one.
	run = 6
	// hardly is the share below which an entry only has some phrases in common.
	hardly = 0.3
)

// runsIn are the digests of the runs of words of a text, in order.
func runsIn(text string) []uint64 {
	var words []string
	for _, w := range strings.FieldsFunc(plain(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !strings.ContainsFunc(w, spaceless) {
			words = append(words, w)
			continue
		}
		for _, r := range w {
			words = append(words, string(r))
		}
	}
	var out []uint64
	for i := 0; i+run <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+run] {
			_, _ = h.Write([]byte(w + " ")) // it never fails
		}
		out = append(out, h.Sum64())
	}
	return out
}

// spaceless tells of letters of scripts that set no spaces between words.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// ownWords is the record of what the companion has said, with the answer to a turn more:
// without what the answer quotes or repeats of the person.
func (c *Companion) ownWords(p *prepared) (chitta.Value, error) {
	list, err := c.saidBefore(valueOwnWords)
	if err != nil {
		return chitta.Value{}, err
	}
	theirs, err := c.theirWords(p)
	if err != nil {
		return chitta.Value{}, err
	}
	answer := p.answer
	if p.by == ByReflection {
		answer = framed(answer)
	}
	for _, x := range runsIn(spoken(answer)) {
		if !theirs[x] {
			list = append(list, x)
		}
	}
	return runsValue(valueOwnWords, list, mostOwn), nil
}

// mostOwnSoul bounds what is kept of earlier SOUL.md: some ten of them, in 16 KiB.
const mostOwnSoul = 2048

// ownSoul adds what a SOUL.md that is replaced says to the record of that; none where
// nothing in it is new.
func (c *Companion) ownSoul(replaced []byte) ([]chitta.Value, error) {
	list, err := c.saidBefore(valueOwnSoul)
	if err != nil {
		return nil, err
	}
	known := make(map[uint64]bool, len(list))
	for _, x := range list {
		known[x] = true
	}
	before := len(list)
	for _, x := range runsIn(spokenIn(string(replaced))) {
		if !known[x] {
			known[x], list = true, append(list, x)
		}
	}
	if len(list) == before {
		return nil, nil
	}
	return []chitta.Value{runsValue(valueOwnSoul, list, mostOwnSoul)}, nil
}

// runsValue is a record of the newest of some runs.
func runsValue(name string, list []uint64, most int) chitta.Value {
	list = list[max(0, len(list)-most):]
	data := make([]byte, 0, 8*len(list))
	for _, x := range list {
		data = binary.LittleEndian.AppendUint64(data, x)
	}
	return chitta.Value{Name: name, Data: data}
}

// saidBefore reads such a record.
func (c *Companion) saidBefore(name string) ([]uint64, error) {
	data, err := c.store.Value(name)
	if errors.Is(err, chitta.ErrNotFound) {
		return nil, nil
	}
	var list []uint64
	for part := range slices.Chunk(data, 8) {
		if len(part) == 8 {
			list = append(list, binary.LittleEndian.Uint64(part))
		}
	}
	return list, err
}

// ownShare is the share of a text's runs that the companion has said, in an answer or
// in SOUL.md: 0 for a text that has hardly any, or is shorter than a run.
func (c *Companion) ownShare(text string) float64 {
	runs := runsIn(text)
	if len(runs) == 0 {
		return 0
	}
	own := map[uint64]bool{}
	for _, name := range []string{valueOwnWords, valueOwnSoul} {
		said, err := c.saidBefore(name)
		if err != nil {
			return 0 // damage, which others tell of
		}
		for _, x := range said {
			own[x] = true
		}
	}
	if doc, err := c.lastWritten(); err == nil {
		for _, x := range runsIn(spokenIn(string(doc))) {
			own[x] = true
		}
	}
	n := 0
	for _, x := range runs {
		if own[x] {
			n++
		}
	}
	if share := float64(n) / float64(len(runs)); share >= hardly {
		return share
	}
	return 0
}

// spokenIn is what of a SOUL.md is the companion's own: not Given, and not the
// sections that quote what the person wrote.
func spokenIn(doc string) string {
	own, _ := partsOf(doc)
	return own
}

// partsOf are what of a SOUL.md is the companion's own, and the rest.
func partsOf(doc string) (spoken, theirs string) {
	var b, rest strings.Builder
	own := true
	for line := range strings.Lines(doc) {
		if strings.HasPrefix(line, "## ") {
			own = !slices.Contains([]string{"## Given", "## Tendencies", "## Deep impressions"}, strings.TrimSpace(line))
		}
		if own {
			b.WriteString(line)
		} else {
			rest.WriteString(line)
		}
	}
	return b.String(), rest.String()
}

// lessened is a judgement of a text of which a share is the companion's own words:
// only the rest was felt.
func lessened(j fold.Judgement, own float64) fold.Judgement {
	j.Intensity *= 1 - own
	j.Emotion *= 1 - own
	return j
}

// beside adds to what is kept of an entry what was answered to it, and how much of it
// the companion had said before.
func (p *prepared) beside(t *chitta.Text) *chitta.Text {
	if t == nil || p.answer == "" && p.own == 0 {
		return t
	}
	with := *t
	with.Own = p.own
	if with.Answer, with.By = p.answer, p.by; t.Gist {
		with.Answer = "" // it may repeat all that was said
	}
	return &with
}
