package node

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// toolTraits are the signs of a test tool. Which tool a package is for is decided here for all tools together, by the strongest sign that
// there is: what the touched tests import, what the package's scripts run, its settings and dependencies; then the same of the
// workspace that it belongs to.
type toolTraits struct {
	Tool     string
	Words    []string // by which scripts start it
	Packages []string // in dependencies
	Configs  []string // names of files, or of fields of the manifest; a name that ends in "." is a prefix
	Imports  *regexp.Regexp
}

// allTraits are the tools' signs; of two that fit as well the first is taken.
var allTraits = []toolTraits{
	{"vitest", []string{"vitest"}, []string{"vitest"}, []string{"vitest.config.", "vitest.workspace."}, regexp.MustCompile(`['"]vitest(?:/[^'"]*)?['"]`)},
	{"jest", []string{"jest", "jest-cli"}, []string{"jest", "jest-cli"}, []string{"jest.config.", "jest"}, regexp.MustCompile(`['"]@jest/globals['"]`)},
	{"ava", []string{"ava"}, []string{"ava"}, []string{"ava.config.", "ava"}, regexp.MustCompile(`['"]ava['"]`)},
	{"mocha", []string{"mocha", "_mocha"}, []string{"mocha"}, []string{".mocharc.", ".mocharc", "mocha"}, regexp.MustCompile(`['"]mocha['"]`)},
	{"nodetest", []string{"node-test", "borp"}, []string{"borp"}, nil, regexp.MustCompile(`['"]node:test['"]`)},
}

// place is where a tool's tests run and what told so.
type place struct {
	tool string
	root string
}

// Find names the folder in which a tool runs the tests of a change, or says with a project.ErrNoRecipe that the tool is not the one.
func Find(t *project.Tree, paths []string, tool string) (string, error) {
	p, err := choose(t, paths)
	if err != nil {
		return "", err
	}
	if p.tool != tool {
		return "", project.ErrNoRecipe{Reason: "the package's tests are for " + p.tool}
	}
	return p.root, nil
}

func choose(t *project.Tree, paths []string) (place, error) {
	dir, ok := t.Nearest(withoutFixtures(paths), manifestFile)
	if !ok && !t.Has(manifestFile) {
		return place{}, project.ErrNoRecipe{Reason: "no JavaScript package"}
	}
	for nearest := dir; ; {
		p, err := chooseIn(t, dir, paths)
		if err != nil || p.tool != "" {
			return p, err
		}
		if dir == "" {
			return chooseLast(t, nearest, paths)
		}
		up, err := above(t, dir)
		if err != nil {
			return place{}, err
		}
		dir = up
	}
}

// chooseLast asks the packages of the workspace where neither the nearest package nor what is above it knows of a tool.
func chooseLast(t *project.Tree, nearest string, paths []string) (place, error) {
	p, err := chooseMember(t, paths)
	if err != nil || p.tool != "" {
		return p, err
	}
	reason, err := unknownTool(t, nearest)
	if err != nil {
		return place{}, err
	}
	return place{}, project.ErrNoRecipe{Reason: reason}
}

// above is the next folder to ask: the workspace of a package, else the root.
func above(t *project.Tree, dir string) (string, error) {
	w, err := workspace(t, dir)
	if err != nil || w == dir {
		return "", err
	}
	return w, nil
}

func withoutFixtures(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return fixture.MatchString(p) })
}

var fixture = regexp.MustCompile(`(?:^|/)(?:fixtures?|__fixtures__|node_modules|examples?)/`)

func chooseIn(t *project.Tree, dir string, paths []string) (place, error) {
	m, err := readManifest(t, dir)
	if err != nil || m == nil {
		return place{}, err
	}
	for _, sign := range []func(toolTraits) (int, error){
		func(x toolTraits) (int, error) { return imports(t, x, paths) },
		func(x toolTraits) (int, error) { return bit(m.runsTool("test", x)), nil },
		func(x toolTraits) (int, error) { return bit(m.anyTestScript(x)), nil },
		func(x toolTraits) (int, error) { return bit(configured(t, dir, m, x)), nil },
		func(x toolTraits) (int, error) { return sampled(t, dir, x) },
	} {
		best, tool := 0, ""
		for _, x := range allTraits {
			n, err := sign(x)
			if err != nil {
				return place{}, fmt.Errorf("looking for a test tool: %w", err)
			}
			if n > best {
				best, tool = n, x.Tool
			}
		}
		if tool != "" {
			root, err := runRoot(t, dir, m, tool)
			return place{tool, root}, err
		}
	}
	return place{}, nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// runRoot is the folder to run a tool in: that of the workspace if its settings name the projects in it; else the package's if something
// in it speaks of the tool; else the workspace's if something there does.
func runRoot(t *project.Tree, dir string, m *manifest, tool string) (string, error) {
	if dir == "" {
		return dir, nil
	}
	x := traits(tool)
	up, err := above(t, dir)
	if err != nil {
		return "", err
	}
	top, err := readManifest(t, up)
	if err != nil || top == nil {
		return dir, err
	}
	if all, err := namesProjects(t, up, x); err != nil || all {
		return up, err
	}
	own := m.anyTestScript(x) || hasSettings(t, dir, m, x)
	if !own && (top.anyTestScript(x) || hasSettings(t, up, top, x) || !configured(t, dir, m, x) && configured(t, up, top, x)) {
		return up, nil // a dependency alone says little
	}
	return dir, nil
}

var manyProjects = regexp.MustCompile(`\b(?:projects|workspace)\b["']?\s*:`)

// namesProjects reports whether a tool's settings in a folder name projects that it runs together, so that it is run there only.
func namesProjects(t *project.Tree, dir string, x toolTraits) (bool, error) {
	for _, c := range x.Configs {
		for _, ext := range extensions {
			name := path.Join(dir, c+ext)
			if !strings.HasSuffix(c, ".") || !t.Has(name) {
				continue
			}
			text, err := t.Read(name)
			if err != nil || strings.HasSuffix(c, "workspace.") || manyProjects.MatchString(text) {
				return true, err
			}
		}
	}
	return false, nil
}

// extensions of files of settings.
var extensions = []string{"js", "ts", "cjs", "mjs", "mts", "cts", "json", "yml", "yaml", "jsonc"}

func traits(tool string) toolTraits {
	i := slices.IndexFunc(allTraits, func(x toolTraits) bool { return x.Tool == tool })
	return allTraits[max(i, 0)]
}

// imports counts the touched tests that import the tool.
func imports(t *project.Tree, x toolTraits, paths []string) (int, error) {
	n := 0
	for _, p := range paths {
		if !LooseTest(p) || !t.Has(p) {
			continue
		}
		text, err := t.Read(p)
		if err != nil {
			return 0, err
		}
		n += bit(x.Imports.MatchString(text))
	}
	return n, nil
}

// samples bounds how many tests of a package are read that nothing else tells about.
const samples = 40

func sampled(t *project.Tree, dir string, x toolTraits) (int, error) {
	if x.Tool == "mocha" {
		return 0, nil // nobody imports it
	}
	var tests []string
	for f := range t.Files() {
		if project.Within(dir, f) && LooseTest(f) && !fixture.MatchString(f) {
			tests = append(tests, f)
		}
	}
	slices.Sort(tests)
	return imports(t, x, tests[:min(samples, len(tests))])
}

func (m *manifest) runsTool(script string, x toolTraits) bool {
	for _, s := range m.chain(script) {
		for _, c := range s.flat() {
			if _, ok := c.callOf(x); ok {
				return true
			}
		}
	}
	return false
}

var testScript = regexp.MustCompile(`(?i)^(?:test|unit|mocha|jest|vitest|ava|spec)(?:[:_-]|$)|[:_-](?:test|unit)$`)

func (m *manifest) anyTestScript(x toolTraits) bool {
	return slices.ContainsFunc(m.testScripts(), func(name string) bool { return m.runsTool(name, x) })
}

// maxScripts bounds the scripts with a test's name that are looked at.
const maxScripts = 100

// testScripts are the names of scripts that are a test's, sorted.
func (m *manifest) testScripts() []string {
	list := slices.DeleteFunc(sortedKeys(m.Scripts), func(n string) bool { return !testScript.MatchString(n) })
	return list[:min(len(list), maxScripts)]
}

func configured(t *project.Tree, dir string, m *manifest, x toolTraits) bool {
	return hasSettings(t, dir, m, x) || slices.ContainsFunc(x.Packages, func(p string) bool { return m.Deps[p] != "" })
}

// hasSettings reports whether a folder has a file of the tool's settings, or its manifest a field of them.
func hasSettings(t *project.Tree, dir string, m *manifest, x toolTraits) bool {
	for _, c := range x.Configs {
		if !strings.HasSuffix(c, ".") && m.has(c) {
			return true
		}
		for _, ext := range extensions {
			if strings.HasSuffix(c, ".") && t.Has(path.Join(dir, c+ext)) {
				return true
			}
		}
	}
	return false
}

// callOf finds the tool in a command; node's own is an option.
func (c command) callOf(x toolTraits) (Call, bool) {
	if x.Tool == "nodetest" && len(c.words) > 1 && path.Base(c.words[0]) == "node" {
		if i := slices.Index(c.words, "--test"); i > 0 {
			return Call{Env: c.env, Args: slices.Delete(slices.Clone(c.words[1:]), i-1, i)}, true
		}
	}
	return c.call(x.Words)
}

// toolCall is how the package in a folder starts a tool: by its test script, else by the first script with a test's name that does. ok is
// false if none does.
func (m *manifest) toolCall(x toolTraits) (Call, bool) {
	for _, name := range append([]string{"test"}, m.testScripts()...) {
		for _, s := range m.chain(name) {
			for _, c := range s.flat() {
				if call, ok := c.callOf(x); ok {
					return call, true
				}
			}
		}
	}
	return Call{}, false
}

var (
	codeFile   = regexp.MustCompile(`\.[cm]?[jt]sx?$`)
	strictTest = regexp.MustCompile(`(?i)(?:[._-](?:\w*test|tests|\w*spec|cy)\.[cm]?[jt]sx?$)|(?:^|/)__tests__/|(?:^|/)(?:test|tests|spec)\.[cm]?[jt]sx?$`)
	looseTest  = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test-[^/]*$`)
	helper     = regexp.MustCompile(`(?i)(?:^|/)(?:fixtures?|__fixtures__|helpers?|support|utils?|mocks?|__mocks__|snapshots?|node_modules)/|\.d\.[cm]?ts$`)
)

// StrictTest goes by names that say that a file is a test.
func StrictTest(name string) bool {
	return codeFile.MatchString(name) && strictTest.MatchString(name) && !strings.HasSuffix(name, ".d.ts")
}

// LooseTest takes code in folders of tests too, but for helpers.
func LooseTest(name string) bool {
	return StrictTest(name) || codeFile.MatchString(name) && looseTest.MatchString(name) && !helper.MatchString(name)
}

// Files keeps the tests of a target, named from the package's folder. None that fits: everything runs.
func Files(root string, paths []string, test func(string) bool) []string {
	var list []string
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		below, ok := strings.CutPrefix(clean, root+"/")
		if root == "" {
			below, ok = clean, true
		}
		if ok && test(clean) {
			list = append(list, below)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
