package main

import (
	"strings"
	"testing"

	"sluice/replay"
)

// TestRunText: of a long run people see the beginning, so what failed stands there, each group in the report's order.
func TestRunText(t *testing.T) {
	t.Parallel()
	r := testRun{Report: &replay.Report{Tests: []replay.Test{
		{ID: "a", Outcome: replay.Pass}, {ID: "b", Outcome: replay.Skip}, {ID: "c", Outcome: replay.Fail, Message: "no"},
		{ID: "d", Outcome: replay.Pass}, {ID: "e", Outcome: replay.Missing},
	}}}
	_, tests, _ := strings.Cut(r.text(), "\n")
	if want := "fail c: no\nmissing e\nskip b\npass a\npass d\n"; tests != want {
		t.Errorf("got\n%swant\n%s", tests, want)
	}
}
