//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"sluice/replay"
)

// maxInodes bounds the files of a job: many empty ones also fill a disk.
const maxInodes = 2_000_000

// guardDisk returns true once the folders hold more than most bytes, false when ctx ends. It spends at most a twentieth of
// the time on looking.
func guardDisk(ctx context.Context, clock func() time.Time, dirs []string, most int64) bool {
	pause := time.Second
	for {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
		begun := clock()
		if bytes, inodes := usage(ctx, dirs); bytes > most || inodes > maxInodes {
			return true
		}
		pause = min(max(time.Second, 20*clock().Sub(begun)), time.Minute)
	}
}

// usage adds up what the folders occupy. It races with the job; what vanishes meanwhile does not count.
func usage(ctx context.Context, dirs []string) (bytes, inodes int64) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, syscall.ENAMETOOLONG) {
				inodes = maxInodes + 1 // folders too deep to be looked at: nobody builds them by accident
				return err
			}
			if err != nil {
				return nil
			}
			inodes++
			if info, err := e.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					bytes += st.Blocks * 512
				}
			}
			return nil
		})
	}
	return bytes, inodes
}

// removeAll removes a folder that hostile code has written. It may hold folders without permissions, or nested deeper than
// this process may open files at once, which only rm can remove.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = exec.Command("rm", "-rf", "--", dir).Run()
	return os.RemoveAll(dir)
}

// leastFree is the room, in bytes, below which a disk counts as full.
const leastFree = 64 << 20

// full takes it from an error that the disk is full when it is not: then a small file system of the step's own was, which no other job would meet.
func (s *Sandbox) full(err error) error {
	var st syscall.Statfs_t
	if !errors.Is(err, replay.ErrNoSpace) || syscall.Statfs(s.opts.Root, &st) != nil || st.Bavail*uint64(st.Bsize) < leastFree {
		return err
	}
	return fmt.Errorf("although the disk has room: %s", err)
}
