package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// AddedLines is what one commit added to one file.
type AddedLines struct {
	Commit string
	Path   string
	New    bool // the file was not there before
	Lines  []string
}

// maxAddedLine is where a line is cut: who writes more on one line writes data.
const maxAddedLine = 8 << 10

// Added tells what the commits up to tip that are no merges added to the files that wanted chooses, oldest first. Renames are not
// followed. patterns are git's pathspecs without their colon, such as "**/CHANGES*", that name at least those files; case does not
// matter.
//
// Only the commits that touch such a file are compared line by line: with patterns alone, matching them against every path of
// every commit takes git ten times as long as everything else.
func (m *Mirror) Added(ctx context.Context, tip string, wanted func(path string) bool, patterns []string, use func(AddedLines) error) error {
	if err := checkIDs(tip); err != nil {
		return err
	}
	touching, err := m.touching(ctx, tip, wanted)
	if err != nil || len(touching) == 0 {
		return err
	}
	g := m.git
	g.extra = append([]string{"GIT_LITERAL_PATHSPECS=0"}, g.extra...)
	args := []string{
		"diff-tree", "--stdin", "--root", "-r", "--patch", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=0",
		"--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--",
	}
	for _, p := range patterns {
		args = append(args, ":(icase,glob)"+p)
	}
	err = g.stream(ctx, strings.NewReader(strings.Join(touching, "\n")+"\n"), args, func(r *bufio.Reader) error {
		return parseAdded(r, func(a AddedLines) error {
			if !wanted(a.Path) {
				return nil
			}
			return use(a)
		})
	})
	if err != nil {
		return fmt.Errorf("reading what was added in %s: %w", m.Name(), err)
	}
	return nil
}

// touching lists the commits that are no merges and change a wanted file, oldest first.
func (m *Mirror) touching(ctx context.Context, tip string, wanted func(path string) bool) ([]string, error) {
	var commits []string
	args := []string{
		"log", "-z", "--reverse", "--topo-order", "--no-merges", "--no-renames", "--no-show-signature", "--raw", "--no-abbrev",
		"--format=%H", tip, "--",
	}
	err := m.git.stream(ctx, nil, args, func(r *bufio.Reader) error {
		commit, path := "", false
		return eachToken(r, func(token string) {
			switch {
			case path:
				if path = false; commit != "" && wanted(token) {
					commits, commit = append(commits, commit), ""
				}
			case strings.HasPrefix(strings.TrimPrefix(token, "\n"), ":"):
				path = true
			case objectID.MatchString(token):
				commit = token
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", m.Name(), err)
	}
	return commits, nil
}

// parseAdded reads `git diff-tree --stdin --patch`. Lines of a hunk are told from headers by the lengths that the hunk announces.
func parseAdded(r *bufio.Reader, use func(AddedLines) error) error {
	p := addedParser{use: use}
	for {
		line, err := readCut(r, maxAddedLine)
		if errors.Is(err, io.EOF) && line == "" {
			return p.flush()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := p.line(line); err != nil {
			return err
		}
	}
}

type addedParser struct {
	use        func(AddedLines) error
	now        AddedLines
	old, fresh int // lines of the hunk that are still to come
	commit     string
}

func (p *addedParser) flush() error {
	now := p.now
	p.now = AddedLines{Commit: p.commit}
	if now.Path == "" || len(now.Lines) == 0 {
		return nil
	}
	return p.use(now)
}

func (p *addedParser) line(line string) error {
	switch {
	case p.old > 0 && strings.HasPrefix(line, "-"):
		p.old--
	case p.fresh > 0 && strings.HasPrefix(line, "+"):
		p.fresh--
		p.now.Lines = append(p.now.Lines, line[1:])
	case objectID.MatchString(line):
		if err := p.flush(); err != nil {
			return err
		}
		p.commit = line
	case strings.HasPrefix(line, "diff --git "):
		if err := p.flush(); err != nil {
			return err
		}
		p.now.Commit = p.commit
	case strings.HasPrefix(line, "new file mode "):
		p.now.New = true
	case strings.HasPrefix(line, "+++ "):
		p.now.Path = addedPath(line[len("+++ "):])
	case strings.HasPrefix(line, "@@ "):
		p.old, p.fresh = hunkLengths(line)
	}
	return nil
}

// addedPath reads the name after +++; "" for a deleted file and for one that cannot be read.
func addedPath(text string) string {
	name, err := fileName(text, "b/")
	if err != nil {
		return ""
	}
	return name
}

// hunkLengths reads "@@ -1,2 +3,4 @@".
func hunkLengths(line string) (old, fresh int) {
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return 0, 0
	}
	length := func(field string) int {
		_, n, ok := strings.Cut(field, ",")
		if !ok {
			return 1
		}
		v, err := strconv.ParseUint(n, 10, 31)
		if err != nil {
			return 0
		}
		return int(v)
	}
	return length(fields[1]), length(fields[2])
}

// readCut reads a line without its end and drops what is beyond most bytes.
func readCut(r *bufio.Reader, most int) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if room := most - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimSuffix(string(line), "\n"), err
		}
	}
}

// Tags maps the names of tags to the objects that they name: commits, or annotations of them.
func (m *Mirror) Tags(ctx context.Context) (map[string]string, error) {
	found, err := m.refs(ctx, "refs/tags/")
	if err != nil {
		return nil, fmt.Errorf("reading the tags of %s: %w", m.Name(), err)
	}
	tags := make(map[string]string, len(found))
	for name, id := range found {
		tags[strings.TrimPrefix(name, "refs/tags/")] = id
	}
	return tags, nil
}
