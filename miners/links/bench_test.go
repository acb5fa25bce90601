package links

import (
	"strings"
	"testing"
)

// BenchmarkFirstBad reads comments that say nothing of the kind, and one that does.
func BenchmarkFirstBad(b *testing.B) {
	plain := strings.Repeat("Some words about the change, as people write them, with #12 and 0123abcd. ", 30)
	for name, text := range map[string]string{"plain": plain, "stem": plain + " It regressed.", "bisected": plain + "\n\nI bisected this to 89abcdef."} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				FirstBad(text, self)
			}
		})
	}
}
