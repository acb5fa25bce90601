package setup

import (
	"os"
	"path/filepath"
	"strings"
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

// real is a state of a real project, and what a model that knows it says.
type real struct {
	name      string // what the path of its clone holds
	repo      string
	at        string // the last change before this day; "": the newest
	paths     []string
	target    []string
	runner    string
	heuristic string // what comes of the heuristic recipe: part of the reason; "" if it is not asked
	lines     []string
	tests     int // at least
}

const (
	realVenv  = `python3 -m venv "$SLUICE_ENV/venv"`
	realTools = `"$VIRTUAL_ENV/bin/pip" install -q pytest 'flit_core>=3.4,<5'`
	editable  = `"$VIRTUAL_ENV/bin/pip" install -q --no-build-isolation --no-deps -e .`
	warmGo    = `GO111MODULE=off GOCACHE="$SLUICE_ENV/gocache" go list -e -export std > /dev/null`
)

func reals() []real {
	return []real{
		{
			name: "more-itertools", repo: "more-itertools/more-itertools", runner: "pytest", target: []string{"tests/test_recipes.py"}, tests: 100,
			lines: []string{
				sh("cat pyproject.toml tox.ini; ls tests"), sh("{acceptance}"), sh(realVenv), sh(realTools), sh(editable), sh("{acceptance} | tail -1"),
				agentstest.Says(Report{Reasoning: "It needs flit to be installed in place, and pytest.", Install: []string{realVenv, realTools, editable}, Build: []string{}, Env: []Var{}, Quote: "passed"}),
			},
		},
		{ // Its code is older than modules.
			name: "BurntSushi+toml", repo: "BurntSushi/toml", at: "2018-12-01", runner: "gotest", target: []string{"decode_test.go"}, tests: 30, heuristic: "older than modules",
			lines: []string{
				sh("ls; head -20 decode_test.go; go version"), sh("{acceptance}"), sh(warmGo), sh(`export GO111MODULE=off GOCACHE="$SLUICE_ENV/gocache"; {acceptance} | head -50`),
				agentstest.Says(Report{Reasoning: "Its code is older than modules and imports nothing.", Install: []string{warmGo}, Build: []string{}, Quote: `"Action":"run"`,
					Env: []Var{{"GO111MODULE", "off"}, {"GOCACHE", "$SLUICE_ENV/gocache"}}}),
			},
		},
	}
}

// TestRealRepository sets states of real projects up, with a scripted model, in both sandboxes. SLUICE_TEST_MIRROR lists their clones as
// paths do; each project takes the one that holds its name. It needs the network that building environments has.
func TestRealRepository(t *testing.T) {
	clones := filepath.SplitList(os.Getenv("SLUICE_TEST_MIRROR"))
	if len(clones) == 0 {
		t.Skip("SLUICE_TEST_MIRROR lists no clones")
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
	for _, p := range reals() {
		for _, clone := range clones {
			if strings.Contains(clone, p.name) {
				for _, box := range []replay.Opener{engine, host} {
					t.Run(p.name+"/"+box.Name(), func(t *testing.T) { p.setUp(t, clone, box) })
				}
			}
		}
	}
}

func (p real) setUp(t *testing.T, clone string, box replay.Opener) {
	tree := p.tree(t, clone)
	names, err := tools.Names(t.Context(), tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := &agentstest.Script{Lines: p.lines}
	s, err := New(Deps{Crew: agents.Crew{Sandbox: box, Asker: ask, Model: "m", Limits: agent.Limits{Turns: 9}}, Limits: replay.Limits{Wall: 10 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	q := Request{
		Once: agentstest.NewMemo().Once, Label: p.name, Tree: tree, Runner: p.runner, Target: replay.Target{Paths: p.target}, Self: operation.Self{Repo: p.repo, Names: names},
	}
	begun := time.Now()
	if p.heuristic != "" {
		if r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: p.paths}); err != nil {
			q.Why = err.Error()
		} else if trial, err := s.Accept(t.Context(), q, r); err != nil || trial.OK {
			t.Errorf("the heuristic recipe: %+v, %v", trial, err)
		} else {
			q.Recipe, q.Why = &r, trial.Reason+"\n"+trial.Install+trial.Log
		}
		if !strings.Contains(q.Why, p.heuristic) {
			t.Errorf("the heuristic recipe fails otherwise than by %q", p.heuristic)
		}
		t.Logf("the heuristic recipe: %.600s (after %v)", q.Why, time.Since(begun).Round(time.Second))
	}
	begun = time.Now()
	got, err := s.Find(t.Context(), q)
	if err != nil || !got.Accepted || got.Trials[0].Tests < p.tests {
		for _, turn := range got.Session.Transcript.Turns {
			t.Logf("turn %d %s %q %s: %+v", turn.N, turn.Kind, turn.Command, turn.Said, turn.Output)
		}
		t.Fatalf("%s, %v; findings %v; trials %+v", got.Reason, err, got.Findings, got.Trials)
	}
	t.Logf("%s after %v, uncanaried %q, findings %v, the agent left %+v", got.Reason, time.Since(begun).Round(time.Second), got.Trials[0].Uncanaried, got.Findings, got.Session.Changes)
}

// tree is the project's state.
func (p real) tree(t *testing.T, clone string) replay.Tree {
	m, err := gitrepo.Open(t.Context(), clone, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	h := history.New(m, "")
	changes, _, err := h.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := changes[len(changes)-1]
	for _, c := range changes {
		if p.at != "" && c.Committed.Format(time.DateOnly) < p.at {
			last = c
		}
	}
	tree, err := h.Tree(t.Context(), last.Head)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
