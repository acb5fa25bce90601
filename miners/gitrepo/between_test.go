package gitrepo_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	for _, name := range []string{"a", "b", "c"} {
		b.Add(gittest.Commit{Name: name, Message: "say " + name, Files: map[string]string{name: name}})
	}
	b.Branch("side", "a")
	b.Add(gittest.Commit{Name: "s", Message: "say s", Files: map[string]string{"s": "s"}})
	b.Branch("main", "")
	b.Merge(gittest.Commit{Name: "m", Message: "say m"}, "side")
	b.Head("main")
	dir := filepath.Join(t.TempDir(), "r.git")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := mirror(t, dir)
	var all gitrepo.Span
	for _, tt := range []struct {
		name, base, head string
		most             int
		want             string
		cut              bool
		err              error
		more             gitrepo.Span // Paths and Landed
	}{
		{"a line", ids["a"], ids["c"], 9, "c b", false, nil, all},
		{"as many as may be", ids["a"], ids["c"], 2, "c b", false, nil, all},
		{"too many", ids["a"], ids["c"], 1, "c", true, nil, all},
		{"a merge", ids["c"], ids["m"], 9, "m s", false, nil, all},
		{"another branch", ids["c"], ids["s"], 9, "s", false, nil, all},
		{"back", ids["c"], ids["a"], 9, "", false, nil, all},
		{"abbreviated", ids["a"][:10], strings.ToUpper(ids["c"][:10]), 9, "c b", false, nil, all},
		{"a file", ids["a"], ids["m"], 9, "c", false, nil, gitrepo.Span{Paths: []string{"c"}}},
		{"a file of a side branch", ids["a"], ids["m"], 9, "s", false, nil, gitrepo.Span{Paths: []string{"s"}}},
		{"what landed it", ids["a"], ids["m"], 9, "m", false, nil, gitrepo.Span{Paths: []string{"s"}, Landed: true}},
		{"no pattern", ids["a"], ids["m"], 9, "", false, nil, gitrepo.Span{Paths: []string{"*"}, Landed: true}},
		{"no base", strings.Repeat("d", 40), ids["a"], 9, "", false, gitrepo.ErrMissingObject, all},
		{"no head", ids["a"], strings.Repeat("d", 40), 9, "", false, gitrepo.ErrMissingObject, all},
	} {
		var got []string
		s := tt.more
		s.Base, s.Head, s.Most = tt.base, tt.head, tt.most
		cut, err := m.Between(t.Context(), s, func(c gitrepo.Logged) error {
			got = append(got, strings.TrimPrefix(c.Subject(), "say "))
			return nil
		})
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || cut != tt.cut || !errors.Is(err, tt.err) {
			t.Errorf("%s: %s cut %v, error %v", tt.name, diff, cut, err)
		}
	}
	if _, err := m.Between(t.Context(), gitrepo.Span{Base: "--all", Head: ids["a"], Most: 9}, nil); err == nil {
		t.Error("an option was taken for an id")
	}
}
