//go:build linux

package local

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// initName is argv[0] of this program when it is the first process of a step.
const initName = "sluice-sandbox-init"

// The files that the first process inherits after stdin, stdout and stderr.
const (
	lifelineFD = 3 // the launch, then end of file when the sandbox is gone or wants the step to end
	statusFD   = 4
	groupFD    = 5 // and the following ones: cgroups
)

// lingerGrace is what processes that outlive the step's own get to end by themselves.
const lingerGrace = 100 * time.Millisecond

// launch is what the first process has to do.
type launch struct {
	Isolated bool           `json:"isolated"`
	Network  bool           `json:"network"` // the host's
	Root     string         `json:"root"`    // empty folder on which the new root is built
	Mounts   []mount        `json:"mounts"`
	Dir      string         `json:"dir"`
	Args     []string       `json:"args"`
	Env      []string       `json:"env"`
	Rlimits  map[int]uint64 `json:"rlimits"`
	GroupsV1 int            `json:"groups_v1"` // how many tasks files follow groupFD
	GroupV2  bool           `json:"group_v2"`  // then a folder
}

// status is what the first process reports before it exits.
type status struct {
	Fault     string // the machinery's, not the step's
	Exit      int
	Signal    int
	Lingering bool
}

var initialised bool

// Init must be the first call in main, and in TestMain of tests that use the sandbox: it returns at once, unless this
// process was started as the first process of a step; then it does that and never returns.
func Init() {
	if len(os.Args) == 0 || os.Args[0] != initName {
		initialised = true
		return
	}
	runtime.LockOSThread() // capabilities and v1 cgroups belong to the thread that starts the step
	out := os.NewFile(statusFD, "status")
	st := runInit()
	_ = json.NewEncoder(out).Encode(st)
	os.Exit(0)
}

func runInit() status {
	signal.Notify(make(chan os.Signal, 1)) // the step may signal its first process: nothing happens
	// Nothing that this process inherited reaches the step, also not what its parent's parent forgot to close.
	if err := unix.CloseRange(lifelineFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fault("closing files", err)
	}
	syscall.Umask(0o022)
	lifeline := os.NewFile(lifelineFD, "lifeline")
	var l launch
	if err := json.NewDecoder(lifeline).Decode(&l); err != nil {
		return fault("reading the launch", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		killChildren()
		os.Exit(1)
	}()
	if err := prepare(l); err != nil {
		return fault("preparing the step", err)
	}
	pid, st := start(l)
	if pid == 0 {
		return st
	}
	st = wait(pid)
	st.Lingering = lingering()
	if st.Lingering {
		killChildren()
	}
	return st
}

func fault(doing string, err error) status {
	return status{Fault: fmt.Sprintf("%s: %v", doing, err)}
}

// prepare builds the walls around this process and its children.
func prepare(l launch) error {
	_, _ = unix.KeyctlJoinSessionKeyring("") // the host's keys; not all kernels have any
	if l.Isolated {
		if err := buildRoot(l.Root, l.Mounts); err != nil {
			return err
		}
		if err := unix.Sethostname([]byte("sandbox")); err != nil {
			return fmt.Errorf("setting the host name: %w", err)
		}
		if !l.Network {
			if err := loopbackUp(); err != nil {
				return fmt.Errorf("setting up loopback: %w", err)
			}
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the reaper: %w", err)
	}
	for what, n := range l.Rlimits {
		if what == syscall.RLIMIT_DATA {
			n += ownData() // this process must be able to go on
		}
		if err := lower(what, n); err != nil {
			return fmt.Errorf("setting rlimit %d: %w", what, err)
		}
	}
	return nil
}

// ownData is how many bytes of data this process has.
func ownData() uint64 {
	data, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(data))
	if len(fields) < 6 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[5], 10, 64)
	return pages * uint64(os.Getpagesize())
}

// lower sets an rlimit, or keeps the one in force if that is lower.
func lower(what int, n uint64) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(what, &old); err != nil {
		return err
	}
	n = min(n, old.Max)
	return syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n})
}

// start starts the step. A command that cannot be started is the step's failure and told as a shell tells it.
func start(l launch) (pid int, st status) {
	if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
		fmt.Fprintf(os.Stderr, "sandbox: no folder %s\n", l.Dir)
		return 0, status{Exit: 127}
	}
	file, ok := lookPath(l.Args[0], l.Dir, l.Env)
	if !ok {
		fmt.Fprintf(os.Stderr, "sandbox: %s: command not found\n", l.Args[0])
		return 0, status{Exit: 127}
	}
	attr := &syscall.ProcAttr{Dir: l.Dir, Env: l.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if err := enterGroups(l, attr.Sys); err != nil {
		return 0, fault("entering cgroups", err)
	}
	if err := dropPrivileges(); err != nil {
		return 0, fault("dropping privileges", err)
	}
	pid, err := syscall.ForkExec(file, l.Args, attr)
	switch err {
	case nil:
		return pid, status{}
	case syscall.ENOENT, syscall.EACCES, syscall.ENOEXEC, syscall.E2BIG, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG:
		fmt.Fprintf(os.Stderr, "sandbox: %s: %v\n", l.Args[0], err)
		return 0, status{Exit: 126}
	}
	return 0, fault("starting "+l.Args[0], err)
}

// lookPath finds a command as execvp does, with the step's PATH.
func lookPath(name, dir string, env []string) (string, bool) {
	if strings.Contains(name, "/") {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		_, err := os.Stat(file)
		return name, err == nil
	}
	for _, kv := range env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, d := range filepath.SplitList(path) {
			file := filepath.Join(d, name)
			if info, err := os.Stat(file); err == nil && filepath.IsAbs(d) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return file, true
			}
		}
	}
	return "", false
}

// enterGroups puts this thread, and so the process that it starts, into the v1 cgroups: the first process itself must not
// starve when a step reaches its limits.
func enterGroups(l launch, attr *syscall.SysProcAttr) error {
	for i := range l.GroupsV1 {
		f := os.NewFile(uintptr(groupFD+i), "tasks")
		_, err := f.WriteString("0")
		f.Close()
		if err != nil {
			return err
		}
	}
	if l.GroupV2 {
		fd := groupFD + l.GroupsV1
		attr.UseCgroupFD, attr.CgroupFD = true, fd
	}
	return nil
}

// dropPrivileges takes all capabilities from this thread and what it starts, for good.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		// Without CAP_SETPCAP there is nothing to drop, and an older kernel does not know the last ones.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// wait reaps until the step's own process has ended.
func wait(pid int) status {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return fault("waiting", err)
		case got == pid && ws.Signaled():
			return status{Exit: 128 + int(ws.Signal()), Signal: int(ws.Signal())}
		case got == pid:
			return status{Exit: ws.ExitStatus()}
		}
	}
}

// lingering says whether processes are left when the grace is over: all orphans are children of this process.
func lingering() bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range int(lingerGrace / (2 * time.Millisecond)) {
		if !reap() {
			return false
		}
		<-tick.C
	}
	return reap()
}

// reap collects the dead children and says whether there are others.
func reap() bool {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return err == nil
		}
	}
}
