package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	ollama "github.com/ollama/ollama/api"
	"github.com/rogpeppe/go-internal/testscript"
)

// realServers are the servers of realserver, by the folder of their script.
var realServers sync.Map

// comingAndGoing is a real server that may come and go at one address.
type comingAndGoing struct {
	address string
	process *exec.Cmd
}

func (r *comingAndGoing) client() *ollama.Client {
	return ollama.NewClient(&url.URL{Scheme: "http", Host: r.address}, http.DefaultClient)
}

// realServer is a real Ollama server that comes and goes, with its models in a folder
// of the script:
//
//	realserver address            nothing listens yet; $UPSTREAM is where it will
//	realserver start
//	realserver create NAME TOKENS a model that answers with at most so many, 0 for no end
//	realserver create NAME said   a model that says one calm sentence, see calmWeights
//	realserver create NAME acts   one that asks for the tool "search" before that
//	realserver remove NAME
//	realserver kill               with kill -9, and its models' processes with it
func realServer(ts *testscript.TestScript, _ bool, args []string) {
	key := ts.Getenv("WORK")
	if args[0] == "address" {
		r := &comingAndGoing{address: "127.0.0.1:" + unusedPort(ts)}
		realServers.Store(key, r)
		ts.Setenv("UPSTREAM", "http://"+r.address)
		ts.Setenv("SHARED", sharedFolder())
		ts.Defer(func() { r.kill(); realServers.Delete(key) })
		return
	}
	value, ok := realServers.Load(key)
	if !ok {
		ts.Fatalf("realserver address comes first")
	}
	r, ctx := value.(*comingAndGoing), context.Background()
	switch args[0] {
	case "start":
		r.process = exec.Command(ollamaBinary(), "serve")
		r.process.Env = append(os.Environ(), "OLLAMA_HOST="+r.address, "OLLAMA_MODELS="+ts.MkAbs("ollama-models"), "HOME="+ts.MkAbs("ollama-home"))
		r.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		ts.Check(r.process.Start())
		poll(ts, "Ollama answers", func() bool { return r.client().Heartbeat(ctx) == nil })
	case "create":
		weights, err := os.ReadFile(storiesFile())
		ts.Check(err)
		parameters := map[string]any{"num_thread": 1, "num_ctx": 4096}
		switch args[2] {
		case "0":
		case "said", "acts":
			weights, err = calmWeights(weights, args[2] == "acts")
			ts.Check(err)
		default:
			parameters["num_predict"] = args[2]
		}
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(weights))
		ts.Check(r.client().CreateBlob(ctx, digest, bytes.NewReader(weights)))
		stream, template := false, ""
		if args[2] == "acts" {
			template = actingTemplate
		}
		ts.Check(r.client().Create(ctx, &ollama.CreateRequest{
			Model: args[1], Template: template, Files: map[string]string{filepath.Base(storiesFile()): digest}, Stream: &stream, Parameters: parameters,
		}, func(ollama.ProgressResponse) error { return nil }))
	case "remove":
		ts.Check(r.client().Delete(ctx, &ollama.DeleteRequest{Model: args[1]}))
	case "kill":
		r.kill()
	default:
		ts.Fatalf("no such thing: %s", args[0])
	}
}

func (r *comingAndGoing) kill() {
	if r.process != nil {
		_ = syscall.Kill(-r.process.Process.Pid, syscall.SIGKILL)
		_ = r.process.Wait()
		r.process = nil
	}
}

// cutStream asks for a streamed answer, kills the real server when the first line of
// it is there, and writes down what came: cutstream FILE URL BODY. The last line tells
// how it ended.
func cutStream(ts *testscript.TestScript, _ bool, args []string) {
	response, err := http.Post(args[1], "application/json", bytes.NewReader([]byte(args[2])))
	ts.Check(err)
	defer response.Body.Close()
	var out bytes.Buffer
	lines := bufio.NewScanner(response.Body)
	for n := 0; lines.Scan(); n++ {
		if n == 0 {
			realServer(ts, false, []string{"kill"})
		}
		fmt.Fprintln(&out, lines.Text())
	}
	fmt.Fprintln(&out, "ended with", lines.Err())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}
