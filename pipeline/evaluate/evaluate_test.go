package evaluate

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/pipeline"
	"sluice/replay"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// one evaluates one patch on one instance, without a check of the release.
func one(t *testing.T, o Options, patch []byte) Result {
	t.Helper()
	e, err := newEvaluator(o)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := e.one(t.Context(), o.Release.Instances[0], patch, patch != nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Result
}

func TestStates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		patch []byte
		want  State
		full  bool
		why   string
	}{
		{"everything", patchTo("v2 careful"), Resolved, true, ""},
		{"task only", patchTo("v2"), Resolved, false, ""},
		{"nothing solved", patchTo("v3"), Unresolved, false, "0 of 1 fail-to-pass and 1 of 1 pass-to-pass"},
		{"breaks what worked", patchTo("2"), Unresolved, false, "0 of 1 pass-to-pass"},
		{"no prediction", nil, NotRun, false, "no prediction"},
		{"empty", []byte(" \n"), EmptyPatch, false, "empty"},
		{"not a diff", []byte("I could not solve it."), PatchApplyFailed, false, "malformed"},
		{"does not apply", []byte(strings.Replace(string(patchTo("v2")), "-v1", "-v0", 1)), PatchApplyFailed, false, "patch failed: src.txt:1"},
		{"outside", []byte("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n"), PatchApplyFailed, false, "outside of the tree"},
		{"only tests", []byte("--- /dev/null\n+++ b/tests/test_b.py\n@@ -0,0 +1 @@\n+x\n"), EmptyPatch, false, "nothing but tests"},
		{"source does not build", patchTo("v2 NO-SOURCE"), BuildFailed, false, "task: the source"},
		{"tests do not build", patchTo("v2 NO-TESTS"), BuildFailed, false, "task: the tests"},
		{"no test ran", patchTo("v2 NOTHING"), Invalid, false, "none of the listed"},
		{"report contradicts itself", patchTo("v2 careful CONTRADICTS"), Invalid, false, "exit code 0"},
		{"hangs", patchTo("v2 careful HANGS"), TimedOut, false, "time limit"},
		{"eats memory", patchTo("v2 careful EATS"), OOM, false, "memory limit of 64 MiB"},
		{"machinery", patchTo("v2 BREAKS-DOWN"), Infra, false, "check task: the daemon is gone"},
		{"skips", patchTo("v2 careful SKIPS-test_new"), Unresolved, false, "0 of 1 fail-to-pass"},
		{"skips what worked", patchTo("v2 careful SKIPS-test_keep"), Unresolved, false, "0 of 1 pass-to-pass"},
		{"loses a test", patchTo("v2 careful DROPS-test_keep"), Unresolved, false, "0 of 1 pass-to-pass"},
		{"forges everything", patchTo("FORGES-ALL"), Tampered, false, "must fail passed"},
		{"forges and hides", patchTo("FORGES-KNOWN LOSES"), Tampered, false, "is missing while others passed"},
		{"forges and skips", patchTo("FORGES-KNOWN SKIPS-CANARY"), Tampered, false, "was skipped while others passed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, _ := fixture(t, instance("o__r-1"))
			got := one(t, o, tt.patch)
			if got.State != tt.want || got.Full() != tt.full || !strings.Contains(got.Why, tt.why) {
				t.Errorf("state %s (full %v, %q), want %s (full %v, %q)", got.State, got.Full(), got.Why, tt.want, tt.full, tt.why)
			}
		})
	}
}

// TestSeparateChecks: trouble in the anticipation check does not unresolve the task, but earns nothing there.
func TestSeparateChecks(t *testing.T) {
	t.Parallel()
	inst := instance("o__r-1")
	inst.Checks[1].Files[0].Data = pipeline.Text("test test_edge careful\n")
	inst.Checks[1].FailToPass = append(inst.Checks[1].FailToPass, "tests/test_a.py::test_gone")
	o, _ := fixture(t, inst)
	got := one(t, o, patchTo("v2 careful"))
	if got.State != Resolved || got.Full() {
		t.Errorf("state %s, full %v: want the task resolved and not full", got.State, got.Full())
	}
	c, _ := got.Check("anticipation")
	if c.Passing() != 0.5 || len(c.FailToPass[replay.Missing]) != 1 {
		t.Errorf("anticipation: %+v, want half of the tests, one missing", c)
	}
	for _, s := range []State{Tampered, TimedOut, OOM, Invalid} {
		c.State = s
		if c.Passing() != 0 {
			t.Errorf("a check that ended as %s has %v of its tests passing", s, c.Passing())
		}
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	o, s := fixture(t, instance("o__r-1"), instance("o__r-2"))
	p := Predictions{Model: "m", Patches: map[string][]byte{"o__r-1": patchTo("v2"), "o__r-2": patchTo("v2 careful")}}
	runs := func(p Predictions) int {
		t.Helper()
		e, err := newEvaluator(o)
		if err != nil {
			t.Fatal(err)
		}
		before := s.runs
		if _, err := e.all(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return s.runs - before
	}
	if n := runs(p); n != 4 {
		t.Fatalf("the first evaluation ran %d jobs, want 4", n)
	}
	if n := runs(p); n != 0 {
		t.Errorf("the same again ran %d jobs, want none", n)
	}
	p.Patches["o__r-1"] = patchTo("v2 other")
	if n := runs(p); n != 2 {
		t.Errorf("one changed patch ran %d jobs, want 2", n)
	}
	o.Release.Lines["o__r-2"] = "another revision"
	if n := runs(p); n != 2 {
		t.Errorf("one changed instance ran %d jobs, want 2", n)
	}
	o.Limits.Memory = 1 << 30
	if n := runs(p); n != 4 {
		t.Errorf("other limits ran %d jobs, want 4", n)
	}
	results, err := filepath.Glob(filepath.Join(o.Out, "results", "*.json"))
	if err != nil || len(results) == 0 {
		t.Fatalf("stored results: %v, %v", results, err)
	}
	for _, f := range results {
		if err := os.WriteFile(f, []byte("{ half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := runs(p); n != 4 {
		t.Errorf("damaged results were used: %d jobs ran, want 4", n)
	}
}

func TestInfraIsTriedAgain(t *testing.T) {
	t.Parallel()
	o, s := fixture(t, instance("o__r-1"))
	o.Retries, s.down = 2, true
	if got := one(t, o, patchTo("v2")); got.State != Infra || s.runs != 3 {
		t.Errorf("state %s after %d runs, want infra after 3", got.State, s.runs)
	}
	s.down = false
	if got := one(t, o, patchTo("v2")); got.State != Resolved {
		t.Errorf("state %s once the machinery is back, want resolved", got.State)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	o, _ := fixture(t, instance("o__r-1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, o, GoldPredictions(o.Release))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
}

func TestOutputFails(t *testing.T) {
	t.Parallel()
	o, _ := fixture(t, instance("o__r-1"))
	e, err := newEvaluator(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Out, "logs"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = e.one(t.Context(), o.Release.Instances[0], patchTo("v2"), true)
	if err == nil || !strings.Contains(err.Error(), "writing a log") {
		t.Errorf("error = %v: an output that cannot be written must stop the evaluation, not count as infra", err)
	}
}

func TestRunGolden(t *testing.T) {
	t.Parallel()
	insts := []pipeline.Instance{instance("o__r-1"), instance("o__r-2"), instance("o__r-3"), instance("o__r-4"), instance("o__r-5")}
	insts[1].Gold = nil
	o, _ := fixture(t, insts...)
	o.Workers, o.Settings = 1, map[string]string{"sandbox": "fake"}
	var seen []string
	o.Progress = func(done, total int, r Result) {
		seen = append(seen, r.ID)
		if done != len(seen) || total != 5 {
			t.Errorf("progress %d of %d after %d", done, total, len(seen))
		}
	}
	forge := append(patchTo("FORGES-ALL"), []byte("diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+x\n")...)
	p := Predictions{Model: "a|model", Ignored: []string{"stranger"}, Patches: map[string][]byte{
		"o__r-1": patchTo("v2 careful"), "o__r-2": patchTo("v2"), "o__r-3": forge, "o__r-4": patchTo("v2 BREAKS-DOWN"),
	}}
	r, err := Run(t.Context(), o, p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Complete {
		t.Error("the report is complete, although o__r-5 has no prediction")
	}
	for _, name := range []string{"report.json", "report.md"} {
		got, err := os.ReadFile(filepath.Join(o.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, got)
	}
	for _, i := range r.Instances {
		for _, c := range i.Checks {
			if _, err := os.Stat(filepath.Join(o.Out, c.Log)); err != nil {
				t.Errorf("the log of %s: %v", i.ID, err)
			}
		}
	}
	if len(seen) != 5 {
		t.Errorf("progress told of %v", seen)
	}
}

// golden compares with testdata/<name>.golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestCountsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOf(rapid.SampledFrom(States)).Draw(t, "states")
		var results []Result
		for i, s := range states {
			results = append(results, Result{ID: string(rune('a' + i%26)), State: s, Why: "w"})
		}
		sum := 0
		for _, n := range count(results) {
			sum += n
		}
		if sum != len(results) {
			t.Fatalf("%d states counted for %d results", sum, len(results))
		}
		s := summarise(results)
		if s.Completed+s.Errors+s.Empty+len(s.IncompleteIDs) != s.Total || s.Resolved+s.Unresolved != s.Completed {
			t.Fatalf("the classes of the summary do not add up: %+v", s)
		}
		for _, m := range Generic(results) {
			if m.N != len(results) || m.Value < 0 || m.Value > 1 || m.WithoutInfra.N != len(results)-count(results)[Infra] {
				t.Fatalf("metric %+v of %d results", m, len(results))
			}
		}
	})
}

func TestUnknownStatePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a state that is none was counted")
		}
	}()
	count([]Result{{ID: "x", State: "fine"}})
}
