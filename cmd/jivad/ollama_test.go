package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	ollama "github.com/ollama/ollama/api"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jivad/jivad/internal/testport"
)

// sharedFolder is $JIVAD_SHARED, or the folder "shared" beside the checkout.
func sharedFolder() string {
	if folder := os.Getenv("JIVAD_SHARED"); folder != "" {
		return folder
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		return ""
	}
	return folder
}

// ollamaBinary is a real Ollama, server and client in one: $JIVAD_OLLAMA, that of
// make ollama, or the one of the shared folder; empty where there is none, or no model to try it with.
func ollamaBinary() string {
	path := os.Getenv("JIVAD_OLLAMA")
	if built, err := filepath.Abs(filepath.Join("..", "..", "bin", "ollama")); path == "" && err == nil && isFile(built) {
		path = built
	}
	if path == "" {
		path = filepath.Join(sharedFolder(), "bin", "ollama")
	}
	if !isFile(path) || !isFile(storiesFile()) {
		return ""
	}
	return path
}

func storiesFile() string {
	return filepath.Join(sharedFolder(), "models", "ollama", "stories260k-4k.gguf")
}

// ollamaServer starts a real server with the models "stories" and "scribe", and before it a proxy
// that writes what it is asked to a file: ollamaserver FILE. $UPSTREAM is the proxy's
// address and $OLLAMA the binary.
func ollamaServer(ts *testscript.TestScript, _ bool, args []string) {
	binary := ollamaBinary()
	port := unusedPort(ts)
	address := "127.0.0.1:" + port
	cmd := exec.Command(binary, "serve")
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+address, "OLLAMA_MODELS="+ts.MkAbs("ollama-models"), "HOME="+ts.MkAbs("ollama-home"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with what it started
		_ = cmd.Wait()
		if os.Getenv("JIVAD_OLLAMA_LOG") != "" {
			ts.Logf("%s", said.String())
		}
	})
	base := &url.URL{Scheme: "http", Host: address}
	client := ollama.NewClient(base, http.DefaultClient)
	ctx := context.Background()
	poll(ts, "Ollama answers", func() bool { return client.Heartbeat(ctx) == nil })

	weights, err := os.ReadFile(storiesFile())
	ts.Check(err)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(weights))
	ts.Check(client.CreateBlob(ctx, digest, bytes.NewReader(weights)))
	stream := false
	for name, parameters := range map[string]map[string]any{
		// Long answers of so small a model are no use to anybody who talks, and a
		// judgement is as long as it must be.
		"stories": {"num_thread": 1, "num_predict": 24, "num_ctx": 4096},
		"scribe":  {"num_thread": 1, "num_ctx": 4096},
	} {
		ts.Check(client.Create(ctx, &ollama.CreateRequest{
			Model: name, Files: map[string]string{filepath.Base(storiesFile()): digest}, Stream: &stream, Parameters: parameters,
		}, func(ollama.ProgressResponse) error { return nil }))
	}

	proxy := httptest.NewServer(noting(ts.MkAbs(args[0]), httputil.NewSingleHostReverseProxy(base)))
	ts.Defer(proxy.Close)
	ts.Setenv("UPSTREAM", proxy.URL)
	ts.Setenv("OLLAMA", binary)
	ts.Setenv("SHARED", sharedFolder())
}

// ollamaCommand puts the path of the real command into $OLLAMA.
func ollamaCommand(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv("OLLAMA", ollamaBinary())
}

// noting writes each request to a file, on lines of their own.
func noting(file string, next http.Handler) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		if f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			_, _ = fmt.Fprintf(f, "%s %s %s\n", r.Method, r.URL.Path, body)
			_ = f.Close()
		}
		mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func unusedPort(ts *testscript.TestScript) string {
	port, err := testport.Unused()
	ts.Check(err)
	return strconv.Itoa(port)
}

// freePort puts the number of a port that nobody listens at into a variable:
// freeport NAME.
func freePort(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], unusedPort(ts)) }

// fetch asks an address and writes status, headers and body to a file; a body makes
// it a POST: fetch FILE URL [body=TEXT] [Header=value...].
func fetch(ts *testscript.TestScript, _ bool, args []string) {
	method, body := http.MethodGet, ""
	header := http.Header{}
	for _, a := range args[2:] {
		name, value, _ := strings.Cut(a, "=")
		if name == "body" {
			method, body = http.MethodPost, value
			continue
		}
		header.Set(name, value)
	}
	r, err := http.NewRequest(method, args[1], strings.NewReader(body))
	ts.Check(err)
	r.Header = header
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	response, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer response.Body.Close()
	var out bytes.Buffer
	fmt.Fprintln(&out, response.StatusCode)
	ts.Check(response.Header.Write(&out))
	out.WriteString("\n")
	_, err = io.Copy(&out, response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}
