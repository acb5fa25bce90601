package evaluate

import (
	"strings"
	"testing"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools/canary"
)

// TestPlant: tests of ours are laid for tools of whose language we write some, and nothing for others: a file of another language proves nothing.
func TestPlant(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"gotest": "_test.go", "pytest": ".py", "unittest": ".py", "mocha": "", "cargo": "", "maven": "", "ctest": "",
	} {
		got := plant(replay.Recipe{Runner: tool}, pipeline.Check{}, replay.Overlay{}, "word")
		switch {
		case want == "" && len(got.files)+len(got.targets)+len(got.tests) > 0:
			t.Errorf("%s: %+v", tool, got)
		case want != "" && (len(got.files) != 1 || !strings.HasSuffix(got.files[0].Path, want) || len(got.tests) != 1):
			t.Errorf("%s: %+v, want a file %s", tool, got, want)
		}
	}
}

// TestSings: what would have come after a crash proves nothing by its absence; what is compiled with its neighbours and breaks them is laid aside.
func TestSings(t *testing.T) {
	t.Parallel()
	c := pipeline.Check{FailToPass: []string{"a.js::x"}, PassToPass: []string{"b.js::y"}}
	file := canary.File{Ends: []string{"a.js::zzword"}, Beside: canary.Below("a.js::"), Listed: true, Last: true, Together: true}
	pass := replay.Test{ID: "a.js::x", Outcome: replay.Pass}
	crash := func(file string) replay.Test {
		return replay.Test{ID: file + "::z", Outcome: replay.Error, Kind: replay.Crash}
	}
	ours := func(o replay.Outcome, n string) replay.Test { return replay.Test{ID: "a.js::zzword" + n, Outcome: o} }
	for _, tt := range []struct {
		name   string
		rep    replay.Report
		sings  string
		breaks bool
	}{
		{"as it must", replay.Report{Tests: []replay.Test{pass, ours(replay.Fail, "")}}, "", false},
		{"passed", replay.Report{Tests: []replay.Test{ours(replay.Pass, "")}}, "a test that must fail passed", false},
		{"passed once", replay.Report{Tests: []replay.Test{ours(replay.Pass, ""), ours(replay.Fail, "#2")}}, "a test that must fail passed", false},
		{"skipped", replay.Report{Tests: []replay.Test{pass, ours(replay.Skip, "")}}, "a test that must fail was skipped while others passed", false},
		{"missing", replay.Report{Tests: []replay.Test{pass}}, "a test that must fail is missing while others passed", false},
		{"missing after a crash", replay.Report{Tests: []replay.Test{pass, crash("a.js")}}, "", false},
		{"missing after another's crash", replay.Report{Tests: []replay.Test{pass, crash("b.js")}}, "a test that must fail is missing while others passed", false},
		{"others passed elsewhere", replay.Report{Tests: []replay.Test{{ID: "b.js::y", Outcome: replay.Pass}}}, "", false},
		{"broken by ours", replay.Report{Broken: map[string]string{"a.js": "fn zzword() is wrong"}}, "", true},
		{"broken by others", replay.Report{Broken: map[string]string{"a.js": "fn x() is wrong"}}, "", false},
		{"ours is named, and others ran", replay.Report{Tests: []replay.Test{pass}, Broken: map[string]string{"a.js": "zzword"}}, "a test that must fail is missing while others passed", false},
	} {
		outcomes := map[string]replay.Outcome{}
		for _, x := range tt.rep.Tests {
			outcomes[x.ID] = x.Outcome
		}
		can := planted{tests: []canary.File{file}, word: "word"}
		if got, breaks := can.tampered(c, tt.rep, outcomes), can.breaks(tt.rep); got != tt.sings || breaks != tt.breaks {
			t.Errorf("%s: %q, breaks %v", tt.name, got, breaks)
		}
	}
}
