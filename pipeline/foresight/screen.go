package foresight

import (
	"context"
	"fmt"
	"regexp"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/miners/links"
	"sluice/pipeline"
	"sluice/pipeline/history"
)

type window struct{ Since, Until string }

// screenSettings are what both screens read besides the change.
func (f *family) screenSettings() any {
	return struct {
		Window   window
		MaxFiles int
	}{window{f.set.Since.UTC().String(), f.set.Until.UTC().String()}, f.set.MaxFiles}
}

// screen drops changes that cannot be the fix of a pair, by their own text and files.
func (f *family) screen() pipeline.Stage {
	return pipeline.Stage{
		Name: "screen", Version: 1, Pool: pipeline.Git, Makes: []string{evSplit},
		Settings: f.screenSettings(),
		Codes: []pipeline.Code{
			{Name: "outside-window", Text: "The change landed outside of --since and --until."},
			{Name: "root-commit", Text: "The change is the first of the history: there is no state before it."},
			{Name: "octopus-merge", Text: "The change is a merge of more than two parents."},
			{Name: "back-merge", Text: "The change merges another branch of the project (a release or main branch) and is no change of its own."},
			{Name: "empty-change", Text: "The change touches no file."},
			{Name: "too-large", Text: "The change touches more files than --max-files allows; such sweeps have no single cause."},
			{Name: "revert", Text: "The change reverts another change: it undoes work instead of repairing it."},
			{Name: "dependency-bump", Text: "The change moves dependency versions."},
			{Name: "docs-only", Text: "The change touches documentation only."},
			{Name: "generated-only", Text: "Apart from documentation and settings the change touches generated or vendored files only."},
			{Name: "no-source-change", Text: "The change touches no source file: nothing was repaired in the program."},
			{Name: "no-test-change", Text: "The change leaves no test file that it added or modified: there is nothing to run."},
			{Name: "formatting-only", Text: "Before and after, the source files hold the same syntax: only comments or layout changed."},
		},
		Run: f.runScreen,
	}
}

func (f *family) runScreen(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	var p Proposal
	if err := c.Data(&p); err != nil {
		return pipeline.Outcome{}, err
	}
	if o, out := f.screenShape(p.Fix); out {
		return o, nil
	}
	files, err := f.History.Files(ctx, p.Fix)
	if err != nil {
		return pipeline.Outcome{}, fmt.Errorf("reading the files of %s: %w", p.Fix.Head, err)
	}
	split := history.SplitFiles(files)
	if o, out := f.screenFiles(p.Fix, split); out {
		return o, nil
	}
	same, err := f.sameSyntax(ctx, files)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	if same {
		return pipeline.Reject("formatting-only", "the source files hold the same syntax before and after"), nil
	}
	return pipeline.Pass(), c.Write(ctx, evSplit, split)
}

// screenShape judges by the commit alone.
func (f *family) screenShape(c gitrepo.Change) (pipeline.Outcome, bool) {
	switch {
	case !f.set.contains(c.Committed):
		return pipeline.Reject("outside-window", f.set.outside(c.Committed)), true
	case c.Base == "":
		return pipeline.Reject("root-commit", "has no parent"), true
	case c.Parents > 2:
		return pipeline.Reject("octopus-merge", fmt.Sprintf("has %d parents", c.Parents)), true
	case c.Parents == 2 && backMerge.MatchString(c.Title):
		return pipeline.Reject("back-merge", c.Title), true
	}
	if _, _, subject, ok := links.RevertOf(c.Title, c.Body); ok {
		return pipeline.Reject("revert", "reverts "+subject), true
	}
	if bump.MatchString(c.Title) {
		return pipeline.Reject("dependency-bump", c.Title), true
	}
	return pipeline.Outcome{}, false
}

// screenFiles judges by the kinds of the files.
func (f *family) screenFiles(c gitrepo.Change, s history.Split) (pipeline.Outcome, bool) {
	switch {
	case s.Files == 0:
		return pipeline.Reject("empty-change", "touches no file"), true
	case s.Files > f.set.MaxFiles:
		return pipeline.Reject("too-large", fmt.Sprintf("touches %d files, the limit is %d", s.Files, f.set.MaxFiles)), true
	case len(s.Docs) == s.Files:
		return pipeline.Reject("docs-only", fmt.Sprintf("touches %d documentation files only", s.Files)), true
	case len(s.Source) == 0 && len(s.Generated) > 0:
		return pipeline.Reject("generated-only", string(s.Generated[0])), true
	case len(s.Source) == 0 && len(s.Config) > 0 && len(s.Test) == 0 && dependencies.MatchString(c.Title):
		return pipeline.Reject("dependency-bump", c.Title), true
	case len(s.Source) == 0:
		return pipeline.Reject("no-source-change", "touches no source file"), true
	case len(s.Test) == 0:
		return pipeline.Reject("no-test-change", "adds and modifies no test file"), true
	}
	return pipeline.Outcome{}, false
}

var (
	bump         = regexp.MustCompile(`(?i)^(?:(?:build|chore|ci|fix|deps?)\(deps(?:-dev)?\):|(?:build|chore)?[: ]*bump \S+ (?:from \S+ )?to \S+|update (?:dependency|module|dependencies)\b|(?:chore|build)?:? ?upgrade \S+ (?:from \S+ )?to v?\d)`)
	dependencies = regexp.MustCompile(`(?i)\b(?:bump|upgrade|update|depend)`)
	backMerge    = regexp.MustCompile(`(?i)^merge (?:remote-tracking )?(?:branch|tag|commit) '(?:[\w.-]+/)?(?:main|master|develop|trunk|dev|release\S*|v?\d[\w.]*)'|^merge (?:main|master|develop|trunk) into\b`)
)

// sameSyntax reports whether the source files of a diff differ in comments and layout only. One file that is added, deleted or in
// a language that cannot be compared is enough for no.
func (f *family) sameSyntax(ctx context.Context, files []gitrepo.FileChange) (bool, error) {
	for _, fc := range files {
		if lang.Classify(fc.Path) != lang.Source {
			continue
		}
		if fc.Status != gitrepo.Modified && fc.Status != gitrepo.Renamed {
			return false, nil
		}
		if fc.OldID == fc.ID {
			continue
		}
		before, err := f.History.Mirror.Blob(ctx, fc.OldID)
		if err != nil {
			return false, fmt.Errorf("reading %q: %w", fc.OldPath, err)
		}
		after, err := f.History.Mirror.Blob(ctx, fc.ID)
		if err != nil {
			return false, fmt.Errorf("reading %q: %w", fc.Path, err)
		}
		same, known := lang.SameSyntax(fc.Path, before, after)
		if !same || !known {
			return false, nil
		}
	}
	return true, nil
}
