package docker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/network"
	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

func sh(name, script string) replay.Step {
	return replay.Step{Name: name, Args: []string{"sh", "-c", script}}
}

// jobs returns a Sandbox and a function that runs steps over a small tree in it.
func jobs(t *testing.T, o Options) (*Sandbox, func(replay.Limits, ...replay.Step) replay.Result) {
	t.Helper()
	s := newTest(t, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r := replay.Recipe{Image: testImage, Fingerprint: "hostiletest-" + strings.ReplaceAll("user"+o.User, ":", "-"),
		Install: []replay.Step{sh("install", "echo v1 > {env}/marker")}}
	env, err := s.Prepare(context.Background(), r, noTree{})
	if err != nil {
		t.Fatal(err)
	}
	return s, func(l replay.Limits, steps ...replay.Step) replay.Result {
		t.Helper()
		tree := sandboxtest.NewTree("t", sandboxtest.Text("src/a.txt", "a\n"))
		if l.Wall == 0 {
			l.Wall = time.Minute
		}
		res, err := s.Run(context.Background(), replay.Job{Name: t.Name(), Tree: tree, Env: env, Steps: steps, Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
}

func TestConfined(t *testing.T) {
	t.Parallel()
	_, run := jobs(t, Options{})
	st := run(replay.Limits{Disk: 1 << 20}, sh("look", `
grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\t'
echo "id $(id -u):$(id -g)"
echo "core $(ulimit -c) fsize $(ulimit -f) nofile $(ulimit -n)"
awk '$4 ~ /^rw/ && $3 !~ /^(overlay|proc|tmpfs|devpts|mqueue|sysfs|cgroup|cgroup2)$/ {print "mount " $2 " " $3}' /proc/mounts
ip=$(tail -n +2 /proc/net/dev | cut -d: -f1 | grep -v lo | grep -v '|'); echo "net $ip"
mknod {out}/dev b 8 0 2>/dev/null && echo made a device
mount -t tmpfs none /mnt 2>/dev/null && echo mounted
echo x > /proc/sys/kernel/hostname 2>/dev/null && echo changed the kernel
ls /sluice-io 2>/dev/null && echo listed
python3 -c 'import getpass, socket; print(getpass.getuser(), socket.gethostbyname(socket.gethostname()))'
`)).Steps[0]
	want := `CapInh:0000000000000000
CapPrm:0000000000000000
CapEff:0000000000000000
CapBnd:0000000000000000
CapAmb:0000000000000000
NoNewPrivs:1
Seccomp:2
id 10001:10001
core 0 fsize 2048 nofile 4096
mount /etc/resolv.conf ext4
mount /etc/hostname ext4
mount /etc/hosts ext4
net 
sandbox 127.0.0.1
`
	// The engine's own three files are mounts that root could write; the steps' user cannot.
	got := string(st.Stdout)
	for _, fs := range []string{"xfs", "btrfs"} {
		got = strings.ReplaceAll(got, " "+fs+"\n", " ext4\n")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s\n%s", d, st.Stderr)
	}
	st = run(replay.Limits{}, sh("write", `for f in resolv.conf hostname hosts passwd; do echo x >>/etc/$f && echo wrote $f; done; true`)).Steps[0]
	if len(st.Stdout) > 0 {
		t.Errorf("%s", st.Stdout)
	}
}

func TestReportFolderUnderAttack(t *testing.T) {
	t.Parallel()
	_, run := jobs(t, Options{})
	res := run(replay.Limits{Disk: 64 << 20},
		sh("attack", `
d=$(dirname {out}); rm -rf {out}/* {out}; mv {out} {out}2; ln -s /etc {out}
rm -rf $d/log; ln -sf /etc/passwd $d/log/1.out; mv $d $d.old
truncate -s 60M {out}/sparse; for i in $(seq 20); do ln -s /proc/self/mem {out}/l$i; done
ln {out}/sparse {out}/hard; printf forged > {out}/'a
b'; echo end`),
		sh("next", "echo mine; echo x > {out}/good"))
	if s := string(res.Steps[0].Stdout); s != "end\n" {
		t.Errorf("stdout %q, stderr %s", s, res.Steps[0].Stderr)
	}
	if s := string(res.Steps[1].Stdout); s != "mine\n" {
		t.Errorf("the second step's output is %q", s)
	}
	if string(res.Files["good"]) != "x\n" || string(res.Files["a\nb"]) != "forged" {
		t.Errorf("files %d", len(res.Files))
	}
	for name, data := range res.Files {
		if strings.HasPrefix(name, "l") || strings.Contains(string(data), "root:") {
			t.Errorf("%q was followed", name)
		}
	}
}

func TestManyFilesFillTheDisk(t *testing.T) {
	t.Parallel()
	_, run := jobs(t, Options{Total: 200 << 20})
	res := run(replay.Limits{Disk: 50 << 20},
		sh("fill", `i=0; while :; do head -c 20000000 /dev/zero > f$i; i=$((i+1)); sleep 0.1; done`), sh("after", "echo ok"))
	st := res.Steps[0]
	if st.Stop != replay.DiskFull || res.Steps[1].Stop != replay.Exited {
		t.Errorf("got %s %d: %s", st.Stop, st.ExitCode, st.Stderr)
	}
}

func TestTooManyReports(t *testing.T) {
	t.Parallel()
	_, run := jobs(t, Options{})
	res := run(replay.Limits{}, sh("flood", fmt.Sprintf(`cd {out} && seq %d | xargs touch && echo done`, maxFiles+500)))
	if len(res.Files) != maxFiles || string(res.Steps[0].Stdout) != "done\n" {
		t.Errorf("%d files, %s", len(res.Files), res.Steps[0].Stdout)
	}
}

// TestRootKillsTheContainer is about images that only work as root: there a step can end the container.
func TestRootKillsTheContainer(t *testing.T) {
	t.Parallel()
	_, run := jobs(t, Options{User: "0:0"})
	res := run(replay.Limits{}, sh("kill", "echo before; kill -9 -1; sleep 300"), sh("late", "(sleep 0.1; kill -9 -1) >/dev/null 2>&1 &"),
		sh("after", "sleep 0.3; echo ok; id -u"))
	if s := res.Steps[0]; s.Stop != replay.Signal || string(s.Stdout) != "before\n" || s.Duration > 20*time.Second {
		t.Errorf("got %s %d %q after %v", s.Stop, s.ExitCode, s.Stdout, s.Duration)
	}
	if s := res.Steps[2]; string(s.Stdout) != "ok\n0\n" {
		t.Errorf("the last step: %s %d %q", s.Stop, s.ExitCode, s.Stdout)
	}
}

func TestMemoryOfAChild(t *testing.T) {
	t.Parallel()
	_, run := jobs(t, Options{})
	hog := `python3 -c 'x = bytearray(10**9)' || { echo child failed; exit 1; }`
	res := run(replay.Limits{Memory: 100 << 20}, sh("hog", hog), sh("fails", "exit 3"), sh("killed", "kill -9 $$"))
	if s := res.Steps[0]; s.Stop != replay.OOM || s.ExitCode != 1 {
		t.Errorf("got %s %d", s.Stop, s.ExitCode)
	}
	if s := res.Steps[1]; s.Stop != replay.Exited || s.ExitCode != 3 {
		t.Errorf("the step after it: %s %d", s.Stop, s.ExitCode)
	}
	if s := res.Steps[2]; s.Stop != replay.Signal || s.ExitCode != codeKilled {
		t.Errorf("a kill that is not the limit's: %s %d", s.Stop, s.ExitCode)
	}
}

func TestJobsMakeNoNetwork(t *testing.T) {
	t.Parallel()
	s, run := jobs(t, Options{})
	count := func() int {
		all, err := s.api.NetworkList(context.Background(), network.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, net := range all {
			if !strings.HasPrefix(net.Name, testName) {
				n++
			}
		}
		return n
	}
	before := count()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { run(replay.Limits{}, sh("sleep", "sleep 1")) })
	}
	time.Sleep(time.Second)
	during := count()
	wg.Wait()
	if during != before {
		t.Errorf("%d networks before, %d while jobs ran", before, during)
	}
}
