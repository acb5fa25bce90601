package links

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClosingTable holds the rows on which extract_resolved_issues of SWE-bench (at 7a21e05) and the hosts' rules were compared, with what
// is required of us; the first rows are SWE-bench issues 358 (two links in one text) and 540 (full addresses).
func TestClosingTable(t *testing.T) {
	t.Parallel()
	ref := func(n int, keyword, quote string) IssueRef {
		return IssueRef{Number: n, Closes: true, Keyword: keyword, Quote: quote}
	}
	with := func(r IssueRef, f func(*IssueRef)) IssueRef { f(&r); return r }
	weak := func(r *IssueRef) { r.Weak = true }
	negated := func(r *IssueRef) { r.Negated = true }
	for _, tt := range []struct {
		text string
		want []IssueRef
	}{
		{"Fix #26194\nFix #26230", []IssueRef{ref(26194, "fix", "Fix #26194"), ref(26230, "fix", "Fix #26230")}},
		{"Fix #2, fix #1, fix #2", []IssueRef{ref(2, "fix", "Fix #2"), ref(1, "fix", "fix #1")}},
		{"closes https://github.com/o/r/issues/11", []IssueRef{ref(11, "closes", "closes https://github.com/o/r/issues/11")}},
		{"closes https://github.com/x/y/issues/11", []IssueRef{{External: "x/y#11", Closes: true, Keyword: "closes", Quote: "closes https://github.com/x/y/issues/11"}}},
		{"closes https://github.com/o/r.git/issues/11", []IssueRef{ref(11, "closes", "closes https://github.com/o/r.git/issues/11")}},
		{"closes https://github-com/o/r/issues/11", []IssueRef{{External: "github-com/o/r#11", Closes: true, Keyword: "closes", Quote: "closes https://github-com/o/r/issues/11"}}},

		{"Fixes #1", []IssueRef{ref(1, "fixes", "Fixes #1")}},
		{"FIXES   #7", []IssueRef{ref(7, "fixes", "FIXES   #7")}},
		{"fix\n#19", []IssueRef{ref(19, "fix", "fix\n#19")}},
		{"Fixes: #2", []IssueRef{ref(2, "fixes", "Fixes: #2")}},
		{"Fixes: https://github.com/o/r/issues/21", []IssueRef{ref(21, "fixes", "Fixes: https://github.com/o/r/issues/21")}},
		{"fixes #3, #4", []IssueRef{ref(3, "fixes", "fixes #3"), {Number: 4, Keyword: "fixes", Quote: "fixes #3, #4"}}},
		{"Fixes #5, fixes #6", []IssueRef{ref(5, "fixes", "Fixes #5"), ref(6, "fixes", "fixes #6")}},
		{"Fixes GH-8", []IssueRef{ref(8, "fixes", "Fixes GH-8")}},
		{"Fixes o/r#9", []IssueRef{ref(9, "fixes", "Fixes o/r#9")}},
		{"Fixes other/repo#10", []IssueRef{{External: "other/repo#10", Closes: true, Keyword: "fixes", Quote: "Fixes other/repo#10"}}},
		{"closes https://github.com/o/r/pull/12", nil},
		{"closes http://github.com/o/r/issues/13", []IssueRef{ref(13, "closes", "closes http://github.com/o/r/issues/13")}},
		{"Does not fix #14", []IssueRef{with(ref(14, "fix", "fix #14"), negated)}},
		{"would have fixed #15", []IssueRef{with(ref(15, "fixed", "fixed #15"), negated)}},
		{"`fixes #16`", nil},
		{"<!-- fixes #17 -->", nil},
		{`Revert "Fixes #18"`, nil},
		{"Fixes [#20](https://github.com/o/r/issues/20)", []IssueRef{with(ref(20, "fixes", "Fixes [#20](https://github.com/o/r/issues/20)"), weak)}},
		{"fixes **#25**", []IssueRef{with(ref(25, "fixes", "fixes **#25"), weak)}},
		{"hotfix #22", nil},
		{"prefixes #26", nil},
		{"fixes #23abc", nil},
		{"Closes #0024", []IssueRef{ref(24, "closes", "Closes #0024")}},
		{"Closes #24, closes #0024", []IssueRef{ref(24, "closes", "Closes #24")}},
	} {
		var first []IssueRef
		for i := range 100 {
			got := Issues(tt.text, self)
			if i == 0 {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Issues(%q): -want +got\n%s", tt.text, diff)
				}
				first = got
			}
			if !slices.Equal(first, got) {
				t.Fatalf("Issues(%q) gave %v, then %v", tt.text, first, got)
			}
		}
	}
	// A revert takes back the pair that the text which it quotes had made.
	if _, number, subject, ok := RevertOf(`Revert "Fixes #18 (#17)"`, ""); !ok || number != 17 || subject != "Fixes #18" {
		t.Errorf("the revert is of %d %q, %v", number, subject, ok)
	}
}
