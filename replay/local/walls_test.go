//go:build linux

package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

// walled opens a sandbox that has namespaces, or skips.
func walled(t *testing.T, o local.Options) *local.Sandbox {
	t.Helper()
	s := newBox(t, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	if why, missing := without(t, s)["isolation"]; missing {
		t.Skip(why)
	}
	return s
}

func sh(name, script string) replay.Step {
	return replay.Step{Name: name, Args: []string{"sh", "-c", script}}
}

// prepare makes an environment with the steps.
func prepare(t *testing.T, s *local.Sandbox, install ...replay.Step) replay.Env {
	t.Helper()
	r := replay.Recipe{Fingerprint: t.Name(), Install: install}
	env, err := s.Prepare(context.Background(), r, sandboxtest.NewTree("empty"))
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	return env
}

// output runs one script that must pass.
func output(t *testing.T, s *local.Sandbox, script string) string {
	t.Helper()
	j := replay.Job{Name: t.Name(), Tree: sandboxtest.NewTree("empty"), Env: prepare(t, s), Steps: []replay.Step{sh("step", script)}}
	res, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if r := res.Steps[0]; r.Stop != replay.Exited || r.ExitCode != 0 {
		t.Fatalf("%s %d\n%s%s", r.Stop, r.ExitCode, r.Stdout, r.Stderr)
	}
	return string(res.Steps[0].Stdout)
}

func TestStepHasNoPrivileges(t *testing.T) {
	t.Parallel()
	got := output(t, walled(t, local.Options{}), `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; ls /proc/self/fd`)
	for _, want := range []string{"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapInh:\t0000000000000000",
		"CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1"} {
		if os.Geteuid() != 0 && strings.HasPrefix(want, "CapBnd") {
			continue
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if !strings.HasSuffix(got, "\n0\n1\n2\n3\n") { // 3 is the folder that ls reads
		t.Errorf("open files reached the step:\n%s", got)
	}
}

func TestHostIsHidden(t *testing.T) {
	t.Parallel()
	s := walled(t, local.Options{})
	script := `ls -A /home /run /mnt /srv; ls /var; cat /etc/shadow; ls -A /etc/ssh 2>/dev/null
		ls /dev | grep -E '^(sd|vd|nvme|mem|kmsg|loop|dm-)'; echo $$; hostname; cat /etc/hosts | head -1; true`
	got := strings.Fields(output(t, s, script))
	if len(got) < 3 || got[0] != "/home:" {
		t.Fatalf("printed %q", got)
	}
	text := strings.Join(got, " ")
	if want := "/home: /mnt: /run: /srv: tmp"; !strings.HasPrefix(text, want) {
		t.Errorf("printed %q, want %q …", text, want)
	}
	if !strings.Contains(text, "127.0.0.1 localhost") {
		t.Errorf("no localhost: %q", text)
	}
}

func TestLoopbackIsUp(t *testing.T) {
	t.Parallel()
	got := output(t, walled(t, local.Options{}), `cat /proc/net/fib_trie; cat /proc/net/if_inet6 2>/dev/null; true`)
	if !strings.Contains(got, "127.0.0.1") {
		t.Errorf("no 127.0.0.1:\n%s", got)
	}
	if _, err := os.Stat("/proc/net/if_inet6"); err == nil && !strings.Contains(got, "00000000000000000000000000000001") {
		t.Errorf("no ::1:\n%s", got)
	}
}

// TestNetworkIsForInstallOnly checks which network namespace steps are in, without using any network.
func TestNetworkIsForInstallOnly(t *testing.T) {
	t.Parallel()
	o := local.Options{Network: local.Network{Vars: map[string]string{"HTTPS_PROXY": "http://proxy.invalid:1"}}}
	s := walled(t, o)
	host, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	env := prepare(t, s, sh("install", `readlink /proc/self/ns/net > {env}/net; echo "$HTTPS_PROXY" > {env}/proxy; cat /etc/resolv.conf; true`))
	j := replay.Job{Name: "job", Tree: sandboxtest.NewTree("empty"), Env: env,
		Steps: []replay.Step{sh("step", `cat {env}/net {env}/proxy; readlink /proc/self/ns/net; echo "[$HTTPS_PROXY] $GOPROXY"`)}}
	res, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(res.Steps[0].Stdout), "\n")
	if len(got) != 5 || got[0] != host || got[1] != "http://proxy.invalid:1" || got[2] == host || got[3] != "[] off" {
		t.Errorf("printed %q; the host's namespace is %s", got, host)
	}
}

// TestSecretsAreMasked: what Install prints of an address of the user's has no password, in the log and in the error.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	s := walled(t, local.Options{Network: local.Network{Vars: map[string]string{"PIP_INDEX_URL": "https://ada:sesame-7@index.invalid/"}}})
	if env := prepare(t, s, sh("install", "env")); !strings.Contains(env.Log, "https://xxxxx@index.invalid/") {
		t.Errorf("the log is %s", env.Log)
	}
	r := replay.Recipe{Fingerprint: "masked", Install: []replay.Step{sh("install", `echo "no index $PIP_INDEX_URL" >&2; exit 1`)}}
	_, err := s.Prepare(t.Context(), r, sandboxtest.NewTree("empty"))
	var failed *replay.InstallError
	if !errors.As(err, &failed) || strings.Contains(failed.Log+string(failed.Step.Stderr)+err.Error(), "sesame") {
		t.Errorf("got %v, %+v", err, failed)
	}
}

func TestToolsAreVisible(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := "#!/bin/sh\necho tool runs; touch \"$0\".new 2>/dev/null || echo read-only\n"
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin", "our-tool"), []byte(script), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := output(t, walled(t, local.Options{Tools: []string{dir}}), "our-tool"); got != "tool runs\nread-only\n" {
		t.Errorf("printed %q", got)
	}
}

func TestFullDiskStopsTheJob(t *testing.T) {
	t.Parallel()
	s := walled(t, local.Options{MaxDisk: 64 << 20})
	step := sh("fill", `i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > {tree}/f$i || exit; sleep 0.05; done`)
	step.Timeout = time.Minute
	j := replay.Job{Name: "fill", Tree: sandboxtest.NewTree("empty"), Env: prepare(t, s), Steps: []replay.Step{step}}
	res, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Steps[0].Stop; got != replay.DiskFull {
		t.Errorf("got %s", got)
	}
}

// TestStateIsRemoved checks it after a job that made removing hard.
func TestStateIsRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := walled(t, local.Options{Root: root})
	output(t, s, `mkdir -p closed/in && touch closed/in/f && chmod 0 closed/in closed
		p=$(printf 'd/%.0s' $(seq 1500)); mkdir -p "$p"`)
	left, err := os.ReadDir(filepath.Join(root, "states"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestUnknownEnvironment(t *testing.T) {
	t.Parallel()
	s := newBox(t, local.Options{})
	good := prepare(t, s)
	for _, env := range []replay.Env{{}, {Sandbox: "docker", ID: good.ID}, {Sandbox: local.Name, ID: "0123"},
		{Sandbox: local.Name, ID: "../states"}} {
		_, err := s.Run(context.Background(), replay.Job{Name: "j", Tree: sandboxtest.NewTree("empty"), Env: env})
		if !errors.Is(err, local.ErrEnvironment) {
			t.Errorf("%+v: %v", env, err)
		}
	}
}

func TestBadRoots(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"", file, filepath.Join(t.TempDir(), "a:b"), filepath.Join(t.TempDir(), "a,b")} {
		if _, err := local.New(local.Options{Root: root}); err == nil {
			t.Errorf("root %q was accepted", root)
		}
	}
}

// TestInstallSecondChance: a later step may make good what one failed to do.
func TestInstallSecondChance(t *testing.T) {
	t.Parallel()
	s := newBox(t, local.Options{})
	second := sh("plain", "echo second >> {env}/done")
	second.IfFailed = "extras"
	env := prepare(t, s, sh("extras", "exit 1"), second, sh("third", "echo third >> {env}/done"))
	if !strings.Contains(env.Log, "$ sh -c exit 1") {
		t.Errorf("log %q", env.Log)
	}
	bad := second
	bad.Args = []string{"false"}
	_, err := s.Prepare(context.Background(), replay.Recipe{Fingerprint: "bad", Install: []replay.Step{sh("extras", "exit 1"), bad}},
		sandboxtest.NewTree("empty"))
	var install *replay.InstallError
	if !errors.As(err, &install) || install.Step.Name != "plain" {
		t.Errorf("got %v", err)
	}
}

// TestClockMeasures checks that durations come from the clock that was passed in.
func TestClockMeasures(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	ticks := make(chan time.Time)
	go func() {
		for ; ; now = now.Add(time.Hour) {
			ticks <- now
		}
	}()
	s := newBox(t, local.Options{Clock: func() time.Time { return <-ticks }})
	j := replay.Job{Name: "j", Tree: sandboxtest.NewTree("empty"), Env: prepare(t, s), Steps: []replay.Step{sh("a", "true")}}
	res, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	if d := res.Steps[0].Duration; d < time.Hour || d%time.Hour != 0 {
		t.Errorf("got %v", d)
	}
}

func Example() {
	// main begins with local.Init(); here TestMain did.
	root, err := os.MkdirTemp("", "sluice-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	s, err := local.New(local.Options{Root: root})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	ctx, tree := context.Background(), sandboxtest.NewTree("tree", sandboxtest.Text("greeting", "hello"))
	env, err := s.Prepare(ctx, replay.Recipe{Fingerprint: "none"}, tree)
	if err != nil {
		panic(err)
	}
	res, err := s.Run(ctx, replay.Job{Name: "example", Tree: tree, Env: env,
		Steps: []replay.Step{{Name: "read", Args: []string{"cat", "greeting"}}}})
	fmt.Printf("%s %v\n", res.Step("read").Stdout, err)
	// Output: hello <nil>
}

// TestLinksDoNotLeadMountsOut: the next step's root is built by a process that may do anything, over what the last step
// left in its /tmp.
func TestLinksDoNotLeadMountsOut(t *testing.T) {
	t.Parallel()
	base, victim := t.TempDir(), t.TempDir()
	tool := filepath.Join(base, "in", "tool")
	if err := os.MkdirAll(filepath.Join(tool, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := walled(t, local.Options{Tools: []string{tool}})
	trap := sh("trap", fmt.Sprintf("mv %[1]s %[1]s.old && ln -s %[2]s %[1]s && ls -ld %[1]s", filepath.Dir(tool), victim))
	j := replay.Job{Name: "j", Tree: sandboxtest.NewTree("t"), Env: prepare(t, s), Steps: []replay.Step{trap, sh("next", "true")}}
	res, err := s.Run(context.Background(), j)
	if err == nil && !strings.Contains(string(res.Steps[0].Stdout), "->") {
		t.Skipf("the trap could not be set; is the temporary folder below /tmp? %s", res.Steps[0].Stderr)
	}
	if left, _ := os.ReadDir(victim); len(left) > 0 {
		t.Errorf("outside of the sandbox, %v was made", left)
	}
}
