package builtin

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func gramOf(t testing.TB, text string) []float32 {
	t.Helper()
	v := make([]float32, Dim)
	if !gramVector(normalize(text), newGramScratch(), v) {
		t.Fatalf("%q has no n-grams", text)
	}
	return v
}

func TestGramsIgnoreCaseAndOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zäöüßéèàç]{1,12}`), 1, 20).Draw(rt, "words")
		other := rapid.Permutation(words).Draw(rt, "permuted")
		a, b := gramOf(t, strings.Join(words, " ")), gramOf(t, strings.Join(other, ", "))
		if c := cosine(a, b); !(c > 0.99999) {
			rt.Fatalf("cosine %v of the same words in another order", c)
		}
	})
	if c := cosine(gramOf(t, "SPAZIERGANG im WALD"), gramOf(t, "Spaziergang im Wald")); !(c > 0.99999) {
		t.Errorf("cosine %v of the same words in capitals", c)
	}
}

func TestGramsBringInflectionsNear(t *testing.T) {
	for _, c := range [][3]string{
		{"Spaziergänge", "Spaziergang", "Theater"},
		{"promenades", "promenade", "théâtre"},
		{"行乞記", "行乞した", "晴れた"},
		{"caminamos", "caminaron", "laguna"},
	} {
		near, far := cosine(gramOf(t, c[0]), gramOf(t, c[1])), cosine(gramOf(t, c[0]), gramOf(t, c[2]))
		if !(near > 0.25 && near > far+0.2) {
			t.Errorf("%s: %.3f to %s, %.3f to %s", c[0], near, c[1], far, c[2])
		}
	}
}

// Unrelated texts must be all but orthogonal: that is what makes superposing the halves harmless.
func TestGramsOfUnrelatedTextsAreApart(t *testing.T) {
	texts := []string{"zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich", "le vif renard brun saute par-dessus", "いろはにほへと散りぬるを", "ὀξεῖα νῆσος", "съешь ещё этих мягких булок"}
	for i, a := range texts {
		for _, b := range texts[:i] {
			if c := cosine(gramOf(t, a), gramOf(t, b)); c > 0.2 || c < -0.2 {
				t.Errorf("cosine %.3f of %q and %q", c, a, b)
			}
		}
	}
}
