package gradle

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func parse(events, stderr string, stop replay.Stop, exit int) replay.Report {
	step := replay.StepResult{Name: "test", Stop: stop, ExitCode: exit, Stderr: []byte(stderr)}
	res := replay.Result{Steps: []replay.StepResult{step}, Files: map[string][]byte{eventFile: []byte(events)}}
	return Tool{}.Parse(replay.Recipe{}, replay.Target{}, res)
}

// The lines that our script writes; what stands for them in a table.
const (
	begin = `{"e":"top","dir":"/testbed"}
{"e":"tests","task":":a:test","dir":"a"}
{"e":"source","task":":a:test","file":"a/src/test/java/x/ATest.java","package":"x"}
`
	start   = `{"e":"start","task":":a:test","class":"x.ATest","name":"one"}` + "\n"
	passed  = start + `{"e":"end","task":":a:test","class":"x.ATest","name":"one","state":"SUCCESS"}` + "\n"
	failed  = start + `{"e":"end","task":":a:test","class":"x.ATest","name":"one","state":"FAILURE","type":"java.lang.AssertionError","message":"no"}` + "\n"
	thrown  = start + `{"e":"end","task":":a:test","class":"x.ATest","name":"one","state":"FAILURE","type":"java.lang.Error","message":"no"}` + "\n"
	good    = `{"e":"task","task":":a:test","kind":"run","state":"ok"}` + "\n"
	bad     = `{"e":"task","task":":a:test","kind":"run","state":"failed","message":"There were failing tests"}` + "\n"
	crashed = `{"e":"task","task":":a:test","kind":"run","state":"failed","message":"Process 'Gradle Test Executor 1' finished with non-zero exit value 3"}` + "\n"
	done    = `{"e":"done","message":""}` + "\n"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const id = "a/src/test/java/x/ATest.java::one"
	compile := `{"e":"top","dir":"/testbed"}` + "\n" + `{"e":"task","task":":a:compileTestJava","kind":"tests","state":"failed","message":"Compilation failed"}` + "\n"
	for _, c := range []struct {
		name, events, stderr string
		stop                 replay.Stop
		exit                 int
		want                 tooltest.View
	}{
		{"passed", begin + passed + good + done, "", replay.Exited, 0, tooltest.View{Phases: "ok ok ok", Tests: id + " pass\n"}},
		{"failed", begin + failed + bad + done, "", replay.Exited, 1, tooltest.View{Phases: "ok ok ok", Tests: id + " fail assertion\n"}},
		{"thrown", begin + thrown + bad + done, "", replay.Exited, 1, tooltest.View{Phases: "ok ok ok", Tests: id + " error exception\n"}},
		{"one name twice", begin + passed + failed + bad + done, "", replay.Exited, 1,
			tooltest.View{Phases: "ok ok ok", Tests: id + " pass\n" + id + "#2 fail assertion\n"}},
		{"process ended", begin + start + crashed + done, "", replay.Exited, 1, tooltest.View{Phases: "ok ok failed", Tests: "a/src/test::(process) error crash\n"}},
		{"process ended between tests", begin + passed + crashed + done, "", replay.Exited, 1,
			tooltest.View{Phases: "ok ok failed", Tests: id + " pass\n" + "a/src/test::(process) error crash\n"}},
		{"time limit", begin + passed + start, "", replay.Timeout, -1,
			tooltest.View{Phases: "ok ok failed", Tests: id + " pass\n" + id + "#2 timeout\n"}},
		{"tests do not compile", compile + done, "/testbed/a/src/test/java/x/ATest.java:3: error: cannot find symbol\n", replay.Exited, 1,
			tooltest.View{Phases: "ok failed not-run", Broken: "a/src/test/java/x/ATest.java"}},
		{"source does not compile", strings.ReplaceAll(strings.ReplaceAll(compile, "TestJava", "Java"), `"tests"`, `"source"`) + done, "", replay.Exited, 1,
			tooltest.View{Phases: "failed not-run not-run", Broken: "a/compileJava"}},
		{"exit 0", begin + failed + bad + done, "", replay.Exited, 0,
			tooltest.View{Phases: "ok ok ok", Tests: id + " fail assertion\n", Doubt: "gradle exited 0 in spite of failures"}},
		{"forged pass", begin + passed + bad + done, "", replay.Exited, 1,
			tooltest.View{Phases: "ok ok ok", Tests: id + " pass\n", Doubt: "the tests of :a:test failed without a failed test"}},
		{"forged fail", begin + failed + good + done, "", replay.Exited, 1,
			tooltest.View{Phases: "ok ok ok", Tests: id + " fail assertion\n", Doubt: "the tests of :a:test have failed and yet passed"}},
		{"an end without a start", begin + strings.TrimPrefix(passed, start) + good + done, "", replay.Exited, 0,
			tooltest.View{Phases: "ok ok ok", Tests: id + " pass\n", Doubt: "test one ended without a start"}},
		{"no end", begin + passed + good, "", replay.Exited, 0,
			tooltest.View{Phases: "ok ok ok", Tests: id + " pass\n", Doubt: "gradle exited 0 before the report's end"}},
		{"nothing ran", begin + good + done, "", replay.Exited, 0, tooltest.View{Phases: "ok unknown unknown", Doubt: "no test ran"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := parse(c.events, c.stderr, c.stop, c.exit)
			tooltest.Diff(t, r, c.want)
			if c.stop == replay.Exited {
				tooltest.Sound(t, r, c.exit)
			}
		})
	}
}

// TestMissingArtifact: what the environment does not hold is no verdict on the code.
func TestMissingArtifact(t *testing.T) {
	t.Parallel()
	r := parse(`{"e":"top","dir":"/testbed"}
{"e":"done","message":"No cached version of x:y:1 available for offline mode."}
`, "", replay.Exited, 1)
	if !strings.HasPrefix(r.Inconsistent, "the environment lacks what the build needs") {
		t.Errorf("doubt %q", r.Inconsistent)
	}
}

// captured is what a run of a real Gradle left: two projects, JUnit 4.
func captured(t testing.TB, run string, exit int) replay.Report {
	t.Helper()
	dir := "4.4.1" + run
	return parse(string(tooltest.Captured(t, dir, eventFile)), string(tooltest.Captured(t, dir, "stderr")), replay.Exited, exit)
}

const projectA = `a/src/test/java/org/x/BrokenSetupTest.java::(class) error exception
	a/src/test/java/org/x/OldTest.java::InnerTest::inner pass
	a/src/test/java/org/x/OldTest.java::SecondTest::(class) error exception
	a/src/test/java/org/x/OldTest.java::fails fail assertion
	a/src/test/java/org/x/OldTest.java::flaky fail assertion
	a/src/test/java/org/x/OldTest.java::hangs timeout
	a/src/test/java/org/x/OldTest.java::ignored skip
	a/src/test/java/org/x/OldTest.java::passes pass
	a/src/test/java/org/x/OldTest.java::throwsIt error exception
	`

const projectB = `b/src/test/java/org/x/NewTest.java::two[0: ü a b] pass
	b/src/test/java/org/x/NewTest.java::two[1: ü c::d] fail assertion
	b/src/test/java/org/x/NewTest.java::two[2: ü a b] pass
`

// TestReports: classes that a source is not named for, set-up that fails, parameters, time limits of the framework, failures that the
// project wants to ignore, processes that end; and that one project's failure does not stop another's tests.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run  string
		want tooltest.View
	}{
		{"", tooltest.View{Phases: "ok ok ok", Tests: projectA + projectB}},
		{"-source", tooltest.View{Phases: "failed not-run not-run", Broken: "a/src/main/java/org/x/A.java"}},
		{"-tests", tooltest.View{Phases: "ok failed ok", Tests: projectA, Broken: "b/src/test/java/org/x/NewTest.java"}},
		{"-exit0", tooltest.View{Phases: "ok ok failed", Tests: "a/src/test::(process) error crash\n" + projectB, Doubt: "the tests of :a:test have failed and yet passed"}},
		{"-crash", tooltest.View{Phases: "ok ok failed", Tests: "a/src/test::(process) error crash\n" + projectB}},
	} {
		t.Run("4.4.1"+c.run, func(t *testing.T) {
			t.Parallel()
			r := captured(t, c.run, 1)
			tooltest.Diff(t, r, c.want)
			tooltest.Sound(t, r, 1)
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	if got := tooltest.Find(t, captured(t, "", 1), "a/src/test/java/org/x/OldTest.java::throwsIt").Message; got != "java.lang.IllegalStateException: bad" {
		t.Errorf("the message is %q", got)
	}
	if got := captured(t, "-tests", 1).Broken["b/src/test/java/org/x/NewTest.java"]; !strings.Contains(got, "symbol:   method missing()") {
		t.Errorf("the compiler's words are %q", got)
	}
	if got := (Tool{}).CutShort(captured(t, "-crash", 1).Tests); len(got) != 1 || got[0] != "a/src/" {
		t.Errorf("cut short: %q", got)
	}
}

func FuzzReport(f *testing.F) {
	for _, run := range []string{"", "-crash", "-tests"} {
		f.Add(tooltest.Captured(f, "4.4.1"+run, eventFile), string(tooltest.Captured(f, "4.4.1"+run, "stderr")))
	}
	for _, s := range []string{begin + passed + good + done, begin + failed + bad + done, begin + start, done + done} {
		f.Add([]byte(s), "a.java:1: error: x")
	}
	f.Fuzz(func(t *testing.T, events []byte, stderr string) {
		for _, exit := range []int{0, 1} {
			tooltest.Sound(t, parse(string(events), stderr, replay.Exited, exit), exit)
		}
	})
}

// TestManyTasks: what compilers said is read once, however many tasks a report says have failed.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	task := `{"e":"task","task":":a:compileTestJava","kind":"tests","state":"failed","message":"Compilation failed"}` + "\n"
	events := `{"e":"top","dir":"/testbed"}` + "\n" + strings.Repeat(task, 20000) + done
	words := strings.Repeat("/testbed/a/ATest.java:3: error: cannot find symbol\n", 20000)
	tooltest.Diff(t, parse(events, words, replay.Exited, 1), tooltest.View{Phases: "ok failed not-run", Broken: "a/ATest.java"})
}
