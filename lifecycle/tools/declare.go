package tools

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/gowebpki/jcs"
)

// Form is the version of the form of a declaration.
const Form = "jivad/tool/1"

// The bounds of a declaration. Times are from LeastTime to MostTime, outputs from 1 to
// MostOutput bytes.
const (
	MostTools        = 64
	NameBytes        = 64
	DescriptionRunes = 1000
	LeastTime        = 10 * time.Millisecond
	MostTime         = 10 * time.Minute
	DefaultTime      = 10 * time.Second
	MostOutput       = 1 << 20
	DefaultOutput    = 64 << 10

	templateBytes = 4096
	mostArgv      = 64
	mostHosts     = 32
	mostHeaders   = 32
)

// Consequence says how grave the use of a tool is.
type Consequence string

// The consequences, from the least. There is no default.
const (
	Low    Consequence = "low"
	Medium Consequence = "medium"
	High   Consequence = "high"
)

// Kinds of tools; a kind is also the capability that covers all tools of it.
const (
	KindExec = "exec"
	KindHTTP = "http"
	KindMQTT = "mqtt"
	KindRead = "read"
)

// Declaration is a tool as the manifest declares it: one table of the array [[tools]].
// It decodes itself from TOML and never fails there: what is wrong, unknown keys too,
// is kept for [Check], so that everything is named at once. (What toml.MetaData calls
// undecoded below a tool is to be left alone: it does not see into lists of tables.)
type Declaration struct {
	// Name is 1 to 64 lower-case letters, digits and _, the first a letter.
	Name string
	// Description tells a model what the tool does; at most 1000 letters.
	Description string
	// Consequence is Low, Medium or High.
	Consequence Consequence
	// Arguments is the schema of the arguments, "arguments" in TOML: a table, or a text
	// that is JSON. Without one the tool takes none.
	Arguments Schema
	// Exactly one of these is there.
	Exec *Exec
	HTTP *HTTP
	MQTT *MQTT
	Read *Read

	faults []Fault // found while decoding
}

// Exec runs a program, without a shell, in an empty folder of its own.
type Exec struct {
	// Argv is the program, an absolute path without variables, and the template of each
	// of its arguments. It is no shell, and a program that runs what it is given gets no
	// value where that could be code or a command. A template becomes exactly one argument. {{name}} stands for an
	// argument of the call; {{-name}} for one with which the argument may begin though
	// it begins with "-".
	Argv []string `json:"argv"`
	// TimeLimit and OutputLimit (bytes of both outputs together) bound a run.
	TimeLimit   time.Duration `json:"time_limit"`
	OutputLimit int           `json:"output_limit"`
}

// HTTP sends one request, and follows no redirection.
type HTTP struct {
	// Method is GET, HEAD, POST, PUT, PATCH or DELETE.
	Method string `json:"method"`
	// URL is a template: http or https, variables in the host, in the path or in the
	// query, never in the scheme or the port.
	URL string `json:"url"`
	// Hosts are those that may be spoken to: "host", "host:port" or "*.domain". Without
	// a port, that of the scheme. A private address is spoken to only if the address
	// itself is in the list.
	Hosts []string `json:"hosts"`
	// Header is sent as it stands.
	Header map[string]string `json:"header"`
	// Body is a template of JSON, or empty for none.
	Body string `json:"body"`
	// TimeLimit bounds the whole, OutputLimit the bytes that are kept of the answer.
	TimeLimit   time.Duration `json:"time_limit"`
	OutputLimit int           `json:"output_limit"`
}

// MQTT publishes one message.
type MQTT struct {
	// Topic is a template.
	Topic string `json:"topic"`
	// Payload is a template; of JSON where Format is FormatJSON, else of plain text.
	Payload string `json:"payload"`
	Format  string `json:"format"`
	// QoS is 0, 1 or 2.
	QoS       int           `json:"qos"`
	Retain    bool          `json:"retain"`
	TimeLimit time.Duration `json:"time_limit"`
}

// Formats of a payload.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// Read reads one ordinary file.
type Read struct {
	// Root is a folder, an absolute path without variables; nothing outside of it is
	// read, whatever links lie in it.
	Root string `json:"root"`
	// Path is a template of a path inside.
	Path string `json:"path"`
	// MayCome says that the file, or the folder, need not be there at birth.
	MayCome     bool          `json:"may_come"`
	TimeLimit   time.Duration `json:"time_limit"`
	OutputLimit int           `json:"output_limit"`
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Kind is the one way of doing that is declared, or "" where there is none or several.
func (d *Declaration) Kind() string {
	kind, n := "", 0
	for name, there := range map[string]bool{
		KindExec: d.Exec != nil, KindHTTP: d.HTTP != nil, KindMQTT: d.MQTT != nil, KindRead: d.Read != nil,
	} {
		if there {
			kind, n = name, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return kind
}

// Canonical is the canonical form (RFC 8785) of what is declared, defaults filled in:
// the same for every way of writing the same thing.
func (d *Declaration) Canonical() ([]byte, error) {
	full := d.filled()
	return canonical(struct {
		Form        string      `json:"form"`
		Name        string      `json:"name"`
		Description string      `json:"description"`
		Consequence Consequence `json:"consequence"`
		Arguments   any         `json:"arguments"`
		Exec        *Exec       `json:"exec,omitempty"`
		HTTP        *HTTP       `json:"http,omitempty"`
		MQTT        *MQTT       `json:"mqtt,omitempty"`
		Read        *Read       `json:"read,omitempty"`
	}{Form, full.Name, full.Description, full.Consequence, full.Arguments.tree(), full.Exec, full.HTTP, full.MQTT, full.Read})
}

// Digest is the SHA-256 of the canonical form.
func (d *Declaration) Digest() ([sha256.Size]byte, error) {
	data, err := d.Canonical()
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(data), nil
}

// filled is a copy with the defaults in it, which shares nothing that can be changed.
func (d *Declaration) filled() Declaration {
	full := *d
	if d.Exec != nil {
		e := *d.Exec
		e.TimeLimit, e.OutputLimit = orTime(e.TimeLimit), orOutput(e.OutputLimit)
		e.Argv = slices.Clone(e.Argv)
		full.Exec = &e
	}
	if d.HTTP != nil {
		h := *d.HTTP
		h.TimeLimit, h.OutputLimit = orTime(h.TimeLimit), orOutput(h.OutputLimit)
		if h.Method == "" {
			h.Method = "GET"
		}
		if h.Header = maps.Clone(h.Header); h.Header == nil {
			h.Header = map[string]string{}
		}
		h.Hosts = slices.Clone(h.Hosts)
		full.HTTP = &h
	}
	if d.MQTT != nil {
		m := *d.MQTT
		m.TimeLimit = orTime(m.TimeLimit)
		if m.Format == "" {
			m.Format = FormatText
		}
		full.MQTT = &m
	}
	if d.Read != nil {
		r := *d.Read
		r.TimeLimit, r.OutputLimit = orTime(r.TimeLimit), orOutput(r.OutputLimit)
		full.Read = &r
	}
	return full
}

func orTime(d time.Duration) time.Duration {
	if d == 0 {
		return DefaultTime
	}
	return d
}

func orOutput(n int) int {
	if n == 0 {
		return DefaultOutput
	}
	return n
}

func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(data)
}
