package config

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jivad/jivad/internal/faults"
)

// key is one setting: its name in the file, where it is kept, what it is for
// and what it may be.
type key struct {
	name  string
	about string
	// field points to where it is kept: *string, *bool, *int, *float64 or
	// *time.Duration, or another kind of string.
	field func(*Config) any
	// check returns what would be accepted, or "" when the value is fine.
	check func(*Config) string
	// live keys change while the daemon runs.
	live bool
}

// section is the part of the name before the last dot.
func (k key) section() string { return k.name[:max(0, strings.LastIndexByte(k.name, '.'))] }

// leaf is the part after it.
func (k key) leaf() string { return k.name[strings.LastIndexByte(k.name, '.')+1:] }

// Env is the variable of the environment that overrides a key: JIVAD_ and the
// name in capitals, with _ for every dot.
func Env(name string) string {
	return "JIVAD_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// sections are the parts of the file in order, each with its introduction.
var sections = []struct{ name, about string }{
	{"", ""},
	{"diary", "What you write."},
	{"retention", "How much of a text is kept, by its category of consent: \"full\"; \"gist\", its first sentences\nup to 200 letters, with addresses, links and numbers masked; \"none\"; or \"\": all of what you\nwrite and import, the gist of a chat. What an entry does to the character does not depend on\nit. A change holds for what comes in from then on. What fades for long loses its text in any\ncase: see bury_below and bury_after."},
	{"session", "A session is one sitting, or one day of a history."},
	{"soul", "SOUL.md is who the companion is now. What you write under \"Given\" in it is yours."},
	{"model", "The models that read what you write. Those in the binary always work; a model of an\nOllama server understands more, and judges again what it could not judge in time."},
	{"door", "The address at which clients of Ollama find this companion: they talk to the model of\n[model], with the companion's memory woven in."},
	{"mqtt", "The MQTT broker that tools of the manifest publish to. Files may be relative, as for\ndiary.path."},
	{"dynamics.reactivation", "How an entry deepens, fades and turns what is already there. A change holds from\nthe next start on; what was before keeps the values that it was lived with."},
	{"dynamics.gate", "Which impressions an entry wakes. Similarities are cosines of the built-in embedder."},
	{"vasana", "How tendencies are found among the impressions."},
	{"index", "How the nearest impressions are found."},
	{"backups", "Copies of the store. The daemon makes one when a session ends, and reads it to prove it."},
	{"limits", "Bounds of the work. 0 means what suits this board."},
	{"log", "What is told on standard error. What you write is never in it."},
}

// keys is the table of all keys, in the order of the generated file.
func keys() []key {
	out := []key{
		{name: "data", about: "The folder of everything of one companion. Empty: where this file lies if that is\na data folder, else ~/.local/share/jivad.", field: func(c *Config) any { return &c.Data }},
		{name: "socket", about: "Where the daemon listens, at most 107 bytes. Empty: jivad.sock in the data folder.", field: func(c *Config) any { return &c.Socket },
			check: func(c *Config) string { return unless(len(c.Socket) <= 107, "a path of at most 107 bytes") }},
		{name: "stop_timeout", about: "How long a stop may take: the last entry is finished and the session ended.", live: true, field: func(c *Config) any { return &c.StopTimeout },
			check: func(c *Config) string { return duration(c.StopTimeout, time.Second, time.Hour) }},

		{name: "diary.path", about: "The folder that is watched. It is only read. ~/ is your home; another relative\npath begins at the folder of this file. Empty: diary in the data folder.", field: func(c *Config) any { return &c.Diary.Path }},
		{name: "diary.always_create", about: "true: every entry becomes an impression of its own.\nfalse: only one that says something new; the others act on what is there.", field: func(c *Config) any { return &c.Diary.AlwaysCreate }},
		{name: "diary.day_starts_at", about: "The local time at which a new day begins, after midnight: \"4h\" gives what is written\nat three in the night to the day before.", field: func(c *Config) any { return &c.Diary.DayStartsAt },
			check: func(c *Config) string {
				return unless(c.Diary.DayStartsAt >= 0 && c.Diary.DayStartsAt < 24*time.Hour, `a duration from "0s" to below "24h"`)
			}},
		{name: "diary.location", about: "The time zone of your days, such as \"Europe/Berlin\". Empty: that of this machine.", field: func(c *Config) any { return &c.Diary.Location },
			check: func(c *Config) string {
				_, err := time.LoadLocation(c.Diary.Location)
				return unless(err == nil, `a time zone such as "Europe/Berlin", or ""`)
			}},
	}
	out = append(out, retention()...)
	out = append(out, []key{
		{name: "session.idle", about: "A session ends by itself so long after its last entry.", field: func(c *Config) any { return &c.Session.Idle },
			check: func(c *Config) string { return duration(c.Session.Idle, time.Second, 24*time.Hour) }},

		{name: "soul.path", about: "Where SOUL.md is written; another agent's folder, perhaps. Relative paths as for\ndiary.path. Empty: SOUL.md in the data folder.", field: func(c *Config) any { return &c.Soul.Path }},
		{name: "soul.max_bytes", about: "The most that SOUL.md may hold, in bytes.", field: func(c *Config) any { return &c.Soul.MaxBytes },
			check: func(c *Config) string { return whole(c.Soul.MaxBytes, 2048, 1<<20) }},

		{name: "model.max_pieces", about: "How many pieces (of some 90 words) of one long entry are read for its meaning.", field: func(c *Config) any { return &c.Model.MaxPieces },
			check: func(c *Config) string { return whole(c.Model.MaxPieces, 1, 4096) }},
		{name: "model.server", about: "The address of an Ollama server, such as \"http://127.0.0.1:11434\". What you write is\nsent there: it should be yours. Empty: none.", field: func(c *Config) any { return &c.Model.Server },
			check: func(c *Config) string {
				return unless(c.Model.Server == "" || address(c.Model.Server), `an address such as "http://127.0.0.1:11434", or ""`)
			}},
		{name: "model.chat", about: "The name of its model that judges, narrates and talks, such as \"qwen3:0.6b\". Empty: none.", field: func(c *Config) any { return &c.Model.Chat }},
		{name: "model.embed", about: "The name of its model that embeds. Empty: the built-in embedder. Another one needs\njivad reembed.", field: func(c *Config) any { return &c.Model.Embed }},
		{name: "model.deadline", about: "How long one answer may take. The built-in model judges meanwhile what takes longer.", field: func(c *Config) any { return &c.Model.Deadline },
			check: func(c *Config) string { return duration(c.Model.Deadline, time.Second, time.Hour) }},
		{name: "model.rest", about: "The longest pause between two entries that it judges again, when nothing else is to be\ndone: as long as the one before took, and at most this; \"0s\" to \"1h\".", field: func(c *Config) any { return &c.Model.Rest },
			check: func(c *Config) string { return duration(c.Model.Rest, 0, time.Hour) }},
		{name: "model.keep_alive", about: "How long the server keeps a model in memory after an answer; \"0s\" to \"24h\".", field: func(c *Config) any { return &c.Model.KeepAlive },
			check: func(c *Config) string { return duration(c.Model.KeepAlive, 0, 24*time.Hour) }},
		{name: "model.context", about: "How many tokens it reads at most; 1024 to 131072.", field: func(c *Config) any { return &c.Model.Context },
			check: func(c *Config) string { return whole(c.Model.Context, 1024, 131072) }},
		{name: "model.threads", about: "How many processors the server uses; 0 is its own choice.", field: func(c *Config) any { return &c.Model.Threads },
			check: func(c *Config) string { return whole(c.Model.Threads, 0, 256) }},

		{name: "door.listen", about: "host:port, or a port alone on this machine only, such as \"11435\". Empty: nowhere.", field: func(c *Config) any { return &c.Door.Listen },
			check: func(c *Config) string {
				return unless(c.Door.Listen == "" || listenable(c.Door.Listen), `a port such as "11435", a host and a port such as "127.0.0.1:11435", or ""`)
			}},
		{name: "door.recall", about: "How many impressions are woven into a conversation; 0 to 64.", field: func(c *Config) any { return &c.Door.Recall },
			check: func(c *Config) string { return whole(c.Door.Recall, 0, 64) }},

		{name: "mqtt.broker", about: "Its address, such as \"mqtt://127.0.0.1:1883\", or mqtts:// for TLS. Empty: none.", field: func(c *Config) any { return &c.MQTT.Broker },
			check: func(c *Config) string {
				return unless(c.MQTT.Broker == "" || brokerAddress(c.MQTT.Broker), `an address such as "mqtt://127.0.0.1:1883", or ""`)
			}},
		{name: "mqtt.user", about: "The name for a broker that asks for one.", field: func(c *Config) any { return &c.MQTT.User }},
		{name: "mqtt.password_file", about: "A file whose first line is the password.", field: func(c *Config) any { return &c.MQTT.PasswordFile }},
		{name: "mqtt.ca_file", about: "The certificates that the broker is trusted by. Empty: those of this machine.", field: func(c *Config) any { return &c.MQTT.CAFile }},
		{name: "mqtt.cert_file", about: "The certificate of this device, where the broker asks for one.", field: func(c *Config) any { return &c.MQTT.CertFile }},
		{name: "mqtt.key_file", about: "And its key.", field: func(c *Config) any { return &c.MQTT.KeyFile }},
	}...)
	out = append(out, dynamics()...)
	return append(out, []key{
		{name: "vasana.min_points", about: "The least number of impressions that make a tendency; 2 to 1000.", field: func(c *Config) any { return &c.Vasana.MinPoints },
			check: func(c *Config) string { return whole(c.Vasana.MinPoints, 2, 1000) }},
		{name: "vasana.guna_coherence", about: "How alike in character two impressions must be to belong together; 0 to 1.", field: func(c *Config) any { return &c.Vasana.GunaCoherence },
			check: func(c *Config) string { return number(c.Vasana.GunaCoherence, 0, 1) }},
		{name: "vasana.semantic", about: "How alike in meaning they must be: a centred cosine up to 1, or 0 for the percentile.", field: func(c *Config) any { return &c.Vasana.Semantic },
			check: func(c *Config) string { return number(c.Vasana.Semantic, 0, 1) }},
		{name: "vasana.percentile", about: "The percentile of all pairs that is taken for that; below 100, or 0 to choose it by the size of the store.", field: func(c *Config) any { return &c.Vasana.Percentile },
			check: func(c *Config) string {
				return unless(c.Vasana.Percentile >= 0 && c.Vasana.Percentile < 100, "0, or a number below 100")
			}},
		{name: "vasana.semantic_low", about: "The percentile is not taken lower than this; above 0, at most 1.", field: func(c *Config) any { return &c.Vasana.SemanticLow },
			check: func(c *Config) string {
				return unless(c.Vasana.SemanticLow > 0 && c.Vasana.SemanticLow <= 1, "a number above 0, at most 1")
			}},
		{name: "vasana.semantic_high", about: "And not higher than this; semantic_low to 1.", field: func(c *Config) any { return &c.Vasana.SemanticHigh },
			check: func(c *Config) string {
				ok := c.Vasana.SemanticHigh >= c.Vasana.SemanticLow && c.Vasana.SemanticHigh <= 1
				return unless(ok, fmt.Sprintf("a number from semantic_low (%v) to 1", c.Vasana.SemanticLow))
			}},

		{name: "index.mode", about: "auto: exact while that is fast, then in two levels; exact; or hnsw: in two levels as\nsoon as its answers are good enough. The character does not depend on it.", field: func(c *Config) any { return &c.Index.Mode },
			check: func(c *Config) string { return oneOf(c.Index.Mode, "auto", "exact", "hnsw") }},

		{name: "backups.path", about: "Their folder; another disk or card is best. Relative paths as for diary.path. Empty:\nbackups in the data folder.", field: func(c *Config) any { return &c.Backups.Path }},
		{name: "backups.keep", about: "How many stay, the newest; 1 to 1000, or 0 to make none.", field: func(c *Config) any { return &c.Backups.Keep },
			check: func(c *Config) string { return whole(c.Backups.Keep, 0, 1000) }},
		{name: "backups.every", about: "The least time between two; \"1m\" to \"8760h\", or \"0s\" to make none.", field: func(c *Config) any { return &c.Backups.Every },
			check: func(c *Config) string {
				d := c.Backups.Every
				return unless(d == 0 || d >= time.Minute && d <= 8760*time.Hour, `"0s", or a duration from "1m" to "8760h"`)
			}},

		{name: "limits.queue", about: "How many entries may wait; 2 to 65536, or 0.", field: func(c *Config) any { return &c.Limits.Queue },
			check: func(c *Config) string {
				return unless(c.Limits.Queue == 0 || c.Limits.Queue >= 2 && c.Limits.Queue <= 65536, "0, or a whole number from 2 to 65536")
			}},
		{name: "limits.workers", about: "How many entries are read and judged at a time; up to 256, or 0.", field: func(c *Config) any { return &c.Limits.Workers },
			check: func(c *Config) string { return whole(c.Limits.Workers, 0, 256) }},
		{name: "limits.snapshot_every", about: "After how many entries the state is saved, so that a start is quick.", field: func(c *Config) any { return &c.Limits.SnapshotEvery },
			check: func(c *Config) string { return whole(c.Limits.SnapshotEvery, 1, 1_000_000) }},

		{name: "log.level", about: "debug, info, warn or error.", live: true, field: func(c *Config) any { return &c.Log.Level },
			check: func(c *Config) string { return oneOf(c.Log.Level, "debug", "info", "warn", "error") }},
	}...)
}

// unless gives what is wanted when the value is not fine.
func unless(fine bool, want string) string {
	if fine {
		return ""
	}
	return want
}

// address tells whether a text is the address of a server.
func address(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == ""
}

// brokerAddress tells whether a text is the address of an MQTT broker.
func brokerAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "mqtt" || u.Scheme == "mqtts") && u.Hostname() != "" && u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

// listenable tells whether a text is a port, or a host and a port.
func listenable(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		port = text
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

func whole(n, low, high int) string {
	return unless(n >= low && n <= high, fmt.Sprintf("a whole number from %d to %d", low, high))
}

func number(x, low, high float64) string {
	fine := !math.IsNaN(x) && x >= low && x <= high
	return unless(fine, fmt.Sprintf("a number from %v to %v", low, high))
}

func duration(d, low, high time.Duration) string {
	return unless(d >= low && d <= high, fmt.Sprintf("a duration from %q to %q", faults.Duration(low), faults.Duration(high)))
}

func oneOf(s string, options ...string) string {
	for _, o := range options {
		if s == o {
			return ""
		}
	}
	quoted := make([]string, len(options))
	for i, o := range options {
		quoted[i] = fmt.Sprintf("%q", o)
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
