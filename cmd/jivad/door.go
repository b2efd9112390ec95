package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/internal/door"
	"github.com/jivad/jivad/lifecycle"
)

// doorway is where clients of Ollama come in, if anywhere.
type doorway struct {
	// address is the one that is listened at, empty where none is.
	address string
	recall  int
	door    *door.Door
	server  *http.Server

	mu    sync.Mutex
	wrong string
}

// openDoor listens where the settings say. That it cannot is no reason for the
// daemon not to run: it is a problem of the status.
func openDoor(ctx context.Context, c *served, settings config.Config, log *slog.Logger) (*doorway, error) {
	d := &doorway{}
	if settings.Door.Listen == "" {
		return d, nil
	}
	listener, err := api.ListenTCP(ctx, settings.Door.Listen)
	if err != nil {
		d.fail(fmt.Sprintf("no door for clients of Ollama: %v; set door.listen to another address, and start jivad again", err), log)
		return d, nil
	}
	d.door, err = door.New(door.Options{
		Companion: c, Server: settings.Model.Server, Recall: settings.Door.Recall,
		Health: api.NewProbes(c, api.OfMeters(c.Meters), d.metrics), Log: log,
	})
	if err != nil {
		return d, errors.Join(err, listener.Close())
	}
	d.address, d.recall = listener.Addr().String(), settings.Door.Recall
	if !api.OnlyHere(listener.Addr()) {
		log.Warn("the door is open to other machines: whoever reaches it hears what the companion remembers", "address", d.address)
	}
	host, _ := api.HostPort(settings.Door.Listen)
	d.server = api.NewServer(api.Guard(host, d.door.Refuse, d.door))
	d.server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	go func() {
		if err := d.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			d.fail(fmt.Sprintf("the door at %s failed: %v; start jivad again", d.address, err), log)
		}
	}()
	return d, nil
}

func (d *doorway) fail(why string, log *slog.Logger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = why
	log.Error("door", "problem", why)
}

func (d *doorway) problem() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wrong
}

// status is nil where nothing listens.
func (d *doorway) status() *lifecycle.DoorStatus {
	if d.address == "" || d.problem() != "" {
		return nil
	}
	return &lifecycle.DoorStatus{Address: "http://" + d.address, Recall: d.recall}
}

// held tells of turns that wait for the embedder, or nothing.
func (d *doorway) held() string {
	if d.door == nil || d.door.Held() == 0 {
		return ""
	}
	n := d.door.Held()
	verb := "wait"
	if n == 1 {
		verb = "waits"
	}
	return fmt.Sprintf("%s at the door %s for the embedder; what waits is lost if the daemon stops before it is back", count(n, "turn of a conversation", "turns of conversations"), verb)
}

// close ends the answers that are on their way, waits until they are noted, and has what
// was said remembered until ctx ends.
func (d *doorway) close(ctx context.Context) {
	if d.server == nil {
		return
	}
	const farewell = time.Second
	telling, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if d.server.Shutdown(telling) != nil {
		_ = d.server.Close()
	}
	d.door.Close(ctx)
}

// metrics tells what came through the door.
func (d *doorway) metrics(context.Context) ([]api.Family, error) {
	listening := 0.0
	if d.address != "" && d.problem() == "" {
		listening = 1
	}
	out := []api.Family{api.Gauge("jivad_door_listening", "1 where clients of Ollama find the companion.", listening)}
	if d.door == nil {
		return out, nil
	}
	requests := api.Family{Name: "jivad_door_requests_total", Kind: "counter", Help: "Requests of clients of Ollama, by what became of them."}
	for _, c := range d.door.Requests() {
		requests.Samples = append(requests.Samples, api.Sample{Labels: []string{"endpoint", c.Endpoint, "outcome", c.Outcome}, Value: float64(c.N)})
	}
	turns := api.Family{Name: "jivad_door_turns_total", Kind: "counter", Help: "Turns of their conversations, by what became of them."}
	counts, waiting := d.door.Turns()
	for _, c := range counts {
		turns.Samples = append(turns.Samples, api.Sample{Labels: []string{"outcome", c.Outcome}, Value: float64(c.N)})
	}
	calls := api.Family{Name: "jivad_door_calls_total", Kind: "counter", Help: "Tools that models asked for in them, by what became of that."}
	for _, c := range d.door.Calls() {
		calls.Samples = append(calls.Samples, api.Sample{Labels: []string{"outcome", c.Outcome}, Value: float64(c.N)})
	}
	return append(out, requests, turns, calls, api.Gauge("jivad_door_queue", "Turns that wait to be remembered.", float64(waiting))), nil
}
