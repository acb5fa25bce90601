package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
	"sluice/replay/tools"
)

// tool is an installing command that puts a program in the test tool's place.
func tool(script string) string {
	return makeVenv + ` && cat > "$(ls -d $VIRTUAL_ENV/lib/python3*/site-packages)/pytest.py" <<'END'
import os, re, sys
out = [a.split("=", 1)[1] for a in sys.argv if a.startswith("--junit")][0]
paths = [a for a in sys.argv[1:] if a.endswith(".py")]
def say(cases, broken=""):
    os.makedirs(os.path.dirname(out), exist_ok=True)
    t = "test" + "case"
    s = "test" + "suite"
    body = "".join('<%s classname="%s" name="%s" file="%s">%s</%s>' % (t, p[:-3].replace("/", "."), n, p, f, t) for p, n, f in cases)
    open(out, "w").write("<%ss><%s>%s%s</%s></%ss>" % (s, s, body, broken.replace("CASE", t), s, s))
    bad = [c for c in cases if c[2]] or broken
    print("=== %d %s in 0.01s ===" % (len(cases), "failed" if bad else "passed"))
    sys.exit(1 if bad else 0)
` + script + "\nEND"
}

// TestForgedTools: a program in the test tool's place that names real tests and agrees with its exit code is found out.
func TestForgedTools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, reason string }{
		"one real test":             {`say([("tests/test_shop.py", "test_price", "")])`, "nor is a file that cannot be loaded"},
		"one that fails":            {`say([("tests/test_shop.py", "test_price", "<failure/>")])`, "nor is a file that cannot be loaded"},
		"all that it can read pass": {`say([(p, n, "") for p in paths for n in re.findall(r"def (test_\w+)", open(p).read())])`, "a test of ours that must fail passed"},
		"all that it can read fail": {`say([(p, n, "<failure/>") for p in paths for n in re.findall(r"def (test_\w+)", open(p).read())])`, "nor is a file that cannot be loaded"},
		"ours are said to break":    {`say([("tests/test_shop.py", "test_price", "")], "".join('<CASE classname="" name="%s"><error message="collection failure">x</error></CASE>' % p for p in paths if "zz" in p))`, "nor is a file that cannot be loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newSetup(t, agentstest.Local(t, ""), "")
			q := request(t, agentstest.NewMemo())
			got, _, err := s.try(t.Context(), q, assemble(q.start(), Report{Install: []string{tool(tt.script)}}))
			if err != nil || got.OK || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%+v, %v; want %q", got, err, tt.reason)
			}
		})
	}
}

// TestUncanaried: where a project's settings leave our tests out or break them, the recipe counts, and its notes say so.
func TestUncanaried(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][2]string{
		"other names":       {`if not k.startswith("test_"): continue`, `if k not in ("test_price", "test_later"): continue`},
		"a fixture for all": {`getattr(mod, k)(); passed`, `assert "zz" not in k; getattr(mod, k)(); passed`},
		"not collected":     {`    name = p[:-3]`, "    if 'zz' in p:\n        bad += 1; cases.append('<testcase classname=\"\" name=\"%s\" time=\"0\"><error message=\"collection failure\">%s</error></testcase>' % (p, p)); continue\n    name = p[:-3]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			odd := strings.Replace(agentstest.TinyPytest, edit[0], edit[1], 1)
			if odd == agentstest.TinyPytest {
				t.Fatal("the test tool is as it was")
			}
			s, _ := newSetup(t, agentstest.Local(t, ""), "")
			q := request(t, agentstest.NewMemo())
			q.Tree = sandboxtest.NewTree("odd", append(q.Tree.(*sandboxtest.Tree).Files[:5:5], agentstest.Wheel(t, "pytest", "8.0", odd))...)
			got, sealed, err := s.try(t.Context(), q, assemble(q.start(), Report{Install: []string{makeVenv, install}}))
			if err != nil || !got.OK || got.Tests != 2 || got.Uncanaried == "" || !strings.HasPrefix(sealed.Notes[len(sealed.Notes)-1], "uncanaried: ") {
				t.Errorf("%+v, notes %q, %v", got, sealed.Notes, err)
			}
		})
	}
}

func goFiles() []replay.File {
	return []replay.File{
		sandboxtest.Text("a/a.go", "package a\n"), sandboxtest.Text("a/a_test.go", "package a_test\n"), sandboxtest.Text("a/testdata/x_test.go", "package x\n"),
		sandboxtest.Text("cmd/main.go", "package main\n\nfunc main() {}\n"), sandboxtest.Text("cmd/main_test.go", "package main\n"), sandboxtest.Text("go.mod", "module example.org/m\n\ngo 1.21\n"),
		sandboxtest.Text("tools/go.mod", "module example.org/tools\n"), sandboxtest.Text("tools/t_test.go", "package t\n"), sandboxtest.Text("vendor/v/v_test.go", "package v\n"),
	}
}

// TestPlantGo: the go command runs what is planted, beside both kinds of packages, with the outcomes that are wanted.
func TestPlantGo(t *testing.T) {
	t.Parallel()
	q := Request{Tree: sandboxtest.NewTree("go", goFiles()...)}
	r := replay.Recipe{Runner: "gotest", Module: "example.org/m", Fingerprint: "f"}
	p, err := plant(t.Context(), q, r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.files {
		got = append(got, filepath.Dir(f.Path))
	}
	if d := cmp.Diff([]string{"a", "cmd"}, got); d != "" || p.targets != nil || p.only != "a/" {
		t.Errorf("%+v (-want +got):\n%s", p, d)
	}
	q.Target.Paths = []string{"cmd/main_test.go"}
	if one, err := plant(t.Context(), q, r); err != nil || len(one.files) != 1 || len(one.targets) != 1 || !strings.HasPrefix(one.files[0].Path, "cmd/") {
		t.Errorf("%+v, %v", one, err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	run := func(files ...replay.File) string {
		dir := t.TempDir()
		for _, f := range append(goFiles(), files...) {
			name := filepath.Join(dir, f.Path)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(goTool, "test", "-mod=mod", "-v", "./a", "./cmd")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	out := run(p.files...)
	if strings.Count(out, "--- PASS: "+p.pass) != 2 || strings.Count(out, "--- FAIL: "+p.fail) != 2 {
		t.Errorf("the go command says:\n%s", out)
	}
	if out := run(p.broken); !strings.Contains(out, "undefined: zz"+p.word) {
		t.Errorf("of a broken file the go command says:\n%s", out)
	}
}

func TestPlantPython(t *testing.T) {
	t.Parallel()
	tree := sandboxtest.NewTree("py", sandboxtest.Text("a/test_x.py", ""), sandboxtest.Text("a/test_y.py", ""), sandboxtest.Text("b/z_test.py", ""), sandboxtest.Text("c/tests.py", ""), sandboxtest.Text("sub/test_s.py", ""))
	for _, tt := range []struct {
		name, root string
		target     []string
		want       []string // folders and endings
	}{
		{"everything", "", nil, []string{"a/test_zz", "b/zz", "sub/test_zz"}},
		{"a part", "sub", nil, []string{"sub/test_zz"}},
		{"named", "", []string{"b/z_test.py", "README"}, []string{"b/zz"}},
		{"named otherwise", "", []string{"c/tests.py"}, []string{"c/test_zz"}},
		{"no module is named", "", []string{"a/data.txt"}, []string{"a/test_zz", "b/zz", "sub/test_zz"}},
	} {
		p, err := plant(t.Context(), Request{Tree: tree, Target: replay.Target{Paths: tt.target}}, replay.Recipe{Runner: "pytest", Root: tt.root})
		var got []string
		for _, f := range p.files {
			before, _, _ := strings.Cut(f.Path, p.word)
			got = append(got, before)
		}
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
		if named := strings.HasPrefix(tt.name, "named"); named != (len(p.targets) > 0) {
			t.Errorf("%s: targets %q", tt.name, p.targets)
		}
	}
	a, _ := plant(t.Context(), Request{Tree: tree}, replay.Recipe{Fingerprint: "a"})
	b, _ := plant(t.Context(), Request{Tree: tree}, replay.Recipe{Fingerprint: "b"})
	if a.word == b.word {
		t.Error("two recipes have the same tests of ours: one could know the other's")
	}
}

// TestPlantUnittest: the planted modules of unittest load and have the outcomes that are wanted.
func TestPlantUnittest(t *testing.T) {
	t.Parallel()
	old := sandboxtest.Text("tests/test_old.py", "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_old(self):\n        pass\n")
	tree := sandboxtest.NewTree("unit", old)
	r := replay.Recipe{Runner: "unittest", Fingerprint: "f"}
	p, err := plant(t.Context(), Request{Tree: tree}, r)
	if err != nil || p.unknown || len(p.files) != 1 || p.only != old.Path {
		t.Fatalf("%+v, %v", p, err)
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	env, err := box.Prepare(t.Context(), r, tree)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := tools.For(r.Runner)
	if err != nil {
		t.Fatal(err)
	}
	res, err := box.Run(t.Context(), replay.Job{Name: "planted", Tree: tree, Overlays: []replay.Overlay{{Files: p.files}}, Env: env, Steps: unit.Steps(r, replay.Target{})})
	if err != nil {
		t.Fatal(err)
	}
	report := unit.Parse(r, replay.Target{}, res)
	if heard := p.hear(&report); heard != sings || len(report.Tests) != 1 || report.Inconsistent != "" {
		t.Errorf("%s: %+v", heard, report)
	}
}
