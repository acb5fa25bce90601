package release

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// writeFolder writes a release's files at once: into a temporary folder beside dir that is then renamed.
func writeFolder(dir string, files map[string][]byte) error {
	parent, prefix := filepath.Dir(dir), "."+filepath.Base(dir)+".tmp-"
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	done := sweep(parent, prefix)
	defer done()
	if _, err := os.Lstat(dir); err == nil {
		return sameFolder(dir, files)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing the release: %w", err)
	}
	tmp, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	defer os.RemoveAll(tmp)
	for _, name := range sortedKeys(files) {
		if err := writeSynced(filepath.Join(tmp, name), files[name]); err != nil {
			return fmt.Errorf("writing the release: %w", err)
		}
	}
	// MkdirTemp makes a folder that only its owner can read; a release is for handing on.
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		// Another process may have been faster.
		if _, statErr := os.Lstat(dir); statErr == nil {
			return sameFolder(dir, files)
		}
		return fmt.Errorf("writing the release: %w", err)
	}
	return syncDir(parent)
}

// sweep keeps other exports out of parent until done is called, and removes what killed ones left there. Where folders cannot be
// locked it does neither: what looks left over may be at work.
func sweep(parent, prefix string) (done func()) {
	f, err := os.Open(parent)
	if err != nil {
		return func() {}
	}
	done = func() { _ = f.Close() }
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return done
	}
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			_ = os.RemoveAll(filepath.Join(parent, name))
		}
	}
	return done
}

// writeSynced writes a file and waits until it is on the disk.
func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// syncDir makes a rename in the folder last.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	return nil
}

// sameFolder checks that an existing release holds exactly these files.
func sameFolder(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("comparing with the existing release: %w", err)
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			return fmt.Errorf("%w: %s also holds %s", ErrExists, dir, e.Name())
		}
	}
	for _, name := range sortedKeys(files) {
		old, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s has no %s", ErrExists, dir, name)
		}
		if err != nil {
			return fmt.Errorf("comparing with the existing release: %w", err)
		}
		if !bytes.Equal(old, files[name]) {
			return fmt.Errorf("%w: %s", ErrExists, filepath.Join(dir, name))
		}
	}
	return nil
}
