package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"sluice/replay"

	"github.com/google/go-cmp/cmp"
)

// view is a report without the words of the tools.
type view struct {
	Phases string // build source, build tests, run tests
	Tests  string // "id outcome kind" lines
	Broken string // sorted names
	Doubt  string
}

func viewOf(r replay.Report) view {
	v := view{Doubt: r.Inconsistent}
	v.Phases = strings.Join([]string{string(r.BuildSource), string(r.BuildTests), string(r.RunTests)}, " ")
	for _, t := range r.Tests {
		v.Tests += strings.TrimSpace(strings.Join([]string{t.ID, string(t.Outcome), string(t.Kind)}, " ")) + "\n"
	}
	var broken []string
	for name := range r.Broken {
		broken = append(broken, name)
	}
	sort.Strings(broken)
	v.Broken = strings.Join(broken, " ")
	return v
}

func diffView(t *testing.T, got replay.Report, want view) {
	t.Helper()
	if want.Tests != "" {
		want.Tests = strings.ReplaceAll(strings.TrimLeft(want.Tests, "\n"), "\t", "")
	}
	if d := cmp.Diff(want, viewOf(got)); d != "" {
		t.Errorf("report differs (-want +got):\n%s\nbroken: %v", d, got.Broken)
	}
}

// captured reads a captured output; an empty one was not kept.
func captured(t testing.TB, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elem...)...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

func find(t *testing.T, r replay.Report, id string) replay.Test {
	t.Helper()
	for _, test := range r.Tests {
		if test.ID == id {
			return test
		}
	}
	t.Fatalf("no test %s in %v", id, r.Tests)
	return replay.Test{}
}
