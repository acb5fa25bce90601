package docker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"sluice/replay"
)

const (
	// A command is looked at after firstPoll, then at intervals that grow with its age by a 16th, to lastPoll: so little is waited in vain.
	firstPoll = 5 * time.Millisecond
	lastPoll  = 100 * time.Millisecond
	// checkEvery is how often a running step's container is looked at: is it alive, and how much has it written.
	checkEvery = 2 * time.Second
	// quickExec bounds our own small commands.
	quickExec    = 10 * time.Second
	codeFileSize = 128 + 25 // of a command that its file size limit killed
	codeNone     = -1       // of a command that we ended
	codeKilled   = 128 + 9
)

// ending is how an exec came to its end.
type ending struct {
	stop replay.Stop
	code int
}

// exec runs a command and waits for it, not for its children, up to limit.
func (b *box) exec(ctx context.Context, o container.ExecOptions, limit time.Time) (ending, error) {
	id, err := b.launch(ctx, o)
	if err != nil && b.ended(ctx) { // by the step before, which only root can
		if err := b.halt(ctx); err != nil {
			return ending{}, err
		}
		if err := b.start(ctx); err != nil {
			return ending{}, err
		}
		id, err = b.launch(ctx, o)
	}
	if err != nil {
		return ending{}, err
	}
	return b.await(ctx, id, limit)
}

// launch starts a command.
func (b *box) launch(ctx context.Context, o container.ExecOptions) (id string, err error) {
	made, err := b.s.api.ContainerExecCreate(ctx, b.id, o)
	if err != nil {
		return "", engineError("preparing a command", err)
	}
	if err := b.s.api.ContainerExecStart(ctx, made.ID, container.ExecStartOptions{Detach: true}); err != nil {
		return "", engineError("starting a command", err)
	}
	return made.ID, nil
}

// ended reports whether the container's first process is gone, or about to go: an engine refuses commands before it says so.
func (b *box) ended(ctx context.Context) bool {
	for range 20 {
		in, err := b.s.api.ContainerInspect(ctx, b.id)
		if err != nil {
			return false
		}
		if in.State != nil && !in.State.Running {
			return true
		}
		if b.s.o.Clock.Wait(ctx, lastPoll) != nil {
			return false
		}
	}
	return false
}

func (b *box) await(ctx context.Context, id string, limit time.Time) (ending, error) {
	clock := b.s.o.Clock
	wait, check := firstPoll, clock.Now().Add(checkEvery)
	for {
		in, err := b.s.api.ContainerExecInspect(ctx, id)
		if err != nil && !cerrdefs.IsNotFound(err) {
			return ending{}, engineError("watching a command", err)
		}
		if err == nil && !in.Running {
			return ending{replay.Exited, in.ExitCode}, nil
		}
		now := clock.Now()
		if !now.Before(limit) {
			return ending{replay.Timeout, codeNone}, nil
		}
		if !now.Before(check) || err != nil {
			if end, over, err := b.check(ctx); err != nil || over {
				return end, err
			}
			check = clock.Now().Add(checkEvery)
		}
		if err := clock.Wait(ctx, min(wait, limit.Sub(now))); err != nil {
			return ending{}, fmt.Errorf("waiting for a command: %w", err)
		}
		wait = min(wait*17/16, lastPoll)
	}
}

// check looks at the container of a running step: the step is over when the container is dead or has written too much.
func (b *box) check(ctx context.Context) (end ending, over bool, err error) {
	in, _, err := b.s.api.ContainerInspectWithRaw(ctx, b.id, true)
	if err != nil {
		return end, false, engineError("looking at a container", err)
	}
	switch {
	case in.State != nil && !in.State.Running && in.State.OOMKilled:
		b.running = false
		return ending{replay.OOM, codeKilled}, true, nil
	case in.State != nil && !in.State.Running:
		b.running = false
		return ending{replay.Signal, codeKilled}, true, nil
	case in.SizeRw != nil && *in.SizeRw > b.s.o.Total:
		return ending{replay.DiskFull, codeNone}, true, nil
	}
	return end, false, nil
}

// output runs a small command of ours as root and returns what it printed.
func (b *box) output(ctx context.Context, argv ...string) ([]byte, error) {
	return b.outputAs(ctx, rootUser, argv...)
}

func (b *box) outputAs(ctx context.Context, user string, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, quickExec)
	defer cancel()
	o := container.ExecOptions{User: user, AttachStdout: true, AttachStderr: true, Cmd: argv}
	made, err := b.s.api.ContainerExecCreate(ctx, b.id, o)
	if err != nil {
		return nil, engineError("preparing a command", err)
	}
	conn, err := b.s.api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, engineError("starting a command", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, conn.Close) // the connection itself knows no deadline
	defer stop()
	var out bytes.Buffer
	if _, err := stdcopy.StdCopy(&out, io.Discard, io.LimitReader(conn.Reader, 1<<20)); err != nil {
		return nil, engineError("reading a command's output", err)
	}
	return out.Bytes(), nil
}

// witness is what the kernel knows about a container.
type witness struct {
	kills     int  // at the container's memory limit since it was started
	full      bool // the disk under the container has no room
	processes int  // in the container's control group, without the one that asks; 0: not known
	waits     bool // the container's own second process is among them
}

// witnessScript prints the counters of the control group (version 2 or 1) and the room on the disk. It runs as root from
// the image's own files, so the steps' user cannot answer in its place. Processes are counted before it has any of its own; what they are
// called, which is theirs to say, comes last and is short.
const witnessScript = `cd /sys/fs/cgroup; read n <pids.current || read n <pids/pids.current; echo processes $n
cat memory.events memory/memory.oom_control; df -Pk /; [ "$n" != 3 ] || { echo; echo commands; cat /proc/[0-9]*/cmdline | head -c 4096; }`

// witness asks; what cannot be read is not held against anyone. heard is false if there was no answer.
func (b *box) witness(ctx context.Context) (w witness, heard bool) {
	out, err := b.output(ctx, "/bin/sh", "-c", witnessScript)
	if err != nil || len(out) == 0 {
		return witness{}, false
	}
	return parseWitness(out, waiting(b.spec.limits)), true
}

var (
	oomCounter   = regexp.MustCompile(`(?m)^oom_kill (\d+)$`)
	freeBlocks   = regexp.MustCompile(`(?m)^\S+ +\d+ +\d+ +(\d+) +\d+% +/$`)
	processCount = regexp.MustCompile(`(?m)^processes (\d+)$`)
)

// leastFree is the room, in KiB, below which a disk counts as full.
const leastFree = 4 << 10

// parseWitness reads what the script printed in a container whose first process has the command own for an argument and starts it.
func parseWitness(b []byte, own []string) witness {
	b, commands, _ := bytes.Cut(b, []byte("\n\ncommands\n"))
	free, known := number(freeBlocks, b)
	kills, _ := number(oomCounter, b)
	processes, _ := number(processCount, b)
	command := []byte(strings.Join(own, "\x00") + "\x00")
	return witness{kills: kills, full: known && free < leastFree, processes: max(0, processes-1), waits: bytes.Count(commands, command) > 1}
}

func number(re *regexp.Regexp, b []byte) (n int, ok bool) {
	m := re.FindSubmatch(b)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(m[1]))
	return n, err == nil
}
