package lifecycle

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// enoughClaims is how many claims have to fit what was said for no others to be told.
const enoughClaims = 4

// claimsFor are the claims that a conversation is told of: those that share words with what
// was said, VERIFIED ones first and then the newest. Where there are fewer than enough, as
// many more of those that are VERIFIED or that acts of the policy rest on. Neither an
// embedder nor a model is asked.
func (c *Companion) claimsFor(said string) (out []prompt.Claim) {
	if c.claims == nil || c.leave == nil {
		return nil
	}
	all := c.claims.Tellable(c.claimReadable)
	fits := fitting(said, all)
	var ids []string
	for i := range all {
		if fits[i] && len(ids) < prompt.ChatClaims {
			ids = append(ids, all[i].ID)
		}
	}
	for i := range all {
		if !fits[i] && len(ids) < enoughClaims && (all[i].Class == evidence.Verified || all[i].RestedOn) {
			ids = append(ids, all[i].ID)
		}
	}
	for _, v := range c.claims.Views(ids) {
		out = append(out, prompt.Claim{
			Class: string(v.Class), Subject: v.Subject, Text: v.Text, Age: v.Age, Sources: v.Sources, Contested: len(v.Conflicts) > 0, Fresh: v.Fresh(),
		})
	}
	return out
}

// fitting tells of each claim whether what was said names its subject, or shares a word with
// its subject or text. A word that more than half of many claims hold tells nothing.
func fitting(said string, all []claims.Tellable) []bool {
	said = plain(clip(said, longestQuery))
	words := wordsOf(said, maxWords)
	out := make([]bool, len(all))
	holding := make([]uint64, len(all)) // a bit for each word
	having := make([]int, len(words))
	for i, k := range all {
		subject, text := plain(k.Subject), plain(k.Text)
		out[i] = subject != "" && holds(said, subject)
		short := !slices.ContainsFunc(wordsOf(subject, maxWords), tells)
		for j, w := range words {
			if tells(w) && (holds(subject, w) || holds(text, w)) || short && utf8.RuneCountInString(w) > 1 && holds(subject, w) {
				holding[i] |= 1 << j
				having[j]++
			}
		}
	}
	const many = 8
	var common uint64
	for j, n := range having {
		if len(all) >= many && 2*n > len(all) {
			common |= 1 << j
		}
	}
	for i, h := range holding {
		out[i] = out[i] || h&^common != 0
	}
	return out
}

// tells tells of a word that says something of what a text is about: a short one seldom
// does, nor a pair of letters of the script in which Japanese writes its endings.
func tells(word string) bool {
	n, endings := 0, true
	for _, r := range word {
		n++
		endings = endings && unicode.In(r, unicode.Hiragana)
	}
	first, _ := utf8.DecodeRuneInString(word)
	if unspaced(first) {
		return n >= 2 && !endings
	}
	return n >= 4
}
