package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// actingModel is a server with the one model "talker", which asks for what a file says when
// it may use tools, and tells what came of it: actingmodel NAME FILE puts its address into a
// variable. The file is {"name": …, "arguments": …}, and is read anew for each question; what
// the model was last told is in FILE.heard.
func actingModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: actingmodel NAME FILE")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	file := ts.MkAbs(args[1])
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"models":[{"name":"talker:latest","model":"talker:latest","digest":"`+strings.Repeat("a", 64)+`"}]}`)
	})
	mux.HandleFunc("/api/show", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools"]}`)
	})
	mux.HandleFunc("/api/chat", func(w http.ResponseWriter, r *http.Request) { act(w, r, file) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv(args[0], "http://"+listener.Addr().String())
}

func act(w http.ResponseWriter, r *http.Request, file string) {
	var q struct {
		Messages []struct{ Role, Content string } `json:"messages"`
		Format   json.RawMessage                  `json:"format"`
		Tools    []json.RawMessage                `json:"tools"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	told := ""
	for _, m := range q.Messages {
		if m.Role == "tool" {
			told = m.Content
		}
	}
	message := map[string]any{"role": "assistant", "content": "It said: " + told}
	switch format := string(q.Format); {
	case strings.Contains(format, `"intensity"`):
		message["content"] = `{"intensity":40,"novelty":70,"emotion":55,"match":50,"tamas":50,"rajas":25,"sattva":25,"valence":-30,"category":"none","gist":"Something was said.","reason":"it was"}`
	case strings.Contains(format, `"narrative"`):
		message["content"] = `{"narrative": "There were some entries."}`
	case len(format) > 0:
		message["content"] = `{"name": "what was said"}`
	case len(q.Tools) > 0:
		_ = os.WriteFile(file+".heard", []byte(q.Messages[0].Content), 0o600)
		call, err := os.ReadFile(file)
		if told == "" && err == nil {
			message["content"] = ""
			message["tool_calls"] = []any{map[string]any{"function": json.RawMessage(call)}}
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"model": "talker:latest", "created_at": time.Now().UTC(), "message": message, "done": true, "done_reason": "stop"})
}
