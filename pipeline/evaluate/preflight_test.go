package evaluate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
)

func TestPreflight(t *testing.T) {
	t.Parallel()
	taskOnly := instance("o__r-2")
	taskOnly.Gold = nil
	o, s := fixture(t, instance("o__r-1"), taskOnly)
	got, err := Preflight(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Full != 1 || got.Task != 1 || got.Instances != 2 {
		t.Errorf("preflight %+v, want one full and one task gold of 2", got)
	}
	// Two checks of two instances, each with gold and with the unrelated patch.
	if s.runs != 8 {
		t.Errorf("%d jobs ran, want 8", s.runs)
	}
	again, err := Preflight(t.Context(), o)
	if err != nil || s.runs != 8 {
		t.Errorf("the second time %d jobs ran (%v), want none", s.runs-8, err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("kept answer (-first +second):\n%s", diff)
	}
	o.Release.Digest = "sha256:another"
	o.Release.Lines = map[string]string{}
	if _, err := Preflight(t.Context(), o); err != nil || s.runs != 16 {
		t.Errorf("another release ran %d jobs (%v), want 8", s.runs-8, err)
	}
}

// What a change broke was right before it: such a test passes on the base, and a patch that does nothing earns no more by it.
func TestPreflightAllowsWhatWasRightBefore(t *testing.T) {
	t.Parallel()
	inst := instance("o__r-1")
	inst.Checks[1].Files[0].Data = pipeline.Text("test test_edge v\n")
	o, _ := fixture(t, inst)
	if _, err := Preflight(t.Context(), o); err != nil {
		t.Error(err)
	}
}

func TestPreflightFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		change     func(*pipeline.Instance)
	}{
		{"gold misses a test", "o__r-2: gold: it earns no full credit (resolved): check anticipation: unresolved",
			func(i *pipeline.Instance) { i.Gold = patchTo("v2") }},
		{"task patch misses a test", "o__r-2: gold: it earns no full credit (unresolved): check task: unresolved",
			func(i *pipeline.Instance) { i.Gold, i.Patch = nil, patchTo("v3") }},
		{"gold does not apply", "o__r-2: gold: it earns no full credit (patch_apply_failed)",
			func(i *pipeline.Instance) { i.Gold = pipeline.Text(malformed) }},
		{"a task test passes without a solution", "o__r-2: unrelated patch: check task: tests/test_a.py::test_free passes",
			func(i *pipeline.Instance) {
				i.Checks[0].Files[0].Data = pipeline.Text("test test_new v2\ntest test_free v\ntest test_keep v\n")
				i.Checks[0].FailToPass = append(i.Checks[0].FailToPass, "tests/test_a.py::test_free")
			}},
		{"nothing to solve", "o__r-2: unrelated patch: it resolves the task",
			func(i *pipeline.Instance) {
				i.Checks[0].Files[0].Data = pipeline.Text("test test_new v\ntest test_keep v\n")
			}},
		{"machinery", "o__r-2: gold: it earns no full credit (infra)",
			func(i *pipeline.Instance) { i.Base = "gone" }},
		// See github.com/gitbugactions/gitbugactions/issues/127, where bugs were exported whose images were not there.
		{"its image is not there", "o__r-2: gold: it earns no full credit (infra)",
			func(i *pipeline.Instance) { i.Recipe.Image = "gone" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bad := instance("o__r-2")
			tt.change(&bad)
			o, s := fixture(t, instance("o__r-1"), bad)
			_, err := Run(t.Context(), o, GoldPredictions(o.Release))
			var pre *PreflightError
			if !errors.As(err, &pre) || !IsPreflight(err) {
				t.Fatalf("error = %v, want a failed preflight", err)
			}
			if len(pre.Failures) != 1 || !strings.HasPrefix(pre.Failures[0], tt.want) {
				t.Errorf("failures %q, want one: %q", pre.Failures, tt.want)
			}
			before := s.runs
			if _, err := Preflight(t.Context(), o); !IsPreflight(err) {
				t.Errorf("the second time: %v after %d runs, want the failure again", err, s.runs-before)
			}
		})
	}
}
