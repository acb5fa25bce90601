package sandboxtest

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/replay"
)

func shareChecks() []check {
	return []check{
		{name: "what repeats share changes no result", run: checkShareResult},
		{name: "repeats begin with what one built", needs: "isolation", run: checkShareOnce},
		{name: "repeats that run at once wait for what one builds", needs: "isolation", run: checkShareParallel},
		{name: "a beginning that fails is not shared", run: checkShareFailed},
		{name: "warming is in no result", needs: "isolation", run: checkShareWarm},
		{name: "states share nothing with others", needs: "isolation", run: checkShareOthers},
	}
}

// built does what builds do: it writes to the tree, the environment, the temporary folder and {out}, changes and removes files, notes the
// path of {out}, and sets modes and times.
const built = `echo made >made && mkdir -p dir && mv moved dir/ && ln -s made link && ln made hard && chmod 750 dir && touch -d @1234567890 made dir &&
rm gone && echo {out} >where && echo report >{out}/build.txt && echo tmp >/tmp/made && echo new >{env}/new && touch {env}/marker && mkdir {env}/sub &&
echo deep >{env}/sub/deep && echo said && echo warned >&2`

// used looks at all of that, and then does to it what it must not do to others.
const used = `cat made link hard where /tmp/made {env}/new {env}/marker {env}/sub/deep {out}/build.txt && stat -c '%n %a %Y %h' made dir &&
find . | sort && ls {env}/sub && test "$(cat where)" = {out} && cat spoilt 2>/dev/null
echo spoilt >made; echo spoilt >spoilt; rm -rf dir {env}/sub /tmp/made; echo spoilt >{env}/new; echo spoilt >>{env}/marker; echo result >{out}/result.txt; exit 3`

func (s *suite) shareJob(t *testing.T, steps ...replay.Step) replay.Job {
	return s.job(t, []replay.File{Text("moved", "moved\n"), Text("gone", "x"), Text("kept", "kept\n")}, steps...)
}

// plain is a result without what differs between two runs of a job: durations, and the name of {out}.
func plain(t *testing.T, r replay.Result) replay.Result {
	t.Helper()
	for i := range r.Steps {
		var kept []string
		for line := range strings.Lines(string(r.Steps[i].Stdout)) {
			if !strings.HasPrefix(line, "/") {
				kept = append(kept, line)
			}
		}
		r.Steps[i].Stdout = []byte(strings.Join(kept, ""))
		r.Steps[i].Duration = 0
	}
	return r
}

func checkShareResult(t *testing.T, s *suite) {
	if _, ok := s.opts.Without["isolation"]; ok {
		t.Skip("the environment cannot be written to")
	}
	explain := sh("explain", "cat made")
	explain.IfFailed = "test"
	never := sh("never", "true")
	never.IfFailed = "build"
	must := sh("build", built)
	must.MustPass = true
	j := s.shareJob(t, must, never, sh("test", used), explain)
	want := plain(t, s.run(t, j))
	if want.Steps[2].ExitCode != 3 || want.Steps[3].Stop != replay.Exited {
		t.Fatalf("the job itself: %s", show(want.Steps[2]))
	}
	j.Share = replay.Share{Steps: 2}
	for range 3 {
		if d := cmp.Diff(want, plain(t, s.run(t, j)), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("-alone +sharing:\n%s", d)
		}
	}
}

// chance is a step that leaves and prints what no other run of it does.
var chance = sh("build", `head -c 16 /dev/urandom | od -An -tx1 | tee made {env}/made`)

func checkShareOnce(t *testing.T, s *suite) {
	j := s.shareJob(t, chance, sh("test", "cat made {env}/made && rm made && echo x >{env}/made"))
	alone, other := s.run(t, j), s.run(t, j)
	if string(alone.Steps[0].Stdout) == string(other.Steps[0].Stdout) {
		t.Fatal("jobs that do not ask for it share their beginning")
	}
	j.Share = replay.Share{Steps: 1}
	first := s.run(t, j)
	for range 2 {
		again := s.run(t, j)
		if line := string(again.Steps[0].Stdout); line != string(first.Steps[0].Stdout) || string(again.Steps[1].Stdout) != line+line {
			t.Errorf("built anew: %s, %s", show(again.Steps[0]), show(again.Steps[1]))
		}
		wantExit(t, again.Steps[1], 0)
	}
}

func checkShareParallel(t *testing.T, s *suite) {
	slow := sh("build", "sleep 0.5; "+chance.Args[2])
	j := s.shareJob(t, slow, sh("test", "cat made"))
	j.Share = replay.Share{Steps: 1}
	out := make([]string, 3)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i] = string(s.run(t, j).Steps[1].Stdout) })
	}
	wg.Wait()
	if out[0] == "" || out[1] != out[0] || out[2] != out[0] {
		t.Errorf("built %q", out)
	}
}

func checkShareFailed(t *testing.T, s *suite) {
	flaky := sh("build", `head -c 16 /dev/urandom | od -An -tx1; exit 1`)
	j := s.shareJob(t, flaky, sh("test", "echo ran"))
	j.Share = replay.Share{Steps: 1}
	first, second := s.run(t, j), s.run(t, j)
	if string(first.Steps[0].Stdout) == string(second.Steps[0].Stdout) {
		t.Error("a build that failed once is believed to fail always")
	}
	for _, r := range []replay.Result{first, second} {
		wantExit(t, r.Steps[0], 1)
		wantOut(t, r.Steps[1], "ran\n")
	}
}

func checkShareWarm(t *testing.T, s *suite) {
	j := s.shareJob(t, sh("build", "echo built"), sh("test", "cat {env}/warm; echo cold >{env}/warm"))
	j.Share = replay.Share{Steps: 1, Warm: []replay.Step{sh("warm", "echo warm >{env}/warm; echo loud; exit 9")}}
	for range 2 {
		r := s.run(t, j)
		wantOut(t, r.Steps[0], "built\n")
		wantOut(t, r.Steps[1], "warm\n")
	}
}

func checkShareOthers(t *testing.T, s *suite) {
	poison := sh("build", `echo poison >>{env}/poison; echo poison >>poison; true`)
	look := sh("test", "cat poison extra 2>/dev/null; cat {env}/poison 2>/dev/null; true")
	j := s.shareJob(t, poison, look)
	j.Share = replay.Share{Steps: 1}
	s.run(t, j)
	clean := sh("build", "true")
	other := s.shareJob(t, clean, look)
	other.Share = replay.Share{Steps: 1}
	wantOut(t, s.run(t, other).Steps[1], "")
	tree := j
	tree.Tree = NewTree(t.Name()+" of another tree", Text("extra", "other tree\n"))
	over := j
	over.Overlays = []replay.Overlay{{Files: []replay.File{Text("extra", "overlay\n")}}}
	for want, k := range map[string]replay.Job{"other tree": tree, "overlay": over} {
		for range 2 {
			if got := string(s.run(t, k).Steps[1].Stdout); !strings.HasPrefix(got, "poison\n"+want) || strings.Count(got, "poison") > 2 {
				t.Errorf("%s: %q", want, got)
			}
		}
	}
}
