package gotest

import (
	"slices"
	"strings"

	"sluice/replay"
)

// CutShort lists, sorted, the prefixes of the ids whose tests ended early: a panic, an exit or the time limit ends the whole
// package, and which of its other tests have run by then is chance. That such a test is missing says nothing about it.
func (Tool) CutShort(tests []replay.Test) []string {
	var scopes []string
	for _, t := range tests {
		switch {
		case t.Kind == replay.Exception, t.Kind == replay.Crash, t.Outcome == replay.TimedOut:
			pkg, _, _ := strings.Cut(t.ID, "::")
			scopes = append(scopes, pkg+"::")
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}
