package judges_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/judges"
	"sluice/judges/evidence"
)

// FuzzDecide: whatever a model replies to any judge, it is a verdict with a code of the table and a quotation that was sent, or an
// error of one line.
func FuzzDecide(f *testing.F) {
	specs := judges.Specs()
	rendered := make([]evidence.Rendered, len(specs))
	for i, a := range loadAll(f, false) {
		rendered[i] = a.render(f)
		f.Add(i, a.reply)
		f.Add(i, strings.ReplaceAll(a.reply, `"quote":"`, `"quote":" `))
		f.Add(i, a.reasoned(escaped))
	}
	f.Fuzz(func(t *testing.T, n int, text string) {
		i := ((n % len(specs)) + len(specs)) % len(specs)
		v, err := decide(t, specs[i], text, rendered[i])
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %q", err)
			}
			return
		}
		known := slices.ContainsFunc(specs[i].Codes, func(c judges.Code) bool { return c.Name == v.Code && c.Keeps == v.Keeps })
		if !known || rendered[i].Seen.Quoted(v.Quote) != nil || !json.Valid(v.Fields) {
			t.Fatalf("verdict %+v", v)
		}
	})
}

// BenchmarkDecide takes one reply to a question with a full budget of evidence through the strict reader and the judge's check.
func BenchmarkDecide(b *testing.B) {
	for _, a := range loadAll(b, false) {
		b.Run(a.prompt.Name, func(b *testing.B) {
			for _, s := range a.prompt.Slots {
				if units := a.given[s.Name]; s.Kind == "diff" {
					more := strings.Repeat(units[0], s.Bytes/len(units[0]))
					a = a.with(s.Name, append([]string{units[0] + more}, units[1:]...)...)
				}
			}
			s, r := specOf(b, a.prompt.Name), a.render(b)
			for b.Loop() {
				if _, err := decide(b, s, a.reply, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
