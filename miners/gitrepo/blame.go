package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// BlameOptions says how lines are followed.
type BlameOptions struct {
	IgnoreSpace bool     // changes of white space are looked through (-w)
	IgnoreRevs  []string // commits that are looked through, by full id; ids that are no commit here are passed over
	Moves       bool     // lines that were moved or copied within the file are followed (-M)
	// Copies follows lines from other files: 1 from those that the same commit changed (-C), 2 also from any file when the commit
	// added the file (-C -C), 3 from any file of any commit. It costs more than all the rest, since filters of changed paths are
	// of no use to it.
	Copies   int
	Unmarked bool // BlameLine.Ignored stays unset, which halves the cost of IgnoreRevs
}

// Blame says for the lines of a file in a commit which commit introduced them; renames of the whole file are followed. The
// result is in the order of lines, without repetition. No ranges give no lines; a range with Last 0 goes to the end of the file.
// Errors: ErrMissingObject, fs.ErrNotExist, a line that is not there.
func (m *Mirror) Blame(ctx context.Context, commit, path string, ranges []Range, o BlameOptions) ([]BlameLine, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	if err := checkIDs(commit); err != nil {
		return nil, err
	}
	ignore, err := m.knownCommits(ctx, o.IgnoreRevs)
	if err != nil {
		return nil, err
	}
	o.IgnoreRevs = ignore
	found, err := m.blame(ctx, commit, path, ranges, o)
	if err == nil && len(ignore) > 0 && !o.Unmarked {
		var plain []BlameLine
		o.IgnoreRevs = nil
		plain, err = m.blame(ctx, commit, path, ranges, o)
		markIgnored(found, plain, ignore)
	}
	if err != nil && ctx.Err() == nil {
		// git says "no such path" of a missing object too.
		if _, why := m.ReadFile(ctx, commit, path); why != nil {
			err = why
		}
	}
	if err != nil {
		return nil, fmt.Errorf("blaming %s at %.12s: %w", path, commit, err)
	}
	return found, nil
}

// markIgnored marks the lines that would have been an ignored commit's. git itself tells them only in a form that cannot be
// parsed for every path.
func markIgnored(found, plain []BlameLine, ignore []string) {
	for i := range min(len(found), len(plain)) {
		found[i].Ignored = found[i].Commit != plain[i].Commit && slices.Contains(ignore, plain[i].Commit)
	}
}

func (m *Mirror) blame(ctx context.Context, commit, path string, ranges []Range, o BlameOptions) ([]BlameLine, error) {
	args := []string{"blame", "--porcelain", "--encoding=none"}
	if o.IgnoreSpace {
		args = append(args, "-w")
	}
	if o.Moves {
		args = append(args, "-M")
	}
	for range o.Copies {
		args = append(args, "-C")
	}
	for _, id := range o.IgnoreRevs {
		args = append(args, "--ignore-rev="+id)
	}
	for _, r := range ranges {
		last := ""
		if r.Last > 0 {
			last = strconv.Itoa(r.Last)
		}
		args = append(args, fmt.Sprintf("-L%d,%s", r.First, last))
	}
	args = append(args, commit, "--", path)
	var found []BlameLine
	err := m.git.stream(ctx, nil, args, func(r *bufio.Reader) error {
		var err error
		found, err = parseBlame(r)
		return err
	})
	return found, err
}

// knownCommits are the ids that are commits of the mirror, each once. git blame refuses to run when one is not.
func (m *Mirror) knownCommits(ctx context.Context, ids []string) ([]string, error) {
	var known []string
	for _, id := range ids {
		if !objectID.MatchString(id) || slices.Contains(known, id) {
			continue
		}
		found, err := m.objects.read(ctx, id)
		if err != nil && !errors.Is(err, ErrMissingObject) {
			return nil, err
		}
		if found.kind == "commit" {
			known = append(known, id)
		}
	}
	return known, nil
}

// parseBlame reads `git blame --porcelain`: of every line a header, what is new of its commit, and the content after a tab.
func parseBlame(r *bufio.Reader) ([]BlameLine, error) {
	p := blameParser{r: r, boundary: map[string]bool{}, paths: map[string]string{}}
	for {
		header, err := p.line()
		if errors.Is(err, io.EOF) {
			return p.lines, nil
		}
		if err == nil {
			err = p.entry(header)
		}
		if err != nil {
			return nil, fmt.Errorf("parsing blame: %w", err)
		}
	}
}

type blameParser struct {
	r        *bufio.Reader
	lines    []BlameLine
	boundary map[string]bool // by commit
	paths    map[string]string
}

func (p *blameParser) line() (string, error) {
	line, err := p.r.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil // the last line of a file may lack its newline
	}
	return string(bytes.TrimSuffix(line, []byte("\n"))), err
}

// entry reads one line of the file from its header on.
func (p *blameParser) entry(header string) error {
	fields := strings.Fields(header)
	if len(fields) < 3 || !objectID.MatchString(fields[0]) {
		return fmt.Errorf("unexpected %.60q", header)
	}
	id, orig, final := fields[0], atoi(fields[1]), atoi(fields[2])
	if orig == 0 || final == 0 {
		return fmt.Errorf("unexpected line numbers in %.80q", header)
	}
	for {
		text, err := p.line()
		if err != nil {
			return unexpectedEOF(err)
		}
		if strings.HasPrefix(text, "\t") {
			break
		}
		if err := p.detail(id, text); err != nil {
			return err
		}
	}
	p.lines = append(p.lines, BlameLine{
		Line: final, Commit: id, OrigPath: p.paths[id], OrigLine: orig, Boundary: p.boundary[id],
	})
	return nil
}

// detail reads what is said once of a commit; a file name is said again when it has another one.
func (p *blameParser) detail(id, text string) error {
	key, value, _ := strings.Cut(text, " ")
	switch key {
	case "boundary":
		p.boundary[id] = true
	case "filename":
		if strings.HasPrefix(value, `"`) {
			var err error
			if value, err = unquote(value); err != nil {
				return err
			}
		}
		p.paths[id] = value
	}
	return nil
}
