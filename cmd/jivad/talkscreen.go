package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/lifecycle"
)

// typed is a line of the input. unseen says that the terminal did not show it, since it
// came while an answer was written.
type typed struct {
	text   string
	unseen bool
}

// linesAhead is how many lines may be typed before they are taken.
const linesAhead = 64

// lines reads standard input from a goroutine of its own, which may wait there until
// the process ends. When lines is closed, what ended it comes through failed, nil for the
// end of the input.
func (t *talk) lines() (<-chan typed, <-chan error) {
	ahead := 0
	if t.here {
		ahead = linesAhead
	}
	lines, failed := make(chan typed, ahead), make(chan error, 1)
	go func() {
		in := bufio.NewScanner(t.app.stdin)
		in.Buffer(make([]byte, 0, 4<<10), maxSaid)
		for in.Scan() {
			lines <- typed{in.Text(), t.hushed.Load()}
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = lifecycle.ErrTooLong
		}
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		failed <- err
		close(lines)
	}()
	return lines, failed
}

// prompt asks for a line.
func (t *talk) prompt() {
	fmt.Fprint(t.out.out, "> ")
	_ = t.out.flush()
}

// hush has the terminal show nothing of what is typed, so that it does not stand in the
// middle of an answer, until restore is called.
func (t *talk) hush() (restore func()) {
	f, ok := t.app.stdin.(*os.File)
	if !t.here || !ok {
		return func() {}
	}
	before, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return func() {}
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO
	t.hushed.Store(true)
	_ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &quiet) // else it is shown
	return sync.OnceFunc(func() {
		_ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, before)
		t.hushed.Store(false)
	})
}

// sign is a line on a terminal that says for what it waits, and how long already.
type sign struct {
	mu   sync.Mutex
	out  *printer
	over bool
	// wide is how many columns of it stand there.
	wide int
	stop chan struct{}
}

// signAfter is how long nothing is shown.
const signAfter = 700 * time.Millisecond

// sign shows one until its end. There is none where nobody looks on, or for whom it is
// too much.
func (t *talk) sign(what string) *sign {
	s := &sign{out: t.out, stop: make(chan struct{})}
	if !t.out.terminal || t.app.flags.quiet || t.app.flags.json {
		s.over = true
		return s
	}
	go s.run(what)
	return s
}

func (s *sign) run(what string) {
	began := time.Now()
	tick := time.NewTimer(signAfter)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		text := what
		if waited := time.Since(began); waited >= 2*time.Second {
			text = fmt.Sprintf("%s, %d s", what, int(waited.Seconds()))
		}
		s.show("… " + text)
		tick.Reset(time.Second)
	}
}

func (s *sign) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	text = cut(text, s.out.width-1)
	s.wide = max(s.wide, utf8.RuneCountInString(text))
	fmt.Fprint(s.out.out, "\r"+s.out.dim(text))
	_ = s.out.flush()
}

// end takes it away. Nothing is written by it afterwards.
func (s *sign) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.over = true
	close(s.stop)
	if s.wide > 0 {
		fmt.Fprint(s.out.out, "\r"+strings.Repeat(" ", s.wide)+"\r")
		_ = s.out.flush()
	}
}
