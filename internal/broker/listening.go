package broker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

const (
	// mostPayload is the most that is taken of a message, in bytes; longer ones are dropped.
	mostPayload = 64 << 10
	// mostWaiting bounds the messages that wait for whoever listens.
	mostWaiting = 64
	// refusedByBroker is what a broker answers that does not let a topic be read.
	refusedByBroker = 0x80
)

// Heard counts what came on the topics that are listened to, since the broker was opened.
type Heard struct {
	// Taken were given to whoever listens. Dropped gave way to newer ones, Oversized had
	// more than 64 KiB, and Retained were kept by the broker from before.
	Taken, Dropped, Oversized, Retained int64
}

// heard is a message that waits.
type heard struct {
	topic   string
	payload []byte
}

// listening is what a connection listens to.
type listening struct {
	// changed and came wake those who subscribe, and who hands on what came.
	changed, came chan struct{}

	mu      sync.Mutex
	handler func(topic string, payload []byte)
	wanted  map[string]bool
	refused map[string]string
	waiting []heard
	counts  Heard
}

func newListening() *listening {
	return &listening{changed: make(chan struct{}, 1), came: make(chan struct{}, 1), wanted: map[string]bool{}, refused: map[string]string{}}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Subscribe has handler be given what comes on these topics from now on, and on no others:
// those of before that are not among them are given up. That holds over every connection.
// The topics have no wildcards, and are asked for with QoS 1; one that the broker does not
// let be read is told in [Broker.Problem].
//
// A message that the broker kept from before (retained) is left out: nobody knows when it
// was said, so it is no observation of now. So is one of more than 64 KiB. The handler is
// called from one goroutine, one message after the other, and may take its time: meanwhile
// at most 64 messages wait, of each topic the newest alone, and where more come the oldest
// goes. [Broker.Heard] counts them.
func (b *Broker) Subscribe(topics []string, handler func(topic string, payload []byte)) {
	l := b.listening
	l.mu.Lock()
	l.handler = handler
	l.wanted = map[string]bool{}
	for _, topic := range topics {
		l.wanted[topic] = true
	}
	maps.DeleteFunc(l.refused, func(topic, _ string) bool { return !l.wanted[topic] })
	l.waiting = slices.DeleteFunc(l.waiting, func(h heard) bool { return !l.wanted[h.topic] })
	l.mu.Unlock()
	wake(l.changed)
}

// Heard counts what came.
func (b *Broker) Heard() Heard {
	b.listening.mu.Lock()
	defer b.listening.mu.Unlock()
	return b.listening.counts
}

// take is the client's handler of all that comes. It waits for nobody.
func (l *listening) take(_ mqtt.Client, m mqtt.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch topic := m.Topic(); {
	case !l.wanted[topic]: // it was on its way when the topic was given up
	case m.Retained():
		l.counts.Retained++
	case len(m.Payload()) > mostPayload:
		l.counts.Oversized++
	default:
		l.queue(heard{topic, slices.Clone(m.Payload())})
		wake(l.came)
	}
}

// queue has a message wait; one of its topic that waits already gives its place to it.
func (l *listening) queue(h heard) {
	if i := slices.IndexFunc(l.waiting, func(o heard) bool { return o.topic == h.topic }); i >= 0 {
		l.waiting[i] = h
		l.counts.Dropped++
		return
	}
	if len(l.waiting) == mostWaiting {
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.counts.Dropped++
	}
	l.waiting = append(l.waiting, h)
}

// next takes the message that has waited longest, with who is to have it.
func (l *listening) next() (h heard, handler func(string, []byte), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 || l.handler == nil {
		return heard{}, nil, false
	}
	h = l.waiting[0]
	l.waiting = slices.Delete(l.waiting, 0, 1)
	l.counts.Taken++
	return h, l.handler, true
}

// hand hands on what came, until ctx ends.
func (l *listening) hand(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.came:
		}
		for ctx.Err() == nil {
			h, handler, ok := l.next()
			if !ok {
				break
			}
			handler(h.topic, h.payload)
		}
	}
}

// differs tells what is to be asked for and what to be given up where held is listened to.
// What the broker refused is asked for where again is set.
func (l *listening) differs(held map[string]bool, again bool) (more, less []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for topic := range l.wanted {
		if !held[topic] && (again || l.refused[topic] == "") {
			more = append(more, topic)
		}
	}
	for topic := range held {
		if !l.wanted[topic] {
			less = append(less, topic)
		}
	}
	slices.Sort(more)
	slices.Sort(less)
	return more, less
}

// settle notes what a broker answered of a topic: why it may not be read, or that it may.
func (l *listening) settle(topic, why string) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	news = l.refused[topic] != why
	if why == "" || !l.wanted[topic] {
		delete(l.refused, topic)
	} else {
		l.refused[topic] = why
	}
	return news
}

// problem tells of the topics that cannot be read; empty where all can.
func (l *listening) problem() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 3
	var out []string
	for i, topic := range slices.Sorted(maps.Keys(l.refused)) {
		if i == most {
			out = append(out, fmt.Sprintf("and %d topics more", len(l.refused)-most))
			break
		}
		out = append(out, topic+": "+l.refused[topic])
	}
	return strings.Join(out, "; ")
}

// subscribe asks the broker for what is to be listened to and is not yet, and gives up what
// is no more; held is what this connection listens to.
func (b *Broker) subscribe(ctx context.Context, held map[string]bool, again bool) {
	more, less := b.listening.differs(held, again)
	answered := time.NewTimer(dialTime)
	defer answered.Stop()
	wait := func(t mqtt.Token) error {
		select {
		case <-t.Done():
			return t.Error()
		case <-answered.C:
			answered.Reset(0) // nor is the next one waited for
			return fmt.Errorf("it had not answered after %v", dialTime)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, topic := range less {
		if wait(b.client.Unsubscribe(topic)) == nil {
			delete(held, topic)
		}
	}
	tokens := make([]mqtt.Token, len(more))
	for i, topic := range more {
		tokens[i] = b.client.Subscribe(topic, 1, nil)
	}
	for i, topic := range more {
		err := wait(tokens[i])
		if ctx.Err() != nil || !b.client.IsConnectionOpen() {
			return // the next connection asks anew
		}
		why := ""
		token, ok := tokens[i].(*mqtt.SubscribeToken)
		switch {
		case err == nil && ok && token.Result()[topic] == refusedByBroker:
			why = "it does not let this topic be read; see its access rules"
		case err != nil:
			why = err.Error()
		default:
			held[topic] = true
		}
		if b.listening.settle(topic, why) && why != "" {
			b.log.Warn("the MQTT broker does not give a topic; status names it, and it is asked for again")
		}
	}
}
