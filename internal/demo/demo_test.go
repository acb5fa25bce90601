package demo

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tip is the newest commit of the demo. It changes only when the history is changed on purpose.
const tip = "62d08faeb849017dc0c39cb9e1a0b2231dcda029"

func mustAuthor(t *testing.T) Repository {
	t.Helper()
	r, err := Author(t.Context(), filepath.Join(t.TempDir(), Name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitCommand(t.Context(), dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestAuthorSameEverywhere(t *testing.T) {
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	t.Setenv("GIT_COMMITTER_DATE", "1999-01-01T00:00:00Z")
	t.Setenv("TZ", "Asia/Tokyo")
	r := mustAuthor(t)
	if got := gitOut(t, r.Dir, "rev-parse", "main"); got != tip {
		t.Errorf("the tip is %s, want %s", got, tip)
	}
	if got := gitOut(t, r.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the work tree differs from the tip:\n%s", got)
	}
	if got := gitOut(t, r.Dir, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("refs: %s", got)
	}
	gitOut(t, r.Dir, "fsck", "--strict")
}

func TestAuthorRefusesFullFolder(t *testing.T) {
	t.Parallel()
	r := mustAuthor(t)
	if _, err := Author(t.Context(), r.Dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("Author over a repository: %v", err)
	}
}

// TestChanges compares what Author says with what git says.
func TestChanges(t *testing.T) {
	t.Parallel()
	r := mustAuthor(t)
	var want []string
	for _, c := range r.Changes {
		want = append(want, c.Head+" "+c.Subject())
	}
	log := gitOut(t, r.Dir, "log", "--first-parent", "--reverse", "--format=%H %s", "main")
	if diff := cmp.Diff(want, strings.Split(log, "\n")); diff != "" {
		t.Errorf("changes (-Author +git):\n%s", diff)
	}
	for _, c := range r.Changes[1:] {
		if got := gitOut(t, r.Dir, "rev-parse", c.Head+"^1"); got != c.Base {
			t.Errorf("%s: base %s, git says %s", c.ID, c.Base, got)
		}
	}
	if c, ok := r.Change("08-thousands"); !ok || c.Number != 12 {
		t.Errorf("Change(08-thousands) = %v, %t", c.Number, ok)
	}
	if _, ok := r.Change("none"); ok {
		t.Error("Change found a step that is none")
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	r := mustAuthor(t)
	tags, _ := r.Change("09-tags")
	round, _ := r.Change("19-round")
	for id, want := range map[string]string{
		"11-sign":      "Merge pull request #19 from robin/sign\n\nKeep the sign of amounts below one\n\nFixes a regression introduced in #12:",
		"14-lone-sign": "Fixes: " + tags.Head[:12] + " (\"entry: read tags\")",
		"20-unround":   "Revert \"report: round totals (#36)\" (#37)\n\nThis reverts commit " + round.Head + ".",
	} {
		c, _ := r.Change(id)
		if got := gitOut(t, r.Dir, "log", "-1", "--format=%B", c.Head); !strings.Contains(got, want) {
			t.Errorf("message of %s:\n%s\nwant in it:\n%s", id, got, want)
		}
	}
	parents := gitOut(t, r.Dir, "log", "-1", "--format=%P", "main")
	if n := len(strings.Fields(parents)); n != 3 {
		t.Errorf("the octopus merge has %d parents", n)
	}
}

// TestHistoryIsComplete holds the demo to what it promises.
func TestHistoryIsComplete(t *testing.T) {
	t.Parallel()
	steps, err := Steps()
	if err != nil {
		t.Fatal(err)
	}
	admitted, codes, methods := 0, map[string]bool{}, map[string]bool{}
	seen := map[string]bool{}
	for _, s := range steps {
		seen[s.ID] = true
		e := s.Expect
		switch e.State {
		case "admitted":
			admitted++
			methods[e.Method] = true
		case "rejected":
			codes[first(e.Codes)] = true
		}
		if e.Why == "" || (e.State == "rejected") != (len(e.Codes) > 0) {
			t.Errorf("%s: expectation %+v", s.ID, e)
		}
		if e.Introducer != "" && !seen[e.Introducer] {
			t.Errorf("%s: the introducer %s is no earlier step", s.ID, e.Introducer)
		}
	}
	if !slices.IsSortedFunc(steps, func(a, b Step) int { return a.Date.Compare(b.Date) }) {
		t.Error("the dates run backwards")
	}
	if admitted < 3 || len(codes) < 8 || len(methods) < 3 {
		t.Errorf("%d admitted, codes %v, methods %v", admitted, codes, methods)
	}
}

func TestParseStepErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no message":    "landing: direct\n-- a --\nx\n",
		"unknown key":   "colour: red\n\nTitle\n",
		"bad date":      "date: yesterday\n\nTitle\n",
		"bad number":    "number: x\n\nTitle\n",
		"bad section":   "landing: direct\n\nTitle\n\n-- a b --\nx\n",
		"loose edit":    "landing: direct\n\nTitle\n\n-- a (edit) --\nx\n",
		"unended block": "landing: direct\n\nTitle\n\n-- a (edit) --\n<<<<\nx\n====\ny\n",
	} {
		if s, err := parseStep("x", []byte(text)); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestApplyErrors(t *testing.T) {
	t.Parallel()
	tree := files{"a": "x\nx\n"}
	for name, e := range map[string]edit{
		"twice":         {path: "a", how: "edit", blocks: []block{{"x\n", "y\n"}}},
		"nowhere":       {path: "a", how: "edit", blocks: []block{{"z\n", "y\n"}}},
		"exists":        {path: "a", text: "new"},
		"absent edit":   {path: "b", how: "edit", blocks: []block{{"x\n", "y\n"}}},
		"absent append": {path: "b", how: "append", text: "x"},
		"absent delete": {path: "b", how: "delete"},
	} {
		if got, err := tree.apply([]edit{e}); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	if diff := cmp.Diff(files{"a": "x\nx\n"}, tree); diff != "" {
		t.Errorf("apply changed its input:\n%s", diff)
	}
}

// TestNoGit shows that a missing git is an error that names it.
func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Author(t.Context(), filepath.Join(t.TempDir(), Name))
	if err == nil || !strings.Contains(err.Error(), exec.ErrNotFound.Error()) {
		t.Errorf("Author without git: %v", err)
	}
}
