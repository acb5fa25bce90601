package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

type lockMode int

const (
	shared    lockMode = syscall.LOCK_SH
	exclusive lockMode = syscall.LOCK_EX
)

// lock takes the folder's lock between processes (and goroutines: each call opens the file anew). The kernel drops it when
// the process dies. It is held for moments only: by migrations, by GC for one removal, by Put and Commit to touch blobs.
func (b *blobs) lock(mode lockMode) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(b.dir, "..", lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), int(mode))
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil //nolint:errcheck // nothing was written; closing drops the lock
}
