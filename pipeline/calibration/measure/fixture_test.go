package measure

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/judges/model/modeltest"
	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/foresight"
	"sluice/pipeline/history"
	"sluice/pipeline/judging"
	"sluice/store"
)

// chainsScript has four fixes whose texts name the origin: blame is right about one, names the change that laid a line out anew for the
// second, has nothing to go by for the third, and names one of two that are named for the fourth.
const chainsScript = `
commit root "Begin"
commit divide "Divide numbers by others (#1)"
commit join "Join words (#2)"
commit layout "Use the joiner everywhere (#3)"
commit both "Count all the words (#5)"
commit fixdivide "Fix division (#4)\n\nThis is a regression from #1. Zero was not thought of."
commit fixjoin "Fix joining (#6)\n\nNo words give no text.\n\nFixes: {{join}} (\"Join words\")"
commit fixadd "Fix reading (#7)\n\nThis was broken by #2. Files may be missing."
commit fixboth "Fix counting (#8)\n\nFixes: {{join}} (\"Join words\")\nFixes: {{both}} (\"Count all the words\")"
-- root/go.mod --
module m
-- divide/divide.go --
package m

func Divide(a, b int) int { return a / b }
-- join/join.go --
package m

func Join(words []string) string { return words[0] + Join(words[1:]) }
-- layout/join.go --
package m

func Join(all []string) string { return all[0] + Join(all[1:]) }
-- both/count.go --
package m

func Count(words []string) int { return len(words) - 1 }
-- fixdivide/divide.go --
package m

func Divide(a, b int) int { if b == 0 { return 0 }; return a / b }
-- fixdivide/divide_test.go --
package m // of division
-- fixjoin/join.go --
package m

func Join(all []string) string { if len(all) == 0 { return "" }; return all[0] + Join(all[1:]) }
-- fixjoin/join_test.go --
package m // of joining
-- fixadd/read.go --
package m

func Read() {}
-- fixadd/read_test.go --
package m // of reading
-- fixboth/count.go --
package m

func Count(words []string) int { return len(words) }
-- fixboth/count_test.go --
package m // of counting
`

func day() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture is a store whose candidates went through the first stages.
type fixture struct {
	*store.Store
	repo *gittest.Repo
	m    *gitrepo.Mirror
}

// build commits the script, with the ids of earlier commits laid in, and runs the stages until the link is known.
func build(t *testing.T) fixture {
	t.Helper()
	f := fixture{repo: gittest.Build(t, fill(t, chainsScript))}
	var err error
	f.m, err = gitrepo.Open(t.Context(), f.repo.Dir, t.TempDir(), gitrepo.Options{})
	ok(t, err)
	t.Cleanup(func() { _ = f.m.Close() })
	f.Store, err = store.OpenDir(t.Context(), t.TempDir(), store.Options{Clock: day})
	ok(t, err)
	t.Cleanup(func() { ok(t, f.Store.Close()) })
	h := history.New(f.m, "")
	settings := foresight.Settings{Whole: true}
	proposed, err := foresight.Propose(t.Context(), h, "ada/words", settings)
	ok(t, err)
	_, err = f.AddCandidates(t.Context(), proposed)
	ok(t, err)
	family := foresight.New(foresight.Deps{History: h, Repo: "ada/words"}, settings)
	family.Stages = family.Stages[:2] // to attribute
	_, err = pipeline.New(f.Store, pipeline.Options{Clock: day, Owner: "test"}).Run(t.Context(), family, "ada/words")
	ok(t, err)
	return f
}

// fill replaces {{name}} by the id of that commit, which the same script gives without what comes later.
func fill(t *testing.T, script string) string {
	t.Helper()
	name := regexp.MustCompile(`\{\{(\w+)\}\}`)
	ids := gittest.Build(t, name.ReplaceAllString(script, "0000000000000000000000000000000000000000")).IDs
	return name.ReplaceAllStringFunc(script, func(s string) string { return ids[strings.Trim(s, "{}")] })
}

func (f fixture) config(d *judging.Desk) Config {
	return Config{Store: f.Store, Desk: d, History: func(context.Context, string) (*history.History, error) { return history.New(f.m, ""), nil }}
}

// desk opens one over a scripted server; more changes the configuration.
func (f fixture) desk(t *testing.T, s *modeltest.Server, replayOnly bool, more ...func(*judging.Config)) *judging.Desk {
	t.Helper()
	c := judging.Config{Config: s.Config("m")}
	c.Endpoints[0].Tries = 1
	for _, m := range more {
		m(&c)
	}
	d, err := judging.Open(t.Context(), f.Store, c, judging.Options{Clock: day, ReplayOnly: replayOnly, HTTP: nil, Getenv: os.Getenv})
	ok(t, err)
	t.Cleanup(func() { ok(t, d.Close(context.WithoutCancel(t.Context()))) })
	return d
}

// slot is the evidence of a slot in a request.
func slot(r modeltest.Request, name string) string {
	m := regexp.MustCompile(`(?s)<<<` + name + ` (\w+)\n(.*?)\n?\w+ ` + name + `>>>`).FindStringSubmatch(r.User())
	if m == nil {
		return ""
	}
	return m[2]
}

// attribute answers as the judge of attribution does, with the code.
func attribute(r modeltest.Request, code string) modeltest.Reply {
	lines := strings.TrimSpace(slot(r, "traced_lines"))
	_, quote, _ := strings.Cut(strings.SplitN(lines, "\n", 2)[0], ": ")
	return modeltest.JSON(json.RawMessage(mustJSON([]field{
		{"defect", "The program fails for an input that nobody thought of."}, {"role", "It wrote the lines."}, {"related", []string{}},
		{"reasoning", "The lines that fail stand in the diff of the earlier change, and nothing else has to do with them."},
		{"later_change", "none"}, {"code", code}, {"quote", quote},
	})))
}

// field is a key of an object whose order matters.
type field struct {
	key   string
	value any
}

func mustJSON(fields []field) string {
	var parts []string
	for _, f := range fields {
		v, err := json.Marshal(f.value)
		if err != nil {
			panic(err)
		}
		parts = append(parts, `"`+f.key+`":`+string(v))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// knowing keeps what wrote the line and drops what only laid it out.
func knowing(r modeltest.Request) modeltest.Reply {
	if strings.Contains(slot(r, "task_text"), "joiner") {
		return attribute(r, "C2")
	}
	return attribute(r, "A")
}
