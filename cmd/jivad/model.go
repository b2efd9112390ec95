package main

import (
	"context"
	"fmt"

	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/internal/ollama"
	"github.com/jivad/jivad/lifecycle"
)

// withModels adds the models of a server to the built-in ones, as far as the settings
// name them. Nobody is asked yet: that they cannot be reached is nothing that keeps a
// companion from being opened, but for one that has no vectors yet.
func withModels(o *lifecycle.Options, m config.Model) error {
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
	if m.Embed != "" {
		o.Embedder, o.EmbedderFor = nil, embedderFor(server, m)
	}
	return nil
}

// embedderFor gives the embedder of a server for what a store records. Only where there
// is no vector yet is the server asked for it.
func embedderFor(server *ollama.Server, m config.Model) func(context.Context, string, int) (lifecycle.Embedder, error) {
	return func(ctx context.Context, id string, dim int) (lifecycle.Embedder, error) {
		if id != "" {
			return server.EmbedderFor(id, dim), nil
		}
		e, err := server.Embedder(ctx)
		if err != nil {
			return nil, fmt.Errorf("the embedder %s of %s must be asked once which model it is, since there are no vectors of it here yet: %w; start the server, or set model.embed to \"\" for the built-in one",
				m.Embed, m.Server, err)
		}
		return e, nil
	}
}

// embedderNow has a server asked for its embedder, for what computes vectors anew.
func embedderNow(ctx context.Context, o *lifecycle.Options) (err error) {
	if o.EmbedderFor != nil {
		o.Embedder, err = o.EmbedderFor(ctx, "", 0)
		o.EmbedderFor = nil
	}
	return err
}
