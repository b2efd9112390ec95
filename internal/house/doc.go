// Package house holds the tests that keep the house in order: which package may import which, what
// may lie at the top level, how long a file may grow, and whether the documents tell the truth about
// the tree. It has no code of its own.
package house
