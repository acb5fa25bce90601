package judges

import (
	"regexp"
	"strings"

	"sluice/judges/leak"
)

// folderWords are parts of paths that say nothing of what a file is about.
var folderWords = wordSet(`src source sources lib libs test tests testing spec specs unit units integration e2e functional main java kotlin scala python py js ts javascript
typescript go rust c cpp cc h hpp include internal pkg packages package crates crate modules module app apps core common util utils helper helpers index mod init base
fixtures fixture testdata data cases case suite suites check checks conftest setup config node com org net io the and of impl tools tool cmd bin public private shared api`)

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// subjects are the words of paths that say what files are about.
func subjects(paths []string) map[string]bool {
	out := map[string]bool{}
	for _, p := range paths {
		for _, w := range leak.Split(strings.TrimSuffix(p, "."+lastPart(p))) {
			w = strings.TrimRight(strings.ToLower(w), "0123456789")
			if len(w) > 2 && !folderWords[w] {
				out[stem(w)] = true
			}
		}
	}
	return out
}

func lastPart(p string) string { return p[strings.LastIndexByte(p, '.')+1:] }

// stem cuts the endings by which names of one thing differ.
func stem(w string) string {
	for _, end := range []string{"ing", "ies", "es", "ed", "er", "s", "y"} {
		if len(w) > len(end)+3 && strings.HasSuffix(w, end) {
			return strings.TrimSuffix(w, end)
		}
	}
	return w
}

// unrelatedTests: B1. Of several test files one is about something else: its path has no word in common with the sources', while that of
// another file has, and its diff names nothing that the source's diff does. A project that numbers its tests, or names them after
// what users say, shows so by having none in common.
func unrelatedTests(p Pair) (Finding, bool) {
	sources := subjects(p.Fix.SourcePaths)
	names := tokens(p.Fix.SourcePatch, func(_ leak.Hunk, t leak.Token) bool { return t.Kind == leak.Name || t.Kind == leak.Literal })
	if len(sources) == 0 || len(names) == 0 {
		return Finding{}, false
	}
	related, other := false, ""
	for _, f := range leak.ReadPatch(p.Fix.TestPatch) {
		switch about := subjects([]string{f.Path}); {
		case len(about) == 0:
		case overlap(about, sources):
			related = true
		case other == "" && !mentions(f, sources, names) && testCode.MatchString(f.Path):
			other = f.Path
		}
	}
	return Finding{Judge: PairFairness, Code: "B1", Name: "unrelated-tests", Quote: other, Keeps: true}, related && other != ""
}

// testCode are files whose tests are code, and whose names say what they test.
var testCode = regexp.MustCompile(`(?i)(?:test|spec)[^/]*\.(?:go|py|rb|rs|js|jsx|ts|tsx|mjs|java|kt|scala|c|cc|cpp|cs|php|swift|exs?|pl|t)$`)

func overlap(a, b map[string]bool) bool {
	for w := range a {
		if b[w] {
			return true
		}
	}
	return false
}

// mentions reports whether a test's part of the diff speaks of the sources, by their paths' words or by names of their diff.
func mentions(f leak.File, sources, names map[string]bool) bool {
	for _, h := range f.Hunks {
		text := strings.ToLower(h.Before + h.After)
		for w := range sources {
			if strings.Contains(text, w) {
				return true
			}
		}
		for _, t := range leak.Lex(f.Path, h.After) {
			if names[t.Text] && telling(t.Text) {
				return true
			}
		}
	}
	return len(f.Hunks) == 0
}

// telling reports whether a name is more than a word of any program.
func telling(name string) bool { return len(leak.Split(name)) > 1 && len(name) > 5 || len(name) > 7 }

// tokens are the words of the new side of a patch that are wanted.
func tokens(patch string, wanted func(leak.Hunk, leak.Token) bool) map[string]bool {
	out := map[string]bool{}
	for _, f := range leak.ReadPatch(patch) {
		for _, h := range f.Hunks {
			for _, t := range leak.Lex(f.Path, h.After) {
				if wanted(h, t) {
					out[t.Text] = true
				}
			}
		}
	}
	return out
}

func isAdded(h leak.Hunk, t leak.Token) bool { return h.Added[t.Line] }

// asserts matches lines that check something, in the test frameworks of many languages.
var asserts = regexp.MustCompile(`(?i)\bassert\w*|\bexpect\w*|\bshould\w*|\brequire\.\w|\bEXPECT_\w|\bASSERT_\w|\bCHECK\w*\(|\bt\.(?:error|fatal|is|equal|deepequal|like|same|not)|\bmatch(?:es)?=|\bverify\w*\(|\btoBe|\bto\.(?:be|eq|have)|\bok\(|\bis\(|==|\braises|\bthrows|\bwant\b`)

// guess is a name or a text that an assertion of the fix's tests needs and only the fix's patch brings.
type guess struct{ text, line string }

// guesses looks through the assertions that a pair's fix adds.
func guesses(p Pair, kind leak.TokenKind, fits func(text string) bool) []guess {
	if p.Fix.TestPatch == "" || p.Fix.SourcePatch == "" {
		return nil
	}
	brought := tokens(p.Fix.SourcePatch, func(h leak.Hunk, t leak.Token) bool { return t.Kind == kind && isAdded(h, t) })
	before, own := earlier(p), definitions(p.Fix.TestPatch)
	var out []guess
	for _, f := range leak.ReadPatch(p.Fix.TestPatch) {
		for _, h := range f.Hunks {
			lines := strings.Split(h.After, "\n")
			for _, t := range leak.Lex(f.Path, h.After) {
				line := lines[t.Line]
				if t.Kind != kind || !isAdded(h, t) || !brought[t.Text] || !fits(t.Text) || own[t.Text] || len(line) > 1000 || !asserts.MatchString(line) {
					continue
				}
				if !strings.Contains(before, t.Text) && (p.Known == nil || !p.Known(t.Text)) {
					out = append(out, guess{t.Text, strings.TrimSpace(line)})
				}
			}
		}
	}
	return out
}

// definition matches what gives a value to a name, or makes a function of it.
var definition = regexp.MustCompile(`\b(?:def|fn|func|function|sub|fun)\s+(\w+)|(?:^|[\s(,;])(\w+)(?:\s*:\s*[\w<>\[\]., ]+)?\s*:?=(?:[^=]|$)|\bfor\s+(\w+)\b|\|(\w+)\|`)

// definitions are the names that a patch's own added lines define: variables of the tests, which need nothing of the fix.
func definitions(patch string) map[string]bool {
	out := map[string]bool{}
	for _, f := range leak.ReadPatch(patch) {
		for _, h := range f.Hunks {
			for i, line := range strings.Split(h.After, "\n") {
				if !h.Added[i] || len(line) > 1000 {
					continue
				}
				for _, m := range definition.FindAllStringSubmatch(line, -1) {
					out[m[1]+m[2]+m[3]+m[4]] = true
				}
			}
		}
	}
	return out
}

// earlier is all that stood before the fix or that the statement says, as far as the pair holds it.
func earlier(p Pair) string {
	var b strings.Builder
	b.WriteString(p.Statement.Text())
	for _, patch := range []string{p.Fix.SourcePatch, p.Fix.TestPatch} {
		for _, f := range leak.ReadPatch(patch) {
			for _, h := range f.Hunks {
				b.WriteByte('\n')
				b.WriteString(h.Before)
			}
		}
	}
	return b.String()
}

// namesToGuess: B2. An assertion needs a function, a constant or an attribute that only the fix makes.
func namesToGuess(p Pair) (Finding, bool) {
	return toGuess("implicit-name", guesses(p, leak.Name, func(s string) bool { return len(leak.Split(s)) > 1 && len(s) > 5 }))
}

// textsToGuess: B2. An assertion compares with a text that only the fix's source has, such as a new message.
func textsToGuess(p Pair) (Finding, bool) {
	return toGuess("implicit-text", guesses(p, leak.Literal, func(s string) bool { return len(strings.Fields(s)) > 2 && len(s) > 11 }))
}

func toGuess(name string, found []guess) (Finding, bool) {
	if len(found) == 0 {
		return Finding{}, false
	}
	return Finding{Judge: PairFairness, Code: "B2", Name: name, Quote: found[0].line, Keeps: true}, true
}

// inline are the forms of tests that stand in files of the program, by the ending of the file.
var inline = map[string]*regexp.Regexp{
	".rs":  regexp.MustCompile(`^\s*#\[(?:cfg\(test\)|(?:\w+::)*test\b|rstest\b|test_case\b)`),
	".py":  regexp.MustCompile(`^\s*>>> \S`),
	".ex":  regexp.MustCompile(`^\s*iex(?:\(\d+\))?> \S`),
	".zig": regexp.MustCompile(`^\s*test\s+(?:"|\w+\s*\{|\{)`),
	".d":   regexp.MustCompile(`^\s*(?:@\w+\s+)*unittest\b`),
	".ts":  regexp.MustCompile(`import\.meta\.vitest`),
	".js":  regexp.MustCompile(`import\.meta\.vitest`),
	".cpp": regexp.MustCompile(`^\s*(?:TEST_CASE|DOCTEST_TEST_CASE)\(`),
	".ml":  regexp.MustCompile(`^\s*let%(?:expect_)?test\b`),
	".rkt": regexp.MustCompile(`^\s*\(module\+ test\b`),
	".jl":  regexp.MustCompile(`^\s*julia> \S`),
}

// inlineTests: B7. The fix's source diff adds tests, so that they cannot be held back.
func inlineTests(p Pair) (Finding, bool) {
	for _, f := range leak.ReadPatch(p.Fix.SourcePatch) {
		re := inline["."+lastPart(f.Path)]
		if re == nil {
			continue
		}
		for _, h := range f.Hunks {
			for i, line := range strings.Split(h.After, "\n") {
				if h.Added[i] && re.MatchString(line) {
					return Finding{Judge: PairFairness, Code: "B7", Name: "inline-tests", Quote: strings.TrimSpace(line), Keeps: true}, true
				}
			}
		}
	}
	return Finding{}, false
}

var webLink = regexp.MustCompile(`https?://[^\s<>)\]]+`)

// A statement with a link and fewer words than these says what is wanted elsewhere.
const (
	fewBodyWords = 6
	fewWords     = 14
)

// linkOnly: B3. The body is hardly more than a webLink.
func linkOnly(p Pair) (Finding, bool) {
	shown := webLink.FindString(p.Statement.Body)
	count := func(s string) int { return len(strings.Fields(webLink.ReplaceAllString(s, " "))) }
	f := Finding{Judge: PairFairness, Code: "B3", Name: "link-only", Quote: shown, Keeps: true}
	return f, shown != "" && count(p.Statement.Body) < fewBodyWords && count(p.Statement.Text()) < fewWords
}
