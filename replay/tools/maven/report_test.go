package maven

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func parse(files map[string][]byte, stop replay.Stop, exit int) replay.Report {
	step := replay.StepResult{Name: "test", Stop: stop, ExitCode: exit}
	return Tool{}.Parse(replay.Recipe{}, replay.Target{}, replay.Result{Files: files, Steps: []replay.StepResult{step}})
}

const moduleA = `a/src/test/java/org/x/BrokenSetupTest.java::(class) error exception
	a/src/test/java/org/x/OldTest.java::SecondTest::(class) error exception
	a/src/test/java/org/x/OldTest.java::fails fail assertion
	a/src/test/java/org/x/OldTest.java::flaky fail assertion
	a/src/test/java/org/x/OldTest.java::hangs timeout
	a/src/test/java/org/x/OldTest.java::ignored skip
	a/src/test/java/org/x/OldTest.java::passes pass
	a/src/test/java/org/x/OldTest.java::throwsIt error exception
	`

const moduleB = `b/src/test/java/org/x/BrokenAllTest.java::(class) error exception
	b/src/test/java/org/x/NewTest.java::Inner::Deep::deep error exception
	b/src/test/java/org/x/NewTest.java::Inner::inner pass
	b/src/test/java/org/x/NewTest.java::all fail assertion
	b/src/test/java/org/x/NewTest.java::assumed skip
	b/src/test/java/org/x/NewTest.java::displayed fail assertion
	b/src/test/java/org/x/NewTest.java::parameters(String)[1] pass
	b/src/test/java/org/x/NewTest.java::parameters(String)[2] pass
	b/src/test/java/org/x/NewTest.java::parameters(String)[3] pass
	b/src/test/java/org/x/NewTest.java::parameters(String)[4] fail assertion
	b/src/test/java/org/x/NewTest.java::passes pass
	b/src/test/java/org/x/NewTest.java::repeated[1] pass
	b/src/test/java/org/x/NewTest.java::repeated[2] pass
	b/src/test/java/org/x/NewTest.java::same(int)[1] pass
	b/src/test/java/org/x/NewTest.java::same(int)[2] fail assertion
	b/src/test/java/org/x/NewTest.java::same(int)[3] pass
`

// TestReports reads two versions of Surefire with one meaning: nested classes, parameters, classes that a source is not named for,
// set-up that fails, time limits of the framework, retries that are switched off.
func TestReports(t *testing.T) {
	t.Parallel()
	crash := "a/src/test/java/org/x/BrokenSetupTest.java::(class) error exception\n\ta/src/test/java/org/x/ExitTest.java::(class) error crash\n\t"
	for _, c := range []struct {
		run  string
		want tooltest.View
	}{
		{"3.5.2", tooltest.View{Phases: "ok ok ok", Tests: moduleA + moduleB}},
		{"2.22.2", tooltest.View{Phases: "ok ok ok", Tests: moduleA + moduleB}},
		{"3.5.2-source", tooltest.View{Phases: "failed not-run not-run", Broken: "a/src/main/java/org/x/A.java b/pom.xml"}},
		{"3.5.2-tests", tooltest.View{Phases: "ok failed ok", Tests: strings.TrimRight(moduleA, "\t"), Broken: "b/src/test/java/org/x/NewTest.java"}},
		{"3.5.2-crash", tooltest.View{Phases: "ok ok failed", Tests: crash + moduleB}},
	} {
		t.Run(c.run, func(t *testing.T) {
			t.Parallel()
			r := parse(tooltest.CapturedAll(t, c.run), replay.Exited, 1)
			tooltest.Diff(t, r, c.want)
			tooltest.Sound(t, r, 1)
		})
	}
}

// TestKotlin reads what Kotlin's compiler and its tests left: names in words, classes that a file is not named for, what does not compile.
func TestKotlin(t *testing.T) {
	t.Parallel()
	tooltest.Diff(t, parse(tooltest.CapturedAll(t, "3.2.5-kotlin"), replay.Exited, 1), tooltest.View{Phases: "ok ok ok", Tests: `
		src/test/kotlin/org/x/SumsTest.kt::Inner::inner pass
		src/test/kotlin/org/x/SumsTest.kt::OtherTest::other pass
		src/test/kotlin/org/x/SumsTest.kt::adds ünits, and more pass
		src/test/kotlin/org/x/SumsTest.kt::fails fail assertion
		src/test/kotlin/org/x/SumsTest.kt::ignored skip
		src/test/kotlin/org/x/SumsTest.kt::is below(int)[1] pass
		src/test/kotlin/org/x/SumsTest.kt::is below(int)[2] fail assertion
		src/test/kotlin/org/x/SumsTest.kt::throwsIt error exception
`})
	tooltest.Diff(t, parse(tooltest.CapturedAll(t, "3.2.5-kotlin-tests"), replay.Exited, 1),
		tooltest.View{Phases: "ok failed not-run", Broken: "src/test/kotlin/org/x/SumsTest.kt"})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	r := parse(tooltest.CapturedAll(t, "3.5.2"), replay.Exited, 1)
	if got := tooltest.Find(t, r, "a/src/test/java/org/x/OldTest.java::throwsIt").Message; got != "java.lang.IllegalStateException: bad" {
		t.Errorf("the message is %q", got)
	}
	r = parse(tooltest.CapturedAll(t, "3.5.2-source"), replay.Exited, 1)
	if got := r.Broken["a/src/main/java/org/x/A.java"]; !strings.Contains(got, "symbol:   variable one") || strings.Contains(got, "/testbed") {
		t.Errorf("the compiler's words are %q", got)
	}
	r = parse(tooltest.CapturedAll(t, "3.5.2-crash"), replay.Exited, 1)
	if got := (Tool{}).CutShort(r.Tests); len(got) != 1 || got[0] != "a/src/" {
		t.Errorf("cut short: %q", got)
	}
}

// TestDoubts: report, goals and exit code must agree.
func TestDoubts(t *testing.T) {
	t.Parallel()
	drop := func(files map[string][]byte, word string) {
		maps.DeleteFunc(files, func(k string, _ []byte) bool { return strings.Contains(k, word) })
	}
	for _, c := range []struct {
		name, run string
		change    func(map[string][]byte)
		exit      int
		want      string
	}{
		{"exit 0", "3.5.2", func(map[string][]byte) {}, 0, "maven exited 0 in spite of failures"},
		{"no reports", "3.5.2", func(f map[string][]byte) { drop(f, "TEST-") }, 1, "the tests of the module a failed without a failed test"},
		{"forged report", "3.5.2", func(f map[string][]byte) {
			drop(f, "TEST-")
			f["reports/3.0/TEST-x.xml"] = []byte(`<testsuite><testcase classname="org.x.NewTest" name="passes"/></testsuite>`)
			f["reports/2.0/TEST-x.xml"] = f["reports/3.0/TEST-x.xml"]
		}, 1, "the tests of the module a failed without a failed test"},
		{"report of no module", "3.5.2", func(f map[string][]byte) { f["reports/9/TEST-x.xml"] = []byte("<testsuite/>") }, 1, "there are reports of tests that did not run: 9"},
		{"no end", "3.5.2", func(f map[string][]byte) {
			f[eventFile] = []byte(strings.Split(string(f[eventFile]), `{"e":"end"`)[0])
		}, 1, "maven exited 1 before the report's end"},
		{"a line too much", "3.5.2", func(f map[string][]byte) { f[eventFile] = append(f[eventFile], "{}\n"...) }, 1, `the report has an unknown event ""`},
		{"no events", "3.5.2", func(f map[string][]byte) { delete(f, eventFile) }, 1, "maven left no report: "},
		{"cut report", "3.5.2", func(f map[string][]byte) { f["reports/2.0/TEST-x.xml"] = []byte("<testsuite><test") }, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := tooltest.CapturedAll(t, c.run)
			c.change(files)
			r := parse(files, replay.Exited, c.exit)
			if c.want != "" && !strings.HasPrefix(r.Inconsistent, c.want) {
				t.Errorf("doubt %q", r.Inconsistent)
			}
			tooltest.Sound(t, r, c.exit)
		})
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	files := tooltest.CapturedAll(t, "3.5.2")
	text, _, _ := strings.Cut(string(files[eventFile]), `{"e":"goal","dir":"b","goal":"maven-surefire-plugin:test","phase":"test","state":"failed"`)
	files[eventFile] = []byte(text)
	r := parse(files, replay.Timeout, -1)
	if r.RunTests != replay.Failed || r.Stop != replay.Timeout || r.Inconsistent != "" || len(r.Tests) == 0 {
		t.Errorf("%s %s %q, %d tests", r.RunTests, r.Stop, r.Inconsistent, len(r.Tests))
	}
}

// TestMissingArtifact: what the environment does not hold is no verdict on the code.
func TestMissingArtifact(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{eventFile: []byte(`{"e":"module","n":"1","dir":""}
{"e":"failed","dir":"","message":"Could not resolve dependencies for project x: Cannot access central in offline mode"}
{"e":"end","message":"x"}
`)}
	r := parse(files, replay.Exited, 1)
	if !strings.HasPrefix(r.Inconsistent, "the environment lacks what the build needs") {
		t.Errorf("doubt %q", r.Inconsistent)
	}
}

// TestCrashWords: what is told of a crash is the same in every run.
func TestCrashWords(t *testing.T) {
	t.Parallel()
	for _, test := range parse(tooltest.CapturedAll(t, "3.5.2-crash"), replay.Exited, 1).Tests {
		if test.Kind == replay.Crash && strings.Contains(test.Message, "Command was") {
			t.Errorf("%q", test.Message)
		}
	}
}

// TestForgedReports: what somebody wrote beside Surefire's reports is no outcome of a test by the test's own id.
func TestForgedReports(t *testing.T) {
	t.Parallel()
	const forged = `<testsuite name="x"><testcase classname="org.x.OldTest" name="fails"/></testsuite>`
	files := tooltest.CapturedAll(t, "3.5.2")
	files["reports/2.0/TEST-a.xml"] = []byte(forged) // read before the true one
	r := parse(files, replay.Exited, 1)
	if got := tooltest.Find(t, r, "a/src/test/java/org/x/OldTest.java::fails"); got.Outcome != replay.Fail {
		t.Errorf("%+v", got)
	}
	files = tooltest.CapturedAll(t, "3.5.2")
	files[eventFile] = []byte(strings.ReplaceAll(string(files[eventFile]), `"goal":"maven-surefire-plugin:test"`, `"reports":"2.0","goal":"maven-surefire-plugin:test"`))
	files["reports/2/TEST-a.xml"] = []byte(forged)
	if r = parse(files, replay.Exited, 1); !strings.HasPrefix(r.Inconsistent, "there are reports of tests that did not run: 2") {
		t.Errorf("doubt %q", r.Inconsistent)
	}
}

func FuzzReports(f *testing.F) {
	for _, run := range []string{"3.5.2", "3.5.2-crash", "3.5.2-source"} {
		files := tooltest.CapturedAll(f, run)
		for name, data := range files {
			f.Add(files[eventFile], data, name)
		}
	}
	f.Fuzz(func(t *testing.T, events, xml []byte, name string) {
		for _, exit := range []int{0, 1} {
			r := parse(map[string][]byte{eventFile: events, name: xml, "reports/1/TEST-a.xml": xml}, replay.Exited, exit)
			tooltest.Sound(t, r, exit)
		}
	})
}

// TestCaptured: no captured file speaks of the machine that it is from.
func TestCaptured(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("testdata", func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(string(tooltest.ReadFile(t, p)), "java.class.path") {
			t.Errorf("%s has the properties of a machine", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestManyEvents: a forged report that names modules and failures without end costs no more than its length.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	module := func(i int) string {
		dir := strconv.Itoa(i)
		return `{"e":"module","n":"` + dir + `","dir":"m` + dir + `"}` + "\n" + `{"e":"failed","dir":"m` + dir + `","message":"no"}` + "\n"
	}
	var events strings.Builder
	for i := range 2 * maxPoms {
		events.WriteString(module(i))
	}
	surefire := `{"e":"goal","dir":"m0","goal":"` + surefireGoal + `","phase":"test","state":"failed","message":"` + strings.Repeat("no ", 100) + `"}` + "\n"
	events.WriteString(strings.Repeat(surefire, 100000))
	got := parse(map[string][]byte{eventFile: []byte(events.String())}, replay.Exited, 1)
	if !strings.Contains(got.Inconsistent, "more than 2000 modules") || len(got.Broken) > maxPoms {
		t.Errorf("%d are broken, and the doubt is %q", len(got.Broken), got.Inconsistent)
	}
}
