package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/pipeline/canary"
	"sluice/replay"
)

// maxCanaries is how many folders get tests of ours. One that sings is enough.
const maxCanaries = 8

// planted are our own tests among the project's: in each folder one that must pass and one that must fail.
type planted struct {
	word    string
	files   []replay.File
	targets []string // to be run beside the request's own
	pass    string   // names, the same in every folder
	fail    string
	// broken is a test file that cannot be loaded, in one of the folders. A tool that does not say so does not load tests.
	broken replay.File
	only   string // the path that runs it
	// unknown: nobody has written tests of ours for this test tool yet.
	unknown bool
}

// plant makes the tests of a request. Their names come from a digest that no recipe can hold: the recipe is in it.
func plant(ctx context.Context, q Request, r replay.Recipe) (planted, error) {
	sum := sha256.Sum256([]byte("canary\n" + r.Fingerprint + "\n" + q.Tree.ID()))
	p := planted{word: hex.EncodeToString(sum[:6])}
	files, err := testFiles(ctx, q.Tree, r)
	if err != nil {
		return p, fmt.Errorf("looking for test files: %w", err)
	}
	name := "test_zz" + p.word
	if r.Runner == "gotest" {
		name = "TestZz" + p.word
	}
	p.pass, p.fail = name+"a", name+"b"
	if sum[31]&1 == 1 {
		p.pass, p.fail = p.fail, p.pass
	}
	tests := []canary.Test{{Name: p.pass}, {Name: p.fail, Fails: true}}
	if p.fail < p.pass {
		slices.Reverse(tests)
	}
	switch r.Runner {
	case "gotest":
		p.golang(q, files, tests)
	case "pytest", "unittest":
		p.python(r.Runner, q, files, tests)
	default:
		p.unknown = true
	}
	return p, nil
}

// testFiles are the test files of the part of a tree that a recipe is for, by path.
func testFiles(ctx context.Context, t replay.Tree, r replay.Recipe) ([]replay.File, error) {
	var out []replay.File
	modules := map[string]bool{}
	prefix := ""
	if r.Root != "" && r.Root != "." {
		prefix = r.Root + "/"
	}
	err := t.Each(ctx, func(f replay.File) error {
		if path.Base(f.Path) == "go.mod" && path.Dir(f.Path) != path.Clean(r.Root) {
			modules[path.Dir(f.Path)+"/"] = true
		}
		ours := canary.Runnable(f.Path)
		if r.Runner == "gotest" {
			ours = canary.IsGo(f.Path) && !strings.Contains("/"+f.Path, "/vendor/") && !strings.Contains("/"+f.Path, "/_") && !strings.Contains("/"+f.Path, "/.")
		}
		if ours && strings.HasPrefix(f.Path, prefix) {
			out = append(out, f)
		}
		return nil
	})
	if r.Runner == "gotest" {
		out = slices.DeleteFunc(out, func(f replay.File) bool {
			for m := range modules {
				if m != prefix && len(m) > len(prefix) && strings.HasPrefix(f.Path, m) {
					return true
				}
			}
			return false
		})
	}
	return out, err
}

// golang plants in the folders of the target, or in any.
func (p *planted) golang(q Request, files []replay.File, tests []canary.Test) {
	all := canary.Folders(files)
	chosen := slices.DeleteFunc(slices.Clone(all), func(f canary.Folder) bool {
		return !slices.ContainsFunc(q.Target.Paths, func(t string) bool {
			return path.Clean(t) == f.Path || path.Dir(t) == f.Path && strings.HasSuffix(t, ".go")
		})
	})
	if len(chosen) == 0 {
		chosen = all
	}
	for _, f := range chosen[:min(len(chosen), maxCanaries)] {
		file := canary.Go(canary.GoFile(f.Path, p.word), f.Clause, tests...)
		p.files = append(p.files, file)
		if p.only == "" {
			p.only = f.Path + "/"
			p.broken = replay.File{Path: file.Path, Mode: 0o644, Data: []byte("package " + f.Clause + "\n\nvar _ = zz" + p.word + "\n")}
		}
	}
	if len(q.Target.Paths) > 0 {
		for _, f := range p.files {
			p.targets = append(p.targets, f.Path)
		}
	}
}

// python plants beside modules of the target, or beside any that pytest collects by itself.
func (p *planted) python(tool string, q Request, files []replay.File, tests []canary.Test) {
	var beside []string
	for _, t := range q.Target.Paths {
		if canary.Runnable(t) {
			beside = append(beside, path.Clean(t))
		}
	}
	named := len(beside) > 0
	for _, f := range files {
		if !named && canary.IsModule(f.Path) {
			beside = append(beside, f.Path)
		}
	}
	seen := map[string]bool{}
	for _, b := range beside {
		if dir := path.Dir(b); len(p.files) < maxCanaries && !seen[dir] {
			seen[dir] = true
			// Two modules of one name in two folders would be one for pytest.
			p.files = append(p.files, canary.Writer(tool)(canary.PythonFile(b, fmt.Sprint(p.word, len(p.files))), tests...))
		}
	}
	if len(beside) == 0 {
		return
	}
	p.breaks(beside[0])
	if named {
		for _, f := range p.files {
			p.targets = append(p.targets, f.Path)
		}
	}
}

// breaks chooses the module of Python that will not load.
func (p *planted) breaks(module string) {
	p.only = module
	p.broken = replay.File{Path: module, Mode: 0o644, Data: []byte("raise RuntimeError(\"zz" + p.word + "\")\n")}
}

// song is what a report says of planted tests.
type song string

// The songs. Silent ones were not reported as they had to be.
const (
	sings  song = "sings"
	forged song = "forged"
	silent song = "silent"
)

// hear reads what became of the planted tests, and takes them out of the report.
func (p planted) hear(report *replay.Report) song {
	type pair struct{ pass, fail replay.Outcome }
	pairs := map[string]pair{}
	heard := silent
	report.Tests = slices.DeleteFunc(slices.Clone(report.Tests), func(t replay.Test) bool {
		place, name, _ := strings.Cut(t.ID, "::")
		name = name[strings.LastIndex(name, ":")+1:] // of a test in a class
		got := pairs[place]
		switch name {
		case p.pass:
			got.pass = t.Outcome
		case p.fail:
			got.fail = t.Outcome
		default:
			return false
		}
		pairs[place] = got
		return true
	})
	report.Broken = maps.Clone(report.Broken)
	maps.DeleteFunc(report.Broken, func(place, _ string) bool { return strings.Contains(place, p.word) })
	for _, got := range pairs {
		switch {
		case got.fail == replay.Pass:
			return forged
		case got.fail == replay.Fail && got.pass == replay.Pass:
			heard = sings
		}
	}
	return heard
}

// blames reports whether a run tells of our tests as what went wrong.
func (p planted) blames(report replay.Report, log string) bool {
	if strings.Contains(log, p.word) {
		return true
	}
	for name, why := range report.Broken {
		if strings.Contains(name+why, p.word) {
			return true
		}
	}
	return false
}
