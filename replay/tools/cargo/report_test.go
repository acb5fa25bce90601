package cargo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/report"
	"sluice/replay/tools/tooltest"
)

const all = `
	a/bin/tool::of_bin pass
	a/doc::src/lib.rs - add pass
	a/doc::src/lib.rs - add#2 fail assertion
	a/doc::src/lib.rs - add#3 pass
	a/doc::src/lib.rs - add#4 pass
	a/doc::src/lib.rs - add#5 skip
	a/doc::src/lib.rs - add#6 error build
	a/test/aborts::a_fine pass
	a/test/aborts::b_aborts error crash
	a/test/aborts::c_fine pass
	a/test/aborts::d_fine pass
	a/test/exits::exits error crash
	a/test/it::deep::r#type pass
	a/test/it::runs_tool pass
	a/test/own::(main) pass
	a/test/ownbad::(main) fail exception
	a::tests::adds pass
	a::tests::built pass
	a::tests::differs fail assertion
	a::tests::ignored skip
	a::tests::panics fail exception
	a::tests::plain_assert fail assertion
	a::tests::prints pass
	a::tests::returns_err fail exception
	a::tests::should pass
	a::tests::should_not fail assertion
	a::tests::should_other fail assertion
	a::tests::unwraps fail exception
	a::tests::ünïcode pass
	b/test/fine::fine pass
	b::tests::x pass
	mac::tests::in_macro_crate pass
	`

// captured is what a run of a project of our own left, with a version of Rust.
func captured(t testing.TB, version string) replay.Result {
	t.Helper()
	return replay.Result{
		Files: map[string][]byte{
			reportFile: tooltest.Captured(t, version, "cargo.jsonl"), madeFile: tooltest.Captured(t, version, "cargo-made.jsonl"),
		},
		Steps: []replay.StepResult{
			{Name: stepBuild, Stop: replay.Exited, ExitCode: 101}, {Name: report.StepTest, Stop: replay.Exited, ExitCode: 1},
			{Name: stepExplain, Stop: replay.Exited},
		},
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.70", "1.95"} {
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, captured(t, version))
		tooltest.Sound(t, got, 1)
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Tests: all, Broken: "b/test/broken"})
		if words := got.Broken["b/test/broken"]; !strings.Contains(words, "cannot find function `missing` in crate `b`") {
			t.Errorf("%s: broken says %q", version, words)
		}
	}
}

// lines are a report of one program of the test library, whose events and end are given, and the report's own end.
func lines(how, list string, exit int, events ...string) string {
	text := `{"e":"begin","run":1,"scope":"c","how":"` + how + `","list":` + list + "}\n"
	for _, e := range events {
		line := e
		if !strings.HasPrefix(e, `{"e"`) {
			line = `{"e":"out","run":1,"line":` + quote(e) + "}"
		}
		text += line + "\n"
	}
	return text + fmt.Sprintf(`{"e":"end","run":1,"exit":%d,"signal":0,"late":false,"words":""}`, exit) + "\n" + `{"e":"done","runs":1}` + "\n"
}

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func test(name, event string) string {
	return `{ "type": "test", "name": "` + name + `", "event": "` + event + `" }`
}

func suiteEnd(event string, passed, failed, ignored int) string {
	return fmt.Sprintf(`{ "type": "suite", "event": "%s", "passed": %d, "failed": %d, "ignored": %d }`, event, passed, failed, ignored)
}

// TestDoubts: exit codes, suites, tests and the list of a program must say the same.
func TestDoubts(t *testing.T) {
	t.Parallel()
	const read = `{"e":"chosen","scopes":["c"],"paths":{},"all":true}` + "\n"
	ok := []string{test("x", "started"), test("x", "ok"), suiteEnd("ok", 1, 0, 0)}
	for name, c := range map[string]struct {
		text  string
		exit  int
		tests string
		doubt string
	}{
		"agrees":                      {lines("harness", `["x"]`, 0, ok...), 0, "c::x pass\n", ""},
		"exit 0 and a failure":        {lines("harness", `["x"]`, 101, test("x", "failed"), suiteEnd("failed", 0, 1, 0)), 0, "c::x fail exception\n", "cargo exited 0 in spite of failures"},
		"exit 101 and no failure":     {lines("harness", `["x"]`, 101, ok...), 1, "c::x pass\n", "c ended with 101, and its suite says otherwise"},
		"a forged pass":               {lines("harness", `["x"]`, 101, test("x", "ok"), test("x", "failed"), suiteEnd("failed", 0, 1, 0)), 1, "c::x fail exception\n", "c counts other tests than it names"},
		"a test that nobody lists":    {lines("harness", `["x"]`, 0, test("y", "ok"), test("x", "ok"), suiteEnd("ok", 2, 0, 0)), 0, "c::x pass\nc::y pass\n", "c has other tests than it lists"},
		"a listed one that never ran": {lines("harness", `["x","y"]`, 0, ok...), 0, "c::x pass\nc::y missing\n", "c has other tests than it lists"},
		"two suites":                  {lines("harness", `["x"]`, 0, append(ok, suiteEnd("ok", 0, 0, 0))...), 0, "c::x pass\n", "c has 2 suites"},
		"no test at all":              {lines("harness", `[]`, 0, suiteEnd("ok", 0, 0, 0)), 0, "", "no test ran"},
		"a cut report":                {strings.TrimSuffix(lines("harness", `["x"]`, 0, ok...), `{"e":"done","runs":1}`+"\n"), 0, "c::x pass\n", "cargo exited 0 before the report's end"},
		"no line of a report":         {lines("harness", `["x"]`, 0, ok...) + "x\n", 0, "c::x pass\n", "a line of the report cannot be read: x"},
		"slow is no end":              {lines("harness", `["x"]`, 0, test("x", "started"), test("x", "timeout"), test("x", "ok"), suiteEnd("ok", 1, 0, 0)), 0, "c::x pass\n", ""},
		"words that are no event":     {lines("harness", `["x"]`, 0, append([]string{`{ "type": "test", `, `{ "type": "zebra" }`}, ok...)...), 0, "c::x pass\n", ""},
		"examples of one item in the order of their lines": {lines("doc", "null", 101, test("src/a.rs - f (line 100)", "failed"), test("src/a.rs - f (line 20)", "ok"),
			test("src/a.rs - (line 3) - compile fail", "ok"), suiteEnd("failed", 2, 1, 0)), 1,
			"c::src/a.rs - - compile fail pass\nc::src/a.rs - f pass\nc::src/a.rs - f#2 fail exception\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := replay.Result{
				Files: map[string][]byte{reportFile: []byte(c.text), madeFile: []byte(read)},
				Steps: []replay.StepResult{{Name: report.StepTest, Stop: replay.Exited, ExitCode: c.exit}},
			}
			got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, res)
			tooltest.Sound(t, got, c.exit)
			if v := tooltest.ViewOf(got); v.Tests != c.tests || v.Doubt != c.doubt {
				t.Errorf("tests %q, doubt %q", v.Tests, v.Doubt)
			}
		})
	}
}

// TestCutOff: what a time limit or a signal leaves says which tests were running, and nothing of the others.
func TestCutOff(t *testing.T) {
	t.Parallel()
	begun := lines("harness", `["x","y","z"]`, 0, test("x", "started"), test("x", "ok"), test("y", "started"))
	begun = begun[:strings.Index(begun, `{"e":"end"`)]
	for _, c := range []struct {
		name, end string
		stop      replay.Stop
		want      tooltest.View
	}{
		{"the job's time limit", "", replay.Timeout, tooltest.View{Phases: "ok ok failed", Tests: "c::x pass\nc::y timeout\nc::z missing\n"}},
		{"the memory limit", "", replay.OOM, tooltest.View{Phases: "ok ok failed", Tests: "c::x pass\nc::y error crash\nc::z missing\n"}},
		{"the program's time limit", `{"e":"end","run":1,"exit":0,"signal":0,"late":true,"cut":true}` + "\n" + `{"e":"done","runs":1}`, replay.Exited,
			tooltest.View{Phases: "ok ok failed", Tests: "c::x pass\nc::y timeout\nc::z missing\n"}},
		{"a signal, and each by itself", `{"e":"end","run":1,"exit":0,"signal":11,"cut":true}` + "\n" + `{"e":"end","run":1,"alone":"y","signal":11,"cut":true}` + "\n" +
			`{"e":"out","run":1,"line":"{\"type\":\"test\",\"name\":\"z\",\"event\":\"ok\"}"}` + "\n" + `{"e":"end","run":1,"alone":"z"}` + "\n" +
			`{"e":"done","runs":1}`, replay.Exited,
			tooltest.View{Phases: "ok ok ok", Tests: "c::x pass\nc::y error crash\nc::z pass\n"}},
	} {
		res := replay.Result{
			Files: map[string][]byte{reportFile: []byte(begun + c.end), madeFile: []byte(`{"e":"chosen","scopes":["c"],"all":true}`)},
			Steps: []replay.StepResult{{Name: report.StepTest, Stop: c.stop, ExitCode: 1}},
		}
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, res)
		if v := tooltest.ViewOf(got); v != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, v, c.want)
		}
		if short := (Tool{}).CutShort(got.Tests); len(short) != 1 || short[0] != "c::" {
			t.Errorf("%s: cut short is %q", c.name, short)
		}
	}
}

// TestBuildCutOff: a build at its limit is the run's end and no verdict on the source.
func TestBuildCutOff(t *testing.T) {
	t.Parallel()
	for _, stop := range []replay.Stop{replay.Timeout, replay.OOM, replay.DiskFull} {
		res := replay.Result{Steps: []replay.StepResult{{Name: stepBuild, Stop: stop}, {Name: report.StepTest, Stop: replay.Skipped}}}
		got := Tool{}.Parse(replay.Recipe{}, replay.Target{}, res)
		if got.Stop != stop || got.BuildSource == replay.Failed || len(got.Tests) > 0 {
			t.Errorf("%s: %+v", stop, got)
		}
	}
}

// TestNothingCompiles: the words of cargo stand where no target can be named; the explaining step tells source from tests.
func TestNothingCompiles(t *testing.T) {
	t.Parallel()
	const stopped = `{"e":"stopped","exit":101,"words":"error: no matching package named x found"}` + "\n" + `{"e":"chosen","scopes":["c"],"all":true}`
	for _, c := range []struct {
		exit  int
		words string
		want  string
	}{
		{0, "", "ok failed not-run"}, {101, "error[E0425]: cannot find\nerror: could not compile `c`", "failed failed not-run"},
		{101, "error: no matching package named x found", "unknown failed not-run"},
	} {
		res := replay.Result{
			Files: map[string][]byte{madeFile: []byte(stopped), reportFile: []byte(`{"e":"done","runs":0}`)},
			Steps: []replay.StepResult{
				{Name: report.StepTest, Stop: replay.Exited, ExitCode: 1}, {Name: stepExplain, Stop: replay.Exited, ExitCode: c.exit, Stderr: []byte(c.words)},
			},
		}
		tooltest.Diff(t, Tool{}.Parse(replay.Recipe{}, replay.Target{}, res), tooltest.View{Phases: c.want, Broken: "Cargo.toml"})
	}
}
