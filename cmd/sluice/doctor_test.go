package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay/docker/images"
)

// TestDoctorWithNothing runs doctor on a machine that has nothing, and looks for values of tokens in what it prints.
func TestDoctorWithNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("DOCKER_HOST", "unix://"+dir+"/no.sock")
	t.Setenv("GITHUB_TOKEN", "canary-token")
	t.Setenv("ANTHROPIC_API_KEY", "canary-key")
	for _, args := range [][]string{{"doctor", "-v"}, {"doctor", "-v", "--json"}} {
		var out, errs bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &errs); code != int(exitEnvironment) {
			t.Errorf("%v: exit code %d", args, code)
		}
		for _, want := range []string{"not found", "no docker engine answers at unix://", "GITHUB_TOKEN is set"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: no %q in:\n%s", args, want, &out)
			}
		}
		if want := "missing: git, Docker engine"; !strings.Contains(errs.String(), want) {
			t.Errorf("%v: no %q in:\n%s", args, want, &errs)
		}
		if strings.Contains(out.String()+errs.String(), "canary") {
			t.Errorf("%v printed a token:\n%s%s", args, &out, &errs)
		}
	}
}

func TestDiskOfAbsentFolder(t *testing.T) {
	t.Parallel()
	a := newApp(nil, nil, nil)
	a.opts.store = t.TempDir() + "/not/yet/there"
	checks := a.probeDisk(t.Context())
	if len(checks) != 1 || !strings.Contains(checks[0].Detail, "free for") {
		t.Errorf("checks: %+v", checks)
	}
}

// TestImageChecks: base is required, the others are for their own languages, and an old one is good enough to start with.
func TestImageChecks(t *testing.T) {
	t.Parallel()
	list := []images.Image{{Name: "sluice/rust:trixie", Size: 1e9, Stale: true}}
	got := map[string]checkStatus{}
	for _, c := range imageChecks(list) {
		got[c.Name] = c.Status
		if !strings.Contains(c.Help, "sluice images build ") {
			t.Errorf("%s: no advice", c.Name)
		}
	}
	want := map[string]checkStatus{
		"image for Go and Python": statusMissing, "image for JavaScript and TypeScript": statusWarning, "image for Rust": statusWarning,
		"image for Python up to 3.12": statusWarning, "image for Python up to 3.10, and Python 2": statusWarning,
		"image for Java and Kotlin": statusWarning, "image for C and C++": statusWarning,
		"image for Java of JDK 22 to 25": statusWarning, "image for Java that JDK 17 is too new for": statusWarning,
		"image for Java that JDK 21 is too new for, up to JDK 17": statusWarning,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
