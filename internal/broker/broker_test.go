package broker_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/jivad/jivad/internal/broker"
	"github.com/jivad/jivad/internal/testport"
	"github.com/jivad/jivad/lifecycle/tools"
)

// mosquitto is a real broker on a free port of this machine.
type mosquitto struct {
	t       *testing.T
	port    int
	config  string
	process *exec.Cmd
}

// newMosquitto gives one that is not started; more are lines of its settings.
func newMosquitto(t *testing.T, more ...string) *mosquitto {
	t.Helper()
	if _, err := exec.LookPath("mosquitto"); err != nil {
		t.Skip("skipped: there is no mosquitto; on Debian, apt-get install mosquitto")
	}
	port, err := testport.Unused()
	if err != nil {
		t.Fatal(err)
	}
	m := &mosquitto{t: t, port: port}
	m.config = filepath.Join(t.TempDir(), "mosquitto.conf")
	if os.Getuid() == 0 {
		more = append(more, "user root") // else it may not read in the folders of a test
	}
	lines := append([]string{fmt.Sprintf("listener %d 127.0.0.1", m.port)}, more...)
	m.write(m.config, strings.Join(lines, "\n")+"\n")
	return m
}

func (m *mosquitto) write(path, text string) {
	m.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mosquitto) start() {
	m.t.Helper()
	m.process = exec.Command("mosquitto", "-c", m.config)
	if err := m.process.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(m.kill)
	m.until("mosquitto listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", m.port))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

func (m *mosquitto) kill() {
	if m.process != nil {
		_ = m.process.Process.Kill()
		_ = m.process.Wait()
		m.process = nil
	}
}

func (m *mosquitto) until(what string, f func() bool) {
	m.t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for range 6000 {
		if f() {
			return
		}
		<-again.C
	}
	m.t.Fatal("it does not come to be: " + what)
}

func (m *mosquitto) open(o broker.Options) *broker.Broker {
	m.t.Helper()
	if o.Address == "" {
		o.Address = fmt.Sprintf("mqtt://127.0.0.1:%d", m.port)
	}
	o.Client = "test"
	b, err := broker.Open(o)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(b.Close)
	return b
}

// listen gives what comes on a topic.
func (m *mosquitto) listen(topic string) <-chan string {
	m.t.Helper()
	out := make(chan string, 16)
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker(fmt.Sprintf("tcp://127.0.0.1:%d", m.port)).SetClientID("listener"))
	for _, token := range []mqtt.Token{c.Connect(), nil} {
		if token == nil {
			token = c.Subscribe(topic, 1, func(_ mqtt.Client, m mqtt.Message) { out <- m.Topic() + " " + string(m.Payload()) })
		}
		if !token.WaitTimeout(time.Minute) || token.Error() != nil {
			m.t.Fatal(token.Error())
		}
	}
	m.t.Cleanup(func() { c.Disconnect(0) })
	return out
}

// A message is with the broker when Publish returns; without one it is told, and the
// connection comes back by itself.
func TestPublishing(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	b := m.open(broker.Options{})
	lamp := tools.Message{Topic: "field/lamp", Payload: []byte("on"), QoS: 1}
	if err := b.Publish(t.Context(), lamp); !errors.Is(err, broker.ErrAway) || b.Problem() == "" {
		t.Errorf("without a broker: %v, %q", err, b.Problem())
	}
	for range 2 {
		m.start()
		m.until("it connects", func() bool { return b.Problem() == "" })
		heard := m.listen("field/#")
		if err := b.Publish(t.Context(), lamp); err != nil {
			t.Fatal(err)
		}
		if got := <-heard; got != "field/lamp on" {
			t.Errorf("%q", got)
		}
		m.kill()
		m.until("it is seen that the broker is gone", func() bool { return b.Problem() != "" })
		if err := b.Publish(t.Context(), lamp); !errors.Is(err, broker.ErrAway) && !errors.Is(err, broker.ErrUnsure) {
			t.Errorf("after a kill: %v", err)
		}
	}
}

// A broker that takes a message and goes away before it says so leaves it open.
func TestWhatIsNotAcknowledgedIsNotTakenForDone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it is gone with the test
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				buffer := make([]byte, 1<<10)
				if _, err := c.Read(buffer); err == nil { // CONNECT
					_, _ = c.Write([]byte{0x20, 2, 0, 0}) // CONNACK
					_, _ = c.Read(buffer)                 // PUBLISH
				}
				_ = c.Close()
			}()
		}
	}()
	m := &mosquitto{t: t}
	b := m.open(broker.Options{Address: "mqtt://" + l.Addr().String()})
	m.until("it connects", func() bool { return b.Problem() == "" })
	if err := b.Publish(t.Context(), tools.Message{Topic: "a", QoS: 1}); !errors.Is(err, broker.ErrUnsure) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Publish(ctx, tools.Message{Topic: "a", QoS: 1}); err == nil {
		t.Error("published after its end")
	}
}

// Whoever is not let in hears why, and a broker is trusted by its certificate.
func TestWhoMayConnect(t *testing.T) {
	dir := t.TempDir()
	m := newMosquitto(t, "allow_anonymous false", "password_file "+filepath.Join(dir, "users"))
	if out, err := exec.Command("mosquitto_passwd", "-b", "-c", filepath.Join(dir, "users"), "pump", "right").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	m.start()
	for password, lets := range map[string]bool{"right\nsecond line": true, "wrong": false} {
		file := filepath.Join(t.TempDir(), "password")
		m.write(file, password)
		b := m.open(broker.Options{User: "pump", PasswordFile: file})
		m.until("it is answered", func() bool { return b.Problem() != "not connected yet" })
		if (b.Problem() == "") != lets || !lets && !strings.Contains(strings.ToLower(b.Problem()), "not auth") {
			t.Errorf("%q: %q", password, b.Problem())
		}
		b.Close()
	}
}

func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	ca, other, cert, key := filepath.Join(dir, "ca"), filepath.Join(dir, "other"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	m := newMosquitto(t, "allow_anonymous true", "cafile "+ca, "certfile "+cert, "keyfile "+key)
	authority, signer := m.certificate(ca, filepath.Join(dir, "cakey"), nil, nil)
	m.certificate(cert, key, authority, signer)
	m.certificate(other, filepath.Join(dir, "otherkey"), nil, nil)
	m.start()
	address := fmt.Sprintf("mqtts://127.0.0.1:%d", m.port)
	good := m.open(broker.Options{Address: address, Authority: ca})
	m.until("it connects", func() bool { return good.Problem() == "" })
	bad := m.open(broker.Options{Address: address, Authority: other})
	m.until("it is refused", func() bool { return strings.Contains(bad.Problem(), "certificate") })
	if _, err := broker.Open(broker.Options{Address: address, Authority: key}); !errors.Is(err, broker.ErrSettings) {
		t.Errorf("a key is taken for a certificate: %v", err)
	}
}

// certificate makes one; without an authority it is its own.
func (m *mosquitto) certificate(file, keyFile string, authority *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	m.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		m.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: filepath.Base(file)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: authority == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if authority == nil {
		authority, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, authority, &key.PublicKey, signer)
	if err != nil {
		m.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		m.t.Fatal(err)
	}
	m.write(file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	m.write(keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	if c, err = x509.ParseCertificate(der); err != nil {
		m.t.Fatal(err)
	}
	return c, key
}

func TestSettings(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:1883", "http://a", "mqtt://", "mqtt://u:p@a", "mqtt://a/path", "mqtt://a?x=1", "tcp://a"} {
		if _, err := broker.Open(broker.Options{Address: address}); !errors.Is(err, broker.ErrSettings) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for name, o := range map[string]broker.Options{
		"no password file":                {PasswordFile: "/nowhere"},
		"no authority":                    {Address: "mqtts://a", Authority: "/nowhere"},
		"a certificate without a key":     {Address: "mqtts://a", Certificate: "/nowhere"},
		"certificates and no TLS to them": {Authority: "/etc/ssl/certs/ca-certificates.crt"},
	} {
		if o.Address == "" {
			o.Address = "mqtt://a"
		}
		if _, err := broker.Open(o); !errors.Is(err, broker.ErrSettings) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (broker.Elsewhere{}).Publish(t.Context(), tools.Message{}); !errors.Is(err, broker.ErrAway) {
		t.Error(err)
	}
}
