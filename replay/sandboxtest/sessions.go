package sandboxtest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

func sessionChecks() []check {
	return []check{
		{name: "a session keeps its state", run: checkSessionState},
		{name: "a session tells what changed", run: checkChanges},
		{name: "a session's tree is hostile", run: checkHostileTree},
		{name: "commands of a session hang, fork and flood", run: checkSessionHostile},
		{name: "a session ends at its wall limit", run: checkSessionWall},
		{name: "a session that builds and one that runs", run: checkSessionBuild},
		{name: "a session has no network", needs: "network", run: checkSessionNetwork},
		{name: "a session's tree is read-only", needs: "isolation", run: checkReadOnly},
		{name: "a session belongs to no other", needs: "isolation", run: checkSessionApart},
		{name: "a session refuses what leaves its tree", run: checkSessionTraversal},
		{name: "a cancelled command of a session", run: checkSessionCancel},
	}
}

// session opens a session that the test closes.
func (s *suite) session(t *testing.T, spec replay.SessionSpec) replay.Session {
	t.Helper()
	opener, ok := s.box.(replay.Opener)
	if !ok {
		t.Fatalf("%s opens no sessions", s.box.Name())
	}
	spec.Name = t.Name()
	if spec.Tree == nil {
		spec.Tree = NewTree(t.Name())
	}
	if spec.Env == nil {
		spec.Recipe.Image = s.opts.Recipe.Image
	}
	if spec.Limits == (replay.Limits{}) {
		spec.Limits = replay.Limits{Wall: time.Minute, Memory: 256 << 20, Pids: 128, Output: 16 << 10, Disk: 64 << 20}
	}
	o, err := opener.Open(context.Background(), spec)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := o.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})
	return o
}

// exec runs one command of a session.
func (s *suite) exec(t *testing.T, o replay.Session, script string, timeout time.Duration) replay.StepResult {
	t.Helper()
	step := sh("command", script)
	step.Timeout = timeout
	begun := time.Now()
	r, err := o.Exec(context.Background(), step)
	if err != nil {
		t.Fatalf("Exec: %v", err)
	}
	if took := time.Since(begun); took > timeout+2*s.opts.Slack && timeout > 0 {
		t.Errorf("%q took %v", script, took)
	}
	return r
}

func (s *suite) wantSays(t *testing.T, o replay.Session, script, want string) {
	t.Helper()
	r := s.exec(t, o, script, 0)
	wantExit(t, r, 0)
	wantOut(t, r, want)
}

func (s *suite) wantChanges(t *testing.T, o replay.Session, want ...string) []replay.Change {
	t.Helper()
	changes, err := o.Changes(context.Background())
	if err != nil {
		t.Fatalf("Changes: %v", err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Kind)+" "+c.Path)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	return changes
}

func checkSessionState(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{
		Build: true, Tree: NewTree("t", Text("a", "1"), Text("b", "1")),
		Overlays: []replay.Overlay{{Remove: []string{"b"}, Files: []replay.File{Text("c/d", "over")}}},
	})
	s.wantSays(t, o, "cat a c/d; ls", "1overa\nc\n")
	s.wantSays(t, o, `echo two > a; echo env > {env}/x; echo home > "$HOME/y"; echo tmp > "${TMPDIR:-/tmp}/z"; cd c; X=1`, "")
	s.wantSays(t, o, `cat a {env}/x "$HOME/y" "${TMPDIR:-/tmp}/z"; echo "$X"; test -e c && pwd > {env}/pwd`, "two\nenv\nhome\ntmp\n\n")
	s.wantSays(t, o, `cat {env}/pwd; test {env} = "`+o.Expand("{env}")+`" && echo same`, o.Expand("{tree}")+"\nsame\n")
	r := s.exec(t, o, `echo out; echo err >&2; exit 3`, 0)
	wantExit(t, r, 3)
	wantOut(t, r, "out\n")
	if string(r.Stderr) != "err\n" {
		t.Errorf("stderr is %q", r.Stderr)
	}
}

func checkChanges(t *testing.T, s *suite) {
	files := []replay.File{
		Text("same", "same"), Text("edited", "old"), Text("gone", "x"), Text("d/gone", "x"), Text("mode", "m"),
		Script("run", "#!/bin/sh\n"), Link("link", "same"), Link("relinked", "same"), Text("file", "x"),
	}
	o := s.session(t, replay.SessionSpec{
		Build: true, Tree: NewTree("t", files...), Overlays: []replay.Overlay{{Files: []replay.File{Text("over", "1")}}},
	})
	s.wantChanges(t, o)
	s.wantSays(t, o, `set -e
echo new > edited; rm -r gone d; chmod +x mode; ln -sf edited relinked; echo n > new; mkdir -p e/f; echo n > e/f/g; ln new e/hard
touch same; echo 2 >> over; rm file; mkdir file; echo x > file/inside; echo x > {env}/apart; chmod -x run; chmod +x run`, "")
	changes := s.wantChanges(t, o, "deleted d/gone", "added e/f/g", "added e/hard", "modified edited", "deleted file",
		"added file/inside", "deleted gone", "modified mode", "added new", "modified over", "modified relinked")
	for _, c := range changes {
		f, err := o.Read(context.Background(), c.Path)
		if c.Kind == replay.Deleted {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("reading %s, which is gone: %v", c.Path, err)
			}
			continue
		}
		if err != nil || replay.EntryOf(f) != c.After {
			t.Errorf("%s: the change says %+v, Read gives %+v, %v", c.Path, c.After, replay.EntryOf(f), err)
		}
	}
}

func checkHostileTree(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{Build: true, Tree: NewTree("t", Text("a/b", "1"), Text("c", "1"))})
	s.wantSays(t, o, `set -e
rm -r a; ln -s /etc a; rm c; ln -s /etc/passwd c; mkfifo pipe; ln -s . loop; mkdir sub; ln -s /etc sub/etc
printf x > "$(printf 'odd \377\nname')"; head -c 20000000 /dev/zero > big`, "")
	s.wantChanges(t, o, "added a", "deleted a/b", "added big", "modified c", "added loop", "added odd \xff\nname", "special pipe", "added sub/etc")
	for _, p := range []string{"a/passwd", "a/b", "sub/etc/passwd", "loop/big", "pipe", "none", "sub"} {
		if f, err := o.Read(context.Background(), p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("reading %q gave %d bytes, %v", p, len(f.Data), err)
		}
	}
	if _, err := o.Read(context.Background(), "big"); !errors.Is(err, replay.ErrTooLarge) {
		t.Errorf("reading a huge file: %v", err)
	}
	if f, err := o.Read(context.Background(), "c"); err != nil || string(f.Data) != "/etc/passwd" || f.Mode&fs.ModeSymlink == 0 {
		t.Errorf("reading a link gave %+v, %v", f, err)
	}
}

func checkSessionHostile(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{Build: true})
	r := s.exec(t, o, `trap '' TERM INT HUP; echo begun; (while :; do sleep 1; done) & while :; do sleep 1; done`, time.Second)
	if r.Stop != replay.Timeout {
		t.Errorf("a hanging command: %s", r.Stop)
	}
	wantOut(t, r, "begun\n")
	r = s.exec(t, o, `echo kept > f; sleep 300 & echo done`, 10*time.Second)
	wantExit(t, r, 0)
	if !r.Lingering {
		t.Error("a background child was not reported")
	}
	r = s.exec(t, o, `echo first; head -c 100000 /dev/zero | tr '\0' x; echo last`, 10*time.Second)
	wantExit(t, r, 0)
	if !r.Truncated || len(r.Stdout) > 17<<10 || !contains(string(r.Stdout), "first\n", "cut", "last\n") {
		t.Errorf("a flood: truncated %v, %d bytes", r.Truncated, len(r.Stdout))
	}
	if _, without := s.opts.Without["pids"]; !without {
		s.exec(t, o, `bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done`, 2*time.Second)
	}
	if _, without := s.opts.Without["isolation"]; !without { // else it would reach the host
		s.exec(t, o, `kill -9 -1; kill -9 1`, 10*time.Second)
	}
	s.wantSays(t, o, "cat f; ls", "kept\nf\n")
	s.wantChanges(t, o, "added f")
}

func checkSessionWall(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{Build: true, Limits: replay.Limits{Wall: 2 * time.Second}})
	if r := s.exec(t, o, "sleep 300", 0); r.Stop != replay.Timeout || r.Duration > 2*time.Second+s.opts.Slack {
		t.Errorf("got %s after %v", r.Stop, r.Duration)
	}
	if r := s.exec(t, o, "echo late", 0); r.Stop != replay.Timeout || len(r.Stdout) > 0 {
		t.Errorf("after the end: %s, %q", r.Stop, r.Stdout)
	}
	s.wantChanges(t, o)
}

// checkSessionBuild: what a session built is what an environment of the same steps holds; a session over that writes to a copy.
func checkSessionBuild(t *testing.T, s *suite) {
	vars := map[string]string{"WHERE": "{env}/w"}
	for k, v := range s.opts.Recipe.Env {
		vars[k] = v
	}
	build := s.session(t, replay.SessionSpec{Build: true, Recipe: replay.Recipe{Env: vars}})
	script := `echo "$WHERE" > {env}/where; printenv HOME > {env}/h; cat {env}/where {env}/h`
	want := string(s.exec(t, build, script, 0).Stdout)
	r := s.recipe("session", sh("install", script))
	r.Env = vars
	env := s.prepare(t, r)
	for range 2 {
		o := s.session(t, replay.SessionSpec{Env: &env, Tree: NewTree("t", Text("a", "1"))})
		if _, fallback := s.opts.Without["isolation"]; !fallback {
			s.wantSays(t, o, `cat {env}/where {env}/h; echo poisoned > {env}/where; echo 2 > a`, want)
			s.wantSays(t, o, `cat {env}/where a`, "poisoned\n2\n")
			s.wantChanges(t, o, "modified a")
		}
	}
}

func checkSessionNetwork(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{})
	s.wantSays(t, o, `tail -n +2 /proc/net/route; grep -v ' lo$' /proc/net/if_inet6 2>/dev/null; true`, "")
}

func checkReadOnly(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{ReadOnly: true, Tree: NewTree("t", Text("d/a", "1"), Script("run", "#!/bin/sh\necho ran\n"))})
	s.wantSays(t, o, `(echo 2 > d/a; echo 2 > new; rm d/a; mv d e; chmod 777 d; touch d/b) 2>/dev/null
cat d/a; ./run; echo x > "${TMPDIR:-/tmp}/scratch" && cat "${TMPDIR:-/tmp}/scratch"`, "1ran\nx\n")
	s.wantChanges(t, o)
}

func checkSessionApart(t *testing.T, s *suite) {
	one, two := s.session(t, replay.SessionSpec{Build: true}), s.session(t, replay.SessionSpec{Build: true})
	s.wantSays(t, one, `echo one > a; echo one > {env}/a; echo one > /tmp/a; printenv SLUICE_TEST_TOKEN; true`, "")
	s.wantSays(t, two, `ls -A . /tmp; cat {env}/a 2>/dev/null; true`, ".:\n\n/tmp:\n")
	s.wantChanges(t, two)
}

func checkSessionTraversal(t *testing.T, s *suite) {
	opener, ok := s.box.(replay.Opener)
	if !ok {
		t.Fatal("no sessions")
	}
	for _, p := range []string{"../escaped", "a//b", ".", ""} {
		for name, spec := range map[string]replay.SessionSpec{
			"tree":    {Tree: NewTree("t", Text(p, "x"))},
			"overlay": {Tree: NewTree("t"), Overlays: []replay.Overlay{{Files: []replay.File{Text(p, "x")}}}},
		} {
			spec.Recipe.Image = s.opts.Recipe.Image
			if o, err := opener.Open(context.Background(), spec); err == nil {
				t.Errorf("%s with path %q was accepted", name, p)
				o.Close()
			}
		}
	}
	o := s.session(t, replay.SessionSpec{})
	for _, p := range []string{"../x", "/etc/passwd", "", ".", "a/../../x"} {
		if _, err := o.Read(context.Background(), p); err == nil {
			t.Errorf("Read accepts %q", p)
		}
	}
	if _, err := o.Exec(context.Background(), replay.Step{Name: "x", Args: []string{"true"}, Dir: "../.."}); err == nil {
		t.Error("Exec accepts a folder outside of the tree")
	}
}

func checkSessionCancel(t *testing.T, s *suite) {
	o := s.session(t, replay.SessionSpec{Build: true})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begun := time.Now()
	if _, err := o.Exec(ctx, sh("slow", "sleep 300")); err == nil || strings.Contains(err.Error(), "limit") {
		t.Errorf("a cancelled command gave %v", err)
	}
	if took := time.Since(begun); took > time.Second+s.opts.Slack {
		t.Errorf("it took %v", took)
	}
}

// BenchmarkCommand measures one command of a session that is open.
func BenchmarkCommand(b *testing.B, s replay.Opener, spec replay.SessionSpec) {
	o, err := s.Open(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	for b.Loop() {
		if _, err := o.Exec(b.Context(), sh("true", "true")); err != nil {
			b.Fatal(err)
		}
	}
}
