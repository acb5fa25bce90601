package foresight

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/pipeline/agents/agentstest"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/tools"
)

const bomb = `
commit root "Begin"
-- root/lib.py --
LAST = 1900000000
-- root/test_lib.py --
import time, unittest, lib
class TestLib(unittest.TestCase):
    def test_name(self):
        self.assertEqual(lib.LAST, 1900000000)
    def test_valid(self):
        self.assertLess(time.time(), lib.LAST)
`

// TestClockBomb runs a test that a certificate's date would end, in the local sandbox: where libfaketime is installed it is found, and
// nothing is claimed where it is not.
func TestClockBomb(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs an environment")
	}
	l := newLab(t, bomb, "screen")
	tree, err := l.h.Tree(t.Context(), l.IDs["root"])
	if err != nil {
		t.Fatal(err)
	}
	r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: []string{"test_lib.py"}})
	if err != nil {
		t.Fatal(err)
	}
	box := agentstest.Local(t, "")
	m := &matrix{family: &family{Deps: Deps{History: l.h, Sandbox: box}}}
	m.env = Environment{Recipes: map[string]replay.Recipe{stateH2: r}, Commits: map[string]string{stateH2: l.IDs["root"]}}
	m.runs = func(ctx context.Context, s spec, repeat int) (observed, error) {
		p, err := m.plan(ctx, s, repeat)
		if err != nil {
			return observed{}, err
		}
		o, res, err := p.Start(ctx, box)
		return observed{o, told(res)}, err
	}
	today, err := m.runs(t.Context(), spec{Name: "h2", State: stateH2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	name, valid := "test_lib.py::TestLib::test_name", "test_lib.py::TestLib::test_valid"
	d := decisive{stateH2, history.Split{Test: []pipeline.Text{pipeline.Text("test_lib.py")}}, []string{name, valid}, m.merge(spec{State: stateH2}, []observed{today})}
	if diff := cmp.Diff([]string{name, valid}, d.today.passing()); diff != "" {
		t.Fatal(diff, today.Log)
	}
	out, err := m.clockRuns(t.Context(), []decisive{d})
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 && os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatal("SLUICE_REQUIRE_SANDBOX is set, and libfaketime is not installed")
	}
	if len(found) == 0 {
		if out.Sensitive != ClockUnknown || len(out.Excluded) > 0 {
			t.Errorf("nothing moves the clock, and yet: %+v", out)
		}
		return
	}
	if out.Sensitive != ClockSensitive || len(out.Runs) != 2 || out.Runs[1].Conditions[0].Clock != "ahead 43800h0m0s" {
		t.Fatalf("%+v", out)
	}
	for _, e := range out.Excluded {
		if e.Test != valid {
			t.Errorf("excluded: %+v", e)
		}
	}
}
