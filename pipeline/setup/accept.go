package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/replay"
	"sluice/replay/tools"
)

// acceptVersion is part of every trial's key: raise it when the same recipe would be judged otherwise.
const acceptVersion = 3

// Trial is one replay of a recipe from nothing.
type Trial struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason"`          // one line
	Tests  int    `json:"tests"`           // that the report names
	Ended  bool   `json:"ended,omitempty"` // a limit of the sandbox ended the tests: no other recipe would help
	// Broken are packages or files that did not build or could not be collected.
	Broken  map[string]string `json:"broken,omitempty"`
	Install string            `json:"install,omitempty"` // what installing printed
	Log     string            `json:"log,omitempty"`     // what the test step printed, cut
	// Uncanaried says why our own tests were no proof: the project's settings break them. Files that cannot be loaded were noticed.
	Uncanaried string        `json:"uncanaried,omitempty"`
	Cases      []replay.Test `json:"cases,omitempty"` // of the request's scope
}

// Mark notes on a recipe that its trial had no canary.
func (t Trial) Mark(r replay.Recipe) replay.Recipe {
	note := "uncanaried: " + t.Uncanaried
	if t.OK && t.Uncanaried != "" && !slices.Contains(r.Notes, note) {
		r.Notes = append(slices.Clone(r.Notes), note)
	}
	return r
}

// Accept replays a recipe: it is installed, its Build steps must leave the project's files alone, and the canonical test command
// must write a report that names at least one test of the tree, or all of the scope, and that has our own tests as they must be. The
// result is kept under the recipe's fingerprint.
func (s *Setup) Accept(ctx context.Context, q Request, r replay.Recipe) (Trial, error) {
	var t Trial
	q = q.laid()
	tool, err := tools.For(r.Runner)
	if err != nil {
		return t, pipeline.Permanent(err)
	}
	w := pipeline.Work{Kind: "setup-trial", Label: "trial of a recipe for " + q.Label, Inputs: []any{
		acceptVersion, s.Crew.Sandbox.Name(), r.Fingerprint, q.Tree.ID(), q.Target, q.Scope, s.Limits,
	}}
	b, err := q.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		t, err := s.trial(ctx, q, r, tool)
		if err != nil {
			return nil, err
		}
		return json.Marshal(t)
	})
	if err != nil {
		return t, fmt.Errorf("trying a recipe: %w", err)
	}
	return t, json.Unmarshal(b, &t)
}

func (s *Setup) trial(ctx context.Context, q Request, r replay.Recipe, tool replay.Runner) (Trial, error) {
	env, err := s.Crew.Sandbox.Prepare(ctx, r, q.Tree)
	var failed *replay.InstallError
	if errors.As(err, &failed) {
		return Trial{Reason: failed.Error(), Install: cut(failed.Log)}, nil
	}
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Install: cut(env.Log)}
	if len(r.Build) > 0 {
		if t.Reason, err = s.builds(ctx, q, env); err != nil || t.Reason != "" {
			return t, err
		}
	}
	return t, s.prove(ctx, &run{q: q, r: r, tool: tool, env: env, limits: s.Limits, box: s.Crew.Sandbox}, &t)
}

// run is a recipe's environment with what runs there.
type run struct {
	q      Request
	r      replay.Recipe
	tool   replay.Runner
	env    replay.Env
	limits replay.Limits
	box    replay.Sandbox
}

// tests runs a target over a fresh state with files laid over it.
func (x *run) tests(ctx context.Context, target replay.Target, files ...replay.File) (report replay.Report, log string, err error) {
	res, err := x.box.Run(ctx, replay.Job{
		Name: "trial of " + x.q.Label, Tree: x.q.Tree, Overlays: []replay.Overlay{{Files: files}}, Env: x.env,
		Steps: swept(x.tool.Steps(x.r, target)), Limits: x.limits,
	})
	if err != nil {
		return report, "", err
	}
	if step := res.Step(tools.StepTest); step != nil {
		log = cut(string(step.Stdout) + string(step.Stderr))
	}
	return x.tool.Parse(x.r, target, res), log, nil
}

// prove runs the tests with ours among them. If ours break, the project's run alone, and a file that cannot be loaded must be noticed.
func (s *Setup) prove(ctx context.Context, x *run, t *Trial) error {
	can, err := plant(ctx, x.q, x.r)
	if err != nil {
		return err
	}
	target := replay.Target{Paths: slices.Concat(x.q.Target.Paths, can.targets)}
	report, log, err := x.tests(ctx, target, can.files...)
	if err != nil {
		return err
	}
	blamed := can.blames(report, log)
	heard := can.hear(&report)
	t.Broken, t.Log = report.Broken, log
	if heard == forged {
		t.Reason = "a test of ours that must fail passed: the report is not what the tests did"
		return nil
	}
	if heard == silent && blamed {
		if report, t.Log, err = x.tests(ctx, x.q.Target); err != nil {
			return err
		}
		t.Broken = report.Broken
	}
	if err := s.decide(ctx, x.q, x.r, report, t); err != nil || heard == sings || !t.OK {
		return err
	}
	if can.unknown {
		t.Uncanaried = "there are no tests of our own for this test tool"
		return nil
	}
	if can.only == "" {
		place, _, _ := strings.Cut(report.Tests[0].ID, "::")
		can.breakFile(place)
	}
	if can.broken.Path == "" {
		t.Uncanaried = "there is no place for tests of our own among the project's"
		return nil
	}
	return x.alive(ctx, can, t)
}

// alive shows that the test tool loads the project's test files, where tests of our own cannot run among them.
func (x *run) alive(ctx context.Context, can planted, t *Trial) error {
	report, _, err := x.tests(ctx, replay.Target{Paths: []string{can.only}}, can.broken)
	if err != nil {
		return err
	}
	for _, why := range report.Broken {
		if strings.Contains(why, can.word) {
			t.Uncanaried = "tests of our own did not run among the project's; a file that cannot be loaded was noticed"
			return nil
		}
	}
	t.OK, t.Reason = false, "tests of our own are not in the report, nor is a file that cannot be loaded: it is not what the test tool did"
	return nil
}

// sweep empties the folder for reports before the tests: what a recipe's own commands may have put there is no report.
var sweep = replay.Step{
	Name: "sweep", Args: []string{"sh", "-c", `rm -rf "$1"/* "$1"/.[!.]*`, "sh", "{out}"}, MustPass: true,
}

func swept(steps []replay.Step) []replay.Step {
	i := slices.IndexFunc(steps, func(st replay.Step) bool { return st.Name == tools.StepTest })
	return slices.Insert(slices.Clone(steps), max(i, 0), sweep)
}

// builds runs the recipe's Build steps over a fresh state and says what is wrong with what they did to the project's files.
func (s *Setup) builds(ctx context.Context, q Request, env replay.Env) (reason string, err error) {
	session, err := s.Crew.Sandbox.Open(ctx, replay.SessionSpec{Name: "builds of " + q.Label, Tree: q.Tree, Env: &env, Limits: s.Limits})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, st := range env.Recipe.Build {
		r, err := session.Exec(ctx, st)
		if err != nil {
			return "", err
		}
		if r.Stop != replay.Exited || r.ExitCode != 0 {
			return fmt.Sprintf("build step %q: %s, code %d: %s", st.Name, r.Stop, r.ExitCode, lastLine(string(r.Stdout)+string(r.Stderr))), nil
		}
	}
	changes, err := agents.Collect(ctx, session)
	if err != nil {
		return "", err
	}
	files, err := changes.Operation(ctx, q.Tree, nil)
	if err != nil {
		return "", err
	}
	for _, f := range operation.Check(operation.Input{Files: files}) {
		return "its build steps: " + f.String(), nil
	}
	if !changes.Whole {
		return "its build steps change more than can be looked at", nil
	}
	return "", nil
}

// decide looks for one test of the tree in a report that can be believed.
func (s *Setup) decide(ctx context.Context, q Request, r replay.Recipe, report replay.Report, t *Trial) error {
	t.Tests = len(report.Tests)
	switch {
	case report.Stop == replay.Timeout || report.Stop == replay.OOM:
		t.Ended, t.Reason = true, "the tests were ended: "+string(report.Stop)
		return nil
	case report.Inconsistent != "":
		t.Reason = report.Inconsistent
		return nil
	case t.Tests == 0:
		t.Reason = "no test ran" + firstOf(report.Broken)
		return nil
	}
	if len(q.Scope) > 0 {
		return q.decideScope(report, t)
	}
	for _, test := range report.Tests {
		ok, err := ofTree(ctx, q.Tree, r, test.ID)
		if err != nil {
			return err
		}
		if ok {
			t.OK, t.Reason = true, fmt.Sprintf("the report names %d tests", t.Tests)
			return nil
		}
	}
	t.Reason = "the report names no test of the tree: " + report.Tests[0].ID
	return nil
}

// decideScope wants every test of the scope in the report, and one of them not skipped.
func (q Request) decideScope(report replay.Report, t *Trial) error {
	cases, missing := q.cases(report.Tests)
	t.Cases = cases
	skipped := !slices.ContainsFunc(cases, func(c replay.Test) bool { return c.Outcome != replay.Skip })
	switch {
	case missing != "":
		t.Reason = "a test of the scope did not run and was not left out: " + missing + firstOf(report.Broken)
	case skipped:
		t.Reason = "all tests of the scope were skipped"
	default:
		t.OK, t.Reason = true, fmt.Sprintf("all %d tests of the scope ran, in %d cases", len(q.Scope), len(cases))
	}
	return nil
}

// ofTree reports whether a test's id names a file of the tree, or a package of the module.
func ofTree(ctx context.Context, tree replay.Tree, r replay.Recipe, id string) (bool, error) {
	place, _, ok := strings.Cut(id, "::")
	if !ok {
		return false, nil
	}
	if owns, known := tools.Owns(r, id); known {
		return owns, nil
	}
	_, err := tree.ReadFile(ctx, place)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func firstOf(broken map[string]string) string {
	names := []string{}
	for k := range broken {
		names = append(names, k)
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; " + names[0] + ": " + lastLine(broken[names[0]])
}

// byHand matches commands that write what only a test tool may write.
var byHand = regexp.MustCompile(`(?i)<test(?:case|suites?)|\{out\}|sluice-io|/sluice/[0-9a-f]{32}|junit\.xml|unittest\.jsonl|/proc/[^ ]*/fd`)
