// Package sandboxtest is the one conformance suite of all sandboxes: what a replay.Sandbox promises, checked with steps
// that need nothing but sh and coreutils. Hostile code is part of it: it hangs, forks, floods, daemonises, writes outside
// and kills what it can reach. It is imported by tests only.
package sandboxtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/replay"
)

// Options say what the suite should know about a sandbox.
type Options struct {
	// Recipe is the base of every recipe that the suite prepares (Image, Env); the suite sets the other fields.
	Recipe replay.Recipe
	// Slack is how much longer than its limit a job may take to return. Default: 10 s.
	Slack time.Duration
	// Without names what this host cannot enforce ("memory", "pids", "network", "isolation": the host's files and processes
	// are out of reach), with the reason: the checks that need it are skipped aloud.
	Without map[string]string
}

// suite is one sandbox under test with one shared environment.
type suite struct {
	box  replay.Sandbox
	opts Options

	once sync.Once
	env  replay.Env
	err  error
}

type check struct {
	name  string
	needs string // key of Options.Without
	run   func(*testing.T, *suite)
}

// Exercise runs every check against one sandbox. newBox is called once; the suite closes what it returns.
func Exercise(t *testing.T, newBox func(*testing.T) replay.Sandbox, opts Options) {
	t.Setenv("SLUICE_TEST_TOKEN", "secret-of-the-host")
	t.Setenv("OTEL_SERVICE_NAME", "secret-of-the-host") // suites failed for it in github.com/NVIDIA-NeMo/Gym/pull/2853
	if opts.Slack == 0 {
		opts.Slack = 10 * time.Second
	}
	s := &suite{box: newBox(t), opts: opts}
	t.Cleanup(func() {
		if err := s.box.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if why, ok := opts.Without[c.needs]; ok && c.needs != "" {
				t.Skipf("this host cannot enforce %s: %s", c.needs, why)
			}
			c.run(t, s)
		})
	}
}

func checks() []check {
	var all []check
	all = append(all, outputChecks()...)
	all = append(all, treeChecks()...)
	all = append(all, stepChecks()...)
	all = append(all, hostileChecks()...)
	all = append(all, sessionChecks()...)
	all = append(all, conditionChecks()...)
	all = append(all, shareChecks()...)
	return append(all, envChecks()...)
}

// recipe is the base recipe with a fingerprint and install steps of its own.
func (s *suite) recipe(fingerprint string, install ...replay.Step) replay.Recipe {
	r := s.opts.Recipe
	r.Fingerprint = "sandboxtest-" + fingerprint
	r.Install = install
	return r
}

// shared is the environment that most checks use.
func (s *suite) shared(t *testing.T) replay.Env {
	t.Helper()
	s.once.Do(func() {
		r := s.recipe("shared", sh("install", "echo prepared > {env}/marker"))
		s.env, s.err = s.box.Prepare(context.Background(), r, NewTree("empty"))
	})
	if s.err != nil {
		t.Fatalf("Prepare: %v", s.err)
	}
	return s.env
}

// job is a job over the files with limits that suit a test.
func (s *suite) job(t *testing.T, files []replay.File, steps ...replay.Step) replay.Job {
	t.Helper()
	return replay.Job{
		Name: t.Name(), Tree: NewTree(t.Name(), files...), Env: s.shared(t), Steps: steps,
		Limits: replay.Limits{Wall: time.Minute, Memory: 256 << 20, Pids: 128, Output: 64 << 10, Disk: 256 << 20},
	}
}

// run runs the job, which must return without an error and in time.
func (s *suite) run(t *testing.T, j replay.Job) replay.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), j.Limits.Wall+s.opts.Slack)
	defer cancel()
	res, err := s.box.Run(ctx, j)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if len(res.Steps) != len(j.Steps) {
		t.Fatalf("Run gave %d step results for %d steps", len(res.Steps), len(j.Steps))
	}
	return res
}

// script runs one sh step over an empty tree.
func (s *suite) script(t *testing.T, script string) replay.StepResult {
	t.Helper()
	return s.run(t, s.job(t, nil, sh("step", script))).Steps[0]
}

func sh(name, script string) replay.Step {
	return replay.Step{Name: name, Args: []string{"sh", "-c", script}}
}

// wantExit fails the test unless the step exited by itself with the code.
func wantExit(t *testing.T, r replay.StepResult, code int) {
	t.Helper()
	if r.Stop != replay.Exited || r.ExitCode != code {
		t.Errorf("step %s: %s %d, want exited %d\n%s", r.Name, r.Stop, r.ExitCode, code, show(r))
	}
}

func wantOut(t *testing.T, r replay.StepResult, want string) {
	t.Helper()
	if string(r.Stdout) != want {
		t.Errorf("step %s printed %q, want %q\n%s", r.Name, r.Stdout, want, show(r))
	}
}

func show(r replay.StepResult) string {
	return fmt.Sprintf("stdout: %.500q\nstderr: %.500q", r.Stdout, r.Stderr)
}

func contains(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
