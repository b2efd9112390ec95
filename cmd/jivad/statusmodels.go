package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// shownName is as much of a model's name as a line of the status has room for; --json
// has all of it.
const shownName = 40

// embedderLine tells how an embedder of a server is.
func embedderLine(m lifecycle.ModelState, waiting int) string {
	out := clipped(m.Name, shownName)
	switch {
	case m.Away != "":
		out += awaySince(m) + "; nothing is taken in until it is back" + triedAgain(m)
	case m.Digest == "":
		out += ": not asked yet"
	default:
		out += "@" + m.Digest[:min(12, len(m.Digest))] + ": can be asked"
	}
	if waiting > 0 {
		out += "; " + count(waiting, "entry of the diary waits", "entries of the diary wait") + " for it"
	}
	return out
}

func awaySince(m lifecycle.ModelState) string {
	out := ": away"
	if !m.Since.IsZero() {
		out += " since " + m.Since.Local().Format("15:04:05")
	}
	return out + " (" + oneLine(m.Away) + ")"
}

func triedAgain(m lifecycle.ModelState) string {
	if wait := time.Until(m.Next); !m.Next.IsZero() && wait > 0 {
		return fmt.Sprintf(", tried again in %v", wait.Round(time.Second))
	}
	return ""
}

// modelLine tells how the model is, and who judges while it is away: nobody, where the
// embedder is away too, since then nothing is taken in.
func modelLine(m lifecycle.ModelStatus, embedder *lifecycle.ModelState) string {
	out := clipped(m.Name, shownName)
	if m.Digest != "" {
		out += "@" + m.Digest[:min(12, len(m.Digest))]
	}
	switch {
	case m.Away != "" && embedder != nil && embedder.Away != "":
		out += awaySince(m.ModelState) + "; nothing is judged before the embedder is back too" + triedAgain(m.ModelState)
	case m.Away != "":
		out += awaySince(m.ModelState) + "; the built-in assessor judges in its place" + triedAgain(m.ModelState)
	case m.Digest == "" && m.Calls == 0:
		out += ": not asked yet"
	default:
		out += ": can be asked"
	}
	if m.Owed+m.Reassessed+m.GivenUp > 0 {
		out += fmt.Sprintf("; %d to be judged again, %d were, %d given up", m.Owed, m.Reassessed, m.GivenUp)
	}
	return out
}

// closedLine tells why the model is not asked a kind of question.
func closedLine(k lifecycle.ClosedKind) string {
	m := lifecycle.ModelState{Away: k.Why, Since: k.Since, Next: k.Next}
	return strings.TrimPrefix(awaySince(m)+triedAgain(m), ": ")
}

// modelsLine names who embeds and who judges where no model is asked.
func modelsLine(s lifecycle.Status) string {
	return clipped(s.Embedder, shownName) + ", " + clipped(s.Assessor, shownName)
}
