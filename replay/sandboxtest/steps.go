package sandboxtest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

func outputChecks() []check {
	return []check{
		{name: "output is kept apart and byte for byte", run: checkBytes},
		{name: "a flood is cut in the middle", run: checkFlood},
		{name: "stdin is empty", run: checkStdin},
		{name: "environment variables are an allow-list", run: checkVariables},
		{name: "only regular files of out are collected", run: checkFiles},
	}
}

func checkBytes(t *testing.T, s *suite) {
	r := s.script(t, `printf 'a\377b\r\n'; printf 'err\200' >&2; exit 3`)
	wantExit(t, r, 3)
	wantOut(t, r, "a\xffb\r\n")
	if got := string(r.Stderr); got != "err\x80" {
		t.Errorf("stderr is %q", got)
	}
	if r.Truncated || r.Lingering || r.Duration <= 0 {
		t.Errorf("truncated %v, lingering %v, duration %v", r.Truncated, r.Lingering, r.Duration)
	}
}

func checkFlood(t *testing.T, s *suite) {
	j := s.job(t, nil, sh("step", `echo first; yes 0123456789 | head -c 104857600; echo last`))
	r := s.run(t, j).Steps[0]
	wantExit(t, r, 0)
	if !r.Truncated {
		t.Error("100 MB were kept whole")
	}
	if most := int(j.Limits.Output) + 200; len(r.Stdout) > most || len(r.Stdout) < int(j.Limits.Output)/2 {
		t.Errorf("kept %d bytes, want about %d", len(r.Stdout), j.Limits.Output)
	}
	if !bytes.HasPrefix(r.Stdout, []byte("first\n")) || !bytes.HasSuffix(r.Stdout, []byte("last\n")) {
		t.Errorf("head or tail is lost: %.40q … %q", r.Stdout, r.Stdout[len(r.Stdout)-20:])
	}
}

func checkStdin(t *testing.T, s *suite) {
	r := s.script(t, `cat; echo end`)
	wantExit(t, r, 0)
	wantOut(t, r, "end\n")
}

func checkVariables(t *testing.T, s *suite) {
	step := sh("step", `echo "$LANG $TZ $PYTHONHASHSEED [$SLUICE_TEST_TOKEN] $OWN"; test -w "$HOME" && test -n "$PATH"; env`)
	step.Env = map[string]string{"OWN": "{tree}"}
	r := s.run(t, s.job(t, nil, step)).Steps[0]
	wantExit(t, r, 0)
	if !bytes.HasPrefix(r.Stdout, []byte("C.UTF-8 UTC 0 [] /")) {
		t.Errorf("variables: %.80q", r.Stdout)
	}
	if bytes.Contains(r.Stdout, []byte("secret-of-the-host")) {
		t.Error("a variable of the host reached the step")
	}
}

func checkFiles(t *testing.T, s *suite) {
	script := `mkdir -p {out}/sub && echo report > {out}/sub/r.xml && printf x > {out}/x &&
		ln -s /etc/passwd {out}/link && ln -s / {out}/dir && ln -s sub {out}/sub2 && mkfifo {out}/fifo`
	res := s.run(t, s.job(t, nil, sh("step", script)))
	wantExit(t, res.Steps[0], 0)
	want := map[string][]byte{"sub/r.xml": []byte("report\n"), "x": []byte("x")}
	if d := cmp.Diff(want, res.Files); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func stepChecks() []check {
	return []check{
		{name: "tokens are expanded", run: checkTokens},
		{name: "if failed and must pass", run: checkOrder},
		{name: "steps share one state", needs: "isolation", run: checkShared},
		{name: "dir is below the tree", run: checkDir},
		{name: "a missing command is the step's failure", run: checkNoCommand},
		{name: "a signal is told from an exit", run: checkSignal},
		{name: "a step has a time limit", run: checkStepTimeout},
		{name: "a job has a time limit", run: checkWall},
		{name: "a cancelled job returns", run: checkCancel},
	}
}

func checkTokens(t *testing.T, s *suite) {
	step := sh("step", `cd {tree} && pwd -P && test -d {out} && cat {env}/marker && echo {out}; case {out} in "$T"/*) exit 9;; esac`)
	step.Env = map[string]string{"T": "{tree}"}
	j := s.job(t, nil, step)
	first, second := s.run(t, j).Steps[0], s.run(t, j).Steps[0]
	wantExit(t, first, 0)
	lines := strings.Split(string(first.Stdout), "\n")
	if len(lines) < 3 || lines[1] != "prepared" {
		t.Fatalf("printed %q", first.Stdout)
	}
	if bytes.Equal(first.Stdout, second.Stdout) {
		t.Errorf("{out} can be guessed: %s", lines[2])
	}
}

func checkOrder(t *testing.T, s *suite) {
	explain := func(name, of string) replay.Step {
		step := sh(name, "true")
		step.IfFailed = of
		return step
	}
	must := sh("must", "exit 1")
	must.MustPass = true
	res := s.run(t, s.job(t, nil, sh("ok", "true"), explain("after ok", "ok"), sh("bad", "exit 4"),
		explain("after bad", "bad"), explain("after nothing", "later"), must, sh("never", "true"), explain("why", "must")))
	var got []replay.Stop
	for _, r := range res.Steps {
		got = append(got, r.Stop)
	}
	want := []replay.Stop{replay.Exited, replay.Skipped, replay.Exited, replay.Exited, replay.Skipped,
		replay.Exited, replay.Skipped, replay.Skipped}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("stops (-want +got):\n%s", d)
	}
	if res.Step("bad").ExitCode != 4 {
		t.Errorf("exit code %d", res.Step("bad").ExitCode)
	}
}

func checkShared(t *testing.T, s *suite) {
	res := s.run(t, s.job(t, nil, sh("one", "echo made > made; echo tmp > /tmp/made"), sh("two", "cat made /tmp/made")))
	wantOut(t, res.Steps[1], "made\ntmp\n")
}

func checkDir(t *testing.T, s *suite) {
	in := sh("in", "cat here")
	in.Dir = "a/b"
	missing := sh("missing", "true")
	missing.Dir = "no/such"
	res := s.run(t, s.job(t, []replay.File{Text("a/b/here", "here")}, in, missing))
	wantOut(t, res.Steps[0], "here")
	if r := res.Steps[1]; r.Stop == replay.Exited && r.ExitCode == 0 {
		t.Error("a step in a missing folder passed")
	}
}

func checkNoCommand(t *testing.T, s *suite) {
	res := s.run(t, s.job(t, []replay.File{Text("plain", "not a program")},
		replay.Step{Name: "none", Args: []string{"no-such-command-here"}},
		replay.Step{Name: "plain", Args: []string{"./plain"}}))
	for _, r := range res.Steps {
		if r.Stop != replay.Exited || r.ExitCode == 0 {
			t.Errorf("%s: %s %d", r.Name, r.Stop, r.ExitCode)
		}
	}
}

func checkSignal(t *testing.T, s *suite) {
	r := s.script(t, `kill -SEGV $$`)
	if r.Stop == replay.Exited && r.ExitCode != 139 || r.Stop != replay.Exited && r.Stop != replay.Signal {
		t.Errorf("got %s %d", r.Stop, r.ExitCode)
	}
}

func checkStepTimeout(t *testing.T, s *suite) {
	step := sh("slow", `trap '' TERM INT HUP; echo begun; while :; do sleep 1; done`)
	step.Timeout = time.Second
	res := s.run(t, s.job(t, nil, step, sh("after", "echo ok")))
	if r := res.Steps[0]; r.Stop != replay.Timeout || r.Duration > step.Timeout+s.opts.Slack {
		t.Errorf("got %s after %v", r.Stop, r.Duration)
	}
	wantOut(t, res.Steps[0], "begun\n")
	wantOut(t, res.Steps[1], "ok\n")
}

func checkWall(t *testing.T, s *suite) {
	j := s.job(t, nil, sh("slow", "sleep 300"), sh("after", "true"))
	j.Limits.Wall = 2 * time.Second
	res := s.run(t, j)
	if res.Steps[0].Stop != replay.Timeout || res.Steps[1].Stop != replay.Timeout {
		t.Errorf("got %s, %s", res.Steps[0].Stop, res.Steps[1].Stop)
	}
}

func checkCancel(t *testing.T, s *suite) {
	j := s.job(t, nil, sh("slow", "sleep 300"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.box.Run(ctx, j)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a cancelled job gave a result")
		}
	case <-time.After(s.opts.Slack + time.Second):
		t.Error("a cancelled job did not return")
	}
}
