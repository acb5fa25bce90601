package node

import (
	"strings"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func TestDated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		ok   bool
	}{
		{"npm", tooltest.Tree{"package.json": `{"devDependencies": {"mocha": "*"}}`}, true},
		{"npm with a lock file", tooltest.Tree{"package.json": `{}`, "package-lock.json": `{"lockfileVersion": 1}`}, true},
		{"pnpm", tooltest.Tree{"package.json": `{}`, "pnpm-lock.yaml": "lockfileVersion: '9.0'"}, false},
		{"yarn", tooltest.Tree{"package.json": `{}`, "yarn.lock": ""}, false},
	} {
		r, err := Recipe(scan(t, c.tree), "", Extra{Runner: "mocha"})
		if err != nil {
			t.Fatal(err)
		}
		dated, ok := Package{}.Dated(r, time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC))
		if ok != c.ok {
			t.Errorf("%s: %v", c.name, ok)
		}
		for i, s := range dated.Install {
			want := ""
			if s.Name == stepDependencies {
				want = "2019-07-01"
			}
			if s.Env["npm_config_before"] != want || r.Install[i].Env["npm_config_before"] != "" {
				t.Errorf("%s: step %s has %q, and had %q", c.name, s.Name, s.Env, r.Install[i].Env)
			}
		}
		if ok && !strings.Contains(dated.Notes[len(dated.Notes)-1], "2019-07-01") {
			t.Errorf("%s: notes %q", c.name, dated.Notes)
		}
	}
	if _, ok := (Package{}).Dated(replay.Recipe{Install: []replay.Step{{Name: stepDependencies, Args: []string{"npm ci"}}}}, time.Time{}); ok {
		t.Error("another's step has a date")
	}
}
