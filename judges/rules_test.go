package judges

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRules(t *testing.T) {
	t.Parallel()
	good := Change{Title: "Add x", TestPaths: []string{"x_test.go"}, TestCode: 1}
	words := Statement{Title: "Add a function", Body: "It does one thing and does it well, for all inputs that people have."}
	for _, tt := range []struct {
		name      string
		task, fix Change
		statement Statement
		want      []string
	}{
		{"nothing to say", good, good, words, nil},
		{"not English", good, good, Statement{Title: "добавить функцию x"}, []string{"B9"}},
		{"some foreign letters", good, good, Statement{Title: "Decode Ω and Å as letters"}, nil},
		{"several issues", good, Change{Title: "Fix", Body: "Fixes #1, fixes #2", Closes: []int{1, 2}}, words, []string{"B11"}},
		{"one issue", good, Change{Title: "Fix", Body: "Fixes #1", Closes: []int{1}}, words, nil},
		{"expectations only", good, Change{Title: "Fix", TestPaths: []string{"testdata/a.txt"}}, words, []string{"B10"}},
		{"pictures only", good, good, Statement{Title: "New look", Body: "![before](a.png) ![after](b.png)"}, []string{"B8"}},
		{"a picture beside words", good, good, Statement{Title: words.Title, Body: words.Body + " ![x](a.png)"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range Examine(Pair{Task: tt.task, Fix: tt.fix, Statement: tt.statement}) {
				got = append(got, f.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
