package pairlist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	a = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	b = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	c = "cccccccccccccccccccccccccccccccccccccccc"
)

// read gives the rows of a list, short, and its problems.
func read(repo, text string) (rows, problems []string, err error) {
	r := Reader{
		Repo: repo,
		Use: func(row Row) error {
			for _, p := range row.Pairs {
				rows = append(rows, fmt.Sprintf("%d %s %s<-%s", row.Line, p.Repo, side(p.Fix), side(p.Intro)))
			}
			if in := row.Instance; in != nil {
				rows = append(rows, fmt.Sprintf("%d %s", row.Line, brief(in)))
			}
			if !json.Valid(row.Raw) || bytes.ContainsRune(row.Raw, '\n') {
				return fmt.Errorf("raw row %q", row.Raw)
			}
			return nil
		},
		Bad: func(p Problem) { problems = append(problems, fmt.Sprintf("%d %s", p.Line, p.Reason)) },
	}
	err = r.Read(strings.NewReader(text))
	return rows, problems, err
}

func side(r Ref) string {
	if r.Number > 0 {
		return fmt.Sprintf("#%d", r.Number)
	}
	return r.SHA[:1]
}

func brief(in *Instance) string {
	s := fmt.Sprintf("%s %s %s base %.1s", in.Format, in.ID, in.Repo, in.Base)
	if in.PR > 0 {
		s += fmt.Sprintf(" pr %d", in.PR)
	}
	if in.Fix != "" {
		s += fmt.Sprintf(" fix %.1s", in.Fix)
	}
	if len(in.Issues) > 0 {
		s += fmt.Sprint(" issues ", in.Issues)
	}
	for _, n := range []*int{in.F2P, in.P2P} {
		if n == nil {
			s += " ?"
		} else {
			s += fmt.Sprint(" ", *n)
		}
	}
	if in.Inverted {
		s += " inverted"
	}
	return s
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		repo, text     string
		want, problems []string
	}{
		"CSV":               {"", "repo,fix,intro\no/r," + a + "," + b + "\n", []string{"2 o/r a<-b"}, nil},
		"CSV in any order":  {"", "\xef\xbb\xbfBug Inducing Commit;Repo_Name;Fix Commit Hash\r\n" + b + ";https://github.com/o/r.git;" + a + "\r\n", []string{"2 o/r a<-b"}, nil},
		"tabs, no repo":     {"x/y", "BugID\tBugFixingCommit\tBugInducingCommit\nX-1\t" + a + "\t" + b + "\n", []string{"2 x/y a<-b"}, nil},
		"several origins":   {"", "repo,fix,intro\no/r," + a + ",\"" + b + " " + c + "\"\n", []string{"2 o/r a<-b", "2 o/r a<-c"}, nil},
		"numbers and pages": {"", "repo,fix,intro\no/r,#12,https://github.com/o/r/pull/3\no/r,https://github.com/o/r/commit/" + a + "," + b + "\n", []string{"2 o/r #12<-#3", "3 o/r a<-b"}, nil},
		"bad rows": {"", "repo,fix,intro\n,a,b\no/r,,x\no/r," + a + ",\no/r,zzz," + b + "\no/r," + a + "," + a + "\n\"o/r\"x," + a + "," + b + "\no/r," + a + "," + b + "\n../x," + a + "," + b + "\n",
			[]string{"8 o/r a<-b"}, []string{"2 no-repository", "3 no-fix", "4 no-intro", "5 not-a-commit", "6 fix-is-intro", "7 not-csv", "9 no-repository"}},
		"an open quote": {"", "repo,fix,intro,how\no/r," + a + "," + b + ",\"open\no/r," + a + "," + c + ",\"two\nlines\"\no/r," + b + "," + c + ",\n",
			[]string{"3 o/r a<-c", "5 o/r b<-c"}, []string{"2 not-csv"}},
		"JSON lines": {"", `{"repo": "o/r", "fix_sha": "` + a + `", "intro_sha": "` + b + `", "how": "x"}` + "\n\n{broken\n" + `["x"]` + "\n" + `{"repo": "o/r", "fix_sha": "` + a + `", "intro_sha": "` + c + `"}`,
			[]string{"1 o/r a<-b", "5 o/r a<-c"}, []string{"3 not-json", "4 unknown-fields"}},
		"an oracle": {"", `[{"id": 1, "repo_name": "o/r", "fix_commit_hash": "` + a + `", "inducing_commit_hash": [], "bug_commit_hash": ["` + b + `", "` + c + `"]}, {"x": 1}]`,
			[]string{"1 o/r a<-b", "1 o/r a<-c"}, []string{"2 unknown-fields"}},
		"truth before predictions": {"", `{"repo_name": "o/r", "fix_commit_hash": "` + a + `", "inducing_commit_hash": ["` + c + `"], "bug_commit_hash": ["` + b + `"]}`, []string{"1 o/r a<-b"}, nil},
		"a document":               {"", "{\n \"repo\": \"o/r\",\n \"fix\": \"" + a + "\", \"intro\": \"" + b + "\"\n}\n", []string{"1 o/r a<-b"}, nil},
		"a list without an end":    {"", `[{"repo": "o/r", "fix": "` + a + `", "intro": "` + b + `"},`, []string{"1 o/r a<-b"}, []string{"2 not-json"}},
		"a list cut short":         {"", `[{"repo": "o/r", "fix": "` + a + `", "intro": "` + b + `"}, {"re`, []string{"1 o/r a<-b"}, []string{"2 not-json"}},
	} {
		got, problems, err := read(tt.repo, tt.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.problems, problems); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", name, diff)
		}
	}
}

func TestInstances(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ row, want, problem string }{
		"SWE-bench":             {`{"instance_id": "o__r-12", "repo": "o/r", "base_commit": "` + a + `", "FAIL_TO_PASS": ["x", "y"], "PASS_TO_PASS": []}`, "1 swe-bench o__r-12 o/r base a pr 12 2 0", ""},
		"lists in strings":      {`{"instance_id": "o__r-12", "repo": "o/r", "base_commit": "` + a + `", "FAIL_TO_PASS": "[\"x\", \"y\"]", "PASS_TO_PASS": "[]"}`, "1 swe-bench o__r-12 o/r base a pr 12 2 0", ""},
		"lists in Python":       {`{"instance_id": "o__r-12", "repo": "o/r", "base_commit": "` + a + `", "FAIL_TO_PASS": "['x', \"it's\", 'a\\'b',]", "PASS_TO_PASS": "()"}`, "1 swe-bench o__r-12 o/r base a pr 12 3 0", ""},
		"malformed lists":       {`{"instance_id": "o__r-12", "repo": "o/r", "base_commit": "` + a + `", "FAIL_TO_PASS": "['x", "PASS_TO_PASS": {"x": 1}}`, "1 swe-bench o__r-12 o/r base a pr 12 ? ?", "1 malformed-tests 1 malformed-tests"},
		"no lists":              {`{"instance_id": "o__r-12", "repo": "o/r", "base_commit": "` + a + `"}`, "1 swe-bench o__r-12 o/r base a pr 12 ? ?", ""},
		"no number":             {`{"instance_id": "x__y-12", "repo": "o/r", "base_commit": "z"}`, "1 swe-bench x__y-12 o/r base  ? ?", ""},
		"in small letters":      {`{"instance_id": "unidata__netcdf-c-1925", "repo": "Unidata/netcdf-c", "base_commit": "` + a + `", "install_config": {}, "pr_description": "", "language": "c", "created_at": 1609298073000}`, "1 swe-rebench-v2 unidata__netcdf-c-1925 Unidata/netcdf-c base a pr 1925 ? ?", ""},
		"SWE-rebench":           {`{"instance_id": "o__r-1", "repo": "o/r", "base_commit": "` + a + `", "install_config": {}, "meta": {"pr_url": "https://github.com/o/r/pull/9"}}`, "1 swe-rebench o__r-1 o/r base a pr 9 ? ?", ""},
		"Multi-SWE-bench":       {`{"org": "o", "repo": "r", "number": 5, "fix_patch": "", "base": {"sha": "` + a + `"}, "resolved_issues": [{"number": 3}], "f2p_tests": {"x": {}}, "n2p_tests": {"y": {}}, "p2p_tests": {}}`, "1 multi-swe-bench o__r-5 o/r base a pr 5 issues [3] 2 0", ""},
		"SWE-bench-Live":        {`{"instance_id": "o__r-5", "repo": "o/r", "pull_number": "5", "base_commit": "` + a + `", "test_cmds": [], "issue_numbers": ["3"], "commit_url": "https://github.com/o/r/commit/` + b + `"}`, "1 swe-bench-live o__r-5 o/r base a pr 5 fix b issues [3] ? ?", ""},
		"SWE-bench Pro":         {`{"instance_id": "instance_O__r-` + b + `-vnan", "repo": "o/r", "base_commit": "` + a + `", "before_repo_set_cmd": "x", "fail_to_pass": "['a', 'b']", "pass_to_pass": "[]"}`, "1 swe-bench-pro instance_O__r-" + b + "-vnan o/r base a fix b 2 0", ""},
		"SWE-smith is inverted": {`{"instance_id": "o__r.0123abcd.x__1", "repo": "swesmith/o__r.0123abcd", "image_name": "y", "patch": "", "FAIL_TO_PASS": ["a"]}`, "1 swe-smith o__r.0123abcd.x__1 swesmith/o__r.0123abcd base  1 ? inverted", ""},
		"SWE-EVO":               {`{"instance_id": "o__r_1_2", "repo": "o/r", "base_commit": "` + a + `", "start_version": "1", "end_version": "2"}`, "1 swe-evo o__r_1_2 o/r base a ? ?", ""},
		"swe-factory":           {`{"instance_id": "o__r-5", "repo": "o/r", "base_commit": "` + a + `", "dockerfile": "", "eval_script": ""}`, "1 swe-factory o__r-5 o/r base a pr 5 ? ?", ""},
	} {
		got, problems, err := read("", tt.row)
		if err != nil || strings.Join(got, "|") != tt.want || strings.Join(problems, " ") != tt.problem {
			t.Errorf("%s:\n got %q %q (%v)\nwant %q %q", name, got, problems, err, tt.want, tt.problem)
		}
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[1, 2]": "1 2 end 3 <nil>", "{} {}\n{}": "{} {} {} end 4 <nil>", "[1, 2": "1 2 end 3 not JSON", "": "end 1 not JSON",
		`["` + strings.Repeat("x", 50000) + `"]`: "end 1 longer than a record may be",
	} {
		got := ""
		n, err := Elements(strings.NewReader(text), 20000, func(_ int, raw json.RawMessage) error {
			got += string(raw) + " "
			return nil
		})
		first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
		if got += fmt.Sprintf("end %d %s", n, first); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestLinesPassOverLongOnes(t *testing.T) {
	t.Parallel()
	var got []string
	err := Lines(strings.NewReader("a\n\n"+strings.Repeat("x", 200000)+"\nb"), 1000, func(n int, line []byte, cut bool) error {
		got = append(got, fmt.Sprintf("%d %s %v", n, line, cut))
		return nil
	})
	if diff := cmp.Diff([]string{"1 a false", "3  true", "4 b false"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	for text, words := range map[string]string{
		"":                            "empty",
		"hello\nworld\n":              "no column for the repository",
		"repo,when\no/r,x\n":          "no column fix",
		"repo,fix\no/r," + a + "\n":   "no column intro",
		"fix,intro\n" + a + "," + b:   "--repo",
		"\x00\x01\x02\xff\xfe binary": "no column",
	} {
		_, _, err := read("", text)
		if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), Schema) {
			t.Errorf("%q: %v, want %q", text, err, words)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("repo,fix,intro\no/r,"+a+","+b+"\n", "")
	f.Add(`{"repo": "o/r", "fix_sha": "`+a+`", "intro_sha": ["`+b+`"]}`+"\n{}\n", "x/y")
	f.Add(`[{"instance_id": "o__r-1", "repo": "o/r", "base_commit": "`+a+`", "FAIL_TO_PASS": "['x']"}]`, "")
	f.Add(`{"org": "o", "repo": "r", "number": 5, "fix_patch": "", "f2p_tests": {"x": {}}}`, "")
	f.Fuzz(func(t *testing.T, text, repo string) {
		r := Reader{Repo: repo, Bad: func(p Problem) {
			if p.Reason == "" {
				t.Errorf("a problem of %q without a reason: %+v", text, p)
			}
		}}
		r.Use = func(row Row) error {
			if row.Instance == nil && len(row.Pairs) == 0 || !json.Valid(row.Raw) {
				t.Errorf("row %+v of %q", row, text)
			}
			for _, p := range row.Pairs {
				if p.Repo == "" || p.Fix == (Ref{}) || p.Intro == (Ref{}) || p.Fix == p.Intro {
					t.Errorf("pair %+v of %q", p, text)
				}
			}
			return nil
		}
		_ = r.Read(strings.NewReader(text))
	})
}

func FuzzPythonList(f *testing.F) {
	f.Add(`['a', "b\"c", ]`)
	f.Fuzz(func(t *testing.T, s string) {
		if list, ok := pythonList(s); ok && strings.Count(s, "'")+strings.Count(s, `"`) < 2*len(list) {
			t.Errorf("%q has %d elements?", s, len(list))
		}
	})
}
