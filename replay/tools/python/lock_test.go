package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay/tools/tooltest"
)

const (
	uvLock = `version = 1
[[package]]
name = "p"
version = "0"
source = { editable = "." }
dependencies = [{ name = "six" }]
[[package]]
name = "six"
version = "1.16.0"
source = { registry = "https://elsewhere.example.org/simple" }
dependencies = [{ name = "Deep_One", marker = "sys_platform == 'linux'" }]
[[package]]
name = "deep-one"
version = "2"
source = { registry = "x" }
[[package]]
name = "forked"
version = "1"
source = { registry = "x" }
[[package]]
name = "forked"
version = "2"
source = { registry = "x" }
[[package]]
name = "from-git"
version = "1"
source = { git = "https://example.org/x" }
[[package]]
name = "of-documents"
version = "9"
source = { registry = "x" }
`
	poetryLock = `[[package]]
name = "six"
version = "1.16.0"
[package.dependencies]
Deep_One = ">=1"
forked = {version = "*", markers = "x"}
[[package]]
name = "deep-one"
version = "2"
[[package]]
name = "of-documents"
version = "9"
[metadata]
python-versions = "*"
`
	pipLock = `{"default": {"six": {"version": "==1.16.0", "hashes": []}, "deep-one": {"version": "==2"}}, "develop": {"x": {"git": "y"}, "z": {"version": "==1 --index-url=x"}}}`
)

func TestLocks(t *testing.T) {
	t.Parallel()
	const needsSix = "[project]\nname='p'\ndependencies=['six', 'forked', 'from-git']\n"
	want := []string{"deep-one==2", "six==1.16.0"}
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		want []string
	}{
		{"uv", tooltest.Tree{"pyproject.toml": needsSix, "uv.lock": uvLock}, want},
		{"poetry", tooltest.Tree{"pyproject.toml": needsSix, "poetry.lock": poetryLock}, want},
		{"pdm", tooltest.Tree{"pyproject.toml": needsSix, "pdm.lock": "[[package]]\nname='six'\nversion='1.16.0'\ndependencies=['deep_one>=1; x']\n[[package]]\nname='deep-one'\nversion='2'\n"}, want},
		{"pylock", tooltest.Tree{"pyproject.toml": needsSix, "pylock.toml": "[[packages]]\nname='six'\nversion='1.16.0'\n[[packages]]\nname='from-git'\nversion='1'\nvcs={type='git'}\n"}, want[1:]},
		{"pipenv", tooltest.Tree{"Pipfile": "[packages]\nsix='*'\n", "Pipfile.lock": pipLock, "test_x.py": ""}, want},
		{"a file of constraints", tooltest.Tree{"requirements.txt": "-c c.txt\nsix\n", "c.txt": "six<1.17\n-c c.txt\nx @ file:///y\n", "test_x.py": ""}, []string{"six<1.17"}},
		{"none", tooltest.Tree{"pyproject.toml": needsSix}, nil},
		{"no TOML", tooltest.Tree{"pyproject.toml": needsSix, "uv.lock": "[[[", "poetry.lock": "[[package]]\nname = 1\n"}, nil},
		{"hostile", tooltest.Tree{"pyproject.toml": needsSix, "uv.lock": "[[package]]\nname='six'\nversion='1 --index-url=x'\n[[package]]\nname='--pre'\nversion='1'\n"}, nil},
	} {
		p, err := readProject(scan(t, c.tree), "")
		if err != nil {
			t.Fatal(err)
		}
		var l reqList
		if err := needs(scan(t, c.tree), "", p, &l); err != nil {
			t.Fatal(err)
		}
		got, err := constraints(scan(t, c.tree), "", p, &l)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestLocksShare: what a lock file says of packages that nobody asks for changes no recipe.
func TestLocksShare(t *testing.T) {
	t.Parallel()
	prints := map[string]bool{}
	for _, lock := range []string{uvLock, strings.Replace(uvLock, `version = "9"`, `version = "10"`, 1)} {
		r, err := Recipe(scan(t, tooltest.Tree{"pyproject.toml": "[project]\nname='p'\ndependencies=['six']\n", "uv.lock": lock}), "", Extra{Runner: "pytest", Tool: "pytest"})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Install {
			if s.Name == stepNeeds {
				prints[strings.Join(s.Args, "\n")] = true
				if s.Args[4] != `{"constraints":["deep-one==2","six==1.16.0"],"tool":"pytest"}` {
					t.Errorf("options %s", s.Args[4])
				}
			}
		}
	}
	if len(prints) != 1 {
		t.Errorf("%d ways to install", len(prints))
	}
}

func FuzzLocks(f *testing.F) {
	for _, s := range []string{uvLock, poetryLock, pipLock} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := reqList{items: []string{"six", "forked", "x"}}
		for _, file := range lockFiles {
			for _, pin := range pins(file.read(text), &l) {
				name, v, ok := strings.Cut(pin, "==")
				if !ok || !plainName.MatchString(name) || !plainRelease.MatchString(v) {
					t.Errorf("%s: %q", file.name, pin)
				}
			}
		}
	})
}

// TestLargePipfileLock: a lock file that does not say what needs what costs no square of its length.
func TestLargePipfileLock(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"default": {"first": {"version": "==1"}`)
	for i := range 50_000 {
		fmt.Fprintf(&b, `, "p%d": {"version": "==1"}`, i)
	}
	b.WriteString("}}")
	var l reqList
	l.addAll([]string{"first"}, "a test")
	got := l.few(pins(pipfileLock(b.String()), &l), "Pipfile.lock")
	if len(got) != maxConstraints || got[0] != "first==1" {
		t.Errorf("%d pins: %.3q", len(got), got)
	}
	if d := cmp.Diff([]string{"of the 50001 versions in Pipfile.lock the first 1000 are kept"}, l.notes); d != "" {
		t.Error(d)
	}
}

// TestManyConstraints: a file with more constraints than are kept leaves a note, and one with as many leaves none.
func TestManyConstraints(t *testing.T) {
	t.Parallel()
	for n, notes := range map[int]int{maxRequirements: 0, maxRequirements + 7: 1} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "p%d<2\n", i)
		}
		r, err := Recipe(scan(t, tooltest.Tree{"requirements.txt": "-c c.txt\nsix\n", "c.txt": b.String(), "test_x.py": ""}), "", Extra{Runner: "pytest", Tool: "pytest"})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Notes) != notes || notes == 1 && r.Notes[0] != "dropped the last 7 constraints of c.txt: too many" {
			t.Errorf("%d constraints: notes %q", n, r.Notes)
		}
	}
}
