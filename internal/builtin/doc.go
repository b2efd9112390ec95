// Package builtin judges and places experience without any model server: a sentence embedder and
// an assessor that live in the binary.
//
// The Embedder joins two halves in one vector of 512 dimensions. The first is the Universal
// Sentence Encoder lite (English, int8 weights, Apache-2.0; see NOTICE), which knows what
// sentences mean. The second is a hashed bag of character n-grams, which knows no language and
// therefore serves every script. How much of either goes in depends on how well the encoder's
// vocabulary fits the text.
package builtin
