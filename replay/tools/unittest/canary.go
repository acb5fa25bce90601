package unittest

import (
	"fmt"
	"strings"

	"sluice/replay/tools/canary"
	"sluice/replay/tools/python"
)

// Canaries are modules with a class of tests.
func (Tool) Canaries(q canary.Request) []canary.File {
	return python.Canaries(q, "Canary::", canaryText)
}

func canaryText(q canary.Request, names []string) string {
	text := "import unittest\n\n\nclass Canary(unittest.TestCase):\n"
	for i, n := range names {
		text += fmt.Sprintf("    def %s(self):\n        self.assertEqual(sum(b%q), %d, \"this test must fail\")\n\n", n, n, canary.Sum(n, q.Tests[i].Fails))
	}
	return strings.TrimSuffix(text, "\n")
}
