package tools

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place is where in an address a part of its template stands.
type place int

const (
	inHost place = iota
	inPath
	inQuery
)

// addressTemplate is the template of a URL.
type addressTemplate struct {
	scheme string
	parts  template
	places []place
}

var (
	errScheme   = errors.New("it does not begin with http:// or https://")
	errFragment = errors.New(`it holds a "#" or a user's name`)
	errPort     = errors.New("a variable stands in its port")
	errAddress  = errors.New("with its variables filled in it is no address")
)

// parseAddress reads the template of a URL.
func parseAddress(text string) (addressTemplate, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || scheme != "http" && scheme != "https" {
		return addressTemplate{}, errScheme
	}
	t, err := parse(rest)
	if err != nil {
		return addressTemplate{}, err
	}
	a := addressTemplate{scheme: scheme}
	at, port, sample := inHost, false, map[string]any{}
	for _, p := range t {
		if p.variable != "" {
			if at == inHost && port {
				return addressTemplate{}, errPort
			}
			sample[p.variable] = "x"
			a.parts, a.places = append(a.parts, p), append(a.places, at)
			continue
		}
		text, begin := p.text, 0
		cut := func(i int, next place) {
			if i > begin {
				a.parts, a.places = append(a.parts, part{text: text[begin:i]}), append(a.places, at)
			}
			begin, at = i, next
		}
		for i, c := range []byte(text) {
			switch {
			case c == '#' || c == '@' && at == inHost:
				return addressTemplate{}, errFragment
			case c <= ' ' || c >= 0x7f || c == '\\':
				return addressTemplate{}, errAddress
			case c == ':' && at == inHost:
				port = true
			case c == '/' && at == inHost:
				cut(i, inPath)
			case c == '?' && at != inQuery:
				cut(i, inQuery)
			}
		}
		cut(len(text), at)
	}
	if _, wrong := a.fill(sample); wrong != nil {
		return addressTemplate{}, errAddress
	}
	return a, nil
}

// variableHost tells whether a variable stands in the host.
func (a addressTemplate) variableHost() bool {
	for i, p := range a.parts {
		if p.variable != "" && a.places[i] == inHost {
			return true
		}
	}
	return false
}

var (
	hostValue = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	hostForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
)

// fill makes an address. Each value is escaped for its place.
func (a addressTemplate) fill(values map[string]any) (*url.URL, *misfit) {
	i := -1
	text, wrong := a.parts.fill(values, func(p part, _ string, value any) (string, string) {
		for i++; a.parts[i].variable == ""; i++ {
		}
		text, ok := scalarText(value)
		if !ok {
			return "", notScalar
		}
		if strings.ContainsRune(text, 0) {
			return "", "holds the character zero"
		}
		switch a.places[i] {
		case inHost:
			if len(text) > 253 || !hostValue.MatchString(text) {
				return "", "is no part of a host's name"
			}
			return strings.ToLower(text), ""
		case inPath:
			if text == "" || climbs(text, `/\`) {
				return "", `is empty, or has "." or ".." as a step`
			}
			return url.PathEscape(text), ""
		}
		return url.QueryEscape(text), ""
	})
	if wrong != nil {
		return nil, wrong
	}
	none := &misfit{says: "the arguments together make no address"}
	u, err := url.Parse(a.scheme + "://" + text)
	if err != nil || u.Scheme != a.scheme || u.User != nil || u.Opaque != "" || u.Fragment != "" || hostOf(u) == "" {
		return nil, none
	}
	for _, step := range strings.Split(u.EscapedPath(), "/") {
		if plain, err := url.PathUnescape(step); err != nil || plain == "." || plain == ".." {
			return nil, none
		}
	}
	return u, nil
}

// hostOf is "name:port" of an address, the port always there and an IP address in its
// usual form; empty where the host is none.
func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return ""
		}
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return ""
	}
	name := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(name); err == nil {
		if ip.Zone() != "" {
			return ""
		}
		return net.JoinHostPort(ip.Unmap().String(), port)
	}
	if len(name) > 253 || !hostForm.MatchString(name) {
		return ""
	}
	return net.JoinHostPort(name, port)
}

// allowed is one entry of a list of hosts.
type allowed struct {
	name   string // of the host, or behind "*."
	below  bool   // what is below the name, not the name itself
	ip     netip.Addr
	port   string // empty: that of the scheme
	scheme string
}

// parseHost reads "host", "host:port", "*.domain", an IPv4 address, or an IPv6 address
// in brackets where a port follows.
func parseHost(text, scheme string) (allowed, bool) {
	a := allowed{name: text, scheme: scheme}
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		a.ip, a.name = ip.Unmap(), ip.Unmap().String()
		return a, true
	}
	if host, port, err := net.SplitHostPort(text); err == nil {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
			return a, false
		}
		a.name, a.port = host, port
	}
	if ip, err := netip.ParseAddr(a.name); err == nil && ip.Zone() == "" {
		a.ip, a.name = ip.Unmap(), ip.Unmap().String()
		return a, true
	}
	a.name, a.below = strings.CutPrefix(a.name, "*.")
	return a, len(a.name) <= 253 && hostForm.MatchString(a.name)
}

func (a allowed) takesPort(port string) bool {
	if a.port != "" {
		return a.port == port
	}
	return port == map[string]string{"http": "80", "https": "443"}[a.scheme]
}

// hosts are those that a tool may speak to.
type hosts []allowed

// covers tells whether "name:port" is in the list.
func (h hosts) covers(nameAndPort string) bool {
	name, port, err := net.SplitHostPort(nameAndPort)
	return err == nil && slices.ContainsFunc(h, func(a allowed) bool {
		if a.below {
			_, err := netip.ParseAddr(name)
			return err != nil && strings.HasSuffix(name, "."+a.name) && a.takesPort(port)
		}
		return name == a.name && a.takesPort(port)
	})
}

// reaches tells whether an address may be connected to: a public one, or one that is
// itself in the list.
func (h hosts) reaches(ip netip.Addr, port string) bool {
	ip = ip.Unmap()
	return ip.IsValid() && ip.Zone() == "" && (public(ip) || slices.ContainsFunc(h, func(a allowed) bool {
		return a.ip == ip && a.takesPort(port)
	}))
}

// special are the blocks of addresses that are not one machine of the public internet,
// beyond what netip knows. Those that carry an IPv4 address inside are among them.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
}

// globalUnicast is the only block of IPv6 that public machines have; tunnels in it carry
// an IPv4 address inside.
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	tunnels       = []netip.Prefix{
		netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
	}
)

// public tells whether an address is one of the public internet.
func public(ip netip.Addr) bool {
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return false
	}
	in := func(p netip.Prefix) bool { return p.Contains(ip) }
	if ip.Is4() {
		return !slices.ContainsFunc(special, in)
	}
	return globalUnicast.Contains(ip) && !slices.ContainsFunc(tunnels, in)
}
