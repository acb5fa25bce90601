package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func scan(t testing.TB, tree tooltest.Tree) *project.Tree {
	t.Helper()
	s, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestManager(t *testing.T) {
	t.Parallel()
	const berry = "# generated\n\n__metadata:\n  version: 6\n  cacheKey: 8\n"
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		want string // name, what to install, whether the lock file holds
	}{
		{"declared, with a hash", tooltest.Tree{"package.json": `{"packageManager": "pnpm@10.12.1+sha512.abc"}`, "pnpm-lock.yaml": "lockfileVersion: '9.0'"}, "pnpm pnpm@10.12.1 true"},
		{"declared without a lock file", tooltest.Tree{"package.json": `{"packageManager": "yarn@4.1.0"}`}, "berry @yarnpkg/cli-dist@4.1.0 false"},
		{"pnpm by its lock file", tooltest.Tree{"package.json": `{}`, "pnpm-lock.yaml": "lockfileVersion: 5.4\n"}, "pnpm pnpm@7 true"},
		{"pnpm by its engine", tooltest.Tree{"package.json": `{"engines": {"pnpm": ">=10"}}`, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, "pnpm pnpm@10 true"},
		{"classic yarn", tooltest.Tree{"package.json": `{}`, "yarn.lock": "# yarn lockfile v1\n"}, "yarn yarn@1.22.22 true"},
		{"berry by its lock file", tooltest.Tree{"package.json": `{}`, "yarn.lock": berry}, "berry @yarnpkg/cli-dist@3.8.7 true"},
		{"berry that the project brings", tooltest.Tree{"package.json": `{}`, "yarn.lock": berry, ".yarn/releases/yarn-3.6.1.cjs": ""}, "berry @yarnpkg/cli-dist@3.6.1 true"},
		{"yarn 2 by its lock file", tooltest.Tree{"package.json": `{}`, "yarn.lock": "__metadata:\n  version: 4\n"}, "berry @yarnpkg/cli-dist@2.4.2 true"},
		{"yarn 2, of which there is no package", tooltest.Tree{"package.json": `{"packageManager": "yarn@2.1.0"}`, "yarn.lock": ""}, "berry @yarnpkg/cli-dist@2.4.2 true"},
		{"berry in several releases", tooltest.Tree{"package.json": `{}`, "yarn.lock": berry, ".yarn/releases/yarn-3.6.1.cjs": "", ".yarn/releases/yarn-3.10.0.cjs": "", ".yarn/releases/yarn-3.2.4.cjs": ""}, "berry @yarnpkg/cli-dist@3.10.0 true"},
		{"yarn 3, of which there is no package", tooltest.Tree{"package.json": `{}`, "yarn.lock": berry, ".yarn/releases/yarn-3.8.4.cjs": ""}, "berry @yarnpkg/cli-dist@3.8.5 true"},
		{"old npm", tooltest.Tree{"package.json": `{}`, "package-lock.json": `{"lockfileVersion": 1}`}, "npm npm@6.14.18 true"},
		{"npm that comes with node", tooltest.Tree{"package.json": `{}`, "package-lock.json": `{"lockfileVersion": 3}`}, "npm  true"},
		{"a later npm", tooltest.Tree{"package.json": `{"engines": {"npm": ">=11.13.0"}}`, "package-lock.json": `{"lockfileVersion": 3}`}, "npm npm@11 true"},
		{"a later npm, or the image's", tooltest.Tree{"package.json": `{"engines": {"npm": "^9 || ^10"}}`, "package-lock.json": `{"lockfileVersion": 3}`}, "npm  true"},
		{"npm no later than", tooltest.Tree{"package.json": `{"engines": {"npm": "<11"}}`, "package-lock.json": `{"lockfileVersion": 3}`}, "npm  true"},
		{"volta", tooltest.Tree{"package.json": `{"volta": {"yarn": "1.22.10"}}`, "yarn.lock": ""}, "yarn yarn@1.22.10 true"},
		{"nothing", tooltest.Tree{"package.json": `{}`}, "npm  false"},
		{"words that are no version", tooltest.Tree{"package.json": `{"packageManager": "npm@--x http://a", "volta": {"npm": "--x"}}`}, "npm  false"},
		{"another manager's lock file", tooltest.Tree{"package.json": `{"packageManager": "pnpm@8.0.0"}`, "package-lock.json": `{}`}, "pnpm pnpm@8.0.0 false"},
	} {
		tree := scan(t, c.tree)
		m, err := readManifest(tree, "")
		if err != nil || m == nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := findManager(tree, "", m)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join([]string{got.name, got.install, map[bool]string{true: "true", false: "false"}[got.frozen]}, " ")
		if text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	tree := scan(t, tooltest.Tree{
		"package.json": `{"workspaces": {"packages": ["apps/**"]}}`, "pnpm-workspace.yaml": "packages:\n  - 'packages/*' # all\n  - \"!packages/no\"\ncatalog:\n  a: 1\n",
		"packages/a/package.json": `{}`, "packages/no/package.json": `{}`, "apps/x/y/package.json": `{}`, "packages/a/test/fixtures/p/package.json": `{}`,
		"own/package.json": `{}`, "packages/a/node_modules/z/package.json": `{}`, "packages/a/x.js": "", ".npmrc": "", "pnpm-lock.yaml": "",
	})
	for dir, want := range map[string]string{"packages/a": "", "apps/x/y": "", "own": "own", "packages/no": "packages/no", "": ""} {
		if got, err := workspace(tree, dir); err != nil || got != want {
			t.Errorf("%q is of the workspace %q, want %q; %v", dir, got, want, err)
		}
	}
	r, err := Recipe(tree, "packages/a", Extra{Runner: "jest"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".npmrc", "apps/x/y/package.json", "package.json", "packages/a/package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"}
	if d := cmp.Diff(want, r.Inputs); d != "" {
		t.Error(d)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		tree  tooltest.Tree
		paths []string
		want  string
	}{
		{"the script decides between two dependencies", tooltest.Tree{"package.json": `{"devDependencies": {"jest": "1", "mocha": "1"}, "scripts": {"test": "npm run lint && npm run unit", "unit": "nyc mocha"}}`}, nil, "mocha "},
		{"the touched test decides before the script", tooltest.Tree{"package.json": `{"devDependencies": {"jest": "1"}, "scripts": {"test": "jest"}}`, "test/a.js": "const t = require('node:test')"}, []string{"test/a.js"}, "nodetest "},
		{"a path in the script", tooltest.Tree{"package.json": `{"scripts": {"test": "node --harmony node_modules/mocha/bin/_mocha test"}}`}, nil, "mocha "},
		{"the workspace's tool", tooltest.Tree{"package.json": `{"workspaces": ["p/*"], "scripts": {"test": "jest"}}`, "p/a/package.json": `{}`, "p/a/x.test.js": ""}, []string{"p/a/x.test.js"}, "jest "},
		{"a package that only depends on the workspace's tool", tooltest.Tree{"package.json": `{"workspaces": ["p/*"], "scripts": {"test": "vitest run"}}`, "vitest.config.js": "", "p/a/package.json": `{"devDependencies": {"vitest": "1"}}`}, []string{"p/a/x.test.js"}, "vitest "},
		{"a package's own", tooltest.Tree{"package.json": `{"workspaces": ["p/*"]}`, "p/a/package.json": `{"scripts": {"test": "ava"}}`}, []string{"p/a/x.js"}, "ava p/a"},
		{"node's own", tooltest.Tree{"package.json": `{"scripts": {"test": "node --test test/"}}`}, nil, "nodetest "},
		{"a fixture is no package", tooltest.Tree{"package.json": `{"scripts": {"test": "mocha"}}`, "test/fixtures/p/package.json": `{}`}, []string{"test/fixtures/p/index.js", "lib/a.js"}, "mocha "},
		{"the packages of a workspace whose script starts them", tooltest.Tree{"package.json": `{"workspaces": ["p/*"], "scripts": {"test": "npm test -ws"}}`, "p/a/package.json": `{"scripts": {"test": "ava"}}`, "p/b/package.json": `{"scripts": {"test": "mocha"}}`, "p/b/test/x.js": "", "p/c/package.json": "{}", "p/c/test/x.js": "", "p/c/test/y.js": ""}, nil, "mocha p/b"},
		{"of those the one that was touched", tooltest.Tree{"package.json": `{"workspaces": ["p/*"]}`, "p/a/package.json": `{"scripts": {"test": "ava"}}`, "p/b/package.json": `{"scripts": {"test": "mocha"}}`, "p/b/test/x.js": ""}, []string{"README", "a", "p/a/x"}, "ava p/a"},
		{"no package of the workspace", tooltest.Tree{"package.json": `{"workspaces": ["p/*"]}`, "q/a/package.json": `{"scripts": {"test": "ava"}}`}, nil, ""},
		{"nothing known", tooltest.Tree{"package.json": `{"scripts": {"test": "make test"}}`}, nil, ""},
		{"a manifest that is none", tooltest.Tree{"package.json": `[1]`}, nil, ""},
	} {
		got, err := choose(scan(t, c.tree), c.paths)
		if err != nil && c.want != "" || err == nil && got.tool+" "+got.root != c.want {
			t.Errorf("%s: %q in %q, %v; want %q", c.name, got.tool, got.root, err, c.want)
		}
	}
}

// TestUnknownTool: why there is no recipe is said, not only that.
func TestUnknownTool(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]string{
		`{"scripts": {"test": "tape test/*.js | tap-spec"}}`:                                          "tests are for tape, which",
		`{"scripts": {"test": "npm run unit", "unit": "nyc tap test/*.js"}}`:                          "tests are for tap, which",
		`{"scripts": {"test": "karma start --single-run"}, "devDependencies": {"jasmine-core": "1"}}`: "tests are for karma, which",
		`{"scripts": {"test": "node test.js"}, "devDependencies": {"uvu": "1"}}`:                      "tests are for uvu, which",
		`{"scripts": {"test": "make -C test"}}`:                                                       "script runs make",
		`{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`:                        "tests nothing",
		`{"scripts": {"test": "("}}`:                                                                  "cannot be read",
		`{}`:                                                                                          "no test script",
	} {
		_, err := choose(scan(t, tooltest.Tree{"package.json": manifest}), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", manifest, err, want)
		}
	}
}

func TestBuildSteps(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`{"pretest": "npm run build", "build": "tsc", "test": "mocha dist"}`:                                             "pretest",
		`{"pretest": "eslint .", "test": "mocha"}`:                                                                       "",
		`{"build": "tsc", "test": "tsc && mocha dist"}`:                                                                  "build",
		`{"gen": "node generate.js", "test": "npm run gen && npm run unit", "unit": "mocha"}`:                            "gen",
		`{"gen": "node generate.js", "test": "npm run js && tsd", "js": "npm run gen && npm run unit", "unit": "mocha"}`: "gen",
		`{"lint": "eslint build", "test": "npm run lint && mocha", "posttest": "npm run build"}`:                         "",
	} {
		r, err := Recipe(scan(t, tooltest.Tree{"package.json": `{"scripts": ` + script + `}`}), "", Extra{Runner: "mocha"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range r.Build[1:] {
			got = append(got, strings.TrimPrefix(s.Name, "script "))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s builds %q, want %q", script, text, want)
		}
	}
}

func TestTestFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]bool{
		"src/a.test.ts": {true, true}, "a_test.mjs": {true, true}, "src/__tests__/a.js": {true, true}, "test.js": {true, true},
		"test/a.js": {false, true}, "test/fixtures/a.js": {false, false}, "test/helpers/a.js": {false, false}, "src/contest.js": {false, false},
		"src/a.js": {false, false}, "test/a.json": {false, false}, "a.test.ts.snap": {false, false}, "types/a.test.d.ts": {false, false}, "x.unittest.js": {true, true},
	} {
		if got := [2]bool{StrictTest(name), LooseTest(name)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestNumbered: every end of a test in a report that is whole is a test of its own, whatever the titles are.
func TestNumbered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		titles := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a ", " a", "b", "b\n b", "ü", "x > y", "\x00"}), 1, 12).Draw(t, "titles")
		lines := []string{`{"e":"begin"}`}
		for _, title := range titles {
			lines = append(lines, `{"e":"end","file":"f.js","path":["s",`+quote(title)+`],"o":"pass"}`)
		}
		lines = append(lines, `{"e":"done","tests":`+itoa(len(titles))+`}`)
		data := []byte(strings.Join(lines, "\n") + "\n")
		res := replay.Result{Files: map[string][]byte{"r": data}, Steps: []replay.StepResult{{Name: "test", Stop: replay.Exited, Stdout: Seal(data)}}}
		got := Parse(replay.Recipe{}, res, "tool", "r")
		if got.Inconsistent != "" || len(got.Tests) != len(titles) {
			t.Fatalf("%d tests of %d titles: %s", len(got.Tests), len(titles), got.Inconsistent)
		}
		if !slices.IsSortedFunc(got.Tests, func(a, b replay.Test) int { return strings.Compare(a.ID, b.ID) }) {
			t.Fatal("the tests are not in order")
		}
	})
}

// FuzzCommands: a script is data, whatever is in it.
func FuzzCommands(f *testing.F) {
	for _, s := range []string{"mocha -r a 'b c'", "A=1 cross-env B=2 nyc --x mocha $(rm -rf /)", "npm run a && (jest; ava)", "\"", "a |& b <<EOF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		m := manifest{Scripts: map[string]string{"test": script, "a": script}}
		for _, x := range allTraits {
			call, ok := m.toolCall(x)
			if !ok {
				continue
			}
			for k := range call.Env {
				if k == "" {
					t.Errorf("a variable without a name in %q", script)
				}
			}
		}
	})
}

// TestElsewhere: what no registry needs to have may be left out; the same words are in install.js.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]bool{
		"^1.2.3": false, "1.0.0-beta.2": false, "latest": false, "npm:x@1": false, "github:a/b": true, "a/b#main": true, "https://x.example/a.tgz": true,
		"git+ssh://git@x.example/a": true, "^0.0.1-security": true, "0.0.1-security.0": true, "1.0.0-securityfix": false,
	} {
		if got := elsewhere.MatchString(spec); got != want {
			t.Errorf("%s: %v", spec, got)
		}
	}
	for _, words := range []string{`(?:[\^~=]?\d+\.\d+\.\d+-security(?:\.\d+)?$|git\+|git:`} {
		if !strings.Contains(installProgram, words) || !strings.Contains(elsewhere.String(), words) {
			t.Errorf("not in both: %s", words)
		}
	}
}
