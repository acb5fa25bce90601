package ava

import (
	"sluice/replay/tools/canary"
	"sluice/replay/tools/node"
)

// Canaries adds tests to the end of test files. AVA's assertions are its own; one that fails, fails its test,
// also if what it throws is caught.
func (Tool) Canaries(q canary.Request) []canary.File {
	return node.Canaries(q, "t", func(string, string) []string { return []string{"t.is(n, sum)"} })
}
