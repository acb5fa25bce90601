package meson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/native"
	"sluice/replay/tools/report"
)

// row is a line of Meson's log of the tests.
type row struct {
	Name    string   `json:"name"` // "project:suite / name"
	Result  string   `json:"result"`
	Exit    int      `json:"returncode"`
	Stdout  string   `json:"stdout"`
	Stderr  string   `json:"stderr"`
	Command []string `json:"command"`
}

func rows(data []byte) ([]row, error) {
	if len(data) > report.JUnitBytes {
		return nil, fmt.Errorf("the log has %d bytes, more than %d", len(data), report.JUnitBytes)
	}
	var list []row
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var r row
		err := dec.Decode(&r)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil || len(list) >= report.JUnitCases {
			return list, fmt.Errorf("reading the log: %w", err)
		}
		list = append(list, r)
	}
}

// readRun takes in the run of meson test: its log says how each test ended, the JUnit report what cases of theirs did.
func readRun(a *native.Analysis, run native.Run) {
	list, err := rows(a.Files[run.Report])
	a.Doubt.Add(err != nil, "%v", err)
	a.Doubt.Add(len(list) == 0, "meson left no log of its tests")
	cases, err := report.ReadJUnit(a.Files[run.Cases])
	a.Doubt.Add(err != nil, "reading the report: %v", err)
	inner := bySuite(cases)
	left := slices.Clone(a.Index.Tests)
	bad := false
	for _, r := range list {
		i := slices.IndexFunc(left, func(t native.Item) bool { return t.Asked && is(t, r) })
		if i < 0 {
			a.Doubt.Add(true, "meson reports a test that was not asked for: %q", report.FirstLine(r.Name))
			continue
		}
		item := left[i]
		left = slices.Delete(left, i, i+1)
		t := outcome(r)
		t.ID = item.ID
		bad = bad || report.Bad(t.Outcome)
		add(a, item, t, later(r, inner[item.Project+"\x00"+r.Name]))
	}
	for _, t := range left {
		a.Doubt.Add(t.Asked, "meson says nothing of the test %s", t.ID)
	}
	a.Doubt.Add(run.Exit == 0 && bad, "meson exited 0 in spite of failures")
	a.Doubt.Add(run.Exit != 0 && !bad, "meson exited %d without a failure", run.Exit)
}

// is reports whether a line of the log is about a test: names of suites stand before its name.
func is(t native.Item, r row) bool {
	name := r.Name
	if _, after, ok := strings.Cut(r.Name, " / "); ok && t.Name == after {
		name = after
	}
	return name == t.Name && (len(r.Command) == 0 || len(t.Command) == 0 || slices.Contains(r.Command, t.Command[0])) && endsIn(r.Command, t.Command)
}

func endsIn(long, short []string) bool {
	return len(long) == 0 || len(short) <= 1 || len(long) >= len(short) && slices.Equal(long[len(long)-len(short)+1:], short[1:])
}

// bySuite groups the cases of tests that have some. Their suite is "project.name of the test", of GoogleTest's with the case's suite behind.
func bySuite(cases []report.Case) map[string][]report.Case {
	m := map[string][]report.Case{}
	for _, c := range cases {
		if len(c.Suites) == 0 {
			continue
		}
		suite := c.Suites[len(c.Suites)-1]
		project, test, ok := strings.Cut(suite, ".")
		if !ok {
			continue // a test without cases
		}
		m[project+"\x00"+strings.TrimSuffix(test, "."+c.Class)] = append(m[project+"\x00"+strings.TrimSuffix(test, "."+c.Class)], c)
	}
	return m
}

// add takes a test with its cases; a failure that no case says is the program's.
func add(a *native.Analysis, item native.Item, whole replay.Test, cases []report.Case) {
	if len(cases) == 0 || item.Protocol != "gtest" && item.Protocol != "tap" {
		a.Add(whole)
		return
	}
	bad := false
	seen := map[string]int{}
	for _, c := range cases {
		t := c.Test(native.GtestKind)
		id := item.Target + "::" + c.Class + "." + c.Name
		if item.Protocol == "tap" {
			t = point(c)
			id = item.ID + " > " + pointName(c.Name)
			if seen[id]++; seen[id] > 1 {
				id = fmt.Sprintf("%s#%d", id, seen[id])
			}
		}
		t.ID = id
		bad = bad || report.Bad(t.Outcome)
		a.Add(t)
	}
	if report.Bad(whole.Outcome) && !bad {
		whole.ID = item.ID
		if item.Protocol == "gtest" {
			whole.ID = item.Target + "::" + native.Program
		}
		a.Add(whole)
	}
	a.Doubt.Add(!report.Bad(whole.Outcome) && bad, "%s passed with a failed case", item.ID)
}

var todo = regexp.MustCompile(`(?mi)^(?:not )?ok +(\d+) *(?:- *)?(.*?) *# *todo\b`)

// later marks the points of TAP that are there to be done later: the JUnit report has them as passed.
func later(r row, cases []report.Case) []report.Case {
	found := map[string]bool{}
	for _, m := range todo.FindAllStringSubmatch(r.Stdout, -1) {
		found[m[1]+" - "+m[2]], found[m[1]+" "+m[2]] = true, true
	}
	for i, c := range cases {
		if found[strings.TrimSpace(c.Name)] {
			cases[i].Skips = append(c.Skips, report.What{Message: "to be done later"})
		}
	}
	return cases
}

// point reads a point of TAP.
func point(c report.Case) replay.Test {
	switch {
	case len(c.Skips) > 0:
		return replay.Test{Outcome: replay.Skip, Message: c.Words()}
	case len(c.Errors)+len(c.Failures) > 0:
		return replay.Test{Outcome: replay.Fail, Kind: replay.Assertion, Message: c.Words()}
	}
	return replay.Test{Outcome: replay.Pass}
}

// pointName leaves the number out: a point before it would change it. A point without a name has nothing else.
func pointName(s string) string {
	number, name, ok := strings.Cut(strings.TrimSpace(s), " - ")
	if ok && strings.Trim(number, "0123456789") == "" && name != "" {
		return name
	}
	number, name, ok = strings.Cut(strings.TrimSpace(s), " ")
	if ok && strings.Trim(number, "0123456789") == "" && name != "" {
		return name
	}
	return strings.TrimSpace(s)
}

// hard is the exit code by which a program says that it could not test.
const hard = 99

// outcome reads a line of the log.
func outcome(r row) replay.Test {
	words := strings.TrimSpace(r.Stdout + "\n" + r.Stderr)
	switch r.Result {
	case "OK", "EXPECTEDFAIL":
		return replay.Test{Outcome: replay.Pass}
	case "SKIP", "IGNORED":
		return replay.Test{Outcome: replay.Skip, Message: words}
	case "TIMEOUT":
		return replay.Test{Outcome: replay.TimedOut, Message: words}
	case "UNEXPECTEDPASS":
		return replay.Test{Outcome: replay.Fail, Kind: replay.Assertion, Message: "passed, and should fail"}
	case "FAIL", "ERROR":
		switch {
		case r.Exit < 0:
			return replay.Test{Outcome: replay.Error, Kind: native.Died(words), Message: words}
		case r.Result == "ERROR" && r.Exit == hard:
			return replay.Test{Outcome: replay.Error, Kind: replay.Collection, Message: words}
		case r.Result == "ERROR":
			return replay.Test{Outcome: replay.Error, Kind: replay.Exception, Message: words}
		}
		return replay.Test{Outcome: replay.Fail, Kind: native.Exited(words), Message: words}
	}
	return replay.Test{Outcome: replay.Missing, Message: "no outcome: " + r.Result}
}
