package pytest

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/report"
	"sluice/replay/tools/tooltest"
)

func pyResult(t testing.TB, version, name string, exit int) replay.Result {
	t.Helper()
	res := replay.Result{Files: map[string][]byte{}, Steps: []replay.StepResult{{
		Name: report.StepTest, Stop: replay.Exited, ExitCode: exit,
		Stdout: tooltest.Captured(t, version, name+".out"), Stderr: tooltest.Captured(t, version, name+".err"),
	}}}
	if report := tooltest.Captured(t, version, name+".xml"); len(report) > 0 {
		res.Files[junitFile] = report
	}
	if len(res.Steps[0].Stdout)+len(res.Steps[0].Stderr) == 0 {
		t.Fatalf("nothing was captured for %s", name)
	}
	return res
}

const pyAll = `
	mod.py::mod.f fail assertion
	tests/test_a.py::TestC::TestInner::test_x pass
	tests/test_a.py::TestC::test_y fail assertion
	tests/test_a.py::TestD::test_inherited fail assertion
	tests/test_a.py::TestU::test_eq fail assertion
	tests/test_a.py::TestU::test_sub fail assertion
	tests/test_a.py::test_assert fail assertion
	tests/test_a.py::test_both fail assertion
	tests/test_a.py::test_exc fail exception
	tests/test_a.py::test_ok pass
	tests/test_a.py::test_p[[] fail assertion
	tests/test_a.py::test_p[\x01] pass
	tests/test_a.py::test_p[\xe9] pass
	tests/test_a.py::test_p[a b] pass
	tests/test_a.py::test_p[a/b.py] pass
	tests/test_a.py::test_p[a::b] pass
	tests/test_a.py::test_p[log(photon] pass
	tests/test_a.py::test_p[x-Unit 'deg' \\(angle\\) 'distance'. ] pass
	tests/test_a.py::test_raises fail assertion
	tests/test_a.py::test_setup error exception
	tests/test_a.py::test_skip skip
	tests/test_a.py::test_teardown error exception
	tests/test_a.py::test_xfail skip
	tests/test_a.py::test_xpass pass
	tests/test_a.py::test_xpass_strict fail assertion
	`

func TestPyCaptured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, name string
		exit          int
		want          tooltest.View
	}{
		{"pytest9", "all", 1, tooltest.View{Phases: "ok failed ok", Tests: pyAll, Broken: "tests/sub/test_skipmod.py tests/test_bad.py"}},
		{"pytest6", "all", 1, tooltest.View{Phases: "ok failed ok", Tests: pyAll, Broken: "tests/sub/test_skipmod.py tests/test_bad.py"}},
		{"pytest9", "bad", 1, tooltest.View{Phases: "ok failed not-run", Broken: "tests/test_bad.py"}},
		{"pytest9", "skipmod", 5, tooltest.View{Phases: "ok ok not-run", Broken: "tests/sub/test_skipmod.py"}},
		{"pytest9", "missing", 4, tooltest.View{Phases: "ok failed not-run", Broken: "tests/none.py"}},
		{"pytest9", "conftest", 4, tooltest.View{Phases: "ok failed not-run", Broken: "conf/conftest.py"}},
		{"pytest9", "usage", 4, tooltest.View{Phases: "ok unknown unknown",
			Doubt: "pytest left no report: ERROR: usage: python -m pytest [options] [file_or_dir] [file_or_dir] [...]"}},
		{"pytest9", "none", 5, tooltest.View{Phases: "ok unknown unknown", Doubt: "no test ran"}},
		{"pytest9", "exit", 2, tooltest.View{Phases: "ok ok failed", Tests: "usage/test_e.py::test_a pass\n",
			Doubt: "pytest exited 2: "}},
	} {
		t.Run(c.version+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, pyResult(t, c.version, c.name, c.exit))
			tooltest.Diff(t, got, c.want)
		})
	}
}

func TestPyWords(t *testing.T) {
	t.Parallel()
	got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, pyResult(t, "pytest9", "all", 1))
	for id, want := range map[string]string{
		"tests/test_a.py::test_assert": "AssertionError: no\nassert 1 == 2",
		"tests/test_a.py::test_setup":  `failed on setup with "RuntimeError: setup"`,
		"tests/test_a.py::test_xfail":  "pytest.xfail: known",
		"tests/test_a.py::test_both":   "assert 0",
	} {
		if msg := tooltest.Find(t, got, id).Message; msg != want {
			t.Errorf("%s says %q, want %q", id, msg, want)
		}
	}
	if words := got.Broken["tests/test_bad.py"]; !strings.Contains(words, "No module named 'mypkg'") {
		t.Errorf("the broken module says %q", words)
	}
}

func TestPyBelowRoot(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{Root: "py"}
	got := Tool{}.Parse(r, replay.Target{}, pyResult(t, "pytest9", "all", 1))
	tooltest.Find(t, got, "py/tests/test_a.py::TestC::test_y")
	if got.Broken["py/tests/test_bad.py"] == "" {
		t.Errorf("broken: %v", got.Broken)
	}
	conf := Tool{}.Parse(r, replay.Target{}, pyResult(t, "pytest9", "conftest", 4))
	if conf.Broken["py/conf/conftest.py"] == "" {
		t.Errorf("broken: %v", conf.Broken)
	}
}

func suite(cases string) string {
	return `<testsuites><testsuite>` + cases + `</testsuite></testsuites>`
}

func TestPyDoubts(t *testing.T) {
	t.Parallel()
	const ok = `<testcase classname="t.test_a" name="x" file="t/test_a.py"/>`
	const bad = `<testcase classname="t.test_a" name="x" file="t/test_a.py"><failure message="assert 0"/></testcase>`
	for _, c := range []struct {
		name, xml, stdout string
		stop              replay.Stop
		exit              int
		doubt, tests      string
	}{
		{"all is well", suite(ok), "", replay.Exited, 0, "", "t/test_a.py::x pass\n"},
		{"exit code alone tells of a failure", suite(ok), "", replay.Exited, 1, "pytest exited 1 without", "t/test_a.py::x pass\n"},
		{"failure and exit 0", suite(bad), "", replay.Exited, 0, "pytest exited 0 in spite", "t/test_a.py::x fail assertion\n"},
		{"the console knows more", suite(ok), "=== 1 failed, 2 passed in 0.1s ===\n", replay.Exited, 0, "the console tells",
			"t/test_a.py::x pass\n"},
		{"one name, two fates", suite(ok + bad), "", replay.Exited, 1, "test t/test_a.py::x both", "t/test_a.py::x fail assertion\n"},
		{"internal error", suite(ok), "", replay.Exited, 3, "pytest exited 3", "t/test_a.py::x pass\n"},
		{"unknown code", suite(ok), "", replay.Exited, 77, "pytest exited 77", "t/test_a.py::x pass\n"},
		{"empty report", "", "", replay.Exited, 0, "reading the report", ""},
		{"empty suite", suite(""), "", replay.Exited, 0, "no test ran", ""},
		{"cut report", suite(ok)[:len(ok)+30], "", replay.Exited, 0, "reading the report", "t/test_a.py::x pass\n"},
		{"not ended", suite(ok), "", replay.Timeout, -1, "", "t/test_a.py::x pass\n"},
		{"killed", suite(ok), "", replay.Signal, 139, "pytest was killed", "t/test_a.py::x pass\n"},
		{"control characters", suite("<testcase classname=\"t.test_a\" name=\"x\x01\xff\" file=\"t/test_a.py\"/>"), "",
			replay.Exited, 0, "", "t/test_a.py::x\uFFFD\uFFFD pass\n"},
		{"no file given", suite(`<testcase classname="t.test_b.TestC.TestD" name="x"/>`), "", replay.Exited, 0, "",
			"t/test_b.py::TestC::TestD::x pass\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, replay.Result{
				Files: map[string][]byte{junitFile: []byte(c.xml)},
				Steps: []replay.StepResult{{Name: report.StepTest, Stop: c.stop, ExitCode: c.exit, Stdout: []byte(c.stdout)}},
			})
			v := tooltest.ViewOf(got)
			if v.Tests != c.tests {
				t.Errorf("tests:\n%swant:\n%s", v.Tests, c.tests)
			}
			if (c.doubt == "") != (v.Doubt == "") || !strings.HasPrefix(v.Doubt, c.doubt) {
				t.Errorf("doubt %q, want %q", v.Doubt, c.doubt)
			}
		})
	}
}

func TestPyNodeIDs(t *testing.T) {
	t.Parallel()
	// A target's path settles where the file's name ends, also when it has dots or a lower-case class follows.
	names := newModuleNames("sub", []string{"sub/t/test.v1.py", "sub/t/test_low.py"}, nil)
	for class, want := range map[string]string{
		"t.test.v1.TestA": "sub/t/test.v1.py::TestA::x",
		"t.test_low.low":  "sub/t/test_low.py::low::x",
		"t.test_low":      "sub/t/test_low.py::x",
		"other.test_o.C":  "sub/other/test_o.py::C::x",
		"docs.a.rst":      "sub/docs/a/rst.py::x",
	} {
		if got := names.nodeID(report.Case{Class: class, Name: "x"}); got != want {
			t.Errorf("%s gives %s, want %s", class, got, want)
		}
	}
}

// TestPyNamesAreWhole: a name is an id byte for byte, whatever is in it; names that were cut at their first space are 676 of the ids of
// SWE-bench Verified, see github.com/SWE-bench/SWE-bench/issues/279.
func TestPyNamesAreWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		`t[x-Unit 'deg' \(angle\) could not ... 'distance'. ]`, `t[x-Unit 'deg' \(angle\)]`, `t[x-Unit]`, "t[ x ]", "t[a  b]", "t[log(photon]", "t[a::b]", "t[PASSED]",
		"t[<&\"'>]", "t[tab\there]", "t[5 ms]", "t[日本]", "t",
	} {
		var written strings.Builder
		if err := xml.EscapeText(&written, []byte(name)); err != nil {
			t.Fatal(err)
		}
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, replay.Result{
			Files: map[string][]byte{junitFile: []byte(suite(`<testcase classname="a" name="` + written.String() + `" file="a.py"/>`))},
			Steps: []replay.StepResult{{Name: report.StepTest, Stop: replay.Exited, Stdout: []byte("PASSED a.py::" + name + "\n")}},
		})
		if len(got.Tests) != 1 || got.Tests[0].ID != "a.py::"+name || got.Tests[0].Outcome != replay.Pass || got.Inconsistent != "" {
			t.Errorf("%q gives %+v, %s", name, got.Tests, got.Inconsistent)
		}
	}
}

func TestPySteps(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{
		Root: "py", Env: map[string]string{"VIRTUAL_ENV": "{env}/venv"},
		Build: []replay.Step{{Name: "install"}},
	}
	steps := Tool{}.Steps(r, replay.Target{Paths: []string{
		"py/tests/test_b.py", "py/tests/conftest.py", "py/tests/a_test.py", "py/tests/data.json", "py/tests/test_b.py",
	}})
	if len(steps) != 2 || steps[0].Name != "install" || steps[1].Dir != "py" {
		t.Fatalf("steps are %+v", steps)
	}
	args := steps[1].Args
	if !strings.Contains(args[2], "VIRTUAL_ENV") {
		t.Errorf("interpreter %q", args[:4])
	}
	if d := cmp.Diff([]string{"./tests/a_test.py", "./tests/test_b.py"}, args[len(args)-2:]); d != "" {
		t.Error(d)
	}
	if !slices.Contains(args, "addopts=") || !slices.Contains(args, "--junitxml={out}/junit.xml") {
		t.Errorf("args %q", args)
	}
	all := Tool{}.Steps(replay.Recipe{}, replay.Target{Paths: []string{"tests/conftest.py"}})[0].Args
	if all[0] != "python" || strings.HasSuffix(all[len(all)-1], ".py") {
		t.Errorf("with only a helper the args are %q", all)
	}
}
