package pairlist

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Instance is what is known of a row of the SWE-bench family. What a row does not tell is zero, or nil for counts.
type Instance struct {
	Format   string
	ID       string
	Repo     string // owner/name
	Base     string // commit id
	PR       int
	Issues   []int
	Fix      string // commit id
	F2P, P2P *int   // numbers of tests
	Language string
	Created  string // as given
	Inverted bool   // the patch is the one that breaks
}

// Names of the formats.
const (
	SWEbench      = "swe-bench"
	SWEbenchPro   = "swe-bench-pro"
	SWEbenchLive  = "swe-bench-live"
	SWErebench    = "swe-rebench"
	SWErebenchV2  = "swe-rebench-v2"
	SWEsmith      = "swe-smith"
	SWEfactory    = "swe-factory"
	SWEevo        = "swe-evo"
	MultiSWEbench = "multi-swe-bench"
)

// formats tell rows by the fields that only they have; the first that fits counts. Sets that took over the first set's form
// (SWE-Gym, Nemotron, …) cannot be told from it.
var formats = []struct {
	name string
	has  []string
}{
	{MultiSWEbench, []string{"org", "repo", "number", "fix_patch"}},
	{SWEbenchPro, []string{"instance_id", "repo", "before_repo_set_cmd"}},
	{SWEbenchPro, []string{"instance_id", "repo", "fail_to_pass"}},
	{SWEevo, []string{"instance_id", "repo", "start_version", "end_version"}},
	{SWEbenchLive, []string{"instance_id", "repo", "pull_number", "test_cmds"}},
	{SWErebenchV2, []string{"instance_id", "repo", "install_config", "pr_description"}},
	{SWErebench, []string{"instance_id", "repo", "install_config"}},
	{SWEfactory, []string{"instance_id", "repo", "dockerfile", "eval_script"}},
	{SWEbench, []string{"instance_id", "repo", "base_commit"}},
	{SWEsmith, []string{"instance_id", "repo", "image_name", "patch"}},
}

// instance reads a row that is an instance; nil for one that is none. problems name what could not be read of it.
func instance(fields map[string]json.RawMessage) (in *Instance, problems []string) {
	format := ""
	for _, f := range formats {
		if !slices.ContainsFunc(f.has, func(name string) bool { return fields[name] == nil }) {
			format = f.name
			break
		}
	}
	if format == "" {
		return nil, nil
	}
	r := rowReader{fields}
	in = &Instance{
		Format: format, ID: r.text("instance_id"), Repo: repoName(r.text("repo")), Base: strings.ToLower(r.text("base_commit")),
		Language: r.text("language", "lang", "repo_language"), Created: r.text("created_at"),
	}
	if !commitID.MatchString(in.Base) {
		in.Base = ""
	}
	if strings.HasPrefix(in.Repo, "swesmith/") || strings.Contains(r.text("image_name"), "swesmith") {
		in.Format, in.Inverted = SWEsmith, true
	}
	if format == MultiSWEbench {
		in.multi(r)
	} else {
		in.request(r)
		var bad bool
		if in.F2P, bad = r.tests("FAIL_TO_PASS", "fail_to_pass"); bad {
			problems = append(problems, MalformedTests)
		}
		if in.P2P, bad = r.tests("PASS_TO_PASS", "pass_to_pass"); bad {
			problems = append(problems, MalformedTests)
		}
	}
	if in.Repo == "" || in.ID == "" {
		return nil, nil
	}
	return in, problems
}

// multi reads what Multi-SWE-bench writes in its own way.
func (in *Instance) multi(r rowReader) {
	in.Repo = repoName(r.text("org") + "/" + r.text("repo"))
	in.PR = r.number("number")
	if in.ID == "" {
		in.ID = r.text("org") + "__" + r.text("repo") + "-" + strconv.Itoa(in.PR)
	}
	var base struct{ SHA string }
	if json.Unmarshal(r.fields["base"], &base) == nil && commitID.MatchString(strings.ToLower(base.SHA)) {
		in.Base = strings.ToLower(base.SHA)
	}
	var resolved []struct{ Number int }
	if json.Unmarshal(r.fields["resolved_issues"], &resolved) == nil {
		for _, i := range resolved {
			if i.Number > 0 {
				in.Issues = append(in.Issues, i.Number)
			}
		}
	}
	// What did not pass before and passes after: fails, skipped and absent tests.
	if n, ok := r.objects("f2p_tests", "s2p_tests", "n2p_tests"); ok {
		in.F2P = &n
	}
	if n, ok := r.objects("p2p_tests"); ok {
		in.P2P = &n
	}
}

var (
	idTail   = regexp.MustCompile(`-(\d{1,9})$`)
	pullPage = regexp.MustCompile(`/pull/(\d{1,9})\b`)
	proID    = regexp.MustCompile(`-([0-9a-f]{40})(?:-v\w+)?$`)
	lastID   = regexp.MustCompile(`/commit/([0-9a-f]{7,40})\b`)
)

// request finds the pull request and the fixing commit, where the row tells.
func (in *Instance) request(r rowReader) {
	in.PR = r.number("pull_number", "pr_number", "pull_request")
	for _, name := range []string{"pr_url", "pull_request_url", "html_url", "meta"} {
		if m := pullPage.FindSubmatch(r.fields[name]); m != nil && in.PR == 0 {
			in.PR, _ = strconv.Atoi(string(m[1]))
		}
	}
	// owner__name-12, the form of the first set; a mark in between of others' making is no number of a request.
	owner, name, _ := strings.Cut(strings.ToLower(in.Repo), "/")
	if m := idTail.FindStringSubmatch(in.ID); m != nil && in.PR == 0 && strings.ToLower(in.ID) == owner+"__"+name+m[0] {
		in.PR, _ = strconv.Atoi(m[1])
	}
	if m := proID.FindStringSubmatch(in.ID); m != nil && in.Format == SWEbenchPro {
		in.Fix = m[1]
	}
	if m := lastID.FindStringSubmatch(r.text("commit_url")); m != nil {
		in.Fix = m[1]
	}
	for _, v := range values(orNull(r.fields["issue_numbers"])) {
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			in.Issues = append(in.Issues, n)
		}
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

type rowReader struct{ fields map[string]json.RawMessage }

// text is the first of the fields that is a text or a number.
func (r rowReader) text(names ...string) string {
	for _, name := range names {
		if v := values(orNull(r.fields[name])); len(v) == 1 {
			return v[0]
		}
	}
	return ""
}

func (r rowReader) number(names ...string) int {
	for _, name := range names {
		if n, err := strconv.ParseInt(r.text(name), 10, 32); err == nil && n > 0 {
			return int(n)
		}
	}
	return 0
}

// objects counts the members of the fields that are objects; ok says that one is there.
func (r rowReader) objects(names ...string) (n int, ok bool) {
	for _, name := range names {
		var o map[string]json.RawMessage
		if raw := r.fields[name]; raw != nil && json.Unmarshal(raw, &o) == nil {
			n, ok = n+len(o), true
		}
	}
	return n, ok
}

// tests counts a list of tests: a list, a list in a string of JSON, or one in a string of Python.
func (r rowReader) tests(names ...string) (count *int, malformed bool) {
	for _, name := range names {
		raw, ok := r.fields[name]
		if !ok || string(raw) == "null" {
			continue
		}
		list, ok := testList(raw)
		if !ok {
			return nil, true
		}
		n := len(list)
		return &n, false
	}
	return nil, false
}

func testList(raw json.RawMessage) ([]string, bool) {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list, true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	if s = strings.TrimSpace(s); s == "" {
		return nil, true
	}
	if json.Unmarshal([]byte(s), &list) == nil {
		return list, true
	}
	return pythonList(s)
}

// pythonList reads a Python literal such as ['a', "b"]: escapes of the quotes and of the backslash only change what an element is,
// never how many there are.
func pythonList(s string) (list []string, ok bool) {
	if len(s) < 2 || s[0] != '[' && s[0] != '(' || s[len(s)-1] != ']' && s[len(s)-1] != ')' {
		return nil, false
	}
	s = s[1 : len(s)-1]
	for i := 0; ; {
		for i < len(s) && strings.IndexByte(" \t\r\n", s[i]) >= 0 {
			i++
		}
		if i == len(s) {
			return list, true
		}
		quote := s[i]
		if quote != '\'' && quote != '"' {
			return nil, false
		}
		var b strings.Builder
		for i++; i < len(s) && s[i] != quote; i++ {
			if s[i] == '\\' && i+1 < len(s) {
				i++
			}
			b.WriteByte(s[i])
		}
		if i >= len(s) {
			return nil, false
		}
		list = append(list, b.String())
		for i++; i < len(s) && strings.IndexByte(" \t\r\n", s[i]) >= 0; i++ {
		}
		if i < len(s) {
			if s[i] != ',' {
				return nil, false
			}
			i++
		}
	}
}
