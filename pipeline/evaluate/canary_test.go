package evaluate

import (
	"strings"
	"testing"

	"sluice/pipeline"
	"sluice/replay"
)

// TestPlant: tests of ours are laid for tools of whose language we write some, and nothing for others: a file of another language proves nothing.
func TestPlant(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"gotest": "_test.go", "pytest": ".py", "unittest": ".py", "mocha": "", "cargo": "", "maven": "", "ctest": "",
	} {
		got := plant(replay.Recipe{Runner: tool}, pipeline.Check{}, replay.Overlay{}, "word")
		switch {
		case want == "" && len(got.files)+len(got.targets)+len(got.tests) > 0:
			t.Errorf("%s: %+v", tool, got)
		case want != "" && (len(got.files) != 1 || !strings.HasSuffix(got.files[0].Path, want) || len(got.tests) != 1):
			t.Errorf("%s: %+v, want a file %s", tool, got, want)
		}
	}
}
