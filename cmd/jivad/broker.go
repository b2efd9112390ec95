package main

import (
	"crypto/rand"
	"encoding/hex"
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
	if problem := s.broker.Problem(); problem != "" {
		out.OK, out.Detail, out.Hint = false, problem, "Tools that publish fail meanwhile; it is tried again by itself. See [mqtt] in the settings."
	}
	return []lifecycle.Check{out}
}
