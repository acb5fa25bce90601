package node

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/project"
)

// Neighbours are the test files of the recipe's package, and of those below it.
func (Package) Neighbours(t *project.Tree, r replay.Recipe) []string {
	var out []string
	for f := range t.Files() {
		if project.Within(r.Root, f) && LooseTest(f) && !fixture.MatchString(f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// Canaries adds tests to the end of test files. Most tools give each file a process, or modules, of its own: only there is a forger in the
// project's code at work. It also needs no rule for names, no import and no module format, and is collected wherever the file is. Of a file
// that says nothing of how it makes its tests, or that has some run and not others, there is none.
func (Package) Canaries(q canary.Request) []canary.File { return Canaries(q, "", ScopeAsserts) }

// Canaries is what Package's does, with the parameter of a test's function, and what may be asserted of n and sum in it, as calls that throw
// where they differ.
func Canaries(q canary.Request, param string, asserts func(tool, text string) []string) []canary.File {
	files := q.Files
	if q.Max > 0 {
		files = canary.Aimed(files, func(f replay.File) bool { return aimed(q.Target, f.Path) })
	}
	var out []canary.File
	for _, f := range files {
		text := string(f.Data)
		made, ok := makerOf(f.Path, text)
		if !ok {
			continue
		}
		var names, ends []string
		add := "\n"
		for _, t := range q.Tests {
			title := "zz" + q.Word + t.Part
			name := title
			if made.block != "" {
				name = title + " > " + title
			}
			names, ends = append(names, name), append(ends, f.Path+"::"+name)
			add += addition(made, title, param, canary.Sum(title, t.Fails), asserts(q.Recipe.Runner, text))
		}
		g := canary.File{
			File: replay.File{Path: f.Path, Mode: f.Mode, Data: append(slices.Clone(f.Data), add...)}, Names: names, Ends: ends,
			Beside: canary.Below(f.Path + "::"), Listed: made.certain, Last: true, Broken: unloadable(f.Path, q.Word), Only: f.Path,
		}
		out = append(out, g)
	}
	return canary.Places(q, out)
}

// aimed says that a target names a file or a folder above it.
func aimed(target []string, file string) bool {
	return slices.ContainsFunc(target, func(t string) bool {
		t = path.Clean(t)
		return t == file || t == "." || strings.HasPrefix(file, t+"/")
	})
}

// addition is one test, in one line that no type checker reads. It passes if what it computes is the sum, or if an assertion lets it pass that
// it is not. Where the file has blocks it is in one too: Mocha runs tests outside of blocks first, and what a patch does when it is called is
// not done yet.
func addition(made maker, title, param string, sum int, asserts []string) string {
	var tries strings.Builder
	for _, a := range asserts {
		fmt.Fprintf(&tries, " try { %s; return } catch (_) {}", a)
	}
	body := fmt.Sprintf("var n = 0, sum = %d; '%s'.split('').forEach(function (c) { n += c.charCodeAt(0) });%s if (n !== sum) throw new Error('this test must fail')",
		sum, title, tries.String())
	test := fmt.Sprintf("typeof %s === 'function' && %s('%s', function (%s) { %s })", made.test, made.test, title, param, body)
	if made.block != "" {
		test = fmt.Sprintf("typeof %s === 'function' && %s('%s', function () { %s })", made.block, made.block, title, test)
	}
	return "// @ts-ignore\n;" + test + ";\n"
}

var (
	testCall  = regexp.MustCompile(`(?m)^[ \t]*(test|it|specify)(?:\.\w+)*\(`)
	blockCall = regexp.MustCompile(`(?m)^(describe|suite|context)(?:\.\w+)*\(`)
	// choosing are the ways to have some tests run and not the others; typesOnly are files that no tool runs.
	choosing  = regexp.MustCompile(`\.only\b|\b(?:fit|fdescribe|ftest)\b`)
	typesOnly = regexp.MustCompile(`[.-]test-d\.[cm]?tsx?$`)
	// leaving are words by which a file may end before its end.
	leaving = regexp.MustCompile(`\bprocess\s*\.\s*exit\b|(?m)^(?:if\b.*)?\breturn\b`)
)

// maker is how a file makes its tests.
type maker struct {
	test, block string // the functions; block is "" where tests are not in blocks
	certain     bool   // they mean the same at the file's end, which is reached where its tests run
}

// makerOf reads that from a file; false if it does not say.
func makerOf(name, text string) (maker, bool) {
	m := testCall.FindStringSubmatch(text)
	if m == nil || choosing.MatchString(text) || typesOnly.MatchString(name) || !codeFile.MatchString(name) {
		return maker{}, false
	}
	made := maker{test: m[1], certain: stays(text, m[1]) && !leaving.MatchString(text)}
	if b := blockCall.FindStringSubmatch(text); b != nil {
		made.block, made.certain = b[1], made.certain && stays(text, b[1])
	}
	return made, true
}

// stays says that a name is an import's of the file, or one that it does not declare.
func stays(text, name string) bool {
	return origin(text, name) != "" || !regexp.MustCompile(`\b(?:const|let|var|function|class)\b[^;\n=]*\b`+name+`\b`).MatchString(text)
}

// origin is the module that a name of a file comes from; "" if it is no import.
func origin(text, name string) string {
	if m := regexp.MustCompile(`(?m)^(?:import|const|let|var)\b[^;'"()]*\b` + name + `\b[^;'"()]*(?:\bfrom|=\s*require\()\s*['"]([^'"]+)['"]`).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if regexp.MustCompile(`\b` + name + `\s*=\s*chai\.` + name + `\b|\{[^}]*\b` + name + `\b[^}]*\}\s*=\s*chai\b`).MatchString(text) {
		return "chai"
	}
	return ""
}

var (
	expects = regexp.MustCompile(`\)\s*\.(toBe|toEqual|toStrictEqual|to\.equal|to\.eql|to\.deep\.equal|to\.be\.equal)\(`)
	asserts = regexp.MustCompile(`\bassert\.(strictEqual|equal|deepEqual|deepStrictEqual|ok)\(`)
	// expecting and asserting are the libraries whose functions of these names throw.
	expecting = []string{"vitest", "@jest/globals", "expect", "chai"}
	asserting = []string{"assert", "node:assert", "assert/strict", "node:assert/strict", "chai", "vitest"}
)

// ScopeAsserts are the assertions that a file makes itself: one that was replaced is found out by those alone that use it.
func ScopeAsserts(tool, text string) []string {
	var out []string
	from := origin(text, "expect")
	if slices.Contains(expecting, from) || from == "" && (tool == "jest" || tool == "vitest" || strings.Contains(text, ").to.")) {
		for _, how := range used(expects, text) {
			out = append(out, "expect(n)."+how+"(sum)")
		}
	}
	if slices.Contains(asserting, origin(text, "assert")) {
		for _, how := range used(asserts, text) {
			call := "assert." + how + "(n, sum)"
			if how == "ok" {
				call = "assert.ok(n === sum)"
			}
			out = append(out, call)
		}
	}
	return out
}

// used are the names that an expression finds, each once, sorted.
func used(e *regexp.Regexp, text string) []string {
	var out []string
	for _, m := range e.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func unloadable(file, word string) replay.File {
	return canary.Text(file, "throw new Error('zz"+word+"')\n")
}

// Unloadable is a file that throws an error.
func (Package) Unloadable(file, word string) replay.File { return unloadable(file, word) }
