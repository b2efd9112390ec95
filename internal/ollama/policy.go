package ollama

import (
	"context"
	"fmt"

	"github.com/jivad/jivad/lifecycle"
)

// tries is how many requests one item may cost.
const tries = 2

// sender makes one request and takes its answer. before is what was wrong with the
// answer to the first request, nil for the first. It returns nil for an answer that
// was checked, a *flaw for one that cannot be used, a *stop to end the item with an
// error of the caller's own, or what the client returned.
type sender func(ctx context.Context, x *exchange, before *flaw) error

// ask is the one way of every question.
//
//	is the lane open?          no: ErrModelAway at once
//	wait for a slot            others of its kind are bounded, other kinds not hindered
//	is it the model we know?   its name, its digest, that it is the server's own
//	request, answer, check     within the deadline of the item
//	a second try               where the fault may be one of this answer
//	is it the same model?      before what it said is taken; but for talks
//	ErrModelAway               the server or the model: the lane closes for a pause
//	ErrModelAnswer             this answer: the lane closes only after many in a row
//
// limit is the most bytes of a response. Errors: ErrModelAway, ErrModelAnswer,
// that of a *stop, or ctx's.
func (s *Server) ask(ctx context.Context, l *lane, limit int64, send sender) error {
	if s.client == nil {
		return fmt.Errorf("%w: %s", lifecycle.ErrModelAway, noAddress)
	}
	if l.model.name == "" {
		return fmt.Errorf("%w: the config names no model for it", lifecycle.ErrModelAway)
	}
	if err := l.away(); err != nil {
		return err
	}
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	pass, err := l.enter()
	if err != nil {
		return err
	}
	defer pass.leave()

	within, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	if v := s.meet(ctx, within, l.model); v.kind != good {
		return s.end(ctx, pass, v)
	}
	digest := s.digestNow(l.model)
	var v verdict
	for try := range tries {
		asked, x := withExchange(within, limit)
		s.count(try)
		before := v.flaw
		v = judged(ctx, within, x, send(asked, x, before))
		if v.kind != unusable || within.Err() != nil {
			break
		}
	}
	if v.kind == good && l != s.talk {
		v = s.confirm(ctx, within, l, digest)
	}
	return s.end(ctx, pass, v)
}

// end draws the consequence of how a question went.
func (s *Server) end(ctx context.Context, pass *pass, v verdict) error {
	switch v.kind {
	case good:
		pass.good()
		return nil
	case stopped:
		if v.answered {
			pass.good()
		}
		if v.bad {
			pass.bad()
			s.failed()
		}
		return v.err
	case gone:
		pass.gone(v.gone)
		if v.gone.gaveWay {
			return fmt.Errorf("%w: %s on %s: %s", lifecycle.ErrModelGaveWay, pass.lane.model.name, s.shown, v.gone.why)
		}
		return pass.lane.error(v.gone.why)
	case late:
		pass.bad()
		s.failed()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %s on %s had not answered after %v; a longer model.deadline, or a smaller model, may help",
			lifecycle.ErrModelAnswer, pass.lane.model.name, s.shown, s.o.Deadline)
	default:
		pass.bad()
		s.failed()
		return fmt.Errorf("%w: %s on %s: %s", lifecycle.ErrModelAnswer, pass.lane.model.name, s.shown, v.flaw.wrong)
	}
}

func (s *Server) count(try int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if try > 0 {
		s.repairs++
	}
}

func (s *Server) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
}
