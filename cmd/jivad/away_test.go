package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	ollama "github.com/ollama/ollama/api"
	"github.com/rogpeppe/go-internal/testscript"
)

// embedServer is a server with the one model "words", which embeds: embedserver PORT
// DIGIT starts it, with a digest of that digit; embedserver PORT stop ends it.
func embedServer(ts *testscript.TestScript, _ bool, args []string) {
	port, digit := args[0], args[1]
	running, _ := ts.Value(embedServers{}).(map[string]*http.Server)
	if digit == "stop" {
		ts.Check(running[port].Close())
		delete(running, port)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	ts.Check(err)
	server := &http.Server{Handler: embedHandler(strings.Repeat(digit, 64))} //nolint:gosec // for a moment, for one process
	running[port] = server
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { _ = server.Close() })
}

// embedServers is the key of those that run in a script.
type embedServers struct{}

func embedHandler(digest string) http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, f func(body []byte) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			value, err := f(body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	answer("/api/tags", func([]byte) (any, error) {
		return ollama.ListResponse{Models: []ollama.ListModelResponse{{Name: "words:latest", Model: "words:latest", Digest: digest}}}, nil
	})
	answer("/api/show", func([]byte) (any, error) { return map[string]any{"capabilities": []string{"embedding"}}, nil })
	answer("/api/embed", func(body []byte) (any, error) {
		var asked struct {
			Model string
			Input string
		}
		if json.Unmarshal(body, &asked) != nil || asked.Model != "words" {
			return nil, errors.New("not found")
		}
		v, err := foreignEmbedder{}.Embed(context.Background(), asked.Input)
		return ollama.EmbedResponse{Model: asked.Model, Embeddings: [][]float32{v}}, err
	})
	return mux
}
