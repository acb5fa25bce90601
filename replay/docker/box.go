package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"sluice/replay"
)

// box is one throw-away container.
type box struct {
	s       *Sandbox
	spec    boxSpec
	places  places
	id      string
	running bool
	end     time.Time // wall limit of the steps
	oom     int       // kills at the memory limit seen since the container was started
	started time.Time
	secrets replay.Secrets // of the variables of steps that have the network
}

func (s *Sandbox) newBox(ctx context.Context, spec boxSpec) (*box, error) {
	cfg, host := s.config(spec)
	made, err := s.api.ContainerCreate(ctx, cfg, host, nil, nil, namePrefix+randomName())
	if err != nil {
		return nil, engineError("creating a container", err)
	}
	return &box{s: s, spec: spec, places: newPlaces(), id: made.ID}, nil
}

// bufferBytes is how much of an archive is sent at once: many files are small.
const bufferBytes = 256 << 10

// upload streams what fill packs into the container, at "/".
func (b *box) upload(ctx context.Context, fill func(*packer) error) error {
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		buffer := bufio.NewWriterSize(w, bufferBytes)
		k := newPacker(buffer)
		err := fill(k)
		if err == nil {
			err = errors.Join(k.tw.Close(), buffer.Flush())
		}
		w.CloseWithError(err)
		packed <- err
	}()
	err := b.s.api.CopyToContainer(ctx, b.id, "/", r, container.CopyToContainerOptions{})
	r.CloseWithError(errStopped) // ends the packer when the engine stopped reading
	if perr := <-packed; perr != nil && !errors.Is(perr, errStopped) {
		return perr
	}
	if err != nil {
		return engineError("copying files into a container", err)
	}
	return nil
}

var errStopped = errors.New("the engine stopped reading")

// start makes the container run, if it does not.
func (b *box) start(ctx context.Context) error {
	if b.running {
		return nil
	}
	if err := b.s.api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		return engineError("starting a container", err)
	}
	b.running, b.oom, b.started = true, 0, b.s.o.Clock.Now()
	return nil
}

// halt ends every process of the container. Its files stay, and start brings it back.
func (b *box) halt(ctx context.Context) error {
	if !b.running {
		return nil
	}
	now := 0
	if err := b.s.api.ContainerStop(ctx, b.id, container.StopOptions{Timeout: &now}); err != nil {
		return engineError("stopping a container", err)
	}
	b.running = false
	return nil
}

// steps runs the steps in order; none leaves a process behind. env are the layers under each step's own.
func (b *box) steps(ctx context.Context, steps []replay.Step, env ...map[string]string) ([]replay.StepResult, error) {
	b.clock(nil)
	return b.more(ctx, steps, nil, env)
}

// clock begins the time of the steps, of which some are done: copying a tree into a busy engine is not the code's time.
func (b *box) clock(done []replay.StepResult) {
	b.end = b.s.o.Clock.Now().Add(b.spec.limits.Wall)
	for _, r := range done {
		b.end = b.end.Add(-r.Duration)
	}
}

// more runs the steps that come after those that are done.
func (b *box) more(ctx context.Context, steps []replay.Step, done []replay.StepResult, env []map[string]string) ([]replay.StepResult, error) {
	stopped := false
	for i, st := range steps {
		if i >= len(done) {
			r := replay.StepResult{Name: st.Name, Stop: replay.Skipped}
			if !stopped && st.Due(done) {
				var err error
				if r, err = b.step(ctx, i, st, env); err != nil {
					return done, fmt.Errorf("step %q: %w", st.Name, err)
				}
			}
			done = append(done, r)
		}
		stopped = stopped || st.MustPass && done[i].Stop != replay.Skipped && !done[i].Passed()
	}
	return done, nil
}

// mask takes the secrets out of what steps printed.
func (b *box) mask(steps []replay.StepResult) {
	for i := range steps {
		steps[i].Stdout, steps[i].Stderr = b.secrets.Mask(steps[i].Stdout), b.secrets.Mask(steps[i].Stderr)
	}
}

func (b *box) step(ctx context.Context, i int, st replay.Step, env []map[string]string) (replay.StepResult, error) {
	r := replay.StepResult{Name: st.Name}
	argv, err := b.places.argv(i, st)
	if err != nil {
		return r, err
	}
	if !b.s.o.Clock.Now().Before(b.end) {
		r.Stop = replay.Timeout
		return r, nil
	}
	if err := b.start(ctx); err != nil {
		return r, err
	}
	begin, limit := b.s.o.Clock.Now(), b.end
	if st.Timeout > 0 && begin.Add(st.Timeout).Before(limit) {
		limit = begin.Add(st.Timeout)
	}
	opts := container.ExecOptions{User: b.spec.user, Env: b.places.environ(append(env, st.Env)...), Cmd: argv}
	end, err := b.exec(ctx, opts, limit)
	r.Duration = b.s.o.Clock.Now().Sub(begin)
	if err != nil {
		return r, err
	}
	r.Stop, r.ExitCode = end.stop, end.code
	if end.stop != replay.Exited { // also what it left in shared memory goes
		return r, b.halt(ctx)
	}
	return r, b.settle(ctx, &r)
}

// settle finds out what the exit of a step means, and ends what it left running.
func (b *box) settle(ctx context.Context, r *replay.StepResult) (err error) {
	w, heard := b.witness(ctx)
	if r.ExitCode != 0 {
		if r.Stop, err = b.failure(ctx, r.ExitCode, w, heard); err != nil {
			return err
		}
	}
	if r.Stop == replay.OOM {
		return b.halt(ctx) // what it left in shared memory would kill the next step
	}
	alone, known := b.alone(ctx, w)
	if known && alone {
		return nil
	}
	r.Lingering = known
	return b.halt(ctx)
}

// failure tells the ways apart in which a command can end with a code other than 0. The memory limit counts if the
// kernel killed anything of the job: a runner that reports its child's death by a code of its own ran out of memory too.
// A failure on a full disk is the machine's. Where no memory is left to ask in, it was the memory.
func (b *box) failure(ctx context.Context, code int, w witness, heard bool) (replay.Stop, error) {
	if !heard && code == codeKilled && b.filled(ctx) {
		return replay.OOM, nil
	}
	if w.full {
		return "", fmt.Errorf("a command failed with code %d: %w", code, ErrNoSpace)
	}
	if w.kills > b.oom {
		b.oom = w.kills
		return replay.OOM, nil
	}
	if code > 128 && code <= 128+31 { // as shells and engines report a signal
		return replay.Signal, nil
	}
	return replay.Exited, nil
}

// alone reports whether only the container's own two processes are left, by what the kernel just told. A child that is just about to end
// gets a moment. known is false where the engine cannot tell.
func (b *box) alone(ctx context.Context, w witness) (alone, known bool) {
	for _, wait := range []time.Duration{0, 30 * time.Millisecond, 170 * time.Millisecond} {
		if wait > 0 {
			if b.s.o.Clock.Wait(ctx, wait) != nil {
				return false, false
			}
			w, _ = b.witness(ctx)
		}
		n, err := b.processes(ctx, w)
		if err != nil {
			return false, false
		}
		if n <= 2 && b.settled(ctx, w) {
			return true, true
		}
	}
	return false, true
}

// settling is how long the first process of a container may take to start the one that waits, on a machine with much to do.
const settling = 5 * time.Second

// settled reports whether two processes are the container's own. Just after its start, the second one may be what a step left: then the witness
// tells, or the engine's list.
func (b *box) settled(ctx context.Context, w witness) bool {
	if w.waits || b.s.o.Clock.Now().Sub(b.started) >= settling {
		return true
	}
	top, err := b.s.api.ContainerTop(ctx, b.id, nil)
	if err != nil {
		return true // the count is all that is known
	}
	own := strings.Join(waiting(b.spec.limits), " ")
	return living(top.Processes) < 2 || slices.ContainsFunc(top.Processes, func(p []string) bool { return len(p) > 0 && p[len(p)-1] == own })
}

// filled reports whether the container has no memory left.
func (b *box) filled(ctx context.Context) bool {
	stats, err := b.stats(ctx)
	return err == nil && stats.MemoryStats.Limit > 0 && stats.MemoryStats.Usage > stats.MemoryStats.Limit/100*95
}

// stats are the numbers of the container's control group.
func (b *box) stats(ctx context.Context) (stats container.StatsResponse, err error) {
	r, err := b.s.api.ContainerStatsOneShot(ctx, b.id)
	if err != nil {
		return stats, engineError("reading the numbers of a container", err)
	}
	defer r.Body.Close()
	return stats, json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&stats)
}

// processes counts those of the container. The control group knows; a list of processes would miss one that forks and ends all the time, so
// that it is asked for last. The witness is first: an engine may tell its numbers once a second only, which is longer than most steps take.
func (b *box) processes(ctx context.Context, w witness) (int, error) {
	if w.processes > 0 {
		return w.processes, nil
	}
	if stats, err := b.stats(ctx); err == nil && stats.PidsStats.Current > 0 {
		return int(stats.PidsStats.Current), nil
	}
	top, err := b.s.api.ContainerTop(ctx, b.id, nil)
	if err != nil {
		return 0, err
	}
	return living(top.Processes), nil
}

// living counts processes that have not ended; the command is the last column of ps.
func living(processes [][]string) int {
	n := 0
	for _, p := range processes {
		if len(p) > 0 && !strings.HasSuffix(p[len(p)-1], "<defunct>") {
			n++
		}
	}
	return n
}
