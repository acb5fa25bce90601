package attribution

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	idA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	idB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	idC = "cccccccccccccccccccccccccccccccccccccccc"
)

func TestReadTruth(t *testing.T) {
	t.Parallel()
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, text string
		want       []Truth
	}{
		{"rows", `{"repo":"o/r","fix_sha":"` + idA + `","intro_sha":"` + idB + "\",\"how\":\"since\"}\r\n\n" + `{"repo":"o/r","fix_sha":"abcdef1","intro_sha":"` + idC + `"}`,
			[]Truth{{Repo: "o/r", Fix: idA, Intro: []string{idB}, How: "since", Line: 1}, {Repo: "o/r", Fix: "abcdef1", Intro: []string{idC}, Line: 3}}},
		{"one fix in two rows", `{"repo":"o/r","fix_sha":"` + idA + `","intro_sha":"` + idB + "\"}\n" + `{"repo":"o/r","fix_sha":"` + strings.ToUpper(idA) + `","intro_sha":"` + idC + `"}`,
			[]Truth{{Repo: "o/r", Fix: idA, Intro: []string{idB, idC}, Line: 1}}},
		{"the oracle's form", "\ufeff[\n {\"id\":3,\"repo_name\":\"o/r\",\"language\":[\"py\"],\n  \"fix_commit_hash\":\"" + idA + `","bug_commit_hash":["` + idB + `","` + idC + `"],"best_scenario_issue_date":"2020-01-02T03:04:05"}]`,
			[]Truth{{Repo: "o/r", Fix: idA, Intro: []string{idB, idC}, Reported: when, Line: 3}}},
		{"a date with an offset", `{"repo":"o/r","fix_sha":"` + idA + `","intro_sha":"` + idB + `","earliest_issue_date":"2020-01-02T04:04:05+01:00"}`,
			[]Truth{{Repo: "o/r", Fix: idA, Intro: []string{idB}, Reported: when, Line: 1}}},
	} {
		got, err := ReadTruth(strings.NewReader(tt.text))
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", tt.name, err, diff)
		}
	}
}

func TestReadTruthRefuses(t *testing.T) {
	t.Parallel()
	good := `{"repo":"o/r","fix_sha":"` + idA + `","intro_sha":"` + idB + `"}` + "\n"
	for text, where := range map[string]string{
		"":                           "line 1:",
		"\n\n":                       "line 1:",
		good + "fix,intro\n":         "line 2:",
		good + "{}\n":                "line 2:",
		good + "\n\n" + good[:30]:    "line 4:",
		"[" + good + ",\n\n" + "{}]": "line 4:",
		"[" + good:                   "line 1:",
		"[1]":                        "line 1:",
		`{"repo":"o/r","fix_sha":"HEAD","intro_sha":"` + idB + `"}`:                                          "line 1:",
		`{"repo":"o/r","fix_sha":"` + idA + `"}`:                                                             "line 1:",
		`{"repo":"o/r","fix_sha":"` + idA + `","bug_commit_hash":"` + idB + `"}`:                             "line 1:",
		`{"fix_sha":"` + idA + `","intro_sha":"` + idB + `"}`:                                                "line 1:",
		`{"repo":"o/r","fix_sha":"` + idA + `","intro_sha":"` + idB + `","earliest_issue_date":"yesterday"}`: "line 1:",
		good + `{"repo":"` + strings.Repeat("x", maxRow) + "\n":                                              "line 2:",
	} {
		rows, err := ReadTruth(strings.NewReader(text))
		if !errors.Is(err, ErrTruth) || !strings.Contains(err.Error(), where) || !strings.Contains(err.Error(), "intro_sha") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: %v, %v", text, rows, err)
		}
	}
}

func FuzzReadTruth(f *testing.F) {
	f.Add(`{"repo":"o/r","fix_sha":"` + idA + `","intro_sha":"` + idB + `"}`)
	f.Add(`[{"repo_name":"o/r","fix_commit_hash":"` + idA + `","bug_commit_hash":["` + idB + `"]}]`)
	f.Add("[{}\n]")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ReadTruth(strings.NewReader(text))
		if err == nil && len(rows) == 0 {
			t.Error("nothing was read, and nothing said")
		}
		for _, r := range rows {
			if err == nil && (r.Repo == "" || len(r.Intro) == 0 || len(r.Fix) < 7 || r.Line < 1 || r.Line > strings.Count(text, "\n")+1) {
				t.Errorf("%+v", r)
			}
		}
	})
}
