package ollama

import (
	"net/http"
	"net/url"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// Options are what a Server is made from.
type Options struct {
	// Server is its address, such as "http://127.0.0.1:11434".
	Server string
	// Chat is the name of the model that judges, narrates, names and talks, Embed of
	// the one that embeds; empty for none.
	Chat, Embed string
	// Deadline is how long one item may take with its second try; 0 is a minute.
	Deadline time.Duration
	// KeepAlive is how long the server keeps a model in memory after an answer;
	// 0 has it unloaded at once.
	KeepAlive time.Duration
	// Context is how many tokens a model reads at most, 0 for 4096; Threads how many
	// processors it uses, 0 for the server's own choice.
	Context, Threads int
	// HTTP sends the requests; nil for a client that goes to Server and nowhere else,
	// by no proxy. Redirections are refused in any case.
	HTTP *http.Client
	// Now is the clock of pauses and figures; nil for time.Now. Deadlines are the runtime's.
	Now func() time.Time
}

const (
	usualDeadline = time.Minute
	usualContext  = 4096
	// judgings, namings, talks and embeddings are how many requests of a kind are under way at
	// once. A request for a chat takes 8 MB in the client while it lasts.
	judgings, namings, talks, embeddings = 4, 1, 2, 4
)

// Server is an Ollama server with a model or two. It is safe for concurrent use.
// It implements lifecycle.Model.
type Server struct {
	o      Options
	shown  string // the address without what gives access
	client *api.Client
	http   *http.Client

	chat, embed *model
	// naming is apart from judging: names that cannot be used keep no entry waiting.
	judge, naming, talk, embedding *lane

	mu       sync.Mutex // all below, and what is in models and lanes
	changed  chan struct{}
	calls    uint64
	repairs  uint64
	failures uint64
}

var _ lifecycle.Model = (*Server)(nil)

// New makes a Server. Nothing is sent until something is asked or watched. An
// address that cannot be understood makes one that always is away.
func New(o Options) *Server {
	if o.Deadline <= 0 {
		o.Deadline = usualDeadline
	}
	if o.Context <= 0 {
		o.Context = usualContext
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{o: o, http: guarded(o.HTTP), changed: make(chan struct{})}
	s.chat, s.embed = &model{name: o.Chat, meeting: make(chan struct{}, 1)}, &model{name: o.Embed, meeting: make(chan struct{}, 1)}
	s.judge = &lane{s: s, what: "judging", model: s.chat, slots: make(chan struct{}, judgings)}
	s.naming = &lane{s: s, what: "naming", model: s.chat, slots: make(chan struct{}, namings)}
	s.talk = &lane{s: s, what: "talking", model: s.chat, slots: make(chan struct{}, talks)}
	s.embedding = &lane{s: s, what: "embedding", model: s.embed, slots: make(chan struct{}, embeddings)}
	base, err := url.Parse(o.Server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		s.shown = "?"
		return s
	}
	s.shown = (&url.URL{Scheme: base.Scheme, Host: base.Host, Path: base.Path}).String()
	s.client = api.NewClient(base, s.http)
	return s
}

// Close lets go of connections that are kept open. The Server can still be used.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// ID is "ollama/NAME@DIGEST PROMPT": the name of the model, the first twelve digits of
// its digest or "unknown", and the version of the question that judges. At most 128 bytes.
func (s *Server) ID() string { return s.idOf(s.chat) + " " + prompt.AssessVersion }

// idOf is the part of an id that says which model it is.
func (s *Server) idOf(m *model) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := unknownDigest
	if m.digest != "" {
		digest = m.digest[:digestLength]
	}
	return nameOf(m) + "@" + digest
}

// unknownDigest is in the place of one that the server did not tell.
const unknownDigest = "unknown"

// nameOf is "ollama/NAME".
func nameOf(m *model) string {
	const room = 80
	name := m.name
	if len(name) > room {
		name = name[:room]
		for !utf8.ValidString(name) {
			name = name[:len(name)-1]
		}
	}
	return "ollama/" + name
}

// State tells how the chat model is, or the one that embeds where there is no other.
func (s *Server) State() lifecycle.ModelState {
	if s.o.Chat == "" {
		return s.stateOf(s.embedding)
	}
	return s.stateOf(s.judge)
}

func (s *Server) stateOf(l *lane) lifecycle.ModelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := lifecycle.ModelState{
		Name: l.model.name, Server: s.shown, Digest: l.model.digest, Met: l.model.met,
		Away: l.why, Since: l.since, Next: l.next,
		Calls: s.calls, Repairs: s.repairs, Failures: s.failures,
	}
	for _, other := range s.lanes() {
		if other != l && other.model == l.model && other.why != "" && other.why != l.why {
			out.Closed = append(out.Closed, lifecycle.ClosedKind{What: other.what, Why: other.why, Since: other.since, Next: other.next})
		}
	}
	if s.client == nil {
		out.Away = noAddress // for good
	}
	return out
}

// options are those that a model is loaded with: the same for every question, or it
// would be loaded anew.
func (s *Server) options() map[string]any {
	o := map[string]any{}
	if s.o.Threads > 0 {
		o["num_thread"] = s.o.Threads
	}
	return o
}

func (s *Server) chatOptions() map[string]any {
	o := s.options()
	o["num_ctx"] = s.o.Context
	return o
}

func (s *Server) keepAlive() *api.Duration { return &api.Duration{Duration: s.o.KeepAlive} }
