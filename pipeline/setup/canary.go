package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/testid"
)

// maxCanaries is how many folders get tests of ours. One where they are reported as they must be is enough.
const maxCanaries = 8

// planted are our own tests among the project's: in each folder one that must pass and one that must fail.
type planted struct {
	word    string
	files   []replay.File
	targets []string // to be run beside the request's own
	pass    string   // names, the same in every folder
	fail    string
	// broken is a test file that cannot be loaded, in one of the folders. A tool that does not say so does not load tests.
	broken replay.File
	only   string // the path that runs it
	tool   tools.Canarier
	// unknown: nobody has written tests of ours for this test tool yet.
	unknown bool
}

// plant makes the tests of a request. Their names come from a digest that no recipe can hold: the recipe is in it.
func plant(ctx context.Context, q Request, r replay.Recipe) (planted, error) {
	sum := sha256.Sum256([]byte("canary\n" + r.Fingerprint + "\n" + q.Tree.ID()))
	p := planted{word: hex.EncodeToString(sum[:6])}
	tool, ok := tools.Canaries(r.Runner)
	if p.tool, p.unknown = tool, !ok; !ok {
		return p, nil
	}
	files, err := tools.Neighbours(ctx, q.Tree, r)
	if err != nil {
		return p, fmt.Errorf("looking for test files: %w", err)
	}
	if len(files) == 0 {
		return p, nil
	}
	first := sum[31]&1 == 1 // whether the first one fails
	for _, f := range tool.Canaries(canary.Request{
		Recipe: r, Word: p.word, Tests: []canary.Test{{Part: "a", Fails: first}, {Part: "b", Fails: !first}},
		Files: files, Target: q.Target.Paths, Max: maxCanaries,
	}) {
		if p.only == "" {
			p.pass, p.fail, p.broken, p.only = f.Names[0], f.Names[1], f.Broken, f.Only
			if first {
				p.pass, p.fail = p.fail, p.pass
			}
		}
		p.files = append(p.files, f.File)
		if f.Target != "" {
			p.targets = append(p.targets, f.Target)
		}
	}
	return p, nil
}

// breakFile chooses the file that will not load, where no test of ours was laid.
func (p *planted) breakFile(file string) {
	p.only, p.broken = file, p.tool.Unloadable(file, p.word)
}

// song is what a report says of planted tests.
type song string

// The songs.
const (
	sings  song = "sings"  // in one folder both were reported as they had to be
	forged song = "forged" // one that must fail passed
	silent song = "silent" // neither: they did not run, or something of the project's broke them
)

// hear reads what became of the planted tests, and takes them out of the report.
func (p planted) hear(report *replay.Report) song {
	type pair struct{ pass, fail replay.Outcome }
	pairs := map[string]pair{}
	heard := silent
	if len(p.files) == 0 {
		return silent
	}
	report.Tests = slices.DeleteFunc(slices.Clone(report.Tests), func(t replay.Test) bool {
		place, name, _ := strings.Cut(testid.Unnumbered(t.ID), "::")
		name = name[strings.LastIndex(name, ":")+1:] // of a test in a class
		got := pairs[place]
		switch name {
		case p.pass:
			got.pass = t.Outcome
		case p.fail:
			got.fail = t.Outcome
		default:
			return false
		}
		pairs[place] = got
		return true
	})
	report.Broken = maps.Clone(report.Broken)
	maps.DeleteFunc(report.Broken, func(place, _ string) bool { return strings.Contains(place, p.word) })
	for _, got := range pairs {
		switch {
		case got.fail == replay.Pass:
			return forged
		case got.fail == replay.Fail && got.pass == replay.Pass:
			heard = sings
		}
	}
	return heard
}

// blames reports whether a run tells of our tests as what went wrong.
func (p planted) blames(report replay.Report, log string) bool {
	if strings.Contains(log, p.word) {
		return true
	}
	for name, why := range report.Broken {
		if strings.Contains(name+why, p.word) {
			return true
		}
	}
	return false
}
