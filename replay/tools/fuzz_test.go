package tools

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay/tools/tooltest"
)

// FuzzDetect writes arbitrary bytes into every kind of file that describes a project.
func FuzzDetect(f *testing.F) {
	files := []string{
		"pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "tox.ini", "pytest.ini", "go.mod", "go.work", "x.go", "requirements/test.txt",
		"package.json", "pnpm-workspace.yaml", "yarn.lock", "vitest.config.ts", "Cargo.toml", "Cargo.lock", "rust-toolchain",
	}
	for i, seed := range []string{
		"[project]\nname='p'\ndependencies=['a','--x']\n[tool.poetry.dependencies]\nx=[{version='^1'}]\n[dependency-groups]\ntest=[{include-group='test'}]\n",
		"[options]\ninstall_requires = file: ../x, requirements.txt\n a\n[tool:pytest]\naddopts = -k '\n",
		"setup(install_requires=[*a, 'b' 'c', ('d')] + x, **y)\nx = x\n", "-r requirements.txt\n-r/etc/passwd\n-e .[test]\nx[\n",
		"[testenv]\ndeps = -r requirements.txt\n", "[pytest]\naddopts = \"\n", "module m\nreplace a => ../b\n", "use ../..\n", "package x\nimport \"a.b/c\"\n",
		`{"name":"p","packageManager":"npm@--x","workspaces":["*","!{a"],"scripts":{"test":"mocha -r ../x $(y)"},"dependencies":{"a":"file:../.."}}`,
		"[package]\nname = \"p\"\nbuild = [1]\n[dependencies]\nx = { path = \"..\" }\n[target.'cfg(x)'.dependencies]\ny = [1, {}]\n[workspace]\nmembers = [\"[\"]\n",
		"packages: [a, '../**']\n", "__metadata:\n  version: 6\n", "workspace: 1", "\x00\xff",
	} {
		f.Add([]byte(seed), []byte("good>=1\n"), uint8(i))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, which uint8) {
		tree := tooltest.Tree{"test_x.py": ""}
		tree[files[int(which)%len(files)]] = string(a)
		tree[files[int(which/16)%len(files)]] = string(b)
		r, err := Detect(context.Background(), tree, Options{})
		if err != nil {
			if !errors.As(err, new(ErrNoRecipe)) {
				t.Errorf("no verdict but %v", err)
			}
			return
		}
		again, _ := Detect(context.Background(), tree, Options{})
		if d := cmp.Diff(r, again); d != "" {
			t.Errorf("two recipes of one tree: %s", d)
		}
		for _, s := range r.Install {
			if !strings.HasSuffix(s.Name, "requirements") || s.Args[0] == "sh" {
				continue
			}
			for _, arg := range s.Args[slices.Index(s.Args, "--")+1:] {
				if strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "/\\@\x00\n") || arg == "" {
					t.Errorf("the installer is told %q", arg)
				}
			}
		}
		for _, in := range r.Inputs {
			if strings.HasPrefix(in, "..") || strings.HasPrefix(in, "/") {
				t.Errorf("input %q", in)
			}
		}
	})
}
