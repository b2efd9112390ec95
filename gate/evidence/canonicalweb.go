package evidence

import (
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
		return hextets(host)
	}
	host = strings.TrimRight(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = strings.TrimRight(ascii, ".") // other scripts have dots of their own
	} else if strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e || r <= ' ' || strings.ContainsRune(`"%/<>?@[\]^`+"`{|}#", r) }) {
		return "", false
	}
	if a, ok := numeric(host); ok {
		return a, true
	}
	for strings.HasPrefix(host, "www.") && strings.Count(host, ".") > 1 {
		host = strings.TrimPrefix(host, "www.")
	}
	return host, host != ""
}

// numeric reads an IPv4 address as browsers do: one to four numbers, decimal, octal behind a 0
// or hexadecimal behind 0x, the last of which fills what is left.
func numeric(host string) (string, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", false
	}
	var whole uint64
	for i, part := range parts {
		base := 10
		if digits, ok := strings.CutPrefix(part, "0x"); ok {
			part, base = digits, 16
		} else if len(part) > 1 && part[0] == '0' {
			base = 8
		}
		n, err := strconv.ParseUint(part, base, 32)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		if err != nil || part[0] == '+' || n >= 1<<bits {
			return "", false
		}
		whole = whole<<bits | n
	}
	return dotted(whole), true
}

// dotted writes an IPv4 address.
func dotted(n uint64) string {
	var out []string
	for shift := 24; shift >= 0; shift -= 8 {
		out = append(out, strconv.FormatUint(n>>shift&0xff, 10))
	}
	return strings.Join(out, ".")
}

// hextets reads an IPv6 address and writes it in its one form, in brackets: of eight groups
// the first longest run of zeros is left out. One that is an IPv4 address is that. A zone is no
// part of it.
func hextets(host string) (string, bool) {
	host, _, _ = strings.Cut(host, "%")
	if at := strings.LastIndexByte(host, ':'); strings.Contains(host[at+1:], ".") {
		if strings.Count(host[at+1:], ".") != 3 {
			return "", false
		}
		four, ok := numeric(host[at+1:])
		if !ok {
			return "", false
		}
		var n [4]uint64
		for i, part := range strings.Split(four, ".") {
			n[i], _ = strconv.ParseUint(part, 10, 8)
		}
		host = host[:at+1] + strconv.FormatUint(n[0]<<8|n[1], 16) + ":" + strconv.FormatUint(n[2]<<8|n[3], 16)
	}
	head, tail, short := strings.Cut(host, "::")
	left, right := groups(head), groups(tail)
	missing := 8 - len(left) - len(right)
	if short && missing < 1 {
		return "", false
	}
	if short {
		left = append(left, slices.Repeat([]string{"0"}, missing)...)
	}
	all := append(left, right...)
	if len(all) != 8 {
		return "", false
	}
	var n [8]uint64
	for i, g := range all {
		var err error
		if n[i], err = strconv.ParseUint(g, 16, 16); err != nil || len(g) > 4 {
			return "", false
		}
	}
	if [5]uint64(n[:5]) == [5]uint64{} && n[5] == 0xffff {
		return dotted(n[6]<<16 | n[7]), true
	}
	begin, longest := 0, 1
	for i := range n {
		run := 0
		for i+run < 8 && n[i+run] == 0 {
			run++
		}
		if run > longest {
			begin, longest = i, run
		}
	}
	write := func(part []uint64) string {
		var out []string
		for _, x := range part {
			out = append(out, strconv.FormatUint(x, 16))
		}
		return strings.Join(out, ":")
	}
	if longest < 2 {
		return "[" + write(n[:]) + "]", true
	}
	return "[" + write(n[:begin]) + "::" + write(n[begin+longest:]) + "]", true
}

// groups are those of a part of an IPv6 address.
func groups(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ":")
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
