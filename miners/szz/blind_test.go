package szz

import (
	"strings"
	"testing"
)

// TestBlind: what messages say moves no answer. Calibration rests on that.
func TestBlind(t *testing.T) {
	t.Parallel()
	script := `
commit root "Begin"
commit one "First"
commit two "Second"
commit fix FIXMESSAGE
-- root/a.go --
package a
-- one/a.go --
package a

func F(n int) int { return 1 / n }
-- two/b.go --
package a

func G(n int) int { return 2 / n }
-- fix/a.go --
package a

func F(n int) int { if n == 0 { return 0 }; return 1 / n }
`
	var want string
	for i, message := range []string{`"Fix it"`, `"Fix it\n\nFixes: the second\nThis is a regression from two, not from one."`, `"Revert \"Second\"\n\nThis reverts the second."`} {
		h := load(t, strings.Replace(script, "FIXMESSAGE", message, 1))
		got := h.brief(h.attribute(t, "fix", Options{}))
		if i == 0 {
			want = got
		}
		if got != want || !strings.HasPrefix(got, "one:") {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
