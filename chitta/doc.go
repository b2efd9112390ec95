// Package chitta is the store of impressions (chitta: mind-stuff): one bbolt
// file with an event log, the state folded from it, and the texts beside it.
//
// The log is the durable truth: what [Store.Append] has acknowledged is on
// disk. The state lives in memory and is a fold over the log ([fold.Step]);
// snapshots and the vector file under cache/ are caches that may be missing or
// damaged at any time. Texts stand beside the log, keyed by the event, so that
// retention can drop them without touching the fold.
//
// One process owns a store. Writers may be many: their entries are committed
// together and folded in the order in which they were committed.
package chitta
