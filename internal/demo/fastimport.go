package demo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// importer is one running "git fast-import": it writes all commits, and tells their ids, in one process.
type importer struct {
	cmd    *exec.Cmd
	in     *bufio.Writer
	pipe   io.Closer
	out    *bufio.Reader
	stderr bytes.Buffer
	marks  int
}

// object is a commit to write. Parents are marks.
type object struct {
	ref     string
	author  string
	date    time.Time
	message string
	parents []int
	tree    files
}

func startImport(ctx context.Context, dir string) (*importer, error) {
	i := &importer{cmd: gitCommand(ctx, dir, "fast-import", "--quiet", "--force")}
	i.cmd.Stderr = &i.stderr
	in, err := i.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git fast-import: %w", err)
	}
	out, err := i.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git fast-import: %w", err)
	}
	i.in, i.pipe, i.out = bufio.NewWriter(in), in, bufio.NewReader(out)
	if err := i.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting git fast-import: %w", err)
	}
	return i, nil
}

// commit writes a commit and returns its mark.
func (i *importer) commit(o object) (int, error) {
	i.marks++
	fmt.Fprintf(i.in, "commit %s\nmark :%d\n", o.ref, i.marks)
	fmt.Fprintf(i.in, "author %s %d +0000\ncommitter %s %d +0000\n", o.author, o.date.Unix(), committer, o.date.Unix())
	i.data(strings.TrimRight(o.message, "\n") + "\n")
	for n, parent := range o.parents {
		verb := "merge"
		if n == 0 {
			verb = "from"
		}
		fmt.Fprintf(i.in, "%s :%d\n", verb, parent)
	}
	fmt.Fprint(i.in, "deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(o.tree)) {
		fmt.Fprintf(i.in, "M 100644 inline %s\n", path)
		i.data(o.tree[path])
	}
	if err := i.in.Flush(); err != nil {
		return 0, fmt.Errorf("writing to git fast-import: %w: %s", err, &i.stderr)
	}
	return i.marks, nil
}

func (i *importer) data(s string) {
	fmt.Fprintf(i.in, "data %d\n%s\n", len(s), s)
}

// id returns the commit id of a mark.
func (i *importer) id(mark int) (string, error) {
	fmt.Fprintf(i.in, "get-mark :%d\n", mark)
	if err := i.in.Flush(); err != nil {
		return "", fmt.Errorf("writing to git fast-import: %w", err)
	}
	line, err := i.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading from git fast-import: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// close ends the import and reports what git complained of.
func (i *importer) close() error {
	if err := i.pipe.Close(); err != nil {
		return fmt.Errorf("ending git fast-import: %w", err)
	}
	if err := i.cmd.Wait(); err != nil {
		return fmt.Errorf("running git fast-import: %w: %s", err, &i.stderr)
	}
	return nil
}

// git runs one git command in dir.
func git(ctx context.Context, dir string, args ...string) error {
	if out, err := gitCommand(ctx, dir, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("running git %s: %w: %s", args[0], err, out)
	}
	return nil
}

// gitCommand shuts out the user's configuration, so that the same objects come out everywhere.
func gitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
	return cmd
}
