package cargo

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

// target is the first file of a target of tests, with the target's name, where cargo looks for them unasked.
var target = regexp.MustCompile(`^(?:.*/)?tests/(?:([\w-]+)\.rs|([\w-]+)/main\.rs)$`)

// Neighbours are the targets of tests of the recipe's workspace.
func (Tool) Neighbours(t *project.Tree, r replay.Recipe) []string {
	var out []string
	for f := range t.Files() {
		if _, ok := below(r.Root, f); ok && target.MatchString(f) && t.Has(packageOf(f)) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

func packageOf(file string) string {
	dir, _, _ := strings.Cut("/"+file, "/tests/")
	return path.Join(strings.TrimPrefix(dir, "/"), manifestFile)
}

var (
	// plainTest is a test that the test library makes, in a file's outermost module.
	plainTest = regexp.MustCompile(`(?m)^#\[test\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?fn\s`)
	// shadowed are names of ours that a file may give another meaning; bare are files that are not for a library's usual words.
	shadowed = regexp.MustCompile(`\buse\b[^;]*\btest\b\s*[;,}]|\buse\b[^;]*\bas\s+(?:test|assert_eq)\b|macro_rules!\s*assert_eq\b`)
	bare     = regexp.MustCompile(`#!\[\s*(?:no_std|no_main|no_implicit_prelude|feature)\b`)
)

// Canaries adds tests to the end of targets of tests. Each target is a program of its own: only in one that uses it is a forger in the
// project's library at work. A new file would also have to be named where a manifest switches cargo's search off. Of targets that are not
// plain there is none, nor of tests among the sources.
func (Tool) Canaries(q canary.Request) []canary.File {
	files := q.Files
	if q.Max > 0 {
		files = canary.Aimed(files, func(f replay.File) bool { return slices.Contains(q.Target, f.Path) })
	}
	var out []canary.File
	for _, f := range files {
		text := string(f.Data)
		m := target.FindStringSubmatch(f.Path)
		if m == nil || !plainTest.MatchString(text) || shadowed.MatchString(text) || bare.MatchString(text) {
			continue
		}
		scope := "/test/" + m[1] + m[2] + "::"
		g := canary.File{
			Beside: func(id string) bool { return strings.Contains(id, scope) }, Listed: true, Last: true, Together: true,
			Broken: unloadable(f.Path, q.Word), Only: f.Path,
		}
		add := "\n"
		for _, t := range q.Tests {
			n := "zz" + q.Word + t.Part
			g.Names, g.Ends = append(g.Names, n), append(g.Ends, scope+n)
			add += fmt.Sprintf("\n#[test]\nfn %s() {\n    let n: u32 = \"%s\".bytes().map(u32::from).sum();\n    assert_eq!(n, %d);\n}\n", n, n, canary.Sum(n, t.Fails))
		}
		g.File = replay.File{Path: f.Path, Mode: f.Mode, Data: append(slices.Clone(f.Data), add...)}
		out = append(out, g)
	}
	return canary.Places(q, out)
}

func unloadable(file, word string) replay.File {
	return canary.Text(file, "compile_error!(\"zz"+word+"\");\n")
}

// Unloadable does not compile. What stands before "::" in ids is no file.
func (Tool) Unloadable(file, word string) replay.File {
	if !target.MatchString(file) {
		return replay.File{}
	}
	return unloadable(file, word)
}
