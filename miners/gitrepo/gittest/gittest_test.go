package gittest_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
)

const script = `
commit one "First commit"
commit two "Add b" date=2024-03-01T00:00:00Z author="Ann <ann@example.org>"
  rm gone.txt
  exec run.sh
  link l.txt a.txt
  gitlink sub 1111111111111111111111111111111111111111
branch topic one
commit three "Work\n\nbody"
branch main
merge four topic "Merge it"
orphan other
commit five "Unrelated"
tag v1 two
ref refs/pull/7/head three
-- one/a.txt --
hello
-- one/gone.txt --
x
-- two/run.sh --
#!/bin/sh
-- three/dir/"odd".txt --
quoted
-- five/z --
z
`

func TestBuild(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, script)
	got := strings.Split(strings.TrimSpace(r.Git("log", "--all", "--topo-order", "--reverse", "--format=%H|%P|%an|%at|%s")), "\n")
	want := []string{
		r.ID("five") + "||Tess Ter|1704081600|Unrelated",
		r.ID("one") + "||Tess Ter|1704067200|First commit",
		r.ID("two") + "|" + r.ID("one") + "|Ann|1709251200|Add b",
		r.ID("three") + "|" + r.ID("one") + "|Tess Ter|1704074400|Work",
		r.ID("four") + "|" + r.ID("two") + " " + r.ID("three") + "|Tess Ter|1704078000|Merge it",
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("sorted", sorted)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	tree := r.Git("ls-tree", "-r", "--format=%(objectmode) %(path)", "main")
	wantTree := "100644 a.txt\n100644 \"dir/\\\"odd\\\".txt\"\n120000 l.txt\n100755 run.sh\n160000 sub\n"
	if diff := cmp.Diff(wantTree, tree); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	refs := r.Git("for-each-ref", "--format=%(refname)")
	if diff := cmp.Diff("refs/heads/main\nrefs/heads/other\nrefs/heads/topic\nrefs/pull/7/head\nrefs/tags/v1\n", refs); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if got := r.Git("fsck", "--no-dangling"); got != "" {
		t.Errorf("fsck: %s", got)
	}
}

func sorted(lines []string) map[string]bool {
	set := map[string]bool{}
	for _, l := range lines {
		set[l] = true
	}
	return set
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	one, two := gittest.Build(t, script), gittest.Build(t, script)
	if !maps.Equal(one.IDs, two.IDs) {
		t.Errorf("the ids differ:\n%s", cmp.Diff(one.IDs, two.IDs))
	}
	if want := "94c7b2fdaba0bdadaaf48485cfefdc84b7097e5b"; one.ID("four") != want {
		t.Errorf("four is %s, want %s", one.ID("four"), want)
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"unknown directive": "frob x\n",
		"too few words":     "commit x\n",
		"too many words":    "commit x \"m\"\nrm a b\n",
		"no commit above":   "rm x\n",
		"unknown parent":    "commit x \"m\" parent=y\n",
		"unknown option":    "commit x \"m\" colour=red\n",
		"commit twice":      "commit x \"m\"\ncommit x \"m\"\n",
		"file of no commit": "commit x \"m\"\n-- y/a --\n",
		"open string":       "commit x \"m\n",
		"conflict":          "commit a \"m\"\nbranch t\ncommit b \"m\"\nbranch main\ncommit c \"m\"\nmerge d t \"m\"\n-- b/f --\nb\n-- c/f --\nc\n",
	} {
		if _, err := gittest.BuildIn(t.TempDir(), script); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRebuildForces(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, "commit a \"one\"\n")
	ids, err := gittest.BuildIn(r.Dir, "commit a \"another\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(r.Git("rev-parse", "main")); got != ids["a"] || got == r.ID("a") {
		t.Errorf("main is %s, want %s", got, ids["a"])
	}
}
