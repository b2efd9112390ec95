package atomicfile

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncDir makes the names in a folder durable. File systems that cannot sync a
// folder (FAT, some network and FUSE mounts) are taken to need no sync.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a folder cannot be opened for syncing there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
