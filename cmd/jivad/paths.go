package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

const (
	configName   = "jivad.toml"
	systemConfig = "/etc/jivad/jivad.toml"
	systemData   = "/var/lib/jivad"
	systemSocket = "/run/jivad/jivad.sock"
	// longestSocket is what the kernel takes as the path of a socket.
	longestSocket = 107
)

// place is where the things of one companion are.
type place struct {
	config string // file
	data   string // folder
	socket string
	diary  string // folder
	// soul and backups are as the settings have them, empty for the usual place.
	soul, backups string
}

// places are what lifecycle knows of them.
func (at place) places() lifecycle.Places {
	return lifecycle.Places{Dir: at.data, Diary: at.diary, Soul: at.soul, Backups: at.backups, Config: at.config}
}

// noConfigError says the one command that makes a configuration.
type noConfigError struct {
	looked  []string
	command string
}

func (e noConfigError) Error() string {
	s := "there is no configuration yet; looked for"
	for _, p := range e.looked {
		s += "\n  " + p
	}
	return s
}

// Hint is what to do.
func (e noConfigError) Hint() string { return "Make one with:  " + e.command }

// noCompanionError says that a folder holds none.
type noCompanionError struct {
	folder, command string
	// restore is the command that brings one back, where there are backups of it,
	// lost the error that says so where that is not all there is to say.
	restore string
	lost    error
}

func (e noCompanionError) Unwrap() error { return e.lost }

func (e noCompanionError) Error() string {
	if e.lost != nil {
		return e.lost.Error()
	}
	if e.restore != "" {
		return fmt.Sprintf("the store of %s is missing, and there are backups of it; put the newest in place with `%s`", e.folder, e.restore)
	}
	return fmt.Sprintf("no companion in %s; make one with `%s`", e.folder, e.command)
}

// missing is the error of a data folder that holds no companion, or nil.
func (a *app) missing(at place) error {
	_, err := os.Stat(filepath.Join(at.data, chitta.FileName))
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return nil // it is there, or opening it tells why it cannot be seen
	}
	none := noCompanionError{folder: at.data, command: a.initCommand()}
	if at.backups == "" && hasBackups(at) {
		none.restore = a.command() + " restore --latest"
	} else {
		none.lost = a.lost(context.Background(), at)
	}
	return usageError{none}
}

// lost is the error of a data folder whose store is missing although there was one,
// or nil.
func (a *app) lost(ctx context.Context, at place) error {
	return lifecycle.Missing(ctx, at.places(), a.restoreCommand)
}

// initCommand is the init that goes with the flags of this call.
func (a *app) initCommand() string { return a.command() + " init" }

// command is how this program is called for this companion.
func (a *app) command() string {
	command := "jivad"
	for _, f := range [][2]string{{"--config", a.flags.config}, {"--data", a.flags.data}} {
		if f[1] != "" {
			command += " " + f[0] + " " + quoted(f[1])
		}
	}
	return command
}

// quoted writes a word as a shell takes it.
func quoted(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+:@%,~", r)
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// find reads the settings and says where everything is. The place is known also
// where the settings have faults, unless their file is not TOML at all and might
// have named another data folder.
func (a *app) find() (config.Config, place, error) {
	file, err := a.configFile()
	var none noConfigError
	if errors.As(err, &none) && a.flags.data != "" {
		err = cmp.Or(a.missing(place{data: absolute(a.flags.data)}), err)
	}
	if err != nil {
		return config.Config{}, place{}, err
	}
	c, err := config.Load(file, a.environ)
	var faults *config.Error
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return c, place{}, usage("configuration %s cannot be read: %w", file, bare(err))
	case err != nil && !errors.As(err, &faults):
		return c, place{}, err
	case err != nil && c == (config.Config{}) && a.flags.data == "" && a.flags.socket == "" && !isDataFolder(filepath.Dir(file)):
		return c, place{}, err
	}
	at, placeErr := a.placeOf(c, file)
	if err == nil {
		err = placeErr
	}
	if err == nil {
		err = at.places().Check()
	}
	return c, at, err
}

// placeOf follows the order of precedence: flag or variable, settings, the
// usual place.
func (a *app) placeOf(c config.Config, file string) (place, error) {
	at := place{config: file, data: c.Data, socket: c.Socket, diary: c.Diary.Path, soul: c.Soul.Path, backups: c.Backups.Path}
	var err error
	if a.flags.data != "" {
		at.data = a.flags.data
	} else if at.data == "" {
		if at.data, err = a.usualData(file); err != nil {
			return at, err
		}
	}
	if at.data, err = filepath.Abs(at.data); err != nil {
		return at, err
	}
	if at.diary == "" {
		at.diary = filepath.Join(at.data, "diary")
	}
	if a.flags.socket != "" {
		if at.socket, err = filepath.Abs(a.flags.socket); err != nil {
			return at, err
		}
	}
	at.socket, err = a.socketPath(at)
	return at, err
}

// configFile finds the configuration.
func (a *app) configFile() (string, error) {
	if a.flags.config != "" {
		return filepath.Abs(a.flags.config)
	}
	var looked []string
	if a.flags.data != "" {
		data, err := filepath.Abs(a.flags.data)
		if err != nil {
			return "", err
		}
		looked = append(looked, filepath.Join(data, configName))
	}
	own, err := a.userConfig()
	if err != nil {
		return "", err
	}
	looked = append(looked, own, systemConfig)
	for _, p := range looked {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", usage("configuration %s cannot be read: %w", p, bare(err))
		}
	}
	return "", usageError{noConfigError{looked, a.initCommand()}}
}

// userConfig is the configuration of a person who named none.
func (a *app) userConfig() (string, error) {
	dir, err := a.xdg("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "jivad", configName), err
}

// usualData is the data folder where nobody names one.
func (a *app) usualData(file string) (string, error) {
	if file == systemConfig && ownedByRoot(systemConfig) {
		return systemData, nil
	}
	// The configuration of a data folder lies in it, beside the store.
	if dir := filepath.Dir(file); file != "" && isDataFolder(dir) {
		return dir, nil
	}
	dir, err := a.xdg("XDG_DATA_HOME", filepath.Join(".local", "share"))
	return filepath.Join(dir, "jivad"), err
}

// isDataFolder tells whether a store is there, or was.
func isDataFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, chitta.FileName))
	if err == nil || hasBackups(place{data: dir}) {
		return true
	}
	replaced, err := chitta.Replaced(dir)
	return err == nil && len(replaced) > 0
}

// hasBackups tells whether automatic backups are in a data folder.
func hasBackups(at place) bool {
	list, err := chitta.ListBackups(backupFolder("", at))
	return err == nil && len(list) > 0 && list[0].Automatic
}

func ownedByRoot(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0
}

// xdg is a folder of the XDG rules: the variable, if it is an absolute path, or
// a folder of the home.
func (a *app) xdg(variable, under string) (string, error) {
	if dir := a.getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", usage("neither %s nor HOME names a folder; give --data and --config", variable)
	}
	return filepath.Join(home, under), nil
}

// socketPath sees that the kernel can take the path. One that follows from a
// deep data folder is moved to the person's runtime folder, under a name that
// the data folder gives.
func (a *app) socketPath(at place) (string, error) {
	if at.socket != "" {
		if len(at.socket) > longestSocket {
			return "", usage("the socket %s has a path of %d bytes; the system takes %d: give a shorter one with --socket", at.socket, len(at.socket), longestSocket)
		}
		return at.socket, nil
	}
	if at.data == systemData {
		return systemSocket, nil
	}
	inside := filepath.Join(at.data, "jivad.sock")
	if len(inside) <= longestSocket {
		return inside, nil
	}
	if dir := a.getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		name := fnv.New64a()
		fmt.Fprint(name, at.data)
		if short := filepath.Join(dir, fmt.Sprintf("jivad-%x.sock", name.Sum64())); len(short) <= longestSocket {
			return short, nil
		}
	}
	return "", usage("the data folder's path is too long for a socket in it (%d bytes, the system takes %d): name one with --socket or JIVAD_SOCKET", len(inside), longestSocket)
}

// bare takes the path off an error of the file system.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
