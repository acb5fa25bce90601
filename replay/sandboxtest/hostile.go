package sandboxtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/replay"
)

func hostileChecks() []check {
	return []check{
		{name: "a background child holds stdout", run: checkBackground},
		{name: "a daemon holds stdout", run: checkDaemon},
		{name: "a fork bomb", needs: "pids", run: checkForkBomb},
		{name: "a memory hog is told from a failure", needs: "memory", run: checkMemory},
		{name: "a disk filler", run: checkDisk},
		{name: "it kills what it can", needs: "isolation", run: checkKill},
		{name: "it has no network", needs: "network", run: checkNetwork},
		{name: "it writes outside", needs: "isolation", run: checkOutside},
		{name: "jobs side by side do not meet", run: checkParallel},
	}
}

func checkBackground(t *testing.T, s *suite) {
	r := s.script(t, `sleep 300 & echo done`)
	wantExit(t, r, 0)
	wantOut(t, r, "done\n")
	if !r.Lingering || r.Duration > s.opts.Slack {
		t.Errorf("lingering %v after %v", r.Lingering, r.Duration)
	}
}

func checkDaemon(t *testing.T, s *suite) {
	daemon := `trap '' HUP TERM INT; if command -v setsid >/dev/null; then setsid sh -c "$0" & else sh -c "$0" & fi`
	body := `trap "" HUP TERM INT; touch {tree}/alive; while :; do sleep 1; echo still here; done`
	spawn := replay.Step{Name: "spawn", Args: []string{"sh", "-c", "(" + daemon + "); while ! test -e alive; do sleep 0.1; done", body}}
	res := s.run(t, s.job(t, nil, spawn, sh("next", `rm -f alive; sleep 2; grep -l "still[ ]here" /proc/[0-9]*/cmdline 2>/dev/null; true`)))
	wantExit(t, res.Steps[0], 0)
	if !res.Steps[0].Lingering {
		t.Error("the daemon was not reported")
	}
	if out := string(res.Steps[1].Stdout); strings.Contains(out, "cmdline") {
		t.Errorf("the daemon outlived its step: %s", out)
	}
}

func checkForkBomb(t *testing.T, s *suite) {
	step := sh("bomb", `bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done`)
	step.Timeout = 3 * time.Second
	j := s.job(t, nil, step, sh("after", "echo ok"))
	j.Limits.Pids = 50
	begun := time.Now()
	res := s.run(t, j)
	if took := time.Since(begun); took > 3*time.Second+2*s.opts.Slack {
		t.Errorf("took %v", took)
	}
	wantOut(t, res.Steps[1], "ok\n")
	r := s.script(t, "echo fine")
	wantOut(t, r, "fine\n")
}

func checkMemory(t *testing.T, s *suite) {
	// tail keeps a line that never ends in memory.
	j := s.job(t, nil, sh("hog", `head -c 2000000000 /dev/zero | tail -n 1 >/dev/null`), sh("after", "echo ok"))
	j.Limits.Memory = 64 << 20
	res := s.run(t, j)
	if got := res.Steps[0].Stop; got != replay.OOM {
		t.Errorf("got %s %d\n%s", got, res.Steps[0].ExitCode, show(res.Steps[0]))
	}
	wantOut(t, res.Steps[1], "ok\n")
}

func checkDisk(t *testing.T, s *suite) {
	j := s.job(t, nil, sh("fill", `head -c 50000000 /dev/zero > big; echo "rc $?"`), sh("size", "wc -c < big"))
	j.Limits.Disk = 4 << 20
	res := s.run(t, j)
	if strings.Contains(string(res.Steps[0].Stdout), "rc 0") {
		t.Errorf("a file of 50 MB was written\n%s", show(res.Steps[0]))
	}
	var size int64
	if _, err := fmt.Sscan(string(res.Steps[1].Stdout), &size); err != nil || size > j.Limits.Disk {
		t.Errorf("the file has %d bytes (%v)", size, err)
	}
}

func checkKill(t *testing.T, s *suite) {
	for _, script := range []string{
		`kill -9 $PPID; echo alive`,
		`kill -TERM 1; kill -INT 1; kill -HUP 1; kill -QUIT 1; kill -9 1; echo alive`,
		`kill -9 -1; echo alive`,
		`kill -STOP 1 $PPID; echo alive`,
	} {
		step := sh("kill", script)
		step.Timeout = 5 * time.Second
		res := s.run(t, s.job(t, nil, step, sh("after", "echo ok")))
		wantOut(t, res.Steps[1], "ok\n")
	}
	wantOut(t, s.script(t, "echo fine"), "fine\n")
}

func checkNetwork(t *testing.T, s *suite) {
	r := s.script(t, `tail -n +2 /proc/net/route; grep -v ' lo$' /proc/net/if_inet6 2>/dev/null; true`)
	wantExit(t, r, 0)
	wantOut(t, r, "")
}

func checkOutside(t *testing.T, s *suite) {
	victim := t.TempDir()
	write(t, victim)
	script := `for d in / /etc /usr /usr/bin /var /root /home /proc /sys /dev ` + victim + `; do
		echo x > $d/sluice-was-here; rm -f ` + victim + `/file; mkdir -p $d/sluice-was-here.d; done 2>/dev/null; true`
	s.script(t, script)
	wantVictim(t, victim)
	again := s.script(t, `ls -d /sluice-was-here* /*/sluice-was-here* /usr/bin/sluice-was-here* 2>/dev/null; true`)
	wantOut(t, again, "")
}

func checkParallel(t *testing.T, s *suite) {
	var wg sync.WaitGroup
	for i := range 6 {
		j := s.job(t, []replay.File{Text("who", fmt.Sprint(i))},
			sh("one", `t=${TMPDIR:-/tmp}/who; cat who > "$t"; sleep 0.3; cat who "$t"; cat who > {out}/who`))
		wg.Go(func() {
			res := s.run(t, j)
			wantOut(t, res.Steps[0], strings.Repeat(fmt.Sprint(i), 2))
			if got := string(res.Files["who"]); got != fmt.Sprint(i) {
				t.Errorf("job %d collected %q", i, got)
			}
		})
	}
	wg.Wait()
}
