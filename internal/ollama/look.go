package ollama

import (
	"context"
	"fmt"
	"strings"

	"github.com/jivad/jivad/lifecycle"
)

// Look asks the server for its models, and loads none. It says what mends what is wrong.
func (s *Server) Look(ctx context.Context) (lifecycle.ModelState, string) {
	l := s.judge
	if s.o.Chat == "" {
		l = s.embedding
	}
	s.lookNow(ctx, l)
	now := s.State()
	return now, s.mends(l, now.Away)
}

// Look is as that of Server, of the model that embeds.
func (e *Embedder) Look(ctx context.Context) (lifecycle.ModelState, string) {
	e.s.lookNow(ctx, e.s.embedding)
	now := e.State()
	return now, e.s.mends(e.s.embedding, now.Away)
}

func (s *Server) lookNow(ctx context.Context, l *lane) {
	if s.client == nil || l.model.name == "" {
		return
	}
	if p := l.enterToLook(); p != nil {
		s.lookAt(ctx, p)
		p.leave()
	}
}

// mends is what to do where a model is away for a reason.
func (s *Server) mends(l *lane, why string) string {
	key := "model.chat"
	if l == s.embedding {
		key = "model.embed"
	}
	switch why {
	case "":
		return ""
	case noListener:
		return fmt.Sprintf("Start the server at %s with: ollama serve", s.shown)
	case noModel:
		return fmt.Sprintf("Get it with: %sollama pull %s; or name another in %s.", s.host(), l.model.name, key)
	case otherModel:
		return "Take the new one with: jivad reembed, while no daemon runs; or put the model of before under the name again."
	case passesOn, cannot:
		return fmt.Sprintf("Name another model in %s; those that are there lists: %sollama list", key, s.host())
	case noRoom:
		return fmt.Sprintf("What is in memory tells: %sollama ps; name a smaller model in %s, or a smaller model.context.", s.host(), key)
	case tooBusy, silent:
		return fmt.Sprintf("It is tried again by itself; what keeps it busy tells: %sollama ps", s.host())
	}
	return "Set model.server in the configuration to the address of an Ollama server; whether one answers there tells: " + s.host() + "ollama list"
}

// host is the beginning of a command that is to reach the server, empty for the usual one.
func (s *Server) host() string {
	at := strings.TrimSuffix(s.shown, "/")
	if at == "?" || at == "http://127.0.0.1:11434" || at == "http://localhost:11434" {
		return ""
	}
	return "OLLAMA_HOST=" + at + " "
}
