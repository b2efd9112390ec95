package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestListenTCP(t *testing.T) {
	for address, host := range map[string]string{"0": "127.0.0.1", ":0": "127.0.0.1", "localhost:0": "", "127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "0.0.0.0"} {
		l, err := ListenTCP(t.Context(), address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		got, _, _ := net.SplitHostPort(l.Addr().String())
		if host != "" && got != host {
			t.Errorf("%s: listens at %s, want %s", address, l.Addr(), host)
		}
		if OnlyHere(l.Addr()) != (address != "0.0.0.0:0") {
			t.Errorf("%s: only here: %v", address, OnlyHere(l.Addr()))
		}
		if _, err := ListenTCP(t.Context(), l.Addr().String()); !errors.Is(err, ErrAddressInUse) || !strings.Contains(err.Error(), l.Addr().String()) {
			t.Errorf("%s a second time: %v, want ErrAddressInUse that names it", address, err)
		}
		_ = l.Close()
	}
	for _, address := range []string{"", "x", "65536", "-1", "127.0.0.1:http", "127.0.0.1"} {
		if l, err := ListenTCP(t.Context(), address); err == nil {
			t.Errorf("%q: listens at %s", address, l.Addr())
			_ = l.Close()
		}
	}
}

func TestGuard(t *testing.T) {
	at := &net.TCPAddr{IP: net.ParseIP("192.168.1.5"), Port: 11435}
	for _, tc := range []struct {
		name, configured, host, origin, site string
		want                                 bool
	}{
		{"loopback", "127.0.0.1", "127.0.0.1:11435", "", "", true},
		{"loopback, another port", "127.0.0.1", "127.0.0.1:9", "", "", true},
		{"localhost", "127.0.0.1", "LOCALHOST:11435", "", "", true},
		{"localhost without port", "127.0.0.1", "localhost", "", "", true},
		{"IPv6", "127.0.0.1", "[::1]:11435", "", "", true},
		{"IPv6 without port", "127.0.0.1", "[::1]", "", "", true},
		{"configured", "pi.lan", "pi.lan:11435", "", "", true},
		{"configured, capitals", "Pi.lan", "pi.LAN", "", "", true},
		{"a name that points here", "127.0.0.1", "evil.example:11435", "", "", false},
		{"a name that begins like one of ours", "127.0.0.1", "localhost.evil.example", "", "", false},
		{"a name that ends like one of ours", "127.0.0.1", "evil-localhost", "", "", false},
		{"no name", "127.0.0.1", "", "", "", false},
		{"the network's address, not configured", "127.0.0.1", "192.168.1.5:11435", "", "", false},
		{"the network's address, everywhere", "0.0.0.0", "192.168.1.5:11435", "", "", true},
		{"the network's address, everywhere (IPv6)", "::", "192.168.1.5:11435", "", "", true},
		{"another address, everywhere", "0.0.0.0", "192.168.1.6:11435", "", "", false},
		{"a name, everywhere", "0.0.0.0", "evil.example", "", "", false},

		{"page of the same host", "127.0.0.1", "localhost:11435", "http://localhost:3000", "same-site", true},
		{"page of this machine by its other name", "127.0.0.1", "127.0.0.1:11435", "http://localhost:3000", "", true},
		{"page of the configured host", "pi.lan", "pi.lan:11435", "https://pi.lan", "", true},
		{"page of another", "127.0.0.1", "localhost:11435", "https://evil.example", "cross-site", false},
		{"page of another, named like us", "127.0.0.1", "localhost:11435", "http://localhost.evil.example", "", false},
		{"page of this machine, to the configured host", "pi.lan", "pi.lan", "http://localhost", "", false},
		{"a file", "127.0.0.1", "localhost", "null", "", false},
		{"another scheme", "127.0.0.1", "localhost", "app://localhost", "", false},
		{"not an address", "127.0.0.1", "localhost", "http://[", "", false},
		{"page of another, no origin", "127.0.0.1", "localhost", "", "cross-site", false},
		{"typed by a person", "127.0.0.1", "localhost", "", "none", true},
	} {
		for _, method := range []string{http.MethodPost, http.MethodOptions} {
			came, refused := false, 0
			h := Guard(tc.configured, func(w http.ResponseWriter, _ *http.Request, status int, why string) {
				refused = status
				http.Error(w, why, status)
			}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came = true }))
			r := httptest.NewRequest(method, "/api/chat", nil)
			r.Host = tc.host
			r = r.WithContext(contextWith(r, at))
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			if tc.site != "" {
				r.Header.Set("Sec-Fetch-Site", tc.site)
			}
			preflight := method == http.MethodOptions && tc.origin != ""
			if preflight {
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if came != (tc.want && !preflight) || (refused == 403) == tc.want {
				t.Errorf("%s, %s: let in %v, refused %d, want %v", tc.name, method, came, refused, tc.want)
			}
			allowed := w.Header().Get("Access-Control-Allow-Origin")
			if want := map[bool]string{true: tc.origin}[tc.want]; allowed != want {
				t.Errorf("%s, %s: allows the origin %q, want %q", tc.name, method, allowed, want)
			}
			if preflight && tc.want && (w.Code != http.StatusNoContent || !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Content-Type")) {
				t.Errorf("%s: preflight %d %v", tc.name, w.Code, w.Header())
			}
		}
	}
}

func contextWith(r *http.Request, local net.Addr) context.Context {
	return context.WithValue(r.Context(), http.LocalAddrContextKey, local)
}
