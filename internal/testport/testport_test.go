package testport_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/jivad/jivad/internal/testport"
)

func TestUnused(t *testing.T) {
	port, err := testport.Unused()
	if err != nil || port >= 32_768 {
		t.Fatalf("%d, %v", port, err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
