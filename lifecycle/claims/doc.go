// Package claims keeps statements about the world: what was said, by whom, on what
// evidence, and what became of it. Whether one may be believed or acted on is decided by
// [evidence]; here stands what is remembered of it.
//
// The claims are a fold over typed events ([Event], [Step]), kept in the one data file under
// names that begin with [Prefix]. A [Book] reads them, writes new ones after asking the
// policy, and tells all reasons where something may not be. Forgetting takes events out
// ([Without]), and what follows from them: the fold of what is left is as if they had
// never been.
//
// Source: seed 003, sections 3 to 20.
package claims
