// Package refactor tells which lines of a change are only refactored: where each was before, if it does the same as before.
//
// It is language-light: it compares tokens and knows functions, but resolves no names and no types. It errs on the side of "changed",
// and finds nothing in languages that package lang cannot parse. What counts:
//
//  1. A line whose tokens are those of the old line that it replaces: only comments or layout differ.
//  2. A line that is the old line under a consistent renaming. A renaming x to y of a local name is consistent when a line of
//     the function declares it (an assignment, a typed declaration, a parameter), every replaced line of the function that has x
//     has y in its place and the other way round, x is gone from the function, and y was not in it before.
//  3. A renaming of a function, a method, a class or a top-level name counts in all files of the change in which the old name
//     is gone and the new one was not: its declaration must be among the replaced lines, and it must be the only one of
//     both names.
//  4. A block that was moved or extracted, also from one file of the change to another: at least three lines of code in a row with
//     fifteen tokens or more, the same under a renaming whose new names are declared in the block or stand in the first line of
//     the function that the block came to.
//
// Another constant, another callee, another operator or literal is never a refactoring. The package reads no repository and
// never judges whether a change is right.
package refactor

import (
	"sluice/miners/gitrepo"
	"sluice/miners/lang"
)

// File is a file of a change that is there before and after it.
type File struct {
	OldPath, Path string
	Old, New      []byte
	Hunks         []gitrepo.Hunk // without context
}

// Place is a line of a file, counted from 1.
type Place struct {
	File string
	Line int
}

// Find gives, for the new lines that are only refactored, the old line that each was: new path to old path.
func Find(files []File) map[Place]Place {
	c := change{found: map[Place]Place{}}
	for _, f := range files {
		c.add(f)
	}
	c.rename()
	c.move()
	return c.found
}

// change is what is known of all files of a change.
type change struct {
	files  []*file
	pairs  []pair
	global names // renamings that hold in all files
	found  map[Place]Place
}

// file is both versions of a file.
type file struct {
	old, new     *version
	hunks        []gitrepo.Hunk
	tookO, tookN map[int]bool // lines that have a counterpart
}

// pair is an old line and the new line that has its form.
type pair struct {
	f    *file
	o, n int
}

func (c *change) add(in File) {
	var wantO, wantN []lang.Span
	for _, h := range in.Hunks {
		wantO = append(wantO, lang.Span(h.Old))
		wantN = append(wantN, lang.Span(h.New))
	}
	old, okOld := parse(in.OldPath, in.Old, wantO)
	neu, okNew := parse(in.Path, in.New, wantN)
	if !okOld || !okNew {
		return
	}
	f := &file{old: old, new: neu, hunks: in.Hunks, tookO: map[int]bool{}, tookN: map[int]bool{}}
	c.files = append(c.files, f)
	for _, h := range in.Hunks {
		for _, at := range align(f.old.code(h.Old), f.new.code(h.New)) {
			c.pairs = append(c.pairs, pair{f, at[0], at[1]})
		}
	}
}

// accept notes that a new line is an old one.
func (c *change) accept(from *file, o int, to *file, n int) {
	from.tookO[o], to.tookN[n] = true, true
	c.found[Place{to.new.path, n}] = Place{from.old.path, o}
}
