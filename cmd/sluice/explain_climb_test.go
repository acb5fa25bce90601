package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClimbs(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"", "[]", "{}", `{"b1": []}`, `{"b1": [{"rung": "x"}]}`, `{"recipe": {"runner": "pytest"}}`, `{"a": "b"}`} {
		if c, ok := readClimbs([]byte(other)); ok {
			t.Errorf("%s is %v", other, c)
		}
	}
	c, ok := readClimbs([]byte(`{"h1": [
		{"rung": "heuristic", "result": "install-failed", "reason": "step requirements exited", "log": "one\ntwo\u001b[31m"},
		{"rung": "neighbour", "commit": "0123456789abcdef", "distance": -3, "from": "workflow", "workflow": "fallback",
			"hint": {"sources": [".travis.yml"]}, "result": "works", "reason": "7 tests ran"}]}`))
	const want = "h1: heuristic: install-failed: step requirements exited\n    | one\n    | two\uFFFD[31m\n" +
		"h1: neighbour 0123456789ab (workflow, 3 changes before), workflow=fallback (.travis.yml): works: 7 tests ran\n"
	if d := cmp.Diff(want, c.text()); d != "" || !ok {
		t.Errorf("(-want +got):\n%s", d)
	}
}
