package docker

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/strslice"

	"sluice/replay"
)

// Where things are inside a container. ioRoot can be entered but not listed by the steps' user, so that a job's own
// folder below it is found only by those who were told its name.
const (
	treeDir = "/testbed"
	envDir  = replay.EnvFolder
	homeDir = envDir + "/home"
	ioRoot  = "/sluice-io"
	caFile  = "/run/sluice-ca.pem"
)

// Labels of what sluice makes.
const (
	LabelOurs  = "sluice"           // "1" on everything
	LabelEnv   = "sluice.env"       // on an environment: its fingerprint
	LabelBase  = "sluice.base"      // on an environment: the id of the image that it was built from
	LabelRun   = "sluice.run"       // the Sandbox that made it
	LabelState = "sluice.state"     // "1" on a state that is kept for its repeats
	LabelTool  = "sluice.toolchain" // on an image of a toolchain, and on what is built from it: the toolchain's name
	LabelMade  = "sluice.made"      // likewise: the digest of what made it

	labelOwner  = "sluice.owner"  // the process that made it
	labelJob    = "sluice.job"    // on a container: the job's name
	labelFolder = "sluice.folder" // on an environment: where its files believe that they are
)

const (
	namePrefix  = "sluice-" // of containers
	defaultUser = "10001:10001"
	rootUser    = "0:0"

	defaultTotal  = 10 << 30
	defaultStates = 4 << 30
	// maxOpen is the number of open files of a process. It is no more than what engines have themselves, since they
	// cannot give more.
	maxOpen = 4096
	// selfDestruct is how long a container outlives its job's wall limit when nobody removes it.
	selfDestruct = 10 * time.Minute
)

func defaultLimits() replay.Limits {
	return replay.Limits{
		Wall: 30 * time.Minute, Memory: 4 << 30, Pids: 2048, CPUs: replay.DefaultCPUs, Output: 16 << 20, Disk: 1 << 30,
	}
}

// installCaps are what Debian's package tools need to change owners and to drop to their own users.
var installCaps = strslice.StrSlice{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID", "KILL"}

// boxSpec is what a container is made for.
type boxSpec struct {
	image   string
	job     string
	network string // "none" for jobs
	caps    strslice.StrSlice
	user    string // of the steps; the container's first process is always root's
	limits  replay.Limits
}

func (s *Sandbox) config(b boxSpec) (*container.Config, *container.HostConfig) {
	cfg := &container.Config{
		Image:      b.image,
		Hostname:   "sandbox",
		User:       rootUser,
		WorkingDir: "/",
		Entrypoint: strslice.StrSlice{""},
		Cmd:        waiting(b.limits),
		Labels:     map[string]string{LabelOurs: "1", labelOwner: s.owner, LabelRun: s.run, labelJob: b.job},
	}
	host := hostConfig(b)
	if most := int64(s.info.NCPU) * 1e9; most > 0 {
		host.NanoCPUs = min(host.NanoCPUs, most) // an engine refuses to promise more than it has
	}
	host.Runtime, host.SecurityOpt = s.o.Walls.Runtime, s.security
	if b.network == "none" && s.ipv6() { // engines switch it off where they give no network, and name ::1 localhost all the same
		host.Sysctls = map[string]string{"net.ipv6.conf.all.disable_ipv6": "0"}
	}
	return cfg, host
}

// waiting is what a container's init starts: it does nothing, and ends by itself.
func waiting(l replay.Limits) strslice.StrSlice {
	return strslice.StrSlice{"sleep", strconv.FormatInt(int64((l.Wall+selfDestruct)/time.Second), 10)}
}

func hostConfig(b boxSpec) *container.HostConfig {
	yes := true
	l := b.limits
	return &container.HostConfig{
		NetworkMode: container.NetworkMode(b.network),
		ExtraHosts:  []string{"sandbox:127.0.0.1"}, // else looking up one's own name needs a name server
		CapDrop:     strslice.StrSlice{"ALL"},
		CapAdd:      b.caps,
		SecurityOpt: []string{noNewPrivileges},
		LogConfig:   container.LogConfig{Type: "none"},
		ShmSize:     l.Memory / 4,
		Init:        &yes,
		Resources: container.Resources{
			Memory: l.Memory, MemorySwap: l.Memory, PidsLimit: &l.Pids, NanoCPUs: int64(l.CPUs * 1e9),
			Ulimits: []*container.Ulimit{ulimit("core", 0), ulimit("fsize", l.Disk), ulimit("nofile", maxOpen)},
		},
	}
}

func ulimit(name string, n int64) *container.Ulimit {
	return &container.Ulimit{Name: name, Soft: n, Hard: n}
}

// places are the folders of one container.
type places struct {
	io  string // logs and reports, below ioRoot
	log string // one file per stream and step, in a folder that only root can change
	out string // the steps' own reports
}

func newPlaces() places {
	dir := path.Join(ioRoot, randomName())
	return places{io: dir, log: path.Join(dir, "log"), out: path.Join(dir, "out")}
}

func (p places) stream(step int, name string) string {
	return path.Join(p.log, strconv.Itoa(step)+"."+name)
}

func (p places) expand(s string) string {
	return strings.NewReplacer("{tree}", treeDir, "{out}", p.out, "{env}", envDir).Replace(s)
}

// environ merges environments, later ones first in rank, expands their tokens and returns them sorted.
func (p places) environ(layers ...map[string]string) []string {
	all := map[string]string{"HOME": homeDir, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}
	for _, l := range layers {
		maps.Copy(all, l)
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, k+"="+p.expand(all[k]))
	}
	return out
}

// workDir returns where a step runs.
func workDir(dir string) (string, error) {
	if dir == "" || dir == "." {
		return treeDir, nil
	}
	if !clean(dir) {
		return "", fmt.Errorf("the folder %q is not inside the tree", dir)
	}
	return path.Join(treeDir, dir), nil
}

// runScript redirects a step's streams and becomes it: $1 stdout, $2 stderr, $3 folder, then the command. It has no
// line feed, so no carriage return can slip in.
const runScript = `exec </dev/null >"$1" 2>"$2"; cd "$3" || exit 127; shift 3; exec "$@"`

func (p places) argv(step int, st replay.Step) ([]string, error) {
	dir, err := workDir(st.Dir)
	if err != nil {
		return nil, err
	}
	if len(st.Args) == 0 {
		return nil, fmt.Errorf("step %q has no command", st.Name)
	}
	argv := []string{"/bin/sh", "-c", runScript, "sh", p.stream(step, "out"), p.stream(step, "err"), dir}
	for _, a := range st.Args {
		argv = append(argv, p.expand(a))
	}
	return argv, nil
}

func randomName() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
