package foresight

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/narrow"
	"sluice/replay/tools"
)

// narrowTries bounds how often a narrowed overlay is built.
const narrowTries = 8

// Narrowed says what had to be dropped from the fix's tests so that the rest builds on h1.
type Narrowed struct {
	Tried   int                    `json:"tried,omitempty"` // builds
	Built   bool                   `json:"built,omitempty"` // the rest built
	Dropped []narrow.Drop          `json:"dropped,omitempty"`
	Files   []pipeline.OverlayFile `json:"files,omitempty"`   // edited files, whole
	Removed []pipeline.Text        `json:"removed,omitempty"` // overlay files of which nothing was left
	Hidden  []string               `json:"hidden,omitempty"`  // names of tests that were dropped: one of that name on h1 is another test
	Stuck   string                 `json:"stuck,omitempty"`   // why it could not be narrowed
}

// apply returns the overlay as it was narrowed.
func (n Narrowed) apply(o replay.Overlay) replay.Overlay {
	out := replay.Overlay{Remove: o.Remove}
	for _, f := range o.Files {
		if slices.ContainsFunc(n.Removed, func(p pipeline.Text) bool { return string(p) == f.Path }) {
			continue
		}
		for _, e := range n.Files {
			if e.Path == f.Path {
				f.Data = e.Data
			}
		}
		out.Files = append(out.Files, f)
	}
	return out
}

// originRound runs run 5 once. Where the overlay does not build on h1, it is narrowed and the rest runs; s is left with the overlay that
// the repeats use.
func (m *matrix) originRound(ctx context.Context, t2 replay.Overlay, s *spec, out *FixRuns) ([]observed, error) {
	r, err := m.runs(ctx, *s, 1)
	if err != nil || len(r.Report.Broken) == 0 || !out.lacks(r.Report) {
		return []observed{r}, err
	}
	last := r
	build := func(ctx context.Context, o replay.Overlay) (string, bool, error) {
		out.Narrowed.Tried++
		s.Overlays, s.Target, s.Narrowed = []replay.Overlay{o}, overlayPaths(o), out.Narrowed.Tried
		var err error
		last, err = m.runs(ctx, *s, 1)
		return brokenText(last.Report), len(last.Report.Broken) == 0, err
	}
	n, err := narrow.Loop(ctx, t2, narrow.Rounds{Narrow: tools.Narrow(m.env.Recipes[stateH1].Runner), Output: brokenText(r.Report), Build: build, Most: narrowTries})
	if err != nil {
		return nil, err
	}
	out.Narrowed.Built, out.Narrowed.Dropped, out.Narrowed.Stuck = n.Built, n.Dropped, n.Stuck
	if !n.Built { // nothing to run is left: the unnarrowed overlay and its report stand
		*s = fixSpecs(t2, t2)[2]
		return []observed{r}, nil
	}
	out.Narrowed.difference(t2, n.Overlay)
	out.Narrowed.hide(t2)
	return []observed{last}, nil
}

// lacks reports whether one of the tests that show the fix did not run.
func (r *FixRuns) lacks(rep replay.Report) bool {
	c := merge("", "", []replay.Report{rep})
	return slices.ContainsFunc(r.FailToPass, func(id string) bool {
		o := c.outcome(id)
		return o != replay.Pass && o != replay.Skip && !c.ranAndFailed(id)
	})
}

// difference keeps the files that narrowing changed.
func (n *Narrowed) difference(from, to replay.Overlay) {
	left := map[string][]byte{}
	for _, f := range to.Files {
		left[f.Path] = f.Data
	}
	for _, f := range from.Files {
		data, ok := left[f.Path]
		switch {
		case !ok:
			n.Removed = append(n.Removed, pipeline.Text(f.Path))
		case string(data) != string(f.Data):
			n.Files = append(n.Files, pipeline.OverlayFile{Path: f.Path, Mode: gitMode(f.Mode), Data: data})
		}
	}
}

// testName finds the functions and methods that are tests, in Go and in Python.
var testName = regexp.MustCompile(`(?m)^\s*(?:func(?: \([^)\n]*\))?|(?:async )?def) ((?:Test|Fuzz|Example|test)\w*)\(`)

// hide names the tests that are gone. Where a whole file went, the state's own version of it is seen again, with tests of
// the same names perhaps: they say nothing about the fix's.
func (n *Narrowed) hide(t2 replay.Overlay) {
	for _, d := range n.Dropped {
		if d.Kind == "file" {
			continue // its tests are found below
		}
		n.Hidden = append(n.Hidden, d.Name[strings.LastIndex(d.Name, ".")+1:])
	}
	for _, f := range t2.Files {
		if !slices.ContainsFunc(n.Removed, func(p pipeline.Text) bool { return string(p) == f.Path }) {
			continue
		}
		for _, m := range testName.FindAllSubmatch(f.Data, -1) {
			n.Hidden = append(n.Hidden, string(m[1]))
		}
	}
	slices.Sort(n.Hidden)
	n.Hidden = slices.Compact(n.Hidden)
}

// hides reports whether a test was dropped, by the name of its function, its class or its suite's method.
func (n Narrowed) hides(id string) bool {
	_, name, _ := strings.Cut(id, "::")
	name, _, _ = strings.Cut(name, "[") // parameters may hold anything
	function, subtests, _ := strings.Cut(name, "/")
	for _, part := range strings.Split(function, "::") {
		if slices.Contains(n.Hidden, part) {
			return true
		}
	}
	for _, part := range strings.Split(subtests, "/") { // methods of a suite run as subtests; others have any name
		if strings.HasPrefix(part, "Test") && slices.Contains(n.Hidden, part) {
			return true
		}
	}
	return false
}

// brokenText joins what the compiler or collector said.
func brokenText(r replay.Report) string {
	var b strings.Builder
	for _, k := range sortedKeys(r.Broken) {
		b.WriteString("# " + k + "\n" + r.Broken[k] + "\n")
	}
	return b.String()
}
