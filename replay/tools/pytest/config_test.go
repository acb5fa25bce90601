package pytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWordsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z '"=\t-]{1,8}`)).Draw(t, "words")
		if len(words) == 0 {
			return
		}
		if d := cmp.Diff(words, splitWords(quoteWords(words))); d != "" {
			t.Error(d)
		}
	})
}
