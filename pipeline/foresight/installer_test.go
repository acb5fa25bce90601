package foresight

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/setup"
	"sluice/replay"
	"sluice/store"
)

// barren is a sandbox in which only an agent's recipes install, or all.
type barren struct{ installs bool }

func (barren) Name() string { return "barren" }
func (barren) Close() error { return nil }
func (barren) Run(context.Context, replay.Job) (replay.Result, error) {
	return replay.Result{}, nil
}

func (b barren) Prepare(_ context.Context, r replay.Recipe, _ replay.Tree) (replay.Env, error) {
	if !b.installs {
		return replay.Env{}, &replay.InstallError{Step: replay.StepResult{Name: "requirements", Stop: replay.Exited, ExitCode: 1}, Log: "No matching distribution\n"}
	}
	return replay.Env{Recipe: r, Sandbox: "barren"}, nil
}

// installer is an agent that finds a recipe, or none.
type installer struct {
	finds, runs bool // what Find and Accept say
	asked       []setup.Request
	setting     string
}

func (i *installer) Settings() any { return i.setting }

func (i *installer) Accept(context.Context, setup.Request, replay.Recipe) (setup.Trial, error) {
	return setup.Trial{OK: i.runs, Reason: "no test ran", Log: "no module named x"}, nil
}

func (i *installer) Find(_ context.Context, q setup.Request) (setup.Result, error) {
	i.asked = append(i.asked, q)
	return setup.Result{Accepted: i.finds, Reason: "gave up", Recipe: replay.Recipe{Runner: q.Runner, Fingerprint: "agent"}}, nil
}

// agentPair is a fix that names its introducer, in Python, or in JavaScript without a package.
func agentPair(t *testing.T, ext string) string {
	t.Helper()
	head := `
commit root "Begin"
commit intro "Count things"
`
	file := func(commit, path, n string) string { return "-- " + commit + "/" + path + ext + " --\nx = " + n + "\n" }
	archive := "-- root/README.md --\nx\n" + file("root", "lib/core", "1") + file("root", "tests/old_test", "1") +
		file("intro", "lib/core", "2") + file("intro", "tests/new_test", "2")
	id := gittest.Build(t, head+archive).IDs["intro"]
	return head + `commit fix "Count zero things\n\nFixes: ` + id + `"` + "\n" + archive + file("fix", "lib/core", "3") + file("fix", "tests/new_test", "3")
}

func TestInstaller(t *testing.T) {
	t.Parallel()
	four := []string{"h2", "b2", "h1", "b1"}
	for _, tt := range []struct {
		name     string
		ext      string
		installs bool
		agent    *installer
		code     string
		reason   string
		asked    []string
		recipe   string // fingerprint of h2's, "": the heuristic one
	}{
		{"nobody to ask", ".py", false, nil, "install-failed", "h2: installing: step requirements exited", nil, ""},
		{"an agent finds one", ".py", false, &installer{finds: true, runs: true}, "", "", four, "agent"},
		{"an agent gives up", ".py", false, &installer{}, "install-failed", "; the agent: gave up", four[:1], ""},
		{"no heuristic, nobody to ask", ".js", true, nil, "no-recipe", "no JavaScript package", nil, ""},
		{"no heuristic, an agent", ".js", true, &installer{finds: true, runs: true}, "", "", four, "agent"},
		{"the heuristic runs tests", ".py", true, &installer{finds: true, runs: true}, "", "", nil, ""},
		{"the heuristic runs no test", ".py", true, &installer{finds: true}, "", "", four, "agent"},
		{"nor does anything that the agent finds", ".py", true, &installer{}, "", "", four, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, agentPair(t, tt.ext), "environment")
			run := func() pipeline.Summary {
				d := Deps{History: l.h, Repo: "o/r", Sandbox: barren{tt.installs}}
				if tt.agent != nil {
					d.Setup = tt.agent
				}
				f := New(d, Settings{})
				f.Stages = through(f, "environment")
				s, err := pipeline.New(l.store, pipeline.Options{Owner: "test"}).Run(t.Context(), f, "o/r")
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			run()
			c := l.candidate(t, "fix")
			if c.Code != tt.code || !strings.Contains(c.Reason, tt.reason) || c.State == store.Failed {
				t.Fatalf("ended %s %q: %s", c.State, c.Code, c.Reason)
			}
			if tt.agent == nil {
				return
			}
			l.wantSetups(t, c, tt.agent, tt.asked, tt.recipe)
			n := len(tt.agent.asked)
			tt.agent.setting = "other"
			if s := run(); s.Ran == 0 || len(tt.agent.asked) != 2*n {
				t.Errorf("with other settings %d attempts ran, %d questions", s.Ran, len(tt.agent.asked)-n)
			}
		})
	}
}

func (l lab) candidate(t *testing.T, name string) store.Candidate {
	t.Helper()
	all, err := l.store.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(c store.Candidate) bool {
		p, err := Decode(c)
		return err == nil && l.Name(p.Fix.Head) == name
	})
	if i < 0 {
		t.Fatalf("no candidate for %s", name)
	}
	return all[i]
}

// wantSetups checks what the agent was asked, and what is kept of it.
func (l lab) wantSetups(t *testing.T, c store.Candidate, a *installer, asked []string, recipe string) {
	t.Helper()
	var got []string
	for i, q := range a.asked {
		state, _, _ := strings.Cut(q.Label, " ")
		got = append(got, state)
		want := 0
		if a.finds {
			want = i
		}
		if len(q.Hints) != want || q.Charge.Candidate != c.ID || q.Charge.Stage != "environment" || q.Self.Repo != "o/r" || q.Tree == nil || q.Once == nil {
			t.Errorf("asked with %+v", q)
		}
		if state == "b1" && len(q.Target.Paths) != 0 || state == "h1" && len(q.Target.Paths) != 1 {
			t.Errorf("%s: the tests are %q", state, q.Target.Paths)
		}
	}
	if d := cmp.Diff(asked, got); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
	var env Environment
	l.evidence(t, c, evEnvironment, &env)
	if recipe != "" && env.Recipes["h2"].Fingerprint != recipe || c.Code == "" && (env.Recipes["h2"].Runner == "" || env.Failed != "") {
		t.Errorf("the environment is %+v", env)
	}
	if len(asked) > 0 {
		var kept Setups
		if l.evidence(t, c, evSetups, &kept); len(kept) != len(asked) {
			t.Errorf("%d setups are kept", len(kept))
		}
	}
}

func (l lab) evidence(t *testing.T, c store.Candidate, name string, v any) {
	t.Helper()
	ev, ok, err := l.store.LatestEvidence(t.Context(), c.ID, name)
	if err != nil || !ok {
		t.Fatalf("evidence %s: %v, %v", name, ok, err)
	}
	b, err := l.store.Get(t.Context(), ev.Digest)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// climber installs only with a Debian package, which the workflow of later changes names.
type climber struct{ barren }

func (climber) Name() string { return "docker" }

func (climber) Prepare(_ context.Context, r replay.Recipe, _ replay.Tree) (replay.Env, error) {
	if slices.Contains(r.Install[0].Args, "libx-dev") {
		return replay.Env{Recipe: r, Sandbox: "docker", Digest: "sha256:1", Log: "== requirements\nx==1.0\n"}, nil
	}
	return replay.Env{}, &replay.InstallError{Step: replay.StepResult{Name: "requirements", Stop: replay.Exited, ExitCode: 1}, Log: "x.h: no such file\n"}
}

func (climber) Run(_ context.Context, j replay.Job) (replay.Result, error) {
	report := `<testsuites><testsuite name="pytest" tests="1"><testcase classname="tests.old_test" name="test_a" file="tests/old_test.py"/></testsuite></testsuites>`
	return replay.Result{Steps: []replay.StepResult{{Name: "test", Stop: replay.Exited}}, Files: map[string][]byte{"junit.xml": []byte(report)}}, nil
}

// TestClimb: what heuristics cannot install, a workflow's words or a neighbour's recipe may; how is evidence, and the fix's head is run once.
func TestClimb(t *testing.T) {
	t.Parallel()
	const ci = "/.github/workflows/ci.yml --\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: apt-get install -y libx-dev && pytest}]}}\n"
	l := newLab(t, agentPair(t, ".py")+"-- fix"+ci, "environment")
	f := New(Deps{History: l.h, Repo: "o/r", Sandbox: climber{}}, Settings{})
	f.Stages = through(f, "environment")
	if _, err := pipeline.New(l.store, pipeline.Options{Owner: "test"}).Run(t.Context(), f, "o/r"); err != nil {
		t.Fatal(err)
	}
	c := l.candidate(t, "fix")
	if c.Code != "" || c.State == store.Failed {
		t.Fatalf("ended %s %q: %s", c.State, c.Code, c.Reason)
	}
	var climbs Climbs
	l.evidence(t, c, evClimbs, &climbs)
	got := map[string]string{}
	for state, tries := range climbs {
		for _, try := range tries {
			got[state] += try.Rung + " " + try.Provenance + " " + string(try.Result) + "; "
		}
	}
	const borrowed = "heuristic  install-failed; dated  install-failed; neighbour fallback works; "
	want := map[string]string{"b1": borrowed, "h1": borrowed, "b2": borrowed, "h2": "heuristic  install-failed; workflow original works; "}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("climbs (-want +got):\n%s", d)
	}
	var env Environment
	l.evidence(t, c, evEnvironment, &env)
	var have map[string]Installed
	l.evidence(t, c, evInstalled, &have)
	for _, s := range states {
		if d := cmp.Diff(Installed{env.Recipes[s].Fingerprint, "sha256:1", "== requirements\nx==1.0"}, have[s]); d != "" {
			t.Errorf("what %s has (-want +got):\n%s", s, d)
		}
	}
	if env.Failed != "" || !slices.Contains(env.Recipes["b1"].Install[0].Args, "libx-dev") {
		t.Errorf("the environment is %+v", env)
	}
}
