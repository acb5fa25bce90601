package release

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/store"
)

// ledger is a store in memory.
type ledger struct {
	candidates []store.Candidate
	evidence   map[string]string // candidate -> digest
	blobs      map[string][]byte
	marks      map[string]string
	releases   []store.Release
}

func newLedger() *ledger {
	return &ledger{evidence: map[string]string{}, blobs: map[string][]byte{}, marks: map[string]string{}}
}

func (l *ledger) admit(t *testing.T, inst pipeline.Instance) {
	t.Helper()
	id := fmt.Sprintf("cand-%02d", len(l.candidates))
	l.candidates = append(l.candidates, store.Candidate{
		ID: id, Family: inst.Family, Repo: inst.Repo, Position: store.Position{State: store.Admitted, Stage: "assemble"},
	})
	b, err := json.Marshal(inst)
	if err != nil {
		t.Fatal(err)
	}
	l.evidence[id] = digestOf(b)
	l.blobs[digestOf(b)] = b
}

func (l *ledger) end(state store.State, stage, code string) {
	l.candidates = append(l.candidates, store.Candidate{
		ID: fmt.Sprintf("cand-%02d", len(l.candidates)), Family: "foresight", Repo: "o/r",
		Position: store.Position{State: state, Stage: stage, Code: code},
	})
}

func (l *ledger) Candidates(_ context.Context, f store.Filter) ([]store.Candidate, error) {
	var out []store.Candidate
	for _, c := range l.candidates {
		if f.Family == "" || f.Family == c.Family {
			out = append(out, c)
		}
	}
	return out, nil
}

func (l *ledger) LatestEvidence(_ context.Context, candidate, name string) (store.Evidence, bool, error) {
	d, ok := l.evidence[candidate]
	if name != pipeline.InstanceEvidence {
		ok = false
	}
	return store.Evidence{Name: name, Digest: d}, ok, nil
}

func (l *ledger) Get(_ context.Context, digest string) ([]byte, error) {
	b, ok := l.blobs[digest]
	if !ok {
		return nil, store.ErrNotFound
	}
	return b, nil
}

func (l *ledger) Put(_ context.Context, b []byte) (string, error) {
	l.blobs[digestOf(b)] = b
	return digestOf(b), nil
}

func (l *ledger) Mark(_ context.Context, name string) (string, bool, error) {
	v, ok := l.marks[name]
	return v, ok, nil
}

func (l *ledger) Releases(context.Context) ([]store.Release, error) { return l.releases, nil }

func (l *ledger) PutRelease(_ context.Context, r store.Release) error {
	l.releases = append(l.releases, r)
	return nil
}

// clock is the tests' time.
func clock() time.Time { return time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC) }

// goInstance is a Go instance with everything that an export has to take care of.
func goInstance(id string) pipeline.Instance {
	return pipeline.Instance{
		ID: id, Family: "foresight", Repo: "o/r", Language: "Go", Base: "b1b1b1", CreatedAt: "2024-05-06T07:08:09Z",
		Statement: "Add a limit.\u0085It must hold\u2028for <all> callers.",
		Patch:     pipeline.Text("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-package b\r\n+package a\r\n"),
		Recipe: replay.Recipe{
			Runner: "gotest", Image: "golang:1.22", Env: map[string]string{"GOFLAGS": "-mod=mod", "GOCACHE": "{env}/cache", "X": "it's"},
			Build: []replay.Step{{Name: "build", Args: []string{"go", "build", "./..."}, Env: map[string]string{"CGO_ENABLED": "0"}}},
		},
		Checks: []pipeline.Check{
			{
				Name: "task", Resolves: true, Target: []string{"a_test.go", "sub/b_test.go"},
				Files: []pipeline.OverlayFile{
					{Path: "a_test.go", Mode: "100644", Data: pipeline.Text("package a\r\n\n// no final newline")},
					{Path: "sub/b_test.go", Mode: "100644", Data: pipeline.Text("package sub\nEOF_114329324912\n")},
					{Path: "testdata/bin", Mode: "100755", Data: pipeline.Text("\x00\xff")},
					{Path: "testdata/empty", Mode: "100644"},
					{Path: "testdata/link", Mode: "120000", Data: pipeline.Text("bin")},
					{Path: "testdata/mark er", Mode: "100644", Data: pipeline.Text(": '>>>>> End Test Output'\n")},
				},
				Remove:     []string{"old_test.go"},
				FailToPass: []string{"example.com/m::TestLimit", "example.com/m::TestLimit/zero", "example.com/m/sub::TestSame"},
				PassToPass: []string{"example.com/m/sub::TestKeep", "example.com/m::TestSame"},
			},
			{
				Name: "anticipation", Target: []string{"a_test.go"},
				Files:      []pipeline.OverlayFile{{Path: "a_test.go", Mode: "100644", Data: pipeline.Text("package a\n")}},
				FailToPass: []string{"example.com/m::TestNegative"}, PassToPass: []string{},
			},
		},
		Task:    pipeline.Side{Number: 12, Base: "b1b1b1", Head: "h1h1h1", TestPatch: pipeline.Text("diff --git a/a_test.go b/a_test.go\n")},
		Fix:     pipeline.Side{Number: 15, Base: "b2b2b2", Head: "h2h2h2", TestPatch: pipeline.Text("diff --git a/a_test.go b/a_test.go\n")},
		Link:    json.RawMessage(`{"method":"testimony","quote":"broken by #12\u2029"}`),
		Labels:  map[string]string{"achievable": "proven", "judged": "panel"},
		Gold:    pipeline.Text("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-package b\r\n+package a // gold\r\n"),
		Repeats: 3, Flaky: []string{"example.com/m::TestClock"},
	}
}

// pyInstance is a Python instance.
func pyInstance(id string) pipeline.Instance {
	inst := goInstance(id)
	inst.Repo, inst.Language, inst.Recipe = "p/q", "Python", replay.Recipe{Runner: "pytest", Image: "python:3.11"}
	inst.Labels = map[string]string{"achievable": "unknown", "judged": "rules"}
	inst.Gold, inst.Flaky = nil, nil
	inst.Checks = []pipeline.Check{{
		Name: "task", Resolves: true, Target: []string{"tests/test_a.py"},
		Files: []pipeline.OverlayFile{{Path: "tests/test_a.py", Mode: "100644", Data: pipeline.Text("def test_a(): pass\n")}},
		FailToPass: []string{
			"tests/test_a.py::test_a", "tests/test_a.py::test_p[10m]", "tests/test_a.py::test_p[20m]", "tests/test_a.py::test_q[a  b]",
		},
		PassToPass: []string{"tests/test_a.py::test_q[unit 'deg' \\(x\\)]"},
	}}
	return inst
}
