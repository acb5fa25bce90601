package ci

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

type files = tooltest.Tree

func read(t testing.TB, f files, root string) project.Hint {
	t.Helper()
	tree, err := project.Scan(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Read(tree, root)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

const ciFile = ".github/workflows/ci.yml"

// job is a workflow of one job that runs its steps on Linux.
func job(steps string) files {
	return files{ciFile: "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n" + steps}
}

func run(script string) files {
	return job("      - run: |\n          " + strings.ReplaceAll(strings.TrimSpace(script), "\n", "\n          ") + "\n")
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		tree files
		root string
		want project.Hint
	}{
		{"nothing", files{"README": "x"}, "", project.Hint{}},
		{"packages in many spellings", run(`
sudo apt-get update && sudo apt-get install -y --no-install-recommends libxml2-dev \
  libxslt1-dev
sudo -E apt install -yqq g++ libacl1-dev:amd64 libfoo=1.2-3
if [ -n "$X" ]; then DEBIAN_FRONTEND=noninteractive apt-get -y -o Acquire::Retries=3 install 'pkg-config'; fi
pytest`), "", project.Hint{Packages: []string{"libxml2-dev", "libxslt1-dev", "g++", "libacl1-dev", "libfoo", "pkg-config"}}},
		{"packages of an action", job("      - uses: awalsh128/cache-apt-pkgs-action@v1\n        with: {packages: libgl1 libegl1, version: 1}\n"),
			"", project.Hint{Packages: []string{"libgl1", "libegl1"}}},
		{"pip in many spellings", merged(run(`
python -m pip install --upgrade pip setuptools wheel
pip3 install -r requirements/test.txt -c constraints.txt 'hypothesis>=6,<7' pytest-xdist[psutil]
uv pip install -e ".[dev,tests]" nose==1.3.7
pip install -rreq.txt --index-url https://evil.example/simple git+https://evil.example/x ./dist/a.whl ../up
poetry install --with qa -E "one two"
python -m pytest`), files{"requirements/test.txt": "a", "req.txt": "b"}), "", project.Hint{
			Requirements: []string{"hypothesis>=6,<7", "pytest-xdist[psutil]", "nose==1.3.7"}, Files: []string{"requirements/test.txt", "req.txt"},
			Extras: []string{"dev", "tests", "qa", "one", "two"}}},
		{"a file beside the project", merged(run("pip install -r dev.txt -r /etc/x.txt -r ../x.txt -r none.txt"), files{"sub/dev.txt": "a", "x.txt": "b"}), "sub",
			project.Hint{Files: []string{"sub/dev.txt"}}},
		{"versions of a matrix", files{ciFile: `
jobs:
  test:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        py: ["3.8", '3.10', 3.12, nightly]
        include: [{py: 3.6, os: ubuntu-20.04}]
    steps:
      - uses: actions/setup-python@v5
        with: {python-version: "${{ matrix.py }}"}
      - uses: actions/setup-node@v4
        with: {node-version: v18.x}
      - run: tox
`}, "", project.Hint{Versions: map[string][]string{"python": {"3.8", "3.10", "3.12", "3.6"}, "node": {"18.x"}}}},
		{"variables of a closed list", files{ciFile: `
env: {TZ: UTC, API_TOKEN: abc, PATH: /evil, LD_PRELOAD: /evil.so}
jobs:
  test:
    runs-on: ubuntu-latest
    env: {MPLBACKEND: agg, DATABASE_URL: "postgres://u:p@h/d", DISABLE_X: "${{ secrets.X }}", USE_TOKEN: 1}
    steps:
      - run: export LC_ALL=C.UTF-8 NO_CACHE=$HOME; QT_QPA_PLATFORM=offscreen pytest
`}, "", project.Hint{Env: map[string]string{"TZ": "UTC", "MPLBACKEND": "agg", "LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}}},
		{"only jobs that test, on Linux", files{ciFile: `
jobs:
  build: {runs-on: ubuntu-latest, steps: [{run: sudo apt-get install -y rpm}]}
  docs: {runs-on: ubuntu-latest, steps: [{run: sudo apt-get install -y graphviz; make test}]}
  mac: {runs-on: macos-latest, steps: [{run: apt-get install -y mac; pytest}]}
  test: {runs-on: [ubuntu-latest], steps: [{run: apt-get install -y libpq-dev}, {run: choco install x, shell: pwsh}, {if: "runner.os == 'Windows'", run: apt-get install -y win}, {run: cargo test}]}
`}, "", project.Hint{Packages: []string{"libpq-dev"}}},
		{"no job says that it tests", files{ciFile: "jobs:\n  ci: {runs-on: ubuntu-latest, steps: [{run: apt-get install -y libpq-dev && ./run}]}\n"}, "",
			project.Hint{Packages: []string{"libpq-dev"}}},
		{"packages of all jobs that test, requirements of the one that does most", files{".github/workflows/aaa.yml": `
jobs:
  integration: {runs-on: ubuntu-latest, steps: [{run: apt-get install -y libone && pip install one && pytest}]}
`, ciFile: `
jobs:
  old-deps: {runs-on: ubuntu-latest, steps: [{run: 'apt-get install -y libtwo && pip install two==1 && pytest'}]}
  tests: {runs-on: ubuntu-latest, steps: [{run: 'pip install three -e .[x]'}, {run: tox}]}
  tests-again: {runs-on: ubuntu-latest, steps: [{run: pip install four && pytest}]}
`}, "", project.Hint{Packages: []string{"libone", "libtwo"}, Requirements: []string{"three"}, Extras: []string{"x"}}},
		{"anchors and merges", files{ciFile: `
jobs:
  test: &t
    runs-on: ubuntu-latest
    steps: &s [{run: "apt-get install -y libone && pytest"}]
  again: {<<: *t}
  more: {runs-on: ubuntu-latest, steps: *s}
`}, "", project.Hint{Packages: []string{"libone"}}},
		{"Travis", files{".travis.yml": `
language: python
python: ["2.7", 3.6]
addons: {apt: {packages: [libsnappy-dev, docker-ce]}}
env: {global: [{secure: "abc="}, "TZ=UTC MPLBACKEND=agg"]}
services: [redis-server]
before_install: sudo apt-get -qq install libfuse-dev
install:
  - pip install -r reqs.txt coveralls
  - pip install pytest==4.6
script: py.test
matrix: {include: [{os: osx, addons: {apt: {packages: [no]}}}, {python: 3.7, before_install: [apt-get install -y libtwo]}]}
`, "reqs.txt": "x"}, "", project.Hint{
			Packages: []string{"libsnappy-dev", "libfuse-dev", "libtwo"}, Env: map[string]string{"TZ": "UTC", "MPLBACKEND": "agg"},
			Versions: map[string][]string{"python": {"2.7", "3.6", "3.7"}}, Files: []string{"reqs.txt"}, Requirements: []string{"pytest==4.6"}}},
		{"tox.ini", files{"tox.ini": `
[tox]
envlist = py27,py36
[testenv]
deps =
    -rreqs.txt
    -r{toxinidir}/more.txt
    py27: mock>=1.0  # old
    git+https://x.example/y
extras = tests
setenv =
    TZ = UTC
    PYTHONPATH = {toxinidir}
commands =
    pip install pytest-extra
    pytest {posargs}
[testenv:docs]
deps = sphinx
[testenv:py27-more]
deps = six
`, "reqs.txt": "", "more.txt": ""}, "", project.Hint{Requirements: []string{"mock>=1.0", "pytest-extra", "six"}, Files: []string{"reqs.txt", "more.txt"},
			Extras: []string{"tests"}, Env: map[string]string{"TZ": "UTC"}}},
		{"a Makefile's test target", files{"Makefile": `
PIP ?= pip
deps: base
	@pip install -r reqs.txt $(EXTRA)
base:
	-sudo apt-get install -y libev-dev
test: deps
	python -m pip install mock && for i in 1 2; do echo $$i; done
docs:
	pip install sphinx
`, "reqs.txt": ""}, "", project.Hint{Packages: []string{"libev-dev"}, Files: []string{"reqs.txt"}, Requirements: []string{"mock"}}},
		{"what no shell reads is read by lines", run("apt-get install -y libone\nfi )\npip install six"), "", project.Hint{Packages: []string{"libone"}, Requirements: []string{"six"}}},
		{"what may never be called does not count", run("f() { apt-get install -y never; }\necho $(apt-get install -y nor)\npytest"), "", project.Hint{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := read(t, tt.tree, tt.root)
			ignore := cmpopts.IgnoreFields(project.Hint{}, "Sources", "Unused")
			if d := cmp.Diff(tt.want, got, ignore, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got.Empty() == (len(got.Sources) > 0) && len(got.Unused) == 0 {
				t.Errorf("an empty hint has no source, another has one: %+v", got)
			}
		})
	}
}

func merged(a, b files) files {
	for k, v := range b {
		a[k] = v
	}
	return a
}

// TestWhere: a hint says where it stands, and what it leaves out.
func TestWhere(t *testing.T) {
	t.Parallel()
	f := run("apt-get install -y texlive-full libone\ngo install example.com/x@latest\npytest")
	f[ciFile] += "    services: {postgres: {image: postgres}}\n"
	h := read(t, f, "")
	if d := cmp.Diff([]string{ciFile + ": test"}, h.Sources); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"service postgres", "package texlive-full", "go install example.com/x@latest"}, h.Unused); d != "" {
		t.Error(d)
	}
}

// hostile workflows say nothing, or little, and soon.
func TestHostile(t *testing.T) {
	t.Parallel()
	laughs := "a0: &a0 {run: \"apt-get install -y lol\"}\n"
	for i := 1; i < 30; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	for _, tt := range []struct {
		name string
		tree files
		most int // items
	}{
		{"a billion laughs", files{ciFile: laughs + "jobs: {test: {runs-on: ubuntu-latest, steps: *a29}}\n"}, 1},
		{"merges of merges", files{ciFile: "x: &x {<<: *x, a: b}\njobs: {test: {<<: *x}}\n"}, 0},
		{"an anchor in itself", files{ciFile: "jobs: &j {test: {runs-on: ubuntu-latest, env: *j, steps: [*j]}}\n"}, 0},
		{"very deep", files{ciFile: "jobs: " + strings.Repeat("[", 20000)}, 0},
		{"a slow script many times", files{ciFile: "x: &x {run: \"" + strings.Repeat("((", 8000) + "\"}\njobs: {test: {runs-on: u, steps: [" +
			strings.Repeat("*x, ", 5000) + "]}}\n"}, 0},
		{"a long text many times", files{".travis.yml": "x: &x \"" + strings.Repeat("a ", 100_000) + "\"\nservices: &l [" + strings.Repeat("*x, ", 5000) +
			"]\nscript: *l\nenv: *l\n"}, 0},
		{"very large", files{ciFile: strings.Repeat("# x\n", maxText)}, 0},
		{"many jobs", files{ciFile: "jobs:\n" + strings.Repeat("  t: {runs-on: u, steps: [{run: pytest}]}\n", 5000)}, 0},
		{"lines of many targets", files{"Makefile": "t" + manyNames(5000) + ":\n" + strings.Repeat("\tx\n", 50000)}, 0},
		{"many packages", run("apt-get install " + strings.Repeat("a", 3) + manyNames(5000)), maxItems},
		{"names that are more than names", run(`apt-get install -y 'a; rm -rf /' '$(id)' "a b" -oDebug=1 ../x /etc/passwd lib- 'x=1;y' 'x
y' --force libgood^ a* Ünicode`), 1},
		{"requirements that are more than names", run(`pip install 'a; python_version' '-e git+x' --pre 'x @ file:///etc' "--index-url=http://e" 'a
--index-url http://e' -r 'https://e/x.txt' -r '../../etc/passwd' -r 'a*b'`), 0},
		{"variables that are more than values", run("export TZ='$(id)' LANG='a;b' LC_ALL='a\nb' NO_X='" + strings.Repeat("a", 500) + "'"), 0},
		{"variables that name a proxy or a secret", run("export NO_PROXY=example.org USE_PROXY=1 USE_TOKEN=1 NO_AUTH=1"), 0},
		{"no text", files{ciFile: "\xff\xfe\x00jobs\x00: [", ".travis.yml": "\x00", "tox.ini": "[testenv\n=\n", "Makefile": "\t\n:\n=:\n"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			started := time.Now()
			h := read(t, tt.tree, "")
			n := len(h.Packages) + len(h.Env) + len(h.Requirements) + len(h.Files) + len(h.Extras)
			if n > tt.most || time.Since(started) > 10*time.Second {
				t.Errorf("%d items in %s: %+v", n, time.Since(started), h)
			}
			sound(t, h)
		})
	}
}

// TestDeep: a parser's stack is not for a repository to end.
func TestDeep(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"(", "{ ", "$(", "if ", "`", "\"$(", "a=$((", "((", "[[ ( ", "${a:-", "f() { ", "<(", "while ", "<<E\n", "! ", "a | "} {
		started := time.Now()
		text := strings.Repeat(s, maxText/len(s))
		sound(t, read(t, files{"Makefile": "test:\n\t" + strings.ReplaceAll(text, "\n", "\n\t"), ".travis.yml": "script: |\n  " + strings.ReplaceAll(text[:maxText/2], "\n", "\n  ")}, ""))
		sound(t, read(t, run(text[:maxScript]), ""))
		if took := time.Since(started); took > 20*time.Second {
			t.Errorf("%q takes %s", s, took)
		}
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " lib%d", i)
	}
	return b.String()
}

// sound holds of every hint, whoever wrote the text.
func sound(t testing.TB, h project.Hint) {
	t.Helper()
	for _, p := range h.Packages {
		if !debianName.MatchString(p) || strings.HasSuffix(p, "-") || never.MatchString(p) {
			t.Errorf("package %q", p)
		}
	}
	for k, v := range h.Env {
		if !variables.MatchString(k) || forbidden.MatchString(k) || !value.MatchString(v) {
			t.Errorf("variable %q=%q", k, v)
		}
	}
	for _, r := range h.Requirements {
		if !plainRequirement.MatchString(r) || strings.HasPrefix(r, "-") || strings.Contains(r, "\n") {
			t.Errorf("requirement %q", r)
		}
	}
	for _, f := range h.Files {
		if !fs.ValidPath(f) {
			t.Errorf("file %q", f)
		}
	}
	lists := [][]string{h.Packages, h.Requirements, h.Files, h.Extras, h.Sources, h.Unused}
	for _, v := range h.Versions {
		lists = append(lists, v)
	}
	for _, l := range lists {
		if len(l) > maxItems || slices.ContainsFunc(l, func(s string) bool { return len(s) > maxValue || !utf8.ValidString(s) || strings.Contains(s, marker) }) {
			t.Errorf("a list out of bounds: %q", l)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		run("apt-get install -y a\npip install -r x -e .[t]\npytest")[ciFile], "jobs: &j {a: *j}", "a: &a [*a]", "[testenv]\ndeps = a\n -r b\n",
		"test: a\n\tpip install b\n", "language: go\nenv: A=b\n", "jobs: {t: {runs-on: u, strategy: {matrix: {p: [1]}}, steps: [{with: {python-version: '${{ matrix.p }}'}}]}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{ciFile, ".travis.yml", "tox.ini", "Makefile"} {
			sound(t, read(t, files{name: text, "x": ""}, ""))
		}
	})
}

// TestLong: of a long script the beginning is read, and the rest is named among what is not taken over.
func TestLong(t *testing.T) {
	t.Parallel()
	fill := strings.Repeat("echo some words of a script that goes on\n", 997)
	got := read(t, run("pytest\napt-get install libone\n"+fill+"'\napt-get install libtwo\n"), "")
	if d := cmp.Diff([]string{"what follows line 1000 of a script"}, got.Unused); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"libone"}, got.Packages); d != "" {
		t.Error(d)
	}
}
