package links

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTickets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"Fixed #12345 -- Regression in 0123abcd.", "trac 12345 closes"},
		{"Fixed #12345, #12346 -- Did x.", "trac 12345 closes, trac 12346 closes"},
		{"Refs #12345 -- Added tests.", "trac 12345"},
		{"Bug 1234567 - Fix the frobber r=ann", "bugzilla 1234567 closes"},
		{"dash: Fix it\n\nhttps://bugzilla.gnome.org/show_bug.cgi?id=712345", "bugzilla 712345 closes"},
		{"Fix it (bug 12345)", "bugzilla 12345 closes"},
		{"Fix it\n\nResolves: rhbz#12345", "bugzilla 12345 closes"},
		{"Fix it\n\nRelated: rhbz#12345", "bugzilla 12345"},
		{"* d/control: drop x (LP: #123456)", "launchpad 123456 closes"},
		{"Fix\n\nCloses-Bug: #123456", "launchpad 123456 closes"},
		{"Fix\n\nRelated-Bug: #123456", "launchpad 123456"},
		{"  * New upstream (Closes: #123456, #234567)", "debian 123456 closes, debian 234567 closes"},
		{"Fix\n\nBug: T12345", "phabricator T12345"},
		{"Fix\n\nBug: 12345", "bug 12345"},
		{"Fix\n\nBug: chromium:12345", "bug 12345"},
		{"Fix\n\nFixed: 12345, 12346", "bug 12345 closes, bug 12346 closes"},
		{"BUG=12345", "bug 12345"},
		{"bpo-30000: Fix x", "bug 30000 closes"},
		{"Issue #12345: Fix x", "bug 12345 closes"},
		{"LUCENE-1234: Fix x", "jira LUCENE-1234 closes"},
		{"[ABC-12] Fix x", "jira ABC-12 closes"},
		{"Fix x\n\nJIRA: ABC-12", "jira ABC-12"},
		{"UTF-8 is allowed now", ""},
		{"CVE-2020-1234: do not crash", ""},
		{"Fix x\n\nBug: http://curl.example/bug/view.cgi?id=1234", "curl.example 1234"},
		{"Fix x\n\nBug: https://github.com/o/r/issues/12", ""},
		{"Fix x\n\nFixes #12", "forge 12 closes"},
		{"Fix x\n\nChange-Id: I8473b95934b5732ac55d26311a706c9c2bde9940", "change-id I8473b95934b5732ac55d26311a706c9c2bde9940"},
		{"Fix x\n\nBug: 5\nBug: 5", "bug 5"},
	} {
		var got []string
		for _, k := range Tickets(tt.text, Repo{Owner: "o", Name: "r"}) {
			s := k.System + " " + k.ID
			if k.Closes {
				s += " closes"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("Tickets(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestTicketClaims(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"Bug 5 - Fix crash\n\nRegression from bug 1234567.", "regression 1234567"},
		{"Fixed #12 -- Fixed a regression in ticket #11.", "regression 11"},
		{"Fix x, broken by the fix for bug 1234", "broken 1234"},
		{"LUCENE-2: Fix a bug introduced by LUCENE-1", "introduced LUCENE-1"},
		{"Fix NPE\n\nRegression in [12345].", "regression r12345"},
		{"Fixed a crash introduced in r12345", "introduced r12345"},
		{"Fix x\n\nIntroduced in I8473b959", "introduced I8473b959"},
		{"Fix x\n\nfollow-up to change I8473b959", "follow-up I8473b959"},
		{"Fix x\n\nnot caused by bug 1234", ""},
		{"Add the option introduced by ABC-1", ""},
		{"Fix a regression in UTF-8", ""},
	} {
		var got []string
		for _, c := range TicketClaims(tt.text) {
			got = append(got, c.Cue+" "+c.ID)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("TicketClaims(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzTickets(f *testing.F) {
	f.Add("Fixed #12345, #1 -- Regression in r123.\n\nBug: 5\nCloses: #123456\nhttps://bugs.x/show_bug.cgi?id=12")
	f.Add("Bug 1 - x\n\nregression from bug 12 and [123], ABC-1 I01234567")
	f.Fuzz(func(t *testing.T, text string) {
		first := Tickets(text, Repo{Owner: "o", Name: "r"})
		seen := map[string]bool{}
		for _, k := range first {
			key := k.System + " " + k.ID
			if k.ID == "" || k.System == "" || seen[key] || strings.ContainsAny(k.ID, " \n") {
				t.Errorf("ticket %+v of %q", k, text)
			}
			seen[key] = true
		}
		if fmt.Sprint(first) != fmt.Sprint(Tickets(text, Repo{Owner: "o", Name: "r"})) {
			t.Errorf("%q: not the same twice", text)
		}
		for _, c := range TicketClaims(text) {
			if c.ID == "" || !strings.Contains(text, c.Quote) {
				t.Errorf("claim %+v of %q", c, text)
			}
		}
	})
}
