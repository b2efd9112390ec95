package tools

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// UnmarshalTOML takes a table of TOML. It returns no error: faults are kept for Check.
func (d *Declaration) UnmarshalTOML(value any) error {
	*d = Declaration{}
	top, ok := value.(map[string]any)
	if !ok {
		d.faults = append(d.faults, Fault{What: "a tool is no table", Mend: "write [[tools]] and its keys below it"})
		return nil
	}
	r := &table{tree: top, faults: &d.faults}
	d.Name = r.text("name")
	d.Description = r.text("description")
	d.Consequence = Consequence(r.text("consequence"))
	if given, there := r.take("arguments"); there {
		d.Arguments = schemaOf(given)
	}
	if in := r.inner(KindExec); in != nil {
		d.Exec = &Exec{Argv: in.texts("argv"), TimeLimit: in.time("time_limit"), OutputLimit: in.size("output_limit")}
		in.rest()
	}
	if in := r.inner(KindHTTP); in != nil {
		d.HTTP = &HTTP{
			Method: in.text("method"), URL: in.text("url"), Hosts: in.texts("hosts"), Header: in.pairs("header"), Body: in.text("body"),
			TimeLimit: in.time("time_limit"), OutputLimit: in.size("output_limit"),
		}
		in.rest()
	}
	if in := r.inner(KindMQTT); in != nil {
		d.MQTT = &MQTT{
			Topic: in.text("topic"), Payload: in.text("payload"), Format: in.text("format"),
			QoS: in.number("qos"), Retain: in.flag("retain"), TimeLimit: in.time("time_limit"),
		}
		in.rest()
	}
	if in := r.inner(KindRead); in != nil {
		d.Read = &Read{
			Root: in.text("root"), Path: in.text("path"), MayCome: in.flag("may_come"),
			TimeLimit: in.time("time_limit"), OutputLimit: in.size("output_limit"),
		}
		in.rest()
	}
	r.rest()
	return nil
}

// table reads the keys of one table, each once, and keeps what is wrong with them.
type table struct {
	tree   map[string]any
	where  string
	faults *[]Fault
	taken  []string
}

func (t *table) fault(key, what, mend string) {
	*t.faults = append(*t.faults, Fault{Where: t.where + key, What: what, Mend: mend})
}

func (t *table) take(key string) (any, bool) {
	t.taken = append(t.taken, key)
	v, there := t.tree[key]
	return v, there
}

// taking reads a key that must be of one type of TOML.
func taking[T any](t *table, key, want string) (T, bool) {
	v, there := t.take(key)
	got, ok := v.(T)
	if there && !ok {
		t.fault(key, "it is not "+want, "write "+want)
	}
	return got, there && ok
}

func (t *table) text(key string) string {
	s, _ := taking[string](t, key, "a text")
	return s
}

func (t *table) flag(key string) bool {
	b, _ := taking[bool](t, key, "true or false")
	return b
}

func (t *table) number(key string) int {
	n, _ := taking[int64](t, key, "a whole number")
	return int(max(min(n, 1<<30), -1<<30))
}

// size reads a count of bytes; 0 is told from a missing one.
func (t *table) size(key string) int {
	if n, there := taking[int64](t, key, "a whole number of bytes"); there {
		if n < 1 || n > MostOutput {
			t.fault(key, "it is out of its range", fmt.Sprintf("write 1 to %d bytes", MostOutput))
			return 0
		}
		return int(n)
	}
	return 0
}

// time reads a duration such as "10s"; 0 where there is none.
func (t *table) time(key string) time.Duration {
	s, there := taking[string](t, key, `a time such as "10s"`)
	if !there {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < LeastTime || d > MostTime {
		t.fault(key, "it is no time in its range", fmt.Sprintf(`write a time from "%v" to "%v", such as "10s"`, LeastTime, MostTime))
		return 0
	}
	return d
}

func (t *table) texts(key string) []string {
	const want = "a list of texts"
	list, there := taking[[]any](t, key, want)
	if !there {
		return nil
	}
	out := make([]string, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			t.fault(fmt.Sprintf("%s[%d]", key, i), "it is not a text", "write it in quotation marks")
		}
		out[i] = s
	}
	return out
}

func (t *table) pairs(key string) map[string]string {
	in := t.inner(key)
	if in == nil {
		return nil
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(in.tree)) {
		out[name] = in.text(name)
	}
	return out
}

// inner gives the table at a key, or nil.
func (t *table) inner(key string) *table {
	tree, there := taking[map[string]any](t, key, "a table")
	if !there {
		return nil
	}
	return &table{tree: tree, where: t.where + key + ".", faults: t.faults}
}

// rest faults the keys that nothing read.
func (t *table) rest() {
	for _, key := range slices.Sorted(maps.Keys(t.tree)) {
		if !slices.Contains(t.taken, key) {
			slices.Sort(t.taken)
			t.fault(key, "there is no such key", fmt.Sprintf("remove it, or write one of %v", t.taken))
		}
	}
}
