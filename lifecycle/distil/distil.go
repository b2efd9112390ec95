package distil

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/soul/lineage"
)

// Distiller is what a distillation needs to know beside the life.
type Distiller struct {
	// Tools are those that the manifest declares. Others are not spoken of. Where it is
	// nil all that the trace calls are, and none of their values is allowed for being
	// declared.
	Tools map[string]Tool
	// Names are those that the config gives; Detectors come beside the built-in ones.
	Names     []string
	Detectors []Detector
	// Secret is of this life alone, random, at least 16 bytes, and is destroyed with it:
	// the evidence of a rule is digested under it.
	Secret []byte
	// Consents tells whether rules may be made of an act; nil means of all. What may not
	// be used is still never repeated.
	Consents func(Act) bool
}

// MinSecret is the least length of the secret of a life, in bytes.
const MinSecret = 16

// Sources of the sentences, for a report.
const (
	ByRules = "rules"
	ByModel = "model"
)

// Report tells what became of a life, in numbers: nothing in it is of the trace.
type Report struct {
	// Source is ByModel where a model worded at least one of the rules, else ByRules.
	Source string `json:"source"`
	// Acts are what was done and said.
	Acts int `json:"acts"`
	// Rules are kept. Rewritten of them had a value that is not said, only its form;
	// Worded were worded by a model. Dropped were none, after one rewriting; Beyond were
	// more than a life may leave.
	Rules     int `json:"rules"`
	Rewritten int `json:"rewritten"`
	Worded    int `json:"worded"`
	Dropped   int `json:"dropped"`
	Beyond    int `json:"beyond"`
	// Found counts what was found in sentences that were rewritten or dropped.
	Found map[Kind]int `json:"found,omitempty"`
	// Undeclared are calls of tools that the manifest does not know, Withheld acts without
	// consent, Contradicted what was said against the judgement of the life.
	Undeclared   int `json:"undeclared"`
	Withheld     int `json:"withheld"`
	Contradicted int `json:"contradicted"`
	// Proposals are those of the model; Refused counts why some were, first and second
	// time; Lost are those that were never accepted. WriterFailed: it gave no answer.
	Proposals    int               `json:"proposals"`
	Refused      map[Complaint]int `json:"refused,omitempty"`
	Lost         int               `json:"lost"`
	WriterFailed bool              `json:"writer_failed"`
}

// Distil makes the dispositions of a life, by rules, in the order of their keys, each key
// once. Confidence is the record of the one example that a rule is taken from; weight is
// the valence and nothing else; and guidance names the choice that it is about. There may
// be none. Errors: lineage.ErrNoSignal where nobody judged the life ("declined"),
// lineage.ErrForm for a judgement that is none, ErrSecret.
func (d *Distiller) Distil(trace Trace, s lineage.Satisfaction) ([]lineage.Disposition, Report, error) {
	w, err := d.begin(trace, s)
	if err != nil {
		return nil, Report{}, err
	}
	return w.finish(nil)
}

// work is one distillation.
type work struct {
	d         *Distiller
	trace     Trace
	told      Trace // what a model may be told of it
	index     *Index
	around    *around // what values are held against, once one is
	valence   int64
	detectors []Detector
	exemplars []Exemplar
	report    Report
}

func (d *Distiller) begin(trace Trace, s lineage.Satisfaction) (*work, error) {
	if err := s.Check(); errors.Is(err, lineage.ErrNoSignal) {
		return nil, fmt.Errorf("declined: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("the judgement of the life: %w", err)
	}
	if len(d.Secret) < MinSecret {
		return nil, ErrSecret
	}
	w := &work{
		d: d, trace: trace, index: NewIndex(trace), valence: s.Valence,
		detectors: append(append(BuiltIn(), NamesOf(d.Names)), d.Detectors...),
		report:    Report{Source: ByRules, Found: map[Kind]int{}, Refused: map[Complaint]int{}},
	}
	for _, a := range trace.Acts {
		if a.Kind == Call || a.Kind == Said {
			w.report.Acts++
		}
	}
	l := look(trace.Acts, d.Tools, s.Valence >= 0, &w.report, d.Consents)
	w.exemplars = append(l.choices(), l.feedback(&w.report)...)
	slices.SortStableFunc(w.exemplars, func(a, b Exemplar) int { return cmp.Compare(a.Key, b.Key) })
	w.exemplars = slices.CompactFunc(w.exemplars, func(a, b Exemplar) bool { return a.Key == b.Key })
	for i := range w.exemplars {
		e := &w.exemplars[i]
		e.Ref = i + 1
		if len(w.value(*e)) == 0 {
			e.Choice = e.choice
		}
	}
	w.told = Trace{Acts: slices.DeleteFunc(slices.Clone(l.acts), func(a Act) bool { return a.Kind == "" })}
	return w, nil
}

// finish makes the rules, in the words of the model where it has some that were accepted.
func (w *work) finish(worded map[int]string) ([]lineage.Disposition, Report, error) {
	type rule struct {
		lineage.Disposition
		hits              int
		rewritten, worded bool
	}
	var rules []rule
	for _, e := range w.exemplars {
		r := rule{hits: e.Hits}
		text, found := worded[e.Ref]
		if r.worded = found; !found {
			text, r.rewritten, found = w.sentence(e)
		}
		if !found {
			w.report.Dropped++
			continue
		}
		evidence, err := w.evidence(e)
		if err != nil {
			return nil, Report{}, err
		}
		r.Disposition = lineage.Disposition{Key: e.Key, Guidance: text, Weight: w.valence, Confidence: e.Confidence(), Evidence: evidence}
		rules = append(rules, r)
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.hits, a.hits))
	})
	if most := lineage.MaxDispositions; len(rules) > most {
		w.report.Beyond = len(rules) - most
		rules = rules[:most]
	}
	slices.SortFunc(rules, func(a, b rule) int { return strings.Compare(a.Key, b.Key) })
	out := make([]lineage.Disposition, len(rules))
	for i, r := range rules {
		out[i] = r.Disposition
		if r.rewritten {
			w.report.Rewritten++
		}
		if r.worded {
			w.report.Worded++
			w.report.Source = ByModel
		}
	}
	w.report.Rules = len(out)
	return out, w.report, nil
}

// sentence is that of the rules: the value where it may be said; else, once, its form.
func (w *work) sentence(e Exemplar) (text string, rewritten, found bool) {
	text = e.Scope + ": " + e.choice
	kinds := w.leaks(e, text)
	if kinds = append(kinds, w.value(e)...); len(kinds) == 0 {
		return text, false, true
	}
	w.count(kinds)
	if e.other == "" {
		return "", false, false
	}
	text = e.Scope + ": " + e.other
	if kinds = w.leaks(e, text); len(kinds) > 0 {
		w.count(kinds)
		return "", false, false
	}
	return text, true, true
}

func (w *work) count(kinds []Kind) {
	for _, k := range kinds {
		w.report.Found[k]++
	}
}

// leaks are the kinds of what a sentence of an exemplar may not hold.
func (w *work) leaks(e Exemplar, text string) (out []Kind) {
	if lineage.CheckRule(e.Key, text) != nil || strings.Contains(e.Scope, ": ") {
		out = append(out, KindForm)
	}
	declared := e.declared
	if declared < 0 && text != e.Scope+": "+e.choice { // only as declared
		declared = len(words(e.Scope))
	}
	if declared >= 0 {
		for _, f := range w.index.found(text, declared) {
			out = append(out, f.Kind)
		}
	}
	for _, f := range detected(text, w.detectors) {
		out = append(out, f.Kind)
	}
	return out
}

// evidence is the digest of the acts of an exemplar under the secret of the life.
func (w *work) evidence(e Exemplar) (out lineage.Digest, err error) {
	mac := hmac.New(sha256.New, w.d.Secret)
	for _, i := range e.acts {
		line, err := json.Marshal(w.trace.Acts[i])
		if err != nil {
			return out, fmt.Errorf("%w: act %d cannot be written", ErrForm, i+1)
		}
		mac.Write(append(line, '\n'))
	}
	copy(out[:], mac.Sum(nil))
	return out, nil
}
