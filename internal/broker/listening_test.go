package broker_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/jivad/jivad/internal/broker"
)

// say publishes as a sensor does; it returns when the broker has it.
func (m *mosquitto) say(topic, payload string, retain bool) {
	m.t.Helper()
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker(fmt.Sprintf("tcp://127.0.0.1:%d", m.port)).SetClientID("sensor"))
	defer c.Disconnect(0)
	if token := c.Connect(); token.Wait() && token.Error() != nil {
		m.t.Fatal(token.Error())
	}
	if token := c.Publish(topic, 1, retain, payload); token.Wait() && token.Error() != nil {
		m.t.Fatal(token.Error())
	}
}

// ears keep what is handed on.
type ears chan string

func (e ears) hear(topic string, payload []byte) { e <- topic + " " + string(payload) }

// sync says the topic until it is heard: then the broker knows that it is listened to. What
// came before it was said is given.
func (m *mosquitto) sync(e ears, topic string) (before []string) {
	m.t.Helper()
	this := rand.Text()
	m.until(topic+" is listened to", func() bool {
		m.say(topic, this, false)
		for {
			select {
			case got := <-e:
				switch {
				case got == topic+" "+this:
					return true
				case !strings.HasPrefix(got, topic): // others are of a sync before
					before = append(before, got)
				}
			default:
				return false
			}
		}
	})
	return before
}

// What sensors say is handed on over every connection; what the broker kept from before and
// what is too long is not, nor what is on a topic that was given up.
func TestListening(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	b := m.open(broker.Options{})
	e := make(ears, 1024)
	b.Subscribe([]string{"plant/a", "plant/b"}, e.hear)
	for round := range 2 {
		m.start()
		m.say("plant/b", "kept from before", true)
		m.until("it connects", func() bool { return b.Problem() == "" })
		if got := m.sync(e, "plant/a"); len(got) > 0 && !(len(got) == 1 && got[0] == "plant/b kept from before") {
			t.Errorf("round %d: %q", round, got)
		}
		// Said while it is listened to it is no matter of before, though the broker keeps it.
		m.say("plant/b", "now", true)
		m.say("plant/b", strings.Repeat("x", 64<<10+1), false)
		m.say("plant/c", "of no concern", false)
		if got := m.sync(e, "plant/a"); !slices.Equal(got, []string{"plant/b now"}) {
			t.Errorf("round %d: %q", round, got)
		}
		if h := b.Heard(); h.Oversized != int64(round)+1 {
			t.Errorf("%+v", h)
		}
		m.kill()
		m.until("it is seen that the broker is gone", func() bool { return b.Problem() != "" })
	}
	m.start()
	m.until("it connects", func() bool { return b.Problem() == "" })
	m.sync(e, "plant/a")
	m.say("plant/c", "kept from before", true)
	before := b.Heard().Retained
	// Another list: the one that is new is listened to, the one that is not on it no more.
	b.Subscribe([]string{"plant/b", "plant/c"}, e.hear)
	m.sync(e, "plant/c")
	m.say("plant/a", "given up", false)
	m.say("plant/b", "still", false)
	if got := m.sync(e, "plant/c"); !slices.Equal(got, []string{"plant/b still"}) {
		t.Errorf("%q", got)
	}
	if h := b.Heard(); h.Retained != before+1 {
		t.Errorf("%d retained, before %d", h.Retained, before)
	}
}

// A handler that takes its time holds up neither the connection nor what comes: it is given
// the newest of each topic.
func TestWhoListensMayBeSlow(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	m.start()
	b := m.open(broker.Options{})
	e, go1 := make(ears, 1024), make(chan struct{})
	first := true
	b.Subscribe([]string{"a", "b"}, func(topic string, payload []byte) {
		if first {
			<-go1
		}
		first = false
		e.hear(topic, payload)
	})
	m.until("it is listened to", func() bool {
		m.say("a", "first", false)
		return b.Heard().Taken == 1
	})
	for i := range 20 {
		m.say("a", fmt.Sprint(i), false)
	}
	m.say("b", "last", false)
	m.until("all came", func() bool { return b.Heard().Dropped >= 19 })
	close(go1)
	if got := []string{<-e, <-e, <-e}; got[0] != "a first" || got[1] != "a 19" || got[2] != "b last" {
		t.Errorf("%q", got)
	}
}

// A topic that the broker does not let be read is told, and keeps no other from being heard.
func TestATopicThatIsRefused(t *testing.T) {
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
			go refuse(c, "secret")
		}
	}()
	m := &mosquitto{t: t}
	b := m.open(broker.Options{Address: "mqtt://" + l.Addr().String()})
	m.until("it connects", func() bool { return b.Problem() == "" })
	b.Subscribe([]string{"secret", "open"}, func(string, []byte) {})
	m.until("it is told", func() bool {
		return strings.Contains(b.Problem(), "secret: it does not let this topic be read")
	})
	if strings.Contains(b.Problem(), "open") {
		t.Error(b.Problem())
	}
	b.Subscribe([]string{"open"}, func(string, []byte) {})
	if b.Problem() != "" {
		t.Errorf("it was given up: %s", b.Problem())
	}
}

// refuse is a broker that lets everything be read but one topic.
func refuse(c net.Conn, topic string) {
	defer c.Close() //nolint:errcheck // it is gone with the test
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		body := make([]byte, head[1]) // none of them is long
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		switch head[0] {
		case 0x10: // CONNECT
			_, _ = c.Write([]byte{0x20, 2, 0, 0})
		case 0x82: // SUBSCRIBE
			granted := byte(1)
			if strings.Contains(string(body), topic) {
				granted = 0x80
			}
			_, _ = c.Write([]byte{0x90, 3, body[0], body[1], granted})
		case 0xa2: // UNSUBSCRIBE
			_, _ = c.Write([]byte{0xb0, 2, body[0], body[1]})
		}
	}
}
