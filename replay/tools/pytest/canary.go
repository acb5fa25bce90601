package pytest

import (
	"fmt"
	"strings"

	"sluice/replay/tools/canary"
	"sluice/replay/tools/python"
)

// Canaries are modules of functions.
func (Tool) Canaries(q canary.Request) []canary.File { return python.Canaries(q, "", canaryText) }

func canaryText(q canary.Request, names []string) string {
	var list []string
	for i, n := range names {
		list = append(list, fmt.Sprintf("def %s():\n    assert sum(b%q) == %d, \"this test must fail\"\n", n, n, canary.Sum(n, q.Tests[i].Fails)))
	}
	return strings.Join(list, "\n\n")
}
