package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay/tools/tooltest"
)

// TestFindNode: no version is the usual one; a "!" in front says that a note tells what the package did not get.
func TestFindNode(t *testing.T) {
	t.Parallel()
	engines := func(r string) tooltest.Tree {
		return tooltest.Tree{"package.json": `{"engines": {"node": "` + r + `"}}`}
	}
	pin := func(file, text string) tooltest.Tree { return tooltest.Tree{"package.json": `{}`, file: text} }
	const workflow = ".github/workflows/a.yml"
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		want string
	}{
		{"nothing", tooltest.Tree{"package.json": `{}`}, ""},
		{"above", engines(">=22.19.0"), "22.23.5"},
		{"the usual one is among them", engines("^20.19.0 || ^22.13.0 || >=24"), ""},
		{"a later release of the usual one's", engines("^20.19.5 || >=22"), "20.20.2"},
		{"the one that comes next", engines("^22 || >=24"), "22.23.5"},
		{"no upper bound", engines(">= 18"), ""},
		{"any", engines("*"), ""},
		{"any, or old", engines("* || 4"), ""},
		{"older ones", engines("^14 || ^16"), "16.20.2"},
		{"an upper bound", engines("<19"), "18.20.8"},
		{"two bounds", engines(">=14 <17"), "16.20.2"},
		{"two bounds with an odd version only", engines(">=11 <12"), "11.15.0"},
		{"a bound that is a version's own", engines(">=8 <=10.4"), "10.24.1"},
		{"a hyphen", engines("8 - 12"), "12.22.12"},
		{"a minor version", engines("~8.9"), "8.17.0"},
		{"one version", engines("v16.4.0"), "16.20.2"},
		{"older than all", engines("0.10 || 0.12"), "!6.17.1"},
		{"newer than all", engines(">=99"), "!"},
		{"no version", engines("--x"), ""},
		{"too great a number", engines("99999999999999999999"), ""},
		{"a file's", pin(".nvmrc", "v16.3.0\n"), "16.20.2"},
		{"a file's, as usual", pin(".nvmrc", "20"), ""},
		{"a file's, any", pin(".nvmrc", "lts/*"), ""},
		{"a file's, by name", pin(".nvmrc", "lts/Hydrogen"), "18.20.8"},
		{"a file's, odd", pin(".node-version", "9"), "9.11.2"},
		{"a file's, older than all", pin(".node-version", "0.12"), "!6.17.1"},
		{"a file's, newer than all", pin(".node-version", "99"), "!"},
		{"volta", tooltest.Tree{"package.json": `{"volta": {"node": "14.17.0"}, "engines": {"node": ">=12"}}`}, "14.21.3"},
		{"tested", pin(".travis.yml", "language: node_js\nnode_js:\n  - '0.12'\n  - 4\n  - \"8\"\n  - node\ncache:\n  - 18\n"), "8.17.0"},
		{"tested on what is older than all", pin(".travis.yml", "node_js:\n- 0.10\n- iojs\n"), "!6.17.1"},
		{"tested in a row", pin(workflow, "jobs:\n  a:\n    strategy:\n      matrix:\n        node-version: [ 10.x, 12.x, 14.x ]\n"), "14.21.3"},
		{"tested in rows", pin(workflow, "        node: [\n          10,\n          '16'\n        ]\n        os: [18]\n"), "16.20.2"},
		{"tested on the usual one too", pin(workflow, "        node-version: [18, 20, 22]\n"), ""},
		{"tested on newer ones", pin(workflow, "        node-version: [24, 22]\n"), "22.23.5"},
		{"tested on a variable", pin(workflow, "          node-version: ${{ matrix.node }} # 12\n"), ""},
		{"what the manifest rules out is not tested", tooltest.Tree{"package.json": `{"engines": {"node": ">=14"}}`, ".travis.yml": "node_js: 10"}, ""},
		{"a package that no newer one runs", tooltest.Tree{"package.json": `{"devDependencies": {"gulp": "^3.9.1", "webpack": "~4"}}`}, "10.24.1"},
		{"a range of megabytes", tooltest.Tree{"package.json": `{"engines": {"node": "` + strings.Repeat("1 || ", 1<<19) + `1"}}`}, ""},
		{"a package that newer ones run", tooltest.Tree{"package.json": `{"devDependencies": {"gulp": "^4.0.0", "webpack": "latest"}}`}, ""},
	} {
		m, err := readManifest(scan(t, c.tree), "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := findNode(scan(t, c.tree), []string{""}, m, m)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if got.note != "" {
			text = "!"
		}
		if got.version != (release{}) {
			text += got.version.String()
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.name, text, c.want, got.note)
		}
	}
}

// TestOldRecipe: an old node runs the tests; the usual one runs our programs and, below it, the package manager.
func TestOldRecipe(t *testing.T) {
	t.Parallel()
	for pin, want := range map[string][]string{
		"6":  {"6.17.1", nodeGyp, "npm", "npx", "pnpm", "pnpx", "yarn"},
		"8":  {"8.17.0", nodeGyp, "npm", "npx", "pnpm", "pnpx"},
		"22": {"22.23.5", nodeGyp},
	} {
		tree := tooltest.Tree{"package.json": `{"scripts": {"build": "gulp", "pretest": "npm run build", "test": "mocha"}}`, ".nvmrc": pin}
		r, err := Recipe(scan(t, tree), "", Extra{Runner: "mocha"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Base == nil || len(r.Base.Inputs) > 0 {
			t.Fatalf("%s: the recipe starts from %+v", pin, r.Base)
		}
		args := r.Base.Install[0].Args
		if d := cmp.Diff(want, args[len(args)-len(want):]); d != "" {
			t.Error(pin, d)
		}
		old := len(want) > 2
		steps := append(slices.Clone(r.Install), Steps(r, Run{}, nil)...)
		for _, s := range steps {
			own := strings.HasPrefix(s.Name, "script ")
			if got := slices.Contains(s.Args, nodeHome); s.Args[0] == "sh" && s.Name != "package manager" && got != (own || !old || s.Name == stepDependencies) {
				t.Errorf("%s: the step %s finds the recipe's node: %v", pin, s.Name, got)
			}
		}
	}
}

// TestReleases: the table is in the order that what reads it goes by.
func TestReleases(t *testing.T) {
	t.Parallel()
	long, short := releases[:supported], releases[supported:]
	for _, group := range [][]release{long, short} {
		if !slices.IsSortedFunc(group, release.compare) {
			t.Errorf("not in order: %v", group)
		}
	}
	for i, r := range slices.Concat(long, short) {
		if (r[0]%2 == 0) != (i < supported) {
			t.Errorf("%s is in the wrong part", r)
		}
	}
	want := []string{"20.20.2", "22.23.5", "24.22.3", "26.12.1", "18.20.8"}
	var got []string
	for _, r := range inOrder()[:5] {
		got = append(got, r.String())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSpansLaw: a range that names one release's bounds has it, and what is chosen is allowed or comes with a note.
func TestSpansLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`((>=|<|\^|~|<=|>)?[0-9]{1,2}(\.[0-9x]{1,2}){0,2}( |\|\|| - )?){1,4}`).Draw(t, "range")
		allows := spans(text)
		got := chooseRelease(allows, text, nil, 0)
		chosen := got.version
		if chosen == (release{}) {
			chosen = usual
		}
		if got.note == "" && !allowed(allows, chosen) {
			t.Fatalf("%q: %s is not allowed and nothing says so", text, chosen)
		}
	})
}

// FuzzMatrix: what a project's continuous integration says is data.
func FuzzMatrix(f *testing.F) {
	for _, s := range []string{"node_js:\n- 6\n- 'x'", "node: [1,\n2]", "node-version: 999999", strings.Repeat("node: [\n", 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range matrix(text) {
			if n < 1 || n > 99 {
				t.Errorf("%d is no major version", n)
			}
		}
		if n := pinnedMajor(text); n < 0 {
			t.Errorf("%d is no major version", n)
		}
	})
}
