package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Files lists what differs between the base and the head of a change, in the order of paths. Renames are found; a file that
// became a link, or the reverse, has status Typed.
func (m *Mirror) Files(ctx context.Context, c Change) ([]FileChange, error) {
	found, err := m.filesOf(ctx, []Change{c}, numbers)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %.12s: %w", c.Head, err)
	}
	return found[c.Head], nil
}

// AllFiles is Files for many changes, by head, with one git process. A change whose diff needs an object that is not there has
// no entry: Files says which one it is.
func (m *Mirror) AllFiles(ctx context.Context, changes []Change) (map[string][]FileChange, error) {
	return m.allFiles(ctx, changes, numbers)
}

// AllNames is AllFiles without the numbers of lines, which are 0. Of a change that touches thousands of files they cost seconds.
func (m *Mirror) AllNames(ctx context.Context, changes []Change) (map[string][]FileChange, error) {
	return m.allFiles(ctx, changes)
}

// numbers is the option that counts lines.
const numbers = "--numstat"

func (m *Mirror) allFiles(ctx context.Context, changes []Change, options ...string) (map[string][]FileChange, error) {
	all, err := m.filesOf(ctx, changes, options...)
	if !errors.Is(err, ErrMissingObject) {
		return all, err
	}
	// git ends at the first missing object, without saying whose it is.
	all = map[string][]FileChange{}
	if len(changes) == 1 {
		return all, nil
	}
	half := len(changes) / 2
	for _, part := range [][]Change{changes[:half], changes[half:]} {
		found, err := m.allFiles(ctx, part, options...)
		if err != nil {
			return nil, err
		}
		for head, files := range found {
			all[head] = files
		}
	}
	return all, nil
}

// renames are the options of every diff: renames as git shows them unless told otherwise.
var renames = []string{"--find-renames=50%", "-l1000", "--no-textconv", "--no-ext-diff", "--no-color"}

func (m *Mirror) filesOf(ctx context.Context, changes []Change, options ...string) (map[string][]FileChange, error) {
	found := make(map[string][]FileChange, len(changes))
	if len(changes) == 0 {
		return found, nil
	}
	var pairs strings.Builder
	for _, c := range changes {
		if err := checkIDs(c.Head); err != nil {
			return nil, err
		}
		if c.Base != "" {
			if err := checkIDs(c.Base); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(&pairs, "%s\n", strings.TrimSpace(c.Head+" "+c.Base))
	}
	args := append([]string{"diff-tree", "--stdin", "--root", "--always", "-r", "-z", "--raw", "--no-abbrev"}, renames...)
	args = append(args, options...)
	err := m.git.stream(ctx, strings.NewReader(pairs.String()), args, func(r *bufio.Reader) error {
		return parseDiffs(r, func(head string, files []FileChange) { found[head] = files })
	})
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		// git passes over a commit that it does not know.
		if _, ok := found[c.Head]; !ok {
			return nil, fmt.Errorf("%w: %s", ErrMissingObject, c.Head)
		}
	}
	return found, nil
}

// parseDiffs reads diffs in the form `--raw --numstat -z`, each after the id of its commit.
func parseDiffs(r *bufio.Reader, use func(head string, files []FileChange)) error {
	p := diffParser{r: r}
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			p.finish(use)
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(token, ":"):
			err = p.raw(token)
		case objectID.MatchString(token):
			p.finish(use)
			p.head = token
		default:
			err = p.numstat(token)
		}
		if err != nil {
			return err
		}
	}
}

type diffParser struct {
	r      *bufio.Reader
	head   string
	files  []FileChange
	byPath map[string]int // of files, by new path
}

func (p *diffParser) finish(use func(string, []FileChange)) {
	if p.head != "" {
		use(p.head, p.files)
	}
	p.head, p.files, p.byPath = "", nil, map[string]int{}
}

// next reads up to a NUL; what has none is cut short.
func (p *diffParser) next() (string, error) {
	token, err := p.r.ReadBytes(0)
	if err == nil {
		return string(bytes.TrimSuffix(token, []byte{0})), nil
	}
	if errors.Is(err, io.EOF) && len(token) > 0 {
		return "", io.ErrUnexpectedEOF
	}
	return "", err
}

// raw reads ":100644 100644 <id> <id> R086", then one path or, of a rename, two.
func (p *diffParser) raw(token string) error {
	fields := strings.Fields(token[1:])
	if len(fields) != 5 || p.head == "" {
		return fmt.Errorf("parsing a diff: unexpected %.60q", token)
	}
	f := FileChange{OldMode: present(fields[0]), Mode: present(fields[1]), OldID: present(fields[2]), ID: present(fields[3])}
	status, ok := statuses[fields[4][0]]
	if !ok {
		return fmt.Errorf("parsing a diff: unknown status %.60q", token)
	}
	f.Status = status
	var err error
	if f.Path, err = p.path(); err != nil {
		return err
	}
	if status == Renamed {
		f.OldPath = f.Path
		if f.Path, err = p.path(); err != nil {
			return err
		}
	}
	p.byPath[f.Path] = len(p.files)
	p.files = append(p.files, f)
	return nil
}

var statuses = map[byte]Status{'A': Added, 'M': Modified, 'D': Deleted, 'R': Renamed, 'T': Typed}

// path reads a path where there must be one.
func (p *diffParser) path() (string, error) {
	path, err := p.next()
	if errors.Is(err, io.EOF) || err == nil && path == "" {
		err = io.ErrUnexpectedEOF
	}
	return path, err
}

// present turns the zeros that stand for nothing into "".
func present(field string) string {
	if strings.Trim(field, "0") == "" {
		return ""
	}
	return field
}

// numstat reads "3\t1\tpath", or "3\t1\t" and the two paths of a rename, or "-\t-\tpath" of a binary file.
func (p *diffParser) numstat(token string) error {
	fields := strings.SplitN(token, "\t", 3)
	if len(fields) != 3 {
		return fmt.Errorf("parsing a diff: unexpected %.60q", token)
	}
	path := fields[2]
	if path == "" {
		if _, err := p.path(); err != nil {
			return err
		}
		var err error
		if path, err = p.path(); err != nil {
			return err
		}
	}
	i, ok := p.byPath[path]
	if !ok {
		return fmt.Errorf("parsing a diff: lines of %.60q, which did not change", path)
	}
	var err error
	if p.files[i].Added, err = count(fields[0]); err != nil {
		return err
	}
	p.files[i].Deleted, err = count(fields[1])
	return err
}

func count(field string) (int, error) {
	if field == "-" {
		return -1, nil
	}
	n, err := strconv.ParseUint(field, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("parsing a diff: %.60q is not a number of lines", field)
	}
	return int(n), nil
}

// CountFiles counts the files that changes touch, by head, without looking for renames; one whose objects are not all there has
// no entry.
func (m *Mirror) CountFiles(ctx context.Context, changes []Change) (map[string]int, error) {
	counts := make(map[string]int, len(changes))
	if len(changes) == 0 {
		return counts, nil
	}
	var pairs strings.Builder
	asked := make(map[string]bool, len(changes)) // a file may have the name of a commit
	for _, c := range changes {
		if err := checkIDs(c.Head); err != nil {
			return nil, err
		}
		asked[c.Head] = true
		fmt.Fprintf(&pairs, "%s\n", strings.TrimSpace(c.Head+" "+c.Base))
	}
	head := ""
	args := []string{"diff-tree", "--stdin", "--root", "--always", "-r", "-z", "--name-only", "--no-renames"}
	err := m.git.stream(ctx, strings.NewReader(pairs.String()), args, func(r *bufio.Reader) error {
		return eachToken(r, func(name string) {
			if asked[name] {
				head, counts[name], asked[name] = name, 0, false
			} else {
				counts[head]++
			}
		})
	})
	if errors.Is(err, ErrMissingObject) {
		return counts, nil
	}
	if err != nil {
		return nil, fmt.Errorf("counting files: %w", err)
	}
	return counts, nil
}
