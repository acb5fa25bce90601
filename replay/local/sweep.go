//go:build linux

package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"sluice/internal/process"
)

// markVar is in the environment of every step: it names the state that its processes belong to, so that they can be found
// where neither a namespace nor a cgroup holds them.
const markVar = "SLUICE_SANDBOX"

// sweep removes what dead processes left: processes, cgroups, states, half-built environments. What belongs to a living
// process, or has a name that is not ours, stays.
func (s *Sandbox) sweep() error {
	dirs, err := os.ReadDir(filepath.Join(s.opts.Root, "states"))
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range dirs {
		if s.orphan(d.Name()) {
			killMarked(d.Name())
			errs = append(errs, removeAll(filepath.Join(s.opts.Root, "states", d.Name())))
		}
	}
	errs = append(errs, s.sweepGroups(), s.sweepEnvs())
	return errors.Join(errs...)
}

func (s *Sandbox) orphan(name string) bool {
	o, ok := process.OwnerOf(name, s.owner)
	return ok && o.Dead()
}

func (s *Sandbox) sweepGroups() error {
	var errs []error
	for _, h := range findGroups("/proc/self/mountinfo").byController {
		dirs, err := os.ReadDir(h.dir)
		if err != nil {
			return err
		}
		for _, d := range dirs {
			if d.IsDir() && s.orphan(d.Name()) {
				g := &group{dirs: []string{filepath.Join(h.dir, d.Name())}, v2: []bool{h.v2}}
				errs = append(errs, g.remove())
			}
		}
	}
	return errors.Join(errs...)
}

// sweepEnvs removes environments whose builder died: they are not complete and nobody holds their lock.
func (s *Sandbox) sweepEnvs() error {
	dirs, err := os.ReadDir(filepath.Join(s.opts.Root, "envs"))
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range dirs {
		e := s.envFolder(d.Name())
		if !d.IsDir() || !isEnvID(d.Name()) || e.complete() {
			continue
		}
		unlock, ok, err := e.tryLock()
		if err != nil || !ok {
			errs = append(errs, err)
			continue
		}
		if !e.complete() {
			errs = append(errs, removeAll(e.dir))
		}
		unlock()
	}
	return errors.Join(errs...)
}

// killMarked kills the processes of a state, until there are none.
func killMarked(state string) {
	mark := []byte(markVar + "=" + state)
	for range 100 {
		if killOnce(mark) == 0 {
			return
		}
	}
}

func killOnce(mark []byte) (killed int) {
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range procs {
		env, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), append(append([]byte{0}, mark...), 0)) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(p, "/")[2])
		if err == nil && pid > 1 && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// newState makes a throw-away folder with what a job needs in it.
func (s *Sandbox) newState() (state, error) {
	st := state{name: s.owner.NewName(), outName: process.Token()}
	st.dir = filepath.Join(s.opts.Root, "states", st.name)
	for _, sub := range []string{"", "tree", "out", "home", "tmp", "vartmp", "log", "root", "upper", "work"} {
		mode := os.FileMode(0o755)
		if sub == "" {
			mode = 0o700
		}
		if err := os.Mkdir(st.path(sub), mode); err != nil {
			return state{}, fmt.Errorf("making a state: %w", err)
		}
	}
	for _, sub := range []string{"tmp", "vartmp"} {
		if err := os.Chmod(st.path(sub), 0o777|os.ModeSticky); err != nil {
			return state{}, fmt.Errorf("making a state: %w", err)
		}
	}
	if err := os.Rename(st.path("out"), st.path(st.outName)); err != nil {
		return state{}, fmt.Errorf("making a state: %w", err)
	}
	s.mu.Lock()
	s.states[st.dir] = true
	s.mu.Unlock()
	return st, nil
}

// drop removes a state; if that fails, Close tries again.
func (s *Sandbox) drop(st state) error {
	err := removeAll(st.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.states[st.dir] = false
		return fmt.Errorf("removing a state: %w", err)
	}
	delete(s.states, st.dir)
	return nil
}

// state is one throw-away folder.
type state struct {
	dir, name, outName string
}

func (st state) path(sub string) string { return filepath.Join(st.dir, sub) }
