package broker_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/broker"
)

// A topic that is wanted no more is given back to the broker, and no other.
func TestATopicIsGivenBack(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it is gone with the test
	asked := make(chan string, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go grant(c, asked)
		}
	}()
	m := &mosquitto{t: t}
	b := m.open(broker.Options{Address: "mqtt://" + l.Addr().String()})
	next := func(want string) {
		t.Helper()
		select {
		case got := <-asked:
			if got != want {
				t.Fatalf("%q was asked for, not %q", got, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%q is not asked for", want)
		}
	}
	m.until("it connects", func() bool { return b.Problem() == "" })
	b.Subscribe([]string{"a"}, func(string, []byte) {})
	next("+a")
	b.Subscribe([]string{"b"}, func(string, []byte) {})
	next("-a")
	next("+b")
	b.Subscribe(nil, func(string, []byte) {})
	next("-b")
}

// grant is a broker that lets everything be read, and tells which topics are asked for and
// given back.
func grant(c net.Conn, asked chan<- string) {
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
			asked <- "+" + strings.TrimSpace(string(body[4:len(body)-1]))
			_, _ = c.Write([]byte{0x90, 3, body[0], body[1], 1})
		case 0xa2: // UNSUBSCRIBE
			asked <- "-" + string(body[4:])
			_, _ = c.Write([]byte{0xb0, 2, body[0], body[1]})
		}
	}
}
