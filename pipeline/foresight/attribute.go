package foresight

import (
	"context"
	"fmt"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/miners/links"
	"sluice/miners/szz"
	"sluice/pipeline"
	"sluice/pipeline/history"
)

// Link is the evidence that one change introduced what the fix repairs.
type Link struct {
	Method string          `json:"method"` // trailer, testimony or szz; "" when nothing names an introducer
	Intro  *gitrepo.Change `json:"intro,omitempty"`
	Quote  string          `json:"quote,omitempty"` // verbatim, of a claim
	Where  string          `json:"where,omitempty"` // commit whose message holds the quotation
	Claims []Testimony     `json:"claims,omitempty"`
	SZZ    szz.Attribution `json:"szz"`
}

// Testimony is one claim of the fix's text with what it resolves to.
type Testimony struct {
	links.Claim
	Where    string `json:"where"`
	Resolved string `json:"resolved,omitempty"` // head of the change, "" when nothing in the history answers
}

// attribute finds the introducing change: what the fix's authors say comes first, blame second. Both are kept.
func (f *family) attribute() pipeline.Stage {
	return pipeline.Stage{
		Name: "attribute", Version: 1, Pool: pipeline.Git, Reads: []string{evSplit}, Makes: []string{evLink, evTaskSplit},
		Settings: f.set.IgnoreRevs,
		Codes: []pipeline.Code{
			{Name: "szz-abstains", Text: "No text names the introducing change, and blame has nothing to go by (the fix only adds lines, or all that it deletes is comments, blank or as old as the history)."},
			{Name: "introducer-after-fix", Text: "The change that blame names did not land before the fix."},
		},
		Run: f.runAttribute,
	}
}

func (f *family) runAttribute(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	var p Proposal
	if err := c.Data(&p); err != nil {
		return pipeline.Outcome{}, err
	}
	link, err := f.findLink(ctx, p.Fix)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	if err := c.Write(ctx, evLink, link); err != nil {
		return pipeline.Outcome{}, err
	}
	if link.Intro == nil {
		return pipeline.Reject("szz-abstains", string(link.SZZ.Abstained)), nil
	}
	if link.Intro.Position >= p.Fix.Position {
		return pipeline.Reject("introducer-after-fix", link.Intro.Head), nil
	}
	files, err := f.History.Files(ctx, *link.Intro)
	if err != nil {
		return pipeline.Outcome{}, fmt.Errorf("reading the files of %s: %w", link.Intro.Head, err)
	}
	return pipeline.Pass(), c.Write(ctx, evTaskSplit, history.SplitFiles(files))
}

func (f *family) findLink(ctx context.Context, fix gitrepo.Change) (Link, error) {
	_, idx, err := f.History.Changes(ctx)
	if err != nil {
		return Link{}, err
	}
	var l Link
	if l.Claims, err = f.testimony(ctx, fix, idx); err != nil {
		return l, err
	}
	files, err := f.History.Files(ctx, fix)
	if err != nil {
		return l, fmt.Errorf("reading the files of %s: %w", fix.Head, err)
	}
	if l.SZZ, err = szz.Attribute(ctx, f.History.Mirror, idx, fix, szz.Options{IgnoreRevs: f.set.IgnoreRevs, Files: files, Memo: f.memo}); err != nil {
		return l, fmt.Errorf("blaming for %s: %w", fix.Head, err)
	}
	l.choose(idx)
	return l, nil
}

// testimony collects the claims of the fix's own text and of the messages of the commits that it brought in.
func (f *family) testimony(ctx context.Context, fix gitrepo.Change, idx *gitrepo.Index) ([]Testimony, error) {
	messages := map[string]string{fix.Head: fix.Title + "\n\n" + fix.Body}
	order := []string{fix.Head}
	if len(fix.Commits) > 1 || len(fix.Commits) == 1 && fix.Commits[0] != fix.Head {
		inner, err := f.History.Mirror.Messages(ctx, fix.Commits)
		if err != nil {
			return nil, fmt.Errorf("reading the messages of %s: %w", fix.Head, err)
		}
		for _, sha := range fix.Commits {
			if sha != fix.Head {
				messages[sha] = inner[sha]
				order = append(order, sha)
			}
		}
	}
	var out []Testimony
	for _, sha := range order {
		for _, claim := range links.Claims(messages[sha], links.ParseRepo(f.Repo)) {
			out = append(out, resolve(claim, sha, fix, idx))
		}
	}
	return out, nil
}

// resolve looks up what a claim names. A change cannot name itself, and a number in a fix's text is its own as often as not.
func resolve(claim links.Claim, where string, fix gitrepo.Change, idx *gitrepo.Index) Testimony {
	t := Testimony{Claim: claim, Where: where}
	var c gitrepo.Change
	ok := false
	switch {
	case claim.External != "" || claim.Negated:
	case claim.SHA != "":
		var err error
		c, err = idx.Resolve(claim.SHA)
		ok = err == nil
	case claim.Number != 0:
		c, ok = idx.ByNumber(claim.Number)
	}
	if ok && c.Head != fix.Head && c.Position < fix.Position {
		t.Resolved = c.Head
	}
	return t
}

// choose takes the strongest evidence: a trailer, then testimony in prose, then the change with most blamed lines.
func (l *Link) choose(idx *gitrepo.Index) {
	for _, method := range []string{"trailer", "testimony"} {
		for _, t := range l.Claims {
			if t.Method == method && t.Resolved != "" {
				l.take(idx, t.Resolved, method)
				l.Quote, l.Where = t.Quote, t.Where
				return
			}
		}
	}
	if len(l.SZZ.Votes) > 0 {
		l.take(idx, l.SZZ.Votes[0].Change, "szz")
	}
}

func (l *Link) take(idx *gitrepo.Index, head, method string) {
	if c, ok := idx.ByCommit(head); ok {
		l.Intro, l.Method = &c, method
	}
}

// screenPair drops pairs whose introducing side cannot serve as a task.
func (f *family) screenPair() pipeline.Stage {
	return pipeline.Stage{
		Name: "screen-pair", Version: 1, Pool: pipeline.CPU, Reads: []string{evSplit, evLink, evTaskSplit},
		Settings: f.screenSettings(),
		Codes: []pipeline.Code{
			{Name: "introducer-outside-window", Text: "The introducing change landed outside of --since and --until."},
			{Name: "introducer-root", Text: "The introducing change is the first of the history: there is no state before it."},
			{Name: "introducer-octopus", Text: "The introducing change is a merge of more than two parents."},
			{Name: "introducer-no-tests", Text: "The introducing change leaves no test file: the task cannot be checked."},
			{Name: "introducer-no-source", Text: "The introducing change touches no source file."},
			{Name: "introducer-bump", Text: "The introducing change moves dependency versions."},
			{Name: "introducer-revert", Text: "The introducing change is a revert."},
			{Name: "introducer-too-large", Text: "The introducing change touches more files than --max-files allows."},
			{Name: "other-language", Text: "Task and fix are written in different languages."},
		},
		Run: f.runScreenPair,
	}
}

func (f *family) runScreenPair(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	_, link, err := f.pair(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	fix, task, err := splits(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	intro := *link.Intro
	switch {
	case !f.set.contains(intro.Committed):
		return pipeline.Reject("introducer-outside-window", f.set.outside(intro.Committed)), nil
	case intro.Base == "":
		return pipeline.Reject("introducer-root", intro.Head), nil
	case intro.Parents > 2:
		return pipeline.Reject("introducer-octopus", fmt.Sprintf("%s has %d parents", intro.Head, intro.Parents)), nil
	case task.Files > f.set.MaxFiles:
		return pipeline.Reject("introducer-too-large", fmt.Sprintf("touches %d files", task.Files)), nil
	case len(task.Source) == 0:
		return pipeline.Reject("introducer-no-source", intro.Title), nil
	case len(task.Test) == 0:
		return pipeline.Reject("introducer-no-tests", intro.Title), nil
	case bump.MatchString(intro.Title):
		return pipeline.Reject("introducer-bump", intro.Title), nil
	case isRevert(intro):
		return pipeline.Reject("introducer-revert", intro.Title), nil
	case task.Language != fix.Language:
		return pipeline.Reject("other-language", fmt.Sprintf("%s, then %s", task.Language, fix.Language)), nil
	}
	return pipeline.Pass(), nil
}

// pair reads the two changes of a candidate.
func (f *family) pair(ctx context.Context, c *pipeline.Case) (Proposal, Link, error) {
	var p Proposal
	var l Link
	if err := c.Data(&p); err != nil {
		return p, l, err
	}
	err := c.Read(ctx, evLink, &l)
	if err == nil && l.Intro == nil {
		err = pipeline.Permanent(fmt.Errorf("the link of %s names no introducing change", c.ID()))
	}
	return p, l, err
}

// splits reads the files of the two changes by kind.
func splits(ctx context.Context, c *pipeline.Case) (fix, task history.Split, err error) {
	if err = c.Read(ctx, evSplit, &fix); err == nil {
		err = c.Read(ctx, evTaskSplit, &task)
	}
	return fix, task, err
}

func isRevert(c gitrepo.Change) bool {
	_, _, _, ok := links.RevertOf(c.Title, c.Body)
	return ok
}

// testCode counts the test files that are code in a known language.
func testCode(s history.Split) int {
	n := 0
	for _, t := range history.Strings(s.Test) {
		if lang.Language(t) == s.Language {
			n++
		}
	}
	return n
}
