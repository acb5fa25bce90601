package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// The tests of a later change: one needs a helper that the state has not, one needs a program that no state has.
const laterTests = `import shop
from tests import helper

def test_sum():
    assert shop.price(helper.THREE) == 7

def test_same():
    assert shop.price(helper.THREE) == 6
`

const goneTests = "import unobtainable\n\ndef test_gone():\n    pass\n"

func scoped(t *testing.T, m *agentstest.Memo) Request {
	q := request(t, m)
	q.Overlays = []replay.Overlay{{Files: []replay.File{sandboxtest.Text("tests/test_sum.py", laterTests), sandboxtest.Text("tests/test_gone.py", goneTests)}}}
	q.Scope = []string{"tests/test_gone.py::test_gone", "tests/test_sum.py::test_same", "tests/test_sum.py::test_sum"}
	q.Support = []string{"tests/helper.py", "tests/conftest.py", "tests/test_sum.py"}
	q.Target.Paths = []string{"tests/test_gone.py", "tests/test_sum.py"}
	return q
}

// saysScope is a report about given tests.
func saysScope(omitted ...Omission) string {
	if omitted == nil {
		omitted = []Omission{}
	}
	return agentstest.Says(struct {
		Report
		Omitted []Omission `json:"omitted"`
	}{Report{Reasoning: "It needs a helper.", Install: []string{makeVenv, install}, Build: []string{}, Env: []Var{{"SHOP_MODE", "test"}}, Quote: "in 0.01s ==="}, omitted})
}

const helper = "printf 'THREE = 3\\n' > tests/helper.py"

var gone = Omission{Test: "tests/test_gone.py::test_gone", Reason: "No module named unobtainable"}

func TestScope(t *testing.T) {
	t.Parallel()
	boxes := map[string]func(t *testing.T) replay.Opener{
		"local":  func(t *testing.T) replay.Opener { return agentstest.Local(t, "") },
		"docker": func(t *testing.T) replay.Opener { return agentstest.Docker(t) },
	}
	for name, box := range boxes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ask := newSetup(t, box(t), sh(makeVenv), sh(install), sh("{acceptance}"), sh(helper), sh("{acceptance} "), saysScope(gone))
			m := agentstest.NewMemo()
			q := scoped(t, m)
			got, err := s.Find(t.Context(), q)
			if err != nil || !got.Accepted {
				t.Fatalf("%s; findings %v; trials %+v; %v", got.Reason, got.Findings, got.Trials, err)
			}
			want := &Scope{Run: q.Scope[1:], Omitted: []Omission{gone}, Tests: []replay.Test{
				{ID: "tests/test_sum.py::test_same", Outcome: replay.Pass}, {ID: "tests/test_sum.py::test_sum", Outcome: replay.Fail, Kind: replay.Assertion, Message: "AssertionError"},
			}}
			if d := cmp.Diff(want, got.Scope); d != "" {
				t.Errorf("scope (-want +got):\n%s", d)
			}
			adapted := []agents.File{{Path: pipeline.Text("tests/helper.py"), Data: []byte("THREE = 3\n"), Mode: 0o644}}
			if d := cmp.Diff(adapted, got.Adapted); d != "" || got.Recipe.Env["SHOP_MODE"] != "test" || got.Trials[0].Uncanaried != "" {
				t.Errorf("%+v; adapted (-want +got):\n%s", got.Recipe.Env, d)
			}
			heard := ask.Heard[0].Messages
			for _, w := range append(q.Scope, "tests/helper.py", "tests/conftest.py") {
				if !strings.Contains(heard[1].Content, w) {
					t.Errorf("the agent is not told of %s", w)
				}
			}

			// The other side: the recipe is known, the scope is what ran, the files are there.
			asked := ask.Asked
			f := scoped(t, m)
			f.Label, f.Scope, f.Support, f.Hints = "fix", got.Scope.Run, nil, []replay.Recipe{got.Recipe}
			f.Target.Paths = []string{"tests/test_sum.py"}
			f.Overlays = append(f.Overlays, agents.Overlay(got.Adapted), replay.Overlay{Files: []replay.File{sandboxtest.Text("shop.py", "def price(n):\n    return 2 * n + 1\n")}})
			fix, err := s.Find(t.Context(), f)
			if err != nil || !fix.Accepted || !fix.Hinted || ask.Asked != asked || len(fix.Scope.Tests) != 2 || fix.Scope.Tests[1].Outcome != replay.Pass {
				t.Errorf("%s, scope %+v, %v", fix.Reason, fix.Scope, err)
			}
		})
	}
}

func TestScopeRefused(t *testing.T) {
	t.Parallel()
	begin := []string{sh(makeVenv), sh(install), sh("{acceptance}")}
	for _, tt := range []struct {
		name   string
		lines  []string
		reason string
	}{
		{"changes a given test", []string{sh("sed -i 's/== 7/== 6/' tests/test_sum.py; " + helper), saysScope(gone)}, "weakened_test: tests/test_sum.py"},
		{"changes the program", []string{sh("echo 'x = 1' >> shop.py; " + helper), saysScope(gone)}, "edited_production: shop.py"},
		{"changes another test", []string{sh("echo 'x = 1' >> tests/test_shop.py; " + helper), saysScope(gone)}, "weakened_test: tests/test_shop.py"},
		{"hooks into the test tool", []string{sh("echo 'def pytest_runtest_makereport(item): pass' > tests/conftest.py; " + helper), saysScope(gone)}, "it steers the test tool"},
		{"says nothing of a test that does not run", []string{sh(helper), saysScope()}, "a test of the scope did not run and was not left out: tests/test_gone.py::test_gone"},
		{"does not provide what can be provided", []string{saysScope(gone)}, "no test ran"},
		{"leaves everything out", []string{
			saysScope(gone, Omission{"tests/test_sum.py::test_sum", "x"}, Omission{"tests/test_sum.py::test_same", "x"}),
			saysScope(gone, Omission{"tests/test_sum.py::test_sum", "x"}, Omission{"tests/test_sum.py::test_same", "x"}),
		}, "ended without a report (repeats)"},
		{"leaves out what was not asked for", []string{saysScope(Omission{"tests/x.py::test_x", "x"}), saysScope(Omission{"tests/x.py::test_x", "x"})}, "ended without a report (repeats)"},
		{"gives no reason", []string{saysScope(Omission{gone.Test, " "}), saysScope(Omission{gone.Test, " "})}, "ended without a report (repeats)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newSetup(t, agentstest.Local(t, ""), append(append([]string{}, begin...), tt.lines...)...)
			got, err := s.Find(t.Context(), scoped(t, agentstest.NewMemo()))
			if err != nil || got.Accepted || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("accepted %v: %q, want %q; %v", got.Accepted, got.Reason, tt.reason, err)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, of string
		want   bool
	}{
		{"a.py::test_x", "a.py::test_x", true}, {"a.py::test_x", "a.py::test_x[1-2]", true}, {"a.py::C", "a.py::C::test_x", true}, {"m/p::TestX", "m/p::TestX/sub", true},
		{"a.py::test_x", "a.py::test_xy", false}, {"a.py::test_x[1]", "a.py::test_x", false}, {"m/p::TestX", "m/p/q::TestX", false}, {"a.py", "a.py::test_x", true},
	} {
		if got := covers(tt.id, tt.of); got != tt.want {
			t.Errorf("covers(%q, %q) = %v", tt.id, tt.of, got)
		}
	}
	q := Request{Scope: []string{"a::x", "a::y"}}
	cases, missing := q.cases([]replay.Test{{ID: "a::x[1]", Outcome: replay.Skip}, {ID: "a::y", Outcome: replay.Missing}, {ID: "b::z", Outcome: replay.Pass}})
	if len(cases) != 1 || missing != "a::y" {
		t.Errorf("%v, missing %q", cases, missing)
	}
	var trial Trial
	if err := q.decideScope(replay.Report{Tests: []replay.Test{{ID: "a::x", Outcome: replay.Skip}, {ID: "a::y", Outcome: replay.Skip}}}, &trial); err != nil || trial.OK || !strings.Contains(trial.Reason, "skipped") {
		t.Errorf("%+v, %v", trial, err)
	}
}

func TestSupports(t *testing.T) {
	t.Parallel()
	q := Request{Scope: []string{"tests/a.py::x"}, Target: replay.Target{Paths: []string{"tests/b.py"}}, Support: []string{"tests/a.py", "tests/b.py", "tests/c.py"}}
	if got := fmt.Sprint(q.supports()); got != "[tests/c.py]" {
		t.Errorf("got %s", got)
	}
}
