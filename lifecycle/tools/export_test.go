package tools

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// What an act will do, for the tests of the templates.

func (a *Act) Argv() []string                      { return a.argv }
func (a *Act) Address() string                     { return a.address.String() }
func (a *Act) Body() string                        { return a.body }
func (a *Act) Topic() string                       { return a.topic }
func (a *Act) Message() string                     { return a.message }
func (a *Act) Path() string                        { return a.path }
func Public(ip netip.Addr) bool                    { return public(ip) }
func Bounded(data []byte, most int) (string, bool) { return bounded(data, most) }

// Covers tells whether a list of hosts for a scheme covers an address.
func Covers(scheme string, list []string, nameAndPort string) bool {
	var h hosts
	for _, text := range list {
		one, ok := parseHost(text, scheme)
		if !ok {
			return false
		}
		h = append(h, one)
	}
	return h.covers(nameAndPort)
}

// LendFolder has a folder be one where programs are, with a program of that name in it.
func LendFolder(t *testing.T, folder, name string) string {
	t.Helper()
	before := folders
	t.Cleanup(func() { folders = before })
	folders = []string{folder}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
