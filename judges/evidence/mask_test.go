package evidence

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMask(t *testing.T) {
	t.Parallel()
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct{ text, want string }{
		{"Fixes #12.", "Fixes <PR-Number>."},
		{"o/r#12 and GH-13", "o/r<PR-Number> and GH-<PR-Number>"},
		{"see !45 (!46)", "see <PR-Number> (<PR-Number>)"},
		{"PR 12, 13 and 14 and 15 apples", "PR <PR-Number>, <PR-Number> and <PR-Number> and <PR-Number> apples"},
		{"PR12 and PR-12", "PR12 and PR-<PR-Number>"},
		{"pull request no. 7: x", "pull request no. <PR-Number>: x"},
		{"Merge pull request #7 from a/fix-7", "Merge pull request <PR-Number> from a/fix-7"},
		{"Subject (#1234)", "Subject (<PR-Number>)"},
		{"refs/pull/12/head", "refs/pull/<PR-Number>/head"},
		{"since 0123abcd it fails", "since <Commit-Id> it fails"},
		{"commit " + sha + "\n", "commit <Commit-Id>\n"},
		{"v1.2-3-g0123abc", "v1.2-3-g<Commit-Id>"},
		{"Change-Id: I" + sha, "Change-Id: I<Commit-Id>"},
		{"index 0123abc..89abcde 100644", "index <Commit-Id>..<Commit-Id> 100644"},
		{"https://github.com/o/r/pull/12#discussion_r34.", "<Change-Link>."},
		{"(https://github.com/o/r/commit/0123abcd)", "(<Change-Link>)"},
		{"HTTPS://gitlab.com/o/r/-/merge_requests/3", "<Change-Link>"},
		{"https://bugs.example.org/show_bug.cgi?id=12", "<Change-Link>"},
		{"https://example.org/guide/2", "https://example.org/guide/2"},
		{"https://go.dev/cl/12345", "<Change-Link>"},
		{"bug 12 in version 1.2", "bug <PR-Number> in version 1.2"},
		{"Closes: #1, #2", "Closes: <PR-Number>, <PR-Number>"},

		// What is no number of a change.
		{"&#39;x&#39;", "&#39;x&#39;"},
		{"if (!0) { x = !1a }", "if (!0) { x = !1a }"},
		{"0xdeadbeef1 defaced 1234567 12 apples", "0xdeadbeef1 defaced 1234567 12 apples"},
		{"@@ -1,2 +3,4 @@ func f12(a int)", "@@ -1,2 +3,4 @@ func f12(a int)"},
		{"fixed 1.5 times", "fixed 1.5 times"},
		{"#10px; color #fff", "#10px; color #fff"},
		{"#define OUR_ISSUE 1", "#define OUR_ISSUE 1"},
		{"fix 2 bugs, fixes 4711", "fix 2 bugs, fixes <PR-Number>"},
		{"fill:#000000", "fill:#000000"},
		{"//go:build !js && !386", "//go:build !js && !386"},
		{"id_ed25519, ed25519", "id_ed25519, ed25519"},
		{"", ""},
	} {
		if got := Mask(tt.text); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

// identity finds what masking must never leave, by expressions of their own.
var identity = regexp.MustCompile(`(?i)(?:^|[^&\w])#[1-9]\d*(?:[^\w;]|$)|\b(?:PR|issue|pull request) \d+(?:[^\w.]|$)|\bGH-\d+\b|/(?:pull|issues)/\d+\b|\b[0-9a-f]{40}\b`)

// TestMaskLaws: no number and no id is left, whatever stands around it, and masking twice changes nothing.
func TestMaskLaws(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(
		rapid.StringMatching(`#[1-9][0-9]{0,4}`), rapid.StringMatching(`(PR|pr|issue|pull request|Pull Request) [0-9]{1,5}`), rapid.StringMatching(`GH-[0-9]{1,3}`),
		rapid.StringMatching(`https://h\.org/o/r/(pull|issues)/[0-9]{1,4}(/files|#x)?`), rapid.StringMatching(`[0-9a-f]{40}`),
		rapid.SampledFrom([]string{" ", "\n", ", ", " and ", "(", ")", "a", "é", "x1", "12", "!", "#", "&", ";", "<PR-Number>", "http", "."}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 10).Draw(t, "parts"), "")
		got := Mask(text)
		if left := identity.FindString(got); left != "" {
			t.Fatalf("%q became %q, which holds %q", text, got, left)
		}
		if again := Mask(got); again != got {
			t.Fatalf("%q: masked twice it is %q, not %q", text, again, got)
		}
	})
}

// FuzzMask holds the laws of masks for any text.
func FuzzMask(f *testing.F) {
	f.Add("Merge pull request #7 from a/b, PRs 12 and 13: https://h.org/o/r/pull/3 0123456789abcdef0123456789abcdef01234567")
	f.Add("issue no. 3; GH-4 (!56) refs/pull/7/head")
	f.Fuzz(func(t *testing.T, text string) {
		got := Mask(text)
		if left := identity.FindString(got); left != "" {
			t.Errorf("%q became %q, which holds %q", text, got, left)
		}
		if again := Mask(got); again != got {
			t.Errorf("%q: masked twice it is %q, not %q", text, again, got)
		}
	})
}
