package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// model is a server with the one model "talker": it judges, says what it found, and
// before that asks for the tool that lives are given here, once badly and once well.
type model struct {
	server http.Server
	// address is where it listens, of this machine only.
	address string
}

const modelDigest = "aaaaaaaaaaaa0123456789aaaaaaaaaaaa0123456789aaaaaaaaaaaa0123456789aa"

// startModel starts one, which ends with this program.
func startModel() (*model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &model{address: "http://" + listener.Addr().String()}
	m.server = http.Server{Handler: m.answers(), ReadHeaderTimeout: patience}
	go func() {
		if err := m.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Println("torture: the model's server:", err)
		}
	}()
	return m, nil
}

func (m *model) answers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"models":[{"name":"talker:latest","model":"talker:latest","digest":%q}]}`, modelDigest)
	})
	mux.HandleFunc("/api/show", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"capabilities":["completion","tools"]}`)
	})
	mux.HandleFunc("/api/chat", chat)
	return mux
}

// asked is what it reads of a question.
type asked struct {
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
	Format json.RawMessage   `json:"format"`
	Tools  []json.RawMessage `json:"tools"`
}

func chat(w http.ResponseWriter, r *http.Request) {
	var q asked
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	calls := 0
	for _, m := range q.Messages {
		if m.Role == "tool" {
			calls++
		}
	}
	message := map[string]any{"role": "assistant", "content": "It is there."}
	switch format := string(q.Format); {
	case strings.Contains(format, `"intensity"`):
		message["content"] = `{"intensity":40,"novelty":70,"emotion":55,"match":50,"tamas":50,"rajas":25,"sattva":25,"valence":-30,"category":"none","gist":"Something was said.","reason":"it was"}`
	case strings.Contains(format, `"narrative"`):
		message["content"] = `{"narrative": "There were some entries."}`
	case strings.Contains(format, `"name"`):
		message["content"] = `{"name": "what was said"}`
	case len(format) > 0:
		message["content"] = "I would rather not."
	case len(q.Tools) > 0 && calls < 2:
		way := [2]string{"straight", "zigzagwise"}[calls]
		message["content"] = ""
		message["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": "search", "arguments": map[string]string{"way": way}}}}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "talker:latest", "created_at": time.Now().UTC(), "message": message, "done": true, "done_reason": "stop",
	})
}
