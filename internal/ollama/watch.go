package ollama

import (
	"context"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

const (
	// lookEvery is how often the server is looked at while it is well, awayEvery at
	// most how long while it is away.
	lookEvery = time.Minute
	awayEvery = 30 * time.Second
	// lookTime is how long a look may take; it loads no model, but where only that
	// shows that all is well.
	lookTime = 10 * time.Second
)

// Watch looks at the server until ctx ends, in a goroutine of its own, and calls
// changed there whenever it or the chat model came or went, or the digest changed,
// also where a question found that out. It returns at once.
func (s *Server) Watch(ctx context.Context, changed func(lifecycle.ModelState)) {
	go s.watch(ctx, []*lane{s.judge, s.embedding}, s.State, changed)
}

// watch looks at the models of some lanes, and tells a state when it changes.
func (s *Server) watch(ctx context.Context, lanes []*lane, state func() lifecycle.ModelState, changed func(lifecycle.ModelState)) {
	told := state()
	if s.client == nil {
		return // away for good, as State says
	}
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		s.mu.Lock()
		news := s.changed
		s.mu.Unlock()
		if now := state(); now.Digest != told.Digest || now.Away != told.Away {
			told = now
			changed(now)
			continue // what came meanwhile is not lost
		}
		select {
		case <-ctx.Done():
			return
		case <-news:
		case <-look.C:
			s.lookAtAll(ctx, lanes)
		}
		look.Reset(s.untilLook(lanes))
	}
}

// untilLook is how long until the server is looked at again.
func (s *Server) untilLook(lanes []*lane) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait, now := lookEvery, s.o.Now()
	for _, l := range lanes {
		if l.why != "" && l.model.name != "" {
			wait = min(wait, awayEvery, max(firstPause, l.next.Sub(now)))
		}
	}
	return wait
}

// lookAtAll looks at each model, where it may be asked at all.
func (s *Server) lookAtAll(ctx context.Context, lanes []*lane) {
	for _, l := range lanes {
		if l.model.name == "" || ctx.Err() != nil {
			continue
		}
		if p := l.enterToLook(); p != nil {
			s.lookAt(ctx, p)
			p.leave()
		}
	}
}

// lookAt sees which model answers to a name, and, of a lane that was closed for what
// only that can show, whether it can be loaded.
func (s *Server) lookAt(ctx context.Context, p *pass) {
	within, cancel := context.WithTimeout(ctx, min(lookTime, s.o.Deadline))
	v := mute(s.look(ctx, within, p.lane.model, time.Now()))
	cancel()
	if v.kind == good && p.probe && s.loads(p.lane) {
		within, cancel = context.WithTimeout(ctx, s.o.Deadline)
		v = s.load(ctx, within, p.lane)
		cancel()
	}
	switch {
	case v.kind == gone:
		p.gone(v.gone)
	case v.kind == good && p.probe:
		p.seen()
	case p.probe && v.kind != stopped:
		p.bad()
	}
}

func (s *Server) loads(l *lane) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.loads
}

// load has the server load a model, which asks it nothing.
func (s *Server) load(caller, within context.Context, l *lane) verdict {
	asked, x := withExchange(within, answerBytes)
	keep := &api.Duration{Duration: max(s.o.KeepAlive, time.Second)} // 0 would unload it
	var err error
	if l == s.embedding {
		_, err = s.client.Embed(asked, &api.EmbedRequest{Model: s.o.Embed, Input: "", KeepAlive: keep, Options: s.options()})
	} else {
		req := s.request(s.chatOptions())
		req.KeepAlive, req.Messages = keep, []api.Message{}
		done := false
		err = s.client.Chat(asked, req, func(r api.ChatResponse) error { done = r.Done; return nil })
		if err == nil && !done {
			err = &flaw{wrong: "it broke off in the middle"}
		}
	}
	return judged(caller, within, x, err)
}
