// Package testport finds ports for tests of programs that must be told one. It is no part of
// the program.
package testport

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Unused is a port of this machine at which nobody listens. It is from below those that the
// system gives away by itself, so that nobody else comes by it between this look and the use
// of it.
func Unused() (int, error) {
	const first, last = 10_240, 32_000
	for range 200 {
		port := first + rand.IntN(last-first) //nolint:gosec // any will do
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("no port from %d to %d is free", first, last)
}
