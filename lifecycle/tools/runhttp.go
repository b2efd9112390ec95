package tools

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// answerHeadBytes bounds the head of an answer.
const answerHeadBytes = 64 << 10

// http sends one request and reads the answer.
func (r *Runner) http(ctx context.Context, act *Act) (Result, error) {
	d := act.tool.declaration.HTTP
	request, err := http.NewRequestWithContext(ctx, d.Method, act.address.String(), strings.NewReader(act.body))
	if err != nil {
		return Result{}, failed(act.Tool(), ErrStart, nil)
	}
	request.Header.Set("User-Agent", "jivad")
	if act.body == "" {
		request.Body, request.GetBody, request.ContentLength = nil, nil, 0
	} else {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range d.Header {
		request.Header.Set(name, value)
	}
	client := &http.Client{Transport: r.transport(act.tool.hosts), CheckRedirect: noRedirect}
	answer, err := client.Do(request)
	if err != nil {
		return Result{}, requestError(ctx, act.Tool(), err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, int64(d.OutputLimit)+1))
	result := Result{Status: answer.StatusCode}
	result.Text, result.Truncated = bounded(data, d.OutputLimit)
	if err != nil {
		return result, requestError(ctx, act.Tool(), err)
	}
	result.OK = answer.StatusCode >= 200 && answer.StatusCode < 300
	return result, nil
}

// transport speaks to the addresses that a tool may speak to, directly and once.
func (r *Runner) transport(list hosts) *http.Transport {
	var resolver Resolver = net.DefaultResolver
	if r.Resolver != nil {
		resolver = r.Resolver
	}
	return &http.Transport{
		Proxy: nil, // whatever the environment says
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, resolver, list, address)
		},
		TLSClientConfig:        &tls.Config{RootCAs: r.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: answerHeadBytes,
	}
}

// dial connects to one of the addresses of a host that the tool may speak to. What was
// looked at is what is connected to: the name is looked up once.
func dial(ctx context.Context, resolver Resolver, list hosts, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var addresses []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		addresses = []netip.Addr{ip}
	} else if addresses, err = resolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	failure := error(ErrHost)
	for _, ip := range addresses {
		if !list.reaches(ip, port) {
			continue
		}
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(ip.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		failure = err
	}
	return nil, failure
}

// noRedirect follows no answer to another place: what a life was permitted is one request.
func noRedirect(*http.Request, []*http.Request) error { return ErrRedirect }

// requestError tells what became of a request without its address.
func requestError(ctx context.Context, tool string, err error) error {
	switch {
	case errors.Is(err, ErrHost):
		return failed(tool, ErrHost, nil)
	case errors.Is(err, ErrRedirect):
		return failed(tool, ErrRedirect, nil)
	case ctx.Err() != nil:
		return ended(ctx, tool)
	}
	return failed(tool, ErrUnreachable, err)
}
