package evaluate

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"sluice/miners/lang"
	"sluice/pipeline"
	"sluice/replay/tools/project"
)

// Why a path is taken out of a patch.
const (
	whySealed = "sealed"
	whyTest   = "test"
	whySetUp  = "test set-up"
)

// guard knows which paths of a tree a patch may not decide on.
type guard struct {
	sealed  map[string]bool // paths of sealed files, and the folders above them
	root    string          // of the project
	topFile map[string]bool // first components of the base state, below root
}

func newGuard(inst pipeline.Instance) guard {
	g := guard{sealed: map[string]bool{}, root: inst.Recipe.Root, topFile: map[string]bool{}}
	for _, c := range inst.Checks {
		for _, p := range sealedPaths(c) {
			for ; p != "." && p != "/"; p = path.Dir(p) {
				g.sealed[p] = true
			}
		}
	}
	return g
}

func sealedPaths(c pipeline.Check) []string {
	paths := append([]string{}, c.Remove...)
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

// know notes a path of the base state.
func (g guard) know(p string) { g.topFile[g.top(p)] = true }

// top is the first component of a path below the project's root, without the suffix of a module.
func (g guard) top(p string) string {
	if g.root != "" {
		p = strings.TrimPrefix(p, g.root+"/")
	}
	first, _, _ := strings.Cut(p, "/")
	return strings.TrimSuffix(first, ".py")
}

// setUp are the files by which a test tool is configured or extended, by lower-cased name.
var setUp = map[string]bool{
	"conftest.py": true, "sitecustomize.py": true, "usercustomize.py": true, "pytest.ini": true, ".pytest.ini": true,
	"pytest.toml": true, ".pytest.toml": true, "makefile": true, "gnumakefile": true, "build.rs": true,
}

// setUpBegins are how names of such files begin whose ends differ, in lower case. A vite.config.* may hold Vitest's settings too, and is not
// one of them: it says first of all how the project is built.
var setUpBegins = []string{"jest.config.", "vitest.config.", "vitest.workspace.", "ava.config.", ".mocharc"}

// shadows are modules of the test tool that a project's own module of that name would replace: the project's root is
// on the path before them.
var shadows = map[string]bool{"pytest": true, "_pytest": true, "pluggy": true, "iniconfig": true, "unittest": true}

// why says why a patch may not decide on a path; "" if it may.
func (g guard) why(p string) string {
	base := strings.ToLower(path.Base(p))
	switch {
	case g.sealed[p]:
		return whySealed
	case setUp[base], strings.HasSuffix(base, ".pth"), slices.ContainsFunc(setUpBegins, func(s string) bool { return strings.HasPrefix(base, s) }):
		return whySetUp
	case shadows[g.top(p)] && !g.topFile[g.top(p)]:
		return whySetUp
	case lang.Classify(p) == lang.Test:
		return whyTest
	}
	return ""
}

// configChanged reports whether a file that configures many tools changes how tests run.
func configChanged(p string, before, after []byte) bool {
	switch path.Base(p) {
	case "setup.cfg":
		return section(before, "tool:pytest") != section(after, "tool:pytest")
	case "tox.ini":
		return section(before, "pytest") != section(after, "pytest")
	case "pyproject.toml":
		a, b := tomlPytest(before), tomlPytest(after)
		return !reflect.DeepEqual(a, b)
	case "package.json":
		return !reflect.DeepEqual(jsonTools(before), jsonTools(after))
	}
	return false
}

// jsonTools returns the settings of test tools in a package.json. A file that is no JSON equals only itself.
func jsonTools(b []byte) any {
	var doc map[string]any
	if json.Unmarshal(b, &doc) != nil {
		return string(b)
	}
	return []any{doc["jest"], doc["mocha"], doc["ava"]}
}

// section returns the lines of all sections of that name in an INI file.
func section(ini []byte, name string) string {
	var out []string
	in := false
	for _, line := range strings.Split(string(ini), "\n") {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			in = strings.TrimSpace(head) == name
			continue
		}
		if in && line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// tomlPytest returns the table tool.pytest. A file that is no TOML equals only itself.
func tomlPytest(b []byte) any {
	var doc struct {
		Tool map[string]any `toml:"tool"`
	}
	if err := project.DecodeTOML(string(b), &doc); err != nil {
		return string(b)
	}
	return doc.Tool["pytest"]
}

// badPath says why a path can be no file of the tree; "" if it can.
func badPath(p string) string {
	switch {
	case p == "" || p == "." || path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../"):
		return "it is outside of the tree"
	case strings.ContainsAny(p, "\x00\\"):
		return "it holds a character that no path should"
	}
	for _, part := range strings.Split(p, "/") {
		// Some file systems fold case, and drop dots and spaces at the end.
		if strings.EqualFold(strings.TrimRight(part, ". "), ".git") {
			return "it is git's own"
		}
	}
	return ""
}
