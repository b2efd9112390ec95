package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

// Settings that nobody changed are the defaults of the packages that they are for.
func TestDefaultsAgree(t *testing.T) {
	o, err := (&app{}).options(config.Default(), place{data: "/d", diary: "/d/diary", socket: "/s"})
	if err != nil {
		t.Fatal(err)
	}
	want := fold.DefaultParams()
	want.Gate = want.Gate.Unscaled() // the embedder's scale is filled in later
	if o.Params != want {
		t.Errorf("dynamics %+v, want %+v", o.Params, want)
	}
	if o.Vasana != vasana.DefaultParams() {
		t.Errorf("tendencies %+v, want %+v", o.Vasana, vasana.DefaultParams())
	}
	if o.SoulBytes != soul.MaxBytes || o.MergeAlike {
		t.Errorf("SOUL.md of %d bytes, only new ones %v", o.SoulBytes, o.MergeAlike)
	}
	if o.Dir != "/d" || o.Diary != "/d/diary" || o.Socket != "/s" {
		t.Errorf("places %q %q %q", o.Dir, o.Diary, o.Socket)
	}
}

func TestEveryVerbIsExplained(t *testing.T) {
	verbs := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		verbs++
		if c.Short == "" || !strings.Contains(c.Example, "jivad") {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		if c.RunE != nil && c.InheritedFlags().Lookup("json") == nil {
			t.Errorf("%s has no --json", c.CommandPath())
		}
	}
	walk((&app{}).root())
	if verbs < 17 {
		t.Errorf("only %d verbs", verbs)
	}
}

func TestHelpOfEveryVerb(t *testing.T) {
	for _, verb := range []string{"init", "run", "status", "doctor", "write", "import", "session", "recall", "show", "soul", "vasanas", "trend", "verify", "version"} {
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard}
		if code := a.run(t.Context(), []string{verb, "--help"}); code != exitOK || !strings.Contains(out.String(), "Examples:") {
			t.Errorf("%s --help: code %d\n%s", verb, code, out.String())
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{errors.New("the disk is full"), exitFailed},
		{errFoundFaults, exitFailed},
		{lifecycle.ErrNotFound, exitFailed},
		{lifecycle.ErrNoSession, exitFailed},
		{usage("x"), exitUsage},
		{&config.Error{}, exitUsage},
		{lifecycle.ErrDate, exitUsage},
		{lifecycle.ErrQuery, exitUsage},
		{lifecycle.ErrEmpty, exitUsage},
		{lifecycle.ErrTooLong, exitUsage},
		{chitta.ErrLocked, exitUnreachable},
		{api.ErrUnreachable, exitUnreachable},
		{lifecycle.ErrStopping, exitUnreachable},
		{fmt.Errorf("%w: %w", errDaemonFailed, chitta.ErrLocked), exitFailed},
	} {
		if got := exitCode(fmt.Errorf("wrapped: %w", c.err)); got != c.want {
			t.Errorf("%v is exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestInterruptionIsToldInWords(t *testing.T) {
	var out bytes.Buffer
	(&app{stderr: &out}).complain(fmt.Errorf("import: %w", context.Canceled), exitFailed)
	if !strings.Contains(out.String(), "interrupted") || strings.Contains(out.String(), "canceled") {
		t.Errorf("%q", out.String())
	}
}

func TestHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		shown := harmless(text)
		for _, r := range shown {
			if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q is shown as %q", text, shown)
			}
		}
		if harmless(shown) != shown {
			t.Fatalf("%q changes when it is shown again", shown)
		}
		if strings.ContainsAny(oneLine(text), "\n\r\t") {
			t.Fatalf("%q is more than one line", oneLine(text))
		}
	})
	for _, plain := range []string{"Grüße, 今天玩成语接龙游戏 👩‍👩‍👧 «è»", "a\tb\nc"} {
		if got := harmless(plain); got != plain {
			t.Errorf("%q is shown as %q", plain, got)
		}
	}
	if got := harmless("\x1b[31m\x9b\u202e\x7f"); got != "␛[31m\ufffd\ufffd␡" {
		t.Errorf("%q", got)
	}
}

func TestCutKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := oneLine(rapid.StringOf(rapid.RuneFrom([]rune("ab é今👩"))).Draw(t, "text"))
		width := rapid.IntRange(2, 20).Draw(t, "width")
		got := cut(text, width)
		if uniseg.StringWidth(got) > width {
			t.Fatalf("%q is %d wide, at most %d", got, uniseg.StringWidth(got), width)
		}
		if uniseg.StringWidth(text) <= width && got != text {
			t.Fatalf("%q fits into %d and is cut to %q", text, width, got)
		}
		if !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Fatalf("%q is no beginning of %q", got, text)
		}
	})
}

func TestPlaces(t *testing.T) {
	deep := "/" + strings.Repeat("deep/", 30) + "d"
	for name, c := range map[string]struct {
		flags   flags
		config  config.Config
		environ []string
		file    string
		want    place
	}{
		"the person's own":      {environ: []string{"HOME=/home/ada"}, file: "/home/ada/.config/jivad/jivad.toml", want: place{data: "/home/ada/.local/share/jivad", socket: "/home/ada/.local/share/jivad/jivad.sock", diary: "/home/ada/.local/share/jivad/diary"}},
		"XDG":                   {environ: []string{"HOME=/home/ada", "XDG_DATA_HOME=/x"}, file: "/y/jivad.toml", want: place{data: "/x/jivad", socket: "/x/jivad/jivad.sock", diary: "/x/jivad/diary"}},
		"the settings":          {config: config.Config{Data: "/srv/a", Socket: "/run/a", Diary: config.Diary{Path: "/home/ada/diary"}}, file: "/y/jivad.toml", want: place{data: "/srv/a", socket: "/run/a", diary: "/home/ada/diary"}},
		"flags before settings": {flags: flags{data: "/b", socket: "/run/b"}, config: config.Config{Data: "/srv/a", Socket: "/run/a"}, file: "/y/jivad.toml", want: place{data: "/b", socket: "/run/b", diary: "/b/diary"}},
		"the system's":          {flags: flags{data: systemData}, file: "/y/jivad.toml", want: place{data: systemData, socket: systemSocket, diary: systemData + "/diary"}},
		"a deep folder":         {flags: flags{data: deep}, environ: []string{"XDG_RUNTIME_DIR=/run/user/7"}, file: "/y/jivad.toml", want: place{data: deep, socket: "/run/user/7/jivad-", diary: deep + "/diary"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{flags: c.flags, environ: c.environ}
			got, err := a.placeOf(c.config, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if name == "a deep folder" {
				got.socket = strings.TrimRight(strings.TrimSuffix(got.socket, ".sock"), "0123456789abcdef")
			}
			c.want.config = c.file
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	a := &app{flags: flags{data: deep}}
	if _, err := a.placeOf(config.Default(), filepath.Join(deep, configName)); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--socket") {
		t.Errorf("%v, want a hint at --socket", err)
	}
}
