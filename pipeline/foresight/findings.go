package foresight

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"sluice/judges"
	"sluice/judges/leak"
	"sluice/miners/gitrepo"
	"sluice/miners/links"
	"sluice/pipeline/history"
)

// findings has the rules judge look at a pair with everything that structure tells.
func (f *family) findings(ctx context.Context, p Proposal, link Link, s judges.Statement) ([]judges.Finding, error) {
	task, err := f.judged(ctx, *link.Intro)
	if err != nil {
		return nil, err
	}
	fix, err := f.judged(ctx, p.Fix)
	if err != nil {
		return nil, err
	}
	var fault error
	pair := judges.Pair{Task: task, Fix: fix, Statement: s, Known: f.known(ctx, *link.Intro, &fault)}
	if pair.Moved, err = f.moved(ctx, p.Fix, link); err != nil {
		return nil, err
	}
	found := append(judges.Examine(pair), f.leaks(pair, p.Fix, *link.Intro)...)
	return found, fault
}

// leaks are the words of the statement that only the fix could have told. They are worth knowing: whether they make the task too easy is
// for a judge.
func (f *family) leaks(pair judges.Pair, fix, intro gitrepo.Change) []judges.Finding {
	in := static(fix, intro, pair.Known)
	in.Before = []string{intro.Title, intro.Body, pair.Task.SourcePatch, pair.Task.TestPatch, f.Repo}
	in.Fix, in.Tests, in.Words = pair.Fix.SourcePatch, pair.Fix.TestPatch, fix.Title+"\n\n"+fix.Body
	var out []judges.Finding
	for _, l := range leak.Find(pair.Statement.Text(), in) {
		if l.Strength == leak.Strong {
			out = append(out, judges.Finding{Judge: judges.StatementLeakage, Code: "leaks_anticipation", Name: "statement-" + string(l.Kind), Quote: l.Text, Keeps: true})
		}
	}
	return out
}

// known asks the state before the task whether it holds a name. The first fault is left for the caller: what could not be looked up
// counts as not known, and nothing may be decided by that.
func (f *family) known(ctx context.Context, intro gitrepo.Change, fault *error) func(string) bool {
	if intro.Base == "" {
		return nil
	}
	return func(name string) bool {
		known, err := f.History.Mirror.Holds(ctx, intro.Base, name)
		if err != nil && *fault == nil {
			*fault = fmt.Errorf("asking the state before the task for a name: %w", err)
		}
		return known && err == nil
	}
}

// judged is what the rules judge sees of a change.
func (f *family) judged(ctx context.Context, c gitrepo.Change) (judges.Change, error) {
	files, err := f.History.Files(ctx, c)
	if err != nil {
		return judges.Change{}, fmt.Errorf("reading the files of %s: %w", c.Head, err)
	}
	s := history.SplitFiles(files)
	source, err := f.History.Patch(ctx, c.Base, c.Head, s.Untested())
	if err != nil {
		return judges.Change{}, fmt.Errorf("reading the diff of %s: %w", c.Head, err)
	}
	tests, err := f.History.Patch(ctx, c.Base, c.Head, s.Tests())
	if err != nil {
		return judges.Change{}, fmt.Errorf("reading the diff of %s: %w", c.Head, err)
	}
	j := judges.Change{
		Title: c.Title, Body: c.Body, TestPaths: history.Strings(s.Test), TestCode: testCode(s), SourcePaths: s.Untested(),
		SourcePatch: string(source), TestPatch: string(tests), Files: len(files), Closes: f.closes(c), Formatting: judges.No,
	}
	for _, file := range files {
		j.Lines += max(file.Added, 0) + max(file.Deleted, 0)
	}
	same, err := f.sameSyntax(ctx, files)
	if err != nil {
		return j, err
	}
	if same && len(s.Source) > 0 {
		j.Formatting = judges.Yes
	}
	return j, nil
}

// closes are the issues that a change's own text says it closes.
func (f *family) closes(c gitrepo.Change) []int {
	var out []int
	for _, issue := range links.Issues(c.Title+"\n\n"+c.Body, links.ParseRepo(f.Repo)) {
		if issue.Closes && issue.External == "" && !issue.Negated && issue.Number != c.Number {
			out = append(out, issue.Number)
		}
	}
	return out
}

// around is how many lines beside a line are blamed with it: git takes a piece as copied only when it is long enough to be no chance.
const around = 12

// moved reports whether blame that looks for moved and copied lines names another origin for most of the lines that speak for the
// introducing change.
func (f *family) moved(ctx context.Context, fix gitrepo.Change, link Link) (judges.Fact, error) {
	traced := map[string]map[int]string{} // commit by file and line
	total, elsewhere := 0, 0
	for _, l := range link.SZZ.Lines {
		if l.Change != link.Intro.Head || l.Dropped != "" {
			continue
		}
		if traced[l.File] == nil {
			traced[l.File] = map[int]string{}
		}
		traced[l.File][l.Line] = l.Commit
		total++
	}
	for _, file := range sortedKeys(traced) {
		n, err := f.elsewhere(ctx, fix.Base, file, traced[file], link.SZZ.Ignored)
		if errors.Is(err, gitrepo.ErrMissingObject) || errors.Is(err, fs.ErrNotExist) {
			return judges.Unknown, nil
		}
		if err != nil {
			return judges.Unknown, err
		}
		elsewhere += n
	}
	switch {
	case total == 0:
		return judges.Unknown, nil
	case 2*elsewhere > total:
		return judges.Yes, nil
	}
	return judges.No, nil
}

// elsewhere counts the lines of a file that come from another commit than the traced one when moves and copies are followed.
func (f *family) elsewhere(ctx context.Context, commit, file string, traced map[int]string, ignore []string) (int, error) {
	text, err := f.History.Mirror.ReadFile(ctx, commit, file)
	if err != nil {
		return 0, err
	}
	last := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		last++
	}
	var ranges []gitrepo.Range
	for _, n := range slices.Sorted(maps.Keys(traced)) {
		r := gitrepo.Range{First: max(1, n-around), Last: min(last, n+around)}
		if k := len(ranges) - 1; k >= 0 && r.First <= ranges[k].Last+1 {
			ranges[k].Last = r.Last
			continue
		}
		ranges = append(ranges, r)
	}
	lines, err := f.History.Mirror.Blame(ctx, commit, file, ranges, gitrepo.BlameOptions{
		IgnoreSpace: true, IgnoreRevs: ignore, Moves: true, Copies: 1, Unmarked: true,
	})
	n := 0
	for _, l := range lines {
		if from, ok := traced[l.Line]; ok && l.Commit != from {
			n++
		}
	}
	return n, err
}
