//go:build linux

package local_test

import (
	"os"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

// newBox opens a sandbox with a root of its own.
func newBox(t *testing.T, o local.Options) *local.Sandbox {
	t.Helper()
	if o.Root == "" {
		o.Root = t.TempDir()
	}
	s, err := local.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return s
}

// without names what this host cannot enforce. With SLUICE_REQUIRE_SANDBOX=1 that is a failure.
func without(t *testing.T, s *local.Sandbox) map[string]string {
	t.Helper()
	c := s.Capabilities()
	t.Logf("capabilities: %+v", c)
	missing := map[string]string{}
	if !c.Namespaces {
		missing["network"], missing["isolation"] = "no namespaces", "no namespaces"
	}
	if c.Memory == "" || c.Memory == "rlimit" {
		missing["memory"] = "no memory cgroup"
	}
	if c.Pids == "" || c.Pids == "rlimit" {
		missing["pids"] = "no pids cgroup"
	}
	if len(missing) > 0 && os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatalf("this host must enforce everything: %q", c.Missing)
	}
	return missing
}

func TestConformance(t *testing.T) {
	s := newBox(t, local.Options{})
	sandboxtest.Exercise(t, func(*testing.T) replay.Sandbox { return s }, sandboxtest.Options{Without: without(t, s)})
}
