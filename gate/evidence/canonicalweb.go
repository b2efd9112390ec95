package evidence

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// web knows addresses of the web.
func web(id string) (string, bool) {
	u, ok := address(id)
	if !ok {
		return "", false
	}
	key := "https://" + u.host + u.path
	if u.query != "" {
		if u.path == "" {
			key += "/"
		}
		key += "?" + u.query
	}
	return key, true
}

// bare is an address without its scheme: a host with a dot in it, and a path.
var bare = regexp.MustCompile(`^(?:[\pL\pM\pN-]+[.。．｡])+(?i:[\pL\pM]{2,24}|xn--[a-z0-9-]{1,59})[.。．｡]?(?::[0-9]{1,5})?/[^\s@]*$`)

// place is an address in its one form; the path is escaped.
type place struct{ host, path, query string }

// address reads an address of the web and brings it to one form: no scheme, since http and
// https lead to the same; the host in lower case and punycode, without www and the default
// port; no name of a user; the path without dots, doubled and closing slashes, and what need
// not be escaped not escaped; the parameters sorted, without those that only tell where
// somebody came from; no fragment.
func address(id string) (place, bool) {
	if bare.MatchString(id) {
		id = "https://" + id
	}
	_, http := cutAny(id, "https://", "http://")
	if !http {
		return place{}, false
	}
	u, err := url.Parse(strings.ReplaceAll(id, " ", "%20"))
	if err != nil || u.Opaque != "" {
		return place{}, false
	}
	host, ok := hostOf(u.Hostname())
	if !ok {
		return place{}, false
	}
	if port := strings.TrimLeft(u.Port(), "0"); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	return place{host, pathOf(u.EscapedPath()), queryOf(u.RawQuery)}, true
}

// hostOf brings the name of a host, or its number, to one form.
func hostOf(host string) (string, bool) {
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil {
			return "", false
		}
		if a = a.Unmap().WithZone(""); a.Is4() {
			return a.String(), true
		}
		return "[" + a.String() + "]", true
	}
	host = strings.TrimRight(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = strings.TrimRight(ascii, ".") // other scripts have dots of their own
	} else if strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e || r <= ' ' || strings.ContainsRune(`"%/<>?@[\]^`+"`{|}#", r) }) {
		return "", false
	}
	if a, ok := numeric(host); ok {
		return a.String(), true
	}
	for strings.HasPrefix(host, "www.") && strings.Count(host, ".") > 1 {
		host = strings.TrimPrefix(host, "www.")
	}
	return host, host != ""
}

// numeric reads an IPv4 address as browsers do: one to four numbers, decimal, octal behind a 0
// or hexadecimal behind 0x, the last of which fills what is left.
func numeric(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var bytes [4]byte
	for i, part := range parts {
		if strings.ContainsAny(part, "_+-") {
			return netip.Addr{}, false
		}
		if len(part) > 1 && part[0] == '0' && strings.Trim(part, "01234567") == "" {
			part = "0o" + part[1:]
		}
		n, err := strconv.ParseUint(part, 0, 32)
		left := uint64(1)
		if i == len(parts)-1 {
			left = uint64(4 - i)
		}
		if err != nil || n >= 1<<(8*left) || strings.HasPrefix(part, "0b") {
			return netip.Addr{}, false
		}
		for j := range left {
			bytes[uint64(i)+j] = byte(n >> (8 * (left - 1 - j)))
		}
	}
	return netip.AddrFrom4(bytes), true
}

// pathOf leaves out what a path does not need: it begins with a slash and ends with none,
// or is empty.
func pathOf(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		part = unescaped(part)
		switch part {
		case "", ".":
		case "..":
			parts = parts[:max(0, len(parts)-1)]
		default:
			parts = append(parts, url.PathEscape(part))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "/" + strings.Join(parts, "/")
}

// tracking are parameters that tell where somebody came from, and not where they went.
var tracking = []string{
	"fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "mc_cid", "mc_eid", "ref_src", "_ga", "_gl", "si", "spm", "vero_id", "mkt_tok",
}

func queryOf(query string) string {
	var out []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, given := strings.Cut(pair, "=")
		name, value = unescaped(strings.ReplaceAll(name, "+", " ")), unescaped(strings.ReplaceAll(value, "+", " "))
		lower := strings.ToLower(name)
		if pair == "" || strings.HasPrefix(lower, "utm_") || slices.Contains(tracking, lower) {
			continue
		}
		escaped := url.QueryEscape(name)
		if given {
			escaped += "=" + url.QueryEscape(value)
		}
		out = append(out, escaped)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "&")
}

// unescaped is text without percent signs, or as it is where they make no sense.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// located reads an address, which may come without its scheme.
func located(id string) (place, bool) {
	if !strings.Contains(id, "://") {
		id = "https://" + id
	}
	return address(id)
}

// onSite gives the path of an address, without its first slash, where it is on one of the
// hosts. An address may come without its scheme there.
func onSite(id string, hosts ...string) (string, bool) {
	u, ok := located(id)
	if !ok || !slices.Contains(hosts, u.host) {
		return "", false
	}
	return unescaped(strings.TrimPrefix(u.path, "/")), true
}
