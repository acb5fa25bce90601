package ctest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func parse(t testing.TB, files map[string][]byte, exit int) replay.Report {
	t.Helper()
	return tooltest.Parse(t, Tool{}, tooltest.Left{Files: files, Exit: exit})
}

var versions = []string{"cmake3.22", "cmake4.1"}

// TestParse reads what two versions left of one project: a target that does not compile hides no other, each case of GoogleTest's is
// a test, whether CMake found the cases or not, and one that crashes takes no other with it.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		got := parse(t, tooltest.CapturedAll(t, v), 8)
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Broken: "broken brokencases", Tests: `
			cases::Add.DISABLED_Off skip
			cases::Add.Differs fail assertion
			cases::Add.Skips skip
			cases::Add.Throws fail exception
			cases::Add.Works pass
			cases::All/P.Is/0 pass
			cases::All/P.Is/1 fail assertion
			cases::All/P.Is/2 pass
			crashing::Crash.After pass
			crashing::Crash.Before pass
			crashing::Crash.Null error crash
			ctest::script pass
			found::Add.DISABLED_Off skip
			found::Add.Differs fail assertion
			found::Add.Skips skip
			found::Add.Throws fail exception
			found::Add.Works pass
			found::All/P.Is/0 pass
			found::All/P.Is/1 fail assertion
			found::All/P.Is/2 pass
			t_aborts::aborts error assertion
			t_fails::fails fail assertion
			t_fails::setup fail assertion
			t_hang::hang timeout
			t_plain::adds (1 + 1) "ünï" pass
			t_plain::needs_db error collection
			t_plain::off skip
			t_plain::regex fail assertion
			t_segv::segv error crash
			t_skips::skips skip
			`})
		if words := got.Broken["broken"]; !strings.Contains(words, "undeclared") {
			t.Errorf("%s: a broken target says %q", v, words)
		}
		if words := tooltest.Find(t, got, "t_fails::fails").Message; !strings.Contains(words, "want 3 got 4") {
			t.Errorf("%s: a failed test says %q", v, words)
		}
	}
}

// TestForgery: a report that lost its failures does not agree with the exit code, nor one that a test wrote.
func TestForgery(t *testing.T) {
	t.Parallel()
	if got := parse(t, tooltest.CapturedAll(t, "cmake4.1"), 0); got.Inconsistent == "" {
		t.Error("exit 0 is believed, and the report says 8")
	}
	files := tooltest.CapturedAll(t, "cmake4.1")
	text := string(files["cases-1.xml"])
	i, j := strings.Index(text, "<failure"), strings.LastIndex(text, "</failure>")
	files["cases-1.xml"] = []byte(text[:i] + text[j+len("</failure>"):])
	got := parse(t, files, 8)
	if whole := tooltest.Find(t, got, "cases::(program)"); whole.Outcome != replay.Fail {
		t.Errorf("a program that failed and reports no failure is %+v", whole)
	}
	for _, name := range []string{"ctest-0.xml", "index.json", "build.json"} {
		files := tooltest.CapturedAll(t, "cmake4.1")
		delete(files, name)
		if got := parse(t, files, 8); got.Inconsistent == "" {
			t.Errorf("a run without %s is believed", name)
		}
	}
}

// TestNothingRan: ctest that finds no test, and says so with exit code 0, is evidence of nothing.
func TestNothingRan(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{`<testsuite name="(empty)" tests="0"></testsuite>`, ""} {
		files := map[string][]byte{
			"build.json": []byte(`{"exit":0,"failed":[]}`), "ctest-0.xml": []byte(empty),
			"index.json": []byte(`{"exit":0,"tests":[],"runs":[{"report":"ctest-0.xml","exit":0}]}`),
		}
		if got := parse(t, files, 0); got.Inconsistent == "" || got.RunTests == replay.OK {
			t.Errorf("a run without tests is believed: %+v", got)
		}
	}
}

// TestSourceBroken: a library that does not compile is the source's failure; the tests that wait for it are not built.
func TestSourceBroken(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"build.json":  []byte(`{"exit":2,"failed":[{"name":"shop","test":false,"words":"error: x"},{"name":"t","test":true,"waits":true,"words":"needs shop"}]}`),
		"index.json":  []byte(`{"exit":8,"tests":[{"name":"t","id":"t::t","target":"t"}],"runs":[{"report":"ctest-0.xml","exit":8}]}`),
		"ctest-0.xml": []byte(`<testsuite><testcase name="t" status="notrun"><skipped message="Unable to find executable"/></testcase></testsuite>`),
	}
	tooltest.Diff(t, parse(t, files, 8), tooltest.View{Phases: "failed not-run not-run", Broken: "shop t"})
}

// FuzzReports puts arbitrary bytes in the place of each kind of report.
func FuzzReports(f *testing.F) {
	for _, name := range []string{"ctest-0.xml", "cases-1.xml", "index.json", "build.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", "cmake4.1", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, data, 8)
	}
	f.Add("ctest-0.xml", []byte(`<testsuite><testcase name="fails" status="run"/><testcase name="fails"`), 0)
	f.Fuzz(func(t *testing.T, name string, data []byte, exit int) {
		files := tooltest.CapturedAll(t, "cmake4.1")
		files[name] = data
		parse(t, files, exit)
	})
}

// TestIDs: an id is the target's and the case's own name, and two tests never share one.
func TestIDs(t *testing.T) {
	t.Parallel()
	for _, v := range versions {
		var index struct{ Tests []struct{ ID, Name string } }
		if err := json.Unmarshal(tooltest.CapturedAll(t, v)["index.json"], &index); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, i := range index.Tests {
			if seen[i.ID] || !strings.Contains(i.ID, "::") {
				t.Errorf("%s: %q is twice there, or no id", v, i.ID)
			}
			seen[i.ID] = true
		}
	}
}
