package github

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/github/githubtest"
)

// story fetches the items of the repository octo/clock and derives from each.
func story(t *testing.T, c *Client) map[int]Derived {
	t.Helper()
	r, err := c.Repository(t.Context(), "octo/clock")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]Derived{}
	err = c.Items(t.Context(), r, time.Time{}, func(it Item) error {
		b, err := c.Fetch(t.Context(), r, it)
		if err != nil {
			return err
		}
		line, err := json.Marshal(b) // what is kept as evidence must do
		if err != nil {
			return err
		}
		var again Bundle
		if err := json.Unmarshal(line, &again); err != nil {
			return err
		}
		out[it.Number], err = Derive(again)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tri(b *bool) string {
	if b == nil {
		return "unknown"
	}
	return fmt.Sprint(*b)
}

func (d Derived) brief() string {
	var out []string
	for _, l := range d.Links {
		s := fmt.Sprintf("#%d closes #%d%s by %s in %s: %s (%s)", l.Change.Number, l.Issue, l.External, l.Method, l.Where, tri(l.Closing), l.Why)
		if l.Strong {
			s += " strong"
		}
		out = append(out, s)
	}
	for _, o := range d.Origins {
		out = append(out, fmt.Sprintf("#%d repairs #%d%s, says %s in %s (%s): %q", o.Change.Number, o.Number, o.SHA, o.Author, o.Where, o.Cue, o.Quote))
	}
	for _, r := range d.Reports {
		out = append(out, fmt.Sprintf("#%d comment %d by %s: %s%.8s", r.Issue, r.Comment, r.Author, r.Cue, " "+r.SHA))
	}
	return strings.Join(out, "\n")
}

func TestStory(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, nil)
	s.Clock()
	got := story(t, c)
	for n, want := range map[int]string{
		1:  "#1 comment 101 by bob: bisected aaaaaaa",
		2:  "#13 closes #2 by timeline in timeline: true (commit dddddddddddddddddddddddddddddddddddddddd closed it) strong\n#14 closes #2 by cross-reference in timeline: unknown (a mention)",
		10: "",
		11: "#11 closes #1 by keyword in body: true (it was closed as the change was merged) strong\n#11 repairs #10, says ada in body (regression): \"This is a regression from #10.\"\n#11 repairs #0" + githubtest.SHA('a') + ", says bob in issue 1 comment 101 (bisected): \"I bisected this to " + githubtest.SHA('a') + ".\"",
		12: "#12 closes #1 by keyword in body: false (the change did not go to the default branch) strong",
		13: "",
		14: "#14 closes #2 by keyword in body: false (the change was not merged) strong",
	} {
		if diff := cmp.Diff(want, got[n].brief()); diff != "" {
			t.Errorf("#%d: -want +got\n%s", n, diff)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d items", len(got))
	}
}

// TestEditedAfter: #11 was opened 18 h after the first day. Then the title of #1 changed, and a comment; what happened to its body, REST does
// not tell, and GraphQL does.
func TestEditedAfter(t *testing.T) {
	t.Parallel()
	want := []TextState{
		{What: "title", State: TextEdited, At: githubtest.Day.Add(25 * time.Hour), Was: "Midnight is shown as 24:00"},
		{What: "body", State: TextUnknown},
		{What: "comment 101", State: TextClean},
		{What: "comment 102", State: TextEdited, At: githubtest.Day.Add(30 * time.Hour)},
		{What: "change title", State: TextClean},
		{What: "change body", State: TextUnknown},
	}
	s, c, _ := setup(t, nil)
	s.Clock()
	link := story(t, c)[11].Links[0]
	if diff := cmp.Diff(want, link.TextStates); diff != "" || !link.CutOff.Equal(githubtest.Day.Add(18*time.Hour)) {
		t.Error(link.CutOff, diff)
	}
	edited := githubtest.Day.Add(21 * time.Hour)
	for _, tt := range []struct {
		at   any
		want TextState
	}{
		{nil, TextState{What: "body", State: TextClean}},
		{githubtest.At(17), TextState{What: "body", State: TextClean}},
		{githubtest.At(21), TextState{What: "body", State: TextEdited, At: edited}},
	} {
		s.GraphQL(func(n int) any {
			return githubtest.Object{"lastEditedAt": tt.at, "closingIssuesReferences": githubtest.Object{"nodes": []githubtest.Object{
				{"number": 1, "repository": githubtest.Object{"nameWithOwner": "Octo/Clock"}},
			}}}
		})
		s.Token("token-aaaa", githubtest.Quota{Remaining: 1000, Reset: time.Now().Add(time.Hour)})
		c, _ := client(t, s, func(o *Options) { o.Tokens = []string{"token-aaaa"} })
		d := story(t, c)
		if diff := cmp.Diff(tt.want, d[11].Links[0].TextStates[1]); diff != "" {
			t.Errorf("edited at %v: %s", tt.at, diff)
		}
		if got := d[13].brief(); !strings.Contains(got, "#13 closes #1 by manual in api: false (it was closed before the change was merged) strong") {
			t.Errorf("by hand: %s", got)
		}
	}
}

// TestGraphQLLimit: GraphQL refuses with status 200.
func TestGraphQLLimit(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, func(o *Options) { o.Tokens = []string{"token-aaaa"} })
	s.GraphQL(func(int) any { return githubtest.Object{"lastEditedAt": nil} })
	s.Fault("/graphql", 1, githubtest.Page("application/json", `{"errors":[{"type":"RATE_LIMITED"}]}`))
	raw, err := c.edits(t.Context(), repo, Item{Number: 1})
	if err != nil || len(raw) == 0 || ft.total() < time.Minute || s.Hits("graphql") != 2 {
		t.Errorf("%s, %v, waited %v", raw, err, ft.total())
	}
}

// TestReverted: a merged change that takes another one back is found in the events of that one.
func TestReverted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		title  string
		merged any
		want   int
	}{
		{`Revert "Fix midnight"`, githubtest.At(50), 16}, {`Revert "Fix midnight"`, nil, 0}, {"Improve on it", githubtest.At(50), 0},
	} {
		s, c, _ := setup(t, nil)
		s.Clock()
		s.Add("repos/octo/clock/issues/11/timeline", githubtest.Event("cross-referenced", 0, 49, githubtest.Object{"source": githubtest.Object{"issue": githubtest.Object{
			"number": 16, "title": tt.title, "body": "Reverts octo/clock#11", "pull_request": githubtest.Object{"merged_at": tt.merged},
		}}}))
		if got := story(t, c)[11].Links[0].RevertedBy; got != tt.want {
			t.Errorf("%s merged %v: reverted by #%d, want #%d", tt.title, tt.merged, got, tt.want)
		}
	}
}

// closingCase is a change that says "Fixes #1", merged 20 h after the first day into main, and what happened to the issue.
type closingCase struct {
	name   string
	body   string
	change func(githubtest.Object)
	events []githubtest.Object
	want   string
}

func TestClosing(t *testing.T) {
	t.Parallel()
	closed := func(at float64, sha any) githubtest.Object {
		return githubtest.Event("closed", int(at*1000), at, githubtest.Object{"commit_id": sha})
	}
	for _, tt := range []closingCase{
		{"at the merge", "Fixes #1", nil, []githubtest.Object{closed(20.001, nil)}, "true"},
		{"by our commit", "Fixes #1", nil, []githubtest.Object{closed(21, githubtest.SHA('b'))}, "true"},
		{"by our merge", "See #1", nil, []githubtest.Object{closed(21, githubtest.SHA('3'))}, ""},
		{"by another's commit", "Fixes #1", nil, []githubtest.Object{closed(19, githubtest.SHA('9'))}, "false"},
		{"before", "Fixes #1", nil, []githubtest.Object{closed(19, nil)}, "false"},
		{"before, then again at the merge", "Fixes #1", nil, []githubtest.Object{closed(19, nil), closed(20, nil)}, "true"},
		{"later", "Fixes #1", nil, []githubtest.Object{closed(30, nil)}, "unknown"},
		{"never", "Fixes #1", nil, nil, "unknown"},
		{"enumerated", "Fixes #2, #1", nil, []githubtest.Object{closed(20, nil)}, "false"},
		{"another branch", "Fixes #1", func(p githubtest.Object) { p["base"] = githubtest.Object{"ref": "1.x"} }, []githubtest.Object{closed(20, nil)}, "false"},
		{"no branch", "Fixes #1", func(p githubtest.Object) { delete(p, "base") }, []githubtest.Object{closed(20, nil)}, "unknown"},
		{"not merged", "Fixes #1", func(p githubtest.Object) { p["merged_at"], p["merged"] = nil, false }, []githubtest.Object{closed(20, nil)}, "false"},
		{"merged is not told", "Fixes #1", func(p githubtest.Object) {
			delete(p, "merged_at")
			delete(p, "merged")
			p["state"] = "?"
		}, []githubtest.Object{closed(20, nil)}, "unknown"},
		{"negated", "Does not fix #1", nil, []githubtest.Object{closed(20, nil)}, "true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c, _ := setup(t, nil)
			s.Repo("o/r", 7)
			s.Issue("o/r", githubtest.Object{"number": 1, "title": "x", "state": "closed", "created_at": githubtest.At(1), "updated_at": githubtest.At(2)}, nil, tt.events)
			p := githubtest.Merged(3, "main", "x", tt.body, 20)
			if tt.change != nil {
				tt.change(p)
			}
			s.Pull("o/r", p, githubtest.Commit(githubtest.SHA('b'), "x"))
			b, err := c.Fetch(t.Context(), repo, Item{Number: 3, Pull: true, Raw: json.RawMessage(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			d, err := Derive(b)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range d.Links {
				if l.Issue == 1 {
					got = tri(l.Closing)
				}
			}
			if got != tt.want {
				t.Errorf("closing %q, want %q: %s", got, tt.want, d.brief())
			}
		})
	}
}

// TestNamedButNoIssue: what a text names is looked up; a change, a number that is not there, and an issue that was moved make no link.
func TestNamedButNoIssue(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, nil)
	s.Repo("o/r", 7)
	s.Pull("o/r", githubtest.Merged(4, "main", "y", "", 1))
	s.Put("repos/o/r/issues/6", githubtest.Object{"number": 6, "updated_at": githubtest.At(1), "repository_url": s.URL + "/repos/o/other"})
	p := githubtest.Merged(3, "main", "Fixes #3", "Fixes #4, fixes #5, fixes #6, fixes x/y#7", 20)
	s.Pull("o/r", p, githubtest.Commit(githubtest.SHA('b'), "x"))
	b, err := c.Fetch(t.Context(), repo, Item{Number: 3, Pull: true, Raw: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Derive(b)
	want := "#3 closes #0x/y#7 by keyword in body: unknown (an issue of another repository)"
	if diff := cmp.Diff(want, d.brief()); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestBlamed: what texts blame is looked up. A number that is an issue's is no origin.
func TestBlamed(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, nil)
	s.Repo("o/r", 7)
	s.Pull("o/r", githubtest.Merged(2, "main", "Feature", "", 1))
	s.Pull("o/r", githubtest.Object{"number": 4, "state": "open", "created_at": githubtest.At(1), "updated_at": githubtest.At(1)})
	s.Pull("o/r", githubtest.Merged(3, "main", "Fix crash", "Broken by #2. Caused by #4. Caused by #5. Regression from "+githubtest.SHA('a')[:9]+"1.", 20))
	b, err := c.Fetch(t.Context(), repo, Item{Number: 3, Pull: true, Raw: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Derive(b)
	var got []string
	for _, o := range d.Origins {
		got = append(got, fmt.Sprintf("#%d %s intro #%d %.3s merged %s landed %v", o.Number, o.SHA, o.Intro.Number, o.Intro.SHA, tri(o.Intro.Merged), !o.Landed.IsZero()))
	}
	want := []string{
		"#2  intro #2 222 merged true landed true", "#4  intro #4  merged unknown landed false", "#0 aaaaaaaaa1 intro #0  merged unknown landed false",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	day := githubtest.Day
	if got := CutOff(day, time.Time{}, day.Add(time.Hour)); !got.Equal(day) {
		t.Error(got)
	}
	if got := CutOff(day, day.Add(-time.Hour), day.Add(-time.Minute)); !got.Equal(day.Add(-time.Hour)) {
		t.Error(got)
	}
}

// TestBackports has the four changes of logstash that became four instances of one fix, and some that must stay apart.
func TestBackports(t *testing.T) {
	t.Parallel()
	day := githubtest.Day
	landed := []Landed{
		{16966, "p", 17021, false, day}, {16966, "p", 17020, false, day}, {16966, "p", 16968, true, day.Add(time.Hour)}, {16966, "p", 17019, false, day},
		{16966, "q", 5, true, day}, {1, "p", 6, true, day}, {2, "", 7, true, day}, {2, "", 8, true, day},
	}
	var got []string
	for _, g := range Backports(landed) {
		s := fmt.Sprint(g.Canonical.Number)
		for _, d := range g.Duplicates {
			s += fmt.Sprint(" ", d.Number)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff([]string{"5", "6", "7", "8", "16968 17019 17020 17021"}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzDerive(f *testing.F) {
	s := githubtest.New()
	s.Clock()
	c, err := New(Options{BaseURL: s.URL, Clock: time.Now, Sleep: newTime().sleep})
	if err != nil {
		f.Fatal(err)
	}
	for n, pull := range map[int]bool{1: false, 2: false, 11: true} {
		b, err := c.Fetch(f.Context(), Repository{ID: 7, Name: "octo/clock", DefaultBranch: "main"}, Item{Number: n, Pull: pull, Comments: 1 - n/2, Raw: json.RawMessage(`{"number":1,"title":"x","body":"bisected to 0123abcd"}`)})
		if err != nil {
			f.Fatal(err)
		}
		line, err := json.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	s.Close()
	f.Fuzz(func(t *testing.T, line []byte) {
		var b Bundle
		if json.Unmarshal(line, &b) != nil {
			return
		}
		d, err := Derive(b)
		if err != nil {
			return
		}
		again, err := Derive(b)
		if diff := cmp.Diff(d.brief(), again.brief()); diff != "" || err != nil {
			t.Errorf("derived twice: %v %s", err, diff)
		}
		for _, l := range d.Links {
			if l.Issue == 0 && l.External == "" || l.Method == "" {
				t.Errorf("link %+v", l)
			}
		}
	})
}
