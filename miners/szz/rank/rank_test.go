package rank

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/miners/szz"
	"sluice/miners/szz/lineage"
)

// graph reads a history from a script.
func graph(t *testing.T, script string) (*gittest.Repo, *lineage.Graph) {
	t.Helper()
	r := gittest.Build(t, script)
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	tip, err := m.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := lineage.Load(t.Context(), m, []string{tip})
	if err != nil {
		t.Fatal(err)
	}
	return r, g
}

func shippedModel(t *testing.T) *Model {
	t.Helper()
	m, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask attributes a commit of a script, and names the suspects as the script does.
func ask(t *testing.T, script, fix, base string) (szz.Answer, []string) {
	t.Helper()
	r, g := graph(t, script)
	a, err := New(g, shippedModel(t)).Attribute(t.Context(), Fix{Commit: r.IDs[fix], Base: r.IDs[base]})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for name, id := range r.IDs {
		names[id] = name
	}
	var order []string
	for _, s := range a.Suspects {
		order = append(order, names[s.Commit]+" "+string(s.Evidence))
	}
	return a, order
}

const common = `
commit start "Start"
-- start/a.c --
#include <stdio.h>

int total(int price, int count)
{
	int sum = price * count;
	return sum;
}

int other(int value)
{
	return value + 1;
}
`

func TestAttributeNamesWhoWroteWhatTheFixRewrites(t *testing.T) {
	t.Parallel()
	a, got := ask(t, `
commit start "Start"
commit bug "Add a discount to totals"
commit far "Change the other function"
commit fix "Fix the discount of totals"
-- start/a.c --
int total(int price, int count)
{
	int sum = price * count;
	return sum;
}

int other(int value)
{
	return value + 1;
}
-- bug/a.c --
int total(int price, int count)
{
	int sum = price * count;
	sum = sum - discount(count) * price;
	return sum;
}

int other(int value)
{
	return value + 1;
}
-- far/a.c --
int total(int price, int count)
{
	int sum = price * count;
	sum = sum - discount(count) * price;
	return sum;
}

int other(int value)
{
	return value + 2;
}
-- fix/a.c --
int total(int price, int count)
{
	int sum = price * count;
	sum = sum - discount(count);
	return sum;
}

int other(int value)
{
	return value + 2;
}
`, "fix", "far")
	if len(got) == 0 || got[0] != "bug deletion" {
		t.Fatalf("suspects %v", got)
	}
	first := a.Suspects[0]
	if first.Lines != 1 || first.Votes["deleted"] != 1 || !slices.Equal(first.Files, []string{"a.c"}) {
		t.Errorf("the vote of the first suspect is not kept: %+v", first)
	}
	if a.Confidence <= 0 || a.Confidence >= 1 || a.MergeMode != szz.FirstParent || !strings.HasPrefix(a.Strategy, "ours/") {
		t.Errorf("answer %+v", a)
	}
}

func TestAttributeFindsAnchorsOfFixesThatOnlyAdd(t *testing.T) {
	t.Parallel()
	_, got := ask(t, `
commit start "Start"
commit bug "Read from the buffer"
commit fix "Check the length before the buffer is read"
-- start/a.c --
int peek(const char *buffer)
{
	return 0;
}

int size(void)
{
	return 12;
}
-- bug/a.c --
int peek(const char *buffer)
{
	char first = buffer[0];
	return first;
}

int size(void)
{
	return 12;
}
-- fix/a.c --
int peek(const char *buffer)
{
	if (!buffer)
		return -1;
	char first = buffer[0];
	return first;
}

int size(void)
{
	return 12;
}
`, "fix", "bug")
	if len(got) == 0 || got[0] != "bug anchor" {
		t.Fatalf("suspects %v", got)
	}
}

// A commit that only removed something wrote no line that is left: blame cannot see it.
func TestAttributeSeesCommitsThatOnlyRemoved(t *testing.T) {
	t.Parallel()
	_, got := ask(t, `
commit start "Start"
commit bug "Drop the check of the length"
commit fix "Check the length again"
-- start/a.c --
int peek(const char *buffer, int length)
{
	if (length < 1)
		return -1;
	return buffer[0];
}
-- bug/a.c --
int peek(const char *buffer, int length)
{
	return buffer[0];
}
-- fix/a.c --
int peek(const char *buffer, int length)
{
	if (length < 1)
		return -1;
	return buffer[0];
}
`, "fix", "bug")
	if !slices.Contains(got, "bug context") {
		t.Fatalf("suspects %v", got)
	}
}

// What does not change the program names nobody: comments, tests, prose, layout.
func TestAttributeLooksThroughWhatIsNoCode(t *testing.T) {
	t.Parallel()
	a, got := ask(t, `
commit bug "Add"
commit comment "Explain"
commit format "Format"
commit test "Test"
commit fix "Fix it"
-- bug/a.c --
int total(int price, int count)
{
	return price * count * count;
}
-- comment/a.c --
int total(int price, int count)
{
	/* the sum of all */
	return price * count * count; // of all
}
-- format/a.c --
int total(int price,
          int count)
{
        /* the sum of all */
        return price * count
                * count; // of all
}
-- test/a_test.c --
int total_test(void) { return total(1, 2) == 2; }
-- fix/a.c --
int total(int price,
          int count)
{
        /* the sum of all, once */
        return price * count; // of all
}
-- fix/a_test.c --
int total_test(void) { return total(2, 2) == 4; }
`, "fix", "test")
	for _, suspect := range got {
		if strings.HasSuffix(suspect, " deletion") != (suspect == "bug deletion") {
			t.Errorf("suspects %v: only the first commit wrote what the fix rewrites", got)
		}
	}
	if !slices.Contains(got, "bug deletion") {
		t.Errorf("suspects %v", got)
	}
	for _, s := range a.Suspects {
		if slices.Contains(s.Files, "a_test.c") {
			t.Errorf("a test names a suspect: %+v", s)
		}
	}
}

func TestAttributeAbstains(t *testing.T) {
	t.Parallel()
	const script = `
commit start "Start"
commit new "Add files only"
-- start/a.c --
int a;
-- new/b.c --
int b;
`
	for _, test := range []struct {
		fix, base string
		want      szz.Reason
	}{{"start", "", szz.RootFix}, {"new", "start", szz.NewFiles}} {
		a, got := ask(t, script, test.fix, test.base)
		if len(got) != 0 || a.Abstained != test.want {
			t.Errorf("%s: suspects %v, abstained %q, want %q", test.fix, got, a.Abstained, test.want)
		}
	}
	_, g := graph(t, script)
	a, err := New(g, shippedModel(t)).Attribute(t.Context(), Fix{Commit: strings.Repeat("0", 40), Base: strings.Repeat("1", 40)})
	if err != nil || a.Abstained != szz.MissingObject {
		t.Errorf("a commit that is not there: %+v, %v", a, err)
	}
}

// The answer must not come from what a message says of it: ids, numbers and quotations weigh nothing.
func TestSubjectsAreReadWithoutQuotations(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string][]string{
		`url: fix crash from "parse the port twice" (#123)`:            {"url", "crash"},
		"follow-up to 0123abcdef and PR 77: leak":                      {"follow", "leak"},
		"fix 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567":                 nil,
		"parsePort: handle IPv6_zone":                                  {"parseport", "parse", "port", "handle", "ipv6_zone", "ipv", "zone"},
		"Revert 'the new and much better parser of all of our things'": {"revert"},
	} {
		got := subjectWords(subject)
		if subject == "parsePort: handle IPv6_zone" {
			if !slices.Contains(got, "parse") || !slices.Contains(got, "zone") {
				t.Errorf("%q gave %q", subject, got)
			}
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", subject, d)
		}
	}
}

func TestShippedModelIsWhole(t *testing.T) {
	t.Parallel()
	m := shippedModel(t)
	for _, name := range names {
		if _, ok := m.Weights[name]; !ok {
			t.Errorf("the shipped weights have none for %q: learn them anew", name)
		}
	}
	rows := 0
	for _, r := range m.Provenance.Repos {
		rows += r.Rows
	}
	if rows != m.Provenance.Rows || rows < 1000 {
		t.Errorf("the provenance tells of %d rows, its repositories of %d", m.Provenance.Rows, rows)
	}
	last := 0.0
	for _, p := range []float64{.05, .2, .5, .8, .95} {
		c := m.confidence(p)
		if c <= last || c >= 1 {
			t.Errorf("the confidence of %.2f is %.3f, after %.3f", p, c, last)
		}
		last = c
	}
}

func TestReadModelRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{`:                                    "reading a model",
		`{"version":"1"}`:                      "want {",
		`{"weights":{"days":1}}`:               "want {",
		`{"version":"1","weights":{"moon":1}}`: `no feature "moon"`,
	} {
		if _, err := ReadModel([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// examples are fixes of two repositories in which the right candidate is the one with the larger first feature, but for noise.
func examples(t *rapid.T) []Example {
	var out []Example
	for i := range 60 {
		e := Example{Repo: fmt.Sprint("repo", i%3), known: true}
		right := rapid.IntRange(0, 3).Draw(t, "right")
		for k := range 4 {
			v := make([]float64, len(names))
			v[0] = rapid.Float64Range(0, 0.5).Draw(t, "x")
			if k == right {
				v[0] += 1
			}
			v[1] = rapid.Float64Range(0, 1).Draw(t, "noise")
			e.vector = append(e.vector, v)
			e.right = append(e.right, k == right)
		}
		out = append(out, e)
	}
	return out
}

func TestTrainLearnsWhatTells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sample := examples(t)
		m, err := Train("test", sample)
		if err != nil {
			t.Fatal(err)
		}
		if m.Weights[names[0]] <= math.Abs(m.Weights[names[1]]) {
			t.Fatalf("weights %v and %v: the first feature tells, the second does not", m.Weights[names[0]], m.Weights[names[1]])
		}
		if m.Provenance.Top1 < 0.9 || len(m.Provenance.Repos) != 3 || m.Provenance.Covered != 60 {
			t.Fatalf("provenance %+v", m.Provenance)
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ReadModel(data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, back); d != "" {
			t.Fatal(d)
		}
	})
}

func TestBlock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, src string
		at        int
		want      [2]int
	}{
		{"c", "int a;\n\nint f(void)\n{\n\tx();\n\ty();\n}\n\nint g(void)\n{\n\tz();\n}\n", 5, [2]int{2, 7}},
		{"python", "import a\n\ndef f():\n    x()\n\n    if y:\n        z()\n\ndef g():\n    w()\n", 6, [2]int{2, 7}},
		{"go", "package p\n\nfunc f() {\n\tif x {\n\t\ty()\n\t}\n}\n\nfunc g() {}\n", 4, [2]int{2, 7}},
		{"a method", "class A:\n    def f(self):\n        x()\n    def g(self):\n        y()\n", 4, [2]int{3, 5}},
		{"past the end", "a\nb\n", 9, [2]int{1, 2}},
		{"empty", "", 0, [2]int{0, 0}},
	} {
		lines := strings.Split(strings.TrimSuffix(test.src, "\n"), "\n")
		n := len(lines)
		if test.src == "" {
			n = 0
		}
		from, to := block(func(i int) []byte { return []byte(lines[i]) }, n, test.at)
		if d := cmp.Diff(test.want, [2]int{from, to}); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
	}
}

// A fix of thousands of files is answered from a part of it, and says so.
func TestAttributeTellsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	b := gittest.NewBuilder()
	for _, name := range []string{"bug", "fix"} {
		files := map[string]string{}
		for i := range 2000 {
			files[fmt.Sprintf("d%d/f%d.c", i/100, i)] = fmt.Sprintf("int f%d = %d; // %s\nint %s;\n", i, i, name, name)
		}
		b.Add(gittest.Commit{Name: name, Message: name, Files: files})
	}
	dir := filepath.Join(t.TempDir(), "r")
	ids, err := b.BuildIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gitrepo.Open(t.Context(), dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	g, err := lineage.Load(t.Context(), m, []string{ids["fix"]})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(g, shippedModel(t)).Attribute(t.Context(), Fix{Commit: ids["fix"], Base: ids["bug"]})
	if err != nil || len(a.Suspects) != 1 || a.Suspects[0].Commit != ids["bug"] || a.Omitted != 2000-maxFiles {
		t.Errorf("%+v %v", a, err)
	}
}

// Two workers and another order of questions give the same answers: nothing is remembered but facts.
func TestAttributeIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	r, g := graph(t, strings.Replace(common, `commit start "Start"`, "commit start \"Start\"\ncommit two \"Two\"\ncommit fix \"Fix\"", 1)+`
-- two/a.c --
int total(int price, int count)
{
	int sum = price * count + 1;
	return sum;
}
-- fix/a.c --
int total(int price, int count)
{
	int sum = price * count;
	return sum;
}
`)
	ranker := New(g, shippedModel(t))
	ask := func(name, base string) szz.Answer {
		a, err := ranker.Attribute(t.Context(), Fix{Commit: r.IDs[name], Base: r.IDs[base]})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := ask("fix", "two")
	ask("two", "start")
	if d := cmp.Diff(first, ask("fix", "two")); d != "" {
		t.Error(d)
	}
}
