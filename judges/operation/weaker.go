package operation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// expectation matches what makes a test strict or lets it off, in the languages of this project's runners and their neighbours.
var expectation = regexp.MustCompile(strings.Join([]string{
	`\bassert\w*\b`, `\bexpect\w*\(`, `\brequire\.\w+\(`, `\bt\.(?:Error|Fatal|Fail|Skip)\w*\(`, `\bb\.(?:Error|Fatal)\w*\(`,
	`\bpytest\.(?:raises|warns|skip|fail|xfail|importorskip|mark\.\w+|param)\b`, `\bself\.(?:fail|skip)\w*\(`, `@\w*\.?(?:skip|skipIf|skipUnless|expectedFailure|parametrize)\b`,
	`\bshould\b`, `\b(?:it|describe|test)\.(?:skip|only|todo|failing)\b`, `\bx(?:it|describe|test)\(`, `#\[(?:ignore|should_panic)`,
	`@(?:Disabled|Ignore|ParameterizedTest|ValueSource|CsvSource)\b`, `\b(?:panic|unreachable|todo)!`, `//go:build`,
}, "|"))

// hook matches what steers a test tool, or swaps parts of a program while it runs: helpers have little use for it.
var hook = regexp.MustCompile(strings.Join([]string{
	`\bdef pytest_\w+`, `\bcollect_ignore(?:_glob)?\b`, `\bpytestmark\b`, `\bpytest_plugins\b`, `\bautouse\b`, `\b(?:skip|xfail)\w*\(`, `\.(?:skip|xfail)\b`, `\bsys\.(?:modules|path_hooks|meta_path|settrace)\b`,
	`\bsetattr\(`, `\bmonkeypatch\b`, `\bmock\.patch\b`, `@patch\b`, `\b__import__\(`, `\bimportlib\b`, `\b(?:exec|eval)\(`, `\bos\._exit\(`, `\bsys\.exit\(`, `\batexit\b`, `\bfunc TestMain\(`, `\bos\.Exit\(`, `//go:linkname`,
	`^\s*addopts\b`, `^\s*python_(?:files|classes|functions)\b`, `^\s*(?:testpaths|norecursedirs|confcutdir|xfail_strict)\b`, `-p\s+no:`, `--(?:deselect|ignore|collect-only|runxfail)\b`,
}, "|"))

// hooks are the lines that steer a test tool.
func hooks(text []byte) []string {
	var out []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if hook.MatchString(line) {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return out
}

// testName matches the line that begins a test.
var testName = regexp.MustCompile(`^\s*(?:async\s+)?(?:def\s+(test\w*)|func\s+(Test\w*|Fuzz\w*|Benchmark\w*)|class\s+(Test\w*|\w+Tests?)\b|(?:it|test)\s*\(\s*['"](.+?)['"])`)

// weakened looks in an allowed test file for expectations, skips and tests that are gone or new. All of that is for the judge: a
// moved line, a renamed helper and a weaker test look alike from here.
func weakened(f File) []Finding {
	find := func(what string) Finding {
		return Finding{Code: WeakenedTest, Path: f.Path, What: what}
	}
	if f.After == nil || f.Special {
		return []Finding{find("an allowed test file is gone")}
	}
	before, after := expectations(f.Before), expectations(f.After)
	var out []Finding
	for _, line := range missing(before, after) {
		out = append(out, find(fmt.Sprintf("gone or changed: %.160s", line)))
	}
	if f.Before != nil {
		for _, line := range missing(after, before) {
			out = append(out, find(fmt.Sprintf("new or changed: %.160s", line)))
		}
	}
	for _, line := range missing(hooks(f.After), hooks(f.Before)) {
		if f.Before != nil && expectation.MatchString(line) {
			continue // said above
		}
		out = append(out, find(fmt.Sprintf("it steers the test tool or the program: %.160s", line)))
	}
	for _, name := range missing(tests(f.Before), tests(f.After)) {
		out = append(out, find("the test "+name+" is gone"))
	}
	return out
}

// expectations are the statements that hold an expectation, white space folded. A statement goes on while its brackets are open.
func expectations(text []byte) []string {
	var out []string
	statement, open := "", 0
	for line := range strings.SplitSeq(string(text), "\n") {
		folded := strings.Join(strings.Fields(line), " ")
		statement = strings.TrimSpace(statement + " " + folded)
		open += strings.Count(line, "(") + strings.Count(line, "[") + strings.Count(line, "{") -
			strings.Count(line, ")") - strings.Count(line, "]") - strings.Count(line, "}")
		if open > 0 && len(statement) < 4000 && !blockStart(folded) {
			continue
		}
		if expectation.MatchString(statement) {
			out = append(out, statement)
		}
		statement, open = "", 0
	}
	if expectation.MatchString(statement) {
		out = append(out, statement)
	}
	return out
}

// blockStart says that an open bracket at the line's end is that of a block of statements.
func blockStart(line string) bool {
	return strings.HasSuffix(line, "{") && !strings.HasSuffix(line, "({") && !strings.HasSuffix(line, "[{") || strings.HasSuffix(line, "=> {")
}

func tests(text []byte) []string {
	var out []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if m := testName.FindStringSubmatch(line); m != nil {
			out = append(out, strings.Join(m[1:], ""))
		}
	}
	return out
}

// missing lists what of a is not in b, as often as it is not.
func missing(a, b []string) []string {
	have := map[string]int{}
	for _, x := range b {
		have[x]++
	}
	var out []string
	for _, x := range a {
		if have[x]--; have[x] < 0 {
			out = append(out, x)
		}
	}
	return slices.Clip(out)
}
