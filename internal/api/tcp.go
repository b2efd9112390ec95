package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

// ErrAddressInUse: another process listens at the address.
var ErrAddressInUse = errors.New("another program listens there")

// ListenTCP listens at host:port, or at a port alone on this machine only; port 0
// is one that is free. A host that is given is taken as it is. Errors:
// ErrAddressInUse, and those of the network.
func ListenTCP(ctx context.Context, address string) (net.Listener, error) {
	host, port := HostPort(address)
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return nil, fmt.Errorf("address %q: it is no port, and no host and port such as 127.0.0.1:11435", address)
	}
	at := net.JoinHostPort(host, port)
	network := "tcp"
	if a, err := netip.ParseAddr(host); err == nil && a.Is4() {
		network = "tcp4" // else 0.0.0.0 would be every address of IPv6 too
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, network, at)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("address %s: %w", at, ErrAddressInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", at, err)
	}
	return l, nil
}

// HostPort takes an address apart. Without a host it is 127.0.0.1.
func HostPort(address string) (host, port string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "", address
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return host, port
}

// OnlyHere tells whether nobody but this machine can reach an address that is
// listened at.
func OnlyHere(at net.Addr) bool {
	a, err := netip.ParseAddrPort(at.String())
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// Guard keeps web pages away from what is served over TCP. Host must name this
// machine, so that a page cannot come in under a name of its own that it points
// here (DNS rebinding): localhost, 127.0.0.1, [::1] or the host that was
// configured, with any port. Where that is every address (0.0.0.0, [::]), the one
// that a request came to counts too. A browser's request is let in only from a page
// of the same host, which gets the CORS headers that it needs. What is not let in
// goes to refuse, with 403 and a sentence.
func Guard(host string, refuse func(w http.ResponseWriter, r *http.Request, status int, why string), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Add("Vary", "Origin")
		name := hostOf(r.Host)
		if !isLocal(name) && name != strings.ToLower(host) && !cameTo(r, host, name) {
			refuse(w, r, http.StatusForbidden, "this address is not known here; use the one that the daemon says it listens at")
			return
		}
		origin := r.Header.Get("Origin")
		if origin == "" {
			// A browser leaves Origin out of some requests, but not this.
			if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" {
				refuse(w, r, http.StatusForbidden, "requests of other web pages are not answered")
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		from, err := url.Parse(origin)
		if err != nil || from.Scheme != "http" && from.Scheme != "https" || !sameHost(hostOf(from.Host), name) {
			refuse(w, r, http.StatusForbidden, "requests of other web pages are not answered")
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, X-Jivad-Memory")
			w.Header().Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf is a host without its port and brackets, in small letters.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return strings.ToLower(host)
}

func isLocal(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

func sameHost(a, b string) bool { return a == b || isLocal(a) && isLocal(b) }

// cameTo tells whether a name is the address at which a request arrived, where
// every address is listened at. A name that is a number cannot be pointed elsewhere.
func cameTo(r *http.Request, configured, name string) bool {
	every, err := netip.ParseAddr(configured)
	if err != nil || !every.IsUnspecified() {
		return false
	}
	named, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap() == named.Unmap()
}
