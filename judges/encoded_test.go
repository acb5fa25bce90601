package judges

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestEncoded: the quick search finds what an expression finds, over line breaks and in one alphabet.
func TestEncoded(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`[A-Za-z0-9+/_\r\n-]{120,}`)
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			text += strings.Repeat(rapid.StringMatching(`[A-Za-z0-9+/_\n-]{1,40}`).Draw(t, "run"), rapid.IntRange(0, 30).Draw(t, "times")) +
				rapid.SampledFrom([]string{"", " ", "é", "=\n", "@"}).Draw(t, "between")
		}
		var want []string
		for _, run := range form.FindAllString(text, -1) {
			if run = oneAlphabet.Replace(run); len(run) >= minEncoded {
				want = append(want, run)
			}
		}
		if diff := cmp.Diff(want, encoded(text)); diff != "" {
			t.Fatalf("%q: -want +got\n%s", text, diff)
		}
	})
}
