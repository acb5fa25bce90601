package setup

import (
	"os"
	"testing"
	"time"

	"sluice/judges/agent"
	"sluice/judges/operation"
	"sluice/miners/gitrepo"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/local"
	"sluice/replay/tools"
)

// TestRealRepository sets up the newest state of a clone of more-itertools, which SLUICE_TEST_MIRROR names, with a scripted model, in
// both sandboxes. It needs the network that building environments has.
func TestRealRepository(t *testing.T) {
	mirror := os.Getenv("SLUICE_TEST_MIRROR")
	if mirror == "" {
		t.Skip("SLUICE_TEST_MIRROR names no clone of more-itertools")
	}
	m, err := gitrepo.Open(t.Context(), mirror, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := history.New(m, "")
	changes, _, err := h.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := h.Tree(t.Context(), changes[len(changes)-1].Head)
	if err != nil {
		t.Fatal(err)
	}
	names, err := tools.Names(t.Context(), tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := docker.New(t.Context(), docker.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer engine.Close()
	host, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	const (
		venv    = `python3 -m venv "$SLUICE_ENV/venv"`
		tools   = `"$VIRTUAL_ENV/bin/pip" install -q pytest 'flit_core>=3.4,<5'`
		project = `"$VIRTUAL_ENV/bin/pip" install -q --no-build-isolation --no-deps -e .`
	)
	for _, box := range []replay.Opener{host, engine} {
		t.Run(box.Name(), func(t *testing.T) {
			ask := &agentstest.Script{Lines: []string{
				sh("cat pyproject.toml tox.ini; ls tests"), sh("{acceptance}"), sh(venv), sh(tools), sh(project), sh("{acceptance} | tail -1"),
				agentstest.Says(Report{Reasoning: "It needs flit to be installed in place, and pytest.", Install: []string{venv, tools, project}, Build: []string{}, Env: []Var{}, Quote: "passed"}),
			}}
			s, err := New(Deps{Crew: agents.Crew{Sandbox: box, Asker: ask, Model: "m", Limits: agent.Limits{Turns: 9}}, Limits: replay.Limits{Wall: 10 * time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			got, err := s.Find(t.Context(), Request{
				Once: agentstest.NewMemo().Once, Label: "more-itertools", Tree: tree, Runner: "pytest", Target: replay.Target{Paths: []string{"tests/test_recipes.py"}},
				Self: operation.Self{Repo: "more-itertools/more-itertools", Names: names},
			})
			if err != nil || !got.Accepted || got.Trials[0].Tests < 100 {
				t.Fatalf("%+v, %v", got, err)
			}
			t.Logf("%s after %v, findings %v, the agent left %+v", got.Reason, time.Since(begun).Round(time.Second), got.Findings, got.Session.Changes)
		})
	}
}
