package tools

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Set is the tools of a life: all declared, all resolved. It does not change.
type Set struct {
	tools map[string]*tool
}

// tool is a declaration made ready.
type tool struct {
	declaration Declaration // defaults filled in
	kind        string
	digest      [sha256.Size]byte
	schema      *compiled

	argv    []template
	address addressTemplate
	hosts   hosts
	body    jsonTemplate
	topic   template
	payload template
	json    jsonTemplate
	path    template
}

// capability is the one that covers this tool alone.
func (t *tool) capability() string { return t.kind + "." + t.declaration.Name }

// Check tells everything that can be told of declarations without looking at the
// machine: nil, or Faults.
func Check(declarations []Declaration) error {
	_, faults := build(declarations)
	return faults.orNil()
}

// build makes the tools ready and gathers all faults.
func build(declarations []Declaration) ([]*tool, Faults) {
	var faults Faults
	if len(declarations) > MostTools {
		faults = append(faults, Fault{Tool: "the tools", What: fmt.Sprintf("there are %d", len(declarations)), Mend: fmt.Sprintf("declare at most %d", MostTools)})
		declarations = declarations[:MostTools]
	}
	first := map[string]int{}
	made := make([]*tool, len(declarations))
	for i := range declarations {
		d := declarations[i].filled()
		c := &checker{d: &d, label: label(d.Name, i), tool: &tool{declaration: d, kind: d.Kind()}}
		c.run()
		if before, twice := first[d.Name]; twice && d.Name != "" {
			c.fault("name", fmt.Sprintf("tool %d has this name too", before), "give each tool a name of its own")
		} else {
			first[d.Name] = i + 1
		}
		var err error
		if c.tool.digest, err = d.Digest(); err != nil && len(c.faults) == 0 {
			c.fault("", "it has no canonical form", "look for characters in it that are no UTF-8")
		}
		made[i] = c.tool
		faults = append(faults, c.faults...)
	}
	return made, faults
}

// label is how a fault names a tool: by its name, or by its place.
func label(name string, i int) string {
	if name == "" {
		return fmt.Sprintf("tool %d", i+1)
	}
	return fmt.Sprintf("tool %q", clipped(name))
}

// checker looks at one declaration.
type checker struct {
	d      *Declaration
	label  string
	tool   *tool
	faults []Fault
}

func (c *checker) fault(where, what, mend string) {
	c.faults = append(c.faults, Fault{Tool: c.label, Where: where, What: what, Mend: mend})
}

func (c *checker) run() {
	for _, f := range c.d.faults {
		c.fault(f.Where, f.What, f.Mend)
	}
	if len(c.d.Name) > NameBytes || !nameForm.MatchString(c.d.Name) {
		c.fault("name", "it is missing or no name", "write up to 64 lower-case letters, digits and _, the first a letter")
	}
	text := c.d.Description
	if strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > DescriptionRunes || !utf8.ValidString(text) || strings.ContainsFunc(text, noProse) {
		c.fault("description", "it is missing, too long, or no plain text", fmt.Sprintf("say in up to %d letters what the tool does", DescriptionRunes))
	}
	if !slices.Contains([]Consequence{Low, Medium, High}, c.d.Consequence) {
		c.fault("consequence", "it is missing or none", "write low, medium or high")
	}
	c.tool.schema = c.d.Arguments.compile(true, func(where, what, mend string) {
		c.fault(strings.TrimSuffix("arguments."+where, "."), what, mend)
	})
	switch c.tool.kind {
	case KindExec:
		c.exec(c.d.Exec)
	case KindHTTP:
		c.http(c.d.HTTP)
	case KindMQTT:
		c.mqtt(c.d.MQTT)
	case KindRead:
		c.read(c.d.Read)
	default:
		c.fault("", "it says no way of doing it, or several", "write exactly one of the tables exec, http, mqtt and read")
	}
}

func noProse(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// limits checks the bounds of a run; size is nil where there is none.
func (c *checker) limits(kind string, limit time.Duration, size *int) {
	if limit < LeastTime || limit > MostTime {
		c.fault(kind+".time_limit", "it is out of its range", fmt.Sprintf(`write a time from "%v" to "%v"`, LeastTime, MostTime))
	}
	if size != nil && (*size < 1 || *size > MostOutput) {
		c.fault(kind+".output_limit", "it is out of its range", fmt.Sprintf("write 1 to %d bytes", MostOutput))
	}
}

// template parses one and checks its variables.
func (c *checker) template(where, text string, dashes bool) template {
	if len(text) > templateBytes || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		c.fault(where, "it is too long or no text", fmt.Sprintf("write at most %d bytes", templateBytes))
		return nil
	}
	t, err := parse(text)
	if err != nil {
		c.fault(where, err.Error(), "write {{name}}, the name that of an argument")
		return nil
	}
	for _, p := range t {
		if p.dash && !dashes {
			c.fault(where, "{{-…}} has a meaning in the arguments of a program only", "write {{"+p.variable+"}}")
		}
	}
	c.variables(where, t, nil)
	return t
}

// variables checks that each variable is an argument that is there in every call and is
// one plain value; whole tells which may be any value.
func (c *checker) variables(where string, t template, whole func(string) bool) {
	if c.tool.schema == nil {
		return // its own faults come first
	}
	for _, name := range t.variables() {
		if _, declared := c.tool.schema.properties[name]; !declared {
			c.fault(where, fmt.Sprintf("the variable %q is no argument in the schema", name), "add it to arguments.properties, or correct the name")
			continue
		}
		if !c.tool.schema.sure(name, c.d.Arguments.tree()) {
			c.fault(where, fmt.Sprintf("the argument %q can be missing in a call", name), "add it to arguments.required, or give it a default")
		}
		if !c.tool.schema.scalar(name) && (whole == nil || !whole(name)) {
			c.fault(where, fmt.Sprintf("the argument %q can be something else than a text, a number or a truth value", name), "give it one of these types")
		}
	}
}

func (c *checker) exec(e *Exec) {
	c.limits(KindExec, e.TimeLimit, &e.OutputLimit)
	if len(e.Argv) == 0 || len(e.Argv) > mostArgv {
		c.fault("exec.argv", "there is no program, or there are too many arguments", fmt.Sprintf("write the program and up to %d arguments", mostArgv-1))
		return
	}
	for i, text := range e.Argv {
		c.tool.argv = append(c.tool.argv, c.template(fmt.Sprintf("exec.argv[%d]", i), text, i > 0))
	}
	if program := e.Argv[0]; !filepath.IsAbs(program) || filepath.Clean(program) != program || strings.Contains(program, "{{") {
		c.fault("exec.argv[0]", "the program is no absolute path, or holds a variable", "write the whole path of the program")
	} else if what, mend := c.starts(filepath.Base(program)); what != "" {
		c.fault("exec.argv[0]", what, mend)
	}
}

var (
	methods     = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	headerForm  = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")
	headerTaken = []string{
		"Host", "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Connection", "Proxy-Authorization", "Keep-Alive",
		"Te", "Trailer", "Upgrade", "Accept-Encoding", "Expect", "Range",
	}
)

func (c *checker) http(h *HTTP) {
	c.limits(KindHTTP, h.TimeLimit, &h.OutputLimit)
	if !slices.Contains(methods, h.Method) {
		c.fault("http.method", "there is no such method", fmt.Sprintf("write one of %v", methods))
	}
	if c.template("http.url", h.URL, false) == nil && h.URL != "" {
		return
	}
	address, err := parseAddress(h.URL)
	if err != nil {
		c.fault("http.url", err.Error(), "write http:// or https://, a host, a path and a query; values are escaped by themselves")
		return
	}
	c.tool.address = address
	if len(h.Hosts) == 0 || len(h.Hosts) > mostHosts {
		c.fault("http.hosts", "no host is allowed, or too many are", fmt.Sprintf("list 1 to %d hosts", mostHosts))
	}
	for i, text := range h.Hosts {
		one, ok := parseHost(text, address.scheme)
		if !ok {
			c.fault(fmt.Sprintf("http.hosts[%d]", i), "it is no host", `write "host", "host:port", "*.domain" or an address, in small letters`)
			continue
		}
		c.tool.hosts = append(c.tool.hosts, one)
	}
	if !address.variableHost() && len(c.tool.hosts) > 0 {
		sample := map[string]any{}
		for _, name := range address.parts.variables() {
			sample[name] = "x"
		}
		if u, wrong := address.fill(sample); wrong != nil || !c.tool.hosts.covers(hostOf(u)) {
			c.fault("http.url", "its host is not in the list of hosts", "add it to http.hosts, with its port where it has one")
		}
	}
	c.headers(h)
	if h.Body == "" {
		return
	}
	if slices.Contains([]string{"GET", "HEAD"}, h.Method) {
		c.fault("http.body", "a "+h.Method+" has no body", "remove it, or write another method")
	}
	c.tool.body = c.jsonBody("http.body", h.Body)
}

func (c *checker) headers(h *HTTP) {
	if len(h.Header) > mostHeaders {
		c.fault("http.header", "there are too many", fmt.Sprintf("write at most %d", mostHeaders))
	}
	for _, name := range slices.Sorted(maps.Keys(h.Header)) {
		value, where := h.Header[name], "http.header."+clipped(name)
		switch {
		case !headerForm.MatchString(name) || slices.Contains(headerTaken, http.CanonicalHeaderKey(name)):
			c.fault(where, "it is no header that can be set", "remove it")
		case strings.Contains(value, "{{"):
			c.fault(where, "a header is fixed, and this one holds a variable", "put the variable into the address or the body")
		case len(value) > templateBytes || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }):
			c.fault(where, "its value is no line of plain letters", "write it in one line of ASCII")
		}
	}
}

// jsonBody parses a template of JSON and checks its variables.
func (c *checker) jsonBody(where, text string) jsonTemplate {
	j, err := parseJSON(text)
	if err != nil || len(text) > templateBytes {
		if err == nil {
			err = errTooLarge
		}
		c.fault(where, err.Error(), `write JSON with {{name}} for a value, or within a text as in "level {{name}}"`)
		return j
	}
	c.variables(where, j.template, func(name string) bool {
		for i, p := range j.template {
			if p.variable == name && j.quoted[i] {
				return false
			}
		}
		return true
	})
	for _, p := range j.template {
		if p.dash {
			c.fault(where, "{{-…}} has a meaning in the arguments of a program only", "write {{"+p.variable+"}}")
		}
	}
	return j
}

func (c *checker) mqtt(m *MQTT) {
	c.limits(KindMQTT, m.TimeLimit, nil)
	if m.QoS < 0 || m.QoS > 2 {
		c.fault("mqtt.qos", "it is out of its range", "write 0, 1 or 2")
	}
	c.tool.topic = c.template("mqtt.topic", m.Topic, false)
	sample := map[string]any{}
	for _, name := range c.tool.topic.variables() {
		sample[name] = "x"
	}
	if topic, wrong := c.tool.topic.topic(sample); wrong != nil || badTopic(topic) {
		c.fault("mqtt.topic", "nobody can publish to it", `write levels between "/", without + and #, not beginning with "$"`)
	}
	switch m.Format {
	case FormatText:
		c.tool.payload = c.template("mqtt.payload", m.Payload, false)
	case FormatJSON:
		c.tool.json = c.jsonBody("mqtt.payload", m.Payload)
	default:
		c.fault("mqtt.format", "there is no such format", "write text or json")
	}
}

func (c *checker) read(r *Read) {
	c.limits(KindRead, r.TimeLimit, &r.OutputLimit)
	if !filepath.IsAbs(r.Root) || filepath.Clean(r.Root) != r.Root || strings.Contains(r.Root, "{{") || strings.ContainsRune(r.Root, 0) {
		c.fault("read.root", "it is no absolute path of a folder, or holds a variable", `write one such as "/sys"`)
	}
	c.tool.path = c.template("read.path", r.Path, false)
	sample := map[string]any{}
	for _, name := range c.tool.path.variables() {
		sample[name] = "x"
	}
	if _, wrong := c.tool.path.path(sample); wrong != nil {
		c.fault("read.path", `it is no path inside the folder`, `write a relative one without ".."`)
	}
}

// Digest is the SHA-256 of the digests of all tools in the order of their names: the
// same wherever the same tools are declared, in whatever order.
func (s *Set) Digest() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(Form + "\x00set\x00"))
	for _, name := range s.Names() {
		digest := s.tools[name].digest
		h.Write(digest[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Names are the names of the tools, sorted.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.tools))
}

// ErrUnknown: no tool of that name is in the set.
var ErrUnknown = errors.New("there is no tool of that name")

// Declaration is that of a tool, defaults filled in. Error: ErrUnknown.
func (s *Set) Declaration(name string) (Declaration, error) {
	if s == nil || s.tools[name] == nil {
		return Declaration{}, ErrUnknown
	}
	return s.tools[name].declaration.filled(), nil
}
