package ollama

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

// digestLength is how many digits of a digest say which model it is.
const digestLength = 12

// model is a model by its name, and which one that is at the server now.
type model struct {
	name    string
	meeting chan struct{} // one at a time looks

	// The fields below are under the mutex of the Server.
	met    bool      // since it was away
	looked time.Time // when the last look that ended well began
	digest string    // the last that was seen; empty while none was
	thinks bool      // it thinks before it answers, unless it is told not to
	tools  bool      // it can be told of tools
	reads  int       // tokens at most, as it says itself; 0 where it does not
}

// meet makes sure that it is known which model answers to a name, before anything of
// the person's is sent to it. It asks the server only when that is not known.
func (s *Server) meet(caller, within context.Context, m *model) verdict {
	if s.hasMet(m) {
		return verdict{kind: good}
	}
	return mute(s.soon(caller, within, m, time.Time{}))
}

func (s *Server) hasMet(m *model) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.met
}

// soon is look for at most lookTime: a server that does not say in that time which
// models it has is away. Where the item's deadline comes before, it is late.
func (s *Server) soon(caller, within context.Context, m *model, since time.Time) verdict {
	looking, cancel := context.WithTimeout(within, lookTime)
	defer cancel()
	v := s.look(caller, looking, m, since)
	if within.Err() == nil {
		v = mute(v)
	}
	return v
}

// trusted is how old the last look may be by which a judgement or a name is said to be a
// model's. A vector is never taken on such trust: a store is not mixed.
const trusted = 5 * time.Second

// confirm sees that the model which has just answered was that of a digest: another may
// have been put under its name since the last look. Those who wait for a look share it.
func (s *Server) confirm(caller, within context.Context, l *lane, digest string) verdict {
	since := time.Now()
	if l != s.embedding {
		since = since.Add(-trusted)
	}
	if v := s.soon(caller, within, l.model, since); v.kind != good {
		return v
	}
	if s.digestNow(l.model) != digest {
		return verdict{kind: stopped, err: fmt.Errorf("%w: %s on %s became another model while it was asked", lifecycle.ErrModelAnswer, l.model.name, s.shown)}
	}
	return verdict{kind: good}
}

func (s *Server) digestNow(m *model) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.digest
}

// mute takes a server that does not say in time what models it has for one that is away.
func mute(v verdict) verdict {
	if v.kind == late {
		return away(silent, ofServer)
	}
	return v
}

// look asks the server which model answers to a name. One that is known is not looked
// for again where a look that ended well began after since.
func (s *Server) look(caller, within context.Context, m *model, since time.Time) verdict {
	select {
	case m.meeting <- struct{}{}:
		defer func() { <-m.meeting }()
	case <-within.Done():
		if caller.Err() != nil {
			return verdict{kind: stopped, err: caller.Err()}
		}
		return verdict{kind: late}
	}
	began := time.Now()
	s.mu.Lock()
	enough := m.met && m.looked.After(since)
	s.mu.Unlock()
	if enough {
		return verdict{kind: good} // somebody else looked meanwhile
	}
	asked, x := withExchange(within, listBytes)
	list, err := s.client.List(asked)
	if v := introduced(judged(caller, within, x, err)); v.kind != good {
		return v
	}
	found := named(list, m.name)
	switch {
	case found == nil:
		return away(noModel, ofModel)
	case found.RemoteHost != "" || found.RemoteModel != "":
		return away(passesOn, ofModel)
	}
	digest := digestOf(found.Digest)
	s.mu.Lock()
	known := m.met && m.digest == digest
	if known {
		m.looked = began
	}
	s.mu.Unlock()
	if known {
		return verdict{kind: good}
	}
	asked, x = withExchange(within, listBytes)
	show, err := s.client.Show(asked, &api.ShowRequest{Model: m.name})
	if v := introduced(judged(caller, within, x, err)); v.kind != good {
		return v
	}
	if show.RemoteHost != "" || show.RemoteModel != "" {
		return away(passesOn, ofModel)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.met, m.digest, m.thinks, m.tools, m.looked = true, digest, false, false, began
	m.reads = contextOf(show.ModelInfo)
	for _, c := range show.Capabilities {
		m.thinks = m.thinks || c == "thinking"
		m.tools = m.tools || c == "tools"
	}
	s.tell()
	return verdict{kind: good}
}

// contextOf is the length of context that a model says it has, or 0.
func contextOf(info map[string]any) int {
	for key, value := range info {
		n, ok := value.(float64)
		if ok && strings.HasSuffix(key, ".context_length") && n >= 1 && n <= 1<<24 {
			return int(n)
		}
	}
	return 0
}

// introduced takes a server that cannot say what models it has for one that is away.
func introduced(v verdict) verdict {
	if v.kind == unusable {
		return away("what answers there cannot say which models it has; see model.server in the config", ofServer)
	}
	return v
}

// named finds a model in a list. A name without a tag is that of the latest.
func named(list *api.ListResponse, name string) *api.ListModelResponse {
	want := fullName(name)
	for i := range list.Models {
		m := &list.Models[i]
		if fullName(m.Name) == want || fullName(m.Model) == want {
			return m
		}
	}
	return nil
}

func fullName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimPrefix(name, "registry.ollama.ai/")
	name = strings.TrimPrefix(name, "library/")
	if name != "" && !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		name += ":latest"
	}
	return name
}

// digestOf is the digest of a model in hexadecimal, or empty for what is none.
func digestOf(s string) string {
	s = strings.ToLower(strings.TrimPrefix(s, "sha256:"))
	if len(s) < digestLength || len(s) > 128 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}
