package foresight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sluice/judges"
	"sluice/miners/gitrepo"
	"sluice/miners/links"
	"sluice/miners/szz"
	"sluice/pipeline/history"
)

// mostBetween bounds the list of changes between task and fix that a judge sees.
const mostBetween = 60

// noWords stands for a text of which nothing is left.
const noWords = "(no words of the author)"

// Pair is two changes of which the first may have introduced what the second repairs, and the lines that say so.
type Pair struct {
	Repo       string
	Intro, Fix gitrepo.Change
	Lines      []szz.Line // of the fix's old side; those that Intro landed count
	// Quotes are words that name the fix's origin, such as a claim or the title of the change that it names. A sentence of the fix's
	// text that holds one is taken out, and so is every claim (see links.Blind): a judge decides from the code.
	Quotes []string
}

// Dossier is the evidence that judges read about a pair, by the names of their prompts' slots. It depends on the history and the
// pair alone, and holds nothing that tells how the pair was found, but for the lines.
func Dossier(ctx context.Context, h *history.History, p Pair) (judges.Case, error) {
	d := dossier{h: h, pair: p, out: judges.Case{}}
	for _, part := range []func(context.Context) error{d.patches, d.lines, d.between} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("collecting evidence on %.12s and %.12s: %w", p.Intro.Head, p.Fix.Head, err)
		}
	}
	d.texts()
	return d.out, nil
}

// dossier is one on its way.
type dossier struct {
	h           *history.History
	pair        Pair
	task, fixed history.Split
	out         judges.Case
}

// set lays a piece into a slot; what is empty is absent.
func (d *dossier) set(slot string, units ...string) {
	var kept []string
	for _, u := range units {
		if strings.TrimSpace(u) != "" {
			kept = append(kept, u)
		}
	}
	if len(kept) > 0 {
		d.out[slot] = kept
	}
}

// patches reads both changes: the program's side and the tests' apart.
func (d *dossier) patches(ctx context.Context) (err error) {
	if d.task, err = d.patch(ctx, d.pair.Intro, "task"); err == nil {
		d.fixed, err = d.patch(ctx, d.pair.Fix, "fix")
	}
	return err
}

func (d *dossier) patch(ctx context.Context, c gitrepo.Change, side string) (history.Split, error) {
	files, err := d.h.Files(ctx, c)
	if err != nil {
		return history.Split{}, fmt.Errorf("listing files: %w", err)
	}
	split := history.SplitFiles(files)
	code, err := d.h.Patch(ctx, c.Base, c.Head, split.Code())
	if err != nil {
		return split, err
	}
	tests, err := d.h.Patch(ctx, c.Base, c.Head, split.Tests())
	d.set(side+"_patch", string(code))
	d.set(side+"_tests", string(tests))
	return split, err
}

// lines shows the lines of the fix's old side that the introducing change landed.
func (d *dossier) lines(ctx context.Context) error {
	var b strings.Builder
	texts := map[string][]string{}
	for _, l := range d.pair.Lines {
		if l.Change != d.pair.Intro.Head || l.Dropped != "" {
			continue
		}
		if _, read := texts[l.File]; !read {
			data, err := d.h.Mirror.ReadFile(ctx, d.pair.Fix.Base, l.File)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("reading %q: %w", l.File, err)
			}
			texts[l.File] = strings.Split(string(data), "\n")
		}
		if text := texts[l.File]; l.Line <= len(text) {
			fmt.Fprintf(&b, "%s:%d: %s\n", l.File, l.Line, strings.TrimSuffix(text[l.Line-1], "\r"))
		}
	}
	d.set("traced_lines", b.String())
	return nil
}

// between lists what landed after the task and before the fix in the files of the lines, oldest first.
func (d *dossier) between(ctx context.Context) error {
	var files []string
	for _, l := range d.pair.Lines {
		if l.Change == d.pair.Intro.Head && l.Dropped == "" && !slices.Contains(files, l.File) {
			files = append(files, l.File)
		}
	}
	if len(files) == 0 || d.pair.Fix.Base == "" {
		return nil
	}
	var subjects []string
	span := gitrepo.Span{Base: d.pair.Intro.Head, Head: d.pair.Fix.Base, Paths: files[:min(len(files), mostBetween)], Landed: true, Most: mostBetween}
	cut, err := d.h.Mirror.Between(ctx, span, func(c gitrepo.Logged) error {
		subjects = append(subjects, c.Subject())
		return nil
	})
	if err != nil {
		return err
	}
	slices.Reverse(subjects)
	subjects = judges.Numbered("L", subjects)
	if cut {
		subjects = append([]string{fmt.Sprintf("(of more changes, the last %d are listed)", mostBetween)}, subjects...)
	}
	d.set("later_changes", subjects...)
	return nil
}

// texts are the authors' own words, and what can be counted.
func (d *dossier) texts() {
	intro, fix := d.pair.Intro, d.pair.Fix
	d.set("repository", d.pair.Repo)
	d.set("task_text", judges.CleanStatement(intro.Title, intro.Body).Text())
	text := links.Blind(fix.Title+"\n\n"+fix.Body, links.ParseRepo(d.pair.Repo), d.pair.Quotes...)
	if text = strings.TrimSpace(text); text == "" {
		text = noWords
	}
	d.set("fix_text", text)
	d.set("task_scope", fmt.Sprintf("It touches %d files: %d of the program, %d of tests, %d others.",
		d.task.Files, len(d.task.Source), len(d.task.Test), d.task.Files-len(d.task.Source)-len(d.task.Test)))
	gap := int(fix.Committed.Sub(intro.Committed) / (24 * time.Hour))
	d.set("facts", fmt.Sprintf("The fix landed %d days after the earlier change.", gap),
		fmt.Sprintf("The fix touches %d files of the program and %d of tests.", len(d.fixed.Source), len(d.fixed.Test)))
}
