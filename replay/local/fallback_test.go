//go:build linux

package local_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

// TestFallbackConformance runs what holds without namespaces and cgroups.
func TestFallbackConformance(t *testing.T) {
	s := newBox(t, local.Options{NoNamespaces: true})
	c := s.Capabilities()
	if c.Namespaces || c.Overlay || c.CPU != "" || len(c.Missing) < 3 {
		t.Fatalf("capabilities %+v", c)
	}
	why := "switched off"
	opts := sandboxtest.Options{Without: map[string]string{"network": why, "isolation": why, "memory": why, "pids": why}}
	sandboxtest.Exercise(t, func(*testing.T) replay.Sandbox { return s }, opts)
}

// TestWithoutRoot runs the conformance suite as an unprivileged user, in a user namespace.
func TestWithoutRoot(t *testing.T) {
	t.Parallel()
	if os.Getenv(helperVar) != "" {
		t.Skip("this is the unprivileged process")
	}
	if os.Geteuid() != 0 {
		t.Skip("TestConformance already runs without root")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "sluice-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "test")
	if err := copyFile(binary, "/proc/self/exe"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^(TestConformance|TestStepHasNoPrivileges|TestHostIsHidden|TestStateIsRemoved)$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, helperVar + "=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	walls := strings.Contains(string(out), "Namespaces:true Overlay:true")
	if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" && !walls {
		t.Errorf("user namespaces are refused:\n%s", out)
	}
	t.Logf("walls without root: %v", walls)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// TestFallbackRefusesLinkedDir: without a root of its own a step must not start outside of its tree.
func TestFallbackRefusesLinkedDir(t *testing.T) {
	t.Parallel()
	s := newBox(t, local.Options{NoNamespaces: true})
	step := sh("step", "pwd")
	step.Dir = "out"
	j := replay.Job{Name: "j", Tree: sandboxtest.NewTree("t", sandboxtest.Link("out", "/")), Env: prepare(t, s), Steps: []replay.Step{step}}
	if res, err := s.Run(t.Context(), j); err == nil {
		t.Errorf("it ran: %+v", res)
	}
}
