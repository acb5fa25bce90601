package mining_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/pipeline/mining"
	"sluice/store"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := store.OpenDir(ctx, t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := func(letter string) string { return strings.Repeat(letter, 40) }
	var changes []gitrepo.Change
	for i, letter := range []string{"a", "b", "c"} {
		changes = append(changes, gitrepo.Change{Head: id(letter), Commits: []string{id(letter)}, Position: i, Number: i + 1, NumberBy: "trailer"})
	}
	sha := func(letter string) mining.Ref { return mining.Ref{SHA: id(letter)} }
	pairs := []mining.Pair{
		{Intro: sha("a"), Fix: sha("c"), Confidence: "weak"},
		{Intro: mining.Ref{SHA: "aaaaaaa"}, Fix: mining.Ref{Number: 3}},
		{Intro: sha("a"), Fix: sha("b")},
		{Intro: sha("b"), Fix: sha("a")},
		{Intro: sha("a"), Fix: sha("a")},
		{Intro: sha("d"), Fix: sha("c")},
		{Intro: mining.Ref{Tag: "v1"}, Fix: sha("c")},
		{Intro: sha("e"), Fix: sha("c")},
	}
	var found []mining.Found
	for i, p := range pairs {
		found = append(found, mining.Found{Kind: store.PairLead, Repo: "o/r", Source: "history", Method: "testimony", Key: fmt.Sprint(i), Data: p})
	}
	if _, err := mining.Keep(ctx, s, nil, found); err != nil {
		t.Fatal(err)
	}
	leads, err := s.Leads(ctx, store.LeadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	lost := slices.IndexFunc(leads, func(l store.Lead) bool { return strings.Contains(string(l.Data), id("e")) })
	if err := mining.PutUnreachable(ctx, s, "O/r", fmt.Appendf(nil, `{"lead": %q, "commits": [%q]}`+"\n", leads[lost].ID, id("e"))); err != nil {
		t.Fatal(err)
	}
	known, skipped, err := mining.Pairs(ctx, s, "O/r", gitrepo.NewIndex(changes))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range known {
		got = append(got, fmt.Sprintf("%.1s<-%.1s %d %s", k.Fix.Head, k.Intro.Head, len(k.Said), k.Said[0].Confidence))
	}
	if diff := cmp.Diff([]string{"b<-a 1 ", "c<-a 2 "}, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	want := map[string]int{mining.Gone: 1, mining.NoSide: 1, mining.NoChange: 1, mining.SameSide: 1, mining.Backwards: 1}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}
