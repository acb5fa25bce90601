package links

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fullSHA = "0123456789abcdef0123456789abcdef01234567"

func briefFirstBad(refs []FirstBadRef) string {
	var out []string
	for _, r := range refs {
		s := r.SHA + r.External
		if r.Number > 0 {
			s = fmt.Sprintf("#%d", r.Number)
		}
		s = r.Cue + " " + s
		if r.Quoted {
			s += " quoted"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestFirstBad(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		// What git prints.
		{fullSHA + " is the first bad commit\ncommit " + fullSHA + "\nAuthor: A <a@b.c>\n", "first-bad " + fullSHA},
		{"```\ngit bisect start\n# bad: [89abcdef] x\ngit bisect bad 89abcdef\ngit bisect good 1234abcd\n# first bad commit: [0123abcd] Add y\n```\n", "first-bad 0123abcd"},
		{"```\n" + fullSHA + " is the first bad commit\n```", "first-bad " + fullSHA},
		{"> " + fullSHA + " is the first bad commit\n\nThanks!", "first-bad " + fullSHA + " quoted"},
		{"> 0123abcd is the first bad commit\n\nYes, I also bisected it to 0123abcd.", "bisected 0123abcd"},
		{"Bisected to 0123abcd.\n\n" + fullSHA[:7] + "8 is fine", "bisected 0123abcd"},
		{"bisected to 0123456789a\n\n```\n" + fullSHA + " is the first bad commit\n```", "bisected " + fullSHA},

		// What people write.
		{"The first bad commit is 0123abcd", "first-bad 0123abcd"},
		{"First bad commit: https://github.com/o/r/commit/0123abcd", "first-bad 0123abcd"},
		{"first bad commit: https://github.com/x/y/commit/0123abcd", "first-bad x/y@0123abcd"},
		{"According to my bisect, 0123abcd (\"x: add y\") is the first bad commit.", "first-bad 0123abcd"},
		{"git bisect identified `0123abcd` as the first bad commit", "first-bad 0123abcd"},
		{"I bisected this to 0123abcd", "bisected 0123abcd"},
		{"Bisected to `0123abcd`, which looks unrelated", "bisected 0123abcd"},
		{"I git-bisected it down to commit\n0123abcd.", "bisected 0123abcd"},
		{"Bisecting leads to 0123abcd", "bisected 0123abcd"},
		{"git bisect found 0123abcd", "bisected 0123abcd"},
		{"Bisection points to #12", "bisected #12"},
		{"bisected to the new parser (#12)", "bisected #12"},
		{"This regression was introduced by 0123abcd", "regression 0123abcd"},
		{"regression introduced in PR 12", "regression #12"},
		{"It regressed in 0123abcd", "regressed 0123abcd"},
		{"searched toolchains\n\nRegression in nightly.\nregressed commit: https://github.com/o/r/commit/0123abcd", "regressed 0123abcd"},
		{"This was introduced in 0123abcd (bisected).", "bisected 0123abcd"},
		{"bisected to 0123abcd and later to 89abcdef", "bisected 0123abcd, bisected 89abcdef"},

		// A range is not enough.
		{"bisected to 0123abcd..89abcdef", ""},
		{"bisected to 0123abcd...89abcdef", ""},
		{"bisected to between 0123abcd and 89abcdef", ""},
		{"bisected to 0123abcd or 89abcdef", ""},
		{"bisected to 0123abcd - 89abcdef", ""},
		{"There are only 'skip'ped commits left to test.\nThe first bad commit could be any of:\n0123abcd\n89abcdef", ""},
		{"git bisect start\ngit bisect bad 0123abcd\ngit bisect good 89abcdef", ""},
		{"# bad: [0123abcd] x\n# good: [89abcdef] y", ""},
		{"bisected to https://github.com/o/r/compare/0123abcd...89abcdef", ""},

		// Nor is a suspicion, a denial, a plan or a bare id.
		{"It might have been bisected to 0123abcd", ""},
		{"I suspect that 0123abcd is the first bad commit", ""},
		{"Is 0123abcd the first bad commit? Did somebody bisect?", ""},
		{"Was this regression introduced by 0123abcd?", ""},
		{"The regression was probably introduced by 0123abcd", ""},
		{"0123abcd is not the first bad commit", ""},
		{"The first bad commit is not 0123abcd", ""},
		{"I haven't bisected it to 0123abcd", ""},
		{"Could you bisect from 0123abcd?", ""},
		{"I will bisect and look at 0123abcd", ""},
		{"0123abcd", ""},
		{"See 0123abcd for the regression test", ""},
		{"This was introduced in 0123abcd.", ""},
		{"first bad commit: 20240101", ""},
		{"bisected to v1.2.3", ""},
		{"<!-- If you bisected, the first bad commit: 0123abcd -->", ""},
		{"bisected to https://github.com/o/r/issues/3", ""},
		{"", ""},
	} {
		if diff := cmp.Diff(tt.want, briefFirstBad(FirstBad(tt.text, self))); diff != "" {
			t.Errorf("FirstBad(%q): -want +got\n%s", tt.text, diff)
		}
	}
}

func TestFirstBadQuote(t *testing.T) {
	t.Parallel()
	text := "It fäils since last week. I bisected\r\nthis to 0123abcd. More.\r\n\r\n```\r\n# good: [89abcdef] x\r\n# first bad commit: [1234abcd] Add y\r\n```\r\n"
	want := []FirstBadRef{
		{SHA: "0123abcd", Cue: "bisected", Quote: "I bisected\r\nthis to 0123abcd."},
		{SHA: "1234abcd", Cue: "first-bad", Quote: "# first bad commit: [1234abcd] Add y"},
	}
	if diff := cmp.Diff(want, FirstBad(text, self)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func FuzzFirstBad(f *testing.F) {
	for _, s := range []string{
		"bisected to 0123abcd", "0123abcd is the first bad commit", "# first bad commit: [0123abcd] x", "> bisected\r\nto #3", "\xff regressed in 0123abcd",
		"<!-- first bad", "```\nfirst bad commit: 0123abcd", "bisected to 0123abcd or 0123abce", "bisect\n>#1\n#\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range FirstBad(text, self) {
			if r.Quote == "" || !strings.Contains(text, r.Quote) {
				t.Errorf("the text lacks the quotation %q", r.Quote)
			}
			set := 0
			for _, ok := range []bool{r.Number > 0, r.SHA != "", r.External != ""} {
				if ok {
					set++
				}
			}
			if set != 1 || r.Cue == "" {
				t.Errorf("statement %+v", r)
			}
		}
	})
}
