//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"sluice/replay"
)

// killWait is what the kernel may take to end a step that was killed. Beyond it something is wrong with the host.
const killWait = 30 * time.Second

// session is what the steps of one job or one Install share.
type session struct {
	s      *Sandbox
	view   view
	places places
	group  *group
	limits replay.Limits
	vars   []map[string]string // layers below the step's own
	// secrets are those of the variables of a session that has the network.
	secrets replay.Secrets
	count   int
}

// open makes the state and the cgroups of a session.
func (s *Sandbox) open(v view, l replay.Limits) (*session, error) {
	st, err := s.newState()
	if err != nil {
		return nil, err
	}
	v.state, v.isolated, v.overlay, v.userns = st, s.caps.Namespaces, s.caps.Overlay, os.Geteuid() != 0
	v.shm = l.Memory / 4 // as in docker
	se := &session{s: s, view: v, places: v.places(), limits: l}
	if err = os.WriteFile(st.path("log/hosts"), []byte(hosts), 0o644); err == nil {
		se.group, err = s.groups.open(st.name, l)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a session: %w", err), s.drop(st))
	}
	return se, nil
}

// close removes all that the session made, after killing what is left of its processes.
func (se *session) close() error {
	if !se.view.isolated {
		killMarked(se.view.state.name)
	}
	return errors.Join(se.group.remove(), se.s.drop(se.view.state))
}

// step runs one step. Its error is the machinery's, or the context's.
func (se *session) step(ctx context.Context, step replay.Step) (replay.StepResult, error) {
	res := replay.StepResult{Name: step.Name}
	stdout, stderr, err := se.logs()
	if err != nil {
		return res, err
	}
	defer stdout.Close()
	defer stderr.Close()
	l, err := se.launch(step)
	if err != nil {
		return res, fmt.Errorf("step %s: %w", step.Name, err)
	}
	kills, begun := se.group.oomKills(), se.s.opts.Clock()
	end, err := se.supervise(ctx, step.Timeout, l, [2]*os.File{stdout, stderr})
	res.Duration = se.s.opts.Clock().Sub(begun)
	if err != nil {
		return res, fmt.Errorf("step %s: %w", step.Name, err)
	}
	res.Stop, res.ExitCode, res.Lingering = end.stop, end.status.Exit, end.status.Lingering
	if se.group.oomKills() > kills {
		res.Stop = replay.OOM
	} else if end.dead {
		return res, fmt.Errorf("step %s: its first process died: %.2000s", step.Name, tail(stderr))
	}
	return res, se.readLogs(&res, stdout, stderr)
}

// logs makes the files of a step's output. A child that keeps them open delays nobody.
func (se *session) logs() (stdout, stderr *os.File, err error) {
	se.count++
	open := func(name string) (*os.File, error) {
		path := se.view.state.path("log/" + strconv.Itoa(se.count) + "." + name)
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	}
	if stdout, err = open("stdout"); err != nil {
		return nil, nil, err
	}
	if stderr, err = open("stderr"); err != nil {
		stdout.Close()
		return nil, nil, err
	}
	return stdout, stderr, nil
}

func (se *session) readLogs(res *replay.StepResult, stdout, stderr *os.File) error {
	var cutOut, cutErr bool
	var err error
	if res.Stdout, cutOut, err = readCut(stdout, se.limits.Output); err != nil {
		return fmt.Errorf("reading stdout: %w", err)
	}
	if res.Stderr, cutErr, err = readCut(stderr, se.limits.Output); err != nil {
		return fmt.Errorf("reading stderr: %w", err)
	}
	res.Truncated = cutOut || cutErr
	res.Stdout, res.Stderr = se.secrets.Mask(res.Stdout), se.secrets.Mask(res.Stderr)
	if res.Stop == replay.Signal && res.ExitCode == 128+int(syscall.SIGXFSZ) {
		res.Stderr = append(res.Stderr, "\n[the sandbox's limit on the size of files was reached]\n"...)
	}
	return nil
}

func tail(f *os.File) []byte {
	data, _, _ := readCut(f, 2000)
	return data
}

// launch is what the first process of the step has to do.
func (se *session) launch(step replay.Step) (launch, error) {
	if len(step.Args) == 0 {
		return launch{}, errors.New("it has no command")
	}
	dir, err := stepDir(se.places.tree, step.Dir)
	if err != nil {
		return launch{}, err
	}
	l := launch{Isolated: se.view.isolated, Network: se.view.build, Root: se.view.state.path("root"), Dir: dir}
	for _, a := range step.Args {
		l.Args = append(l.Args, se.places.expand(a))
	}
	last := map[string]string{markVar: se.view.state.name}
	if se.view.readOnlyEnv() {
		last["GOCACHE"] = se.places.goCache // also if the recipe has it in the environment
	}
	layers := append(append([]map[string]string{}, se.vars...), step.Env, last)
	l.Env = se.places.environ(se.s.host.path, layers...)
	l.Rlimits = se.rlimits()
	if se.view.isolated {
		l.Mounts = se.view.mounts(se.s.host)
		return l, se.resetOverlay()
	}
	return l, se.insideTree(step.Dir)
}

// resetOverlay empties the overlay's work folder, in which the kernel noted that the last mount was volatile.
func (se *session) resetOverlay() error {
	work := se.view.state.path("work")
	if err := removeAll(work); err != nil {
		return fmt.Errorf("resetting the overlay: %w", err)
	}
	return os.Mkdir(work, 0o755)
}

// rlimits of each process. Where no cgroup counts memory and processes, they are the second best.
func (se *session) rlimits() map[int]uint64 {
	const nproc = 6 // RLIMIT_NPROC, which package syscall does not name
	r := map[int]uint64{
		syscall.RLIMIT_FSIZE: uint64(se.limits.Disk), syscall.RLIMIT_CORE: 0, syscall.RLIMIT_NOFILE: 65536,
	}
	if se.s.caps.Memory == "rlimit" {
		r[syscall.RLIMIT_DATA] = uint64(se.limits.Memory)
	}
	if se.s.caps.Pids == "rlimit" {
		r[nproc] = uint64(se.limits.Pids)
	}
	return r
}

// ending is how a step ended.
type ending struct {
	stop   replay.Stop
	status status
	dead   bool // the first process died without a word
}

// supervise runs a launch until it ends, its time is over, the disk is full, or ctx is cancelled.
func (se *session) supervise(ctx context.Context, timeout time.Duration, l launch, out [2]*os.File) (ending, error) {
	p, err := se.spawn(l, out)
	if err != nil {
		return ending{}, err
	}
	if timeout <= 0 {
		timeout = se.limits.Wall
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTime)
	defer cancel()
	full := make(chan struct{})
	go func() {
		if guardDisk(limited, se.s.opts.Clock, se.disks(), se.s.opts.MaxDisk) {
			close(full)
		}
	}()
	stop := replay.Exited
	select {
	case st := <-p.ended:
		return finish(st)
	case <-full:
		stop = replay.DiskFull
	case <-limited.Done():
		if stop = replay.Timeout; context.Cause(limited) != errTime {
			err = context.Cause(limited)
		}
	}
	if killErr := se.kill(p); killErr != nil {
		return ending{}, killErr
	}
	return ending{stop: stop, status: status{Exit: -1}}, err
}

// errTime is the cause of a context that ends at a limit of the job, not by the caller's will.
var errTime = errors.New("time limit")

func (se *session) disks() []string {
	if se.view.build && !covered(se.view.env, []string{se.view.state.dir}) {
		return []string{se.view.state.dir, se.view.env}
	}
	return []string{se.view.state.dir}
}

func finish(st *status) (ending, error) {
	switch {
	case st == nil:
		return ending{stop: replay.Signal, status: status{Exit: -1}, dead: true}, nil
	case st.Fault != "":
		return ending{}, errors.New(st.Fault)
	case st.Signal != 0:
		return ending{stop: replay.Signal, status: *st}, nil
	}
	return ending{stop: replay.Exited, status: *st}, nil
}

// firstProcess is the first process of a step, seen from the sandbox.
type firstProcess struct {
	cmd      *exec.Cmd
	lifeline *os.File
	ended    chan *status // nil if it died without one
}

// spawn starts this program again as the first process of a step.
func (se *session) spawn(l launch, out [2]*os.File) (*firstProcess, error) {
	order, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	report, reportIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, order.Close(), lifeline.Close())
	}
	tasks, folder, err := se.group.join()
	l.GroupsV1, l.GroupV2 = len(tasks), folder != nil
	inherited := append([]*os.File{order, reportIn}, tasks...)
	if folder != nil {
		inherited = append(inherited, folder)
	}
	cmd := command(l, inherited, out)
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range inherited {
		f.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the first process: %w", err), lifeline.Close(), report.Close())
	}
	p := &firstProcess{cmd: cmd, lifeline: lifeline, ended: make(chan *status, 1)}
	go p.follow(l, report)
	return p, nil
}

// initEnv makes the start of a large program cheap: the first process does next to nothing and ends soon.
var initEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GORACE=atexit_sleep_ms=0"}

func command(l launch, inherited []*os.File, out [2]*os.File) *exec.Cmd {
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{initName}, Dir: "/", Env: initEnv,
		Stdout: out[0], Stderr: out[1], ExtraFiles: inherited, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if !l.Isolated {
		return cmd
	}
	a := cmd.SysProcAttr
	a.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	if !l.Network {
		a.Cloneflags |= syscall.CLONE_NEWNET
	}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	return cmd
}

// follow hands the launch over and waits for the end.
func (p *firstProcess) follow(l launch, report *os.File) {
	_ = json.NewEncoder(p.lifeline).Encode(l) // if it died meanwhile, its missing report says so
	var st *status
	data, _ := io.ReadAll(io.LimitReader(report, 1<<16))
	if json.Unmarshal(data, &st) != nil {
		st = nil
	}
	_ = p.cmd.Wait()
	report.Close()
	p.lifeline.Close()
	p.ended <- st
}

// kill ends the step for certain: the kernel ends a process namespace with its first process. Without namespaces the
// first process kills its descendants when the lifeline is cut, and the cgroup or the mark finds the others.
func (se *session) kill(p *firstProcess) error {
	if se.view.isolated {
		_ = p.cmd.Process.Kill()
	} else {
		p.lifeline.Close()
		defer killMarked(se.view.state.name)
	}
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("the kernel did not end a killed step within %v", killWait)
	}
}
