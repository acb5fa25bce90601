package lang

import (
	"path"
	"strings"
	"unicode"
)

// testName tells whether the file's own name makes it a test, wherever it is.
func (p parts) testName() bool {
	if testFiles[p.base] || testExts[p.ext] {
		return true
	}
	if !p.isCode() {
		return false
	}
	return helperStems[strings.NewReplacer("-", "", "_", "").Replace(p.stem)] || p.plainTest() || p.camelTest()
}

// plainTest knows names such as foo_test.go, test_foo.py and foo.spec.ts.
func (p parts) plainTest() bool {
	l := p.lang
	if a, ok := plainAlias[l]; ok {
		l = a
	}
	if p.ext == ".t" {
		return true
	}
	for _, mark := range plainLangs[l] {
		start := strings.IndexAny(mark, "_-.") != 0
		if start && strings.HasPrefix(p.stem, mark) || !start && strings.HasSuffix(p.stem, mark) && p.stem != mark {
			return true
		}
	}
	return p.lang == "TypeScript" && strings.HasSuffix(p.stem, ".test-d")
}

// camelTest knows FooTest.java and TestFoo.java, not Latest.java and not SUBMIT.java.
func (p parts) camelTest() bool {
	stem := strings.TrimSuffix(p.name, path.Ext(p.name))
	for _, end := range camelLangs[p.lang] {
		if rest, ok := strings.CutSuffix(stem, end); ok && (endsLower(rest) || rest == "" && end != "IT") {
			return true
		}
	}
	rest, ok := strings.CutPrefix(stem, "Test")
	return ok && p.lang == "Java" && rest != "" && unicode.IsUpper(rune(rest[0]))
}

// endsLower tells whether a word ends before a capital that would follow s.
func endsLower(s string) bool { return s != "" && !unicode.IsUpper(rune(s[len(s)-1])) }

// testDir tells whether the i-th folder says that everything below it serves tests.
func (p parts) testDir(i int) bool {
	d := p.dirs[i]
	switch {
	case testDirs[d]:
		return true
	case specDirs[d]:
		return specLangs[p.lang]
	case i > 0 && p.dirs[i-1] == "src" && strings.HasSuffix(p.exact[i], "Test"):
		return true // a source set of Gradle: src/integrationTest/java
	}
	for _, end := range []string{"-tests", "_tests", ".tests", ".test", "-e2e"} {
		if strings.HasSuffix(d, end) {
			return true
		}
	}
	rest, ok := strings.CutSuffix(p.exact[i], "Tests")
	return ok && endsLower(rest) || strings.HasSuffix(p.exact[i], "UITests")
}
