package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"

	"github.com/jivad/jivad/internal/broker"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

// openBroker begins to connect to the broker of the settings; it is nil where they name
// none. Error: broker.ErrSettings.
func openBroker(settings config.Config, log *slog.Logger) (*broker.Broker, error) {
	m := settings.MQTT
	if m.Broker == "" {
		return nil, nil
	}
	name := make([]byte, 6)
	if _, err := rand.Read(name); err != nil {
		return nil, err
	}
	return broker.Open(broker.Options{
		Address: m.Broker, Client: "jivad-" + hex.EncodeToString(name), User: m.User, PasswordFile: m.PasswordFile,
		Authority: m.CAFile, Certificate: m.CertFile, Key: m.KeyFile, Log: log,
	})
}

// checkBroker tells how the connection is, where there is to be one.
func (s *served) checkBroker() []lifecycle.Check {
	if s.broker == nil {
		return nil
	}
	out := lifecycle.Check{Name: "broker", OK: true, Detail: "connected"}
	if h := s.broker.Heard(); h != (broker.Heard{}) {
		out.Detail += fmt.Sprintf("; messages of sensors taken: %d; left out: %d that newer ones came after, %d too long, %d kept from before", h.Taken, h.Dropped, h.Oversized, h.Retained)
	}
	if problem := s.broker.Problem(); problem != "" {
		out.OK, out.Detail, out.Hint = false, problem, "Tools that publish fail and sensors are not heard meanwhile; it is tried again by itself. See [mqtt] in the settings, and the topics in evidence.toml."
	}
	return []lifecycle.Check{out}
}

// followPolicy reads the policy of evidence, and listens to the sensors that it names, as
// long as ctx is not done.
func (s *served) followPolicy(ctx context.Context, log *slog.Logger) {
	if err := s.ReadPolicy(); err != nil {
		log.Error("evidence.toml is not good; the policy of before stays", "error", err)
	}
	if s.broker == nil {
		return
	}
	s.broker.Subscribe(s.SensorTopics(), func(topic string, payload []byte) {
		if ctx.Err() != nil { // the store is closing
			return
		}
		if err := s.Sensed(ctx, topic, payload); err != nil && ctx.Err() == nil {
			log.Warn("what a sensor said could not be kept as a claim", "error", err)
		}
	})
}

// unheard says that there are sensors, and no broker to hear them by; empty where all can be
// heard.
func (s *served) unheard() string {
	if n := len(s.SensorTopics()); s.broker == nil && n > 0 {
		return fmt.Sprintf("evidence.toml has sensors on %s, and the settings name no MQTT broker: [mqtt] in them says which", count(n, "topic", "topics"))
	}
	return ""
}
