package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/pipeline"
	"sluice/pipeline/release"
	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/sandboxtest"
)

// files is a state in memory; a name that ends in "*" is executable, one that ends in "@" a symbolic link.
type files map[string]string

func (f files) tree() []replay.File {
	var out []replay.File
	for name, text := range f {
		file := replay.File{Path: name, Mode: 0o644, Data: []byte(text)}
		if p, ok := strings.CutSuffix(name, "*"); ok {
			file.Path, file.Mode = p, 0o755
		}
		if p, ok := strings.CutSuffix(name, "@"); ok {
			file.Path, file.Mode = p, fs.ModeSymlink|0o777
		}
		out = append(out, file)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

func (f files) ID() string { return fmt.Sprint(len(f)) }

func (f files) Each(_ context.Context, visit func(replay.File) error) error {
	for _, file := range f.tree() {
		if err := visit(file); err != nil {
			return err
		}
	}
	return nil
}

func (f files) Select(ctx context.Context, pick func(replay.File) bool, visit func(replay.File) error) error {
	return sandboxtest.Select(ctx, f, pick, visit)
}

func (f files) ReadFile(_ context.Context, path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// sandbox is one whose code is words in src.txt: what a model wrote there happens. It lays trees and overlays as a real
// one does and keeps the state's files for the runner.
type sandbox struct {
	mu   sync.Mutex
	runs int
	down bool // the machinery is out of order
}

func (s *sandbox) Name() string { return "fake" }

func (s *sandbox) Prepare(_ context.Context, r replay.Recipe, _ replay.Tree) (replay.Env, error) {
	if r.Image == "gone" {
		return replay.Env{}, fmt.Errorf("preparing: %w: gone", docker.ErrNoImage)
	}
	return replay.Env{Recipe: r, Sandbox: "fake", Digest: "sha256:env"}, nil
}

func (s *sandbox) Run(ctx context.Context, j replay.Job) (replay.Result, error) {
	s.mu.Lock()
	s.runs++
	down := s.down
	s.mu.Unlock()
	res := replay.Result{Files: map[string][]byte{}, Conditions: replay.Conditions{Memory: 64 << 20}}
	if err := j.Tree.Each(ctx, func(f replay.File) error { res.Files[f.Path] = f.Data; return nil }); err != nil {
		return res, err
	}
	for _, o := range j.Overlays {
		for _, p := range o.Remove {
			delete(res.Files, p)
		}
		for _, f := range o.Files {
			res.Files[f.Path] = f.Data
		}
	}
	if down || strings.Contains(string(res.Files["src.txt"]), "BREAKS-DOWN") {
		return replay.Result{}, errors.New("the daemon is gone")
	}
	res.Steps = []replay.StepResult{{Name: "test", Stop: replay.Exited, Stdout: []byte("ran " + j.Name + "\n")}}
	return res, nil
}

func (s *sandbox) Close() error { return nil }

// tool is a test tool for sandbox: a line "test NAME WORD" of a test file is a test that passes if src.txt has the word.
type tool struct{}

func (tool) Name() string { return "pytest" }

func (tool) Steps(replay.Recipe, replay.Target) []replay.Step { return nil }

var testLine = regexp.MustCompile(`(?m)^test (\S+) (\S+)$|^def (\w+)\(`)

func (tool) Parse(_ replay.Recipe, _ replay.Target, res replay.Result) replay.Report {
	src := string(res.Files["src.txt"])
	rep := replay.Report{BuildSource: replay.OK, BuildTests: replay.OK, RunTests: replay.OK, Stop: replay.Exited}
	switch {
	case strings.Contains(src, "HANGS"):
		rep.Stop = replay.Timeout
	case strings.Contains(src, "EATS"):
		rep.Stop = replay.OOM
	case strings.Contains(src, "CONTRADICTS"):
		rep.Inconsistent = "exit code 0 in spite of failures"
	case strings.Contains(src, "NO-SOURCE"):
		rep.BuildSource, rep.Broken = replay.Failed, map[string]string{"src.txt": "syntax error"}
		return rep
	case strings.Contains(src, "NO-TESTS"):
		rep.BuildTests = replay.Failed
		return rep
	case strings.Contains(src, "NOTHING"):
		return rep
	}
	for path, data := range res.Files {
		for _, m := range testLine.FindAllStringSubmatch(string(data), -1) {
			rep.Tests = append(rep.Tests, outcome(src, path, m)...)
		}
	}
	sort.Slice(rep.Tests, func(i, j int) bool { return rep.Tests[i].ID < rep.Tests[j].ID })
	return rep
}

// outcome is what becomes of one test line.
func outcome(src, path string, m []string) []replay.Test {
	t := replay.Test{ID: path + "::" + m[1] + m[3], Outcome: replay.Fail}
	canary := m[3] != ""
	switch {
	case strings.Contains(src, "FORGES-ALL"), strings.Contains(src, "FORGES-KNOWN") && !canary:
		t.Outcome = replay.Pass
	case strings.Contains(src, "LOSES") && canary, strings.Contains(src, "DROPS-"+m[1]) && !canary:
		return nil
	case strings.Contains(src, "SKIPS-CANARY") && canary, strings.Contains(src, "SKIPS-"+m[1]) && !canary:
		t.Outcome = replay.Skip
	case !canary && strings.Contains(src, m[2]):
		t.Outcome = replay.Pass
	}
	return []replay.Test{t}
}

// patchTo is a patch that rewrites src.txt of the fixture.
func patchTo(text string) []byte {
	return []byte("diff --git a/src.txt b/src.txt\n--- a/src.txt\n+++ b/src.txt\n@@ -1 +1 @@\n-v1\n+" + text + "\n")
}

func baseFiles() files {
	return files{"src.txt": "v1\n", "tests/test_old.py": "test test_old v1\n", "README.md": "read\n"}
}

// instance is solved by "v2" for the task, and by "v2 careful" for everything.
func instance(id string) pipeline.Instance {
	file := func(text string) []pipeline.OverlayFile {
		return []pipeline.OverlayFile{{Path: "tests/test_a.py", Mode: "100644", Data: pipeline.Text(text)}}
	}
	return pipeline.Instance{
		ID: id, Family: "foresight", Repo: "o/r", Language: "Python", Base: "b1",
		Patch: patchTo("v2"), Gold: patchTo("v2 careful"), Labels: map[string]string{"mechanism": "regression"},
		Recipe: replay.Recipe{Runner: "pytest", Fingerprint: "fp"}, Task: pipeline.Side{Number: 12, Head: "h1"},
		Checks: []pipeline.Check{
			{
				Name: "task", Resolves: true, Target: []string{"tests/test_a.py"},
				Files:      file("test test_new v2\ntest test_keep v\n"),
				FailToPass: []string{"tests/test_a.py::test_new"}, PassToPass: []string{"tests/test_a.py::test_keep"},
			},
			{
				Name: "anticipation", Target: []string{"tests/test_a.py"}, Files: file("test test_edge careful\ntest test_hard very-careful|careful\n"),
				FailToPass: []string{"tests/test_a.py::test_edge"},
			},
		},
	}
}

// fixture is a release in memory and the options to evaluate on it.
func fixture(t testing.TB, insts ...pipeline.Instance) (Options, *sandbox) {
	rel := &release.Release{
		Digest: "sha256:release", Manifest: release.Manifest{Name: "first", Family: "foresight"}, Instances: insts, Lines: map[string]string{},
	}
	for _, inst := range insts {
		rel.Lines[inst.ID] = "line of " + inst.ID
	}
	s := &sandbox{}
	var mu sync.Mutex
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	return Options{
		Release: rel, Sandbox: s, Out: t.TempDir(), Workers: 2,
		Tree: func(_ context.Context, repo, commit string) (replay.Tree, error) {
			if repo != "o/r" || commit != "b1" && commit != "h1" {
				return nil, fmt.Errorf("no commit %s in %s", commit, repo)
			}
			return baseFiles(), nil
		},
		Runner: func(string) (replay.Runner, error) { return tool{}, nil },
		Clock: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Second)
			return now
		},
	}, s
}
