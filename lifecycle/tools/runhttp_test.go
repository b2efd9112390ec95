package tools_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jivad/jivad/lifecycle/tools"
)

// names resolves hosts as a test says.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if n[host] == "" {
		return nil, errors.New("no such host: CANARY")
	}
	var out []netip.Addr
	for _, text := range strings.Fields(n[host]) {
		out = append(out, netip.MustParseAddr(text))
	}
	return out, nil
}

// server answers and counts.
func server(t testing.TB, h http.HandlerFunc) (address string, hits *atomic.Int32) {
	t.Helper()
	hits = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), hits
}

func port(address string) string {
	_, p, err := net.SplitHostPort(address)
	if err != nil {
		panic(err)
	}
	return p
}

// fetcher is a tool that sends a request.
func fetcher(t testing.TB, url, hosts, more string) *tools.Set {
	t.Helper()
	return born(t, fmt.Sprintf(`
[[tools]]
name = "fetch"
description = "x"
consequence = "low"
arguments = {type = "object", properties = {v = {type = "string", default = "x"}}}
[tools.http]
url = %q
hosts = [%s]
%s`, url, hosts, more))
}

func fetch(t testing.TB, r tools.Runner, set *tools.Set, arguments string) (tools.Result, error) {
	t.Helper()
	return r.Run(context.Background(), permitted(t, set, "fetch", arguments))
}

func quote(list ...string) string { return `"` + strings.Join(list, `", "`) + `"` }

func TestRequest(t *testing.T) {
	address, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %q %s", r.Method, r.RequestURI, r.Header.Get("X-Key"), r.Header.Get("Content-Type"), body, r.Header.Get("User-Agent"))
	})
	set := fetcher(t, "http://"+address+"/a/{{v}}?q={{v}}", quote(address), `header = {X-Key = "k"}`)
	for v, want := range map[string]string{
		"x":               `GET /a/x?q=x k  "" jivad`,
		"a/b?c=d&e#f g+h": `GET /a/a%2Fb%3Fc=d&e%23f%20g+h?q=a%2Fb%3Fc%3Dd%26e%23f+g%2Bh k  "" jivad`,
		"{{v}}":           `GET /a/%7B%7Bv%7D%7D?q=%7B%7Bv%7D%7D k  "" jivad`,
		"%2e%2e":          `GET /a/%252e%252e?q=%252e%252e k  "" jivad`,
		"a\r\nX-Key: b":   `GET /a/a%0D%0AX-Key:%20b?q=a%0D%0AX-Key%3A+b k  "" jivad`,
	} {
		result, err := fetch(t, tools.Runner{}, set, object("v", v))
		if err != nil || !result.OK || result.Status != 200 || result.Text != want {
			t.Errorf("%q: %+v, %v; want %s", v, result, err, want)
		}
	}
	set = fetcher(t, "http://"+address+"/", quote(address), "method = \"PUT\"\nbody = '{\"t\": \"a {{v}}\", \"v\": {{v}}}'")
	result, err := fetch(t, tools.Runner{}, set, object("v", `","x":"`))
	if want := `PUT /  application/json "{\"t\": \"a \\\",\\\"x\\\":\\\"\", \"v\": \"\\\",\\\"x\\\":\\\"\"}" jivad`; err != nil || result.Text != want {
		t.Errorf("%+v, %v; want %s", result, err, want)
	}
}

func TestAnswerThatIsNoSuccess(t *testing.T) {
	address, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", http.StatusServiceUnavailable) })
	result, err := fetch(t, tools.Runner{}, fetcher(t, "http://"+address+"/", quote(address), ""), "{}")
	if err != nil || result.OK || result.Status != http.StatusServiceUnavailable || result.Text != "broken\n" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	address, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 10000 {
			if _, err := io.WriteString(w, "é\xff0123456789"); err != nil {
				return
			}
		}
	})
	result, err := fetch(t, tools.Runner{}, fetcher(t, "http://"+address+"/", quote(address), "output_limit = 50"), "{}")
	if err != nil || !result.Truncated || len(result.Text) > 50 || !strings.HasPrefix(result.Text, "é\ufffd0123456789é") {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestHostOfAVariable(t *testing.T) {
	address, hits := server(t, func(w http.ResponseWriter, _ *http.Request) {})
	set := fetcher(t, "http://{{v}}.example.org:"+port(address)+"/", quote("*.example.org:"+port(address), "127.0.0.1:"+port(address)), "")
	r := tools.Runner{Resolver: names{"a.example.org": "127.0.0.1"}}
	if result, err := fetch(t, r, set, object("v", "A")); err != nil || !result.OK {
		t.Errorf("%+v, %v", result, err)
	}
	whole := fetcher(t, "http://{{v}}:"+port(address)+"/", quote("a.example.org:"+port(address)), "")
	for _, v := range []string{"b.example.org", "127.0.0.1", "localhost", "a.example.org.evil.example", "2130706433", "0x7f.1"} {
		refused(t, ask(t, whole, "fetch", object("v", v)), tools.Unusable)
	}
	permitted(t, whole, "fetch", object("v", "a.example.org"))
	if hits.Load() != 1 {
		t.Errorf("%d requests", hits.Load())
	}
}

// A name that leads to a private address is not spoken to, though the name is allowed;
// it is where the address is in the list as well.
func TestNameThatLeadsInside(t *testing.T) {
	address, hits := server(t, func(w http.ResponseWriter, _ *http.Request) {})
	url, name := "http://out.example:"+port(address)+"/", "out.example:"+port(address)
	for _, inside := range []string{"127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "0.0.0.0"} {
		r := tools.Runner{Resolver: names{"out.example": inside}}
		_, err := fetch(t, r, fetcher(t, url, quote(name), ""), "{}")
		isRunError(t, err, tools.ErrHost)
	}
	r := tools.Runner{Resolver: names{"out.example": "127.0.0.1"}}
	_, err := fetch(t, r, fetcher(t, url, quote(name, "127.0.0.1"), ""), "{}") // of another port
	isRunError(t, err, tools.ErrHost)
	_, err = fetch(t, r, fetcher(t, url, quote(name, "127.0.0.2:"+port(address)), ""), "{}")
	isRunError(t, err, tools.ErrHost)
	if hits.Load() != 0 {
		t.Fatalf("%d requests went inside", hits.Load())
	}
	r.Resolver = names{"out.example": "10.1.2.3 127.0.0.1"}
	result, err := fetch(t, r, fetcher(t, url, quote(name, "127.0.0.1:"+port(address)), ""), "{}")
	if err != nil || !result.OK {
		t.Errorf("an address in the list: %+v, %v", result, err)
	}
}

func TestNameThatIsNotThere(t *testing.T) {
	_, err := fetch(t, tools.Runner{Resolver: names{}}, fetcher(t, "http://canary.example/", quote("canary.example"), ""), "{}")
	isRunError(t, err, tools.ErrUnreachable)
}

// An answer that leads elsewhere is not followed, not to the same server either.
func TestRedirects(t *testing.T) {
	other, otherHits := server(t, func(w http.ResponseWriter, _ *http.Request) {})
	var address string
	address, hits := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/slash":
			http.Redirect(w, r, "/slash/", http.StatusMovedPermanently)
		case "/query":
			http.Redirect(w, r, "?a=b", http.StatusPermanentRedirect)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		case "/other":
			http.Redirect(w, r, "http://"+other+"/CANARY", http.StatusTemporaryRedirect)
		case "/name":
			http.Redirect(w, r, "http://localhost:"+port(address)+"/there", http.StatusFound)
		case "/scheme":
			http.Redirect(w, r, "https://"+address+"/there", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://me:CANARY@"+address+"/there", http.StatusFound)
		case "/file":
			w.Header().Set("Location", "file:///etc/hostname")
			w.WriteHeader(http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/there":
			io.WriteString(w, "there")
		}
	})
	get := func(path, more string) (tools.Result, error) {
		// The other server is in the list; an answer may not lead there even so.
		return fetch(t, tools.Runner{}, fetcher(t, "http://"+address+path, quote(address, other, "localhost:"+port(address)), more), "{}")
	}
	for _, path := range []string{"/here", "/slash", "/query", "/other", "/name", "/scheme", "/user", "/file", "/loop"} {
		before := hits.Load()
		_, err := get(path, "")
		isRunError(t, err, tools.ErrRedirect)
		if hits.Load() != before+1 {
			t.Errorf("%s: %d requests", path, hits.Load()-before)
		}
	}
	if result, err := get("/nowhere", ""); err != nil || result.OK {
		t.Errorf("an answer that leads nowhere: %+v, %v", result, err)
	}
	if otherHits.Load() != 0 {
		t.Error("an answer led elsewhere")
	}
	before := hits.Load()
	_, err := get("/here", "method = \"POST\"\nbody = '1'")
	isRunError(t, err, tools.ErrRedirect)
	if hits.Load() != before+1 {
		t.Error("what changes something was sent again")
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	proxy, proxyHits := server(t, func(w http.ResponseWriter, _ *http.Request) {})
	address, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "direct") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://"+proxy)
	}
	r := tools.Runner{Resolver: names{"out.example": "127.0.0.1"}}
	set := fetcher(t, "http://out.example:"+port(address)+"/", quote("out.example:"+port(address), "127.0.0.1:"+port(address)), "")
	if result, err := fetch(t, r, set, "{}"); err != nil || result.Text != "direct" || proxyHits.Load() != 0 {
		t.Errorf("%+v, %v, %d requests to the proxy", result, err, proxyHits.Load())
	}
}

func TestTrustedServer(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "safe") }))
	s.Config.ErrorLog = nil
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "https://")
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	r := tools.Runner{Resolver: names{"example.com": "127.0.0.1", "other.example": "127.0.0.1"}, Roots: roots}
	of := func(name string) *tools.Set {
		return fetcher(t, "https://"+name+":"+port(address)+"/", quote(name+":"+port(address), "127.0.0.1:"+port(address)), "")
	}
	if result, err := fetch(t, r, of("example.com"), "{}"); err != nil || result.Text != "safe" {
		t.Errorf("%+v, %v", result, err)
	}
	_, err := fetch(t, r, of("other.example"), "{}") // it has no certificate of that name
	isRunError(t, err, tools.ErrUnreachable)
	r.Roots = nil
	_, err = fetch(t, r, of("example.com"), "{}")
	isRunError(t, err, tools.ErrUnreachable)
}

func TestServerThatTakesTooLong(t *testing.T) {
	end := make(chan struct{})
	address, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/part" {
			io.WriteString(w, "part")
			w.(http.Flusher).Flush()
		}
		<-end
	})
	defer close(end)
	for path, want := range map[string]string{"/none": "", "/part": "part"} {
		result, err := fetch(t, tools.Runner{}, fetcher(t, "http://"+address+path, quote(address), `time_limit = "500ms"`), "{}")
		isRunError(t, err, tools.ErrTimeLimit)
		if result.Text != want || result.OK {
			t.Errorf("%s: %+v", path, result)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r := tools.Runner{}
	_, err := r.Run(ctx, permitted(t, fetcher(t, "http://"+address+"/none", quote(address), ""), "fetch", "{}"))
	isRunError(t, err, tools.ErrStopped)
}
