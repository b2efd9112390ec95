package config

import (
	"time"

	"github.com/jivad/jivad/boards"
	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/reactivation"
)

// Config are all settings. Start from [Default].
type Config struct {
	// Data is the folder of everything of one companion; empty means the usual place.
	Data string
	// Socket is where the daemon listens; empty means jivad.sock in Data.
	Socket string
	// StopTimeout is how long the daemon may take to withdraw when it is stopped.
	StopTimeout time.Duration

	Diary     Diary
	Retention Retention
	Session   Session
	Soul      Soul
	Model     Model
	Door      Door
	MQTT      MQTT
	Dynamics  Dynamics
	Vasana    Vasana
	Index     Index
	Backups   Backups
	Limits    Limits
	Log       Log
}

// Diary is where the person writes, and how days are told apart.
type Diary struct {
	// Path is the watched folder; empty means diary in Data.
	Path string
	// AlwaysCreate gives every entry an impression of its own, also one that
	// says nothing new.
	AlwaysCreate bool
	// DayStartsAt is the local time of day, from midnight, at which a day begins.
	DayStartsAt time.Duration
	// Location names a time zone; empty means that of the machine.
	Location string
}

// Session is when a session ends by itself.
type Session struct {
	// Idle is how long after the last entry.
	Idle time.Duration
}

// Soul is where the identity is written.
type Soul struct {
	// Path of SOUL.md; empty means SOUL.md in Data.
	Path string
	// MaxBytes is the most that it may hold.
	MaxBytes int
}

// Model is which models read, and how.
type Model struct {
	// MaxPieces is how many pieces of a long text the built-in embedder reads.
	MaxPieces int
	// Server is the address of an Ollama server; empty means none.
	Server string
	// Chat is the name of its model that judges, narrates and talks, Embed that of
	// the one that embeds; empty means the built-in one.
	Chat, Embed string
	// Deadline is how long one answer may take.
	Deadline time.Duration
	// Rest is the longest pause between two entries that are judged again.
	Rest time.Duration
	// KeepAlive is how long the server keeps a model in memory, Context the tokens
	// that it reads at most, Threads the processors that it uses, 0 for its own choice.
	KeepAlive time.Duration
	Context   int
	Threads   int
}

// Door is where clients of Ollama find the companion.
type Door struct {
	// Listen is host:port, or a port alone on the loopback; empty means nowhere.
	Listen string
	// Recall is how many impressions are woven into a conversation.
	Recall int
}

// MQTT is the broker that tools publish to.
type MQTT struct {
	// Broker is mqtt://HOST:PORT or mqtts://HOST:PORT; empty means none.
	Broker string
	// User and PasswordFile are for a broker that asks.
	User, PasswordFile string
	// CAFile, CertFile and KeyFile are files in PEM: whom the broker is trusted by, and
	// what this device shows of itself.
	CAFile, CertFile, KeyFile string
}

// Dynamics are the numbers of the fold. Its keys are the names of the fields in
// small letters.
type Dynamics struct {
	Reactivation reactivation.Params
	Gate         gate.Params
}

// Vasana is how tendencies are found; see chitta/vasana.
type Vasana struct {
	MinPoints     int
	GunaCoherence float64
	Semantic      float64
	Percentile    float64
	SemanticLow   float64
	SemanticHigh  float64
}

// Index is how the nearest impressions are found.
type Index struct {
	// Mode is auto, exact or hnsw.
	Mode string
}

// Backups are copies of the store that the daemon makes.
type Backups struct {
	// Path is their folder; empty means backups in Data.
	Path string
	// Keep is how many stay; 0 means that none is made.
	Keep int
	// Every is the least time between two; 0 means that none is made.
	Every time.Duration
}

// Limits bound the work. Zero means what suits the board.
type Limits struct {
	Queue         int
	Workers       int
	SnapshotEvery int
}

// Log is what is told on standard error.
type Log struct {
	// Level is debug, info, warn or error.
	Level string
}

// Default are the settings of an empty file.
func Default() Config {
	return Config{
		StopTimeout: 80 * time.Second,
		Diary:       Diary{AlwaysCreate: true},
		Session:     Session{Idle: 30 * time.Minute},
		Soul:        Soul{MaxBytes: 8 << 10},
		Model:       Model{MaxPieces: 32, Deadline: time.Minute, Rest: 10 * time.Second, KeepAlive: 5 * time.Minute, Context: 4096},
		Door:        Door{Recall: 6},
		Dynamics:    Dynamics{Reactivation: reactivation.Default(), Gate: gate.Default().Unscaled()},
		Vasana:      Vasana{MinPoints: 3, GunaCoherence: 0.9, SemanticLow: 0.3, SemanticHigh: 0.85},
		Index:       Index{Mode: "auto"},
		Backups:     Backups{Keep: 7, Every: 24 * time.Hour},
		Limits:      Limits{SnapshotEvery: 500},
		Log:         Log{Level: "info"},
	}
}

// On fills the limits that the person left to the board.
func (c Config) On(p boards.Profile) Config {
	if c.Limits.Queue == 0 {
		c.Limits.Queue = p.Queue
	}
	if c.Limits.Workers == 0 {
		c.Limits.Workers = p.Workers
	}
	return c
}
