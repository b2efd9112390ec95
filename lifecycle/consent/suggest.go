package consent

import (
	"slices"
	"strings"
)

// near are the names of the words that a text may be meant for, at most three, the
// nearest first: those that it begins, and those that few slips of the hand lead from.
// An alias stands for the name.
func near(text string, vocabularies ...[]word) []string {
	type hit struct {
		name  string
		slips int
	}
	var hits []hit
	typed := []rune(text)
	if len(typed) < 2 || len(typed) > 2*longestName {
		return nil
	}
	for _, words := range vocabularies {
		for _, w := range words {
			best := -1
			for _, name := range append([]string{w.name}, w.aliases...) {
				n := slips(typed, []rune(name))
				if begins := len(typed) >= 3 && strings.HasPrefix(name, text); begins {
					n = min(n, 1)
				}
				if n <= allowed(len(name)) && (best < 0 || n < best) {
					best = n
				}
			}
			if best >= 0 {
				hits = append(hits, hit{w.name, best})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.slips - b.slips })
	var out []string
	for _, h := range hits[:min(3, len(hits))] {
		out = append(out, h.name)
	}
	return out
}

// longestName is the length of the longest name.
const longestName = len("deletion_or_portability")

// allowed is how many slips a name of n letters may be typed with: one in a short one,
// three in a long one.
func allowed(n int) int { return min(3, max(1, n/3)) }

// slips counts the letters left out, put in, taken for another, or swapped with their
// neighbour, that lead from one text to the other.
func slips(a, b []rune) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, above, row := rows[0], rows[1], rows[2]
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
