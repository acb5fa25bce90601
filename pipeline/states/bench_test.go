package states

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/demo"
	"sluice/miners/gitrepo"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/docker/images"
	"sluice/replay/tools"
	"sluice/replay/tools/project"
)

// benchRepo is the repository that SLUICE_BENCH_REPO names, else the demo's.
func benchRepo(b *testing.B) *history.History {
	b.Helper()
	dir := os.Getenv("SLUICE_BENCH_REPO")
	if dir == "" {
		dir = b.TempDir() + "/demo"
		if _, err := demo.Author(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
	}
	m, err := gitrepo.Open(b.Context(), dir, b.TempDir(), gitrepo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	return history.New(m, "")
}

// stopwatch wraps the command of the test step: it leaves how long that took by the container's own clock, in nanoseconds, and which
// times of the processor it and its children took.
const stopwatch = `s=$(date +%s%N); "$@"; c=$?; e=$(date +%s%N); echo $((e-s)) >"$OUT/bare"; times >"$OUT/times"; exit $c`

// timed runs a state and returns how long that took here, and how long the bare test command took in there.
func timed(b *testing.B, s replay.Sandbox, env replay.Env, tree replay.Tree) (wall, bare time.Duration) {
	t := timedJob(b, s, env, tree, false)
	return t.wall, t.bare
}

// taken is what a run took: here, its test command in there, and that of the processor.
type taken struct{ wall, bare, cpu time.Duration }

func timedJob(b *testing.B, s replay.Sandbox, env replay.Env, tree replay.Tree, share bool) (t taken) {
	b.Helper()
	tool, err := tools.For(env.Recipe.Runner)
	if err != nil {
		b.Fatal(err)
	}
	steps := tool.Steps(env.Recipe, replay.Target{})
	for i := range steps {
		if steps[i].Name == tools.StepTest {
			steps[i].Args = append([]string{"env", "OUT={out}", "sh", "-c", stopwatch, "sh"}, steps[i].Args...)
		}
	}
	job := replay.Job{Name: "bench", Tree: tree, Env: env, Steps: steps}
	if share {
		job.Share = tools.Share(env.Recipe, replay.Target{}, steps)
	}
	started := time.Now()
	res, err := s.Run(b.Context(), job)
	t.wall = time.Since(started)
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(res.Files["bare"])), 10, 64)
	if err != nil {
		b.Fatalf("the stopwatch says %q: %v", res.Files["bare"], err)
	}
	t.bare = time.Duration(n)
	for w := range strings.FieldsSeq(string(res.Files["times"])) { // as "0m1.234s"
		d, err := time.ParseDuration(w)
		if err != nil {
			b.Fatalf("the stopwatch says %q: %v", res.Files["times"], err)
		}
		t.cpu += d
	}
	return t
}

// BenchmarkRepeats compares three runs of a state that share what one of them built with three that do not, in turn: x-first is the one
// that builds, x-repeat the others, x-three all; x-cpu is the processor's time of a repeat's test command. MB is what the state takes that is kept.
func BenchmarkRepeats(b *testing.B) {
	s, tree, r := benchState(b)
	env, err := s.Prepare(b.Context(), r, tree)
	if err != nil {
		b.Fatal(err)
	}
	timedJob(b, s, env, tree, false)
	var alone, first, repeat taken
	add := func(to *taken, t taken) { to.wall, to.bare, to.cpu = to.wall+t.wall, to.bare+t.bare, to.cpu+t.cpu }
	n := 0
	for b.Loop() {
		n++
		for i := range 3 {
			add(&alone, timedJob(b, s, env, tree, false))
			t := timedJob(b, s, env, oneOf{tree, n}, true)
			if i == 0 {
				add(&first, t)
				continue
			}
			add(&repeat, t)
		}
	}
	ratio := func(name string, a, b2 time.Duration) { b.ReportMetric(a.Seconds()/b2.Seconds(), name) }
	ratio("x-first", 3*first.wall, alone.wall)
	ratio("x-repeat", 3*repeat.wall, 2*alone.wall)
	ratio("x-three", first.wall+repeat.wall, alone.wall)
	ratio("x-cpu", 3*repeat.cpu, 2*alone.cpu)
	b.ReportMetric(alone.wall.Seconds()/float64(3*n), "s-alone")
	b.ReportMetric(alone.cpu.Seconds()/float64(3*n), "cpu-s-alone")
	b.ReportMetric(float64(kept(b))/1e6/float64(n), "MB")
}

// oneOf is a tree that differs from others of the same files in its name only: each round builds anew.
type oneOf struct {
	replay.Tree
	n int
}

func (t oneOf) ID() string { return t.Tree.ID() + "#" + strconv.Itoa(t.n) }

// kept are the bytes of the states that are kept.
func kept(b *testing.B) (n int64) {
	b.Helper()
	e, err := images.Open(context.Background(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	list, err := e.List(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	for _, i := range list {
		if i.Kind == images.KindState {
			n += i.Own
		}
	}
	return n
}

// BenchmarkWarmRun compares a run in an environment that is there with the bare test command in the same container. It says how
// many times as long it takes, half a second aside, and how much longer.
func BenchmarkWarmRun(b *testing.B) {
	s, tree, r := benchState(b)
	env, err := s.Prepare(b.Context(), r, tree)
	if err != nil {
		b.Fatal(err)
	}
	timed(b, s, env, tree)
	var wall, bare time.Duration
	for b.Loop() {
		w, n := timed(b, s, env, tree)
		wall, bare = wall+w, bare+n
	}
	b.ReportMetric((wall-time.Duration(b.N)*time.Second/2).Seconds()/bare.Seconds(), "x-bare")
	b.ReportMetric((wall-bare).Seconds()/float64(b.N), "s-more")
	b.ReportMetric(bare.Seconds()/float64(b.N), "s-bare")
}

// BenchmarkColdState compares a state whose environment is there already, for another state shares it, with one that must build
// it: all of it (x-unshared), or only what it has beside others of its language (x-own, where a recipe has a base).
func BenchmarkColdState(b *testing.B) {
	s, tree, r := benchState(b)
	var all, own, shared time.Duration
	for b.Loop() {
		r = fresh(b, tree, r, true)
		all += cold(b, s, r, tree)
		shared += cold(b, s, r, tree)
		r = fresh(b, tree, r, false)
		own += cold(b, s, r, tree)
	}
	b.ReportMetric(shared.Seconds()/all.Seconds(), "x-unshared")
	b.ReportMetric(shared.Seconds()/own.Seconds(), "x-own")
	b.ReportMetric(shared.Seconds()/float64(b.N), "s-shared")
}

// fresh is the recipe of an environment that nobody has, and that is gone after the benchmark.
func fresh(b *testing.B, tree replay.Tree, r replay.Recipe, withBase bool) replay.Recipe {
	b.Helper()
	mark := strconv.FormatInt(time.Now().UnixNano(), 36)
	var err error
	if r.Base != nil && withBase {
		base := *r.Base
		base.Env = maps.Clone(base.Env)
		if base.Env == nil {
			base.Env = map[string]string{}
		}
		base.Env["SLUICE_BENCH"] = mark
		if base.Fingerprint, err = project.Fingerprint(b.Context(), tree, base); err != nil {
			b.Fatal(err)
		}
		r.Base = &base
	}
	r.Env = maps.Clone(r.Env)
	r.Env["SLUICE_BENCH"] = mark
	if r, err = tools.Seal(b.Context(), tree, r); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { forget(b, r) })
	return r
}

// forget removes the environments of a recipe.
func forget(b *testing.B, r replay.Recipe) {
	b.Helper()
	e, err := images.Open(context.Background(), "")
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	list, err := e.List(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(i images.Image) bool {
		return !strings.HasSuffix(i.Name, r.Fingerprint) && (r.Base == nil || !strings.HasSuffix(i.Name, r.Base.Fingerprint))
	})
	if _, err := e.Remove(context.Background(), list); err != nil {
		b.Error(err)
	}
}

func cold(b *testing.B, s replay.Sandbox, r replay.Recipe, tree replay.Tree) time.Duration {
	b.Helper()
	started := time.Now()
	env, err := s.Prepare(b.Context(), r, tree)
	if err != nil {
		b.Fatal(err)
	}
	timed(b, s, env, tree)
	return time.Since(started)
}

// benchState is the newest state, with its recipe.
func benchState(b *testing.B) (replay.Sandbox, replay.Tree, replay.Recipe) {
	b.Helper()
	s, err := docker.New(context.Background(), docker.Options{})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	h := benchRepo(b)
	tip, err := h.Mirror.Tip(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	tree, err := h.Tree(b.Context(), tip)
	if err != nil {
		b.Fatal(err)
	}
	r, err := tools.Detect(b.Context(), tree, tools.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s, tree, r
}
