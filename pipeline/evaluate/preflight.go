package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
)

// The controls: patches that must earn nothing.
var (
	malformed = []byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,9 @@\n this is no hunk\n")
	unrelated = []byte("diff --git a/sluice-control.txt b/sluice-control.txt\nnew file mode 100644\n--- /dev/null\n" +
		"+++ b/sluice-control.txt\n@@ -0,0 +1 @@\n+A valid change that solves nothing.\n")
)

// PreflightReport says that a release can be scored with.
type PreflightReport struct {
	Key       string   `json:"key"` // of everything that the answer depends on
	Release   string   `json:"release"`
	Instances int      `json:"instances"`
	Full      int      `json:"gold_full"` // a proven patch earned full credit
	Task      int      `json:"gold_task"` // no patch is proven: the task's real one resolved the task
	Failures  []string `json:"failures"`  // "<id>: <what went wrong>", in the release's order
}

// PreflightError says that a release cannot be scored with.
type PreflightError struct{ Failures []string }

func (e *PreflightError) Error() string {
	return fmt.Sprintf("checking the release: %d failures: %s", len(e.Failures), strings.Join(e.Failures, "; "))
}

// Preflight checks that the gold of every instance earns its credit here, and that an empty, a malformed and a valid but
// wrong patch earn none. A failure is a *PreflightError. The answer for one release, sandbox and evaluator is kept in the
// output folder; a failure is not kept, since the machinery may have been at fault.
func Preflight(ctx context.Context, o Options) (PreflightReport, error) {
	e, err := newEvaluator(o)
	if err != nil {
		return PreflightReport{}, err
	}
	e.o.Progress = nil
	rep := PreflightReport{Key: e.preflightKey(), Release: o.Release.Digest, Instances: len(o.Release.Instances), Failures: []string{}}
	file := filepath.Join(o.Out, "preflight-"+rep.Key[:12]+".json")
	if old, ok := readPreflight(file); ok && old.Key == rep.Key && len(old.Failures) == 0 {
		return old, nil
	}
	failures := make([]string, len(o.Release.Instances))
	for _, c := range controls {
		recs, err := e.all(ctx, c.predictions(o.Release.Instances))
		if err != nil {
			return rep, err
		}
		for i, rec := range recs {
			inst := o.Release.Instances[i]
			if why := c.wrong(inst, rec.Result); why != "" && failures[i] == "" {
				failures[i] = fmt.Sprintf("%s: %s: %s", inst.ID, c.name, why)
			}
		}
	}
	for i, inst := range o.Release.Instances {
		switch {
		case failures[i] != "":
			rep.Failures = append(rep.Failures, failures[i])
		case len(inst.Gold) > 0:
			rep.Full++
		default:
			rep.Task++
		}
	}
	if len(rep.Failures) > 0 {
		return rep, &PreflightError{rep.Failures}
	}
	return rep, writeJSON(file, rep)
}

// preflightKey covers the release, the evaluator and what runs the tests.
func (e *evaluator) preflightKey() string {
	return digest(struct {
		Version          int
		Release, Sandbox string
		Limits           replay.Limits
	}{Version, e.o.Release.Digest, e.o.Sandbox.Name(), e.o.Limits})
}

func readPreflight(file string) (r PreflightReport, ok bool) {
	b, err := os.ReadFile(file)
	return r, err == nil && json.Unmarshal(b, &r) == nil
}

// control is one patch for every instance and what must come of it.
type control struct {
	name  string
	patch func(pipeline.Instance) []byte
	wrong func(pipeline.Instance, Result) string // "" if it came out as it must
}

func (c control) predictions(insts []pipeline.Instance) Predictions {
	p := Predictions{Patches: map[string][]byte{}}
	for _, inst := range insts {
		p.Patches[inst.ID] = c.patch(inst)
	}
	return p
}

// always makes the same patch for every instance.
func always(patch []byte) func(pipeline.Instance) []byte {
	return func(pipeline.Instance) []byte { return patch }
}

// ends wants one state.
func ends(want State) func(pipeline.Instance, Result) string {
	return func(_ pipeline.Instance, r Result) string {
		if r.State != want {
			return fmt.Sprintf("it ended as %s, not as %s: %s", r.State, want, r.Why)
		}
		return ""
	}
}

var controls = []control{
	{"gold", goldOf, wrongGold},
	{"empty patch", always([]byte{}), ends(EmptyPatch)},
	{"malformed patch", always(malformed), ends(PatchApplyFailed)},
	{"unrelated patch", always(unrelated), wrongUnrelated},
}

// wrongGold wants full credit for a proven patch, and a resolved task of the task's real patch.
func wrongGold(inst pipeline.Instance, r Result) string {
	if r.State == Resolved && (len(inst.Gold) == 0 || r.Full()) {
		return ""
	}
	why := r.Why
	for _, c := range r.Checks {
		if c.State != Resolved && (c.Resolves || len(inst.Gold) > 0) {
			why = fmt.Sprintf("check %s: %s: %s%s", c.Name, c.State, c.Why, failing(c))
			break
		}
	}
	return fmt.Sprintf("it earns no full credit (%s): %s", r.State, why)
}

// failing names a test that did not pass.
func failing(c CheckResult) string {
	for _, l := range []List{c.FailToPass, c.PassToPass} {
		for _, o := range []replay.Outcome{replay.Fail, replay.Error, replay.Missing, replay.Skip, replay.TimedOut} {
			if ids := l[o]; len(ids) > 0 {
				return fmt.Sprintf(" (%s: %s)", o, ids[0])
			}
		}
	}
	return ""
}

// wrongUnrelated wants no credit for the task: no test passes that a solution must make pass. Other checks may hold on the
// base, since what a change broke was right before it; without the task they are no full credit.
func wrongUnrelated(_ pipeline.Instance, r Result) string {
	if r.State == Infra {
		return r.Why
	}
	if r.State == Resolved {
		return "it resolves the task"
	}
	for _, c := range r.Checks {
		if ids := c.FailToPass[replay.Pass]; c.Resolves && len(ids) > 0 {
			return fmt.Sprintf("check %s: %s passes without a solution", c.Name, ids[0])
		}
	}
	return ""
}

// IsPreflight reports whether an evaluation stopped because its release did not check out.
func IsPreflight(err error) bool {
	var p *PreflightError
	return errors.As(err, &p)
}
