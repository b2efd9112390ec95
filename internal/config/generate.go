package config

import (
	"fmt"
	"strings"
)

// Generate writes the file of a new companion: every key with what it is for
// and its default, commented out. set are keys that are written with a value of
// their own.
func Generate(set map[string]string) string {
	var out strings.Builder
	out.WriteString(`# Settings of one companion. jivad reads this file and never writes it.
# Every key is here with its default. To change one, take the # away.
# The environment goes before this file: diary.path is JIVAD_DIARY_PATH, and so on.
`)
	defaults := Default()
	for _, s := range sections {
		if s.name != "" {
			out.WriteString("\n" + comment(s.about) + "[" + s.name + "]\n")
		}
		for _, k := range keys() {
			if k.section() != s.name {
				continue
			}
			out.WriteString("\n" + comment(k.about))
			if k.live {
				out.WriteString("# Takes effect at once; all others at the next start.\n")
			}
			if v, ok := set[k.name]; ok {
				fmt.Fprintf(&out, "%s = %q\n", k.leaf(), v)
				continue
			}
			fmt.Fprintf(&out, "#%s = %s\n", k.leaf(), show(k.field(&defaults)))
		}
	}
	return out.String()
}

func comment(text string) string {
	return "# " + strings.ReplaceAll(text, "\n", "\n# ") + "\n"
}

// Changed lists the keys whose values differ; live are those that take effect
// while the daemon runs.
func Changed(a, b Config) (live, later []string) {
	for _, k := range keys() {
		if show(k.field(&a)) == show(k.field(&b)) {
			continue
		}
		if k.live {
			live = append(live, k.name)
		} else {
			later = append(later, k.name)
		}
	}
	return live, later
}
