package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/pipeline/foresight"
	"sluice/pipeline/touched"
)

// TestDecisiveText: what explain says of the tests that decide.
func TestDecisiveText(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(foresight.Decisive{
		Task: touched.Marks{Tests: []touched.Mark{{ID: "m::TestA", Touched: touched.Unknown}}},
		Anticipation: touched.Marks{
			Tests:   []touched.Mark{{ID: "m::TestB", Touched: touched.Yes, How: "uses", By: "table"}, {ID: "m::TestC", Touched: touched.Yes, How: "added"}, {ID: "m::TestD", Touched: touched.Unsure}},
			Unclear: []pipeline.Text{[]byte("testdata/x.txt")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, ok := readDecisive(b)
	want := "task: the task touched 0 of 1 tests\n    m::TestA: unknown\nanticipation: the fix touched 2 of 3 tests\n" +
		"    m::TestB: uses table\n    m::TestC: added\n    m::TestD: unsure\n    touched too, and maybe used by tests of other files: testdata/x.txt\n"
	if diff := cmp.Diff(want, decisiveText(d)); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	for _, other := range []any{map[string]int{"task": 1, "anticipation": 2}, foresight.Decisive{}, []int{1}} {
		b, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := readDecisive(b); ok {
			t.Errorf("%s was taken for it", b)
		}
	}
}
