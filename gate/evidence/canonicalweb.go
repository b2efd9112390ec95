package evidence

import (
	"net/url"
	"regexp"
	"slices"
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
var bare = regexp.MustCompile(`^(?i:[a-z0-9-]+\.)+(?i:[a-z]{2,24})/[^\s@]*$`)

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
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	return place{host, pathOf(u.EscapedPath()), queryOf(u.RawQuery)}, true
}

func hostOf(host string) (string, bool) {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if strings.Contains(host, ":") {
		return "[" + host + "]", true
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	} else if strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e || r <= ' ' || strings.ContainsRune(`"%/<>?@[\]^`+"`{|}#", r) }) {
		return "", false
	}
	for strings.HasPrefix(host, "www.") && strings.Count(host, ".") > 1 {
		host = strings.TrimPrefix(host, "www.")
	}
	return host, host != ""
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

// onSite gives the path of an address, without its first slash, where it is on one of the
// hosts. An address may come without its scheme there.
func onSite(id string, hosts ...string) (string, bool) {
	if !strings.Contains(id, "://") {
		id = "https://" + id
	}
	u, ok := address(id)
	if !ok || !slices.Contains(hosts, u.host) {
		return "", false
	}
	return unescaped(strings.TrimPrefix(u.path, "/")), true
}
