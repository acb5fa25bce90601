package links

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var self = Repo{Owner: "o", Name: "r"}

// brief writes references as "closes #1 weak negated, mentions #2".
func brief(refs []IssueRef) string {
	var out []string
	for _, r := range refs {
		s := "mentions " + r.String()
		if r.Closes {
			s = "closes " + r.String()
		}
		if r.Weak {
			s += " weak"
		}
		if r.Negated {
			s += " negated"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestIssues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"Fixes #1", "closes #1"},
		{"FIXES   #7", "closes #7"},
		{"fix\n#19", "closes #19"},
		{"fix\r\n#19\r\n", "closes #19"},
		{"Fixes: #2", "closes #2"},
		{"Fixes: https://github.com/o/r/issues/21", "closes #21"},
		{"fixes #3, #4", "closes #3, mentions #4"},
		{"Fixes #5, fixes #6", "closes #5, closes #6"},
		{"Fixes GH-8", "closes #8"},
		{"Fixes o/r#9", "closes #9"},
		{"Fixes O/R#9", "closes #9"},
		{"Fixes other/repo#10", "closes other/repo#10"},
		{"closes https://github.com/o/r/issues/11", "closes #11"},
		{"closes https://github.com/o/r.git/issues/11.", "closes #11"},
		{"closes https://githubxcom/o/r/issues/11", "closes githubxcom/o/r#11"},
		{"closes https://github.com/o/r2/issues/11#issuecomment-4", "closes o/r2#11"},
		{"closes <https://www.github.com/o/r/issues/11>", "closes #11"},
		{"closes https://github.com/o/r/pull/12", ""},
		{"closes http://github.com/o/r/issues/13", "closes #13"},
		{"closes https://gitlab.com/g/s/r/-/issues/13", "closes gitlab.com/g/s/r#13"},
		{"Does not fix #14", "closes #14 negated"},
		{"would have fixed #15", "closes #15 negated"},
		{"This doesn't yet fix #14. Fixes #15", "closes #14 negated, closes #15"},
		{"`fixes #16`", ""},
		{"Fixes `x` #16", ""},
		{"``a ` fixes #16``", ""},
		{"`a\n\nfixes #16`", "closes #16"},
		{"```\nfixes #16\n```\nfixes #17", "closes #17"},
		{"~~~ text\r\nfixes #16\r\n```\r\n~~~\r\nfixes #17", "closes #17"},
		{"```\nfixes #16", ""},
		{"<!-- fixes #17 -->", ""},
		{"<!-- fixes #17", ""},
		{"<!-- ``` --> fixes #17", "closes #17"},
		{"Fixes <!-- which? --> #17", "closes #17 weak"},
		{`Revert "Fixes #18"`, ""},
		{`Revert "Revert "Fixes #18" again"` + "\n\nFixes #19", "closes #19"},
		{"Fixes [#20](https://github.com/o/r/issues/20)", "closes #20 weak"},
		{"Fixes [#20](https://github.com/other/r/issues/20)", "closes other/r#20 weak"},
		{"Fixes [the crash](https://github.com/o/r/issues/20)", "closes #20 weak"},
		{"fixes **#25**", "closes #25 weak"},
		{"**Fixes** #25 and **closes:** #26", "closes #25, closes #26"},
		{"hotfix #22", ""},
		{"hot-fix #22", ""},
		{"prefixes #26", ""},
		{"fixes #23abc", ""},
		{"fixes#23", ""},
		{"fixes\n\n#23", ""},
		{"fixes #0", ""},
		{"fixes #99999999999", ""},
		{"Closes #0024", "closes #24"},
		{"Closes #24, closes #0024", "closes #24"},
		{"Fix #26194\nFix #26230", "closes #26194, closes #26230"},
		{"Fixes #3, #4 and #5. Closes #4.", "closes #3, closes #4, mentions #5"},
		{"Fixes #3 & #4 / #5 or something", "closes #3, mentions #4, mentions #5"},
		{"Partially fixes #3", "closes #3 weak"},
		{"fixes issue #3", "closes #3 weak"},
		{"(fixes #3)", "closes #3"},
		{"résolve #3 xfixes #4 éfixes #5", ""},
		{"resolved: #3; closed #4 (resolves GH-5)", "closes #3, closes #4, closes #5"},
		{"see #30", ""},
		{"fixes 0123abcd", ""},
		{"fixes o/r@0123abcd", ""},
		{"", ""},
	} {
		if diff := cmp.Diff(tt.want, brief(Issues(tt.text, self))); diff != "" {
			t.Errorf("Issues(%q): -want +got\n%s", tt.text, diff)
		}
	}
}

func TestIssuesQuoteAndKeyword(t *testing.T) {
	t.Parallel()
	got := Issues("Ünïcode.\r\nThis does not FIX\r\n#14, #15 yet", self)
	want := []IssueRef{
		{Number: 14, Closes: true, Negated: true, Keyword: "fix", Quote: "FIX\r\n#14"},
		{Number: 15, Negated: true, Keyword: "fix", Quote: "FIX\r\n#14, #15"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParseRepo(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Repo{
		"o/r": self, "https://github.com/o/r.git": self, "https://github.com/o/r/": self, "git@github.com:o/r.git": self,
		"https://gitlab.com/g/s/r": {"gitlab.com", "g/s", "r"}, "": {}, "r": {},
	} {
		if got := ParseRepo(s); got != want {
			t.Errorf("ParseRepo(%q) = %+v, want %+v", s, got, want)
		}
	}
	if refs := Issues("fixes https://github.com/x/y/issues/1 fixes /#2", Repo{}); brief(refs) != "closes x/y#1" {
		t.Errorf("a repository without a name owns %s", brief(refs))
	}
}

func TestIssuesAlwaysAlike(t *testing.T) {
	t.Parallel()
	text := "Fixes #9, #3 and #1.\nCloses x/y#2, resolves #3; fixes #7\nfixes GH-1"
	want := brief(Issues(text, self))
	for range 100 {
		if got := brief(Issues(text, self)); got != want {
			t.Fatalf("got %s, then %s", want, got)
		}
	}
}

// Issues are reported once each, in the order of the text.
func TestIssuesOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.IntRange(1, 8), 1, 12).Draw(t, "numbers")
		var text strings.Builder
		var want []string
		for i, n := range numbers {
			fmt.Fprintf(&text, "%s #%d%s", []string{"Fixes", "closes:", "RESOLVED"}[i%3], n, []string{"\n", ", ", ". And "}[n%3])
			if s := fmt.Sprintf("closes #%d", n); !contains(want, s) {
				want = append(want, s)
			}
		}
		if got := brief(Issues(text.String(), self)); got != strings.Join(want, ", ") {
			t.Fatalf("%q: got %s", text.String(), got)
		}
	})
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// Text that is hidden in code never adds a reference, and hiding does not move a byte.
func TestMaskKeepsPlaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([`~]{1,4}|<!--|-->|[ab]|\n|\r\n| |fixes #1|Revert \"|\"){0,30}").Draw(t, "text")
		for _, spans := range []bool{false, true} {
			masked := mask(text, spans)
			if len(masked) != len(text) || strings.Count(masked, "\n") != strings.Count(text, "\n") {
				t.Fatalf("%q became %q", text, masked)
			}
			for i := range masked {
				if masked[i] != text[i] && masked[i] != codeMark && masked[i] != commentMark {
					t.Fatalf("%q became %q", text, masked)
				}
			}
		}
	})
}

// Hostile texts take time in proportion to their length.
func TestLinearTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"`", "``` ", "<!--", "fixes ", "fixes #", "fixes [", "Fixes #1, ", "#1 ", "regression ", "abc1234 ", "introduced in (", "Revert \"",
		"https://github.com/", "a/", "\n", " \n", "` `` ``` ````\n", "broke by abc1234 and ", "bisected to abc1234 ", "first bad ",
	} {
		start := time.Now()
		text := strings.Repeat(unit, 100_000/len(unit))
		Issues(text, self)
		Claims(text, self)
		RevertOf(text, text)
		FirstBad(text, self)
		FirstBad("bisect "+text, self)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%q took %v", unit, d)
		}
	}
}

func FuzzIssues(f *testing.F) {
	for _, s := range []string{"Fixes #1", "fixes [#2](https://github.com/o/r/issues/2)", "`fixes #3`", "<!--", "```\n", "\xff fixes: o/r#4", "fix\r\n#5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Issues(text, self) {
			if !strings.Contains(text, r.Quote) || r.Quote == "" {
				t.Errorf("the text lacks the quotation %q", r.Quote)
			}
			if (r.Number > 0) == (r.External != "") {
				t.Errorf("neither or both of number and external: %+v", r)
			}
		}
	})
}
