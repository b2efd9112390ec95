package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	ollama "github.com/ollama/ollama/api"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// dialogue runs a command in a terminal of its own as a file of steps says, and keeps
// what the screen got: dialogue OUTPUT STEPS CODE command... A step is a line:
//
//	? REGEX   wait until the screen shows it, behind what was waited for before
//	> TEXT    type it, and Enter
//	^C        press that
//	@ FILE    wait until it is there
//	+ FILE    make it
//	! WORDS   realserver WORDS
//
// CODE is the exit code. The terminal must be in the end as it was.
func dialogue(ts *testscript.TestScript, _ bool, args []string) {
	master, slave, err := openTerminal()
	ts.Check(err)
	defer master.Close()
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	ts.Check(err)
	cmd := exec.Command(args[3], args[4:]...)
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, args[3]); isFile(path) {
			cmd.Path, cmd.Err = path, nil
			break
		}
	}
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "TZ", "LANG", "TERM", "PATH", "JIVAD_DATA", "JIVAD_MODEL_SERVER", "JIVAD_MODEL_CHAT", "JIVAD_RETENTION_COMMUNICATIONS"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()

	s := &screen{}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		_, _ = io.Copy(s, master) // ends with an error when the last writer is gone
	}()
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		step, what, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch step {
		case "":
		case "?":
			want := regexp.MustCompile(what)
			poll(ts, "the screen shows "+what, func() bool { return s.shows(want) })
		case ">":
			_, err = io.WriteString(master, what+"\n")
			ts.Check(err)
		case "@":
			poll(ts, what+" is there", func() bool { return isFile(ts.MkAbs(what)) })
		case "^C":
			_, err = master.Write([]byte{3})
			ts.Check(err)
		case "+":
			ts.Check(os.WriteFile(ts.MkAbs(what), nil, 0o600))
		case "!":
			realServer(ts, false, strings.Fields(what))
		default:
			ts.Fatalf("no step: %s", line)
		}
	}
	_ = cmd.Wait()
	after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	ts.Check(err)
	_ = slave.Close()
	<-finished
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s.text()), 0o600))
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[2] {
		ts.Fatalf("exit code %s, want %s\n%s", got, args[2], s.text())
	}
	if *after != *before {
		ts.Fatalf("the terminal is not as it was: %+v, before %+v", *after, *before)
	}
}

// screen is what a terminal got.
type screen struct {
	mu   sync.Mutex
	got  []byte
	seen int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, p...)
	return len(p), nil
}

func (s *screen) shows(want *regexp.Regexp) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := want.FindIndex(s.got[s.seen:])
	if at != nil {
		s.seen += at[1]
	}
	return at != nil
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.got)
}

// endlessModel starts a model server whose talk never comes to an end, and which makes
// a file when it has said what it says: endlessmodel FILE. $UPSTREAM is its address.
func endlessModel(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	judges := &scripted{digest: strings.Repeat("ab", 32)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/api/chat" || strings.Contains(string(body), `"format"`) {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			judges.ServeHTTP(w, r)
			return
		}
		for _, piece := range []string{"It was ", "a fine", " day"} {
			line(w, ollama.ChatResponse{Message: ollama.Message{Role: "assistant", Content: piece}})
		}
		_ = os.WriteFile(file, nil, 0o600)
		<-r.Context().Done()
	}))
	ts.Defer(server.Close)
	ts.Setenv("UPSTREAM", server.URL)
}

// slowModel starts a model server that says nothing before the file FIRST is there, not
// the second half of it before SECOND is, and judges nothing before JUDGED is: slowmodel
// FIRST SECOND JUDGED ASKED. What it is asked to answer is written to ASKED.
func slowModel(ts *testscript.TestScript, _ bool, args []string) {
	first, second, judged, asked := ts.MkAbs(args[0]), ts.MkAbs(args[1]), ts.MkAbs(args[2]), ts.MkAbs(args[3])
	judges := &scripted{digest: strings.Repeat("ab", 32)}
	waits := func(r *http.Request, file string) {
		for again := time.NewTicker(10 * time.Millisecond); !isFile(file) && r.Context().Err() == nil; {
			<-again.C
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		judging := strings.Contains(string(body), `"format"`)
		if r.URL.Path != "/api/chat" || judging {
			if judging {
				waits(r, judged)
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			judges.ServeHTTP(w, r)
			return
		}
		log, err := os.OpenFile(asked, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = log.Write(append(body, '\n'))
			_ = log.Close()
		}
		waits(r, first)
		line(w, ollama.ChatResponse{Message: ollama.Message{Role: "assistant", Content: "It was "}})
		waits(r, second)
		line(w, ollama.ChatResponse{Message: ollama.Message{Role: "assistant", Content: "a fine day."}, Done: true, DoneReason: "stop"})
	}))
	ts.Defer(server.Close)
	ts.Setenv("UPSTREAM", server.URL)
}
