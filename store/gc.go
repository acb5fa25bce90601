package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// blobFile is a file below the blobs' folder.
type blobFile struct {
	rel    string // path below the folder
	digest string // "" for what is no blob
	temp   bool   // being written, or left over
}

// each visits all files of the folder in the order of their names.
func (b *blobs) each(f func(blobFile) error) error {
	return filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // renamed or removed by another process meanwhile
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(b.dir, path)
		if err != nil {
			return err
		}
		return f(identify(rel))
	})
}

func identify(rel string) blobFile {
	dir, base := filepath.Split(rel)
	name, ok := strings.CutSuffix(strings.TrimSuffix(dir, string(filepath.Separator))+base, blobSuffix)
	f := blobFile{rel: rel, temp: filepath.Clean(dir) == tempFolder}
	if ok && len(dir) == 3 && isHex(name) {
		f.digest = digestPrefix + name
	}
	return f
}

// GC removes blobs that nothing in the ledger refers to and that were last Put more than grace ago, and temporary files as
// old; bytes counts what that frees on disk. grace must exceed the time between a Put and the commit that refers to it, in
// any process: such a blob is unreferenced too.
func (s *Store) GC(ctx context.Context, grace time.Duration) (removed int, bytes int64, err error) {
	refs, err := s.references(ctx, append([]string{markRefs}, blobRefs...)...)
	if err != nil {
		return 0, 0, fmt.Errorf("collecting references: %w", err)
	}
	keep := make(map[string]bool, len(refs))
	for _, r := range refs {
		keep[r.digest] = true
	}
	limit := s.clock().Add(-grace)
	err = s.blobs.each(func(f blobFile) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f.temp && (f.digest == "" || keep[f.digest]) {
			return nil
		}
		n, err := s.blobs.removeOld(filepath.Join(s.blobs.dir, f.rel), limit)
		if err == nil && n >= 0 {
			removed, bytes = removed+1, bytes+n
		}
		return err
	})
	if err != nil {
		return removed, bytes, fmt.Errorf("removing unreferenced blobs: %w", err)
	}
	return removed, bytes, nil
}

// removeOld removes a file last touched before limit and returns its size, or -1 if it stays. The look and the removal are
// one step for whoever pins blobs: a blob that was just put again is either young, or gone and written anew.
func (b *blobs) removeOld(path string, limit time.Time) (size int64, err error) {
	unlock, err := b.lock(exclusive)
	if err != nil {
		return -1, err
	}
	defer unlock()
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil || !info.ModTime().Before(limit) {
		return -1, err
	}
	return info.Size(), os.Remove(path)
}
