package python

import (
	"strings"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func TestDated(t *testing.T) {
	t.Parallel()
	old := "setup(install_requires=['six'], classifiers=['Programming Language :: Python :: 3.6'])"
	for _, c := range []struct {
		name, file, text, before, want string
	}{
		{"rounded up", "pyproject.toml", "[project]\nname='p'\n", "2025-05-20", "2025-07-01"},
		{"not before there was the interpreter", "setup.py", old, "2017-03-01", "2021-04-01"},
		{"after it", "setup.py", old, "2022-03-01", "2022-04-01"},
		{"computed", "setup.py", "setup(install_requires=f(), python_requires='<3.12')", "2024-02-01", "2024-04-01"},
		{"Python 2", "setup.py", "setup(python_requires='<3')", "2016-08-01", "2016-10-01"},
		{"Python 2, before it has wheels", "setup.py", "setup(python_requires='<3')", "2014-03-01", "2016-07-01"},
	} {
		r, err := Recipe(scan(t, tooltest.Tree{c.file: c.text}), "", Extra{Runner: "pytest", Tool: "pytest"})
		if err != nil {
			t.Fatal(err)
		}
		before, err := time.Parse(time.DateOnly, c.before)
		if err != nil {
			t.Fatal(err)
		}
		dated, ok := Project{}.Dated(r, before)
		if ok != (c.want != "") {
			t.Errorf("%s: %v", c.name, ok)
			continue
		}
		for i, s := range dated.Install {
			want := ""
			if strings.HasSuffix(s.Name, "requirements") {
				want = c.want
			}
			if s.Env["UV_EXCLUDE_NEWER"] != want || r.Install[i].Env["UV_EXCLUDE_NEWER"] != "" {
				t.Errorf("%s: step %s has %q", c.name, s.Name, s.Env)
			}
		}
	}
	for _, r := range []replay.Recipe{{}, {Install: []replay.Step{{Name: stepNeeds, Args: []string{"pip"}}}}} {
		if _, ok := (Project{}).Dated(r, time.Unix(1e9, 0)); ok {
			t.Errorf("%+v has a date", r)
		}
	}
}
