package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every form in which evidence holds rulings is read; what holds none is left to be shown as it is.
func TestReadSaid(t *testing.T) {
	t.Parallel()
	const votes = `"votes":[{"model":"m","verdict":{"code":"ok","quote":"q","fields":{"reasoning":"why"}},"calls":["k"]}]`
	ruling := func(judge string) string {
		return `{"judge":"` + judge + `","version":2,"code":"ok","keeps":true,` + votes + `}`
	}
	for _, tt := range []struct {
		name, evidence string
		want           []string // judges, in order
		text           string   // a part of what is shown
	}{
		{"a list", `[` + ruling("a") + `,` + ruling("b") + `]`, []string{"a", "b"}, "a v2: ok (keeps)"},
		{"an annotation", `{"rulings":[` + ruling("a") + `],"unknown":{"severity":"no votes"}}`, []string{"a"}, "severity is unknown: no votes"},
		{"a statement", `{"end":"accepted","steps":[{"kind":"write","text":{"title":"T"}},{"kind":"a","ruling":` + ruling("a") + `}]}`, []string{"a"}, "write: T"},
		{"set-ups", `{"h2":{"accepted":false,"reason":"no","trials":[],"ruling":` + ruling("b") + `},"b1":{"accepted":true,"reason":"it runs","ruling":` + ruling("a") + `}}`,
			[]string{"a", "b"}, "the set-up of b1 is accepted: it runs\na v2: ok (keeps)\n"},
		{"set-ups that nobody judged", `{"h2":{"accepted":true,"reason":"it runs","trials":[]}}`, nil, ""},
		{"something else", `{"name":"x","files":[1]}`, nil, ""},
		{"no JSON", `diff --git`, nil, ""},
	} {
		s, ok := readSaid([]byte(tt.evidence))
		var got []string
		for _, r := range s.all() {
			got = append(got, r.Judge)
		}
		if d := cmp.Diff(tt.want, got); d != "" || ok != (tt.want != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, ok, d)
		}
		if ok && !strings.Contains(s.text(), tt.text) {
			t.Errorf("%s is shown as\n%s", tt.name, s.text())
		}
	}
}
