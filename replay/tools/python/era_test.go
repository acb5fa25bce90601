package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay/tools/tooltest"
)

// TestEra: what a state of some years ago asks for, on an interpreter that is younger.
func TestEra(t *testing.T) {
	t.Parallel()
	const named = "setup(classifiers=['Programming Language :: Python :: 3.6'], "
	for _, c := range []struct{ name, setup, needs, build string }{
		{"too old for the interpreter", named + "tests_require=['pytest==3.0.2', 'pytest-cov==2.2.1'])", "pytest>=5.4 pytest-cov==2.2.1", "setuptools wheel setuptools<81"},
		{"old enough", named + "tests_require=['pytest>=3,<7'])", "pytest>=3,<7", "setuptools wheel setuptools<81"},
		{"translated", named + "use_2to3=True)", "pytest", "setuptools wheel setuptools<58"},
		{"of today", "setup(python_requires='>=3.13', tests_require=['pytest~=8.1'])", "pytest~=8.1", "setuptools wheel setuptools<81"},
	} {
		r, err := Recipe(scan(t, tooltest.Tree{"setup.py": c.setup}), "", Extra{Runner: "pytest", Tool: "pytest"})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{strings.Join(tooltest.Args(t, r, stepNeeds), " "), strings.Join(tooltest.Args(t, r, stepBuildNeeds), " ")}
		if d := cmp.Diff([]string{c.needs, c.build}, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		limited := false
		for _, s := range r.Install {
			limited = limited || s.Name == stepNeeds && strings.Contains(s.Args[4], `pytest\u003c8`)
		}
		if old := strings.Contains(c.setup, "3.6"); limited != old {
			t.Errorf("%s: kept to its era: %v", c.name, limited)
		}
	}
	for _, p := range [][2]string{{"3.0.2", "5.4"}, {"5", "5.4"}, {"5.3.9", "5.4"}} {
		if !older(p[0], p[1]) || older(p[1], p[0]) || older(p[0], p[0]) {
			t.Errorf("%s is not older than %s", p[0], p[1])
		}
	}
}
