// Package vasana finds tendencies (vasana: the latent habit that related
// impressions leave): clusters of impressions that lie close in meaning and
// agree in character.
//
// Three steps, each a pure function of the values handed in:
//
//   - [Graph] holds which impressions are near in meaning. It grows with the
//     store and may be written to a file; it is a cache and never changes a result.
//   - [Detect] clusters the live impressions over that graph and gives each
//     cluster an id that lasts from session to session.
//   - [Name] gives each cluster two or three of its key terms, taken from the
//     terms of its members ([ExtractTerms]).
//
// # Near in meaning
//
// Two impressions are near when their centred cosine reaches a threshold. The
// mean of the store is subtracted first, because entries of one life share a
// large common part that would chain all of them into one cluster. Mean and
// threshold come from a frame: the first F rows, where F is the whole store up
// to 256 rows and then the greatest of 256, 320, 400, 500, … (each the one
// before times 5/4, rounded down) that the store has reached. So a new row is
// compared with the others once, and everything is compared anew only when the
// store has grown by a quarter.
//
// # Words
//
// A row is the position of an impression in the store, from 0. A core is an
// impression with at least MinPoints neighbours, itself counted. Coherence is
// the least guna resonance of any two members.
package vasana
