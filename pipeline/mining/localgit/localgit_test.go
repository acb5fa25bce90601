package localgit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline/history"
	"sluice/pipeline/mining"
	"sluice/pipeline/mining/localgit"
	"sluice/store"
)

// bench is a store and a repository to mine.
type bench struct {
	t     *testing.T
	repo  *gittest.Repo
	store *store.Store
	conf  localgit.Config
}

func setup(t *testing.T, b *gittest.Builder) bench {
	t.Helper()
	dir := t.TempDir()
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s, err := store.OpenDir(t.Context(), home, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r := gittest.At(t, dir)
	r.IDs = ids
	return bench{t, r, s, localgit.Config{Store: s, Dir: home, Source: dir, Name: "ann/proj"}}
}

func (b bench) run() localgit.Report {
	b.t.Helper()
	rep, err := localgit.Run(b.t.Context(), b.conf)
	if err != nil {
		b.t.Fatal(err)
	}
	return rep
}

// leads are the leads of the store, short and sorted, with the names of commits.
func (b bench) leads() []string {
	b.t.Helper()
	leads, err := b.store.Leads(b.t.Context(), store.LeadFilter{})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, l := range leads {
		if l.Kind == store.IssuePRLead {
			var d mining.IssuePR
			if err := json.Unmarshal(l.Data, &d); err != nil {
				b.t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s %s issue %d pr %d", l.Source, l.Method, d.Issue, d.PR))
			if d.Merged == nil || !*d.Merged || d.Where == "" || b.repo.Name(d.SHA) == "" {
				b.t.Errorf("an issue without what is known of its change: %s", l.Data)
			}
			continue
		}
		var d mining.Pair
		if err := json.Unmarshal(l.Data, &d); err != nil {
			b.t.Fatal(err)
		}
		intro := b.repo.Name(d.Intro.SHA) + d.Intro.Tag
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s<-%s %s %s %s", l.Method, d.Cue, b.repo.Name(d.Fix.SHA), intro, d.ResolvedBy, d.ID, d.MergeMode)), " "))
	}
	slices.Sort(out)
	return out
}

func commit(name, message string) gittest.Commit { return gittest.Commit{Name: name, Message: message} }

// first builds a history twice: once to learn the ids that messages name.
func first(build func(id func(string) string) *gittest.Builder) *gittest.Builder {
	ids := map[string]string{}
	id := func(name string) string {
		if ids[name] == "" {
			return strings.Repeat("0", 40)
		}
		return ids[name]
	}
	// Each round settles the ids of commits whose messages name only settled ones.
	for range 4 {
		dir, err := mkdir()
		if err != nil {
			panic(err)
		}
		if ids, err = build(id).BuildIn(dir); err != nil {
			panic(err)
		}
	}
	return build(id)
}

func TestClaims(t *testing.T) {
	t.Parallel()
	b := setup(t, first(func(id func(string) string) *gittest.Builder {
		b := gittest.NewBuilder()
		b.Add(commit("bug", "parser: read numbers\n"))
		b.Add(commit("req", "Add the writer (#7)\n"))
		b.Add(commit("trailer", "parser: fix\n\nFixes: "+id("bug")[:12]+" (\"parser: read numbers\")\n"))
		b.Add(commit("subject", "parser: fix more\n\nFixes: 0123456789ab (\"parser: read numbers\")\n"))
		b.Add(commit("number", "Fix a crash, a regression from #7 (#9)\n"))
		b.Add(commit("other", "Fix x\n\nCaused by x/y#3 and broken by ann/proj#7\n"))
		b.Add(commit("itself", "Fix x (#11)\n\nRegression from #11, or from #99\n"))
		b.Add(commit("nowhere", "Fix x\n\nFixes: 89abcdef0123\n"))
		b.Add(commit("revert", "Revert \"Add the writer (#7)\"\n\nThis reverts commit "+id("req")+".\n"))
		b.Branch("side", "bug")
		b.Add(commit("aside", "side work\n"))
		b.Branch("main", "")
		b.Add(commit("sideways", "Fix x\n\nIntroduced in "+id("aside")+".\n"))
		b.Merge(commit("merge", "Merge branch 'side'\n\nFix it\n\nFixes: "+id("trailer")+"\n"), "side")
		b.Orphan("foreign")
		b.Add(commit("alien", "another project\n"))
		b.Branch("main", "merge")
		b.Add(commit("unrelated", "Fix x\n\nFixes: "+id("alien")+"\n"))
		return b
	}))
	rep := b.run()
	want := []string{
		"testimony broke other<-req number", "testimony regression number<-req number",
		"trailer fixes merge<-trailer id first-parent", "trailer fixes subject<-bug subject", "trailer fixes trailer<-bug id",
	}
	if diff := cmp.Diff(want, b.leads()); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
	problems := map[string]int{
		"other-repository": 1, "itself": 1, "number-of-no-change": 1, "in-no-ref": 1, "not-an-ancestor": 1, "unrelated-history": 1,
		"merge-fix": 1,
	}
	if diff := cmp.Diff(problems, rep.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%+v", diff, rep.Named)
	}
	if rep.Counts["reverts"] != 1 || len(rep.Named) != 7 {
		t.Errorf("counts %v, named %v", rep.Counts, rep.Named)
	}
}

func TestTickets(t *testing.T) {
	t.Parallel()
	day := func(d int, name, message string) gittest.Commit {
		return gittest.Commit{Name: name, Message: message, Date: fixtureDay.AddDate(0, 0, d)}
	}
	b := setup(t, first(func(id func(string) string) *gittest.Builder {
		b := gittest.NewBuilder()
		b.Add(day(0, "one", "Fixed #100 -- Made it work.\n\ngit-svn-id: http://x/trunk@345 0-0\n"))
		b.Add(day(1, "two", "Bug 2000 - Add y\n"))
		b.Add(day(2, "three", "Fixed #101 -- Fixed a regression in ticket #100.\n"))
		b.Add(day(3, "four", "Bug 2001 - Fix crash\n\nRegression from bug 2000.\n"))
		b.Add(day(4, "five", "Fixed #102 -- Fixed a crash introduced in r345.\n"))
		b.Add(day(5, "six", "Fixed #100 -- Fixed it for empty lists.\n"))
		b.Add(day(6, "seven", "Fixed #103 -- Regression in "+id("two")+".\n"))
		b.Add(day(7, "eight", "Fix x\n\nRegression from bug 4444.\n"))
		return b
	}))
	rep := b.run()
	want := []string{
		"ticket introduced five<-one revision r345", "ticket regression four<-two ticket 2000", "ticket regression seven<-two id trac:103",
		"ticket regression three<-one ticket 100", "ticket shared-ticket six<-one ticket trac:100",
	}
	if diff := cmp.Diff(want, b.leads()); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"ticket-of-no-change": 1}, rep.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestChangelogs(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	add := func(name, message string, files map[string]string) {
		b.Add(gittest.Commit{Name: name, Message: message, Files: files})
	}
	add("new", "Add the reader (#12)", map[string]string{"CHANGES.md": "# 2.1\n## Added\n- Added the reader (#12)\n", "a": "1"})
	b.Ref("refs/tags/v2.1", "new")
	add("fix", "Mend the reader", map[string]string{"CHANGES.md": "# Unreleased\n## Fixed\n- The reader no longer crashes, a regression from #12\n\n# 2.1\n## Added\n- Added the reader (#12)\n", "a": "2"})
	add("fragment", "Mend the writer (#20)", map[string]string{"newsfragments/19.bugfix.rst": "Fixed a regression in 2.1 of the writer.\n"})
	add("release", "Release 2.2", map[string]string{"CHANGES.md": "# 2.2\n## Fixed\n- The reader no longer crashes, a regression from #12\n- Fixed a regression in 2.1 of the writer.\n- Fixed a regression in 1.9 (#20)\n\n# 2.1\n## Added\n- Added the reader (#12)\n"})
	bb := setup(t, b)
	rep := bb.run()
	want := []string{
		"changelog changelog issue 19 pr 20", "changelog regression fix<-new number release:2.2",
		"changelog regression fragment<-v2.1 version",
	}
	if diff := cmp.Diff(want, bb.leads()); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
	if rep.Counts["entries"] != 5 || rep.Counts["fix-entries"] != 4 || rep.Problems[localgit.NoTag] != 1 || rep.Problems[localgit.NoCommit] != 1 {
		t.Errorf("counts %v, problems %v", rep.Counts, rep.Problems)
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(commit("a", "Start"))
	b.Add(commit("b", "Fix it (#5)\n\nFixes #3\nCloses #4\n"))
	b.Add(commit("c", "Fix that\n\nFixes #6\n"))
	b.Ref("refs/pull/4/head", "a")
	bb := setup(t, b)
	bb.run()
	if diff := cmp.Diff([]string{"history keyword issue 3 pr 5"}, bb.leads()); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
}

func TestSecondRunAddsNothing(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(commit("a", "Add x (#1)"))
	b.Add(commit("b", "Fix x, a regression from #1"))
	bb := setup(t, b)
	one := bb.run()
	two := bb.run()
	if one.Added != 1 || one.Unchanged || two.Added != 0 || !two.Unchanged {
		t.Errorf("added %d and %d, unchanged %v and %v", one.Added, two.Added, one.Unchanged, two.Unchanged)
	}
	if diff := cmp.Diff(one.Leads, two.Leads); diff != "" {
		t.Errorf("reports (-first +second):\n%s", diff)
	}
	bb.conf.Until = fixtureDay.AddDate(-20, 0, 0)
	if three := bb.run(); three.Unchanged || len(three.Leads) != 0 {
		t.Errorf("another window: %+v", three)
	}
}

func TestRewritten(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(commit("a", "Add x (#1)"))
	b.Add(commit("b", "Fix x, a regression from #1"))
	bb := setup(t, b)
	bb.run()
	again := gittest.NewBuilder()
	again.Add(commit("c", "Add x again (#1)"))
	again.Add(commit("d", "Fix y, a regression from #1"))
	ids, err := again.BuildIn(bb.repo.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range ids {
		bb.repo.IDs[name] = id
	}
	rep := bb.run()
	if !rep.Rewritten || rep.Unreachable != 1 || rep.Added != 1 {
		t.Errorf("rewritten %v, unreachable %d, added %d", rep.Rewritten, rep.Unreachable, rep.Added)
	}
	want := []string{"testimony regression b<-a number", "testimony regression d<-c number"}
	if diff := cmp.Diff(want, bb.leads()); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
	gone, err := mining.Unreachable(t.Context(), bb.store, "Ann/Proj")
	if err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	for _, commits := range gone {
		if diff := cmp.Diff([]string{bb.repo.ID("a"), bb.repo.ID("b")}, commits); diff != "" {
			t.Errorf("gone (-want +got):\n%s", diff)
		}
	}
}

func TestOddCommits(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("f/%d", i)] = "x"
	}
	b := gittest.NewBuilder()
	b.Add(commit("a", "Add x (#1)"))
	b.Add(gittest.Commit{Name: "b", Message: "Fix x, a regression from #1", Files: files})
	b.Add(commit("c", "Fix caf\xe9, a regression from #1"))
	bb := setup(t, b)
	rep := bb.run()
	want := []localgit.Problem{{"large-fix", bb.repo.ID("b"), "2000 files"}, {"not-utf8", bb.repo.ID("c"), ""}}
	if diff := cmp.Diff(want, rep.Named); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	leads, err := bb.store.Leads(t.Context(), store.LeadFilter{})
	if err != nil || len(leads) != 2 {
		t.Fatal(leads, err)
	}
	evidence, err := bb.store.Get(t.Context(), leads[0].Evidence)
	if err != nil || !strings.Contains(string(evidence), `{"base64":`) || strings.Count(string(evidence), "\n") != 2 {
		t.Errorf("evidence %q, %v", evidence, err)
	}
}

func TestNameIsOneRepository(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	b.Add(commit("a", "x"))
	bb := setup(t, b)
	bb.run()
	other := t.TempDir()
	if _, err := b.BuildIn(other); err != nil {
		t.Fatal(err)
	}
	bb.conf.Source = other
	if _, err := localgit.Run(t.Context(), bb.conf); !errors.Is(err, history.ErrNameTaken) {
		t.Errorf("got %v", err)
	}
}
