// Package broker is the connection to an MQTT broker (3.1.1): the messages that tools
// publish go through it, and what sensors say on topics comes through it. The daemon never
// waits for it; where it is away, publishing fails and says so.
package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/jivad/jivad/lifecycle/tools"
)

// Options say which broker, and who asks.
type Options struct {
	// Address is mqtt://HOST[:1883], or mqtts://HOST[:8883] with TLS.
	Address string
	// Client names the connection; two of one name throw each other off.
	Client string
	// User and PasswordFile, whose first line it is, are for a broker that asks; empty
	// for one that does not.
	User, PasswordFile string
	// Authority is a file with the certificates that the broker is trusted by, empty for
	// those of the machine. Certificate and Key are files with those of this device.
	Authority, Certificate, Key string
	Log                         *slog.Logger
}

// The errors.
var (
	// ErrAway: there is no connection.
	ErrAway = errors.New("the MQTT broker is away")
	// ErrUnsure: the connection broke before the broker said that it has the message.
	ErrUnsure = errors.New("whether the MQTT broker has the message is not known")
	// ErrSettings: the settings make no connection.
	ErrSettings = errors.New("the settings of the MQTT broker")
)

// How long one try to connect may take, and the pauses between two: from the first, twice
// as long each time, to the last.
const (
	dialTime   = 10 * time.Second
	firstPause = time.Second
	lastPause  = 5 * time.Minute
	keepAlive  = 60 * time.Second
	// farewell is how long a connection may take to end, in milliseconds.
	farewell = 250
)

// Broker is one connection, which is made again for as long as it is open. Its methods may
// be called from many goroutines.
type Broker struct {
	client mqtt.Client
	log    *slog.Logger
	// broken counts the times that the connection was lost.
	broken atomic.Int64

	listening *listening

	mu      sync.Mutex
	problem string

	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// Open begins to connect, and does not wait for it. Error: ErrSettings.
func Open(o Options) (*Broker, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := &Broker{log: o.Log, problem: "not connected yet", listening: newListening()}
	options, err := o.paho(b)
	if err != nil {
		return nil, err
	}
	b.client = mqtt.NewClient(options)
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.tasks.Go(func() { b.connect(ctx) })
	b.tasks.Go(func() { b.listening.hand(ctx) })
	return b, nil
}

// paho gives the settings of the client's library.
func (o Options) paho(b *Broker) (*mqtt.ClientOptions, error) {
	address, secure, err := serverOf(o.Address)
	if err != nil {
		return nil, err
	}
	// What comes is handed over in its order: the handler waits for nobody.
	p := mqtt.NewClientOptions().AddBroker(address).SetClientID(o.Client).SetCleanSession(true).SetDefaultPublishHandler(b.listening.take).
		SetConnectTimeout(dialTime).SetWriteTimeout(dialTime).SetKeepAlive(keepAlive).SetAutoReconnect(false).SetConnectRetry(false)
	p.SetConnectionLostHandler(func(_ mqtt.Client, err error) {
		b.broken.Add(1)
		b.tell("the connection was lost: " + err.Error())
	})
	if o.User != "" {
		p.SetUsername(o.User)
	}
	if o.PasswordFile != "" {
		data, err := os.ReadFile(o.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("%w: password_file: %w", ErrSettings, err)
		}
		line, _, _ := strings.Cut(string(data), "\n")
		p.SetPassword(strings.TrimRight(line, "\r"))
	}
	if secure {
		c, err := o.tls()
		if err != nil {
			return nil, err
		}
		p.SetTLSConfig(c)
	} else if o.Authority+o.Certificate+o.Key != "" {
		return nil, fmt.Errorf("%w: certificates are for an address that begins with mqtts://", ErrSettings)
	}
	return p, nil
}

// serverOf reads an address.
func serverOf(text string) (address string, secure bool, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return "", false, fmt.Errorf("%w: an address is mqtt://HOST:PORT or mqtts://HOST:PORT", ErrSettings)
	}
	scheme, port := "tcp", "1883"
	switch u.Scheme {
	case "mqtt":
	case "mqtts":
		scheme, port, secure = "ssl", "8883", true
	default:
		return "", false, fmt.Errorf("%w: an address is mqtt://HOST:PORT or mqtts://HOST:PORT", ErrSettings)
	}
	if u.Port() == "" {
		u.Host += ":" + port
	}
	return scheme + "://" + u.Host, secure, nil
}

func (o Options) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.Authority != "" {
		data, err := os.ReadFile(o.Authority)
		if err != nil {
			return nil, fmt.Errorf("%w: ca_file: %w", ErrSettings, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%w: ca_file: there is no certificate in %s", ErrSettings, o.Authority)
		}
	}
	if o.Certificate+o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Certificate, o.Key)
		if err != nil {
			return nil, fmt.Errorf("%w: cert_file and key_file: %w", ErrSettings, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// connect keeps the connection up: one try in each pause, which doubles while none comes
// about. Each connection subscribes anew; a topic that was refused is asked for again from
// time to time.
func (b *Broker) connect(ctx context.Context) {
	pause := firstPause
	look := time.NewTicker(firstPause)
	defer look.Stop()
	for {
		token := b.client.Connect()
		select {
		case <-token.Done():
		case <-ctx.Done():
			return
		}
		if err := token.Error(); err != nil {
			b.tell(err.Error())
		} else {
			pause = firstPause
			b.tell("")
			held, again := map[string]bool{}, time.Now()
			for b.client.IsConnectionOpen() {
				due := !time.Now().Before(again)
				if due {
					again = time.Now().Add(lastPause)
				}
				b.subscribe(ctx, held, due)
				select {
				case <-look.C:
				case <-b.listening.changed:
				case <-ctx.Done():
					return
				}
			}
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// tell notes how it stands, and logs where that is new.
func (b *Broker) tell(problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if problem == b.problem {
		return
	}
	b.problem = problem
	if problem == "" {
		b.log.Info("the MQTT broker is there")
		return
	}
	b.log.Warn("the MQTT broker is away; it is tried again", "why", problem)
}

// Problem says why there is no connection, or which topics the broker does not let be read;
// empty where nothing is wrong.
func (b *Broker) Problem() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.problem != "" {
		return b.problem
	}
	return b.listening.problem()
}

// Publish publishes a message, and returns when the broker has it as far as its QoS says.
// Errors: ErrAway; ErrUnsure; that of ctx, after which it may still come to be published.
func (b *Broker) Publish(ctx context.Context, m tools.Message) error {
	if !b.client.IsConnectionOpen() {
		return fmt.Errorf("%w: %s", ErrAway, b.Problem())
	}
	before := b.broken.Load()
	token := b.client.Publish(m.Topic, m.QoS, m.Retain, m.Payload)
	select {
	case <-token.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	// The library lets a message go without an error where the connection broke.
	if b.broken.Load() != before || !b.client.IsConnectionOpen() {
		return ErrUnsure
	}
	return nil
}

// Elsewhere stands for a broker that only the daemon connects to.
type Elsewhere struct{}

// Publish fails with ErrAway.
func (Elsewhere) Publish(context.Context, tools.Message) error {
	return fmt.Errorf("%w: only the daemon connects to it", ErrAway)
}

// Close ends the connection. When it returns, nothing is handed on any more.
func (b *Broker) Close() {
	b.stop()
	b.tasks.Wait()
	b.client.Disconnect(farewell)
}
