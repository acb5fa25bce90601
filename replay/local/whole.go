//go:build linux

package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// list is the file with the digest of what an environment holds. Environments that are older than it have none.
func (e envFolder) list() string { return filepath.Join(e.dir, "list") }

// digest is that of names, kinds, sizes and times of all that an environment holds. Contents are not read: there may be gigabytes.
func (e envFolder) digest() (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(e.content(), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() { // only what is in it counts
			fmt.Fprintf(h, "%q\n", name[len(e.dir):])
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v %d %d\n", name[len(e.dir):], info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// whole reports whether a complete environment is as it was when it was built. Whoever tidies folders by the age of files, or writes to
// one, would change outcomes: that is the machinery's fault and no candidate's. A process looks once at each. Where steps have no root of their own
// they can write to environments, so that nothing is told.
func (s *Sandbox) whole(e envFolder) bool {
	s.mu.Lock()
	seen := s.seen[e.id]
	s.mu.Unlock()
	if seen || !s.caps.Namespaces {
		return true
	}
	want, err := os.ReadFile(e.list())
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if got, err := e.digest(); err != nil || got != string(want) {
		return false
	}
	s.mu.Lock()
	s.seen[e.id] = true
	s.mu.Unlock()
	return true
}
