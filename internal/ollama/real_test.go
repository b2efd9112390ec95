package ollama

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

const (
	realChat  = "stories"
	realEmbed = "glove"
)

// chatTemplate has the model see all messages; the tiny one makes nothing of them.
const chatTemplate = "{{ range .Messages }}<|{{ .Role }}|>\n{{ .Content }}\n{{ end }}<|assistant|>\n"

// shared finds a file of the shared data, or skips the test.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	root := os.Getenv("JIVAD_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	full := filepath.Join(append([]string{root}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("skipped: the shared data is not here (%s)", full)
	}
	return full
}

// binary finds an Ollama server: where JIVAD_OLLAMA says, where scripts/ollama.sh
// puts one, or among the shared data.
func binary(t testing.TB) string {
	t.Helper()
	for _, path := range []string{os.Getenv("JIVAD_OLLAMA"), filepath.Join("..", "..", "bin", "ollama")} {
		if _, err := os.Stat(path); path != "" && err == nil {
			full, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			return full
		}
	}
	return shared(t, "bin", "ollama")
}

// real is a real server with two tiny models.
type real struct {
	url    string
	client *api.Client
	stop   func()
}

var listening = regexp.MustCompile(`Listening on (127\.0\.0\.1:\d+)`)

// startReal starts a server on a port of its choice, or on that of addr; its models
// lie in dir. Under the race detector the same things are tried on a stub alone: there
// a real one is slow, and nothing of it is watched.
func startReal(t testing.TB, dir, addr string) *real {
	t.Helper()
	if underRace {
		t.Skip("skipped: under the race detector a stub is asked instead")
	}
	path := binary(t)
	// The shell ends the server when its input ends, also where the test is killed.
	cmd := exec.Command("sh", "-c", `"$0" serve </dev/null & cat >/dev/null; kill $!; wait $!`, path)
	cmd.Env = append(os.Environ(), "HOME="+dir, "OLLAMA_MODELS="+filepath.Join(dir, "models"), "OLLAMA_HOST="+addr, "GIN_MODE=release", "OLLAMA_NUM_PARALLEL=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	stop := sync.OnceFunc(func() {
		_ = in.Close()
		<-done
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	select {
	case addr = <-found:
	case <-done:
		t.Fatal("the server ended at once")
	case <-time.After(time.Minute):
		t.Fatal("the server did not start")
	}
	base := must[*url.URL](t)(url.Parse("http://" + addr))
	return &real{url: base.String(), client: api.NewClient(base, guarded(nil)), stop: stop}
}

func (r *real) create(t testing.TB, name, file string) {
	t.Helper()
	data := must[[]byte](t)(os.ReadFile(shared(t, "models", "ollama", file)))
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	if err := r.client.CreateBlob(t.Context(), digest, strings.NewReader(string(data))); err != nil {
		t.Fatal(err)
	}
	req := &api.CreateRequest{Model: name, Files: map[string]string{file: digest}, Template: chatTemplate, Parameters: map[string]any{"num_thread": 1}}
	if err := r.client.Create(t.Context(), req, func(api.ProgressResponse) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// models makes both models at a real server, where they are not there yet.
func (r *real) models(t testing.TB) {
	t.Helper()
	r.create(t, realChat, "stories260k-4k.gguf")
	r.create(t, realEmbed, "glove-sif-20k-q8.gguf")
}

func realOptions(address string) Options {
	return Options{Server: address, Chat: realChat, Embed: realEmbed, Threads: 1, KeepAlive: time.Minute, Deadline: time.Minute}
}

// The real server is asked everything: the tiny model's judgements are nonsense, and
// valid; what it narrates is refused or stands in the summary.
func TestRealServer(t *testing.T) {
	r := startReal(t, t.TempDir(), "127.0.0.1:0")
	s := New(realOptions(r.url))
	defer s.Close()
	if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) || !strings.Contains(err.Error(), "ollama pull") {
		t.Fatalf("without a model: %v", err)
	}
	r.models(t)
	s = New(realOptions(r.url))
	defer s.Close()

	a := must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
	t.Logf("%+v", a)
	if a.Judgement.Guna.Check() != nil || !regexp.MustCompile(`^ollama/stories@[0-9a-f]{12} assess/\d+$`).MatchString(a.Judgement.Assessor) {
		t.Errorf("%+v", a)
	}
	long := lifecycle.Experience{Text: strings.Repeat("It rained in the night. ", 400)}
	if _, err := s.Assess(t.Context(), long); err != nil && !errors.Is(err, lifecycle.ErrModelAnswer) {
		t.Errorf("a long one: %v", err)
	}
	if said, err := s.Narrate(t.Context(), "12 entries, about the river"); err != nil && !errors.Is(err, lifecycle.ErrModelAnswer) {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := s.Name(t.Context(), []string{"river"}, []string{"By the river."}); err != nil && !errors.Is(err, lifecycle.ErrModelAnswer) {
		t.Errorf("%q, %v", said, err)
	}
	var pieces []string
	end, err := s.Chat(t.Context(), hello, nil, func(p string) error { pieces = append(pieces, p); return nil })
	if err != nil || len(pieces) < 3 || end.Tokens == 0 {
		t.Errorf("%d pieces, %+v, %v", len(pieces), end, err)
	}
	if _, err := s.Chat(t.Context(), hello, nil, func(string) error { return errTest }); !errors.Is(err, errTest) {
		t.Errorf("%v", err)
	}

	e := must[*Embedder](t)(s.Embedder(t.Context()))
	if e.Dim() != 128 {
		t.Errorf("%d", e.Dim())
	}
	for _, text := range []string{"A sad day.", strings.Repeat("the river and the rain ", 3000), strings.Repeat("Zxqv ", 4000), "日記"} {
		if v, err := e.Embed(t.Context(), text); err != nil || len(v) != 128 {
			t.Errorf("%d letters: %d, %v", len(text), len(v), err)
		}
	}
	if _, err := e.Embed(t.Context(), " \n"); !errors.Is(err, ErrNoText) {
		t.Errorf("%v", err)
	}

	o := realOptions(r.url)
	o.Chat = realEmbed
	if _, err := New(o).Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("a model that cannot chat: %v", err)
	}
}

// The real server goes and comes back, the model is removed and comes back; nobody
// starts anything anew.
func TestRealServerGoesAndComesBack(t *testing.T) {
	dir := t.TempDir()
	r := startReal(t, dir, "127.0.0.1:0")
	r.models(t)
	s := New(realOptions(r.url))
	defer s.Close()
	states := make(chan lifecycle.ModelState, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Watch(ctx, func(m lifecycle.ModelState) { states <- m })
	wait := func(what string, away bool) {
		t.Helper()
		for {
			select {
			case m := <-states:
				if (m.Away != "") == away && (away || m.Digest != "") {
					return
				}
			case <-time.After(2 * time.Minute):
				t.Fatalf("%s: not told in two minutes", what)
			}
		}
	}
	wait("there at first", false)
	must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))

	if err := r.client.Delete(t.Context(), &api.DeleteRequest{Model: realChat}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
		t.Errorf("a model that was removed: %v", err)
	}
	wait("removed", true)
	r.models(t)
	wait("made again", false)
	must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))

	r.stop()
	if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) && !errors.Is(err, lifecycle.ErrModelAnswer) {
		t.Errorf("a server that ended: %v", err)
	}
	wait("ended", true)
	again := startReal(t, dir, strings.TrimPrefix(r.url, "http://"))
	wait("started again", false)
	_ = again
	must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
}
