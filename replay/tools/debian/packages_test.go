package debian

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTable: each line of the table of packages can be read, and says a thing once.
func TestTable(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`^(cmake|pkg|program|header|library) [a-zA-Z0-9_.:+/-]+( [a-z0-9][a-z0-9.+-]+)+$|^(cmake|pkg|program|header|library) \S+ -$`)
	seen := map[string]bool{}
	for l := range strings.Lines(table) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "#") {
			continue
		}
		words := strings.Fields(l)
		if !line.MatchString(l) || seen[words[0]+words[1]] || strings.ToLower(words[1]) != words[1] {
			t.Errorf("cannot be read, or is there twice: %q", l)
			continue
		}
		seen[words[0]+words[1]] = true
	}
}

func TestPackages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, name string
		known      bool
		want       []string
	}{
		{"cmake", "Protobuf", true, []string{"libprotobuf-dev", "protobuf-compiler"}},
		{"pkg", "libseccomp", true, []string{"libseccomp-dev"}},
		{"pkg", "python3-embed", true, nil},
		{"cmake", "libseccomp", false, nil},
	} {
		got, known := Packages(c.kind, c.name)
		if d := cmp.Diff(strings.Join(c.want, " "), strings.Join(got, " ")); d != "" || known != c.known {
			t.Errorf("%s %s: %t %s", c.kind, c.name, known, d)
		}
	}
}
