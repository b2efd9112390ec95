package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

// faultyServer answers well, and in every way that a server can go wrong, in turn.
func faultyServer() http.HandlerFunc {
	var n atomic.Int64
	const piece, end = `{"model":"m","message":{"role":"assistant","content":"Yes"},"done":false}` + "\n", `{"model":"m","message":{"role":"assistant","content":"."},"done":true}` + "\n"
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch n.Add(1) % 10 {
		case 1:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"model 'm' not found"}`)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case 4:
			panic(http.ErrAbortHandler)
		case 5:
			_, _ = io.WriteString(w, piece) // and no end
		case 6:
			_, _ = io.WriteString(w, `{"message":{"content":"","thinking":"Hm."},"done":true}`)
		case 7:
			_, _ = io.WriteString(w, strings.Repeat(piece, 1000)+end)
		default:
			_, _ = io.WriteString(w, piece+end)
		}
	}
}

// Ten thousand requests at the door of a daemon leave nothing behind, whatever the server
// makes of them: of a hundred one is woven for, and says what was said already.
func TestMemoryOfTheDoorIsBounded(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("skipped: ten thousand requests take a while")
	}
	embedder, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	assessor, err := builtin.NewAssessor()
	if err != nil {
		t.Fatal(err)
	}
	c, err := lifecycle.Open(t.Context(), lifecycle.Options{Dir: t.TempDir(), Embedder: embedder, Assessor: assessor, KeepOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	server := httptest.NewUnstartedServer(faultyServer())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	defer server.Close()
	settings := config.Default()
	settings.Door.Listen, settings.Model.Server = "0", server.URL
	d, err := openDoor(t.Context(), &served{Companion: c, reload: &reloader{}, stopping: t.Context()}, settings, slog.New(slog.DiscardHandler))
	if err != nil || d.address == "" {
		t.Fatal(err, d.problem())
	}
	defer d.close(t.Context())

	const clients = 4
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	ask := func(n int) {
		var all sync.WaitGroup
		for k := range clients {
			all.Go(func() {
				for i := k; i < n; i += clients {
					path := []string{"/api/chat", "/api/generate", "/api/chat", "/api/tags", "/api/embed"}[i%5]
					body := fmt.Sprintf(`{"model":"m","prompt":"What of the river?","messages":[{"role":"user","content":"What of the river?"}],"n":%d}`, i)
					r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.address+path, strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					if i%100 > 0 {
						r.Header.Set("X-Jivad-Memory", "off")
					}
					response, err := client.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			})
		}
		all.Wait()
		client.CloseIdleConnections()
	}
	// rest waits until nothing is done any more, and gives what is held then.
	rest := func() (heap uint64, goroutines int) {
		t.Helper()
		server.CloseClientConnections()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for same, rounds := 0, 0; same < 25 && rounds < 500; rounds++ {
			<-again.C
			_, waiting := d.door.Turns()
			if n := runtime.NumGoroutine(); n != goroutines || waiting > 0 {
				goroutines, same = n, 0
			} else {
				same++
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, goroutines
	}
	ask(400)
	before, goroutines := rest()
	ask(10_000)
	after, left := rest()
	if after > before+4<<20 {
		t.Errorf("%d bytes after, %d before", after, before)
	}
	if left > goroutines {
		t.Errorf("%d goroutines, %d before", left, goroutines)
	}
	total := uint64(0)
	for _, count := range d.door.Requests() {
		total += count.N
	}
	if total != 10_400 {
		t.Errorf("%d requests were counted: %v", total, d.door.Requests())
	}
}
