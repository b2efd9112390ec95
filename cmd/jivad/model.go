package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/internal/ollama"
	"github.com/jivad/jivad/lifecycle"
)

// withModels adds the models of a server to the built-in ones, as far as the settings
// name them. That they cannot be reached is nothing that keeps a companion from being
// opened, except where they embed.
func withModels(ctx context.Context, o *lifecycle.Options, m config.Model) error {
	if m.Server == "" {
		if m.Chat != "" || m.Embed != "" {
			return usage("model.chat and model.embed name models of a server: set model.server to its address, such as \"http://127.0.0.1:11434\"")
		}
		return nil
	}
	server := ollama.New(ollama.Options{
		Server: m.Server, Chat: m.Chat, Embed: m.Embed, Deadline: m.Deadline, KeepAlive: m.KeepAlive,
		Context: m.Context, Threads: m.Threads,
	})
	if m.Chat != "" {
		o.Model, o.Deadline, o.Rest = server, m.Deadline, m.Rest
	}
	if m.Embed == "" {
		return nil
	}
	embedder, err := server.Embedder(ctx)
	if err != nil {
		return fmt.Errorf("the embedder %s of %s is needed to open the store: %w; start the server, or set model.embed to \"\" and reembed", m.Embed, m.Server, err)
	}
	o.Embedder = embedder
	return nil
}

// modelLine tells how the model is.
func modelLine(m lifecycle.ModelStatus) string {
	out := m.Name
	if m.Digest != "" {
		out += "@" + m.Digest[:min(12, len(m.Digest))]
	}
	if m.Away != "" {
		out += ": away"
		if !m.Since.IsZero() {
			out += " since " + m.Since.Local().Format("15:04:05")
		}
		out += " (" + oneLine(m.Away) + "); the built-in assessor judges in its place"
		if wait := time.Until(m.Next); !m.Next.IsZero() && wait > 0 {
			out += fmt.Sprintf(", tried again in %v", wait.Round(time.Second))
		}
	} else {
		out += ": can be asked"
	}
	if m.Owed+m.Reassessed+m.GivenUp > 0 {
		out += fmt.Sprintf("; %d to be judged again, %d were, %d given up", m.Owed, m.Reassessed, m.GivenUp)
	}
	return out
}
