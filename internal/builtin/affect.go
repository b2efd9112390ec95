package builtin

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Emotions is the number of Plutchik's basic emotions.
const Emotions = 8

// emotionNames are the basic emotions in the order of Affect.Emotions.
var emotionNames = [Emotions]string{"anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust"}

// EmotionName names emotion k, 0 to 7; out of range it is empty.
func EmotionName(k int) string {
	if k < 0 || k >= Emotions {
		return ""
	}
	return emotionNames[k]
}

// Affect is what the built-in assessor reads in a text before any of it
// becomes a judgement.
type Affect struct {
	// Valence, Arousal and Dominance lie in [-1,1] with 0 at the middle of
	// EmoBank's scale of 1 to 5: unpleasant to pleasant, calm to excited,
	// overpowered to in control. Predictions stay near 0.
	Valence, Arousal, Dominance float64
	// Emotions is how strongly each of Plutchik's emotions is heard, in [0,1],
	// in the order of EmotionName.
	Emotions [Emotions]float64
	// Evidence is how far all this can be believed, in [0,1]: 1 for English that
	// the sentence encoder understands, 0 where nothing of the text could be read.
	Evidence float64
	// Words is the mean of VADER's compound score over the text, in [-1,1], and
	// 0 where no word of its English lexicon occurs.
	Words float64
}

// Errors of the assessor.
var (
	// ErrNoText is returned for an experience without a visible character.
	ErrNoText = errors.New("there is nothing to assess: the text is empty or blank; give at least one visible character")
	// ErrEmbedding is returned for a vector that this assessor cannot read.
	ErrEmbedding = errors.New("the embedding cannot be assessed")
)

// Sizes of what the heads read.
const (
	signalInputs = 7
	// Inputs is the number of values that a head weighs: what the sentence
	// encoder contributed to the vector, what the n-grams did, what the words
	// say, and the trust, so that other languages get a constant of their own.
	Inputs = 2*Dim + signalInputs
	// Outputs is the number of heads: valence, arousal, dominance, then the emotions.
	Outputs = 3 + Emotions
)

// gramFloor is the cosine between a text's vector and its own n-grams up to
// which it may be chance (random directions of 512 dimensions: ±0.044).
const gramFloor = 0.15

// InputReader turns a text and its vector into what the heads weigh. It is
// safe for concurrent use.
type InputReader struct {
	words func() *lexicon
	grams sync.Pool // *gramWork
}

type gramWork struct {
	scratch *gramScratch
	vector  []float32
}

// NewInputReader makes a reader. The lexicon is read, for some tens of
// milliseconds, when it is first asked.
func NewInputReader() *InputReader {
	r := &InputReader{words: sync.OnceValue(newLexicon)}
	r.grams.New = func() any {
		return &gramWork{scratch: newGramScratch(), vector: make([]float32, Dim)}
	}
	return r
}

// Read writes the Inputs values for text into dst and gives the trust that
// readings of them deserve, in [0,1]. The vector must have passed CheckEmbedding.
//
// The stored vector is a sum of two halves, and a text's own n-grams can be
// computed anew from the text. What the vector holds in their direction is
// their part, what is left is the encoder's: so the heads can weigh the two
// apart although only the sum was stored. N-grams of scripts that the heads
// were not trained on are left out.
func (r *InputReader) Read(text string, embedding []float32, dst []float64) (trust float64) {
	trust, _ = r.read(text, embedding, dst)
	return trust
}

func (r *InputReader) read(text string, embedding []float32, dst []float64) (trust float64, s signals) {
	work := r.grams.Get().(*gramWork)
	defer r.grams.Put(work)
	plain := normalize(text)
	var part float64
	if gramVector(plain, work.scratch, work.vector) {
		for i, x := range embedding {
			part += float64(float64(x) * float64(work.vector[i]))
		}
	}
	if part = min(part, 1); part < gramFloor {
		part = 0
	}
	latin := latinShare(plain)
	for i, x := range embedding {
		own := float64(part * float64(work.vector[i]))
		dst[i] = float64(x) - own
		dst[Dim+i] = own * latin
	}
	s = r.words().read(plain)
	trust = trustIn(1-float64(part*part), latin)
	copy(dst[2*Dim:], []float64{s.compound, s.swing, s.positive, s.negative, s.shouts, s.asks, trust})
	return trust, s
}

// gramTrust is how far a reading of n-grams and fragments of Latin script is
// believed, against 1 for a text that the sentence encoder understands.
const gramTrust = 0.4

// trustIn is how far readings can be believed: fully where the encoder has
// the share of the vector that it has in English, a little where n-grams of
// Latin script have more (the heads have seen German and French), not at all
// in other scripts.
func trustIn(encoder, latin float64) float64 {
	fit := max(0, min(1, (encoder-foreignShare)/(englishShare-foreignShare)))
	return fit + float64((1-fit)*latin*gramTrust)
}

// latinShare is the share of the letters that are Latin; 1 without any letter.
func latinShare(text string) float64 {
	var latin, letters float64
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			latin++
			letters++
		case r >= utf8.RuneSelf && unicode.IsLetter(r):
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	if letters == 0 {
		return 1
	}
	return latin / letters
}

// Rejoin gives the vector that Embed gives for text, from the encoder's half
// that Parts gave before; train keeps that half between runs.
func (e *Embedder) Rejoin(text string, sentence []float32) []float32 {
	text = normalize(text)
	s := &scratch{use: newUSEScratch(), gram: newGramScratch()}
	e.model.vocab.tokenize(text, &s.use.lattice, &s.use.toks)
	p := weigh(&s.use.toks)
	p.Gram = make([]float32, Dim)
	gramVector(text, s.gram, p.Gram)
	if p.Share > 0 {
		p.USE = sentence
	}
	return p.Vector()
}

// CheckEmbedding refuses (ErrEmbedding) a vector of another dimension, one
// with a value that is not finite, and one that is not of unit length to 1 %.
func CheckEmbedding(embedding []float32) error {
	if len(embedding) != Dim {
		return fmt.Errorf("%w: it has %d dimensions; the built-in assessor reads the %d of %s", ErrEmbedding, len(embedding), Dim, embedderID)
	}
	var sum float64
	for i, x := range embedding {
		if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: value %d of %d is not finite; embed the text again", ErrEmbedding, i+1, len(embedding))
		}
		sum += float64(float64(x) * float64(x))
	}
	if length := math.Sqrt(sum); !(math.Abs(length-1) <= 0.01) {
		return fmt.Errorf("%w: its length is %.3g instead of 1; embed the text again", ErrEmbedding, length)
	}
	return nil
}
