package mining

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
	"sluice/store"
)

// bug is the id that the messages of pastRepo name.
const bug = "0123456789abcdef0123456789abcdef01234567"

// pastRepo has a line of commits c0 to c40 of which c3 and c35 say that they repair something, a branch that was forced elsewhere, and
// change 5, which landed as a squash.
func pastRepo(t *testing.T) (dir string, ids map[string]string) {
	t.Helper()
	b := gittest.NewBuilder()
	for i := range 41 {
		c := gittest.Commit{Name: fmt.Sprintf("c%d", i), Message: fmt.Sprintf("Change %d", i), Files: map[string]string{"a": fmt.Sprint(i)}}
		switch i {
		case 3, 35:
			c.Message = "Fix crash\n\nFixes: " + bug + " (\"add x\")\n"
		case 4:
			c.Message = "Bump x\n\nfix " + bug + "\n" // a bot's words
		case 7:
			c.Message = "Handle empty input (#5)\n"
		}
		b.Add(c)
	}
	b.Branch("forced", "c1")
	b.Add(gittest.Commit{Name: "f", Message: "Repair\n\nRegression introduced by " + bug, Files: map[string]string{"b": "1"}})
	b.Head("main")
	dir = filepath.Join(t.TempDir(), "o+r")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, ids
}

// pushJSON is a push as it is archived since October 2025.
func pushJSON(id int, repo, before, head string) string {
	return fmt.Sprintf(`{"id":"%d","type":"PushEvent","actor":{"id":1,"login":"a"},"repo":{"id":9,"name":%q},"payload":{"repository_id":9,"push_id":%d,"ref":"refs/heads/main","head":%q,"before":%q},"created_at":%q}`+"\n",
		id, repo, id, head, before, archiveDay.Format(time.RFC3339))
}

// cutPushJSON is a push of size commits, of which the event lists those given.
func cutPushJSON(id, size int, before, head string, listed []string) string {
	var commits []string
	for _, sha := range listed {
		commits = append(commits, fmt.Sprintf(`{"sha":%q,"author":{"email":"e","name":"n"},"message":"Change","distinct":true}`, sha))
	}
	return fmt.Sprintf(`{"id":"%d","type":"PushEvent","actor":{"id":1,"login":"a"},"repo":{"id":9,"name":"o/r"},"payload":{"push_id":%d,"size":%d,"distinct_size":%d,"ref":"refs/heads/main","head":%q,"before":%q,"commits":[%s]},"created_at":%q}`+"\n",
		id, id, size, size, head, before, strings.Join(commits, ","), archiveDay.Format(time.RFC3339))
}

// closedJSON is a comment on a closed pull request: it has the text and not whether the change was merged.
func closedJSON(id, number int) string {
	return fmt.Sprintf(`{"id":"%d","type":"IssueCommentEvent","actor":{"login":"a"},"repo":{"id":9,"name":"o/r"},"payload":{"action":"created","issue":{"number":%d,"state":"closed","body":"Fixes #12","pull_request":{"html_url":"u"}},"comment":{"id":1,"body":"x"}},"created_at":%q}`+"\n",
		id, number, archiveDay.Format(time.RFC3339))
}

// pastOptions reads one hour with the history of o/r at hand.
func pastOptions(t *testing.T, s *store.Store, repo, hour string) GHArchiveOptions {
	t.Helper()
	folder := t.TempDir()
	writeHour(t, folder, archiveDay, pack(t, []byte(hour)))
	o := archiveOptions(t, s, folder)
	o.Mirrors, o.Folders = filepath.Join(t.TempDir(), "mirrors"), "one"
	o.Folder = func(name string) string {
		if strings.EqualFold(name, "o/r") {
			return repo
		}
		return ""
	}
	return o
}

// said are the leads of a store in short: what they claim, what git told, and the id of the event that is their evidence.
func said(t *testing.T, s *store.Store, names map[string]string) []string {
	t.Helper()
	leads, err := s.Leads(t.Context(), store.LeadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range leads {
		blob, err := s.Get(t.Context(), l.Evidence)
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ ID string }
		if err := json.Unmarshal([]byte(strings.Split(string(blob), "\n")[l.Line-1]), &e); err != nil {
			t.Fatal(err)
		}
		var d struct {
			Fix      Ref
			Merged   *bool
			SHA, Cue string
			PR       int
			FromGit  []string `json:"from_git"`
		}
		if err := json.Unmarshal(l.Data, &d); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s fix %s", l.Method, names[d.Fix.SHA])
		if l.Kind == store.IssuePRLead {
			what = fmt.Sprintf("#%d merged %s sha %s", d.PR, IssuePR{Merged: d.Merged}.phase(), names[d.SHA])
		}
		out = append(out, fmt.Sprintf("%s git %v event %s", what, d.FromGit, e.ID))
	}
	return out
}

func TestPushesFromGit(t *testing.T) {
	t.Parallel()
	repo, ids := pastRepo(t)
	names := map[string]string{}
	var line []string
	for i := range 41 {
		line = append(line, ids[fmt.Sprintf("c%d", i)])
	}
	for name, id := range ids {
		names[id] = name
	}
	zero, gone := strings.Repeat("0", 40), strings.Repeat("d", 40)
	for _, tt := range []struct {
		name, hour string
		leads      []string
		counts     map[string]int
	}{
		{"short", pushJSON(1, "o/r", ids["c2"], ids["c5"]), []string{"trailer fix c3 git [commits] event 1"}, map[string]int{
			"commits_unknown": 1, "commits_unknown_range_known": 1, "pushes_unknown": 1, "pushes_resolved": 1, "screened_bot": 1,
		}},
		{"cut", cutPushJSON(1, 30, ids["c10"], ids["c40"], line[11:31]), []string{"trailer fix c35 git [commits] event 1"}, map[string]int{
			"commits_truncated": 1, "pushes_unknown": 1, "pushes_resolved": 1,
		}},
		{"cut, the listed ones are known", cutPushJSON(1, 30, ids["c10"], ids["c40"], line[21:41]), nil, map[string]int{
			"commits_truncated": 1, "pushes_unknown": 1, "pushes_resolved": 1,
		}},
		{"twice", pushJSON(1, "o/r", ids["c2"], ids["c3"]) + pushJSON(2, "O/R", ids["c2"], ids["c3"]), []string{"trailer fix c3 git [commits] event 1"}, map[string]int{
			"commits_unknown": 2, "commits_unknown_range_known": 2, "pushes_unknown": 2, "pushes_resolved": 1, "pushes_repeated": 1,
		}},
		{"forced, what was there before is lost", pushJSON(1, "o/r", gone, ids["f"]), nil, map[string]int{
			"commits_unknown": 1, "commits_unknown_range_known": 1, "pushes_unknown": 1, "pushes_unresolvable_before_gone": 1,
		}},
		{"forced, what was there before is known", pushJSON(1, "o/r", ids["c5"], ids["f"]), []string{"testimony fix f git [commits] event 1"}, map[string]int{
			"commits_unknown": 1, "commits_unknown_range_known": 1, "pushes_unknown": 1, "pushes_resolved": 1,
		}},
		{"back to an older commit", pushJSON(1, "o/r", ids["c5"], ids["c1"]), nil, map[string]int{
			"commits_unknown": 1, "commits_unknown_range_known": 1, "pushes_unknown": 1, "pushes_resolved": 1,
		}},
		{"the head is not there", pushJSON(1, "o/r", ids["c5"], gone), nil, map[string]int{
			"commits_unknown": 1, "commits_unknown_range_known": 1, "pushes_unknown": 1, "pushes_unresolvable_head_gone": 1,
		}},
		{"a new branch and a deleted one", pushJSON(1, "o/r", zero, ids["f"]) + pushJSON(2, "o/r", ids["f"], zero), nil, map[string]int{
			"commits_unknown": 2, "commits_unknown_range_known": 2, "pushes_unknown": 2, "pushes_unresolvable_new_branch": 1, "pushes_unresolvable_deleted_branch": 1,
		}},
		{"no ids", pushJSON(1, "o/r", "--all", ids["f"]), nil, map[string]int{
			"commits_unknown": 1, "commits_unknown_range_known": 1, "pushes_unknown": 1, "pushes_unresolvable_no_range": 1,
		}},
		{"another repository", pushJSON(1, "x/r", ids["c2"], ids["c5"]), nil, map[string]int{"commits_unknown": 1, "commits_unknown_range_known": 1}},
		{"merged", closedJSON(1, 5) + closedJSON(2, 6), []string{"#5 merged merged sha c7 git [merged] event 1", "#6 merged unknown sha  git [] event 2"}, map[string]int{
			"merged_resolved": 1,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openLedger(t)
			rep := mine(t, pastOptions(t, s, repo, tt.hour))
			got := said(t, s, names)
			slices.Sort(got)
			if diff := cmp.Diff(tt.leads, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.counts, map[string]int(rep.Counts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHoursAreReadAgainForOtherFolders(t *testing.T) {
	t.Parallel()
	repo, ids := pastRepo(t)
	s := openLedger(t)
	o := pastOptions(t, s, repo, pushJSON(1, "o/r", ids["c2"], ids["c5"])+closedJSON(2, 5)+pushJSON(3, "x/y", ids["c2"], ids["c5"])+pushJSON(4, "x/y", ids["c2"], ids["c5"]))
	plain := o
	plain.Folder, plain.Folders = nil, ""
	unresolved := func() []UnresolvedRepo {
		got, err := Unresolved(t.Context(), s, store.LeadFilter{}, 5)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	mine(t, plain)
	want := []UnresolvedRepo{{"o/r", 1, map[string]int{"merged": 1}, 1}, {"x/y", 0, map[string]int{}, 2}}
	if diff := cmp.Diff(want, unresolved()); diff != "" {
		t.Error(diff)
	}
	for i, want := range []int{1, 0} {
		if rep := mine(t, o); rep.Read != want || rep.Counts["pushes_resolved"] != 1 || rep.Leads["pair trailer"] != 1 {
			t.Errorf("run %d: %+v", i, rep)
		}
	}
	if rep := mine(t, plain); rep.Read != 0 {
		t.Errorf("%+v", rep)
	}
	want = []UnresolvedRepo{{"o/r", 1, map[string]int{"order": 1}, 0}, {"x/y", 0, map[string]int{}, 2}}
	if diff := cmp.Diff(want, unresolved()); diff != "" {
		t.Error(diff)
	}
	o.Folders = "two"
	o.Folder = func(string) string { return t.TempDir() } // no repository
	rep := mine(t, o)
	if rep.Read != 1 || rep.Counts["pushes_unresolvable_no_history"] != 3 || rep.Counts["merged_git_failed"] != 1 || len(rep.Unusable) != 2 {
		t.Errorf("%+v", rep)
	}
}

func TestLongPushesAreCut(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	for i := range maxPushed + 3 {
		message := "Change"
		if i == 1 || i == maxPushed {
			message = "Fix crash\n\nFixes: " + bug
		}
		b.Add(gittest.Commit{Name: fmt.Sprint(i), Message: message, Files: map[string]string{"a": fmt.Sprint(i)}})
	}
	dir := filepath.Join(t.TempDir(), "o+r")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := openLedger(t)
	rep := mine(t, pastOptions(t, s, dir, pushJSON(1, "o/r", ids["0"], ids[fmt.Sprint(maxPushed+2)])))
	if rep.Counts["pushes_cut"] != 1 || rep.Counts["pushes_resolved"] != 1 || rep.Leads["pair trailer"] != 1 {
		t.Errorf("%+v", rep)
	}
}
