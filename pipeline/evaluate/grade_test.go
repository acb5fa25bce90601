package evaluate

import (
	"strings"
	"testing"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
)

// What a run of pytest leaves: a file of tests, and what stands in its report.
const (
	newPasses   = `<testcase classname="tests.test_a" name="test_new" file="tests/test_a.py"/>`
	keepPasses  = `<testcase classname="tests.test_b" name="test_keep" file="tests/test_b.py"/>`
	newSkips    = `<testcase classname="tests.test_a" name="test_new" file="tests/test_a.py"><skipped message="no"/></testcase>`
	keepSkips   = `<testcase classname="tests.test_b" name="test_keep" file="tests/test_b.py"><skipped message="no"/></testcase>`
	newSetUp    = `<testcase classname="tests.test_a" name="test_new" file="tests/test_a.py"><error message="failed on setup with &quot;E: no server&quot;">E</error></testcase>`
	importError = `<error message="collection failure">ModuleNotFoundError: No module named 'gone'</error></testcase>`
	aBreaks     = `<testcase classname="" name="tests.test_a" file="tests/test_a.py">` + importError
	bBreaks     = `<testcase classname="" name="tests.test_b" file="tests/test_b.py">` + importError
)

// TestAbsentAndSkippedDoNotPass: the verdict on what a real tool's report holds. A test that the report lacks had passed in
// github.com/SWE-bench/SWE-smith/issues/24, one that was skipped was in neither list in github.com/SWE-bench/SWE-bench/issues/598,
// a run in which none was executed resolved all in github.com/SWE-bench/SWE-bench/commit/395389c, and an exit code that says
// otherwise was thrown away in github.com/SWE-bench/SWE-bench/issues/620.
func TestAbsentAndSkippedDoNotPass(t *testing.T) {
	t.Parallel()
	run, err := tools.For("pytest")
	if err != nil {
		t.Fatal(err)
	}
	check := pipeline.Check{Name: "task", Resolves: true, FailToPass: []string{"tests/test_a.py::test_new"}, PassToPass: []string{"tests/test_b.py::test_keep"}}
	const everything = "PASSED tests/test_a.py::test_new\nPASSED tests/test_b.py::test_keep\n===== 2 passed in 0.01s =====\n"
	for _, tt := range []struct {
		name    string
		cases   string // "-": no report
		exit    int
		console string
		want    State
	}{
		{"both pass", newPasses + keepPasses, 0, "", Resolved},
		{"nothing can be imported", aBreaks + bBreaks, 1, "", BuildFailed},
		{"the new tests cannot be imported", aBreaks + keepPasses, 1, everything, Unresolved},
		{"the old tests cannot be imported", newPasses + bBreaks, 1, everything, Unresolved},
		{"the new test is absent", keepPasses, 0, everything, Unresolved},
		{"the old test is absent", newPasses, 0, everything, Unresolved},
		{"the new test is skipped", newSkips + keepPasses, 0, "", Unresolved},
		{"the old test is skipped", newPasses + keepSkips, 0, "", Unresolved},
		{"both are skipped", newSkips + keepSkips, 0, "", Unresolved},
		{"set-up fails", newSetUp + keepPasses, 1, "", Unresolved},
		{"they pass, and the code says otherwise", newPasses + keepPasses, 1, everything, Invalid},
		{"they pass, and an import error has exit code 0", newPasses + keepPasses + strings.ReplaceAll(aBreaks, "test_a", "test_c"), 0, "", Invalid},
		{"other tests ran", strings.ReplaceAll(newPasses, "test_a", "test_c"), 0, everything, Invalid},
		{"no test in the report", "", 0, everything, Invalid},
		{"no report", "-", 0, everything, Invalid},
		{"Executed 0 of 0", "-", 0, "Executed 0 of 0 SUCCESS\n", Invalid},
		{"0 passing", "-", 0, "0 passing\n", Invalid},
		{"0 total", "-", 0, "Tests: 0 total\n", Invalid},
		{"an empty log", "-", 0, "", Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := replay.Result{Steps: []replay.StepResult{{Name: tools.StepTest, Stop: replay.Exited, ExitCode: tt.exit, Stdout: []byte(tt.console)}}}
			if tt.cases != "-" {
				res.Files = map[string][]byte{"junit.xml": []byte("<testsuites><testsuite>" + tt.cases + "</testsuite></testsuites>")}
			}
			got := grade(check, planted{}, run.Parse(replay.Recipe{Runner: "pytest"}, replay.Target{}, res))
			if got.State != tt.want || got.Why == "" != (tt.want == Resolved) {
				t.Errorf("%s (%s), want %s", got.State, got.Why, tt.want)
			}
			if whole := (Result{State: got.State, Checks: []CheckResult{got}}); whole.Full() != (tt.want == Resolved) {
				t.Errorf("full credit: %v", whole.Full())
			}
		})
	}
}
