package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/pipeline/recipes"
)

// climbs is how recipes were found, by state.
type climbs map[string][]recipes.Try

// readClimbs takes evidence for the climbs that it is; ok only if it is that.
func readClimbs(b []byte) (c climbs, ok bool) {
	if json.Unmarshal(b, &c) != nil || len(c) == 0 {
		return nil, false
	}
	for _, tries := range c {
		if len(tries) == 0 || slices.ContainsFunc(tries, func(t recipes.Try) bool { return t.Rung == "" || t.Result == "" }) {
			return nil, false
		}
	}
	return c, true
}

// text lays it out for people: a line for each try, below it what its log ended with.
func (c climbs) text() string {
	var b strings.Builder
	for _, state := range slices.Sorted(maps.Keys(c)) {
		for _, t := range c[state] {
			fmt.Fprintf(&b, "%s: %s\n", state, oneLine(tryLine(t)))
			lines := strings.Split(strings.TrimSpace(printable(t.Log)), "\n")
			for _, l := range lines[max(0, len(lines)-logLines):] {
				if l != "" {
					fmt.Fprintf(&b, "    | %s\n", l)
				}
			}
		}
	}
	return b.String()
}

// logLines is how much of a try's log stands below its line; --full has all that was kept.
const logLines = 8

func tryLine(t recipes.Try) string {
	line := t.Rung
	switch {
	case t.Distance < 0:
		line += fmt.Sprintf(" %.12s (%s, %d changes before)", t.Commit, t.From, -t.Distance)
	case t.Distance > 0:
		line += fmt.Sprintf(" %.12s (%s, %d changes later)", t.Commit, t.From, t.Distance)
	}
	if t.Provenance != "" {
		line += ", workflow=" + t.Provenance
		if t.Hint != nil {
			line += " (" + strings.Join(t.Hint.Sources, "; ") + ")"
		}
	}
	line += ": " + string(t.Result)
	if t.Reason != "" {
		line += ": " + t.Reason
	}
	return line
}
