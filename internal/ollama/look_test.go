package ollama

import (
	"strings"
	"testing"
)

// A look finds out what is the matter, loads nothing, and says what mends it.
func TestLookSaysWhatMends(t *testing.T) {
	s, st := inProcess(t, Options{})
	e := s.EmbedderFor("ollama/"+embedModel+"@aaaaaaaaaaaa", dimension)
	for name, c := range map[string]struct {
		is          func()
		away        string
		chat, embed string
	}{
		"well":          {func() {}, "", "", ""},
		"down":          {func() { st.down = true }, noListener, "ollama serve", "ollama serve"},
		"no model":      {func() { st.absent = true }, noModel, "ollama pull " + chatModel + ";", "ollama pull " + embedModel + ";"},
		"not its own":   {func() { st.remote = true }, passesOn, "model.chat", "model.embed"},
		"another model": {func() { st.digest = digestB }, "", "", "jivad reembed"},
	} {
		st.set(func() { st.down, st.absent, st.remote, st.digest = false, false, false, digestA; c.is() })
		now, mend := s.Look(t.Context())
		if now.Away != c.away || !strings.Contains(mend, c.chat) || (c.chat == "") != (mend == "") {
			t.Errorf("%s: %q, %q", name, now.Away, mend)
		}
		if now, mend = e.Look(t.Context()); !strings.Contains(mend, c.embed) || (c.embed == "") != (now.Away == "") {
			t.Errorf("%s, embedder: %q, %q", name, now.Away, mend)
		}
	}
	if st.count("/api/chat")+st.count("/api/embed") != 0 {
		t.Error("something was asked")
	}
	none := New(Options{Server: "://", Chat: "m"})
	if now, mend := none.Look(t.Context()); now.Away != noAddress || !strings.Contains(mend, "model.server") {
		t.Errorf("%q, %q", now.Away, mend)
	}
}

// Before it was asked nobody knows which model a server has; one that tells no digest has it
// all the same.
func TestAModelIsMetByALook(t *testing.T) {
	for _, digest := range []string{digestA, ""} {
		s, st := inProcess(t, Options{})
		st.set(func() { st.digest = digest })
		if now := s.State(); now.Met || now.Digest != "" || now.Away != "" {
			t.Errorf("before: %+v", now)
		}
		if now, _ := s.Look(t.Context()); !now.Met || now.Digest != digest || now.Away != "" {
			t.Errorf("after: %+v", now)
		}
		st.set(func() { st.absent = true })
		if now, _ := s.Look(t.Context()); now.Met || now.Away == "" {
			t.Errorf("once it is gone: %+v", now)
		}
	}
}

// Every reason that is told has an advice; the address is left out where it is the usual one.
func TestEveryReasonHasAnAdvice(t *testing.T) {
	usual, other := New(Options{Server: "http://127.0.0.1:11434", Chat: "m"}), New(Options{Server: "http://10.0.0.2:11434/", Chat: "m"})
	for _, why := range []string{noAddress, noListener, noModel, noRoom, tooBusy, cannot, passesOn, silent, "something else"} {
		if usual.mends(usual.judge, why) == "" || strings.Contains(usual.mends(usual.judge, why), "OLLAMA_HOST") {
			t.Errorf("%s: %q", why, usual.mends(usual.judge, why))
		}
	}
	if got := other.mends(other.judge, noModel); !strings.HasPrefix(got, "Get it with: OLLAMA_HOST=http://10.0.0.2:11434 ollama pull m;") {
		t.Error(got)
	}
}
