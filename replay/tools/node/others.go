package node

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// others are test tools that sluice does not run: words of scripts, which are names of packages too, by what the reason calls them.
var others = []struct {
	name  string
	words []string
}{
	{"tap", []string{"tap", "@tapjs/core"}}, {"tape", []string{"tape", "ts-tape"}}, {"karma", []string{"karma"}},
	{"jasmine", []string{"jasmine", "jasmine-node", "jasmine-ts", "jasmine-core"}}, {"uvu", []string{"uvu"}}, {"QUnit", []string{"qunit", "qunitjs"}},
	{"lab", []string{"lab", "@hapi/lab"}}, {"nodeunit", []string{"nodeunit"}}, {"vows", []string{"vows"}}, {"testem", []string{"testem", "ember"}},
	{"web-test-runner", []string{"web-test-runner", "wtr", "@web/test-runner"}}, {"Playwright", []string{"playwright", "@playwright/test"}},
	{"Cypress", []string{"cypress"}}, {"Bun's own tool", []string{"bun"}}, {"Deno's own tool", []string{"deno"}}, {"attester", []string{"attester"}},
}

// unknownTool says in a few words why no tool is known for the package in a folder.
func unknownTool(t *project.Tree, dir string) (string, error) {
	m, err := readManifest(t, dir)
	if err != nil || m == nil {
		return "no test tool is known for the package", err
	}
	var ran []string // programs of the test script
	for _, s := range m.chain("test") {
		for _, c := range s.flat() {
			if len(c.words) > 0 {
				ran = append(ran, path.Base(c.words[0]))
			}
		}
	}
	for _, known := range []func(word string) bool{
		func(word string) bool { return slices.Contains(ran, word) },
		func(word string) bool { return m.Deps[word] != "" },
	} {
		for _, o := range others {
			if slices.ContainsFunc(o.words, known) {
				return fmt.Sprintf("the package's tests are for %s, which sluice does not run", o.name), nil
			}
		}
	}
	switch script := m.Scripts["test"]; {
	case script == "":
		return "no test tool is known for the package: it has no test script", nil
	case strings.Contains(script, "no test specified"):
		return "no test tool is known for the package: its test script is npm's own, which tests nothing", nil
	case len(ran) == 0:
		return "no test tool is known for the package: its test script cannot be read", nil
	}
	ran = slices.Compact(ran)
	return "no test tool is known for the package: its test script runs " + clip(strings.Join(ran[:min(len(ran), 5)], ", ")), nil
}

// chooseMember finds a tool in the packages of the workspace at the root, where nothing else speaks of one: of those that have a tool, the
// package that most of the touched files are in, then the one with the most tests, then the first.
func chooseMember(t *project.Tree, paths []string) (place, error) {
	globs, err := workspaces(t, "")
	if err != nil || len(globs) == 0 {
		return place{}, err
	}
	var dirs []string
	for f := range t.Files() {
		if dir := parent(f); path.Base(f) == manifestFile && dir != "" && !fixture.MatchString(f) && globs.member(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	var tests []string
	for f := range t.Files() {
		if LooseTest(f) && !fixture.MatchString(f) {
			tests = append(tests, f)
		}
	}
	below := func(dir string, files []string) (n int) {
		for _, f := range files {
			n += bit(strings.HasPrefix(f, dir+"/"))
		}
		return n
	}
	best, most := place{}, [2]int{-1, -1}
	for _, dir := range dirs[:min(len(dirs), maxMembers)] {
		n := [2]int{below(dir, paths), below(dir, tests)}
		if slices.Compare(n[:], most[:]) <= 0 {
			continue
		}
		p, err := chooseIn(t, dir, paths)
		if err != nil {
			return place{}, err
		}
		if p.tool != "" {
			best, most = p, n
		}
	}
	return best, nil
}

// maxMembers bounds the packages of a workspace that are looked at.
const maxMembers = 500
