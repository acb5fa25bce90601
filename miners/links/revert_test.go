package links

import (
	"strings"
	"testing"
)

func TestRevertOf(t *testing.T) {
	t.Parallel()
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for _, tt := range []struct {
		name, title, body string
		sha               string
		number            int
		subject           string
		ok                bool
	}{
		{"git", `Revert "Add x"`, "This reverts commit " + sha + ".\n", sha, 0, "Add x", true},
		{"crlf", `Revert "Add x"`, "\r\nThis reverts commit " + sha + ".\r\n", sha, 0, "Add x", true},
		{"github", `Revert "Add x (#12)" (#13)`, "Reverts o/r#12", "", 12, "Add x", true},
		{"github url", `Revert "Add x"`, "Reverts https://github.com/o/r/pull/12.", "", 12, "Add x", true},
		{"number in title", `Revert "Add x (#12)"`, "It broke.", "", 12, "Add x", true},
		{"twice", `Revert "Revert "Add x""`, "", "", 0, `Revert "Add x"`, true},
		{"conventional", "revert: feat: x", "This reverts commit abc1234.", "abc1234", 0, "feat: x", true},
		{"conventional scope", "revert(core): x", "This reverts commit abc1234.", "abc1234", 0, "x", true},
		{"by id", "Revert abc1234 for now", "", "abc1234", 0, "", true},
		{"by number", "Revert #12", "", "", 12, "", true},
		{"by word and number", "revert PR 12: broke", "", "", 12, "", true},
		{"body first", "Take x out again", "This reverts commit abc1234.\nIt broke.", "abc1234", 0, "", true},
		{"back out", "Back out x", "This reverts changeset abc1234", "abc1234", 0, "x", true},
		{"body later", "Fix y", "Details.\n\nThis reverts commit abc1234 in part.", "", 0, "", false},
		{"partial", "Partially revert x", "This partially reverts commit abc1234.", "", 0, "", false},
		{"verb with an object", "Revert the order of arguments", "", "", 0, "", false},
		{"word only", "Reverting works", "", "", 0, "", false},
		{"reapply", `Reapply "Add x"`, "", "", 0, "", false},
		{"empty", "", "", "", 0, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sha, number, subject, ok := RevertOf(tt.title, tt.body)
			if sha != tt.sha || number != tt.number || subject != tt.subject || ok != tt.ok {
				t.Errorf("got %q, %d, %q, %v; want %q, %d, %q, %v", sha, number, subject, ok, tt.sha, tt.number, tt.subject, tt.ok)
			}
		})
	}
}

func FuzzRevertOf(f *testing.F) {
	f.Add(`Revert "x (#1)"`, "This reverts commit abc1234.")
	f.Add("revert: x", "Reverts o/r#1")
	f.Add("Revert #1", "\xff")
	f.Fuzz(func(t *testing.T, title, body string) {
		sha, number, subject, ok := RevertOf(title, body)
		if !ok && (sha != "" || number != 0 || subject != "") {
			t.Error("not a revert, but of something")
		}
		if number < 0 || sha != "" && !isHex(sha) || !strings.Contains(title, subject) {
			t.Errorf("got %q, %d, %q", sha, number, subject)
		}
	})
}
