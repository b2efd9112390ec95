// Package ledger is the idea that state is a fold over events, written once:
// an append-only log with checksums, replay, and snapshots as caches.
//
// A [Log] keeps payloads in one bbolt bucket, each under its sequence number
// and with its own checksum. [Replay] folds a stretch of a log into a state.
// [Snapshots] keeps states as files that may be missing or damaged at any time
// without harm. What an event means is the business of the caller.
package ledger
