package gotest

import (
	"bytes"
	"go/build/constraint"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/replay"
)

// never are words that mean something else than a kind of tests: to set them leaves code out or breaks it.
var never = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`ignore ignored tools tool manual never none generate generator gen exclude disabled broken example
		examples race msan asan cgo gc gccgo tinygo purego appengine unix goexperiment boringcrypto netgo osusergo static static_build
		aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
		386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64 ppc64le
		riscv riscv64 s390 s390x sparc sparc64 wasm`) {
		never[w] = true
	}
}

// ordinary says that a word of a build constraint can be set by who runs the tests.
func ordinary(w string) bool {
	sound := w != "" && len(w) <= 40 && !strings.ContainsFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_')
	})
	return sound && !never[strings.ToLower(w)]
}

// wordsOf are the words that must be set for a test file to be compiled; none if it is compiled as it is, or never.
func wordsOf(f replay.File) []string {
	if !bytes.Contains(f.Data, []byte("build ")) || matches(f) {
		return nil
	}
	words := map[string]bool{}
	for line := range bytes.Lines(f.Data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "package ") {
			break
		}
		if !constraint.IsGoBuild(text) && !constraint.IsPlusBuild(text) {
			continue
		}
		if expr, err := constraint.Parse(text); err == nil {
			positive(expr, false, words)
		}
	}
	list := slices.Sorted(maps.Keys(words))
	if len(list) == 0 || !matches(f, list...) {
		return nil
	}
	return list
}

// positive gathers the ordinary words of an expression that are not negated.
func positive(e constraint.Expr, negated bool, words map[string]bool) {
	switch e := e.(type) {
	case *constraint.AndExpr:
		positive(e.X, negated, words)
		positive(e.Y, negated, words)
	case *constraint.OrExpr:
		positive(e.X, negated, words)
		positive(e.Y, negated, words)
	case *constraint.NotExpr:
		positive(e.X, !negated, words)
	case *constraint.TagExpr:
		if !negated && ordinary(e.Tag) {
			words[e.Tag] = true
		}
	}
}

// tagged runs a command with the tags that the files named in $2 are behind, of those in $1; a name or word a line. Which these
// are is looked up when the tests run: overlays bring files that the tree of the recipe does not have.
const tagged = `tags=$(printf '%s\n' "$2" | while IFS= read -r f; do sed -n '/^package /q; /^\/\/ *+build /p; /^\/\/go:build /p' "$f"; done 2>/dev/null |
tr -c 'A-Za-z0-9_!\n' '\n' | grep -Fx -e "$1" | sort -u | paste -s -d, -)
shift 2
export GOFLAGS="$GOFLAGS${tags:+ -tags=$tags}"
exec "$@"`

// withTags makes a command run with the tags of the test files among its paths, if the recipe knows any.
func withTags(r replay.Recipe, paths, args []string) []string {
	var files []string
	for _, p := range paths {
		if clean := path.Clean("/" + p); strings.HasSuffix(clean, "_test.go") && !strings.Contains(clean, "\n") {
			files = append(files, "{tree}"+clean)
		}
	}
	if len(r.Tags) == 0 || len(files) == 0 {
		return args
	}
	return append([]string{"sh", "-c", tagged, "sh", strings.Join(r.Tags, "\n"), strings.Join(files, "\n")}, args...)
}
