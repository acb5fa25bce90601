package docker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

func TestHostConfig(t *testing.T) {
	t.Parallel()
	limits := replay.Limits{Wall: time.Minute, Memory: 1 << 30, Pids: 100, CPUs: 1.5, Output: 1, Disk: 1 << 20}
	got := hostConfig(boxSpec{network: "none", limits: limits})
	yes, pids := true, int64(100)
	want := &container.HostConfig{
		NetworkMode: "none", ExtraHosts: []string{"sandbox:127.0.0.1"}, CapDrop: []string{"ALL"},
		SecurityOpt: []string{"no-new-privileges"}, LogConfig: container.LogConfig{Type: "none"}, ShmSize: 1 << 28, Init: &yes,
		Resources: container.Resources{
			Memory: 1 << 30, MemorySwap: 1 << 30, PidsLimit: &pids, NanoCPUs: 1_500_000_000,
			Ulimits: []*container.Ulimit{
				{Name: "core"}, {Name: "fsize", Soft: 1 << 20, Hard: 1 << 20}, {Name: "nofile", Soft: 4096, Hard: 4096},
			},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	s := &Sandbox{owner: "1:2:h", run: "r"}
	cfg, _ := s.config(boxSpec{image: "i", job: "j", limits: replay.Limits{Wall: time.Minute}})
	if d := cmp.Diff([]string{"sleep", "660"}, []string(cfg.Cmd)); d != "" {
		t.Errorf("command (-want +got):\n%s", d)
	}
	want := map[string]string{"sluice": "1", "sluice.owner": "1:2:h", "sluice.run": "r", "sluice.job": "j"}
	if d := cmp.Diff(want, cfg.Labels); d != "" {
		t.Errorf("labels (-want +got):\n%s", d)
	}
	if len(cfg.Env) > 0 {
		t.Errorf("the container has variables of its own, which its image would keep: %q", cfg.Env)
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	if d := defaultLimits(); d.CPUs != replay.DefaultCPUs {
		t.Errorf("a job gets %v CPUs on any machine, not %v", replay.DefaultCPUs, d.CPUs)
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	p := places{io: "/sluice-io/x", log: "/sluice-io/x/log", out: "/sluice-io/x/out"}
	got, err := p.argv(3, replay.Step{Args: []string{"tool", "--xml={out}/r.xml", "{tree}{env}", "it's"}, Dir: "a/b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/sluice-io/x/log/3.out", "/sluice-io/x/log/3.err", "/testbed/a/b",
		"tool", "--xml=/sluice-io/x/out/r.xml", "/testbed/sluice/env", "it's"}
	if d := cmp.Diff(want, got[4:]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, dir := range []string{"..", "/etc", "a/../..", "a//b"} {
		if _, err := p.argv(0, replay.Step{Args: []string{"x"}, Dir: dir}); err == nil {
			t.Errorf("the folder %q was taken", dir)
		}
	}
	if _, err := p.argv(0, replay.Step{}); err == nil {
		t.Error("a step without a command was taken")
	}
}

func TestScriptsHaveNoCarriageReturn(t *testing.T) {
	t.Parallel()
	for _, s := range []string{runScript, sweepScript, witnessScript} {
		if strings.Contains(s, "\r") {
			t.Errorf("carriage return in %q", s)
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	p := places{out: "/o"}
	got := p.environ(map[string]string{"A": "recipe", "B": "{env}/b", "TZ": "CET"}, map[string]string{"A": "step", "C": "{out}"})
	want := []string{"A=step", "B=/sluice/env/b", "C=/o", "HOME=/sluice/env/home", "LANG=C.UTF-8", "PYTHONHASHSEED=0", "TZ=CET"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPlacesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	a, b := newPlaces(), newPlaces()
	if a == b || len(a.io) < len(ioRoot)+20 || strings.HasPrefix(a.out, treeDir) {
		t.Errorf("%v, %v", a, b)
	}
}

func TestInstallEnv(t *testing.T) {
	t.Parallel()
	n := NetworkOptions{Env: map[string]string{"GOPROXY": "mirror", "GOTOOLCHAIN": "local"}}
	with, without := n.installEnv(true), n.installEnv(false)
	for _, k := range caVariables {
		if with[k] != caFile || without[k] != "" {
			t.Errorf("%s is %q with and %q without a bundle", k, with[k], without[k])
		}
	}
	if with["GOPROXY"] != "mirror" || with["GOTOOLCHAIN"] != "local" || with["PIP_NO_CACHE_DIR"] != "1" {
		t.Errorf("got %v", with)
	}
	if len(n.Env) != 2 {
		t.Errorf("the options were changed: %v", n.Env)
	}
}

func TestHostNetwork(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "p")
	t.Setenv("SLUICE_SECRET", "s")
	env := HostNetwork()
	if env["HTTPS_PROXY"] != "p" {
		t.Errorf("the proxy is lost: %v", env)
	}
	for k := range env {
		if !slices.Contains(hostNetwork, k) {
			t.Errorf("%s was taken from the host", k)
		}
	}
}

func TestBundle(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "/nonexistent/ca.pem")
	if _, err := (NetworkOptions{}).bundle(); err == nil {
		t.Error("a missing bundle that the host names gave no error")
	}
	if b, err := (NetworkOptions{CAFile: "none"}).bundle(); b != nil || err != nil {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
}
