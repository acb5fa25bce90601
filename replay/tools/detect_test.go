package tools

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"a.py": "x"}
	r := replay.Recipe{Runner: "pytest", Inputs: []string{"*", "*"}, Install: []replay.Step{{Name: "i", Args: []string{"true"}}}}
	one, err := Seal(t.Context(), tree, r)
	if err != nil || len(one.Fingerprint) != 64 || len(one.Inputs) != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	again, err := Seal(t.Context(), tree, one)
	if err != nil || again.Fingerprint != one.Fingerprint {
		t.Errorf("sealed twice: %s and %s, %v", one.Fingerprint, again.Fingerprint, err)
	}
	other, err := Seal(t.Context(), tooltest.Tree{"a.py": "y"}, r)
	if err != nil || other.Fingerprint == one.Fingerprint {
		t.Errorf("two trees share a fingerprint, %v", err)
	}
	r.Install[0].Args = []string{"false"}
	if changed, err := Seal(t.Context(), tree, r); err != nil || changed.Fingerprint == one.Fingerprint {
		t.Errorf("two recipes share a fingerprint, %v", err)
	}
}

func TestForPaths(t *testing.T) {
	t.Parallel()
	for want, paths := range map[string][]string{"": {"README.md"}, "gotest": {"a.go", "b.go", "c.py"}, "pytest": {"a.py", "x.pyi", "b.go"}} {
		if got := ForPaths(paths); got != want {
			t.Errorf("%v: got %q, want %q", paths, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got, err := Names(t.Context(), tooltest.Tree{
		"go.mod": "module example.com/a\n", "tools/go.mod": "module example.com/a/tools\n", "vendor/x/go.mod": "module x\n",
		"pyproject.toml": "[project]\nname = \"Shop.Kit\"\nversion = \"1\"\n", "package.json": `{"name":"@acme/shop"}`,
	}, nil)
	if d := cmp.Diff([]string{"@acme/shop", "Shop.Kit", "example.com/a", "example.com/a/tools"}, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if got, err := Names(t.Context(), tooltest.Tree{"pyproject.toml": "[[", "setup.py": "(", "package.json": "["}, nil); err != nil || len(got) > 0 {
		t.Errorf("broken files gave %v, %v", got, err)
	}
}

const goMod = "module example.com/m\n\ngo 1.21\n"

func TestChoiceOfLanguage(t *testing.T) {
	t.Parallel()
	both := tooltest.Tree{"go.mod": goMod, "py/pyproject.toml": "[project]\nname='x'\n", "py/test_x.py": ""}
	if r := detect(t, both); r.Runner != "gotest" {
		t.Errorf("without paths: %s", r.Runner)
	}
	if r := detect(t, both, "py/test_x.py", "py/x.py", "a.go"); r.Runner != "pytest" || r.Root != "py" {
		t.Errorf("with Python files: %s in %q", r.Runner, r.Root)
	}
	if r := detect(t, both, "a.go", "py/data.json"); r.Runner != "gotest" {
		t.Errorf("with Go files: %s", r.Runner)
	}
}

func detect(t testing.TB, tree tooltest.Tree, paths ...string) replay.Recipe {
	t.Helper()
	r, err := Detect(t.Context(), tree, Options{Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
