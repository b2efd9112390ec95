package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

func (a *app) talkVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "talk [TEXT...]",
		Short: "Talk with the companion",
		Long: `Talks with the companion, which knows SOUL.md and what it is reminded of. What you say
becomes an entry of today; the answer is kept beside it. It is kept as soon as the answer
is there, and the model judges it while you go on.

With a text there is one answer. Without one, each line that you write is answered: /why shows
what was recalled for the last answer, /end ends the session, /quit leaves. Ctrl-C stops an answer,
and what you said stays remembered; at the prompt it leaves, as Ctrl-D does. What you type
while an answer comes is shown and taken when it is whole.`,
		Example: `  jivad talk
  jivad talk "How was the week?"
  jivad talk --json < questions.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			// Ctrl-C is for the answer here; so it must not end everything at once.
			ctx := context.WithoutCancel(cmd.Context())
			return a.with(ctx, func(ctx context.Context, c companion) error {
				signals := make(chan os.Signal, 1)
				signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
				defer signal.Stop(signals)
				if err := cmd.Context().Err(); err != nil { // it was pressed before the store was open
					return err
				}
				t := &talk{app: a, with: c, signals: signals, out: a.printer()}
				t.away = func(ctx context.Context) bool {
					s, err := c.Status(ctx)
					return err == nil && s.EmbedderState != nil && s.EmbedderState.Away != ""
				}
				if own, ok := c.(judging); ok {
					t.judging = own
				}
				if len(args) > 0 {
					return t.once(ctx, strings.Join(args, " "))
				}
				return t.loop(ctx)
			})
		},
	}
}

// talker is the part of a companion that a conversation needs.
type talker interface {
	Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(piece string) error) (lifecycle.TalkReport, error)
	EndSession(context.Context) (lifecycle.SessionReport, error)
}

// judging is a companion that judges in this process, and has to be waited for.
type judging interface {
	Judged(ctx context.Context) error
}

// talk is one conversation on a terminal, or of the lines of a file.
type talk struct {
	app     *app
	with    talker
	signals <-chan os.Signal
	out     *printer
	history []lifecycle.ChatMessage
	// last is of the last answer, nil where it is not known.
	last *lifecycle.TalkReport
	// away, if not nil, tells that the embedder is.
	away func(context.Context) bool
	// judging is nil where a daemon judges what was said.
	judging judging
	// here says that a person types on a terminal; hushed that it shows nothing now of what
	// is typed.
	here   bool
	hushed atomic.Bool
	// kept says that something was kept, unjudged that the model was still to judge it then.
	kept, unjudged bool
	// leaving says that the process was asked to end, and not only the answer.
	leaving bool
}

const (
	// maxHistory is how many messages of before go along.
	maxHistory = 40
	// maxSaid is the longest line, in bytes.
	maxSaid = lifecycle.MaxNote
)

// once is one answer.
func (t *talk) once(ctx context.Context, said string) error {
	stopped, err := t.say(ctx, said)
	if err == nil && stopped {
		return context.Canceled
	}
	return errors.Join(err, t.settle(ctx))
}

// loop answers line by line until there are no more.
func (t *talk) loop(ctx context.Context) error {
	t.here = isTerminal(t.app.stdin) && t.out.terminal && !t.app.flags.json
	lines, failed := t.lines()
	for {
		if t.here {
			t.prompt()
		}
		select {
		case <-t.signals:
			if t.here {
				t.out.line("")
			}
			t.farewell()
			return t.out.flush()
		case line, more := <-lines:
			if !more {
				if t.here {
					t.out.line("")
				}
				return errors.Join(<-failed, t.settle(ctx))
			}
			if line.unseen && t.here {
				t.out.line("%s", harmless(line.text))
			}
			leave, err := t.take(ctx, line.text)
			if leave && err == nil {
				return t.settle(ctx)
			}
			if err != nil || leave {
				return errors.Join(err, t.out.flush())
			}
		}
	}
}

// settle waits until the model has judged what was said, where no daemon does that; Ctrl-C
// leaves it as it is.
func (t *talk) settle(ctx context.Context) error {
	if t.judging == nil || !t.unjudged {
		if t.unjudged {
			t.farewell()
		}
		return t.out.flush()
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- t.judging.Judged(waiting) }()
	sign := t.sign("what you said is kept, and is being judged (Ctrl-C leaves)")
	select {
	case <-t.signals:
		sign.end()
		if t.here {
			t.out.line("")
		}
		t.farewell()
		return t.out.flush()
	case err := <-done:
		sign.end()
		return errors.Join(err, t.out.flush())
	}
}

// farewell says what becomes of what was said, to somebody who leaves before it is judged.
func (t *talk) farewell() {
	if !t.here || !t.kept || t.app.flags.quiet {
		return
	}
	fate := "what you said is kept"
	switch {
	case !t.unjudged:
	case t.judging == nil:
		fate += "; the daemon judges what is not judged yet"
	default:
		fate += ", as the built-in assessor judged it"
	}
	t.out.line("%s", t.out.dim("("+fate+")"))
}

// take does what a line says. An answer that fails ends the conversation, unless a
// person is there who can try again.
func (t *talk) take(ctx context.Context, line string) (leave bool, err error) {
	switch word := strings.TrimSpace(line); {
	case word == "":
	case word == "/quit":
		return true, nil
	case word == "/why":
		err = t.why()
	case word == "/end":
		err = t.end(ctx)
	case t.here && strings.HasPrefix(word, "/") && !strings.ContainsAny(word, " \t"):
		t.out.line("There is no %s. /why shows what was recalled, /end ends the session, /quit leaves.", oneLine(word))
	default:
		var stopped bool
		stopped, err = t.say(ctx, line)
		if stopped && (t.leaving || !t.here) {
			return true, cmp.Or(err, context.Canceled)
		}
	}
	if err != nil && t.here {
		t.app.complain(err, exitCode(err))
		return false, nil
	}
	return false, err
}

// say says something and writes the answer as it comes. Ctrl-C stops it; then err says
// why what was said could not be remembered, or is nil.
func (t *talk) say(ctx context.Context, said string) (stopped bool, err error) {
	answering, stop := context.WithCancel(ctx)
	defer stop()
	done, watched := make(chan struct{}), make(chan os.Signal, 1)
	go func() {
		select {
		case s := <-t.signals:
			stop()
			watched <- s
		case <-done:
			watched <- nil
		}
	}()
	defer t.hush()()
	sign := t.sign("thinking")
	defer sign.end()
	var answer strings.Builder
	var unwritten error // nobody reads what is written; that stops an answer too
	t.last = nil
	report, err := t.with.Talk(answering, lifecycle.TalkRequest{Said: said, History: t.history}, func(piece string) error {
		answer.WriteString(piece)
		if t.app.flags.json {
			return nil
		}
		sign.end()
		fmt.Fprint(t.out.out, harmless(piece))
		if unwritten = t.out.flush(); unwritten != nil {
			stop()
		}
		return unwritten
	})
	sign.end()
	close(done)
	asked := <-watched
	if report.Receipt != nil {
		t.kept, t.unjudged = true, t.unjudged || report.Receipt.Unjudged
	}
	stopped, t.leaving = asked != nil, asked == syscall.SIGTERM
	if unwritten != nil {
		return false, unwritten
	}
	if stopped && (err == nil || errors.Is(err, context.Canceled)) {
		t.keep(said, answer.String())
		fate := "it is not known whether what you said is remembered"
		switch {
		case err == nil:
			fate, t.last = "what you said is remembered", &report
		case t.away != nil && t.away(ctx):
			fate = "what you said is not kept: the embedder is away"
		}
		if t.app.flags.json && err == nil {
			return true, t.app.answer(report, nil)
		}
		if !t.app.flags.json {
			t.out.line("\n%s", t.out.dim("(stopped; "+fate+")"))
		}
		return true, t.out.flush()
	}
	if err != nil {
		if answer.Len() > 0 && !t.app.flags.json {
			t.out.line("")
			_ = t.out.flush()
		}
		return stopped, err
	}
	t.keep(said, report.Answer)
	t.last = &report
	if t.app.flags.json {
		return false, t.app.answer(report, nil)
	}
	if answer.Len() == 0 {
		fmt.Fprint(t.out.out, harmless(report.Answer))
	}
	t.out.line("")
	if acts := actsLine(report.Acts); acts != "" && !t.app.flags.quiet {
		t.out.line("%s", t.out.dim(acts))
	}
	if report.Cut && !t.app.flags.quiet {
		t.out.line("%s", t.out.dim("(cut: "+oneLine(report.CutWhy)+")"))
	}
	if report.Why != "" && !t.app.flags.quiet {
		t.out.line("%s", t.out.dim("("+oneLine(report.Why)+")"))
	}
	return false, t.out.flush()
}

// actsLine says which tools were used, and which were refused.
func actsLine(acts []lifecycle.TalkAct) string {
	if len(acts) == 0 {
		return ""
	}
	var said []string
	for _, a := range acts {
		name := a.Tool
		if name == "" {
			name = "a tool that there is not"
		}
		switch {
		case len(a.Refused) > 0:
			name += ": refused (" + strings.ReplaceAll(string(a.Refused[0]), "_", " ") + ")"
		case !a.OK:
			name += ": failed"
		}
		said = append(said, name)
	}
	return "(used " + strings.Join(said, ", ") + ")"
}

// keep has a turn go along with the next ones.
func (t *talk) keep(said, answered string) {
	t.history = append(t.history, lifecycle.ChatMessage{Role: "user", Content: said})
	if answered != "" {
		t.history = append(t.history, lifecycle.ChatMessage{Role: "assistant", Content: answered})
	}
	if extra := len(t.history) - maxHistory; extra > 0 {
		t.history = append([]lifecycle.ChatMessage(nil), t.history[extra:]...)
	}
}

// why shows what the last answer could know of.
func (t *talk) why() error {
	switch {
	case t.last == nil && t.app.flags.json:
		_, err := io.WriteString(t.app.stdout, "[]\n")
		return err
	case t.last == nil && len(t.history) == 0:
		t.out.line("There was no answer yet.")
		return t.out.flush()
	case t.last == nil:
		t.out.line("The last answer was stopped or failed; it is not known what was recalled for it.")
		return t.out.flush()
	case t.app.flags.json:
		return t.app.answer(t.last.Recalled, nil)
	}
	if len(t.last.Recalled) == 0 {
		t.out.line("Nothing was recalled for the last answer.")
	} else {
		t.out.line("What was recalled for the last answer: date, nearness (at most 1), first words.")
	}
	if t.last.ByWords != "" {
		t.out.line("%s", t.out.dim("(by words only: "+oneLine(t.last.ByWords)+")"))
	}
	for _, r := range t.last.Recalled {
		near := r.Similarity
		if t.last.ByWords != "" {
			near = r.Lexical
		}
		line := fmt.Sprintf("%s  %.2f  %s", pad(dash(r.Impression.Date), 10), near, excerptOf(r.Impression))
		if t.out.terminal {
			line = cut(line, t.out.width)
		}
		t.out.line("%s", line)
	}
	return t.out.flush()
}

// end ends the session of today; the conversation goes on in a new one.
func (t *talk) end(ctx context.Context) error {
	ended, err := t.with.EndSession(ctx)
	if errors.Is(err, lifecycle.ErrNoSession) && !t.app.flags.json {
		t.out.line("No session is open.")
		return t.out.flush()
	}
	if err != nil {
		return err
	}
	if t.app.flags.json {
		return t.app.answer(ended, nil)
	}
	if ended.Number == 0 {
		t.out.line("No session is open. The life ended, in which nothing was kept.")
		return t.out.flush()
	}
	t.out.line("Session %d ended, with %s.", ended.Number, count(ended.Events, "entry", "entries"))
	return t.out.flush()
}
