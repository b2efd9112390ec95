// Package lifecycle is the working life of a companion (janma … samhara: from
// birth to withdrawal): text comes in, is embedded and judged once, folded into
// the store, and at a session's end the identity is written anew.
//
// A [Companion] is one open data folder. Everything that changes it goes
// through one worker, in order of arrival; embedding and judging run ahead of
// it. The main flow reads top to bottom in intake.go (a note becomes an event),
// session.go (which session it belongs to) and withdraw.go (what the end of a
// session does).
package lifecycle
