package touched

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/miners/lang/testcode"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
)

const script = `
commit one "One"
commit two "Two"
rm old_test.go
-- one/go.mod --
module example.com/m
-- one/a/a.go --
package a
-- one/a/a_test.go --
package a
var table = []int{1}
func TestA(t *testing.T) { _ = table }
func TestB(t *testing.T) {}
func TestGone(t *testing.T) { t.Log() }
-- one/a/util_test.go --
package a
func help() {}
-- one/old_test.go --
package m
func TestOld(t *testing.T) { t.Log("a long enough file") }
func TestOlder(t *testing.T) { t.Log("a long enough file, to be the same") }
-- one/a/testdata/x.txt --
x
-- two/go.mod --
module example.com/m
-- two/a/a.go --
package a
// a
-- two/a/a_test.go --
package a
var table = []int{1, 2}
func TestA(t *testing.T) { _ = table }
func TestB(t *testing.T) {} // the same
func TestC(t *testing.T) { t.Run("x", nil) }
-- two/a/util_test.go --
package a
func help() { println() }
-- two/new_test.go --
package m
func TestOld(t *testing.T) { t.Log("a long enough file") }
func TestOlder(t *testing.T) { t.Log("a long enough file, to be the same") }
-- two/a/testdata/x.txt --
y
`

// TestMark: the tests of a report that a change touched, and what else it touched.
func TestMark(t *testing.T) {
	t.Parallel()
	repo := gittest.Build(t, script)
	m, err := gitrepo.Open(t.Context(), repo.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	h := history.New(m, "")
	changes, _, err := h.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Of(t.Context(), h, changes[len(changes)-1])
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"example.com/m/a::TestA", "example.com/m/a::TestB", "example.com/m/a::TestC", "example.com/m/a::TestC/x", "example.com/m::TestOld", "example.com/m/b::TestA"}
	marks := c.Mark(replay.Recipe{Runner: "gotest", Module: "example.com/m"}, ids)
	var got []string
	for _, x := range marks.Tests {
		got = append(got, fmt.Sprintf("%s %v %s %s", x.ID, x.Touched, x.How, x.By))
	}
	for _, u := range marks.Unclear {
		got = append(got, string(u))
	}
	want := []string{
		"example.com/m/a::TestA yes uses table", "example.com/m/a::TestB unsure  ", "example.com/m/a::TestC yes added ", "example.com/m/a::TestC/x yes added ",
		"example.com/m::TestOld yes moved ", "example.com/m/b::TestA unsure  ",
		"a/a_test.go: table", "a/util_test.go: help", "a/testdata/x.txt",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if all := c.Mark(replay.Recipe{Runner: "none"}, ids); all.Tests[0].Touched != Unknown {
		t.Errorf("%+v", all)
	}
}

// TestAnswers: no is said only where nothing else was touched.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := replay.Recipe{Runner: "gotest", Module: "example.com/m"}
	test := testcode.Test{Path: []testcode.Name{{"TestA"}}}
	for _, tt := range []struct {
		name   string
		change Change
		want   Answer
	}{
		{"nothing of its file", Change{}, No},
		{"data besides", Change{Others: []pipeline.Text{[]byte("testdata/x")}}, Unsure},
		{"it itself", Change{Files: []File{{Path: []byte("a/a_test.go"), Change: testcode.Change{Touched: []testcode.Touch{{Test: test, How: testcode.Modified}}}}}}, Yes},
		{"a piece of unknown use", Change{Files: []File{{Path: []byte("a/a_test.go"), Change: testcode.Change{Touched: []testcode.Touch{{Test: test, How: testcode.Unsure}}}}}}, Unsure},
	} {
		if got := tt.change.Mark(r, []string{"example.com/m/a::TestA"}).Tests[0].Touched; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
