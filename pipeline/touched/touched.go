// Package touched says which tests of a report a change touched: it reads the change's test files before and after, has them compared
// by package testcode, and asks the test tool which ids those functions are.
//
// That a test is not touched is said only where its own file tells and nothing else changed that may matter to it. The
// package runs nothing and decides nothing about a candidate.
package touched

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/miners/lang/testcode"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/testid"
)

// File is what a change does to the tests of one file.
type File struct {
	Path pipeline.Text `json:"path"` // at the head; of a deleted file, where it was
	testcode.Change
}

// Change is what a change does to tests.
type Change struct {
	Files []File
	// Others are files for tests of whose use nothing is known: data, snapshots, settings, helpers in other languages.
	Others []pipeline.Text
}

// Moved says that a test is as it was, in a file that has another path, which is part of most ids.
const Moved testcode.How = "moved"

// Of compares all test files that a change touches, and the files of source that hold tests.
func Of(ctx context.Context, h *history.History, c gitrepo.Change) (Change, error) {
	files, err := h.Files(ctx, c)
	if err != nil {
		return Change{}, fmt.Errorf("reading the files of %.12s: %w", c.Head, err)
	}
	var out Change
	for _, f := range files {
		test := lang.Classify(f.Path) == lang.Test || f.OldPath != "" && lang.Classify(f.OldPath) == lang.Test
		switch {
		case testcode.Knows(f.Path) && (test || lang.Language(f.Path) == "Rust"):
			file, err := compare(ctx, h, c, f)
			if err != nil {
				return out, err
			}
			if len(file.Touched) > 0 || file.Unread || test && len(file.Elsewhere) > 0 {
				out.Files = append(out.Files, file)
			}
		case test:
			out.Others = append(out.Others, pipeline.Text(f.Path))
		}
	}
	return out, nil
}

func compare(ctx context.Context, h *history.History, c gitrepo.Change, f gitrepo.FileChange) (File, error) {
	out := File{Path: pipeline.Text(f.Path)}
	old := f.Path
	if f.Status == gitrepo.Renamed {
		old = f.OldPath
	}
	before, err := read(ctx, h, c.Base, old)
	if err != nil {
		return out, err
	}
	after, err := read(ctx, h, c.Head, f.Path)
	if err != nil {
		return out, err
	}
	out.Change = testcode.Compare(f.Path, before, after)
	if old != f.Path {
		out.moved(f.Path, after)
	}
	return out, nil
}

// moved adds the tests that the change leaves as they are in a file that has another path now.
func (f *File) moved(path string, after []byte) {
	now, _ := testcode.Read(path, after)
	for _, t := range now.Tests {
		if !slices.ContainsFunc(f.Touched, func(x testcode.Touch) bool { return x.String() == t.String() }) {
			f.Touched = append(f.Touched, testcode.Touch{Test: t, How: Moved})
		}
	}
}

// read is a file of a state; nil where there is none, such as a submodule, or no state at all.
func read(ctx context.Context, h *history.History, commit, path string) ([]byte, error) {
	if commit == "" {
		return nil, nil
	}
	b, err := h.Mirror.ReadFile(ctx, commit, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q of %.12s: %w", path, commit, err)
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// Answer says whether a change touched a test.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"      // nothing that the change touches can matter to it, as far as names tell
	Unsure  Answer = "unsure"  // the change touches what the test may use: see How, or Unclear
	Unknown Answer = "unknown" // the test tool does not tell which functions its ids are
)

// Mark is what a change did to one test of a report.
type Mark struct {
	ID      string       `json:"id"`
	Touched Answer       `json:"touched"`
	How     testcode.How `json:"how,omitempty"`
	By      string       `json:"by,omitempty"` // the name that it uses, of what the change touches
}

// Marks are what is known of the tests of a report, in the order of their ids.
type Marks struct {
	Tests []Mark `json:"tests"`
	// Unclear are names and files that the change touches and that tests may use of which the same file does not tell.
	Unclear []pipeline.Text `json:"unclear,omitempty"`
}

// Mark says of each id whether the change touched it. What the change deleted is in no report of its head.
func (c Change) Mark(r replay.Recipe, ids []string) Marks {
	out, known := Marks{Tests: make([]Mark, len(ids)), Unclear: c.unclear()}, true
	place := map[string]int{}
	for i, id := range ids {
		out.Tests[i].ID = id
		place[id] = i
	}
	for _, f := range c.Files {
		for _, t := range f.Touched {
			mine, ok := tools.TestsOf(r, Function(string(f.Path), t.Test), ids)
			known = known && ok
			for _, id := range mine {
				if m := &out.Tests[place[id]]; t.How != testcode.Deleted && m.How == "" {
					m.How, m.By = t.How, t.By
				}
			}
		}
	}
	for i := range out.Tests {
		out.Tests[i].Touched = out.answer(out.Tests[i], known)
	}
	return out
}

// unclear lists what the change touches besides tests and what they use of their own file.
func (c Change) unclear() (all []pipeline.Text) {
	for _, f := range c.Files {
		for _, name := range f.Elsewhere {
			all = append(all, pipeline.Text(string(f.Path)+": "+name))
		}
		if f.Unread {
			all = append(all, f.Path)
		}
	}
	return append(all, c.Others...)
}

func (m Marks) answer(t Mark, known bool) Answer {
	switch {
	case t.How == testcode.Unsure:
		return Unsure
	case t.How != "":
		return Yes
	case !known:
		return Unknown
	case len(m.Unclear) > 0:
		return Unsure
	}
	return No
}

// Function is a test of a file in the words of test tools.
func Function(file string, t testcode.Test) testid.Function {
	f := testid.Function{File: file}
	for _, n := range t.Path {
		f.Path = append(f.Path, testid.Name(n))
	}
	return f
}
