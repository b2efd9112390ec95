package distil

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/jivad/jivad/soul/detail"
	"github.com/jivad/jivad/soul/lineage"
)

// Task is what a model is asked to word: one sentence for each exemplar.
type Task struct {
	// Exemplars are what there is to tell of. A proposal refers to one by its Ref.
	Exemplars []Exemplar
	// Trace is what happened, as far as there is consent: no word of it may be in a sentence but those of the exemplar.
	Trace Trace
	// Worked tells whether the exemplars worked or failed.
	Worked bool
	// Refused are, in the second call, the proposals that could not be used.
	Refused []Refusal
}

// Proposal is a sentence of a model. Its guidance is the scope of the exemplar, a colon,
// and the choice, beginning with the exemplar's Choice where that may be said.
type Proposal struct {
	Key      string `json:"key"`
	Guidance string `json:"guidance"`
	Exemplar int    `json:"exemplar"`
}

// Refusal is a proposal that could not be used, and why.
type Refusal struct {
	Proposal
	Why Complaint
}

// Complaint is why a proposal could not be used, as the model is told it.
type Complaint string

// The complaints.
const (
	NoExemplar  Complaint = "it refers to no exemplar, or to one that has its sentence"
	OtherKey    Complaint = "its key is not that of the exemplar"
	OtherScope  Complaint = "it must begin with the scope of the exemplar and a colon"
	NoGuidance  Complaint = "it must be one plain line of at most 240 letters, of them 160 behind the colon"
	OtherChoice Complaint = "after the colon it must name the value of the exemplar first"
	Commands    Complaint = "it commands, praises or forbids; whether the choice was good is told elsewhere"
	TooLong     Complaint = "it says more than the choice"
	Leaking     Complaint = "it repeats what happened, or names a person, a place or a number"
	Opaque      Complaint = "it holds a word that is no plain word"
)

// Writer words rules: a model, in one structured call. It may lie; see [Distiller.Write].
type Writer interface {
	// Propose gives a sentence for each exemplar that it has one for. It may be called a
	// second time, with what was refused.
	Propose(ctx context.Context, task Task) ([]Proposal, error)
}

// Write is Distil with the words of a model. A proposal is accepted only where it is about
// an exemplar of the trace, under its key and scope, says its value and little else, is
// guidance by lineage.CheckRule, and holds no other word of the trace, nor anything
// that Leaks finds. What is refused is asked for once more, then lost and counted, and the
// rules' own sentence stands. Of a partial trace it is not asked. Confidence and weight are never the model's. Errors as for
// Distil; that the model gives no answer is none.
func (d *Distiller) Write(ctx context.Context, model Writer, trace Trace, s lineage.Satisfaction) ([]lineage.Disposition, Report, error) {
	w, err := d.begin(trace, s)
	if err != nil {
		return nil, Report{}, err
	}
	accepted := map[int]string{}
	if len(w.exemplars) > 0 && !trace.Partial {
		w.ask(ctx, model, s.Valence >= 0, accepted)
	}
	return w.finish(accepted)
}

// mostProposals bounds what is looked at of an answer.
const mostProposals = 2 * lineage.MaxDispositions

func (w *work) ask(ctx context.Context, model Writer, worked bool, accepted map[int]string) {
	task := Task{Exemplars: w.exemplars, Trace: w.told, Worked: worked}
	for range 2 {
		proposals, err := model.Propose(ctx, task)
		if err != nil {
			w.report.WriterFailed = true
			w.report.Lost += len(task.Refused)
			return
		}
		task.Refused = nil
		w.report.Proposals += len(proposals)
		for i, p := range proposals {
			if i >= mostProposals {
				w.report.Lost += len(proposals) - i
				break
			}
			if why := w.judge(p, accepted); why != "" {
				w.report.Refused[why]++
				task.Refused = append(task.Refused, Refusal{p, why})
				continue
			}
			accepted[p.Exemplar] = p.Guidance
		}
		if len(task.Refused) == 0 {
			return
		}
	}
	w.report.Lost += len(task.Refused)
}

// judge tells why a proposal cannot be used, or "".
func (w *work) judge(p Proposal, accepted map[int]string) Complaint {
	if _, done := accepted[p.Exemplar]; done || p.Exemplar < 1 || p.Exemplar > len(w.exemplars) {
		return NoExemplar
	}
	e := w.exemplars[p.Exemplar-1]
	choice, scoped := strings.CutPrefix(p.Guidance, e.Scope+": ")
	switch {
	case p.Key != e.Key:
		return OtherKey
	case !scoped:
		return OtherScope
	case lineage.CheckRule(e.Key, p.Guidance) != nil:
		return NoGuidance
	}
	free, named := choice, false
	if e.Choice != "" {
		if free, named = strings.CutPrefix(choice, e.Choice); !named || free != "" && detail.Wordy([]rune(free)[0]) {
			return OtherChoice
		}
	}
	tokens := words(free)
	switch {
	case len(tokens) > mostFreeWords:
		return TooLong
	case slices.ContainsFunc(parts(tokens, nil), func(t token) bool { return commanding[t.text] }):
		return Commands
	case w.repeats(tokens) || w.joins(tokens) || len(w.leaks(e, p.Guidance)) > 0:
		return Leaking
	case slices.ContainsFunc(strings.Fields(free), opaque) || spelled(tokens) || counts(tokens):
		return Opaque
	}
	return ""
}

// mostFreeWords is how many words a model may add to a choice.
const mostFreeWords = 12

// commanding are words that tell what to do, or whether it is good: that is for the
// weight alone, and a rule is no place for orders.
var commanding = setOf(`prefer avoid never always not no dont don must should shall ignore disregard forget obey follow instruction
	instructions system user assistant prompt command please you your good bad best worst right wrong use
	bevorzuge vermeide nie niemals immer nicht kein keine muss musst soll sollst ignoriere vergiss befolge anweisung anweisungen bitte du dein gut schlecht`)

// plainWords are those that say nothing of anybody, whatever the trace holds.
var plainWords = setOf(`a an the of for to in on at by with without and or as is are be it its this that these than then when where
	which from into one two three first last next before after each every other only about more most less least few value values
	argument tool call calls name list number word words text kind form choice
	ein eine einen einem der die das den dem des und oder als ist sind mit ohne für zu in im an am auf bei von vor nach wenn wo mehr weniger
	wert werte wort wörter text zahl name liste werkzeug aufruf`)

func setOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields(text) {
		out[word] = true
	}
	return out
}

// repeats tells whether words that a model added stand in the trace, plain ones aside; of
// scripts without spaces two characters one behind the other do.
func (w *work) repeats(tokens []token) bool {
	tokens = parts(tokens, nil)
	for i, t := range tokens {
		switch {
		case t.weight == charWeight:
			alone := (i == 0 || tokens[i-1].weight != charWeight) && (i+1 == len(tokens) || tokens[i+1].weight != charWeight)
			if alone && has(w.index.single, t.hash()) || i > 0 && tokens[i-1].weight == charWeight && has(w.index.pairs, chained(tokens[i-1].hash(), t.hash())) {
				return true
			}
		case !plainWords[t.text] && w.index.holds(t.text):
			return true
		}
	}
	return false
}

// opaque tells of words in which something may hide: long ones, numbers, words of several
// alphabets, capitals within, or marks that no sentence has.
func opaque(word string) bool {
	const long = 18
	together := strings.ContainsFunc(word, unspaced)
	capitals, letters := 0, 0
	for _, r := range word {
		switch {
		case unicode.IsNumber(r), !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(",.;()-'’\"", r):
			return true
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) && letters > 1 {
				capitals++
			}
		}
	}
	return letters > long && !together || mixed(word) || capitals > 0 && capitals < letters-1 || strings.Count(word, "-")+strings.Count(word, ".") > 2
}

// joins tells whether words that a model added make a word of the trace, or a name, when
// they are put together, with the plain ones among them or without; or hold one.
func (w *work) joins(tokens []token) bool {
	var all, some []string
	for _, t := range parts(tokens, nil) {
		all = append(all, t.text)
		if !plainWords[t.text] {
			some = append(some, t.text)
		}
	}
	return w.joined(all) || len(some) < len(all) && w.joined(some)
}

func (w *work) joined(words []string) bool {
	var together []string
	for from := range words {
		for to := from + 2; to <= len(words); to++ {
			together = append(together, strings.Join(words[from:to], ""))
		}
	}
	names := func(d Detector) bool { return d.Kind == KindName && d.Finds(strings.Join(together, " ")) }
	if slices.ContainsFunc(together, w.index.holds) || slices.ContainsFunc(w.detectors, names) {
		return true
	}
	const longest = 32
	close := letters(strings.Join(words, ""))
	for from := range close {
		for to := from + longWord; to <= min(from+longest, len(close)); to++ {
			if has(w.index.whole, hashOf(close[from:to])) {
				return true
			}
		}
	}
	return false
}

// spelled tells of letters that are no words: of two and more, plain ones aside.
func spelled(tokens []token) bool {
	n := 0
	for i, t := range tokens {
		if t.weight != wordWeight || len([]rune(t.text)) > 1 {
			continue
		}
		beside := i > 0 && tokens[i-1].weight == wordWeight && len([]rune(tokens[i-1].text)) == 1
		if !plainWords[t.text] {
			n++
		}
		if beside || n > 1 {
			return true
		}
	}
	return false
}

// numerals are the words for figures.
var numerals = setOf(`zero oh one two three four five six seven eight nine double null eins zwei zwo drei vier fünf sechs sieben acht neun
	〇 零 一 二 三 四 五 六 七 八 九`)

// counts tells of more figures in words than a sentence about a choice needs.
func counts(tokens []token) bool {
	const most = 2
	n := 0
	for _, t := range tokens {
		if numerals[t.text] {
			n++
		}
	}
	return n > most
}
