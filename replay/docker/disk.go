package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/dustin/go-humanize"
)

// DiskOptions say what becomes of the engine's disk.
type DiskOptions struct {
	// Least is how many bytes must be free before an environment is built or a job begins; 0 = 1 GiB. With less, many would begin and fail
	// one by one, and the rest of the machine with them.
	Least int64
	// Evict makes room: it removes environments that no living run uses, of ours only, until need more bytes are free. With need 0 it
	// looks whether environments take more than they may. It returns how many bytes are free that were not. nil: nothing is removed.
	Evict func(ctx context.Context, need int64) (freed int64, err error)
	// Patience is how long a job waits for room that others may leave, before its error is the caller's; 0 = 2 minutes.
	Patience time.Duration
}

func (d DiskOptions) withDefaults() DiskOptions {
	d.Least, d.Patience = cmp.Or(d.Least, 1<<30), cmp.Or(d.Patience, 2*time.Minute)
	if d.Evict == nil {
		d.Evict = func(context.Context, int64) (int64, error) { return 0, nil }
	}
	return d
}

// DiskFree is how many bytes an engine's disk has free; known is false where the engine is not on this machine.
func DiskFree(api *client.Client, info system.Info) (bytes uint64, known bool) {
	st, known := disk(api, info)
	return st.Bavail * uint64(st.Bsize), known
}

func disk(api *client.Client, info system.Info) (st syscall.Statfs_t, known bool) {
	known = strings.HasPrefix(api.DaemonHost(), "unix://") && syscall.Statfs(info.DockerRootDir, &st) == nil
	return st, known
}

// fits says whether an engine's disk can ever have so many bytes free: else all environments would be removed in vain.
func fits(api *client.Client, info system.Info, least int64) error {
	st, known := disk(api, info)
	if all := st.Blocks * uint64(st.Bsize); known && uint64(least) > all {
		return fmt.Errorf("%w: it has %s in all, and %s are to be free before anything begins", ErrNoSpace, humanize.Bytes(all), humanize.Bytes(uint64(least)))
	}
	return nil
}

// room says whether there is space to begin something.
func (s *Sandbox) room() error {
	least := s.o.Disk.Least
	if bytes, known := s.free(); known && bytes < uint64(least) {
		return fmt.Errorf("%w: it has %s, beginning something takes at least %s", ErrNoSpace, humanize.Bytes(bytes), humanize.Bytes(uint64(least)))
	}
	return nil
}

// firstPause is how long a job waits for room at first; later pauses are twice as long each.
const firstPause = 5 * time.Second

// withRoom does f. While the engine's disk is full it removes environments, or waits for what others leave, and does f again: a full disk
// is no candidate's fault. What fails although there is room, the job's own file systems are too small for: no other job would meet that.
func (s *Sandbox) withRoom(ctx context.Context, f func() error) error {
	full := func(err error) bool { return errors.Is(err, ErrNoSpace) }
	var waited time.Duration
	pause, again, emptied := firstPause, false, false
	for {
		err := s.room()
		if err == nil {
			if err = f(); !full(err) {
				return err
			}
			if known := s.room(); known == nil && s.sees() {
				if again {
					return fmt.Errorf("although the engine's disk has room: %s", err)
				}
				again = true
				continue
			}
		}
		if n := s.layers.Empty(); n > 0 && !emptied { // once: a job may make one each time
			emptied = true
			if werr := s.gone.wait(ctx); werr != nil {
				return errors.Join(err, werr)
			}
			continue
		}
		freed, everr := s.o.Disk.Evict(ctx, 2*s.o.Disk.Least)
		if everr != nil {
			return fmt.Errorf("%w; making room: %w", err, everr)
		}
		if freed > 0 {
			continue
		}
		if waited >= s.o.Disk.Patience {
			return err
		}
		if werr := s.o.Clock.Wait(ctx, pause); werr != nil {
			return errors.Join(err, werr)
		}
		waited += pause
		pause *= 2
	}
}

// sees reports whether the engine's disk can be looked at from here.
func (s *Sandbox) sees() bool { _, known := s.free(); return known }
