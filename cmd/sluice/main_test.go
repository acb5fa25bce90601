package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/demo"
	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/mining"
	"sluice/store"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want exitCode
	}{
		{errors.New("surprise"), exitInternal},
		{fmt.Errorf("listing: %w", context.Canceled), exitInterrupted},
		{fmt.Errorf("opening: %w", store.ErrNewer), exitStore},
		{fmt.Errorf("opening: %w", gitrepo.ErrNotRepository), exitInput},
		{fmt.Errorf("building: %w", pipeline.ErrBudget), exitIncomplete},
		{fmt.Errorf("mining: %w", mining.ErrGitHubNetwork), exitEnvironment},
		{fmt.Errorf("mining: %w", mining.ErrGitHubLimited), exitIncomplete},
		{fmt.Errorf("outer: %w", fail(exitNothing, errors.New("nothing"), "hint")), exitNothing},
		{unwritable(fmt.Errorf("making it: %w", &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS}), "--out"), exitInput},
		{unwritable(errors.New("surprise"), "--out"), exitInternal},
		{errors.Join(fail(exitStore, errors.New("x"), ""), nil), exitStore},
	} {
		f := classify(tt.err)
		if f.code != tt.want || f.err.Error() != tt.err.Error() {
			t.Errorf("classify(%v) = %d %q, want %d", tt.err, f.code, f.err, tt.want)
		}
	}
}

// TestExitTable holds the table to its word: every code once, none without a meaning.
func TestExitTable(t *testing.T) {
	t.Parallel()
	seen := map[exitCode]bool{}
	for _, m := range exitMeanings {
		if seen[m.code] || m.text == "" {
			t.Errorf("code %d stands twice or has no meaning", m.code)
		}
		seen[m.code] = true
	}
	for _, c := range classes {
		if !seen[c.code] || c.hint == "" {
			t.Errorf("%v: code %d is not in the table, or no hint", c.err, c.code)
		}
	}
}

func TestErrorIsOneLine(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	a := newApp(nil, nil, &errs)
	a.started = true
	code := a.finish(fail(exitInput, errors.New("fatal: bad\nthing\x1b[2J"), "do this"))
	if diff := cmp.Diff("sluice: fatal: bad thing\ufffd[2J: do this\n", errs.String()); diff != "" || code != exitInput {
		t.Errorf("exit %d (-want +got):\n%s", code, diff)
	}
}

// TestInterrupt sends this process a signal: the context ends and a line says so.
func TestInterrupt(t *testing.T) {
	var errs bytes.Buffer
	said := writerFunc(func(p []byte) (int, error) { defer close(errsDone); return errs.Write(p) })
	ctx, stop := interruptible(t.Context(), said)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	<-errsDone
	if !strings.Contains(errs.String(), "Ctrl-C again aborts") {
		t.Errorf("stderr: %q", errs.String())
	}
}

var errsDone = make(chan struct{})

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestGeneratedPages keeps docs/ current also for those who do not run make check.
func TestGeneratedPages(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	dir := filepath.Join("..", "..", "docs")
	if code := run([]string{"docs", "--check", "--dir", dir}, nil, &out, &errs); code != 0 {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

func TestRejectionsPage(t *testing.T) {
	t.Parallel()
	f := &pipeline.Family{Name: "quail", Stages: []pipeline.Stage{
		{Name: "look", Codes: []pipeline.Code{{Name: "too-small", Text: "a|b"}, {Name: "unclear", Text: "who knows", Hold: true}}},
		{Name: "codeless"},
	}}
	page := string(rejectionsPage([]*pipeline.Family{f}))
	for _, want := range []string{"## quail\n", "### Stage look\n", "| `too-small` | rejected | a\\|b |\n", "| `unclear` | held | who knows |\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in:\n%s", want, page)
		}
	}
	if strings.Contains(page, "codeless") {
		t.Error("a stage without codes has a section")
	}
}

func TestFamiliesAreSound(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		if err := f.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestDemoCodes: the codes that the demo's history expects are codes that a stage has.
func TestDemoCodes(t *testing.T) {
	t.Parallel()
	steps, err := demo.Steps()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range families() {
		for _, st := range f.Stages {
			for _, c := range st.Codes {
				known[c.Name] = true
			}
		}
	}
	for _, s := range steps {
		for _, code := range s.Expect.Codes {
			if !known[code] {
				t.Errorf("step %s expects %s, which no stage gives", s.ID, code)
			}
		}
	}
}

func TestLegible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{`{"a":1}`, "{\n  \"a\": 1\n}"},
		{"plain\x1b[0m\n", "plain\ufffd[0m\n"},
		{"\x00\x01", "[2 bytes that are no text]"},
		{"caf\xe9\nline\n", "caf\ufffd\nline\n"},
		{"\u202eevil", "\ufffdevil"},
	} {
		if diff := cmp.Diff(tt.want, legible([]byte(tt.in))); diff != "" {
			t.Errorf("legible(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

// TestCut: what is kept and what is counted as left out are all lines, and what is kept is within bounds.
func TestCut(t *testing.T) {
	t.Parallel()
	e := explainer{}
	check := func(t rapid.TB, text string) {
		kept, left := e.cut(text)
		if len(kept) > maxBytes+len("…") {
			t.Fatalf("kept %d bytes", len(kept))
		}
		want := len(strings.Split(strings.TrimRight(text, "\n"), "\n"))
		// Only the end of the last line is no line's beginning: what is kept may itself end in empty lines.
		if got := strings.Count(strings.TrimSuffix(kept, "\n"), "\n") + 1 + left; got != want {
			t.Fatalf("kept and left %d lines of %d", got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-zé]{0,300}`), 1, 60).Draw(t, "lines")
		check(t, strings.Join(lines, "\n")+"\n")
	})
	check(t, strings.Repeat("\n", maxLines)+"after as many empty lines as are kept\n")
	if kept, left := e.cut(strings.Repeat("é", maxBytes)); left != 0 || !strings.HasSuffix(kept, "…") {
		t.Errorf("a long line: %d left, ends in %q", left, kept[len(kept)-5:])
	}
	e.full = true
	if kept, left := e.cut(strings.Repeat("x\n", 100)); left != 0 || len(kept) != 200 {
		t.Errorf("full: %d bytes, %d left", len(kept), left)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(1, 40).Draw(t, "n")
		got := short(s, n)
		if len([]rune(got)) > n || strings.ContainsAny(got, "\n\x1b") {
			t.Fatalf("short(%q, %d) = %q", s, n, got)
		}
	})
}

// full takes nothing, as a disk that is full or a stream that is closed.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// TestResultsThatWentNowhere: a run whose results could not be written is no success; a reader that has read enough is no failure.
func TestResultsThatWentNowhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code exitCode
		line string
	}{
		{syscall.ENOSPC, exitEnvironment, "writing the results: no space left on device"},
		{syscall.EBADF, exitEnvironment, "writing the results: bad file descriptor"},
		{syscall.EPIPE, exitOK, ""},
	} {
		for _, args := range [][]string{{"version"}, {"version", "--json"}} {
			var errs bytes.Buffer
			code := run(args, strings.NewReader(""), full{c.err}, &errs)
			if line := errs.String(); code != int(c.code) || !strings.Contains(line, c.line) || strings.Count(line, "\n") != min(len(c.line), 1) {
				t.Errorf("%v, %v: exit code %d, %q", c.err, args, code, line)
			}
		}
	}
}
