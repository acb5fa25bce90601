package links

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func briefClaims(claims []Claim) string {
	var out []string
	for _, c := range claims {
		s := c.SHA + c.External
		if c.Number > 0 {
			s = fmt.Sprintf("#%d", c.Number)
		}
		s = c.Cue + " " + s
		if c.Method == Trailer {
			s = "trailer " + s
		}
		if c.Negated {
			s += " negated"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestClaimSubject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fixes: 0123abcd (\"net: add y\")":                             "net: add y",
		"Fixes: 0123abcd ('net: add y')":                               "net: add y",
		"Fixes: 0123abcd (\"Revert \"net: add y\"\")":                  `Revert "net: add y"`,
		"Fixes: 0123abcd \"net: add y\"\n":                             "net: add y",
		"it was broken by commit 0123abcd\n(\"net: add\ny to z\")":     "net: add y to z",
		"Fixes: 0123abcd":                                              "",
		"the bug in 0123abcd (the first one)":                          "",
		"Fixes: 0123abcd (\"net: add y\")\nFixes: 89abcdef (\"z: w\")": "net: add y",
	} {
		claims := Claims(text, Repo{Owner: "o", Name: "r"})
		if len(claims) == 0 || claims[0].Subject != want {
			t.Errorf("%q: %+v, want the subject %q", text, claims, want)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		// Trailers.
		{"x\n\nFixes: 0123abcd (\"x: add y\")\n", "trailer fixes 0123abcd"},
		{"x\r\n\r\nFixes: 0123abcd (\"x: add y\")\r\n", "trailer fixes 0123abcd"},
		{"Fixes: 0123ABCD", "trailer fixes 0123abcd"},
		{"fixes: commit 0123abcd", "trailer fixes 0123abcd"},
		{"Fixes: `0123abcd`, 89abcdef", "trailer fixes 0123abcd, trailer fixes 89abcdef"},
		{"Fixes: https://github.com/o/r/commit/0123abcd", "trailer fixes 0123abcd"},
		{"Fixes: https://github.com/x/y/commit/0123abcd", "trailer fixes x/y@0123abcd"},
		{"Introduced-by: #12", "trailer introduced-by #12"},
		{"Fixes: #123", ""},
		{"Fixes: https://github.com/o/r/issues/3", ""},
		{"Fixes: 12345678", ""},
		{"Fixes: defaced", ""},
		{"Fixes: 0123abcd\nFixes: 0123abcd", "trailer fixes 0123abcd"},
		{"Caused by 0123abcd.\n\nFixes: 0123abcd", "trailer fixes 0123abcd"},

		{"Fixes: 884709785057 (\"ip address: set it\")", "trailer fixes 884709785057"},

		// Testimony.
		{"This was introduced in 0123abcd", "introduced 0123abcd"},
		{"Fix x\n\nSince 0123abcd we pass y", "since 0123abcd"},
		{"Drop x\n\nSince 0123abcd we pass y", ""},
		{"Fix x\n\nSince 0123abcd it is unused", ""},
		{"fix #9003, amend #8946 (comment)", "amends #8946"},
		{"this was missing from commit 0123abcd", "missed 0123abcd"},
		{"This is a regression from #12.", "regression #12"},
		{"A regression in parsing since commit `0123abcd`", "regression 0123abcd"},
		{"it regressed with PR 12", "regression #12"},
		{"the bug was introduced in #12", "introduced #12"},
		{"Fix crash\n\nIntroduced in the new parser (#12).", "introduced #12"},
		{"broken by #12 and #13", "broke #12, broke #13"},
		{"This was broken\nby commit\n0123abcd", "broke 0123abcd"},
		{"The crash is caused by o/r#12", "caused #12"},
		{"The crash is caused by x/y#12", "caused x/y#12"},
		{"caused by https://github.com/o/r/pull/12", "caused #12"},
		{"caused by [#12](https://github.com/o/r/pull/12)", "caused #12"},
		{"caused by [#12](https://github.com/x/y/pull/12)", "caused x/y#12"},
		{"Fix x\n\nfollow-up to #12", "follow-up #12"},
		{"Fix x\n\nFollowup for 0123abcd", "follow-up 0123abcd"},
		{"this was missed in #12", "missed #12"},
		{"fixes up commit 0123abcd", "fixes 0123abcd"},
		{"Fixes PR #12", "fixes #12"},
		{"typo in 0123abcd", "defect-in 0123abcd"},
		{"git bisect points to 0123abcd", "bisected 0123abcd"},
		{"0123456789abcdef0123456789abcdef01234567 is the first bad commit", "bisected 0123456789abcdef0123456789abcdef01234567"},
		{"Commit 0123abcd (\"a: b\") broke x", "subject 0123abcd"},
		{"#12 accidentally removed y", "subject #12"},
		{"Commit 0123abcd which reworked the reader introduced a subtle regression", "subject 0123abcd"},
		{"The culprit is #12", "culprit #12"},
		{"This partially reverts commit 0123abcd", "partial-revert 0123abcd"},
		{"It fails since 0123abcd", "since 0123abcd"},
		{"introduced a bug in CL 12345", "introduced #12345"},
		{"regression since https://go.dev/cl/12345", "regression #12345"},
		{"regression from https://go-review.googlesource.com/c/tools/+/12345", "regression #12345"},

		// Not, but still a claim about it.
		{"This was not caused by #12", "caused #12 negated"},
		{"Not caused by #12. Was caused by #12", "caused #12"},

		// Traps.
		{"unused since 0123abcd", ""},
		{"This is dead code since 0123abcd and never fails", ""},
		{"Follow-up to #12: add docs", ""},
		{"Add regression tests for the parser in #12", ""},
		{"the helper introduced in #12", ""},
		{"fixes a bug in #12", ""},
		{"Fixes #12", ""},
		{"Fix crash (#12)", ""},
		{"Fix crash\n\nSee #12", ""},
		{"Fix\n\n(cherry picked from commit 0123abcd)", ""},
		{"Fix a regression\n\nBackport of #12", ""},
		{"This reverts commit 0123abcd", ""},
		{"Revert \"Fix regression from #12\"", ""},
		{"<!-- regression from #12 -->", ""},
		{"```\nregression from #12\n```", ""},
		{"broke in 20240101 and since 1234567", ""},
		{"broken by sha256:0123abcd", ""},
		{"broken by 0123abcd-1111-2222", ""},
		{"broken by v0.0.0-20210101000000-0123abcd4567", ""},
		{"broken by a/b/0123abcd/c", ""},
		{"broken by #ffffff0", ""},
		{"caused by https://github.com/o/r/issues/12", ""},
		{"Bumps [x](https://github.com/x/x) from 1 to 2.\n\n- regression from #12", ""},
		{"regression in parsing, see #12", ""},
		{"", ""},
	} {
		if diff := cmp.Diff(tt.want, briefClaims(Claims(tt.text, self))); diff != "" {
			t.Errorf("Claims(%q): -want +got\n%s", tt.text, diff)
		}
	}
}

func TestClaimsQuote(t *testing.T) {
	t.Parallel()
	text := "Fix ünïcode\r\n\r\nIt fails. The crash was introduced\r\nin #12 by mistake. More.\r\n\r\nFixes: 0123abcd (\"x\")\r\n"
	want := []Claim{
		{Method: Testimony, Cue: "introduced", Number: 12, Quote: "The crash was introduced\r\nin #12 by mistake."},
		{Method: Trailer, Cue: "fixes", SHA: "0123abcd", Quote: "Fixes: 0123abcd (\"x\")"},
	}
	if diff := cmp.Diff(want, Claims(text, self)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A claim survives whatever paragraphs stand around it, and its quotation holds the reference.
func TestClaimsInContext(t *testing.T) {
	t.Parallel()
	claim := rapid.SampledFrom([]string{"Regression from #4711.", "This was broken by #4711", "#4711 broke this", "Introduced-by: #4711"})
	filler := rapid.SliceOf(rapid.SampledFrom([]string{"Some text.", "Über x", "* item #1", "```\ncode\n```", "Signed-off-by: A <a@b.c>", "line\nline"}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(append(append(filler.Draw(t, "a"), claim.Draw(t, "claim")), filler.Draw(t, "b")...), "\n\n")
		got := Claims(text, self)
		if len(got) != 1 || got[0].Number != 4711 || !strings.Contains(got[0].Quote, "#4711") {
			t.Fatalf("%q: %+v", text, got)
		}
	})
}

func FuzzClaims(f *testing.F) {
	for _, s := range []string{
		"Fixes: 0123abcd", "regression from [#2](https://github.com/o/r/pull/2)", "broken\r\nby #3", "\xff since 0123abcd fails", "CL 12345 broke",
		"caused by x/y@0123abcd", "https://", "pull request #1 forgot", "é#1 broke\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Claims(text, self) {
			if c.Quote == "" || !strings.Contains(text, c.Quote) {
				t.Errorf("the text lacks the quotation %q", c.Quote)
			}
			set := 0
			for _, ok := range []bool{c.Number > 0, c.SHA != "", c.External != ""} {
				if ok {
					set++
				}
			}
			if set != 1 || c.Cue == "" || c.Method == "" {
				t.Errorf("claim %+v", c)
			}
		}
	})
}
