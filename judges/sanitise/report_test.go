package sanitise

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var answer = Answer{Commits: []string{"1234567890abcdef1234567890abcdef12345678"}, Numbers: []int{4711}}

func TestReport(t *testing.T) {
	t.Parallel()
	const symptom = "The player stops after ten seconds."
	for _, tt := range []struct{ name, text, want string }{
		{"nothing to hide", symptom, symptom},
		{"a full id", symptom + " Seen at 0123456789abcdef0123456789abcdef01234567 too.", symptom + " Seen at  too."},
		{"an abbreviated id", "Seen with abc1234 only.", "Seen with  only."},
		{"known digits only", "Seen with 1234567 and 7654321.", "Seen with  and 7654321."},
		{"a verdict", symptom + " I bisected it to abc1234. It is loud.", symptom + "  It is loud."},
		{"a verdict over lines", symptom + "\nI bisected this\nto abc1234, sadly.\n\nIt is loud.", symptom + "\n\nIt is loud."},
		{"a verdict of a colon", "First bad commit: abc1234 audio: mix faster\n" + symptom, symptom},
		{"no verdict yet", symptom + " I have not bisected it.", symptom + " I have not bisected it."},
		{"an offer", symptom + " I can't bisect to a commit right now.", symptom + " I can't bisect to a commit right now."},
		{"introduced by a number", symptom + " Introduced by #4711.", symptom},
		{"introduced in a version", "Introduced in 2.3, it worked in 2.2.", "Introduced in 2.3, it worked in 2.2."},
		{"a version's id", "Fails on v2.3-14-gabc1234 here.", "Fails on v2.3-14 here."},
		{"a revert", symptom + " Reverting commit abc1234 helps.", symptom},
		{"a revert by its subject", symptom + "\n\nReverting \"audio: mix faster\" helps.", symptom},
		{"a word like it", "The view reverts to black.", "The view reverts to black."},
		{"a verdict in quotation marks", "It stops.\n\n- The first \"bad\" commit was: abc1234\n- The sound was loud.", "It stops.\n\n- The sound was loud."},
		{"a link with a title", "It stops since [audio: mix faster](https://h.example/o/r/commit/abc1234).", "It stops since ."},
		{"a robot's summary", "Summary:\n  Start:      abc1234 audio: prepare\n  Result:     def5678 audio: mix faster\n\nIt stops.", "Summary:\n\nIt stops."},
		{"links", "See https://h.example/o/r/pull/4711 and https://h.example/logs/1.", "See  and https://h.example/logs/1."},
		{"a permalink", "In https://h.example/o/r/blob/0123456789abcdef0123456789abcdef01234567/a.c#L3 it stops.", "In  it stops."},
		{"an id with its subject", "Since abc1234 (\"audio: mix\nfaster\") it stops.", "Since  it stops."},
		{"closing words", symptom + "\n\nFixes #12", symptom},
		{"a number in words", "Broken, see also PR 4711 and PR 4712.", "Broken, see also  and PR 4712."},
		{"frames stay", "It crashes:\n```\n#0  0x00007fff in mix ()\n#1 main (argc=1) at a.c:3\nThread #2\n```", "It crashes:\n```\n#0  0x00007fff in mix ()\n#1 main (argc=1) at a.c:3\nThread #2\n```"},
		{"addresses stay", "RIP 0010:ffffffff81234abc, id 123e4567-e89b-12d3-a456-426614174000", "RIP 0010:ffffffff81234abc, id 123e4567-e89b-12d3-a456-426614174000"},
		{"a dump stays", "0000a010 48656c6c 6f2c2077 6f726c64 00000001", "0000a010 48656c6c 6f2c2077 6f726c64 00000001"},
		{"a character's code stays", "It prints &#39; twice.", "It prints &#39; twice."},
		{"a template's comment", "<!-- Please bisect -->" + symptom, symptom},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Report(tt.text, answer).Result()
			if diff := cmp.Diff(tt.want, r.Text); diff != "" {
				t.Error(diff)
			}
			check(t, tt.text, r)
		})
	}
}

const transcript = `The player stops after ten seconds.

$ git bisect start
$ git bisect bad v2.3
Bisecting: 12 revisions left to test after this (roughly 4 steps)
[0123456789abcdef0123456789abcdef01234567] audio: prepare for mixing
$ git bisect good
1234567890abcdef1234567890abcdef12345678 is the first bad commit
commit 1234567890abcdef1234567890abcdef12345678
Author: A Person <a@example.org>
Date:   Thu Dec 7 11:21:25 2023 -0500

    audio: mix faster

    Two buffers are one.

 src/mix.c | 12 ++++++------
 1 file changed, 6 insertions(+), 6 deletions(-)

The log:
` + "```" + `
git bisect start
# bad: [1234567890abcdef1234567890abcdef12345678] audio: mix faster
git bisect bad 1234567890abcdef1234567890abcdef12345678
# first bad commit: [1234567890abcdef1234567890abcdef12345678] audio: mix faster
` + "```" + `

abc1234 audio: mix faster
def5678 audio: prepare

Before that it played to the end.
`

const patched = `It stops, this helps:

diff --git a/src/mix.c b/src/mix.c
index 1234567..89abcde 100644
--- a/src/mix.c
+++ b/src/mix.c
@@ -1,2 +1,2 @@
 int mix(void) {
-	return 0;
+	return 1;

The test says:

--- expected
+++ actual
@@ -1,1 +1,1 @@
-one
+two
`

func TestReportBlocks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, want string
		reasons          []string
	}{
		{"a transcript", transcript, "The player stops after ten seconds.\n\nThe log:\n\nBefore that it played to the end.", []string{Transcript, History, Hollow}},
		{"a patch", patched, "It stops, this helps:\n\nThe test says:\n\n--- expected\n+++ actual\n@@ -1,1 +1,1 @@\n-one\n+two", []string{Patch, Hollow}},
		{"quoted", "> commit abc1234def\n> Author: A <a@b.c>\n>\n>     audio: mix\n\nIt stops.", "It stops.", []string{History, Hollow}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Report(tt.text, answer).Result()
			if diff := cmp.Diff(tt.want, r.Text); diff != "" {
				t.Error(diff)
			}
			seen := map[string]bool{}
			for _, d := range r.Deleted {
				seen[d.Reason] = true
			}
			for _, reason := range tt.reasons {
				if !seen[reason] {
					t.Errorf("no deletion for %s in %+v", reason, r.Deleted)
				}
			}
			check(t, tt.text, r)
		})
	}
}

// check holds the law of all results: the original without the deletions is the text.
func check(t interface {
	Helper()
	Errorf(string, ...any)
}, original string, r Result) {
	t.Helper()
	var left strings.Builder
	at := 0
	for _, d := range r.Deleted {
		if d.Start < at || d.End <= d.Start || d.End > len(original) || original[d.Start:d.End] != d.Text || d.Reason == "" && d.By == ByRule {
			t.Errorf("a bad deletion: %+v", d)
			return
		}
		left.WriteString(original[at:d.Start])
		at = d.End
	}
	left.WriteString(original[at:])
	if left.String() != r.Text {
		t.Errorf("%q without %+v is not %q", original, r.Deleted, r.Text)
	}
}

func TestRemains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", " \n", Empty},
		{"headings only", "## Steps\n\n**Expected**\n", Empty},
		{"a title", "Player stops", TooShort},
		{"a symptom", "When I press play on any file of the list, the player stops after ten seconds instead of going on.", ""},
		{"steps", "We looked at many things and here is what we do with it:\n1. open a file\n2. press play", ""},
		{"a message", "We looked at many things on the bench today and here is what it says:\n\n    E42 at line 7", ""},
		{"thanks only", "Thank you for the project, I like to use it with my friends every day and hope for more.", NoSymptom},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Remains(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
