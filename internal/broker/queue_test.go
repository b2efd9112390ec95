package broker

import (
	"fmt"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// come is a message that came.
type come struct {
	mqtt.Message
	topic, payload string
	retained       bool
}

func (c come) Topic() string   { return c.topic }
func (c come) Payload() []byte { return []byte(c.payload) }
func (c come) Retained() bool  { return c.retained }

// However much comes while nobody takes it, at most so many messages wait: of a topic the
// newest, and of more topics than that the latest. What was given up waits no more.
func TestWhatWaitsIsBounded(t *testing.T) {
	l := newListening()
	for i := range 2 * mostWaiting {
		l.wanted[fmt.Sprint(i)] = true
	}
	l.handler = func(string, []byte) {}
	for round := range 3 {
		l.take(nil, come{topic: "5", payload: fmt.Sprint("round ", round)})
	}
	l.take(nil, come{topic: "6", payload: "old", retained: true})
	l.take(nil, come{topic: "6", payload: strings.Repeat("x", mostPayload+1)})
	l.take(nil, come{topic: "elsewhere", payload: "x"})
	if len(l.waiting) != 1 || string(l.waiting[0].payload) != "round 2" || l.counts != (Heard{Dropped: 2, Oversized: 1, Retained: 1}) {
		t.Errorf("%q, %+v", l.waiting, l.counts)
	}
	for i := range 2 * mostWaiting {
		l.take(nil, come{topic: fmt.Sprint(i), payload: strings.Repeat("x", mostPayload)})
	}
	if len(l.waiting) != mostWaiting || l.counts.Dropped != 3+mostWaiting || l.waiting[mostWaiting-1].topic != fmt.Sprint(2*mostWaiting-1) {
		t.Errorf("%d wait, %+v", len(l.waiting), l.counts)
	}
	b := &Broker{listening: l}
	b.Subscribe([]string{"100", "new"}, l.handler)
	if h, _, ok := l.next(); !ok || h.topic != "100" {
		t.Errorf("%q", h.topic)
	}
	if _, _, ok := l.next(); ok {
		t.Error("what was given up waits")
	}
}

// What comes on a topic is handed over in its order.
func TestWhatComesStaysInOrder(t *testing.T) {
	p, err := Options{Address: "mqtt://127.0.0.1:1"}.paho(&Broker{listening: newListening()})
	if err != nil || !p.Order {
		t.Errorf("%+v, %v", p, err)
	}
}
