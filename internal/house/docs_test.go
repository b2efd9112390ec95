package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	link       = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6}\s+(.+?)\s*$`)
	fence      = regexp.MustCompile("(?ms)^```.*?^```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	makeCall   = regexp.MustCompile("(?m)(?:^|`)(?:\\$ )?make ([a-z0-9-]+)")
	makeTarget = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// markdown lists the documents; the sample diary is a person's text and not one of them.
func markdown(t *testing.T) []string {
	t.Helper()
	var docs []string
	for _, f := range tracked(t) {
		if path.Ext(f) == ".md" && !strings.HasPrefix(f, "internal/sample/diary/") && !strings.Contains(f, "/testdata/") {
			docs = append(docs, f)
		}
	}
	return docs
}

func TestLinksResolve(t *testing.T) {
	for _, doc := range markdown(t) {
		text := inlineCode.ReplaceAllString(fence.ReplaceAllString(read(t, doc), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			file := doc
			if target != "" {
				file = path.Join(path.Dir(doc), target)
			}
			info, err := os.Stat(filepath.Join(root(t), file))
			if err != nil {
				t.Errorf("%s links to %s, which is not there", doc, m[1])
				continue
			}
			if anchor != "" && !info.IsDir() && !slices.Contains(anchors(read(t, file)), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", doc, m[1], file)
			}
		}
	}
}

// anchors gives the names under which the headings of a document can be linked to.
func anchors(text string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		names = append(names, name)
	}
	return names
}

func TestAnchors(t *testing.T) {
	got := anchors("# One Thing\n\n## D-1: depth, kept `real`\n```\n# not a heading\n```\n")
	want := []string{"one-thing", "d-1-depth-kept-real"}
	if !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
}

// Every `make …` in a document must be something that make can do.
func TestDocumentedTargetsExist(t *testing.T) {
	var targets []string
	for _, m := range makeTarget.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets = append(targets, m[1])
	}
	named := 0
	for _, doc := range markdown(t) {
		for _, m := range makeCall.FindAllStringSubmatch(read(t, doc), -1) {
			named++
			if !slices.Contains(targets, m[1]) {
				t.Errorf("%s says `make %s`, which the Makefile does not have", doc, m[1])
			}
		}
	}
	if named == 0 {
		t.Skip("no document names a make target yet")
	}
}

// Every `jivad verb` at the start of a line of a document, or of a code span, is a verb of the command.
func TestDocumentedVerbsExist(t *testing.T) {
	call := regexp.MustCompile("(?m)(?:^|`|^sudo -u jivad )jivad (?:--[a-z]+ [^ \n]+ )*([a-z]+)\\b")
	use := regexp.MustCompile(`Use:\s+"([a-z]+)`)
	var verbs []string
	for _, f := range tracked(t) {
		if strings.HasPrefix(f, "cmd/jivad/") && path.Ext(f) == ".go" {
			for _, m := range use.FindAllStringSubmatch(read(t, f), -1) {
				verbs = append(verbs, m[1])
			}
		}
	}
	for _, doc := range markdown(t) {
		for _, fenced := range append(fence.FindAllString(read(t, doc), -1), inlineCode.FindAllString(read(t, doc), -1)...) {
			for _, m := range call.FindAllStringSubmatch(fenced, -1) {
				if !slices.Contains(verbs, m[1]) {
					t.Errorf("%s says `jivad %s`, which is no verb; there are %v", doc, m[1], verbs)
				}
			}
		}
	}
}
