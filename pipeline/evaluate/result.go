package evaluate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"

	"sluice/pipeline"
	"sluice/replay"
)

// State is how an instance ended. The set is closed: the states' counts add up to the number of instances.
type State string

// The states.
const (
	Resolved         State = "resolved"           // all tests of the checks that resolve the task pass
	Unresolved       State = "unresolved"         // the tests ran; not all pass
	EmptyPatch       State = "empty_patch"        // nothing to apply; never run
	PatchApplyFailed State = "patch_apply_failed" // malformed, does not apply, or reaches outside of the tree
	BuildFailed      State = "build_failed"       // the source or the tests do not build on it, and no listed test ran
	TimedOut         State = "timeout"            // the run hit its time limit
	OOM              State = "oom"                // the run hit its memory limit
	Infra            State = "infra"              // the machinery failed: no verdict on the patch
	Tampered         State = "tampered"           // a test that must fail did not
	Invalid          State = "invalid"            // report, exit code and log disagree, or no listed test ran
	NotRun           State = "not_run"            // there is no prediction
)

// States are all states, in the order of reports.
var States = []State{
	Resolved, Unresolved, EmptyPatch, PatchApplyFailed, BuildFailed, TimedOut, OOM, Infra, Tampered, Invalid, NotRun,
}

// Result is what came of one instance.
type Result struct {
	ID          string            `json:"instance_id"`
	Repo        string            `json:"repo"`
	Language    string            `json:"language"`
	Labels      map[string]string `json:"labels"`
	State       State             `json:"status"`
	Why         string            `json:"reason,omitempty"` // one line; "" for resolved
	Patch       string            `json:"patch,omitempty"`  // digest
	Removed     []Removed         `json:"removed,omitempty"`
	Applier     string            `json:"applier,omitempty"`
	ApplierSaid string            `json:"applier_output,omitempty"`
	Environment string            `json:"environment,omitempty"` // digest of the image, where the sandbox has one
	Key         string            `json:"key,omitempty"`
	Checks      []CheckResult     `json:"checks,omitempty"`
}

// Removed is a path that was taken out of a patch before it was applied.
type Removed struct {
	Path string `json:"path"`
	Why  string `json:"why"` // "sealed", "test" or "test set-up"
}

// List holds the tests of one list by outcome; every test of the list is under exactly one.
type List map[replay.Outcome][]string

// CheckResult is what came of one check.
type CheckResult struct {
	Name       string            `json:"name"`
	Resolves   bool              `json:"resolves"`
	State      State             `json:"status"` // resolved: every listed test passes
	Why        string            `json:"reason,omitempty"`
	FailToPass List              `json:"fail_to_pass"`
	PassToPass List              `json:"pass_to_pass"`
	Broken     map[string]string `json:"broken,omitempty"` // what did not build, with the compiler's words
	// Uncanaried says that the tests ran without ours that must fail: with them, they did not compile.
	Uncanaried bool   `json:"uncanaried,omitempty"`
	Log        string `json:"log"` // relative to the output folder
}

// Size returns how many tests the list holds.
func (l List) Size() int {
	n := 0
	for _, ids := range l {
		n += len(ids)
	}
	return n
}

// Graded reports whether the tests' outcomes count. After a time-out, a forgery or a report that contradicts itself
// nothing that "passed" is evidence.
func (c CheckResult) Graded() bool {
	return c.State == Resolved || c.State == Unresolved || c.State == BuildFailed
}

// Passing returns the share of the fail-to-pass tests that pass, 0 where outcomes do not count.
func (c CheckResult) Passing() float64 {
	n := c.FailToPass.Size()
	if n == 0 || !c.Graded() {
		return 0
	}
	return float64(len(c.FailToPass[replay.Pass])) / float64(n)
}

// Check returns the result of the named check; ok is false when it did not run.
func (r Result) Check(name string) (c CheckResult, ok bool) {
	for _, c := range r.Checks {
		if c.Name == name {
			return c, true
		}
	}
	return CheckResult{}, false
}

// Full reports whether every test of every check passes. An instance that did not get to its checks is not full.
func (r Result) Full() bool {
	for _, c := range r.Checks {
		if c.State != Resolved {
			return false
		}
	}
	return r.State == Resolved && len(r.Checks) > 0
}

// newResult begins an instance's result.
func newResult(inst pipeline.Instance, patch []byte) Result {
	r := Result{ID: inst.ID, Repo: inst.Repo, Language: inst.Language, Labels: inst.Labels}
	if patch != nil {
		r.Patch = digest(patch)
	}
	return r
}

// with notes how the patch was applied.
func (r Result) with(a applied) Result {
	r.Removed, r.Applier, r.ApplierSaid = a.removed, a.applier, a.said
	return r
}

// end gives a result its state.
func (r Result) end(s State, why string) Result {
	r.State, r.Why = s, why
	return r
}

// severity orders the checks' states: the worst of them is the instance's.
var severity = map[State]int{
	Resolved: 0, Unresolved: 1, BuildFailed: 2, Invalid: 3, TimedOut: 4, OOM: 5, Tampered: 6,
}

// judge makes the instance's state of its checks: the worst of those that resolve the task (of all, where none does).
// A forgery anywhere decides.
func (r Result) judge() Result {
	some := false
	for _, c := range r.Checks {
		some = some || c.Resolves
	}
	r.State, r.Why = Resolved, ""
	for _, c := range r.Checks {
		if (c.Resolves || !some || c.State == Tampered) && severity[c.State] > severity[r.State] {
			r.State, r.Why = c.State, c.Name+": "+c.Why
		}
	}
	return r
}

// sealedOverlay is a check's files as the sandbox lays them.
func sealedOverlay(c pipeline.Check) (replay.Overlay, error) {
	o := replay.Overlay{Remove: c.Remove}
	for _, f := range c.Files {
		mode, ok := map[string]fs.FileMode{"100644": 0o644, "100755": 0o755, "120000": fs.ModeSymlink | 0o777}[f.Mode]
		if !ok {
			return o, fmt.Errorf("sealed file %s has mode %q", f.Path, f.Mode)
		}
		o.Files = append(o.Files, replay.File{Path: f.Path, Mode: mode, Data: f.Data})
	}
	return o, nil
}

// blank reports whether a patch holds nothing.
func blank(patch []byte) bool { return len(bytes.TrimSpace(patch)) == 0 }

// digest names bytes, or the JSON of any other value, in 64 hex digits.
func digest(v any) string {
	b, ok := v.([]byte)
	if !ok {
		b, _ = json.Marshal(v) // only strings and structs of plain fields come here
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
