package tools_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/lifecycle/tools"
)

// reader is a tool that reads {{v}} below a folder.
func reader(t testing.TB, root, path, more string) *tools.Set {
	t.Helper()
	return born(t, fmt.Sprintf(`
[[tools]]
name = "look"
description = "x"
consequence = "low"
arguments = {type = "object", properties = {v = {type = "string", default = "a"}}}
[tools.read]
root = %q
path = %q
%s`, root, path, more))
}

func look(t testing.TB, set *tools.Set, v string) (tools.Result, error) {
	t.Helper()
	r := tools.Runner{}
	return r.Run(context.Background(), permitted(t, set, "look", object("v", v)))
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreRead(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "base")
	write(t, filepath.Join(root, "a"), "alpha")
	write(t, filepath.Join(root, "b", "c"), "a\xffb")
	write(t, filepath.Join(root, "{{v}}"), "braces")
	write(t, filepath.Join(root, "long"), strings.Repeat("é", 100))
	write(t, filepath.Join(root, "$(id)"), "dollar")
	write(t, filepath.Join(top, "secret"), "CANARY")
	for link, to := range map[string]string{
		"in": "b/c", "folder": "b", "up": "../secret", "absolute": filepath.Join(top, "secret"), "uproot": "..", "back": "../base/a", "circle": "circle", "chain": "up",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	set := reader(t, root, "{{v}}", "output_limit = 31")
	for v, want := range map[string]string{
		"a": "alpha", "b/c": "a\ufffdb", "in": "a\ufffdb", "folder/c": "a\ufffdb", "{{v}}": "braces", "$(id)": "dollar", "long": strings.Repeat("é", 15),
	} {
		result, err := look(t, set, v)
		if err != nil || !result.OK || result.Text != want || result.Truncated != (v == "long") {
			t.Errorf("%s: %+v, %v", v, result, err)
		}
	}
	for _, v := range []string{"up", "absolute", "uproot/secret", "uproot/base/a", "circle", "chain", "pipe", "b", "absent-CANARY", "a/b"} {
		result, err := look(t, set, v)
		isRunError(t, err, tools.ErrPath)
		if result.Text != "" || result.OK {
			t.Errorf("%s gave %+v", v, result)
		}
	}
	_, err := look(t, set, "absent-CANARY")
	if !errors.Is(err, unix.ENOENT) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not say that it is not there", err)
	}
}

func TestFilesOfTheKernelAreRead(t *testing.T) {
	result, err := look(t, reader(t, "/proc", "{{v}}/status", "output_limit = 200"), "self")
	if err != nil || !strings.HasPrefix(result.Text, "Name:") || !result.Truncated {
		t.Errorf("%+v, %v", result, err)
	}
	for _, v := range []string{"zero", "null"} {
		_, err := look(t, reader(t, "/dev", "{{v}}", ""), v)
		isRunError(t, err, tools.ErrPath)
	}
	// A link of /proc that leads out of it.
	_, err = look(t, reader(t, "/proc", "self/{{v}}/etc/hostname", ""), "root")
	isRunError(t, err, tools.ErrPath)
}

func TestFileThatComesLater(t *testing.T) {
	root := filepath.Join(t.TempDir(), "later")
	set := reader(t, root, "a", "may_come = true")
	_, err := look(t, set, "")
	isRunError(t, err, tools.ErrPath)
	// A pipe where the folder should be is not waited for.
	if err := unix.Mkfifo(root, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = look(t, set, "")
	isRunError(t, err, tools.ErrPath)
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "a"), "here")
	if result, err := look(t, set, ""); err != nil || result.Text != "here" {
		t.Errorf("%+v, %v", result, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r := tools.Runner{}
	_, err = r.Run(ctx, permitted(t, set, "look", "{}"))
	isRunError(t, err, tools.ErrStopped)
}

// broker takes messages, or does what a test says.
type broker struct {
	got []tools.Message
	do  func(ctx context.Context) error
}

func (b *broker) Publish(ctx context.Context, m tools.Message) error {
	b.got = append(b.got, m)
	if b.do != nil {
		return b.do(ctx)
	}
	return nil
}

func TestMessagesArePublished(t *testing.T) {
	set := born(t, lamp+"qos = 1\nretain = true\ntime_limit = \"100ms\"")
	act := func() *tools.Act { return permitted(t, set, "lamp", `{"room":"hall","level":5}`) }
	b := &broker{}
	r := tools.Runner{Publisher: b}
	result, err := r.Run(context.Background(), act())
	if err != nil || !result.OK || len(b.got) != 1 {
		t.Fatalf("%+v, %v, %v", result, err, b.got)
	}
	if m := b.got[0]; m.Topic != "home/hall/lamp" || string(m.Payload) != "5" || m.QoS != 1 || !m.Retain {
		t.Errorf("message %+v", m)
	}
	b.do = func(context.Context) error { return errors.New("CANARY") }
	_, err = r.Run(context.Background(), act())
	isRunError(t, err, tools.ErrUnreachable)

	b.do = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	_, err = r.Run(context.Background(), act())
	isRunError(t, err, tools.ErrTimeLimit)

	forgetful := make(chan struct{})
	defer close(forgetful)
	r.Publisher = &broker{do: func(context.Context) error { <-forgetful; return nil }}
	_, err = r.Run(context.Background(), act())
	isRunError(t, err, tools.ErrTimeLimit)

	ctx, stop := context.WithCancel(context.Background())
	stop()
	silent := &broker{}
	r.Publisher = silent
	_, err = r.Run(ctx, act())
	isRunError(t, err, tools.ErrStopped)
	if len(silent.got) != 0 {
		t.Error("published after the end")
	}
	r.Publisher = nil
	_, err = r.Run(context.Background(), act())
	isRunError(t, err, tools.ErrStart)
}
