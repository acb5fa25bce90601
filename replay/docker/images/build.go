package images

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"sluice/internal/process"
	"sluice/replay"
	"sluice/replay/docker"
)

// BuildOptions say how images are made.
type BuildOptions struct {
	Mirror string // address of a Debian mirror; "" is the one that this host's apt uses, else debootstrap's own
	Force  bool   // also what is up to date, for newer packages
	Log    func(line string)
	script string // tests have another one
}

// Built is what became of one toolchain.
type Built struct {
	Toolchain Toolchain
	Done      bool  // made anew; else it was up to date, or Err says why it is not there
	Err       error // of this one; others do not depend on it, but for layers on it
}

// ErrRoot says that making a new system needs root.
var ErrRoot = errors.New("only root can make a new system")

// killGrace is what a script has to end its children and to tidy up.
const killGrace = 30 * time.Second

// Build makes the images of toolchains that are missing or not up to date, those that others are layers on first. The error of one
// stops only what is a layer on it. It looks first whether the disk suffices: docker.ErrNoSpace comes before any work.
func (e *Engine) Build(ctx context.Context, list []Toolchain, o BuildOptions) ([]Built, error) {
	e.tidy(ctx, o.Log)
	have, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	todo := Missing(have)
	var out []Built
	failed, anew := map[string]bool{}, map[string]bool{}
	for _, t := range list {
		b := Built{Toolchain: t}
		switch {
		case ctx.Err() != nil:
			return out, fmt.Errorf("making images: %w", ctx.Err())
		case failed[t.From]:
			b.Err = fmt.Errorf("making %s: there is no %s for it to be on", t.Image(), Toolchain{Name: t.From, Suite: t.Suite}.Image())
		case o.Force || anew[t.From] || slices.ContainsFunc(todo, func(m Toolchain) bool { return m.Name == t.Name }):
			b.Err = e.make(ctx, t, o)
			b.Done = b.Err == nil
		}
		failed[t.Name], anew[t.Name] = b.Err != nil, b.Done
		out = append(out, b)
	}
	return out, ctx.Err()
}

func (e *Engine) make(ctx context.Context, t Toolchain, o BuildOptions) error {
	if t.From == "" && os.Geteuid() != 0 {
		return fmt.Errorf("making %s: %w", t.Image(), ErrRoot)
	}
	if err := e.suffices(t); err != nil {
		return fmt.Errorf("making %s: %w", t.Image(), err)
	}
	if err := e.run(ctx, t, o); err != nil {
		return fmt.Errorf("making %s: %w", t.Image(), err)
	}
	return nil
}

// run runs the script; everything that it started ends with it, and it with this process.
func (e *Engine) run(ctx context.Context, t Toolchain, o BuildOptions) (err error) {
	self, err := process.Self()
	if err != nil {
		return err
	}
	work := filepath.Join(os.TempDir(), workPrefix+self.NewName())
	if err := os.Mkdir(work, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, removeWork(work)) }()
	held, hold, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer held.Close()
	defer hold.Close()
	r, w := io.Pipe()
	read := make(chan string, 1)
	go func() { read <- lines(r, o.Log) }()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", lifeline, "image.sh", cmp.Or(o.script, script))
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = append(e.environ(t, o, self), "TMPDIR="+work), w, w, []*os.File{held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killGrace
	err = cmd.Run()
	w.Close()
	last := <-read
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(last, "No space left on device"), strings.Contains(last, "no space left on device"):
		return fmt.Errorf("%w: %s", docker.ErrNoSpace, last)
	}
	return fmt.Errorf("%w: %s", err, last)
}

// environ is what the script is told. Of this process's own variables it gets those that say where programs, proxies and the
// engine are.
func (e *Engine) environ(t Toolchain, o BuildOptions, self process.ID) []string {
	var env []string
	for _, k := range []string{"PATH", "HOME", "http_proxy", "https_proxy", "no_proxy", "DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"} {
		if v, ok := os.LookupEnv(k); ok && !(k == "DOCKER_HOST" && e.host != "") {
			env = append(env, k+"="+v)
		}
	}
	if e.host != "" {
		env = append(env, "DOCKER_HOST="+e.host)
	}
	from := ""
	if t.From != "" {
		from = Toolchain{Name: t.From, Suite: t.Suite}.Image()
	}
	labels := []string{docker.LabelOurs + "=1", docker.LabelTool + "=" + t.Name, docker.LabelMade + "=" + t.digest()}
	return append(env, "LANG=C.UTF-8", "IMAGE="+t.Image(), "FROM="+from, "PACKAGES="+strings.Join(t.Packages, ","), "PROGRAMS="+strings.Join(t.Programs, ","), "SUITE="+t.suite(),
		"LABELS="+strings.Join(labels, " "), "OWNER="+self.String(), "DEBIAN_MIRROR="+o.Mirror)
}

// userInfo is what stands before the host in an address: a mirror or a proxy may have a password there.
var userInfo = regexp.MustCompile(`://[^\s/]+@`)

// lines hands on what a script says, and returns its last lines.
func lines(r io.Reader, log func(string)) string {
	var last []string
	s := bufio.NewScanner(r)
	for s.Scan() {
		line := userInfo.ReplaceAllString(s.Text(), "://"+replay.Masked+"@")
		if log != nil {
			log(line)
		}
		if last = append(last, line); len(last) > 5 {
			last = last[1:]
		}
	}
	_, _ = io.Copy(io.Discard, r) // after a line that is too long: the script must not wait for us
	return strings.Join(last, "; ")
}

// Free is how many bytes the engine's disk and the one for temporary files have free; known is false where the engine is elsewhere.
func (e *Engine) Free() (engine, temp uint64, known bool) {
	engine, known = docker.DiskFree(e.api, e.info)
	var st syscall.Statfs_t
	if !known || syscall.Statfs(os.TempDir(), &st) != nil {
		return 0, 0, false
	}
	return engine, st.Bavail * uint64(st.Bsize), true
}

// suffices says whether the disks have room for making a toolchain: a new system is in the folder for temporary files first, and
// packages are there packed and unpacked for a while.
func (e *Engine) suffices(t Toolchain) error {
	engine, temp, known := e.Free()
	if !known {
		return nil
	}
	return enough(t, engine, temp)
}

func enough(t Toolchain, engine, temp uint64) error {
	need := 2 * uint64(t.Bytes)
	where, have := "the engine's disk", engine
	if t.From == "" && temp < have {
		where, have = "the folder for temporary files", temp
	}
	if have >= need {
		return nil
	}
	return fmt.Errorf("%w: it takes about %s for a while, %s has %s", docker.ErrNoSpace, humanize.Bytes(need), where, humanize.Bytes(have))
}
