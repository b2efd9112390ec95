// Package fold is the pure heart of the Chitta (chitta: mind-stuff, the store
// of impressions): State, Event and Step.
//
// Everything that the store holds is the fold of [Step] over the events of its
// log, so a crash loses nothing that was written, a check is a second fold,
// and forgetting is a fold without. Nothing in this package reads a clock, a
// file or a random number, walks a map or starts a goroutine inside Step.
//
// Events are amended, never edited: [Amendments] collects what later events say
// of earlier ones, and a replay sees each experience as its last amendment
// left it, at its old place.
package fold
