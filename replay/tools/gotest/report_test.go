package gotest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/report"
	"sluice/replay/tools/tooltest"
)

func goResult(t testing.TB, version, name string, exit int) replay.Result {
	t.Helper()
	step := replay.StepResult{
		Name: report.StepTest, Stop: replay.Exited, ExitCode: exit,
		Stdout: tooltest.Captured(t, version, name+".json"), Stderr: tooltest.Captured(t, version, name+".err"),
	}
	if len(step.Stdout)+len(step.Stderr) == 0 {
		t.Fatalf("nothing was captured for %s %s", version, name)
	}
	return replay.Result{Steps: []replay.StepResult{step}}
}

const (
	goFine    = "ok ok ok"
	goCut     = "ok ok failed"
	goNoBuild = "unknown failed not-run"
)

func TestGoCaptured(t *testing.T) {
	t.Parallel()
	const m = "example.com/m/"
	for name, want := range map[string]tooltest.View{
		"a": {Phases: goFine, Tests: `
			example.com/m/a::ExampleAdd fail assertion
			example.com/m/a::TestAdd pass
			example.com/m/a::TestForge fail assertion
			example.com/m/a::TestNoNewline pass
			example.com/m/a::TestSub fail assertion
			example.com/m/a::TestSub/ok pass
			example.com/m/a::TestSub/one_two fail assertion
			example.com/m/a::TestSub/skip skip
			`},
		"b": {Phases: goFine, Tests: `
			example.com/m/b::TestFirst pass
			example.com/m/b::TestPanic fail exception
			example.com/m/b::TestPanic/in fail exception
			`},
		"c": {Phases: goFine, Tests: `
			example.com/m/c::TestExit error crash
			example.com/m/c::TestFirst pass
			`},
		"d": {Phases: goNoBuild, Broken: m + "d"},
		"e": {Phases: goFine, Tests: `
			example.com/m/e::TestQuick pass
			example.com/m/e::TestSlow timeout
			example.com/m/e::TestSlow/sub timeout
			`},
		"f": {Phases: goCut, Broken: m + "f"},
		"g": {Phases: goNoBuild, Broken: m + "g"},
		"h": {Phases: goFine, Tests: `
			example.com/m/h::TestGo error exception
			example.com/m/h::TestPar missing
			`},
		"useda": {Phases: goNoBuild, Broken: m + "useda"},
		"only":  {Phases: goNoBuild, Broken: m + "only"},
	} {
		for _, version := range []string{"go1.21", "go1.23", "go1.26"} {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, name, 1))
				tooltest.Diff(t, got, want)
			})
		}
	}
}

func TestGoWords(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"go1.21", "go1.23", "go1.26"} {
		for name, want := range map[string]string{
			"d": "undefined: G", "g": "no required module provides", "useda": "dep/dep.go:2:23: cannot use",
			"f": "no database",
		} {
			got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, name, 1))
			if words := got.Broken["example.com/m/"+name]; !strings.Contains(words, want) {
				t.Errorf("%s %s: words %q lack %q", version, name, words, want)
			}
		}
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, "a", 1))
		sub := tooltest.Find(t, got, "example.com/m/a::TestSub/one_two")
		if want := "a_test.go:5: wanted 1\n        line two"; sub.Message != want {
			t.Errorf("message %q, want %q", sub.Message, want)
		}
		if parent := tooltest.Find(t, got, "example.com/m/a::TestSub"); parent.Message != sub.Message {
			t.Errorf("a parent without words has %q", parent.Message)
		}
		panics := Tool{}.Parse(replay.Recipe{}, replay.Target{}, goResult(t, version, "b", 1))
		if msg := tooltest.Find(t, panics, "example.com/m/b::TestPanic/in").Message; !strings.HasPrefix(msg, "panic: assignment to entry") {
			t.Errorf("the panicked test says %q", msg)
		}
	}
}

func TestGoMixed(t *testing.T) {
	t.Parallel()
	res := goResult(t, "go1.26", "mix", 1)
	res.Steps = append(res.Steps, replay.StepResult{
		Name: StepExplain, Stop: replay.Exited, Stdout: tooltest.Captured(t, "go1.26", "list.json"),
	})
	got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, res)
	want := tooltest.View{Phases: "failed failed ok", Broken: "./nodir example.com/m/d example.com/m/only example.com/m/useda"}
	v := tooltest.ViewOf(got)
	v.Tests = ""
	if d := cmp.Diff(want, v); d != "" {
		t.Error(d)
	}
	if len(got.Tests) != 11 {
		t.Errorf("%d tests, want those of a and b", len(got.Tests))
	}
}

func TestGoExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, out string
		exit      int
		want      replay.Phase
	}{
		{"all build", `{"ImportPath":"m/a","Export":"x"}{"ImportPath":"m/only"}`, 0, replay.OK},
		{"a dependency fails", `{"ImportPath":"m/a","DepsErrors":[{"Err":"# m/dep\ndep.go:1:1: x"}]}`, 0, replay.Failed},
		{"itself fails", `{"ImportPath":"m/a","Error":{"Err":"# m/a\na.go:1:1: no such file or directory"}}`, 0, replay.Failed},
		{"no folder", `{"ImportPath":"./n","Error":{"Err":"stat /n: directory not found"}}`, 0, replay.OK},
		{"only tests", `{"ImportPath":"m/t","Error":{"Err":"no non-test Go files in /t"}}`, 0, replay.OK},
		{"no JSON", "go: cannot find main module", 0, replay.Unknown},
		{"it failed itself", "", 1, replay.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res := goResult(t, "go1.26", "d", 1)
			res.Steps = append(res.Steps, replay.StepResult{
				Name: StepExplain, Stop: replay.Exited, ExitCode: c.exit, Stdout: []byte(c.out),
			})
			if got := (Tool{}).Parse(replay.Recipe{}, replay.Target{}, res).BuildSource; got != c.want {
				t.Errorf("build source is %s, want %s", got, c.want)
			}
		})
	}
}

// events makes a log out of "action test" words of one package; "end X" is the package's end.
func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		action, test, _ := strings.Cut(l, " ")
		switch {
		case action == "end":
			b.WriteString(`{"Action":"` + test + `","Package":"p"}` + "\n")
		case action == "raw":
			b.WriteString(test + "\n")
		default:
			b.WriteString(`{"Action":"` + action + `","Package":"p","Test":"` + test + `"}` + "\n")
		}
	}
	return b.String()
}

func TestGoDoubts(t *testing.T) {
	t.Parallel()
	pass := events("run A", "pass A", "end pass")
	for _, c := range []struct {
		name, out, stderr string
		stop              replay.Stop
		exit              int
		truncated         bool
		doubt             string // beginning; "" for none
		tests             string
	}{
		{"all is well", pass, "", replay.Exited, 0, false, "", "p::A pass\n"},
		{"exit code alone tells of a failure", pass, "", replay.Exited, 1, false, "go test exited 1 without", "p::A pass\n"},
		{"failure and exit 0", events("run A", "fail A", "end fail"), "", replay.Exited, 0, false,
			"go test exited 0 in spite", "p::A fail assertion\n"},
		{"a leak found after the tests", events("run A", "pass A", "end fail"), "", replay.Exited, 1, false,
			"package p failed without a failed test", "p::A pass\n"},
		{"the package forgot", events("run A", "fail A", "end pass"), "", replay.Exited, 1, false,
			"package p passed with a failed test", "p::A fail assertion\n"},
		{"two ends", events("run A", "pass A", "fail A", "end fail"), "", replay.Exited, 1, false,
			"test p::A ended more than once", "p::A fail assertion\n"},
		{"forged end of a test that never ran", events("run A", "pass A", "pass B", "end pass"), "", replay.Exited, 0, false,
			"", "p::A pass\np::B missing\n"},
		{"output without a start invents nothing", events("run A", "pass A", "output B", "end pass"), "", replay.Exited, 0, false,
			"", "p::A pass\n"},
		{"no end of a test in a passing package", events("run A", "pass A", "run B", "end pass"), "", replay.Exited, 0, false,
			"", "p::A pass\np::B missing\n"},
		{"nothing ran", events("end pass"), "", replay.Exited, 0, false, "no test ran", ""},
		{"no test files", events("end skip"), "", replay.Exited, 0, false, "no test ran", ""},
		{"empty", "", "go: go.mod is broken\n", replay.Exited, 1, false, "go test reported nothing: go: go.mod is broken", ""},
		{"cut by the sandbox", pass, "", replay.Exited, 0, true, "the output of go test was cut", "p::A pass\n"},
		{"cut by nobody", events("run A", "pass A", "run B"), "", replay.Exited, 1, false, "package p has no end",
			"p::A pass\np::B missing\n"},
		{"killed at the limit", events("run A", "pass A", "run B", "run C", "pause C"), "", replay.Timeout, -1, false, "",
			"p::A pass\np::B timeout\np::C missing\n"},
		{"out of memory", events("run A", "pass A", "run B"), "", replay.OOM, 137, false, "", "p::A pass\np::B error crash\n"},
		{"noise between events", events("raw hello", "run A", "raw {\"Action\":", "raw \x00\xff", "pass A", "end pass"), "",
			replay.Exited, 0, false, "", "p::A pass\n"},
		{"two that become one", `{"Action":"run","Package":"p","Test":"A\ud800"}` + "\n" +
			`{"Action":"fail","Package":"p","Test":"A\ud800"}` + "\n" + events("end fail"), "", replay.Exited, 1, false, "",
			"p::A\uFFFD fail assertion\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, replay.Result{Steps: []replay.StepResult{{
				Name: report.StepTest, Stop: c.stop, ExitCode: c.exit, Truncated: c.truncated,
				Stdout: []byte(c.out), Stderr: []byte(c.stderr),
			}}})
			v := tooltest.ViewOf(got)
			if v.Tests != c.tests {
				t.Errorf("tests:\n%swant:\n%s", v.Tests, c.tests)
			}
			if (c.doubt == "") != (v.Doubt == "") || !strings.HasPrefix(v.Doubt, c.doubt) {
				t.Errorf("doubt %q, want %q", v.Doubt, c.doubt)
			}
			if got.Stop != c.stop {
				t.Errorf("stop %s, want %s", got.Stop, c.stop)
			}
		})
	}
}

func TestGoPackages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, root string
		paths      []string
		want       []string
	}{
		{"everything", "", nil, []string{"./..."}},
		{"files of a package once, sorted", "", []string{"b/x_test.go", "a/y_test.go", "a/z_test.go"}, []string{"./a", "./b"}},
		{"the root package", "", []string{"x_test.go"}, []string{"."}},
		{"folder", "", []string{"a/b", "c.d/"}, []string{"./a/b", "./c.d"}},
		{"testdata of a known package", "", []string{"a/a_test.go", "a/testdata/in.txt"}, []string{"./a"}},
		{"testdata alone", "", []string{"a/testdata/x/in.go"}, []string{"./a/..."}},
		{"testdata of the root", "", []string{"testdata/in.txt"}, []string{"./..."}},
		{"other files select nothing", "", []string{"a/a_test.go", "docs/x.md"}, []string{"./a"}},
		{"only other files", "", []string{"docs/x.md"}, []string{"./..."}},
		{"in a module", "sub/mod", []string{"sub/mod/a/a_test.go", "sub/mod/x_test.go"}, []string{".", "./a"}},
		{"outside of the module", "sub/mod", []string{"sub/other/a_test.go", "x_test.go"}, []string{"../..", "../other"}},
		{"hostile", "", []string{"../../etc/x_test.go", "-exec/x_test.go"}, []string{"./-exec", "./etc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, goPackages(c.root, c.paths)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGoSteps(t *testing.T) {
	t.Parallel()
	build := replay.Step{Name: "generate", Args: []string{"true"}, MustPass: true}
	r := replay.Recipe{Root: "sub", Build: []replay.Step{build}}
	steps := Tool{}.Steps(r, replay.Target{Paths: []string{"sub/a/a_test.go"}})
	if len(steps) != 3 || steps[0].Name != "generate" || steps[1].Name != report.StepTest || steps[2].IfFailed != report.StepTest {
		t.Fatalf("steps are %+v", steps)
	}
	for _, s := range steps[1:] {
		if s.Dir != "sub" || s.Args[len(s.Args)-1] != "./a" || s.Env["GOPROXY"] != "off" {
			t.Errorf("step %+v", s)
		}
	}
	if !slices.Contains(steps[1].Args, "-count=1") {
		t.Error("a cached result could be reported")
	}
}
