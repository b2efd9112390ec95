package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

// ErrUnreachable: no daemon answers at the socket, or it went away.
var ErrUnreachable = errors.New("no daemon answers")

// Client speaks with the daemon behind a socket.
type Client struct {
	socket string
	http   *http.Client
}

// Dial returns a client for the daemon that listens at a socket. It fails with
// ErrUnreachable when none does.
func Dial(ctx context.Context, socket string) (*Client, error) {
	c, err := dial(ctx, socket)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, socket, err)
	}
	_ = c.Close()
	return (&Client{socket: socket}).anew(), nil
}

// anew is a client of the same daemon with connections of its own.
func (c *Client) anew() *Client {
	return &Client{socket: c.socket, http: &http.Client{Transport: &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, c.socket) },
		DisableCompression: true,
	}}}
}

// Close ends the client's connections; the daemon goes on.
func (c *Client) Close(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// Write remembers one note in the session of today.
func (c *Client) Write(ctx context.Context, n lifecycle.Note) (lifecycle.Receipt, error) {
	return send[lifecycle.Receipt](ctx, c, "write", n)
}

// Import remembers the entries of a history.
func (c *Client) Import(ctx context.Context, notes []lifecycle.Note, progress func(lifecycle.Progress)) (lifecycle.ImportReport, error) {
	body, feed := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(feed, 64<<10)
		lines := json.NewEncoder(buffered)
		for _, n := range notes {
			if err := lines.Encode(n); err != nil {
				feed.CloseWithError(err)
				return
			}
		}
		feed.CloseWithError(buffered.Flush()) // nil closes it
	}()
	defer body.Close() // a daemon that refuses does not read to the end
	var report lifecycle.ImportReport
	err := c.long(ctx, "import", "application/x-ndjson", body, progress, &report)
	return report, err
}

// EndSession withdraws the open session now.
func (c *Client) EndSession(ctx context.Context) (lifecycle.SessionReport, error) {
	return send[lifecycle.SessionReport](ctx, c, "sessions/end", nil)
}

// Sessions lists the closed sessions, oldest first, and the open one.
func (c *Client) Sessions(ctx context.Context) ([]lifecycle.SessionReport, error) {
	return get[[]lifecycle.SessionReport](ctx, c, "sessions")
}

// Session returns one session; 0 means the latest.
func (c *Client) Session(ctx context.Context, number int) (lifecycle.SessionReport, error) {
	name := "latest"
	if number != 0 {
		name = strconv.Itoa(number)
	}
	return get[lifecycle.SessionReport](ctx, c, "sessions/"+name)
}

// Recall finds entries by meaning and by words.
func (c *Client) Recall(ctx context.Context, q lifecycle.RecallQuery) ([]lifecycle.Recalled, error) {
	return send[[]lifecycle.Recalled](ctx, c, "recall", q)
}

// Show returns one entry by its id or a part of it.
func (c *Client) Show(ctx context.Context, id string) (lifecycle.Impression, error) {
	return get[lifecycle.Impression](ctx, c, "impressions/"+url.PathEscape(id))
}

// Soul returns SOUL.md as a session left it; 0 means the current one.
func (c *Client) Soul(ctx context.Context, session int) (lifecycle.SoulDocument, error) {
	return get[lifecycle.SoulDocument](ctx, c, "soul?session="+strconv.Itoa(session))
}

// SoulVersions lists the sessions whose SOUL.md is kept.
func (c *Client) SoulVersions(ctx context.Context) ([]lifecycle.SoulDocument, error) {
	return get[[]lifecycle.SoulDocument](ctx, c, "soul/versions")
}

// Vasanas lists the tendencies, strongest first.
func (c *Client) Vasanas(ctx context.Context) ([]lifecycle.Tendency, error) {
	return get[[]lifecycle.Tendency](ctx, c, "vasanas")
}

// Ghosts lists what was strong once and is hardly there any more.
func (c *Client) Ghosts(ctx context.Context) (lifecycle.GhostReport, error) {
	return get[lifecycle.GhostReport](ctx, c, "ghosts")
}

// GhostsOf tells what would differ today had something never been.
func (c *Client) GhostsOf(ctx context.Context, q lifecycle.GhostQuery, progress func(lifecycle.Progress)) (lifecycle.Counterfactual, error) {
	var report lifecycle.Counterfactual
	body, err := json.Marshal(q)
	if err != nil {
		return report, err
	}
	err = c.long(ctx, "ghosts/of", "application/json", bytes.NewReader(body), progress, &report)
	return report, err
}

// Trend returns the records of the last sessions; 0 means all.
func (c *Client) Trend(ctx context.Context, last int) ([]soul.Record, error) {
	return get[[]soul.Record](ctx, c, "trend?last="+strconv.Itoa(last))
}

// Status tells how the daemon is.
func (c *Client) Status(ctx context.Context) (lifecycle.Status, error) {
	return get[lifecycle.Status](ctx, c, "status")
}

// Verify checks the store and folds it again.
func (c *Client) Verify(ctx context.Context, full bool, progress func(lifecycle.Progress)) (lifecycle.VerifyReport, error) {
	var report lifecycle.VerifyReport
	err := c.long(ctx, "verify?full="+strconv.FormatBool(full), "application/json", http.NoBody, progress, &report)
	return report, err
}

// Doctor looks at everything that a person may have to mend.
func (c *Client) Doctor(ctx context.Context) ([]lifecycle.Check, error) {
	return get[[]lifecycle.Check](ctx, c, "doctor")
}

// Backup copies the store; file is where the daemon puts it, a path that does not
// depend on a working folder, or empty for an automatic backup.
func (c *Client) Backup(ctx context.Context, file string, progress func(lifecycle.Progress)) (lifecycle.BackupReport, error) {
	body, err := json.Marshal(backupRequest{file})
	if err != nil {
		return lifecycle.BackupReport{}, err
	}
	var report lifecycle.BackupReport
	err = c.long(ctx, "backups", "application/json", bytes.NewReader(body), progress, &report)
	return report, err
}

// Backups lists what is in the folder of backups, newest first.
func (c *Client) Backups(ctx context.Context) ([]lifecycle.BackupFile, error) {
	return get[[]lifecycle.BackupFile](ctx, c, "backups")
}

// get asks and reads one JSON value.
func get[T any](ctx context.Context, c *Client, path string) (value T, err error) {
	err = c.ask(ctx, http.MethodGet, path, "", http.NoBody, decodeInto(&value))
	return value, err
}

// send sends one JSON value (nil for none) and reads one.
func send[T any](ctx context.Context, c *Client, path string, what any) (value T, err error) {
	var body io.Reader = http.NoBody
	if what != nil {
		raw, err := json.Marshal(what)
		if err != nil {
			return value, err
		}
		body = bytes.NewReader(raw)
	}
	err = c.ask(ctx, http.MethodPost, path, "application/json", body, decodeInto(&value))
	return value, err
}

func decodeInto(value any) func(io.Reader) error {
	return func(body io.Reader) error {
		if err := json.NewDecoder(body).Decode(value); err != nil {
			return fmt.Errorf("the daemon answered something that is not JSON: %w", err)
		}
		return nil
	}
}

// long starts work that takes its time and follows it to its end.
func (c *Client) long(ctx context.Context, path, kind string, body io.Reader, progress func(lifecycle.Progress), report any) error {
	return c.ask(ctx, http.MethodPost, path, kind, body, func(r io.Reader) error {
		err := follower{progress: progress}.follow(r, report)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
}

// ask sends a request; read gets the body of an answer that is no problem.
func (c *Client) ask(ctx context.Context, method, path, kind string, body io.Reader, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://jivad/api/v1/"+path, body)
	if err != nil {
		return err
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return fmt.Errorf("%w at %s: %w", ErrUnreachable, c.socket, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return read(response.Body)
	}
	const most = 64 << 10
	p := &Problem{}
	raw, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil || json.Unmarshal(raw, p) != nil || p.Detail == "" {
		return fmt.Errorf("the daemon at %s answered %s", c.socket, response.Status)
	}
	return p
}
