package tools_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/jivad/jivad/lifecycle/tools"
)

// declared reads tools from TOML as a manifest does.
func declared(t testing.TB, text string) []tools.Declaration {
	t.Helper()
	var manifest struct {
		Tools []tools.Declaration `toml:"tools"`
	}
	md, err := toml.Decode(text, &manifest)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, key := range md.Undecoded() {
		if key[0] != "tools" { // those are the declaration's own to look at
			t.Fatalf("a key that a manifest would call unknown: %v", key)
		}
	}
	return manifest.Tools
}

// born resolves tools that have no fault.
func born(t testing.TB, text string) *tools.Set {
	t.Helper()
	set, err := tools.Resolve(declared(t, text), tools.Surroundings{Workplace: t.TempDir(), Broker: true})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// faults resolves tools that have some.
func faults(t testing.TB, text string) tools.Faults {
	t.Helper()
	set, err := tools.Resolve(declared(t, text), tools.Surroundings{Workplace: t.TempDir(), Broker: true})
	var all tools.Faults
	if !errors.As(err, &all) || !errors.Is(err, tools.ErrDeclaration) || set != nil {
		t.Fatalf("no faults but %v in\n%s", err, text)
	}
	return all
}

// everything grants all kinds.
func everything(t testing.TB) tools.Grants {
	t.Helper()
	g, err := tools.NewGrants([]tools.Grant{{Capability: "exec"}, {Capability: "http"}, {Capability: "mqtt"}, {Capability: "read"}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// open are gates that let everything through.
func open() tools.Gates {
	yes := func(tools.Proposal) tools.Verdict { return tools.Verdict{Answer: tools.Allow} }
	return tools.Gates{Consent: yes, Consequence: yes}
}

func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func ask(t testing.TB, set *tools.Set, tool, arguments string) tools.Decision {
	t.Helper()
	return tools.Permit(tools.Call{Tool: tool, Arguments: []byte(arguments)}, everything(t), set, open())
}

// permitted gives the act of a call that must pass.
func permitted(t testing.TB, set *tools.Set, tool, arguments string) *tools.Act {
	t.Helper()
	d := ask(t, set, tool, arguments)
	if !d.Allowed() {
		t.Fatalf("%s: %s", tool, d.Text())
	}
	return d.Act
}

// refused checks that a call is refused for one reason among others, and that no
// sentence of the refusal holds the word CANARY, which the arguments use.
func refused(t testing.TB, d tools.Decision, code tools.Code) {
	t.Helper()
	if d.Allowed() || d.Act != nil || !errors.Is(d.Err(), tools.ErrRefused) || d.Text() == "" {
		t.Fatalf("it was let through, not refused as %s", code)
	}
	found := false
	for _, r := range d.Refusals {
		found = found || r.Code == code
	}
	if !found {
		t.Errorf("refused as %+v, not as %s", d.Refusals, code)
	}
	if strings.Contains(d.Text()+d.Err().Error(), "CANARY") {
		t.Errorf("the refusal tells what the model wrote: %s", d.Text())
	}
}

// script writes a program of the shell.
func script(t testing.TB, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// isRunError checks the kind of an error, and that its text holds no CANARY.
func isRunError(t testing.TB, err, kind error) {
	t.Helper()
	var e *tools.RunError
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("error %v, not %v", err, kind)
	}
	if strings.Contains(err.Error(), "CANARY") {
		t.Errorf("the error tells what the model wrote: %v", err)
	}
}
