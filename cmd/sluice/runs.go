package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
)

// testRun is the stored result of a run of tests.
type testRun struct {
	Report *replay.Report `json:"report"`
	Log    string         `json:"log"`
}

// readTestRun decodes a result; ok is false for other kinds of work.
func readTestRun(b []byte) (r testRun, ok bool) {
	err := json.Unmarshal(b, &r)
	return r, err == nil && r.Report != nil
}

// summary counts the outcomes and names what did not build: "5 pass, 1 fail; did not build: example.com/m/p".
func (r testRun) summary() string {
	count := map[replay.Outcome]int{}
	for _, t := range r.Report.Tests {
		count[t.Outcome]++
	}
	var parts []string
	for _, o := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
	}
	text := strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = "no test ran"
	}
	if len(r.Report.Broken) > 0 {
		text += "; did not build: " + strings.Join(slices.Sorted(maps.Keys(r.Report.Broken)), ", ")
	}
	if r.Report.Inconsistent != "" {
		text += "; inconsistent: " + r.Report.Inconsistent
	}
	return text
}

// text lays the run out for people: one test a line, those first that did not pass, then the compiler's words, then the log.
func (r testRun) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "building the source %s, building the tests %s, running them %s\n", r.Report.BuildSource, r.Report.BuildTests, r.Report.RunTests)
	for _, t := range slices.SortedStableFunc(slices.Values(r.Report.Tests), passedLast) {
		line := fmt.Sprintf("%s %s", t.Outcome, t.ID)
		if t.Message != "" {
			line += ": " + t.Message
		}
		b.WriteString(oneLine(line) + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Report.Broken)) {
		fmt.Fprintf(&b, "%s did not build:\n%s\n", name, printable(r.Report.Broken[name]))
	}
	if r.Log != "" {
		fmt.Fprintf(&b, "log:\n%s", printable(r.Log))
	}
	return b.String()
}

// passedLast orders tests by whether there is more to say of them than that they passed.
func passedLast(a, b replay.Test) int {
	order := []replay.Outcome{replay.Skip, replay.Pass}
	return slices.Index(order, a.Outcome) - slices.Index(order, b.Outcome)
}
