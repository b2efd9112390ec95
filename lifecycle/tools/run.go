package tools

import (
	"context"
	"crypto/x509"
	"errors"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"
)

// Result is what a tool gave: data, never an instruction.
type Result struct {
	// Text is valid UTF-8 of at most the tool's output limit in bytes.
	Text string
	// Truncated tells that there was more.
	Truncated bool
	// Duration is how long the tool ran.
	Duration time.Duration
	// Status is the exit code of a program (128 and the signal's number where one ended
	// it), the status of an answer to a request, or 0.
	Status int
	// OK tells that the tool did what it should: exit code 0, a status of 2xx, a file
	// that was read, a message that was taken.
	OK bool
}

// Message is what a tool publishes.
type Message struct {
	Topic   string
	Payload []byte
	QoS     byte
	Retain  bool
}

// Publisher publishes messages of MQTT.
type Publisher interface {
	// Publish returns when the broker has taken the message as far as its QoS says.
	Publish(ctx context.Context, m Message) error
}

// Resolver looks up the addresses of a host; a *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Runner carries out acts. Several may run at a time.
type Runner struct {
	// Workplace is the folder in which a program is given an empty folder of its own.
	Workplace string
	// Publisher takes messages; without one, tools of MQTT fail.
	Publisher Publisher
	// Resolver looks up hosts; nil is that of the machine.
	Resolver Resolver
	// Roots are the authorities that https servers are trusted by; nil are those of the
	// machine.
	Roots *x509.CertPool
}

// Run does an act, once, within its tool's time limit. The result is what there is, also
// with an error. Errors, each a *RunError: ErrSpent, ErrStart, ErrTimeLimit, ErrStopped
// (ctx ended), ErrHost, ErrRedirect, ErrUnreachable, ErrPath, ErrLeft. A program that
// fails and a server that answers with a fault are results and no errors.
func (r *Runner) Run(ctx context.Context, act *Act) (Result, error) {
	if act == nil || act.tool == nil {
		return Result{}, ErrRefused
	}
	if act.spent.Swap(true) {
		return Result{}, failed(act.Tool(), ErrSpent, nil)
	}
	run, limit := r.of(act)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begin := time.Now()
	result, err := run(ctx, act)
	result.Duration = time.Since(begin)
	return result, err
}

// of is the way of doing an act, and its time limit.
func (r *Runner) of(act *Act) (func(context.Context, *Act) (Result, error), time.Duration) {
	d := &act.tool.declaration
	switch act.tool.kind {
	case KindExec:
		return r.exec, d.Exec.TimeLimit
	case KindHTTP:
		return r.http, d.HTTP.TimeLimit
	case KindMQTT:
		return r.publish, d.MQTT.TimeLimit
	default:
		return r.read, d.Read.TimeLimit
	}
}

// ended is the error of a context that is over.
func ended(ctx context.Context, tool string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(tool, ErrTimeLimit, nil)
	}
	return failed(tool, ErrStopped, nil)
}

// publish gives a message to the publisher, and does not wait for one that forgets its
// context.
func (r *Runner) publish(ctx context.Context, act *Act) (Result, error) {
	if r.Publisher == nil {
		return Result{}, failed(act.Tool(), ErrStart, nil)
	}
	if ctx.Err() != nil {
		return Result{}, ended(ctx, act.Tool())
	}
	d := act.tool.declaration.MQTT
	m := Message{Topic: act.topic, Payload: []byte(act.message), QoS: byte(d.QoS), Retain: d.Retain}
	done, publisher := make(chan error, 1), r.Publisher
	go func() { done <- publisher.Publish(ctx, m) }()
	select {
	case err := <-done:
		if err == nil {
			return Result{Text: "published", OK: true}, nil
		}
		if ctx.Err() != nil {
			return Result{}, ended(ctx, act.Tool())
		}
		return Result{}, failed(act.Tool(), ErrUnreachable, err)
	case <-ctx.Done():
		return Result{}, ended(ctx, act.Tool())
	}
}

// bounded makes valid text of at most so many bytes; data holds at least one byte more
// where there was more.
func bounded(data []byte, most int) (text string, truncated bool) {
	if truncated = len(data) > most; truncated {
		data = data[:most]
	}
	text = strings.ToValidUTF8(string(whole(data, truncated)), string(utf8.RuneError))
	if len(text) > most { // what stands for a wrong byte is longer than it
		return string(whole([]byte(text[:most]), true)), true
	}
	return text, truncated
}

// whole leaves out a letter that was cut in two at the end.
func whole(data []byte, cut bool) []byte {
	if !cut {
		return data
	}
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if from := len(data) - back; utf8.RuneStart(data[from]) {
			if !utf8.FullRune(data[from:]) {
				return data[:from]
			}
			break
		}
	}
	return data
}
