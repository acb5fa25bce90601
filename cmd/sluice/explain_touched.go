package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"sluice/pipeline/foresight"
	"sluice/pipeline/touched"
)

// readDecisive takes evidence for that on the decisive tests; ok only if it is that.
func readDecisive(b []byte) (d foresight.Decisive, ok bool) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(b, &keys) != nil || len(keys) != 2 || keys["task"] == nil || keys["anticipation"] == nil || json.Unmarshal(b, &d) != nil {
		return d, false
	}
	return d, len(d.Task.Tests)+len(d.Anticipation.Tests) > 0
}

// decisiveText lays it out for people: a line for each test, and what else may matter.
func decisiveText(d foresight.Decisive) string {
	var b strings.Builder
	for _, side := range []struct {
		name, change string
		marks        touched.Marks
	}{{"task", "the task", d.Task}, {"anticipation", "the fix", d.Anticipation}} {
		n := 0
		for _, m := range side.marks.Tests {
			if m.Touched == touched.Yes {
				n++
			}
		}
		fmt.Fprintf(&b, "%s: %s touched %d of %d tests\n", side.name, side.change, n, len(side.marks.Tests))
		for _, m := range side.marks.Tests {
			fmt.Fprintf(&b, "    %s\n", oneLine(markLine(m)))
		}
		for _, u := range side.marks.Unclear {
			fmt.Fprintf(&b, "    touched too, and maybe used by tests of other files: %s\n", oneLine(printable(string(u))))
		}
	}
	return b.String()
}

func markLine(m touched.Mark) string {
	switch {
	case m.By != "":
		return fmt.Sprintf("%s: %s %s", printable(m.ID), m.How, printable(m.By))
	case m.How != "":
		return fmt.Sprintf("%s: %s", printable(m.ID), m.How)
	case m.Touched == touched.No:
		return printable(m.ID) + ": not touched"
	}
	return printable(m.ID) + ": " + string(m.Touched)
}
