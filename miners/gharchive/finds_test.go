package gharchive

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	shaI = "0123456789abcdef0123456789abcdef01234567"
	shaF = "fedcba9876543210fedcba9876543210fedcba98"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func eventLine(kind, payload string) string {
	return fmt.Sprintf(`{"id":"1","type":%q,"actor":{"login":"ada"},"repo":{"id":9,"name":"o/r"},"payload":%s,"created_at":"2020-01-01T00:10:00Z"}`, kind, payload) + "\n"
}

// brief scans one event and tells what it gives in short.
func brief(t *testing.T, line string) string {
	t.Helper()
	res, finds, evidence := scanText(t, line, Options{Hour: Hour{2020, 1, 1, 0}})
	if len(finds) > 0 && string(evidence) != line {
		t.Errorf("evidence %q", evidence)
	}
	var out []string
	for _, f := range finds {
		if f.Repo != (Repo{9, "o/r"}) || f.Line != 1 || f.Event != 1 {
			t.Errorf("find %+v", f)
		}
		switch {
		case f.Pair != nil:
			out = append(out, fmt.Sprintf("%s %s %.4s->%.4s", f.Method, f.Pair.Cue, f.Pair.Fix, f.Pair.Intro))
			if !strings.Contains(line, strings.Trim(quote(f.Pair.Quote), `"`)) {
				t.Errorf("quotation %q", f.Pair.Quote)
			}
		case f.Issue != nil:
			s := fmt.Sprintf("%s %d%s<-%d closing=%s merged=%s", f.Method, f.Issue.Issue, f.Issue.External, f.Issue.PR, tri(f.Issue.Closing), tri(f.Issue.Merged))
			if f.Issue.Strong {
				s += " strong"
			}
			if f.Issue.Negated {
				s += " negated"
			}
			out = append(out, s)
		default:
			out = append(out, fmt.Sprintf("%s %s #%d/%d %s by %s", f.Method, f.Report.Cue, f.Report.Issue, f.Report.Comment, firstBad(*f.Report), f.Report.Author))
		}
	}
	for _, name := range []string{cBots, cBackports, cReverts, cMerges, cElsewhere, cNameless} {
		if res.Counts[name] > 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func firstBad(r Report) string {
	s := r.SHA
	if r.Number > 0 {
		s = fmt.Sprintf("#%d", r.Number)
	}
	if r.Quoted {
		s += " quoted"
	}
	return s
}

func tri(b *bool) string {
	if b == nil {
		return "?"
	}
	return fmt.Sprint(*b)
}

func TestPairs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ message, want string }{
		{"Fix crash\n\nFixes: " + shaI + " (\"add x\")", "trailer fixes fedc->0123"},
		{"fix crash caused by " + shaI, "testimony caused fedc->0123"},
		{"This corrects the sign. The last change was " + shaI, "keyword corrects fedc->0123"},
		{"Repair the loop\n\nSee the discussion of " + strings.ToUpper(shaI) + ".", "keyword repair fedc->0123"},
		{"fix: https://github.com/o/r/commit/" + shaI, "testimony fixes fedc->0123"},
		{"A regression since\n" + shaI, "testimony regression fedc->0123"},
		{"fixes " + shaI + " and " + shaI, "testimony fixes fedc->0123"},
		{"fixes https://github.com/x/y/commit/" + shaI, cElsewhere},
		{"Look at " + shaI + ", which this fixes", ""},
		{"Add " + shaI, ""},
		{"Fix " + shaI[:39], ""},
		{"Fix " + shaI + "0", ""},
		{"Fix sha256/" + shaI, ""},
		{"Fix " + shaF, ""},
		{"Fix " + strings.Repeat("0", 40), ""},
		{"Fix crash\n\n(cherry picked from commit " + shaI + ")", cBackports},
		{"[1.2] Fix crash\n\nFixes: " + shaI, cBackports},
		{"Backport fix for " + shaI, cBackports},
		{"Revert \"Fix x\"\n\nThis reverts commit " + shaI + ".", cReverts},
		{"Merge branch 'fix' of " + shaI, cMerges},
		{"Bump x from 1 to 2\n\nfixes " + shaI, cBots},
		{"fix: update digest\n\nUpdate x to " + shaI, cBackports},
		{"Not broken: this was not caused by " + shaI, ""},
		{"fix " + strings.Repeat("é", 40) + " " + shaI, "testimony fixes fedc->0123"},
	} {
		got := brief(t, eventLine("PushEvent", fmt.Sprintf(`{"size":1,"commits":[{"sha":%q,"author":{"name":"n","email":"e"},"message":%s}]}`, shaF, quote(tt.message))))
		if tt.message == "fix "+strings.Repeat("é", 40)+" "+shaI {
			tt.want = got // the cue may be either; it must be found
			if !strings.HasSuffix(got, "fedc->0123") {
				t.Errorf("%q: got %q", tt.message, got)
			}
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.message, got, tt.want)
		}
		old := brief(t, eventLine("PushEvent", fmt.Sprintf(`{"size":1,"shas":[[%q,"e@x",%s,"n",true]]}`, shaF, quote(tt.message))))
		if old != got {
			t.Errorf("%q in the old form: got %q, want %q", tt.message, old, got)
		}
	}
}

func TestPairsOfBots(t *testing.T) {
	t.Parallel()
	got := brief(t, eventLine("PushEvent", fmt.Sprintf(`{"size":1,"commits":[{"sha":%q,"author":{"name":"renovate[bot]"},"message":"fix %s"}]}`, shaF, shaI)))
	if got != cBots {
		t.Errorf("got %q", got)
	}
}

func TestPullRequests(t *testing.T) {
	t.Parallel()
	const usual = `"base":{"ref":"main","repo":{"default_branch":"main"}},"user":{"login":"bob"},"title":"t"`
	for _, tt := range []struct{ action, fields, body, want string }{
		{"opened", usual + `,"merged":false`, "Fixes #12", "keyword 12<-5 closing=true merged=? strong"},
		{"closed", usual + `,"merged":true`, "fixes #3, #4", "keyword 3<-5 closing=true merged=true strong, keyword 4<-5 closing=false merged=true"},
		{"closed", usual + `,"merged":false`, "closes https://github.com/o/r/issues/11", "keyword 11<-5 closing=true merged=false strong"},
		{"closed", usual, "closes #11", "keyword 11<-5 closing=true merged=? strong"},
		{"closed", usual + `,"merged_at":"2020-01-01T00:00:00Z"`, "closes #11", "keyword 11<-5 closing=true merged=true strong"},
		{"closed", `"merged":true`, "closes #11", "keyword 11<-5 closing=? merged=true strong"},
		{"closed", `"merged":true,"base":{"ref":"release/1","repo":{"default_branch":"main"}}`, "closes #11", "keyword 11<-5 closing=false merged=true strong"},
		{"merged", usual, "closes #11", "keyword 11<-5 closing=true merged=true strong"},
		{"opened", usual, "Does not fix #14", "keyword 14<-5 closing=true merged=? negated"},
		{"opened", usual, "Fixes x/y#10", "keyword 0x/y#10<-5 closing=true merged=? strong"},
		{"opened", usual, "Fixes #5", ""},
		{"opened", usual, "`fixes #16` and <!-- fixes #17 -->", ""},
		{"opened", `"title":"Revert \"x\""`, "Reverts #3. Fixes #18", cReverts},
		{"opened", `"title":"[1.2] Backport x"`, "Fixes #18", cBackports},
		{"opened", `"user":{"login":"dependabot[bot]"},"title":"Bump x"`, "Fixes #18", cBots},
	} {
		got := brief(t, eventLine("PullRequestEvent", fmt.Sprintf(`{"action":%q,"number":5,"pull_request":{"number":5,%s,"body":%s}}`, tt.action, tt.fields, quote(tt.body))))
		if got != tt.want {
			t.Errorf("%s %s %q: got %q, want %q", tt.action, tt.fields, tt.body, got, tt.want)
		}
	}
}

func TestIssuesAndComments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, kind, payload, want string }{
		{
			"an issue's own text", "IssuesEvent", `{"action":"opened","issue":{"number":6,"user":{"login":"eve"},"body":"Bisected to 0123abcd."}}`,
			"testimony bisected #6/0 0123abcd by eve",
		},
		{
			"a comment", "IssueCommentEvent", `{"action":"created","issue":{"number":6,"body":"x"},"comment":{"id":77,"user":{"login":"bob"},"body":"git bisect says:\n\n` + shaI + ` is the first bad commit"}}`,
			"testimony first-bad #6/77 " + shaI + " by bob",
		},
		{"a log", "IssuesEvent", `{"issue":{"number":6,"body":"` + "```" + `\ngit bisect start\n# first bad commit: [0123abcd] Do not crash if x\n` + "```" + `"}}`, "testimony first-bad #6/0 0123abcd by ada"},
		{"a range", "IssuesEvent", `{"issue":{"number":6,"body":"bisected to 0123abcd..89abcdef"}}`, ""},
		{"a suspicion", "IssuesEvent", `{"issue":{"number":6,"body":"I suspect the regression was introduced by 0123abcd"}}`, ""},
		{"a bare id", "IssuesEvent", `{"issue":{"number":6,"body":"0123abcd"}}`, ""},
		{"a quotation", "IssueCommentEvent", `{"issue":{"number":6},"comment":{"id":7,"body":"> bisected to 0123abcd\n\nThanks"}}`, "testimony bisected #6/7 0123abcd quoted by ada"},
		{"a change", "IssueCommentEvent", `{"issue":{"number":6},"comment":{"id":7,"body":"bisected to #4"}}`, "testimony bisected #6/7 #4 by ada"},
		{"elsewhere", "IssuesEvent", `{"issue":{"number":6,"body":"bisected to https://github.com/x/y/commit/0123abcd"}}`, cElsewhere},
		{"a deleted comment", "IssueCommentEvent", `{"action":"deleted","issue":{"number":6},"comment":{"id":7,"body":"bisected to 0123abcd"}}`, ""},
		{"dealt with", "IssueCommentEvent", `{"issue":{"number":6},"comment":{"id":7,"body":"Thanks! Fixed by PR #9, and resolved in https://github.com/o/r/pull/10"}}`, "reference 6<-9 closing=? merged=?, reference 6<-10 closing=? merged=?"},
		{"dealt with perhaps", "IssueCommentEvent", `{"issue":{"number":6},"comment":{"id":7,"body":"Maybe fixed by PR #9"}}`, ""},
		{"dealt with elsewhere", "IssueCommentEvent", `{"issue":{"number":6},"comment":{"id":7,"body":"Fixed in https://github.com/x/y/pull/10"}}`, cElsewhere},
		{"a number that may be an issue's", "IssueCommentEvent", `{"issue":{"number":6},"comment":{"id":7,"body":"Fixed by #9"}}`, ""},
		{
			"a pull request's page", "IssueCommentEvent", `{"issue":{"number":5,"state":"closed","pull_request":{"url":"u","merged_at":"2020-01-01T00:00:00Z"},"body":"Fixes #12"},"comment":{"id":7,"body":"fixed by PR 9"}}`,
			"keyword 12<-5 closing=? merged=true strong",
		},
		{"without a number", "IssuesEvent", `{"issue":123456,"body":"bisected to 0123abcd"}`, ""},
	} {
		if got := brief(t, eventLine(tt.kind, tt.payload)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestNamelessEventsHaveNoFinds(t *testing.T) {
	t.Parallel()
	for _, repo := range []string{`{}`, `{"id":9,"name":"/"}`, `{"id":9,"name":"../../etc/x"}`, `{"id":9,"name":"o/r\n"}`} {
		line := fmt.Sprintf(`{"id":"1","type":"IssuesEvent","repo":%s,"payload":{"issue":{"number":1,"body":"bisected to 0123abcd"}}}`, repo) + "\n"
		if got := brief(t, line); got != cNameless {
			t.Errorf("%s: got %q", repo, got)
		}
	}
}

func TestWindowOfAScan(t *testing.T) {
	t.Parallel()
	line := strings.Replace(eventLine("IssuesEvent", `{"issue":{"number":1,"body":"bisected to 0123abcd"}}`), "2020-01-01T00:10:00Z", "2025-06-01T05:58:30Z", 1)
	at := func(h int) time.Time { return time.Date(2025, 6, 1, h, 0, 0, 0, time.UTC) }
	for _, tt := range []struct{ from, to, events, outside int }{{5, 6, 1, 0}, {6, 7, 0, 1}} {
		res, finds, _ := scanText(t, line, Options{Hour: Hour{2025, 6, 1, 6}, Window: Window{at(tt.from), at(tt.to)}})
		if res.Events != tt.events || res.Outside != tt.outside || len(finds) != tt.events {
			t.Errorf("window %d to %d: %d events, %d outside, %d finds", tt.from, tt.to, res.Events, res.Outside, len(finds))
		}
	}
}

func TestLargeEventsAndTexts(t *testing.T) {
	t.Parallel()
	body := "bisected to 0123abcd " + strings.Repeat("é", maxText)
	res, finds, _ := scanText(t, eventLine("IssuesEvent", `{"issue":{"number":1,"body":`+quote(body)+`}}`), Options{})
	if len(finds) != 1 || res.Counts[cCutTexts] != 1 {
		t.Errorf("%d finds, %v", len(finds), res.Counts)
	}
	body = "bisected to 0123abcd " + strings.Repeat("x", maxEvent)
	res, finds, _ = scanText(t, eventLine("IssuesEvent", `{"issue":{"number":1,"body":`+quote(body)+`}}`), Options{})
	if len(finds) != 0 || res.Counts[cUnsearched] != 1 || res.Events != 1 {
		t.Errorf("%d finds, %d events, %v", len(finds), res.Events, res.Counts)
	}
}

func TestEvidenceComesInParts(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	pad := strings.Repeat("x", 200_000)
	const n = 2 * evidenceChunk / 200_000
	for i := range n {
		line := eventLine("IssuesEvent", fmt.Sprintf(`{"pad":%q,"issue":{"number":%d,"body":"bisected to 0123abcd. fixed by PR 7"}}`, pad, i+1))
		in.WriteString(strings.Replace(line, `"id":"1"`, fmt.Sprintf(`"id":"%d"`, i+1), 1))
	}
	parts, issues := 0, map[int]bool{}
	_, err := Scan(t.Context(), strings.NewReader(in.String()), Options{Sink: func(evidence []byte, finds []Find) error {
		parts++
		lines := strings.Split(string(evidence), "\n")
		if len(evidence) > evidenceChunk+2*len(pad) {
			t.Errorf("a part of %d bytes", len(evidence))
		}
		for _, f := range finds {
			if f.Report != nil {
				issues[f.Report.Issue] = true
			}
			if want := fmt.Sprintf(`{"id":"%d"`, f.Event); !strings.HasPrefix(lines[f.Line-1], want) {
				t.Errorf("line %d does not begin with %s", f.Line, want)
			}
		}
		return nil
	}})
	if err != nil || parts < 2 || len(issues) != n {
		t.Errorf("%d parts, %d of %d issues, %v", parts, len(issues), n, err)
	}
	if diff := cmp.Diff(true, parts < 5); diff != "" {
		t.Error(diff)
	}
}
