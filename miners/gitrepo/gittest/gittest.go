// Package gittest builds small git repositories for tests: from a script (Build, BuildIn) or commit by commit (Builder).
//
// The same script always gives the same commit ids: authors, dates and order are part of it, and nothing of the machine's git
// configuration is read. Repositories are bare and made by one `git fast-import`, so that a test may afford thousands of
// commits. It never touches the network and is never part of the program.
//
// A script is a txtar archive. Its comment has one directive a line, its files are the files that commits write, named
// commit/path:
//
//	commit one "First commit"
//	commit two "Add b" date=2024-03-01T00:00:00Z author="Ann <ann@example.org>"
//	  rm a.txt
//	branch topic one
//	commit three "Work"
//	branch main
//	merge four topic "Merge pull request #7 from ann/topic\n\nTitle"
//	tag v1 two
//	ref refs/pull/7/head three
//	-- one/a.txt --
//	hello
//
// Directives:
//
//	branch NAME [COMMIT]     go to branch NAME, at COMMIT when given, else where it is, or where we are when it is new
//	orphan NAME              go to the new branch NAME, whose first commit has no parent
//	commit NAME "MESSAGE"    commit on the branch; options parent=A,B (commits or branches), author=, date= (RFC 3339)
//	merge NAME OTHER "MSG"   merge OTHER (or A,B: an octopus); contents are merged file by file, or given as files
//	rm PATH                  the commit above removes PATH
//	exec PATH                … makes PATH executable
//	link PATH TARGET         … makes PATH a symbolic link
//	gitlink PATH ID          … makes PATH a submodule at commit ID
//	tag NAME COMMIT          a light tag
//	ref REFNAME COMMIT       any reference
//	head BRANCH              what HEAD names, "main" unless said (it need not exist)
//
// Words may be Go string literals. Commits without a date are an hour apart from 2024-01-01T00:00:00Z on.
package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a bare repository that a test built.
type Repo struct {
	Dir string
	IDs map[string]string // commit ids by the names that the script gave them
	tb  testing.TB
}

// Build makes the repository of script in a folder of the test.
func Build(tb testing.TB, script string) *Repo {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "repo.git")
	ids, err := BuildIn(dir, script)
	if err != nil {
		tb.Fatalf("gittest: %v", err)
	}
	return &Repo{Dir: dir, IDs: ids, tb: tb}
}

// At is a repository that is there already; it has no names of commits.
func At(tb testing.TB, dir string) *Repo { return &Repo{Dir: dir, tb: tb} }

// BuildIn makes the repository of script in dir and returns the commit ids by name. A repository that is there already is added
// to: its branches are set anew, as a forced push would.
func BuildIn(dir, script string) (map[string]string, error) {
	b := NewBuilder()
	if err := b.script(script); err != nil {
		return nil, err
	}
	return b.BuildIn(dir)
}

// ID is the commit id of name; an unknown name ends the test.
func (r *Repo) ID(name string) string {
	r.tb.Helper()
	id, ok := r.IDs[name]
	if !ok {
		r.tb.Fatalf("gittest: no commit %q", name)
	}
	return id
}

// Name is the script's name of a commit id, or the id itself: for readable comparisons.
func (r *Repo) Name(id string) string {
	for name, known := range r.IDs {
		if known == id {
			return name
		}
	}
	return id
}

// Git runs the git program in the repository and returns what it printed; a failure ends the test.
func (r *Repo) Git(args ...string) string {
	r.tb.Helper()
	out, err := run(r.Dir, "", args...)
	if err != nil {
		r.tb.Fatalf("gittest: %v", err)
	}
	return out
}

func run(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "core.fsync=none"}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.org",
		"GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z",
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", &gitError{args: args, err: err, stderr: stderr.String()}
	}
	return string(out), nil
}

type gitError struct {
	args   []string
	err    error
	stderr string
}

func (e *gitError) Error() string {
	return "running git " + strings.Join(e.args, " ") + ": " + e.err.Error() + ": " + strings.TrimSpace(e.stderr)
}

func (e *gitError) Unwrap() error { return e.err }
