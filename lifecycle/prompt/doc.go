// Package prompt assembles everything that a model is asked, in one place. What
// people wrote, what was recalled and what models said enters as quoted data: it
// can say nothing in the voice of the program.
package prompt
