package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Surroundings are what a machine must offer to some tools.
type Surroundings struct {
	// Workplace is a folder in which a program is given an empty folder of its own.
	Workplace string
	// Broker tells that there is somebody to publish to.
	Broker bool
}

// Resolve proves declarations at birth (J-1): all that Check looks at, and that what
// they need is there. The error is Faults, with all of them; a life with faults is not
// born, and gets no Set.
func Resolve(declarations []Declaration, around Surroundings) (*Set, error) {
	made, faults := build(declarations)
	set := &Set{tools: make(map[string]*tool, len(made))}
	for i, t := range made {
		c := &checker{d: &t.declaration, label: label(t.declaration.Name, i), tool: t}
		c.machine(around)
		faults = append(faults, c.faults...)
		set.tools[t.declaration.Name] = t
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return set, nil
}

// machine looks at what a tool needs.
func (c *checker) machine(around Surroundings) {
	switch c.tool.kind {
	case KindExec:
		if len(c.d.Exec.Argv) > 0 && filepath.IsAbs(c.d.Exec.Argv[0]) {
			c.program(c.d.Exec.Argv[0])
		}
		if info, err := os.Stat(around.Workplace); err != nil || !info.IsDir() || unix.Access(around.Workplace, unix.W_OK|unix.X_OK) != nil {
			c.fault("exec", "there is no folder in which it could work", "make the folder of working places, writable for this program")
		}
	case KindMQTT:
		if !around.Broker {
			c.fault("mqtt", "there is no broker to publish to", "name a broker in the configuration")
		}
	case KindRead:
		if filepath.IsAbs(c.d.Read.Root) && !c.d.Read.MayCome {
			c.file(c.d.Read.Root)
		}
	}
}

// program looks at a program: it is there, a file, executable, and nothing else by another
// name.
func (c *checker) program(path string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.fault("exec.argv[0]", "there is no such program", "install it, or correct the path: command -v NAME tells it")
	case err != nil || !info.Mode().IsRegular():
		c.fault("exec.argv[0]", "it is no file that this program can see", "correct the path, or the rights of its folders")
	case info.Mode()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil:
		c.fault("exec.argv[0]", "it is not executable for this program", "chmod a+x it, or name another one")
	default:
		if what, _ := c.starts(filepath.Base(path)); what != "" {
			return // that was said already
		}
		for _, name := range namesOf(path) {
			if what, mend := c.starts(name); what != "" {
				c.fault("exec.argv[0]", "it leads to "+name+": "+what, mend)
				return
			}
		}
	}
}

// file looks at what a tool reads: the folder, and the file where the path is fixed.
func (c *checker) file(root string) {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		c.fault("read.root", "there is no such folder", "correct it, or write may_come = true where it comes later")
		return
	}
	path, fixed := c.tool.path.fixed()
	if !fixed || badPath(path) {
		return
	}
	folder, err := os.OpenRoot(root)
	if err != nil {
		c.fault("read.root", "this program cannot open it", "correct its rights")
		return
	}
	defer folder.Close()
	if info, err := folder.Stat(path); err != nil || !info.Mode().IsRegular() {
		c.fault("read.path", "there is no ordinary file at it inside the folder", "correct it (links may not lead out of the folder), or write may_come = true where it comes later")
	}
}
