// Package evaluate scores predictions on a release: predictions in, a report out.
//
// Each patch is cleaned, applied to the instance's base state, and tested in a fresh sandbox under the sealed tests. Every
// instance ends in exactly one state, and no state but infra leaves a denominator. Before any score, the release itself is
// checked: its gold earns credit and its controls earn none. The package never repairs a patch, never believes a test that
// no report holds, and writes nothing outside of its output folder.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/pipeline"
	"sluice/pipeline/release"
	"sluice/replay"
)

// Version is the evaluator's: raise it when the same patch may get another result. It is part of every cached key.
const Version = 2

// Options are the settings of an evaluation. Release, Tree, Sandbox, Runner, Out and Clock must be set.
type Options struct {
	Release *release.Release
	Tree    func(ctx context.Context, repo, commit string) (replay.Tree, error)
	Sandbox replay.Sandbox
	Runner  func(name string) (replay.Runner, error)
	Out     string           // folder for the report, logs and cached results; nothing is written elsewhere
	Clock   func() time.Time // for durations
	Workers int              // instances at a time; default 1
	Limits  replay.Limits    // of each check's job
	// Retries is how often a run that the machinery failed is tried again at once.
	Retries  int
	Scorer   Scorer            // the family's metrics; the generic ones are always there
	Settings map[string]string // for the report
	// Progress is told of every finished instance, one at a time.
	Progress func(done, total int, r Result)
}

// Run checks the release, evaluates the predictions, and writes report.json and report.md into the output folder. Results
// of an interrupted evaluation are used again where patch, instance, environment and evaluator are the same. A failed
// check of the release is a *PreflightError; missing predictions are no error: Report.Complete tells.
func Run(ctx context.Context, o Options, p Predictions) (*Report, error) {
	pre, err := Preflight(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := newEvaluator(o)
	if err != nil {
		return nil, err
	}
	recs, err := e.all(ctx, p)
	if err != nil {
		return nil, err
	}
	r := makeReport(o, p, pre, recs)
	return r, r.write(o.Out)
}

// evaluator evaluates one set of patches.
type evaluator struct {
	o     Options
	cache cache

	mu   sync.Mutex
	done int
}

func newEvaluator(o Options) (*evaluator, error) {
	c, err := newCache(o.Out)
	if err != nil {
		return nil, err
	}
	return &evaluator{o: o, cache: c}, nil
}

// record is a result with what is not the same every time.
type record struct {
	Result  Result  `json:"result"`
	Seconds float64 `json:"seconds"` // of the run that made the result
}

// all evaluates every instance of the release, in its order.
func (e *evaluator) all(ctx context.Context, p Predictions) ([]record, error) {
	insts := e.o.Release.Instances
	recs := make([]record, len(insts))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, e.o.Workers))
	for i, inst := range insts {
		g.Go(func() error {
			patch, predicted := p.Patches[inst.ID]
			r, err := e.one(ctx, inst, patch, predicted)
			if err != nil {
				return fmt.Errorf("evaluating %s: %w", inst.ID, err)
			}
			recs[i] = r
			e.report(len(insts), r.Result)
			return nil
		})
	}
	return recs, g.Wait()
}

// report tells the caller that one more is done.
func (e *evaluator) report(total int, r Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done++
	if e.o.Progress != nil {
		e.o.Progress(e.done, total, r)
	}
}

// one evaluates one instance. Its error stops the evaluation: the context's end, or an output that cannot be written.
func (e *evaluator) one(ctx context.Context, inst pipeline.Instance, patch []byte, predicted bool) (record, error) {
	if err := ctx.Err(); err != nil {
		return record{}, err
	}
	r := newResult(inst, patch)
	switch {
	case !predicted:
		return record{Result: r.end(NotRun, "there is no prediction for it")}, nil
	case blank(patch):
		return record{Result: r.end(EmptyPatch, "the patch is empty")}, nil
	}
	r.Key = e.key(inst, patch)
	if rec, ok := e.cache.get(r.Key); ok {
		return rec, nil
	}
	var rec record
	for try := 0; ; try++ {
		start := e.o.Clock()
		res, err := e.attempt(ctx, inst, patch, r)
		if err != nil {
			return record{}, err
		}
		rec = record{res, e.o.Clock().Sub(start).Seconds()}
		if res.State != Infra || try >= e.o.Retries {
			break
		}
	}
	if rec.Result.State == Infra {
		return rec, nil // the next evaluation tries again
	}
	return rec, e.cache.put(r.Key, rec)
}

// key names everything that a result depends on.
func (e *evaluator) key(inst pipeline.Instance, patch []byte) string {
	return digest(struct {
		Version                                   int
		Patch, Instance, Environment, Sandboxname string
		Limits                                    replay.Limits
	}{Version, digest(patch), e.o.Release.Lines[inst.ID], inst.Recipe.Fingerprint, e.o.Sandbox.Name(), e.o.Limits})
}

// attempt applies the patch and runs every check. What the machinery did wrong makes the state infra.
func (e *evaluator) attempt(ctx context.Context, inst pipeline.Instance, patch []byte, r Result) (Result, error) {
	tree, err := e.o.Tree(ctx, inst.Repo, inst.Base)
	if err != nil {
		return e.infra(ctx, r, fmt.Errorf("reading the base state: %w", err))
	}
	a, err := apply(ctx, tree, inst, patch)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return r.with(a).end(PatchApplyFailed, refused.why), nil
	case err != nil:
		return e.infra(ctx, r, fmt.Errorf("applying the patch: %w", err))
	case a.empty():
		return r.with(a).end(EmptyPatch, "the patch changes nothing but tests and their set-up"), nil
	}
	r = r.with(a)
	// The recipe is that of the task's head: its change may add dependencies, and what it names is read there.
	head, err := e.o.Tree(ctx, inst.Repo, inst.Task.Head)
	if err != nil {
		return e.infra(ctx, r, fmt.Errorf("reading the task's head: %w", err))
	}
	env, err := e.o.Sandbox.Prepare(ctx, inst.Recipe, head)
	if err != nil {
		return e.infra(ctx, r, fmt.Errorf("preparing the environment: %w", err))
	}
	r.Environment = env.Digest
	for _, c := range inst.Checks {
		res, err := e.check(ctx, inst, c, job{tree: tree, env: env, model: a.overlay, key: r.Key})
		if err != nil {
			return e.infra(ctx, r, fmt.Errorf("check %s: %w", c.Name, err))
		}
		r.Checks = append(r.Checks, res)
	}
	return r.judge(), nil
}

// infra ends an instance as the machinery's fault, unless the evaluation itself was stopped.
func (e *evaluator) infra(ctx context.Context, r Result, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	var out *outputError
	if errors.As(err, &out) {
		return Result{}, err
	}
	return r.end(Infra, err.Error()), nil
}

// job is what the checks of one patch share.
type job struct {
	tree  replay.Tree
	env   replay.Env
	model replay.Overlay
	key   string
}

// check runs one check: base, then the model's files, then the sealed ones.
func (e *evaluator) check(ctx context.Context, inst pipeline.Instance, c pipeline.Check, j job) (CheckResult, error) {
	run, err := e.o.Runner(inst.Recipe.Runner)
	if err != nil {
		return CheckResult{}, err
	}
	sealed, err := sealedOverlay(c)
	if err != nil {
		return CheckResult{}, err
	}
	x := checked{inst: inst, check: c, job: j, run: run, sealed: sealed}
	can := plant(inst.Recipe, c, sealed, digest(j.key + c.Name)[:12])
	rep, res, err := e.tests(ctx, x, can)
	if err != nil {
		return CheckResult{}, err
	}
	alone := can.breaks(rep)
	if alone { // its absence would accuse nobody, so that nothing is lost
		can = planted{}
		if rep, res, err = e.tests(ctx, x, can); err != nil {
			return CheckResult{}, err
		}
	}
	graded := grade(c, can, rep)
	graded.Uncanaried = alone
	if graded.State == OOM {
		graded.Why += fmt.Sprintf(" of %d MiB", res.Conditions.Memory>>20)
	}
	graded.Log, err = e.writeLog(inst.ID, c.Name, j.key, res)
	return graded, err
}

// checked is what the runs of one check have in common.
type checked struct {
	inst   pipeline.Instance
	check  pipeline.Check
	job    job
	run    replay.Runner
	sealed replay.Overlay
}

// tests runs the tests of a check, and those that were planted.
func (e *evaluator) tests(ctx context.Context, x checked, can planted) (replay.Report, replay.Result, error) {
	target := replay.Target{Paths: append(append([]string{}, x.check.Target...), can.targets...)}
	res, err := e.o.Sandbox.Run(ctx, replay.Job{
		Name: x.inst.ID + " " + x.check.Name, Tree: x.job.tree, Overlays: []replay.Overlay{x.job.model, x.sealed, {Files: can.files}},
		Env: x.job.env, Steps: x.run.Steps(x.inst.Recipe, target), Limits: e.o.Limits,
	})
	if err != nil {
		return replay.Report{}, res, err
	}
	return x.run.Parse(x.inst.Recipe, target, res), res, nil
}
