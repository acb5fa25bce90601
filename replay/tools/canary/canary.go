// Package canary has the words for tests of our own that are laid among a project's: some must pass, some must fail. A test tool that
// reports whatever it likes, or what it was told to, is found out by them.
//
// A tool that can write such tests knows where they go and which ids they get. The package runs nothing and judges nothing; what an outcome
// means is for who laid them.
package canary

import (
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/testid"
)

// Test is one test of ours, in every file. Part tells those of one file apart: a letter, or nothing.
type Test struct {
	Part  string
	Fails bool
}

// Request says which tests are wanted, and where.
type Request struct {
	Recipe replay.Recipe
	Word   string // hard to guess, of letters and digits: a part of all names
	Tests  []Test // of each file, in their order
	// Files are test files of the project, beside which the tests may be laid. None: a file that stands alone, if the tool can.
	Files  []replay.File
	Target []string // paths that will be run; none: everything
	// Max is in how many places there are tests of ours, those of the target first. 0: in every process that runs tests of Files.
	Max int
}

// File is a file with tests of ours. What its path has in the tree is replaced by it.
type File struct {
	replay.File
	Names []string // of the tests, as they end their ids, in the request's order; the same in all files
	Ends  []string // of the tests' ids, enough to know them by
	// Target is a path that the run has to be given besides its own, so that it runs the file; "" if there is none.
	Target string
	// Beside says which ids are of tests that run with the file's: where one of them has an outcome, so have these. nil: all.
	Beside func(id string) bool
	// Listed says that it is certain that the run collects the file: that its tests are missing means something.
	Listed bool
	// Last says that its tests run after those beside it: what ends these early ends them too.
	Last bool
	// Together says that the file is compiled with others: if it should not compile, neither do they.
	Together bool
	// Broken is a file that cannot be loaded, whose report repeats the request's word; Only is the path that runs it.
	Broken replay.File
	Only   string
}

// Is reports whether an id is that of the file's i-th test.
func (f File) Is(i int, id string) bool { return strings.HasSuffix(testid.Unnumbered(id), f.Ends[i]) }

// Text makes a file of text.
func Text(name, text string) replay.File {
	return replay.File{Path: name, Mode: 0o644, Data: []byte(text)}
}

// Below says whether ids are of files or packages that begin with a prefix.
func Below(prefix string) func(id string) bool {
	return func(id string) bool { return strings.HasPrefix(id, prefix) }
}

// Sum is what a test computes of its name, and what it compares that with: its outcome stands nowhere in its text, so that only who
// runs it knows.
func Sum(name string, fails bool) int {
	n := 0
	for _, b := range []byte(name) {
		n += int(b)
	}
	if fails {
		n++
	}
	return n
}

// Aimed are those of a list that a target names, or all if it names none.
func Aimed[T any](list []T, named func(T) bool) []T {
	chosen := slices.DeleteFunc(slices.Clone(list), func(e T) bool { return !named(e) })
	if len(chosen) == 0 {
		return list
	}
	return chosen
}

// Places bounds a list by the request's Max.
func Places[T any](q Request, list []T) []T {
	if q.Max > 0 && len(list) > q.Max {
		return list[:q.Max]
	}
	return list
}
