package boards

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/BurntSushi/toml"
)

// Profile is one kind of machine and the limits that suit it.
type Profile struct {
	// Name is the name of its file.
	Name string `toml:"-"`
	// About says in one sentence which machines are meant.
	About string `toml:"about"`
	// MemoryBelow is the memory in bytes that a machine must have less of for
	// this profile to fit; 0 means any.
	MemoryBelow int64 `toml:"memory_below"`
	// GoMemLimit is the memory in bytes above which the collector works harder;
	// it is a soft limit.
	GoMemLimit int64 `toml:"go_memory_limit"`
	// GCPercent is how much garbage, in percent of what lives, may gather.
	GCPercent int `toml:"gc_percent"`
	// Workers prepare entries ahead of the fold; 0 means one per core.
	Workers int `toml:"workers"`
	// Queue is how many entries may wait in each line.
	Queue int `toml:"queue"`
	// Candidates is how many nearest impressions an entry is compared with. It
	// is part of the dynamics: the same diary gives the same character only
	// where it is the same.
	Candidates int `toml:"candidates"`
}

//go:embed profiles/*.toml
var files embed.FS

// Profiles are all profiles: those for less memory first.
func Profiles() ([]Profile, error) {
	list, err := files.ReadDir("profiles")
	if err != nil {
		return nil, err
	}
	var out []Profile
	for _, f := range list {
		p, err := read(path.Join("profiles", f.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Profile) int {
		switch {
		case a.MemoryBelow == b.MemoryBelow:
			return 0
		case b.MemoryBelow == 0 || a.MemoryBelow != 0 && a.MemoryBelow < b.MemoryBelow:
			return -1
		}
		return 1
	})
	return out, nil
}

// read reads one embedded profile.
func read(name string) (Profile, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return Profile{}, err
	}
	p := Profile{Name: path.Base(name[:len(name)-len(path.Ext(name))])}
	meta, err := toml.NewDecoder(bytes.NewReader(data)).Decode(&p)
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("the key %v is not known", meta.Undecoded()[0])
	}
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return p, fmt.Errorf("board profile %s: %w", p.Name, err)
	}
	return p, nil
}

// check reports every figure that makes no sense.
func (p Profile) check() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	refuse(p.About == "", "about is empty")
	refuse(p.MemoryBelow < 0, "memory_below is %d; it must be 0 or more", p.MemoryBelow)
	refuse(p.GoMemLimit < 32<<20, "go_memory_limit is %d; it must be 32 MB or more", p.GoMemLimit)
	refuse(p.GCPercent < 10 || p.GCPercent > 400, "gc_percent is %d; it must be from 10 to 400", p.GCPercent)
	refuse(p.Workers < 0 || p.Workers > 256, "workers is %d; it must be from 0 to 256", p.Workers)
	refuse(p.Queue < 2 || p.Queue > 65536, "queue is %d; it must be from 2 to 65536", p.Queue)
	refuse(p.Candidates < 1 || p.Candidates > 65536, "candidates is %d; it must be from 1 to 65536", p.Candidates)
	return errors.Join(faults...)
}
