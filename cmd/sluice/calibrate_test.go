package main

import (
	"context"
	"os"
	"path/filepath"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/foresight"
	"sluice/pipeline/history"
	"sluice/store"
)

// chainStore mines a repository beside the store up to the links: blame is right about the first fix, names the change that laid the line
// out anew for the second, and has nothing to go by for the third.
func chainStore(ctx context.Context, s *store.Store, dir string) error {
	source, err := filepath.Abs(dir + ".src")
	if err = firstError(err, os.MkdirAll(source, 0o755)); err != nil {
		return err
	}
	b := gittest.NewBuilder()
	code := func(body string) string { return "package m\n\n" + body + "\n" }
	for _, c := range []gittest.Commit{
		{Name: "root", Message: "Begin", Files: map[string]string{"go.mod": "module m\n"}},
		{Name: "divide", Message: "Divide numbers by others (#1)", Files: map[string]string{"divide.go": code("func Divide(a, b int) int { return a / b }")}},
		{Name: "join", Message: "Join words (#2)", Files: map[string]string{"join.go": code("func Join(words []string) string { return words[0] + Join(words[1:]) }")}},
		{Name: "layout", Message: "Use the joiner everywhere (#3)", Files: map[string]string{"join.go": code("func Join(all []string) string { return all[0] + Join(all[1:]) }")}},
		{Name: "fixdivide", Message: "Fix division (#4)\n\nThis is a regression from #1. Zero was not thought of.", Files: map[string]string{
			"divide.go": code("func Divide(a, b int) int { if b == 0 { return 0 }; return a / b }"), "divide_test.go": "package m // of division\n"}},
		{Name: "fixjoin", Message: "Fix joining (#5)\n\nNo words give no text. This was broken by #2.", Files: map[string]string{
			"join.go": code("func Join(all []string) string { if len(all) == 0 { return \"\" }; return all[0] + Join(all[1:]) }"), "join_test.go": "package m // of joining\n"}},
		{Name: "fixadd", Message: "Fix reading (#6)\n\nThis was broken by #2.", Files: map[string]string{"read.go": code("func Read() {}"), "read_test.go": "package m // of reading\n"}},
	} {
		b.Add(c)
	}
	if _, err := b.BuildIn(source); err != nil {
		return err
	}
	m, err := gitrepo.Open(ctx, source, filepath.Join(dir, "mirrors"), gitrepo.Options{})
	if err != nil {
		return err
	}
	return firstError(linkCandidates(ctx, s, m), m.Close())
}

// linkCandidates takes every change as far as its link.
func linkCandidates(ctx context.Context, s *store.Store, m *gitrepo.Mirror) error {
	const repo = "ada/words"
	h, settings := history.New(m, ""), foresight.Settings{Whole: true}
	if err := history.ClaimName(ctx, s, repo, m); err != nil {
		return err
	}
	proposed, err := foresight.Propose(ctx, h, repo, settings)
	if err != nil {
		return err
	}
	if _, err := s.AddCandidates(ctx, proposed); err != nil {
		return err
	}
	family := foresight.New(foresight.Deps{History: h, Repo: repo}, settings)
	family.Stages = family.Stages[:2]
	_, err = pipeline.New(s, pipeline.Options{Owner: "test"}).Run(ctx, family, repo)
	return err
}
