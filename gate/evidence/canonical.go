package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// CanonicalRoot gives one key for all forms in which one thing is named. It is total: what
// it does not know comes to a key of its own, always the same, and a key comes to itself.
//
// Known are: commits, branches and tags on GitHub, in any of the addresses that lead to
// one; addresses on the web; DOI, ISBN and arXiv numbers; digests of files; sensors and
// MQTT topics with their device, each with the window of an observation. Whatever lies in a
// commit is one with it: a file of it, its archive, its patch. A branch or a tag is no
// commit, since it moves. Versions of a paper are one paper. Source: seed 003, section 7 as
// amended.
func CanonicalRoot(id string) string {
	id = clean(id)
	for _, form := range []func(string) (string, bool){opaqueKey, github, paper, book, digest, sensor, web} {
		if key, ok := form(id); ok && clean(key) == key { // what was escaped may have been no text
			return key
		}
	}
	// Of words neither case matters, nor a mark at an end, nor the kind of blank.
	return opaque(strings.ToLower(strings.Trim(id, " .!?;:,\"'“”„«»")))
}

// clean brings a text to one form: NFC, no blanks around or doubled, nothing that cannot
// be seen.
func clean(id string) string {
	id = norm.NFC.String(strings.ToValidUTF8(id, "\uFFFD"))
	id = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == '\u034f' || unicode.Is(unicode.Cc, r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, id)
	return norm.NFC.String(strings.Join(strings.Fields(id), " "))
}

const opaqueHead = "opaque:"

// opaque is the key of what has no form that is known.
func opaque(id string) string {
	sum := sha256.Sum256([]byte(id))
	return opaqueHead + hex.EncodeToString(sum[:])
}

func opaqueKey(id string) (string, bool) {
	rest, ok := strings.CutPrefix(id, opaqueHead)
	return id, ok && len(rest) == 2*sha256.Size && isHex(rest) && rest == strings.ToLower(rest)
}

// isHex tells of text that is hexadecimal digits and not empty.
func isHex(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }) < 0
}

// cutFold cuts a beginning off, whatever its case.
func cutFold(s, head string) (string, bool) {
	if len(s) < len(head) || !strings.EqualFold(s[:len(head)], head) {
		return s, false
	}
	return s[len(head):], true
}

// cutAny cuts off the first of the heads that fits.
func cutAny(s string, heads ...string) (string, bool) {
	for _, head := range heads {
		if rest, ok := cutFold(s, head); ok {
			return rest, true
		}
	}
	return s, false
}

// paper knows DOI and arXiv numbers.
func paper(id string) (string, bool) {
	rest, isArxiv := cutAny(id, "arxiv:", "urn:arxiv:", "arxiv ")
	if at, ok := onSite(id, "arxiv.org", "export.arxiv.org"); ok {
		rest, isArxiv = cutAny(at, "abs/", "pdf/", "html/", "format/")
	}
	if isArxiv {
		return arxiv(rest)
	}
	rest, isDOI := cutAny(id, "doi:", "urn:doi:", "info:doi/", "doi ")
	if at, ok := onSite(id, "doi.org", "dx.doi.org"); ok {
		rest, isDOI = unescaped(at), true
	} else if !isDOI && strings.HasPrefix(id, "10.") {
		rest, isDOI = id, true
	}
	rest = strings.ToLower(strings.Trim(rest, " /"))
	registrant, suffix, found := strings.Cut(rest, "/")
	if !isDOI || !found || suffix == "" || strings.Contains(rest, " ") || !isDOIRegistrant(registrant) {
		return "", false
	}
	if number, ok := strings.CutPrefix(rest, "10.48550/arxiv."); ok {
		if key, ok := arxiv(number); ok {
			return key, true
		}
	}
	return "doi:" + rest, true
}

func isDOIRegistrant(s string) bool {
	rest, ok := strings.CutPrefix(s, "10.")
	return ok && rest != "" && strings.Trim(rest, "0123456789.") == ""
}

// arxiv knows 2101.00001 and hep-th/9901001, with a version or without.
func arxiv(number string) (string, bool) {
	number = strings.ToLower(strings.Trim(number, " /"))
	number, _, _ = strings.Cut(number, "?")
	number, _, _ = strings.Cut(number, "#")
	number = strings.TrimSuffix(number, ".pdf")
	if at := strings.LastIndex(number, "v"); at > 0 && at < len(number)-1 && strings.Trim(number[at+1:], "0123456789") == "" {
		number = number[:at]
	}
	archive, digits, old := strings.Cut(number, "/")
	if old {
		archive, _, _ = strings.Cut(archive, ".") // math.GT is math
		if len(digits) != 7 || strings.Trim(digits, "0123456789") != "" || archive == "" || strings.Trim(archive, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return "", false
		}
		return "arxiv:" + archive + "/" + digits, true
	}
	month, serial, _ := strings.Cut(number, ".")
	if len(month) != 4 || len(serial) < 4 || len(serial) > 5 || strings.Trim(month+serial, "0123456789") != "" {
		return "", false
	}
	return "arxiv:" + number, true
}

// book knows an ISBN of 10 or 13 digits whose check digit fits.
func book(id string) (string, bool) {
	rest, named := cutAny(id, "isbn-13:", "isbn-10:", "urn:isbn:", "isbn:", "isbn-13 ", "isbn-10 ", "isbn ")
	if !named {
		return "", false
	}
	number := strings.ToUpper(strings.NewReplacer("-", "", " ", "", "\u2010", "", "\u2011", "", "\u2013", "").Replace(rest))
	switch len(number) {
	case 10:
		sum := 0
		for i, r := range number {
			digit := strings.IndexRune("0123456789X", r)
			if digit < 0 || digit == 10 && i < 9 {
				return "", false
			}
			sum += (10 - i) * digit
		}
		if sum%11 != 0 {
			return "", false
		}
		number = "978" + number[:9]
		return "isbn:" + number + checkDigit(number), true
	case 13:
		if strings.Trim(number, "0123456789") != "" || number[12:] != checkDigit(number[:12]) {
			return "", false
		}
		return "isbn:" + number, true
	}
	return "", false
}

// checkDigit is the thirteenth of an ISBN.
func checkDigit(twelve string) string {
	sum := 0
	for i, r := range twelve {
		sum += (1 + 2*(i%2)) * int(r-'0')
	}
	return string(rune('0' + (10-sum%10)%10))
}

// digest knows the digest of a file.
func digest(id string) (string, bool) {
	rest, _ := cutAny(id, "file:", "urn:")
	for name, size := range map[string]int{"sha256": 64, "sha512": 128, "blake3": 64} {
		for _, between := range []string{":", "-"} {
			if text, ok := cutFold(rest, name+between); ok && len(text) == size && isHex(text) {
				return name + ":" + strings.ToLower(text), true
			}
		}
	}
	return "", false
}

// sensor knows sensor:NAME and mqtt:TOPIC@DEVICE, each with the window of the observation
// behind it, "#BEGIN+LENGTH", or without; see [SensorRoot] and [TopicRoot].
func sensor(id string) (string, bool) {
	for _, kind := range []string{"sensor:", "mqtt:"} {
		rest, ok := cutFold(id, kind)
		if !ok {
			continue
		}
		name, window := strings.Trim(rest, " /"), ""
		if at := strings.LastIndex(name, "#"); at >= 0 && isWindow(name[at+1:]) {
			window = name[at:]
		}
		name, _, _ = strings.Cut(name, "#") // what is no window is no name either
		if name = strings.TrimRight(name, " /"); kind == "sensor:" {
			name = strings.ToLower(name)
		}
		if kind == "mqtt:" {
			topic, device := name, ""
			if at := strings.LastIndex(name, "@"); at >= 0 {
				topic, device = strings.Trim(name[:at], " /"), strings.Trim(name[at+1:], " /")
			}
			name = topic + "@" + device
			ok = topic != ""
		}
		if !ok || name == "" {
			return "", false
		}
		return kind + name + window, true
	}
	return "", false
}

// isWindow tells of two whole numbers with a plus between, in their shortest form.
func isWindow(s string) bool {
	begin, length, found := strings.Cut(s, "+")
	whole := func(n string) bool {
		return n != "" && len(n) <= 18 && strings.Trim(n, "0123456789") == "" && (n == "0" || n[0] != '0')
	}
	return found && whole(strings.TrimPrefix(begin, "-")) && whole(length)
}

// withoutBeginnings leaves out of sorted keys the commits that are the beginning of
// another one of the same repository, or have one that is: by a beginning alone they cannot
// be told apart.
func withoutBeginnings(keys []string) []string {
	var out []string
	for i, key := range keys {
		// What begins with it stands right behind it.
		if isCommitKey(key) && i+1 < len(keys) && strings.HasPrefix(keys[i+1], key) {
			continue
		}
		out = append(out, key)
	}
	return slices.Clip(out)
}
