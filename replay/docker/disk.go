package docker

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/dustin/go-humanize"
)

// minFree is how much the engine's disk must have free before an environment is built: with less, many would begin and fail one by one,
// and the rest of the machine with them.
const minFree = 1 << 30

// DiskFree is how many bytes an engine's disk has free; known is false where the engine is not on this machine.
func DiskFree(api *client.Client, info system.Info) (bytes uint64, known bool) {
	var st syscall.Statfs_t
	if !strings.HasPrefix(api.DaemonHost(), "unix://") || syscall.Statfs(info.DockerRootDir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

// room says whether there is space for an environment.
func (s *Sandbox) room() error {
	if bytes, known := s.free(); known && bytes < minFree {
		return fmt.Errorf("%w: it has %s, building an environment takes at least %s", ErrNoSpace, humanize.Bytes(bytes), humanize.Bytes(minFree))
	}
	return nil
}
