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
		s.enter(mode{}, errors.New("switched off"))
		return s.try()
	}
	var first error
	for _, m := range modes {
		s.enter(m, first)
		err := s.try()
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// enter sets the mode, and why it is not a better one.
func (s *Sandbox) enter(m mode, why error) {
	s.groups = groups{}
	if m.groups {
		s.groups = findGroups("/proc/self/mountinfo")
	}
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

func (c Capabilities) missing(why error) []string {
	if why == nil {
		why = errors.New("no writable cgroup")
	}
	var words []string
	say := func(ok bool, what string) {
		if !ok {
			words = append(words, fmt.Sprintf("%s (%v)", what, why))
		}
	}
	say(c.Namespaces, "no namespaces: jobs can read and write the host's files, signal its processes and use its network")
	say(c.Overlay || !c.Namespaces, "no overlay: the environment cannot be written to by jobs, each compiles with a cold cache")
	say(c.Memory != "rlimit", "memory is limited per process, not per job")
	say(c.Pids != "rlimit", "processes are limited per user, not per job")
	say(c.Pids != "", "processes are not limited")
	say(c.CPU != "", "CPU is not limited")
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
	if err == nil && !passed(r) {
		err = fmt.Errorf("a trial step: %s %d %.500s", r.Stop, r.ExitCode, r.Stderr)
	}
	return err
}
