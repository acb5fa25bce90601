//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sluice/replay"
)

// mode is a set of walls that the kernel may or may not allow together.
type mode struct {
	namespaces, overlay, groups bool
}

// modes in the order of preference.
var modes = []mode{
	{namespaces: true, overlay: true, groups: true},
	{namespaces: true, overlay: true},
	{namespaces: true, groups: true},
	{namespaces: true},
	{groups: true},
	{},
}

// probe takes the first mode in which a step runs.
func (s *Sandbox) probe() error {
	if s.opts.NoNamespaces {
		off := errors.New("switched off")
		s.enter(mode{}, refusals{off, off, off})
		return s.try()
	}
	found := findGroups("/proc/self/mountinfo")
	var why refusals
	var err error
	for _, m := range modes {
		if m.groups && len(found.byController) == 0 {
			continue
		}
		s.groups = groups{}
		if m.groups {
			s.groups = found
		}
		s.enter(m, why)
		if err = s.try(); err == nil {
			return nil
		}
		why.add(m, err)
	}
	return err
}

// refusals are the errors of the modes that did not work, each with the wall that may have been its reason.
type refusals struct {
	namespaces, overlay, groups error
}

func (r *refusals) add(m mode, err error) {
	switch {
	case m.groups && m.overlay || m.groups && !m.namespaces:
		r.groups = err
	case m.overlay:
		r.overlay = err
	case m.namespaces:
		r.namespaces = err
	}
}

// enter sets the mode, and why it is not a better one.
func (s *Sandbox) enter(m mode, why refusals) {
	c := Capabilities{Namespaces: m.namespaces, Overlay: m.overlay}
	c.Memory, c.Pids, c.CPU = s.groups.kind("memory"), s.groups.kind("pids"), s.groups.kind("cpu")
	if c.Memory == "" {
		c.Memory = "rlimit"
	}
	if c.Pids == "" && os.Geteuid() != 0 { // no such limit holds for root
		c.Pids = "rlimit"
	}
	c.Missing = c.missing(why)
	s.caps = c
}

func (c Capabilities) missing(why refusals) []string {
	var words []string
	say := func(ok bool, what string, why error) {
		if !ok && why != nil {
			what = fmt.Sprintf("%s (%v)", what, why)
		}
		if !ok {
			words = append(words, what)
		}
	}
	say(c.Namespaces, "no namespaces: jobs can read and write the host's files, signal its processes and use its network", why.namespaces)
	say(c.Overlay || !c.Namespaces, "no overlay: jobs cannot write to the environment, each compiles with a cold cache", why.overlay)
	say(c.Memory != "rlimit", "no cgroup: memory is limited per process, not per job", why.groups)
	say(c.Pids != "rlimit", "no cgroup: processes are limited per user, not per job", why.groups)
	say(c.Pids != "", "no cgroup: processes are not limited", why.groups)
	say(c.CPU != "", "no cgroup: CPU is not limited", why.groups)
	return words
}

// try runs a step in the present mode.
func (s *Sandbox) try() (err error) {
	st, err := s.newState()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.drop(st)) }()
	se, err := s.open(view{env: st.path("home")}, s.opts.Limits)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, se.close()) }()
	script := "true"
	if s.caps.Overlay {
		script = "echo > {env}/probe"
	}
	r, err := se.step(context.Background(), replay.Step{
		Name: "probe", Args: []string{"/bin/sh", "-c", script}, Timeout: 30 * time.Second,
	})
	if err == nil && !r.Passed() {
		err = fmt.Errorf("a trial step: %s %d %.500s", r.Stop, r.ExitCode, r.Stderr)
	}
	return err
}
